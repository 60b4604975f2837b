"""The simulated driver: device, contexts, modules, memory, and which calls are refused."""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import Any

import numpy as np
import pytest

from tests.cuda.device import Device, DriverError, Pointer, host, image, refused

INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, INVALID_IMAGE, INVALID_CONTEXT = 1, 2, 101, 200, 201
INVALID_HANDLE, NOT_FOUND, OUT_OF_RESOURCES = 400, 500, 701

i32, f32, size = ctypes.c_int, ctypes.c_float, ctypes.c_size_t


# --- device and contexts --------------------------------------------------------------------------


def test_every_function_has_an_address(device: Device) -> None:
    table = device.sim.table()
    assert len(set(table.values())) == len(table) > 70
    assert all(name.startswith("cu") and not name.endswith("_v2") for name in table)
    with pytest.raises(LookupError, match="no function 'cuTexRefCreate'"):
        device.sim.address("cuTexRefCreate")


def test_procedures_are_found_by_name(device: Device) -> None:
    found, status = ctypes.c_void_p(), i32(-1)
    args = ctypes.byref(found), 12000, ctypes.c_uint64(0), ctypes.byref(status)
    device.call("cuGetProcAddress", b"cuMemAlloc", *args)
    assert (found.value, status.value) == (device.sim.address("cuMemAlloc"), 0)
    assert device.result("cuGetProcAddress", b"cuNothing", *args) == NOT_FOUND
    assert (found.value, status.value) == (None, 1)


def test_device(device: Device) -> None:
    value, name = i32(), ctypes.create_string_buffer(64)
    device.call("cuDeviceGetCount", ctypes.byref(value))
    assert value.value == 1
    device.call("cuDeviceGetName", name, 64, 0)
    assert name.value == b"symc simulator"
    for attribute, expected in {75: 9, 76: 0, 10: 32, 97: 232448, 115: 1}.items():
        device.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, 0)
        assert value.value == expected
    assert device.result("cuDeviceGetAttribute", ctypes.byref(value), 999, 0) == INVALID_VALUE
    assert device.result("cuDeviceGet", ctypes.byref(value), 1) == INVALID_DEVICE


def test_errors_have_names(device: Device) -> None:
    text = ctypes.c_char_p()
    device.call("cuGetErrorName", 716, ctypes.byref(text))
    assert text.value == b"CUDA_ERROR_MISALIGNED_ADDRESS"
    device.call("cuGetErrorString", 716, ctypes.byref(text))
    assert text.value == b"misaligned address"
    assert device.result("cuGetErrorName", 12345, ctypes.byref(text)) == INVALID_VALUE
    assert text.value is None


def test_a_thread_without_a_context_is_refused(device: Device) -> None:
    results: list[int] = []

    def work() -> None:
        address = ctypes.c_uint64()
        results.append(device.result("cuMemAlloc", ctypes.byref(address), size(4)))
        results.append(device.result("cuCtxPushCurrent", device.context))
        results.append(device.result("cuMemAlloc", ctypes.byref(address), size(4)))
        results.append(device.result("cuCtxPopCurrent", None))
        results.append(device.result("cuMemFree", address))
        results.append(device.result("cuCtxPopCurrent", None))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == [INVALID_CONTEXT, 0, 0, 0, INVALID_CONTEXT, INVALID_CONTEXT]


def test_contexts_are_a_stack(device: Device) -> None:
    current = ctypes.c_void_p()
    device.call("cuCtxPushCurrent", device.context)
    device.call("cuCtxPopCurrent", ctypes.byref(current))
    assert current.value == device.context.value
    device.call("cuCtxGetCurrent", ctypes.byref(current))
    assert current.value == device.context.value
    assert device.result("cuCtxPushCurrent", ctypes.c_void_p(0x1234)) == INVALID_CONTEXT


# --- modules and launches -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blocks", "threads", "result"),
    [
        ((0, 1, 1), (32, 1, 1), INVALID_VALUE),
        ((1, 0, 1), (32, 1, 1), INVALID_VALUE),
        ((1, 1, 1), (0, 1, 1), INVALID_VALUE),
        ((1, 65536, 1), (1, 1, 1), INVALID_VALUE),
        ((1, 1, 65536), (1, 1, 1), INVALID_VALUE),
        ((1, 1, 1), (1025, 1, 1), INVALID_VALUE),
        ((1, 1, 1), (32, 33, 1), INVALID_VALUE),
        ((1, 1, 1), (1, 1, 65), INVALID_VALUE),
        ((1, 1, 1), (257, 1, 1), OUT_OF_RESOURCES),  # __launch_bounds__(256)
    ],
)
def test_limits_of_launches(device: Device, blocks: Any, threads: Any, result: int) -> None:
    with pytest.raises(DriverError, match="kernel saxpy") as caught:
        device.run("good.cu", "saxpy", blocks, threads, i32(0), f32(0), Pointer(0), Pointer(0))
    assert caught.value.result == result


def test_dynamic_shared_memory_must_be_asked_for(device: Device) -> None:
    kernel = device.kernel("good.cu", "reverse")
    x = device.put(np.arange(64.0))
    args = i32(64), x, x
    with pytest.raises(DriverError, match=r"49153 bytes .* 49152 are allowed"):
        device.launch(kernel, 1, 64, *args, shared=49153)
    device.call("cuFuncSetAttribute", kernel, 8, 232448)
    device.launch(kernel, 1, 64, *args, shared=232448)
    assert device.result("cuFuncSetAttribute", kernel, 8, 232449) == INVALID_VALUE
    device.call("cuFuncSetAttribute", kernel, 8, 49152)
    assert list(device.get(x, 3, "f8")) == [63, 62, 61]


def test_attributes_of_functions(device: Device) -> None:
    value = i32()
    kernel = device.kernel("good.cu", "softmax")
    device.call("cuFuncGetAttribute", ctypes.byref(value), 0, kernel)
    assert value.value == 128
    name = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    device.call(name, ctypes.byref(value), kernel, 128, size(0))
    assert value.value == 16
    device.call(name, ctypes.byref(value), kernel, 128, size(100_000))
    assert value.value == 2


def test_bad_images_are_refused(device: Device) -> None:
    module = ctypes.c_void_p()
    refused(device, INVALID_IMAGE, "cuModuleLoadData", ctypes.byref(module), b"\x7fELF" + bytes(60))
    report = refused(device, INVALID_IMAGE, "cuModuleLoadData", ctypes.byref(module), b"// PTX")
    assert "not an image" in report


def test_modules_end(device: Device) -> None:
    before = device.sim.counters().modules
    modules = [device.handle("cuModuleLoadData", image("wrong.cu")) for _ in range(40)]
    functions = [device.handle("cuModuleGetFunction", m, b"read_one") for m in modules]
    assert len({f.value for f in functions}) == 40
    assert device.sim.counters().modules == before + 40
    x = device.put(np.ones(1, "f4"))
    for module, function in zip(modules, functions, strict=True):
        device.launch(function, 1, 1, x, x)
        device.call("cuModuleUnload", module)
        with pytest.raises(DriverError, match="whose module was unloaded"):
            device.launch(function, 1, 1, x, x)
        assert device.result("cuModuleUnload", module) == INVALID_HANDLE
    assert device.sim.counters().modules == before


def test_unknown_kernels_are_not_found(device: Device) -> None:
    with pytest.raises(DriverError, match="no kernel nothing"):
        device.kernel("good.cu", "nothing")


# --- memory ---------------------------------------------------------------------------------------


def test_allocations(device: Device) -> None:
    before = device.sim.counters()
    made = [device.allocate(count) for count in (1, 4096, 4097, 1_000_000)]
    assert all(address % 256 == 0 for address in made)
    during = device.sim.counters()
    assert during.allocations == before.allocations + 4
    assert during.bytes == before.bytes + 1 + 4096 + 4097 + 1_000_000
    for address in made:
        device.free(address)
    assert device.sim.counters() == before
    assert device.result("cuMemFree", Pointer(0)) == 0


def test_wrong_frees_are_refused(device: Device) -> None:
    address = device.allocate(100)
    assert "not the start" in refused(device, INVALID_VALUE, "cuMemFree", Pointer(address + 4))
    device.free(address)
    assert "was freed before" in refused(device, INVALID_VALUE, "cuMemFree", address)
    assert "not device memory" in refused(device, INVALID_VALUE, "cuMemFree", Pointer(4096))


def test_limits_of_memory(device: Device) -> None:
    address = ctypes.c_uint64()
    out = ctypes.byref(address)
    assert device.result("cuMemAlloc", out, size(0)) == INVALID_VALUE
    assert device.result("cuMemAlloc", out, size(5 << 30)) == OUT_OF_MEMORY
    free, total = size(), size()
    device.call("cuMemGetInfo", ctypes.byref(free), ctypes.byref(total))
    assert total.value - free.value == device.sim.counters().bytes


def test_addresses_are_used_again_late(device: Device) -> None:
    seen = set[int]()
    for _ in range(1000):
        address = device.allocate(64)
        seen.add(address)
        device.free(address)
    assert len(seen) == 1000


def test_copies_are_checked(device: Device) -> None:
    x = np.zeros(25, "f4")
    there = device.allocate(96)
    report = refused(device, INVALID_VALUE, "cuMemcpyHtoD", there, host(x), size(100))
    assert "100 bytes from byte 0 of an allocation of 96 bytes" in report
    report = refused(device, INVALID_VALUE, "cuMemcpyHtoD", host(x), host(x), size(96))
    assert "a pointer of the host" in report
    report = refused(device, INVALID_VALUE, "cuMemcpyHtoD", there, there, size(96))
    assert "is not host memory" in report
    device.free(there)
    report = refused(device, INVALID_VALUE, "cuMemcpyDtoH", host(x), there, size(4))
    assert "was freed" in report
    assert device.result("cuMemcpyHtoD", Pointer(0), host(x), size(0)) == 0


def test_fresh_memory_is_nan(device: Device) -> None:
    assert np.isnan(device.get(device.allocate(64), 8, "f8")).all()


def test_fills_and_copies(device: Device) -> None:
    x, y = device.allocate(64), device.allocate(64)
    device.call("cuMemsetD32", x, 7, size(16))
    device.call("cuMemsetD8", Pointer(x + 4), 1, size(4))
    device.call("cuMemcpyDtoD", Pointer(y + 8), x, size(56))
    assert list(device.get(y, 6, "i4"))[2:] == [7, 0x01010101, 7, 7]
    report = refused(device, INVALID_VALUE, "cuMemsetD32", Pointer(x + 2), 0, size(1))
    assert "not aligned to 4 bytes" in report


def test_a_copy_takes_along_what_is_unwritten(device: Device) -> None:
    x, y = device.allocate(8), device.put(np.zeros(2, "f4"))
    device.call("cuMemcpyDtoD", y, x, size(8))
    with pytest.raises(DriverError, match="nothing has written"):
        device.run("wrong.cu", "read_one", 1, 1, y, y)


def test_pools(device: Device) -> None:
    pool, used = ctypes.c_void_p(), ctypes.c_uint64()
    device.call("cuDeviceGetDefaultMemPool", ctypes.byref(pool), 0)
    pinned_on_device_0 = struct.pack("iiiiQQH54x", 1, 0, 1, 0, 0, 0, 0)
    made = device.handle("cuMemPoolCreate", ctypes.create_string_buffer(pinned_on_device_0, 88))
    for wrong in ((0, 0, 1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0, 0), (1, 0, 1, 1, 0, 0, 0)):
        properties = ctypes.create_string_buffer(struct.pack("iiiiQQH54x", *wrong), 88)
        assert device.result("cuMemPoolCreate", ctypes.byref(pool), properties) == INVALID_VALUE
    assert made.value != pool.value
    device.call("cuMemPoolSetAttribute", made, 4, ctypes.byref(ctypes.c_uint64(1 << 40)))
    device.call("cuMemPoolGetAttribute", made, 4, ctypes.byref(used))
    assert used.value == 1 << 40
    address = ctypes.c_uint64()
    device.call("cuMemAllocFromPoolAsync", ctypes.byref(address), size(40), made, None)
    device.call("cuMemFreeAsync", Pointer(address.value), None)
    device.call("cuMemPoolDestroy", made)
    assert device.result("cuMemPoolTrimTo", made, size(0)) == INVALID_VALUE


def test_attributes_of_pointers(device: Device) -> None:
    address = device.allocate(100)
    kind, start = ctypes.c_uint(), ctypes.c_uint64()
    inside = Pointer(address + 10)
    device.call("cuPointerGetAttribute", ctypes.byref(kind), 2, inside)
    device.call("cuPointerGetAttribute", ctypes.byref(start), 11, inside)
    assert (kind.value, start.value) == (2, address)
    x = np.zeros(1)
    assert device.result("cuPointerGetAttribute", ctypes.byref(kind), 2, host(x)) == INVALID_VALUE
    numbers, values = (i32 * 2)(2, 11), (ctypes.c_void_p * 2)()
    values[:] = [ctypes.addressof(kind), ctypes.addressof(start)]
    device.call("cuPointerGetAttributes", 2, numbers, values, host(x))
    assert (kind.value, start.value) == (0, 0)


# --- threads of the host --------------------------------------------------------------------------


def test_many_threads_of_the_host(device: Device) -> None:
    kernel = device.kernel("good.cu", "saxpy")
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            device.call("cuCtxPushCurrent", device.context)
            for _ in range(20):
                x, y = (device.put(np.full(300, number, "f4")) for _ in range(2))
                device.launch(kernel, 2, 256, i32(300), f32(2), x, y)
                np.testing.assert_array_equal(device.get(y, 300, "f4"), 3 * number)
                device.free(x)
                device.free(y)
            device.call("cuCtxPopCurrent", None)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
