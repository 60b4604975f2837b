"""Arrays on a device, and values that become one."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import symc
from symc.codegen import dtypes
from symc.codegen.targets import sim
from symc.cuda import DeviceArray, asarray
from symc.cuda.devices import Device
from symc.errors import DeviceError, DTypeError, RankError, ShapeMismatch
from symc.graph.types import as_dtype, to_numpy

DTYPES = [dtype.name for dtype in dtypes.ALL]
SHAPES = [(), (1,), (5,), (0,), (2, 3), (0, 4), (2, 1, 3)]


def some(shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape) - 2
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_there_and_back(device: Device, shape: tuple[int, ...], dtype: str) -> None:
    host = some(shape, to_numpy(as_dtype(dtype)))  # NumPy knows bfloat16 once it is asked for
    array = asarray(host, device=device)
    facts = ("shape", "dtype", "ndim", "size", "itemsize", "nbytes")
    for fact in facts:
        assert getattr(array, fact) == getattr(host, fact), fact
    if host.size:
        assert array.strides == host.strides
    assert array.device is device
    assert bool(array.ptr) == bool(host.size)
    for back in (array.to_numpy(), np.asarray(array), array.copy().to_numpy()):
        assert back.dtype == host.dtype
        assert np.array_equal(back, host)


def test_the_copy_is_independent(device: Device) -> None:
    host = some((4,))
    array = asarray(host, device=device)
    copied = array.copy()
    host[:] = 9
    array.assign(host)
    assert np.array_equal(copied.to_numpy(), some((4,)))
    assert np.array_equal(array.to_numpy(), host)


def test_values_of_another_shape_or_dtype_are_refused(device: Device) -> None:
    array = asarray(some((4,)), device=device)
    for wrong in (some((5,)), some((4,), np.float32), some((4, 1))):
        with pytest.raises(ValueError, match="cannot hold"):
            array.assign(wrong)


@pytest.mark.parametrize(
    "value",
    [
        some((4, 6))[::2, ::-1], some((4, 6)).T, some((3,), ">f8"), [[1, 2], [3, 4]], 7, 2.5, True,
        1j, np.float32(3), np.broadcast_to(np.float64(1), (3, 2)),
    ],
    ids=["strided", "transposed", "swapped", "list", "int", "float", "bool",
         "complex", "scalar", "broadcast"],
)  # fmt: skip
def test_what_can_be_uploaded(device: Device, value: Any) -> None:
    array = asarray(value, device=device)
    want = np.asarray(value)
    assert array.dtype == want.dtype.newbyteorder("=")
    assert np.array_equal(array.to_numpy(), want)


@pytest.mark.parametrize("value", ["text", np.zeros(2, "O"), np.zeros(2, np.longdouble)])
def test_what_cannot_be_uploaded(device: Device, value: Any) -> None:
    with pytest.raises(DTypeError, match=r"(to|on) a device (is|holds|has)"):
        asarray(value, device=device)


def test_another_dtype(device: Device) -> None:
    array = asarray([1, 2, 3], np.float32, device=device)
    assert array.dtype == np.float32
    as_double = asarray(array, np.float64)
    assert as_double.device is device
    assert np.array_equal(as_double.to_numpy(), [1.0, 2.0, 3.0])
    assert as_double.dtype == np.float64


def test_when_an_array_is_copied(device: Device) -> None:
    array = asarray(some((3,)), device=device)
    assert asarray(array) is array
    assert asarray(array, np.float64, device=device, copy=False) is array
    copied = asarray(array, copy=True)
    assert copied.ptr != array.ptr
    assert np.array_equal(copied.to_numpy(), array.to_numpy())
    with pytest.raises(ValueError, match="must be copied"):
        asarray(array, np.float32, copy=False)
    with pytest.raises(ValueError, match="must be copied"):
        asarray(some((3,)), device=device, copy=False)


def test_an_array_of_another_device(device: Device, other: Device) -> None:
    array = asarray(some((3,)), device=other)
    with pytest.raises(DeviceError, match=f"is on cuda:7, and {device.name} was asked for"):
        asarray(array, device=device)
    with pytest.raises(DeviceError, match=f"is on cuda:7, and {device.name} was asked for"):
        asarray(some((3,)), device=device).assign(array)


def test_as_a_number(device: Device) -> None:
    number = asarray(2.5, device=device)
    assert (float(number), int(number), bool(number), number.item()) == (2.5, 2, True, 2.5)
    assert f"{number:.3f}" == "2.500"
    assert f"{number}" == repr(number) == f"<float64[] on {device.name}>"
    assert not asarray([0.0], device=device)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(asarray([0.0, 1.0], device=device))
    with pytest.raises(ValueError, match="size 1"):
        asarray([0.0, 1.0], device=device).item()


def test_length_and_text(device: Device) -> None:
    array = asarray(some((2, 3), np.int32), device=device)
    assert len(array) == 2
    assert repr(array) == f"<int32[2, 3] on {device.name}>"
    with pytest.raises(TypeError, match="without axes"):
        len(asarray(1, device=device))


def test_reshape(device: Device) -> None:
    array = asarray(some((2, 6)), device=device)
    for shape in [(12,), (3, 4), (-1,), (2, -1, 3), (1, 12, 1)]:
        seen = array.reshape(*shape)
        assert seen.ptr == array.ptr
        assert np.array_equal(seen.to_numpy(), some((2, 6)).reshape(shape))
        assert array.reshape(shape).shape == seen.shape
    for wrong in [(5,), (-1, 5), (-1, -1), (-12,), (-2, -6), (0, -1)]:
        with pytest.raises(ValueError, match="cannot reshape"):
            array.reshape(wrong)
    empty = asarray(some((0, 3)), device=device)
    assert empty.reshape(3, 0).shape == (3, 0)


def test_numpy_is_told_that_it_gets_a_copy(device: Device) -> None:
    array = asarray(some((3,)), device=device)
    assert np.array(array, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="without a copy"):
        np.array(array, copy=False)


def test_the_source_may_change_at_once(device: Device) -> None:
    if device.is_simulator:
        sim.load().set_deferred(True)
    host = some((1000,))
    array = asarray(host, device=device)
    host[:] = -1
    assert np.array_equal(array.to_numpy(), some((1000,)))


def test_the_driver_reads_pinned_memory_before_we_go_on(
    device: Device, simulator: sim.Simulator
) -> None:
    place = ctypes.c_void_p()
    allocate = ctypes.CFUNCTYPE(ctypes.c_int)(simulator.address("cuMemHostAlloc"))
    free = ctypes.CFUNCTYPE(ctypes.c_int)(simulator.address("cuMemFreeHost"))
    with device:
        assert allocate(ctypes.byref(place), ctypes.c_size_t(80), 0) == 0
    host = np.ctypeslib.as_array((ctypes.c_double * 10).from_address(place.value or 0))
    host[:] = 1
    simulator.set_deferred(True)
    array = asarray(host, device=device)
    host[:] = -1
    assert np.array_equal(array.to_numpy(), np.ones(10))
    with device:
        assert free(place) == 0


# --- shared variables -----------------------------------------------------------------------------


def test_a_shared_variable_on_a_device(device: Device) -> None:
    w = symc.shared(some((2, 3)), name="w", device=device.name)
    assert w.device == device.name
    assert symc.shared(0.0).device is None
    value = w.get_value()
    assert isinstance(value, np.ndarray)
    assert np.array_equal(value, some((2, 3)))
    value[:] = 9
    assert np.array_equal(w.get_value(borrow=True), some((2, 3)))
    assert np.array_equal(w.op.evaluate(), some((2, 3)))
    live = w.get_value(borrow=True, return_internal_type=True)
    assert isinstance(live, DeviceArray)
    assert w.get_value(borrow=True, return_internal_type=True) is live
    assert w.get_value(return_internal_type=True).ptr != live.ptr


def test_setting_a_shared_variable_on_a_device(device: Device) -> None:
    w = symc.shared(some((2, 3)), name="w", device=device.name)
    w.set_value(np.ones((2, 3), np.float32))
    assert np.array_equal(w.get_value(), np.ones((2, 3)))
    given = asarray(some((2, 3)), device=device)
    w.set_value(given)
    assert w.get_value(borrow=True, return_internal_type=True).ptr != given.ptr
    w.set_value(given, borrow=True)
    assert w.get_value(borrow=True, return_internal_type=True) is given
    w.set_value(asarray(some((2, 3), np.int32), device=device))
    assert np.array_equal(w.get_value(), some((2, 3)))
    assert w.get_value().dtype == np.float64


def test_what_a_shared_variable_on_a_device_refuses(device: Device) -> None:
    w = symc.shared(some((2, 3), np.float32), name="w", device=device.name)
    before = w.get_value()
    with pytest.raises(DTypeError, match="would lose precision"):
        w.set_value(asarray(some((2, 3)), device=device))
    with pytest.raises(RankError, match="has 2 axes"):
        w.set_value(asarray(some((3,), np.float32), device=device))
    with pytest.raises(ShapeMismatch, match="axis 0 was declared 2"):
        w.set_value(np.ones((3, 3), np.float32))
    assert np.array_equal(w.get_value(), before)


def test_a_shared_variable_and_another_device(device: Device, other: Device) -> None:
    w = symc.shared(some((3,)), device=device.name)
    with pytest.raises(DeviceError, match=f"the value is on cuda:7, and {device.name} was asked"):
        w.set_value(asarray(some((3,)), device=other))


def test_a_host_variable_takes_values_from_a_device(device: Device) -> None:
    w = symc.shared(some((3,)))
    w.set_value(asarray([5.0, 6.0, 7.0], device=device))
    assert np.array_equal(w.get_value(), [5.0, 6.0, 7.0])


def test_the_interpreter_reads_and_writes_a_device(device: Device) -> None:
    w = symc.shared(some((3,)), name="w", device=device.name)
    f = symc.function([], w * 2, updates=[(w, w + 1)], mode="python")
    assert np.array_equal(f(), some((3,)) * 2)
    assert np.array_equal(w.get_value(), some((3,)) + 1)
    assert isinstance(w.get_value(return_internal_type=True), DeviceArray)
