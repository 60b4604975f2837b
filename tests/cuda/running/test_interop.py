"""Arrays from and to other libraries, without copies, by DLPack and the CUDA Array Interface."""

from __future__ import annotations

import gc
import importlib
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.cuda
from symc.codegen.targets import sim
from symc.cuda import DeviceArray, asarray, dlpack
from symc.cuda.devices import Device
from symc.errors import DeviceError, DTypeError

CPU = (1, 0)


def some(*shape: int) -> Any:
    return np.arange(np.prod(shape, dtype=np.float64)).reshape(shape)


class ByDLPack:
    """Another library's array with ``__dlpack__``."""

    def __init__(self, array: DeviceArray) -> None:
        self.array = array
        self.asked: list[dict[str, Any]] = []

    def __dlpack__(self, **how: Any) -> Any:
        self.asked.append(how)
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class ByOldDLPack(ByDLPack):
    """A library from before DLPack 1.0."""

    def __dlpack__(self, **how: Any) -> Any:
        if "max_version" in how:
            raise TypeError("unexpected keyword argument 'max_version'")
        return super().__dlpack__(**how)


class ByInterface:
    """Another library's array with ``__cuda_array_interface__``."""

    def __init__(self, array: DeviceArray, **changed: Any) -> None:
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "data": (array.ptr, False),
            "strides": None, "version": 3, "stream": None, **changed,
        }  # fmt: skip


KINDS = [ByDLPack, ByOldDLPack, ByInterface]


# --- taking ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0, 3)], ids=str)
def test_taken_without_a_copy(device: Device, kind: Any, shape: tuple[int, ...]) -> None:
    array = asarray(some(*shape), device=device)
    taken = asarray(kind(array), device=device)
    assert (taken.ptr, taken.shape, taken.dtype) == (array.ptr, shape, array.dtype)
    assert np.array_equal(taken.to_numpy(), some(*shape))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float32", "int64"])
@pytest.mark.parametrize("kind", KINDS)
def test_dtypes(device: Device, kind: Any, dtype: str) -> None:
    array = asarray(np.ones(3, dtype), device=device)
    assert asarray(kind(array), device=device).dtype == dtype


@pytest.mark.parametrize("kind", KINDS)
def test_the_producer_lives_as_long_as_the_array(device: Device, kind: Any) -> None:
    array = asarray(some(4), device=device)
    address = array.ptr
    taken = asarray(kind(array), device=device)
    del array
    gc.collect()
    assert asarray(some(4) + 1, device=device).ptr != address
    assert np.array_equal(taken.to_numpy(), some(4))
    del taken
    device.synchronize()
    device.sweep()
    again = asarray(some(4) + 2, device=device), asarray(some(4) + 3, device=device)
    assert address in [found.ptr for found in again]
    assert dlpack.live() == 0


def test_the_producer_waits_for_our_work(device: Device, simulator: sim.Simulator) -> None:
    host = some(4)
    array = asarray(host, device=device)
    simulator.set_deferred(True)
    taken = asarray(ByDLPack(array), device=device)
    copied = taken.copy()
    del taken
    assert dlpack.live() == 1  # the copy is not made yet
    assert np.array_equal(copied.to_numpy(), host)
    device.sweep()
    assert dlpack.live() == 0


def test_the_producer_is_told_our_stream(device: Device) -> None:
    value = ByDLPack(asarray(some(4), device=device))
    asarray(value, device=device)
    stream = symc.cuda.Stream(device)
    with symc.cuda.stream(stream):
        asarray(value, device=device)
    assert [how["stream"] for how in value.asked] == [1, stream.handle]
    assert all(how["max_version"] >= (1, 0) for how in value.asked)


def test_our_stream_waits_for_that_of_the_producer(
    device: Device, simulator: sim.Simulator
) -> None:
    producer = symc.cuda.Stream(device)
    host = some(4)
    array = asarray(host, device=device)
    simulator.set_deferred(True)
    with symc.cuda.stream(producer):
        made = array.copy()
    taken = asarray(ByInterface(made, stream=producer.handle), device=device)
    assert np.array_equal(taken.copy().to_numpy(), host)


def test_an_interface_of_stream_0_is_refused(device: Device) -> None:
    array = asarray(some(4), device=device)
    with pytest.raises(DeviceError, match="has no stream 0"):
        asarray(ByInterface(array, stream=0), device=device)
    assert asarray(ByInterface(array, stream=1), device=device).stream == 0


def test_arrays_that_are_not_contiguous(device: Device) -> None:
    array = asarray(some(4, 6), device=device)
    for shape, strides in [((4, 3), (48, 16)), ((6, 4), (8, 48)), ((4,), (-8,))]:
        with pytest.raises(DeviceError, match=r"is not C-contiguous .* give a contiguous copy"):
            asarray(ByInterface(array, shape=shape, strides=strides), device=device)
    for shape, strides in [((4, 6), (48, 8)), ((1, 6), (999, 8)), ((0, 6), (1, 2))]:
        assert asarray(
            ByInterface(array, shape=shape, strides=strides), device=device
        ).shape == shape  # fmt: skip


def test_dtypes_that_symc_does_not_have(device: Device) -> None:
    array = asarray(some(4), device=device)
    for typestr in (">f8", ">c16", "|V8"):
        with pytest.raises(DTypeError, match="which symc does not have"):
            asarray(ByInterface(array, typestr=typestr), device=device)
    with pytest.raises(DeviceError, match="masked"):
        asarray(ByInterface(array, mask=array), device=device)


def test_memory_that_is_not_on_the_device(device: Device) -> None:
    host = some(4)
    array = asarray(host, device=device)
    value = ByInterface(array, data=(host.ctypes.data, False))
    with pytest.raises(DeviceError, match=f"is not on {device.name}"):
        asarray(value, device=device)


class Elsewhere(ByDLPack):
    """An array on the fourth card."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 3


def test_an_array_on_another_device(device: Device) -> None:
    value = Elsewhere(asarray(some(4), device=device))
    with pytest.raises(DeviceError, match=f"is on cuda:3, and {device.name} was asked for"):
        asarray(value, device=device)
    assert not value.asked


def test_a_host_array_of_another_library_is_uploaded(device: Device) -> None:
    class OnHost:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return some(4)

        def __dlpack_device__(self) -> tuple[int, int]:
            return CPU

    assert np.array_equal(asarray(OnHost(), device=device).to_numpy(), some(4))


def test_what_cannot_be_written_is_copied(device: Device) -> None:
    """A shared variable that borrows an array updates it in place."""
    array = asarray(some(3), device=device)
    for readonly in (True, False):
        value = ByInterface(array, data=(array.ptr, readonly))
        w = symc.shared(np.zeros(3), device=device.name)
        w.set_value(value, borrow=True)
        live = w.get_value(borrow=True, return_internal_type=True)
        assert (live.ptr != array.ptr) is readonly
        assert np.array_equal(w.get_value(), some(3))


# --- giving ---------------------------------------------------------------------------------------


def test_a_capsule_nobody_took_is_freed(device: Device) -> None:
    array = asarray(some(4), device=device)
    for version in (None, (1, 0), (0, 8), (2, 0)):
        capsule = array.__dlpack__(max_version=version)
        assert ("versioned" in repr(capsule)) == (version in ((1, 0), (2, 0)))
        assert dlpack.live() == 1
        del capsule
        assert dlpack.live() == 0


def test_numpy_takes_a_copy(device: Device) -> None:
    array = asarray(some(2, 3), device=device)
    copied = np.from_dlpack(array, device="cpu")
    assert np.array_equal(copied, some(2, 3))
    assert dlpack.live() == 1
    del copied
    gc.collect()
    assert dlpack.live() == 0
    with pytest.raises(BufferError, match="cannot be used on the CPU without a copy"):
        np.from_dlpack(array, device="cpu", copy=False)


def test_a_consumer_that_refuses_raises_its_own_error(device: Device) -> None:
    """Python code that ran when the capsule died would lose the error."""
    array = asarray(some(4), device=device)
    with pytest.raises((RuntimeError, BufferError), match=r"[Uu]nsupported device"):
        np.from_dlpack(array)
    assert dlpack.live() == 0


def test_where_an_array_can_go(device: Device, simulator: sim.Simulator) -> None:
    array = asarray(some(4), device=device)
    assert array.__dlpack_device__() == (12, 0)
    with pytest.raises(BufferError, match=r"is on DLPack's device \(12, 0\), not on \(2, 0\)"):
        array.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="no stream 0"):
        array.__dlpack__(stream=0)
    assert not hasattr(array, "__cuda_array_interface__")


def test_the_consumers_stream_waits_for_the_values(
    device: Device, simulator: sim.Simulator
) -> None:
    ours, theirs = symc.cuda.Stream(device), symc.cuda.Stream(device)
    array = asarray(some(4), device=device)
    simulator.set_deferred(True)
    with symc.cuda.stream(ours):
        made = array.copy()
    capsule = made.__dlpack__(stream=theirs.handle)
    with symc.cuda.stream(theirs):
        copied = asarray(ByInterface(made), device=device).copy()
    assert np.array_equal(copied.to_numpy(), some(4))
    del capsule


def test_the_interface_of_a_real_device(other: Device) -> None:
    array = asarray(some(2, 3), device=other)
    stream = symc.cuda.Stream(other)
    assert array.__cuda_array_interface__ == {
        "shape": (2, 3), "typestr": "<f8", "data": (array.ptr, False), "strides": None,
        "version": 3, "stream": 1,
    }  # fmt: skip
    with symc.cuda.stream(stream):
        copied = array.copy()
    assert copied.__cuda_array_interface__["stream"] == stream.handle
    assert array.__dlpack_device__() == (2, 0)


def test_copies_and_no_copies(device: Device) -> None:
    array = asarray(some(4), device=device)
    assert asarray(array.copy()).ptr != array.ptr

    class Copies(ByDLPack):
        def __dlpack__(self, **how: Any) -> Any:
            return super().__dlpack__(**how, copy=True)

    taken = asarray(Copies(array), device=device)
    assert taken.ptr != array.ptr
    assert np.array_equal(taken.to_numpy(), some(4))


# --- other libraries, where they are --------------------------------------------------------------


def library_on(name: str, device: Device) -> Any:
    """A library that can use a graphics card, or a skipped test."""
    if device.is_simulator:
        pytest.skip("other libraries cannot use the simulator's memory")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # other tests need memory
    with warnings.catch_warnings(action="ignore"):
        library = pytest.importorskip(name)
    usable: dict[str, Callable[[], bool]] = {
        "torch": lambda: library.cuda.is_available(),
        "cupy": lambda: library.cuda.runtime.getDeviceCount() > 0,
        "jax": lambda: any(found.platform == "gpu" for found in library.devices()),
    }
    try:
        found = usable[name]()
    except Exception as error:
        pytest.skip(f"{name}: {error}")
    if not found:
        pytest.skip(f"{name} has no device")
    return library


@pytest.mark.filterwarnings("default")  # of theirs
def test_pytorch(device: Device) -> None:
    torch = library_on("torch", device)
    array = asarray(some(2, 3), device=device)
    tensor = torch.from_dlpack(array)
    assert tensor.data_ptr() == array.ptr
    tensor *= 2
    torch.cuda.synchronize()
    assert np.array_equal(array.to_numpy(), some(2, 3) * 2)
    back = asarray(tensor)
    assert back.ptr == array.ptr
    with torch.cuda.stream(torch.cuda.Stream()):
        made = torch.arange(1000.0, device="cuda", dtype=torch.float64)
        with symc.cuda.stream(torch.cuda.current_stream()):
            assert np.array_equal(asarray(made).to_numpy(), np.arange(1000.0))


@pytest.mark.filterwarnings("default")  # of theirs
def test_cupy(device: Device) -> None:
    cupy = library_on("cupy", device)
    array = asarray(some(2, 3), device=device)
    for seen in (cupy.asarray(array), cupy.from_dlpack(array)):
        assert seen.data.ptr == array.ptr
        assert asarray(seen).ptr == array.ptr
    assert np.array_equal(asarray(cupy.arange(5.0)).to_numpy(), np.arange(5.0))


@pytest.mark.filterwarnings("default")  # of theirs
def test_jax(device: Device) -> None:
    jax = library_on("jax", device)
    numpy = importlib.import_module("jax.numpy")
    array = asarray(some(2, 3).astype(np.float32), device=device)
    assert np.array_equal(np.asarray(jax.dlpack.from_dlpack(array)), some(2, 3))
    assert np.array_equal(asarray(numpy.arange(5.0)).to_numpy(), np.arange(5.0))
