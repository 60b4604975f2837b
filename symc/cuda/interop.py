"""Arrays of NumPy and of other libraries on a device: recognised, checked and converted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symc.cuda import dlpack
from symc.cuda.array import DeviceArray, elsewhere, empty
from symc.cuda.devices import Device
from symc.cuda.devices import device as device_named
from symc.cuda.makers import SIMULATOR
from symc.cuda.memory import BorrowedMemory
from symc.errors import DeviceError, DTypeError
from symc.graph.types import is_known
from symc.graph.values import Unfit, as_array


def asarray(value: Any, dtype: Any, where: str | Device | None, copy: bool | None) -> DeviceArray:
    """`symc.cuda.asarray`."""
    kind = None if dtype is None else np.dtype(dtype)
    device = None if where is None else device_named(where)
    found = on_device(value, device)
    if found is None:
        if copy is False:
            raise ValueError(f"{type(value).__name__} is not on a device: it must be copied")
        try:
            array = as_array(value, kind)
        except Unfit as problem:
            raise DTypeError(f"what is to go to a device {problem}") from problem.__cause__
        return upload(array, device or device_named())
    if kind is None or found.dtype == kind:
        return found.copy() if copy else found
    if copy is False:
        raise ValueError(f"{found!r} is no {kind}: it must be copied")
    return upload(found.to_numpy().astype(kind), found.device)


def upload(array: Any, device: Device) -> DeviceArray:
    """A copy of a NumPy array on a device."""
    if not is_known(array.dtype):
        raise DTypeError(f"an array on a device holds numbers of symc's dtypes, not {array.dtype}")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    made = empty(array.shape, array.dtype, device)
    made.assign(array)
    return made


def on_device(value: Any, device: Device | None, what: str = "the array") -> DeviceArray | None:
    """The value without a copy if it is an array on a device, None if it is on the host.

    Raises `DeviceError`, naming `what`, if it is on another device than the one given.
    """
    if isinstance(value, np.ndarray | np.generic | int | float | list | tuple):
        return None
    if isinstance(value, DeviceArray):
        if device is not None and value.device is not device:
            raise elsewhere(what, value.device.name, device)
        return value
    if hasattr(value, "__dlpack_device__"):
        kind, number = (int(part) for part in value.__dlpack_device__())
        if kind in (dlpack.CUDA, dlpack.EXTENSION):
            name = f"cuda:{number}" if kind == dlpack.CUDA else SIMULATOR
            if device is not None and device.name != name:
                raise elsewhere(what, name, device)
            return dlpack.take(value, device or device_named(name))
    if hasattr(value, "__cuda_array_interface__"):
        return by_interface(value, device or device_named(), what)
    return None


def by_interface(value: Any, device: Device, what: str) -> DeviceArray:
    """An array that describes itself by ``__cuda_array_interface__``."""
    described: dict[str, Any] = value.__cuda_array_interface__
    shape = tuple(int(length) for length in described["shape"])
    dtype = np.dtype(described["typestr"])
    if not is_known(dtype) or not dtype.isnative:
        raise DTypeError(f"{type(value).__name__} has dtype {dtype}, which symc does not have")
    if described.get("mask") is not None:
        raise DeviceError(0, f"{type(value).__name__} is a masked array, which symc does not have")
    dlpack.check_contiguous(shape, described.get("strides"), dtype.itemsize, value)
    address, readonly = described["data"]
    size = math.prod(shape) * dtype.itemsize
    if size:
        _check_owner(what, int(address), device)
    stream = device.current.handle
    memory = BorrowedMemory(device, int(address) if size else 0, size, stream, _Keep(value).drop)
    memory.readonly = bool(readonly)
    producer = described.get("stream")
    if producer is not None:
        if producer == 0:
            raise DeviceError(0, "__cuda_array_interface__ has no stream 0: give 1, 2 or a handle")
        device.order(stream, after=0 if producer == 1 else int(producer))
    return DeviceArray(memory, shape, dtype)


def _check_owner(what: str, address: int, device: Device) -> None:
    with device:
        owner = device.driver.owner(address)
    if owner is None:
        raise DeviceError(0, f"the memory of {what}, at {address:#x}, is not on {device.name}")
    if owner != device.ordinal:
        raise elsewhere(what, f"cuda:{owner}", device)


class _Keep:
    """Keeps an object until it is dropped."""

    def __init__(self, kept: object) -> None:
        self._kept: object = kept

    def drop(self) -> None:
        """Let the object go."""
        self._kept = None
