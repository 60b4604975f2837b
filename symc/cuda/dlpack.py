"""DLPack, both ways: arrays that libraries give each other in a capsule, without a copy.

A capsule holds the address of a struct. Its taker renames the capsule and calls the struct's
deleter once it needs the memory no more. The structs are those of dlpack.h, versions 0 and 1.
"""

from __future__ import annotations

import ctypes as c
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from symc.cuda.array import DeviceArray, strides
from symc.cuda.memory import BorrowedMemory
from symc.errors import DeviceError
from symc.graph.bfloat16 import is_bfloat16, numpy_bfloat16

if TYPE_CHECKING:
    from symc.cuda.devices import Device

CPU: Final = (1, 0)
CUDA: Final = 2
OPENCL: Final = 4
EXTENSION: Final = 12  # "a device type for testing": the simulator
VERSION: Final = (1, 1)
READ_ONLY: Final = 1
COPIED: Final = 2

_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_BFLOAT = 4
_KINDS = {code: kind for kind, code in _CODES.items()}

PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"
_USED = {name: c.c_char_p(b"used_" + name) for name in (PLAIN, VERSIONED)}  # capsules point there
_DELETER = c.CFUNCTYPE(None, c.c_void_p)


class _Tensor(c.Structure):
    _fields_ = (
        ("data", c.c_void_p), ("device_type", c.c_int32), ("device_number", c.c_int32),
        ("ndim", c.c_int32), ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    )  # fmt: skip


class _Managed(c.Structure):
    _fields_ = (("tensor", _Tensor), ("context", c.c_void_p), ("deleter", _DELETER))


class _ManagedVersioned(c.Structure):
    _fields_ = (
        ("major", c.c_uint32), ("minor", c.c_uint32), ("context", c.c_void_p),
        ("deleter", _DELETER), ("flags", c.c_uint64), ("tensor", _Tensor),
    )  # fmt: skip


def _capsule_function(name: str, result: Any, *parameters: Any) -> Callable[..., Any]:
    return c.PYFUNCTYPE(result, *parameters)((name, c.pythonapi))


_new = _capsule_function("PyCapsule_New", c.py_object, c.c_void_p, c.c_char_p, c.c_void_p)
_name = _capsule_function("PyCapsule_GetName", c.c_char_p, c.py_object)
_pointer = _capsule_function("PyCapsule_GetPointer", c.c_void_p, c.py_object, c.c_char_p)
_rename = _capsule_function("PyCapsule_SetName", c.c_int, c.py_object, c.c_char_p)


def device_of(device: Device) -> tuple[int, int]:
    """A device as DLPack names it."""
    if not device.is_cuda:
        return OPENCL, device.ordinal
    return (EXTENSION, 0) if device.is_simulator else (CUDA, device.ordinal)


# --- giving ---------------------------------------------------------------------------------------

_live: dict[int, tuple[object, ...]] = {}  # the objects that keep a struct alive, by its address
_given: list[tuple[object, int]] = []  # capsules, and the addresses in them


def _forget(address: int) -> None:
    _live.pop(address, None)


_delete = _DELETER(_forget)


def sweep() -> None:
    """Forget the capsules that nobody has any more; free the arrays of those that nobody took.

    A destructor of the capsule could not do this: it would run Python code while a consumer that
    refuses the capsule raises its error, which ctypes does not survive.
    """
    for entry in list(_given):
        capsule, address = entry
        if sys.getrefcount(capsule) > 3:  # more than `entry`, `capsule` and the argument
            continue
        try:
            _given.remove(entry)
        except ValueError:
            continue  # another thread was quicker
        if _name(capsule) in (PLAIN, VERSIONED):
            _forget(address)


def live() -> int:
    """How many arrays are in the hands of others."""
    sweep()
    return len(_live)


def export(
    array: DeviceArray,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """`DeviceArray.__dlpack__`."""
    sweep()
    here = device_of(array.device)
    versioned = max_version is not None and max_version[0] >= 1
    wanted = here if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted == CPU:
        if copy is False:
            raise BufferError(f"{array!r} cannot be used on the CPU without a copy")
        host = array.to_numpy()
        return _capsule(host, host.ctypes.data, array, CPU, versioned=versioned, copied=True)
    if here[0] == OPENCL:
        raise BufferError(f"{array!r} is in memory that DLPack does not know: take .to_numpy()")
    if wanted != here:
        raise BufferError(f"{array!r} is on DLPack's device {here}, not on {wanted}")
    if copy:
        array = array.copy()
    if stream != -1:
        if stream == 0:
            raise ValueError("DLPack has no stream 0: the default stream is 1, or None")
        array.memory.read_on(0 if stream in (None, 1) else int(stream))
    return _capsule(
        array.memory, array.ptr, array, here, versioned=versioned, copied=bool(copy)
    )  # fmt: skip


def _capsule(
    owner: object,
    address: int,
    like: DeviceArray,
    device: tuple[int, int],
    *,
    versioned: bool,
    copied: bool,
) -> object:
    ndim = like.ndim
    lengths = (c.c_int64 * ndim)(*like.shape)
    steps = (c.c_int64 * ndim)(*strides(like.shape, 1))
    tensor = _Tensor(
        address or None, *device, ndim, _code(like.dtype), like.itemsize * 8, 1,
        lengths, steps, 0,
    )  # fmt: skip
    made: _Managed | _ManagedVersioned = (
        _ManagedVersioned(*VERSION, None, _delete, COPIED if copied else 0, tensor)
        if versioned
        else _Managed(tensor, None, _delete)
    )
    place = c.addressof(made)
    _live[place] = (made, lengths, steps, owner)
    capsule: object = _new(place, VERSIONED if versioned else PLAIN, None)
    _given.append((capsule, place))
    if sweep not in like.device.sweepers:
        like.device.sweepers.append(sweep)
    return capsule


# --- taking ---------------------------------------------------------------------------------------


def take(value: Any, device: Device) -> DeviceArray:
    """An array of another library that has ``__dlpack__`` and is on `device`.

    Its producer makes our stream wait for its values, and keeps the memory until we let it go.
    """
    stream = device.current.handle
    capsule = _ask(value, stream or 1)
    name: bytes = _name(capsule)
    if name not in _USED:
        raise DeviceError(0, f"{type(value).__name__}.__dlpack__ gave no new DLPack capsule")
    address: int = _pointer(capsule, name)
    kind = _ManagedVersioned if name == VERSIONED else _Managed
    managed: Any = kind.from_address(address)
    if name == VERSIONED and managed.major != VERSION[0]:
        raise DeviceError(
            0, f"{type(value).__name__} gave DLPack version {managed.major}; known is {VERSION[0]}"
        )
    tensor: _Tensor = managed.tensor
    if (tensor.device_type, tensor.device_number) != device_of(device):
        raise DeviceError(0, f"{type(value).__name__} is not on {device.name}, as it said")
    shape = tuple(tensor.shape[: tensor.ndim])
    dtype = _dtype(tensor, value)
    steps = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
    check_contiguous(shape, steps, 1, value)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    _rename(capsule, _USED[name])  # from here on it is ours to delete

    def let_go() -> None:
        if managed.deleter:
            managed.deleter(address)

    data = (tensor.data or 0) + tensor.byte_offset if size else 0
    memory = BorrowedMemory(device, data, size, stream, let_go)
    memory.readonly = name == VERSIONED and bool(managed.flags & READ_ONLY)
    return DeviceArray(memory, shape, dtype)


def _ask(value: Any, stream: int) -> Any:
    try:
        return value.__dlpack__(stream=stream, max_version=VERSION)
    except TypeError:
        return value.__dlpack__(stream=stream)  # a library from before DLPack 1.0


def _code(dtype: np.dtype[Any]) -> int:
    """DLPack's number for the kind of a dtype."""
    return _BFLOAT if is_bfloat16(dtype) else _CODES[dtype.kind]


def _dtype(tensor: _Tensor, value: object) -> np.dtype[Any]:
    if (tensor.code, tensor.bits, tensor.lanes) == (_BFLOAT, 16, 1):
        return numpy_bfloat16()
    kind = _KINDS.get(tensor.code)
    if kind is None or tensor.lanes != 1 or tensor.bits not in (8, 16, 32, 64):
        raise DeviceError(
            0,
            f"{type(value).__name__} has elements of a type that symc does not have"
            f" (DLPack type {tensor.code}, {tensor.bits} bits)",
        )
    return np.dtype(f"{kind}{tensor.bits // 8}")


def check_contiguous(
    shape: Sequence[int], steps: Sequence[int] | None, unit: int, value: object
) -> None:
    """Raises `DeviceError` unless these strides are those of a C-contiguous array."""
    if steps is None or 0 in shape:
        return
    wanted = zip(shape, steps, strides(shape, unit), strict=True)
    if any(length > 1 and step != want for length, step, want in wanted):
        raise DeviceError(
            0,
            f"{type(value).__name__} of shape {tuple(shape)} is not C-contiguous"
            f" (strides {tuple(steps)}): give a contiguous copy of it",
        )
