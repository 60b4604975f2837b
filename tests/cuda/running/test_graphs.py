"""Calls that are recorded as CUDA graphs, by symc and by the user."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np

import symc.cuda
from symc.codegen.targets import sim
from symc.codegen.targets._abi import ffi
from symc.cuda import asarray, dlpack
from symc.cuda.devices import Device
from symc.cuda.frames import Frame
from tests.cuda.running.programs import Programs
from tests.cuda.running.test_caller import A, B, K, descend
from tests.cuda.running.test_interop import ByDLPack


def test_equal_calls_have_equal_states(device: Device) -> None:
    """Also where a value is shorter than the one before it."""
    frame = Frame((1, 0, 0, 0), 1, device, ffi.NULL, 0)
    states: list[bytes] = []
    for value in (np.int8(5), np.float64(2.5), np.int8(5), np.int8(6)):
        frame.put_array(0, np.array(value))
        states.append(frame.state())
    assert states[0] == states[2]
    assert len(set(states)) == 3


def launches(f: Any) -> tuple[int, int]:
    """Graphs that were made, and launched."""
    graphs = f._graphs  # pyright: ignore[reportPrivateUsage]
    return graphs.made, graphs.replayed


def test_a_repeated_call_is_recorded(device: Device, programs: Programs) -> None:
    f = programs("axpy", graphs=True, on_device=True)
    a, b = asarray(A, device=device), asarray(B, device=device)
    for turn in range(6):
        result = f(a, b, 2.0)
        assert np.array_equal(result.to_numpy(), A + B * 2)
        del result
        assert launches(f) == (min(turn, 1), turn)


def test_a_graph_reads_the_values_of_today(device: Device, programs: Programs) -> None:
    f = programs("axpy", graphs=True)
    a = asarray(A, device=device)
    for turn in range(6):
        a.assign(A + turn)
        assert np.array_equal(f(a, B, 2.0), A + turn + B * 2)
    assert launches(f)[1] > 2


def test_graphs_are_only_for_the_same_call(device: Device, programs: Programs) -> None:
    """Other lengths, values of scalars and arrays; each again and again, in any order."""
    f = programs("axpy", graphs=True, on_device=True)
    arrays = [asarray(A[:count] + count, device=device) for count in (5, 3, 5)]
    for turn in range(40):
        x, s = arrays[turn % 3], float(turn // 20)
        assert np.array_equal(f(x, x, s).to_numpy(), np.asarray(x) * (1 + s))
    assert launches(f)[1] > 10


def test_updates_by_graphs(device: Device, programs: Programs) -> None:
    w, v = [asarray(A, device=device)], [asarray(B, device=device)]
    f = descend(programs, w, v, graphs=True, on_device=True)
    g = asarray(np.full(5, 0.25), device=device)
    want_w, want_v = A, B
    for _ in range(12):
        f(g)
        want_w = want_w - 0.25
        want_v = want_v + want_w * K[1]
        assert np.array_equal(w[0].to_numpy(), want_w)
        assert np.array_equal(v[0].to_numpy(), want_v)
    made, replayed = launches(f)
    assert made <= 4
    assert replayed > 4


def test_few_graphs_are_kept(device: Device, programs: Programs) -> None:
    f = programs("axpy", graphs=True, on_device=True)
    a, b = asarray(A, device=device), asarray(B, device=device)
    device.synchronize()
    before = sim.load().counters().graphs if device.is_simulator else 0
    for number in range(10):
        for _ in range(3):
            f(a, b, float(number))
    assert launches(f)[0] == 10
    device.synchronize()
    if device.is_simulator:
        assert sim.load().counters().graphs - before <= 4
    del f
    gc.collect()
    device.synchronize()
    if device.is_simulator:
        assert sim.load().counters().graphs == before


def test_graphs_that_are_of_no_use_are_not_made(device: Device, programs: Programs) -> None:
    f = programs("axpy", graphs=True, on_device=True)
    a, b = asarray(A, device=device), asarray(B, device=device)
    for number in range(100):
        for _ in range(2):
            f(a, b, float(number))
    assert launches(f)[0] <= 32
    assert np.array_equal(f(a, b, 2.0).to_numpy(), A + B * 2)


def test_a_program_that_cannot_be_recorded(device: Device, programs: Programs) -> None:
    """It waits for the device: CUDA refuses that, and the call is made without a graph."""
    f = programs("positive", graphs=True)
    for _ in range(5):
        assert np.array_equal(f(asarray(B, device=device)), B[B > 0])
    assert launches(f) == (0, 0)


def test_the_users_own_recording_is_left_alone(device: Device, programs: Programs) -> None:
    f = programs("axpy", graphs=True, on_device=True)
    stream, driver = symc.cuda.Stream(device), device.driver
    a, b = asarray(A, device=device), asarray(B, device=device)
    with symc.cuda.stream(stream):
        f(a, b, 2.0)
        device.synchronize()
        with device:
            driver.capture_begin(stream.handle)
        result = f(a, b, 2.0)
        with device:
            graph = driver.graph_instantiate(driver.capture_end(stream.handle))
    assert launches(f) == (0, 0)
    a.assign(A + 1)
    device.synchronize()
    with device:
        assert driver.raw["cuGraphLaunch"](graph, stream.handle) == 0
        driver.stream_synchronize(stream.handle)
        driver.graph_destroy(graph)
    assert np.array_equal(result.to_numpy(), A + 1 + B * 2)


def test_the_users_own_recording_takes_arrays_of_other_libraries(
    device: Device, programs: Programs
) -> None:
    """They are let go in the middle of it, when no event can be asked for."""
    f = programs("axpy", on_device=True)
    stream, driver = symc.cuda.Stream(device), device.driver
    a, b = asarray(A, device=device), asarray(B, device=device)
    with symc.cuda.stream(stream):
        f(ByDLPack(a), ByDLPack(b), 2.0)
        device.synchronize()
        with device:
            driver.capture_begin(stream.handle)
        result = f(ByDLPack(a), ByDLPack(b), 2.0)
        with device:
            graph = driver.graph_instantiate(driver.capture_end(stream.handle))
        assert dlpack.live() > 0
    device.synchronize()
    device.sweep()
    assert dlpack.live() == 0
    with device:
        assert driver.raw["cuGraphLaunch"](graph, stream.handle) == 0
        driver.stream_synchronize(stream.handle)
        driver.graph_destroy(graph)
    assert np.array_equal(result.to_numpy(), A + B * 2)
