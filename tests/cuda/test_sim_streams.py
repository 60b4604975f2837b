"""The simulated driver: order of work, capture and replay."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import numpy as np
import pytest

from tests.cuda.device import Device, Pointer, host, refused

INVALID_VALUE, INVALID_HANDLE, NOT_READY, ILLEGAL_ADDRESS = 1, 400, 600, 700
UNSUPPORTED, INVALIDATED, UNJOINED, IMPLICIT, CAPTURED_EVENT, WRONG_THREAD = (
    900, 901, 904, 906, 907, 908,
)  # fmt: skip
NON_BLOCKING = 1

i32, f32, size = ctypes.c_int, ctypes.c_float, ctypes.c_size_t


def stream_of(device: Device, flags: int = NON_BLOCKING) -> ctypes.c_void_p:
    return device.handle("cuStreamCreate", flags)


def add_one(device: Device, x: Pointer, stream: ctypes.c_void_p | None) -> None:
    """``x[0] += 1`` by saxpy, enqueued."""
    ones = device.put(np.ones(1, "f4"))
    device.launch(device.kernel("good.cu", "saxpy"), 1, 1, i32(1), f32(1), ones, x, stream=stream)


def test_deferred_work_waits(device: Device) -> None:
    x, out = device.put(np.zeros(1, "f4")), np.zeros(1, "f4")
    stream = stream_of(device)
    add_one(device, x, stream)  # loads the module
    device.call("cuStreamSynchronize", stream)
    ones = device.put(np.ones(1, "f4"))
    kernel = device.kernel("good.cu", "saxpy")
    with device.deferred():
        device.launch(kernel, 1, 1, i32(1), f32(1), ones, x, stream=stream)
        device.call("cuMemcpyDtoHAsync", host(out), x, size(4), stream)
        assert out[0] == 0
        assert device.result("cuStreamQuery", stream) == NOT_READY
        device.call("cuStreamSynchronize", stream)
        assert out[0] == 2
        assert device.result("cuStreamQuery", stream) == 0


def test_changed_host_memory_shows_when_deferred(device: Device) -> None:
    block, there = device.handle("cuMemHostAlloc", size(16), 0), device.allocate(16)
    x = np.ctypeslib.as_array((ctypes.c_float * 4).from_address(block.value or 0))
    x[:] = 1
    with device.deferred():
        device.call("cuMemcpyHtoDAsync", there, host(x), size(16), None)
        x[:] = 2
        assert list(device.get(there, 4, "f4")) == [2] * 4
    device.call("cuMemFreeHost", block)
    assert device.result("cuMemFreeHost", block) == INVALID_VALUE


def test_host_memory_that_is_not_pinned_is_read_at_once(device: Device) -> None:
    x, there = np.ones(4, "f4"), device.allocate(16)
    with device.deferred():
        device.call("cuMemcpyHtoDAsync", there, host(x), size(16), None)
        x[:] = 2
        assert list(device.get(there, 4, "f4")) == [1] * 4


def test_errors_come_late_when_deferred(device: Device) -> None:
    kernel = device.kernel("wrong.cu", "traps")
    with device.deferred():
        device.launch(kernel, 1, 1)
        assert refused(device, 719, "cuCtxSynchronize").startswith("kernel traps")
        assert device.result("cuCtxSynchronize") == 719


def test_memory_freed_too_early_shows_when_deferred(device: Device) -> None:
    first, second = stream_of(device), stream_of(device)
    x = device.put(np.ones(1, "f4"))
    kernel = device.kernel("wrong.cu", "read_one")
    with device.deferred():
        device.launch(kernel, 1, 1, x, x, stream=first)
        device.call("cuMemFreeAsync", x, second)  # nothing says that it comes after the launch
        device.call("cuStreamSynchronize", second)
        assert "was freed" in refused(device, ILLEGAL_ADDRESS, "cuStreamSynchronize", first)


def test_streams_wait_for_events(device: Device) -> None:
    first, second = stream_of(device), stream_of(device)
    event = device.handle("cuEventCreate", 0)
    x, y, out = np.full(1, 5, "f4"), device.allocate(4), np.zeros(1, "f4")
    for waits in (True, False):
        out[0] = 0
        device.call("cuMemsetD8", y, 0, size(4))
        with device.deferred():
            device.call("cuMemcpyHtoDAsync", y, host(x), size(4), first)
            device.call("cuEventRecord", event, first)
            assert device.result("cuEventQuery", event) == NOT_READY
            if waits:
                device.call("cuStreamWaitEvent", second, event, 0)
            device.call("cuMemcpyDtoHAsync", host(out), y, size(4), second)
            device.call("cuStreamSynchronize", second)
        assert out[0] == (5 if waits else 0)  # without the wait, the copies changed places
        device.call("cuEventSynchronize", event)
        assert device.result("cuEventQuery", event) == 0


def test_a_wait_is_for_the_record_that_it_saw(device: Device) -> None:
    first, second, third = (stream_of(device) for _ in range(3))
    event = device.handle("cuEventCreate", 0)
    x, y, out = np.full(1, 5, "f4"), device.allocate(4), np.zeros(1, "f4")
    with device.deferred():
        device.call("cuMemcpyHtoDAsync", y, host(x), size(4), first)
        device.call("cuEventRecord", event, first)
        device.call("cuStreamWaitEvent", second, event, 0)
        device.call("cuEventRecord", event, third)
        device.call("cuStreamSynchronize", third)
        device.call("cuMemcpyDtoHAsync", host(out), y, size(4), second)
        device.call("cuStreamSynchronize", second)
    assert out[0] == 5


def test_the_legacy_stream_keeps_order_with_blocking_streams(device: Device) -> None:
    x, y = np.full(1, 5, "f4"), device.allocate(4)
    for flags, expected in ((0, 5.0), (NON_BLOCKING, 0.0)):
        out = np.zeros(1, "f4")
        stream = stream_of(device, flags)
        device.call("cuMemsetD8", y, 0, size(4))
        with device.deferred():
            device.call("cuMemcpyHtoDAsync", y, host(x), size(4), stream)
            device.call("cuMemcpyDtoHAsync", host(out), y, size(4), None)
            device.call("cuStreamSynchronize", None)
            device.call("cuCtxSynchronize")
        assert out[0] == expected


def test_time_between_events(device: Device) -> None:
    start, end = (device.handle("cuEventCreate", 0) for _ in range(2))
    time = f32()
    args = ctypes.byref(time), start, end
    assert device.result("cuEventElapsedTime", *args) == INVALID_HANDLE
    device.call("cuEventRecord", start, None)
    device.call("cuEventRecord", end, None)
    device.call("cuEventElapsedTime", *args)
    assert 0 <= time.value < 1e6
    device.call("cuEventDestroy", start)
    device.call("cuEventDestroy", end)


def test_dead_streams_are_refused(device: Device) -> None:
    stream = stream_of(device)
    device.call("cuStreamDestroy", stream)
    assert device.result("cuStreamSynchronize", stream) == INVALID_HANDLE
    assert device.result("cuStreamSynchronize", ctypes.c_void_p(0x1234)) == INVALID_HANDLE


# --- graphs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("deferred", [False, True])
def test_capture_and_replay(device: Device, deferred: bool) -> None:
    stream = stream_of(device)
    x, y = device.put(np.zeros(1, "f4")), device.put(np.zeros(1, "f4"))
    ones = device.put(np.ones(1, "f4"))
    kernel = device.kernel("good.cu", "saxpy")
    status, factor = i32(), f32(3)
    before = device.sim.counters()
    device.sim.set_deferred(deferred)
    device.call("cuStreamBeginCapture", stream, 0)
    device.call("cuStreamIsCapturing", stream, ctypes.byref(status))
    assert status.value == 1
    device.launch(kernel, 1, 1, i32(1), factor, ones, x, stream=stream)
    device.call("cuMemcpyDtoDAsync", y, x, size(4), stream)
    factor.value = 100  # was copied when it was captured
    graph = ctypes.c_void_p()
    device.call("cuStreamEndCapture", stream, ctypes.byref(graph))
    replay = device.handle("cuGraphInstantiateWithFlags", graph, ctypes.c_uint64(0))
    device.call("cuGraphDestroy", graph)
    assert device.sim.counters().launches == before.launches
    for count in (1, 2, 3):
        device.call("cuGraphLaunch", replay, stream)
        device.call("cuStreamSynchronize", stream)
        assert device.get(y, 1, "f4")[0] == 3 * count
    device.call("cuGraphExecDestroy", replay)
    assert device.sim.counters().graphs == before.graphs
    assert device.result("cuGraphLaunch", replay, stream) == INVALID_VALUE


def test_what_capture_forbids(device: Device) -> None:
    stream = stream_of(device)
    x, graph, address = np.zeros(1), ctypes.c_void_p(), ctypes.c_uint64()
    there = device.allocate(8)
    assert device.result("cuStreamBeginCapture", None, 0) == UNSUPPORTED
    forbidden: dict[str, tuple[Any, ...]] = {
        "cuStreamSynchronize": (stream_of(device),),
        "cuCtxSynchronize": (),
        "cuMemAlloc": (ctypes.byref(address), size(8)),
        "cuMemcpyHtoD": (there, host(x), size(8)),
    }
    for name, args in forbidden.items():
        device.call("cuStreamBeginCapture", stream, 0)
        assert f"{name} while a stream captures" in refused(device, UNSUPPORTED, name, *args)
        assert device.result("cuStreamEndCapture", stream, ctypes.byref(graph)) == INVALIDATED
        assert graph.value is None
    device.call("cuStreamBeginCapture", stream, 2)  # relaxed
    device.call("cuMemAlloc", ctypes.byref(address), size(8))
    device.call("cuStreamEndCapture", stream, ctypes.byref(graph))
    device.call("cuGraphDestroy", graph)


def test_an_event_of_a_capture_tells_nothing(device: Device) -> None:
    stream, event = stream_of(device), device.handle("cuEventCreate", 2)
    graph = ctypes.c_void_p()
    for name in ("cuEventQuery", "cuEventSynchronize"):
        device.call("cuStreamBeginCapture", stream, 2)
        device.call("cuEventRecord", event, stream)
        refused(device, CAPTURED_EVENT, name, event)
        ended = device.result("cuStreamEndCapture", stream, ctypes.byref(graph))
        assert ended == INVALIDATED
        assert device.result(name, event) == CAPTURED_EVENT  # until it is recorded anew
        device.call("cuEventRecord", event, stream)
        device.call(name, event)


def test_a_capture_in_any_mode_forbids_to_wait_for_its_stream(device: Device) -> None:
    stream, graph = stream_of(device), ctypes.c_void_p()
    for name in ("cuStreamSynchronize", "cuStreamQuery"):
        device.call("cuStreamBeginCapture", stream, 2)  # relaxed
        assert "of a stream that captures" in refused(device, UNSUPPORTED, name, stream)
        ended = device.result("cuStreamEndCapture", stream, ctypes.byref(graph))
        assert ended == INVALIDATED


def test_a_capture_takes_no_host_memory_that_is_not_pinned(device: Device) -> None:
    stream, graph, block = stream_of(device), ctypes.c_void_p(), device.handle(
        "cuMemHostAlloc", size(8), 0
    )  # fmt: skip
    there, plain = device.allocate(8), np.zeros(1)
    for memory, result in ((host(plain), UNSUPPORTED), (Pointer(block.value or 0), 0)):
        device.call("cuStreamBeginCapture", stream, 1)
        assert device.result("cuMemcpyHtoDAsync", there, memory, size(8), stream) == result
        ended = device.result("cuStreamEndCapture", stream, ctypes.byref(graph))
        assert ended == (INVALIDATED if result else 0)
    device.call("cuMemFreeHost", block)


def test_a_capture_ends_in_the_thread_that_began_it(device: Device) -> None:
    stream, graph, results = stream_of(device), ctypes.c_void_p(), list[int]()

    def end() -> None:
        device.call("cuCtxPushCurrent", device.context)
        results.append(device.result("cuStreamEndCapture", stream, ctypes.byref(graph)))

    for mode, result in ((0, WRONG_THREAD), (1, WRONG_THREAD), (2, 0)):
        device.call("cuStreamBeginCapture", stream, mode)
        thread = threading.Thread(target=end)
        thread.start()
        thread.join()
        assert results.pop() == result
        if result:
            device.call("cuStreamEndCapture", stream, ctypes.byref(graph))


def test_asking_whether_the_legacy_stream_captures_breaks_nothing(device: Device) -> None:
    stream, graph, status = stream_of(device, 0), ctypes.c_void_p(), i32()
    device.call("cuStreamBeginCapture", stream, 1)
    assert device.result("cuStreamIsCapturing", None, ctypes.byref(status)) == IMPLICIT
    device.call("cuStreamEndCapture", stream, ctypes.byref(graph))


def test_flags_that_there_are_not(device: Device) -> None:
    stream, made = stream_of(device), ctypes.c_void_p()
    event = device.handle("cuEventCreate", 0)
    for flags in (4, 8):
        assert device.result("cuEventCreate", ctypes.byref(made), flags) == INVALID_VALUE
    assert device.result("cuStreamWaitEvent", stream, event, 2) == INVALID_VALUE
    device.call("cuStreamBeginCapture", stream, 1)
    device.call("cuStreamEndCapture", stream, ctypes.byref(made))
    args = ctypes.byref(ctypes.c_void_p()), made, ctypes.c_uint64(16)
    assert device.result("cuGraphInstantiateWithFlags", *args) == INVALID_VALUE


def test_recover_ends_captures(device: Device) -> None:
    stream = stream_of(device)
    device.call("cuStreamBeginCapture", stream, 0)
    device.sim.recover()
    device.free(device.allocate(8))
    device.call("cuStreamSynchronize", stream)


def test_the_legacy_stream_during_capture(device: Device) -> None:
    there, graph = device.allocate(8), ctypes.c_void_p()
    for flags, result in ((0, IMPLICIT), (NON_BLOCKING, 0)):
        stream = stream_of(device, flags)
        device.call("cuStreamBeginCapture", stream, 0)
        fill = there, 0, size(8), None
        assert device.result("cuMemsetD8Async", *fill) == result
        ended = device.result("cuStreamEndCapture", stream, ctypes.byref(graph))
        assert ended == (INVALIDATED if result else 0)


def test_capture_of_two_streams(device: Device) -> None:
    first, second = stream_of(device), stream_of(device)
    fork, join = (device.handle("cuEventCreate", 2) for _ in range(2))
    x, y = device.put(np.zeros(1, "i4")), device.put(np.zeros(1, "i4"))
    graph = ctypes.c_void_p()
    for joins in (True, False):
        device.call("cuStreamBeginCapture", first, 0)
        device.call("cuMemsetD32Async", x, 1, size(1), first)
        device.call("cuEventRecord", fork, first)
        device.call("cuStreamWaitEvent", second, fork, 0)
        device.call("cuMemsetD32Async", y, 2, size(1), second)
        if joins:
            device.call("cuEventRecord", join, second)
            device.call("cuStreamWaitEvent", first, join, 0)
        result = device.result("cuStreamEndCapture", first, ctypes.byref(graph))
        assert result == (0 if joins else UNJOINED)
        assert (device.get(x, 1, "i4")[0], device.get(y, 1, "i4")[0]) == (
            (0, 0) if joins else (1, 2)
        )
        if joins:
            replay = device.handle("cuGraphInstantiateWithFlags", graph, ctypes.c_uint64(0))
            device.call("cuGraphLaunch", replay, first)
            assert [device.get(address, 1, "i4")[0] for address in (x, y)] == [1, 2]


def test_replay_after_its_memory_is_gone(device: Device) -> None:
    stream, graph = stream_of(device), ctypes.c_void_p()
    x = device.put(np.zeros(1, "f4"))
    kernel = device.kernel("wrong.cu", "read_one")
    device.call("cuStreamBeginCapture", stream, 0)
    device.launch(kernel, 1, 1, x, x, stream=stream)
    device.call("cuStreamEndCapture", stream, ctypes.byref(graph))
    replay = device.handle("cuGraphInstantiateWithFlags", graph, ctypes.c_uint64(0))
    device.free(x)
    assert "was freed" in refused(device, ILLEGAL_ADDRESS, "cuGraphLaunch", replay, stream)
