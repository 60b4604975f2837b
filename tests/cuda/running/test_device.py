"""Devices: by name, their context, streams, memory, forks, exit and errors."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc.cuda
from symc.codegen.errors import CudaMissing, DriverError
from symc.codegen.targets import sim
from symc.codegen.targets.cuda import table
from symc.codegen.targets.cuda.driver import Driver
from symc.cuda import devices
from symc.cuda.devices import Device
from symc.cuda.memory import Pool, rounded
from symc.errors import DeviceError
from tests.cuda.running.programs import KERNELS, Programs, image

ROOT = Path(__file__).parents[3]


def ones(device: Device, count: int = 4) -> symc.cuda.DeviceArray:
    return symc.cuda.asarray(np.ones(count), device=device)


# --- by name --------------------------------------------------------------------------------------


def test_there_is_one_object_for_each_name(device: Device) -> None:
    assert symc.cuda.device(device.name) is device
    assert symc.cuda.device(device) is device
    if not device.is_simulator:
        assert symc.cuda.device("cuda") is symc.cuda.device("cuda:0")


def test_threads_that_ask_at_once_get_the_same_device(
    simulator: sim.Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "_devices", {})
    found: list[Device] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        found.append(symc.cuda.device("cuda:sim"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cuda:-1", ""])
def test_names_that_no_device_has(name: str) -> None:
    with pytest.raises(ValueError, match="there are 'cpu', 'cuda'"):
        symc.cuda.device(name)


def test_a_number_that_no_device_has(
    simulator: sim.Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "addresses", simulator.table)
    with pytest.raises(DeviceError, match="there is no device cuda:3: there are 1"):
        symc.cuda.device("cuda:3")


def test_no_cuda_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> dict[str, int]:
        raise CudaMissing("there is no CUDA driver (libcuda.so.1) here")

    monkeypatch.setattr(table, "addresses", none)
    monkeypatch.setattr(devices, "_devices", {})
    assert not symc.cuda.available()
    with pytest.raises(DeviceError, match=r"cuda:0 cannot be used: there is no CUDA driver"):
        symc.cuda.device()


def test_why_there_is_no_driver() -> None:
    if symc.cuda.available():
        pytest.skip("there is a CUDA driver here")
    with pytest.raises((CudaMissing, DriverError)) as caught:
        Driver(table.addresses()).init()
    assert "CUDA" in str(caught.value)


# --- the context ----------------------------------------------------------------------------------


def test_the_callers_context_is_left_as_found(device: Device, programs: Programs) -> None:
    f = programs("axpy")
    before = device.driver.current()
    f(np.ones(3), np.ones(3), 2.0)
    assert device.driver.current() == before
    with device:
        assert device.driver.current() == device.context
        f(np.ones(3), np.ones(3), 2.0)
        assert device.driver.current() == device.context
    assert device.driver.current() == before


def test_a_thread_needs_no_context_of_its_own(device: Device) -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(ones(device).to_numpy()))
    thread.start()
    thread.join()
    assert np.array_equal(found[0], np.ones(4))


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 512, 513, 10_000, 123_456_789])
def test_blocks_are_a_little_larger_than_asked(size: int) -> None:
    assert size <= rounded(size) <= max(size * 17 // 16 + 1, size + 511)
    assert rounded(size) % 512 == 0
    assert rounded(rounded(size)) == rounded(size)


def test_memory_is_used_again(device: Device) -> None:
    device.empty_cache()
    before = device.memory_info()
    x = ones(device, 100)
    address = x.ptr
    taken = device.memory_info()
    assert taken["used"] == before["used"] + rounded(800)
    assert taken["cached"] == 0
    del x
    kept = device.memory_info()
    assert kept["used"] == before["used"]
    assert kept["cached"] == rounded(800)
    assert ones(device, 99).ptr == address
    device.empty_cache()
    assert device.memory_info()["cached"] == 0


def test_an_empty_cache_gives_memory_to_others(device: Device, simulator: sim.Simulator) -> None:
    device.empty_cache()
    before = simulator.counters().bytes
    del_me = ones(device, 1000)
    assert simulator.counters().bytes > before
    del del_me
    assert simulator.counters().bytes > before
    symc.cuda.empty_cache(device)
    assert simulator.counters().bytes == before


def test_no_memory(device: Device) -> None:
    with pytest.raises(MemoryError, match=rf"no [\d,]+ bytes on {device.name}: [\d,]+ of [\d,]+"):
        symc.cuda.empty((1 << 50,), np.float64, device)
    assert np.array_equal(ones(device).to_numpy(), np.ones(4))


def test_cached_blocks_go_before_memory_is_out(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    del_me = ones(device, 1000)
    del del_me
    allocate, tried = device.driver.allocate_async, list[int]()

    def full(size: int, pool: int, stream: int) -> int:
        tried.append(device.memory_info()["cached"])
        if tried[-1]:
            raise device.driver.error(2, "cuMemAllocFromPoolAsync")
        return allocate(size, pool, stream)

    monkeypatch.setattr(device.driver, "allocate_async", full)
    assert np.array_equal(ones(device, 2000).to_numpy(), np.ones(2000))
    assert tried == [rounded(8000), 0]


def test_a_device_without_memory_pools(device: Device) -> None:
    with device:
        pool = Pool(device, pooled=False)
    memory = pool.allocate(100, 0)
    address = memory.address
    del memory
    assert pool.cached == 512
    memory = pool.allocate(100, 0)
    assert memory.address == address
    del memory
    pool.empty()
    assert pool.cached == pool.taken == 0


# --- streams --------------------------------------------------------------------------------------


def test_the_stream_of_a_thread(device: Device) -> None:
    stream = symc.cuda.Stream(device)
    assert device.stream == 0
    with symc.cuda.stream(stream):
        assert device.stream == stream.handle
        seen: list[int] = []
        thread = threading.Thread(target=lambda: seen.append(device.stream))
        thread.start()
        thread.join()
        assert seen == [0]
        with symc.cuda.stream(None, device):
            assert device.stream == 0
        assert device.stream == stream.handle
        assert ones(device).stream == stream.handle
    assert device.stream == 0
    stream.synchronize()


class Torch:
    """A stream as PyTorch has it."""

    def __init__(self, handle: int) -> None:
        self.cuda_stream = handle


class Cupy:
    """A stream as CuPy has it."""

    def __init__(self, handle: int) -> None:
        self.ptr = handle


def test_streams_of_other_libraries(device: Device) -> None:
    ours = symc.cuda.Stream(device)
    for which in (ours.handle, Torch(ours.handle), Cupy(ours.handle)):
        with symc.cuda.stream(which, device):
            assert device.stream == ours.handle
    with symc.cuda.stream(1, device):
        assert device.stream == 0  # two names of the default stream


def test_what_is_no_stream(device: Device, simulator: sim.Simulator) -> None:
    with pytest.raises(TypeError, match="is no stream"):
        symc.cuda.stream("fast", device)
    with pytest.raises(DeviceError, match=f"0x123456 is no stream of {device.name}"):
        symc.cuda.stream(0x123456, device)


def test_streams_wait_for_each_other(device: Device, simulator: sim.Simulator) -> None:
    """Where work is done as late as can be, each stream needs the results of the others."""
    first, second = symc.cuda.Stream(device), symc.cuda.Stream(device)
    simulator.set_deferred(True)
    values = np.arange(5.0)
    with symc.cuda.stream(first):
        x = symc.cuda.asarray(values, device=device)
    with symc.cuda.stream(second):
        y = x.copy()
        z = y.copy()
    with symc.cuda.stream(first):
        y.assign(np.zeros(5))  # after z was copied from it
    assert np.array_equal(z.to_numpy(), values)
    assert np.array_equal(y.to_numpy(), np.zeros(5))


def test_memory_comes_back_after_its_last_reader(device: Device, simulator: sim.Simulator) -> None:
    stream = symc.cuda.Stream(device)
    simulator.set_deferred(True)
    x = symc.cuda.asarray(np.arange(5.0), device=device)
    address = x.ptr
    with symc.cuda.stream(stream):
        copied = x.copy()
    del x
    y = symc.cuda.asarray(np.zeros(5), device=device)
    assert y.ptr == address
    assert np.array_equal(y.to_numpy(), np.zeros(5))
    assert np.array_equal(copied.to_numpy(), np.arange(5.0))


def test_what_waits_for_work_on_the_device(device: Device, simulator: sim.Simulator) -> None:
    simulator.set_deferred(True)
    x = ones(device)
    done: list[str] = []
    device.later(lambda: done.append("now"), x.memory.streams())
    assert not done
    device.synchronize()
    assert done == ["now"]


def test_a_stream_under_capture_gives_no_new_memory(device: Device) -> None:
    stream = symc.cuda.Stream(device)
    x = ones(device, 12_345)
    device.empty_cache()
    with device:
        device.driver.capture_begin(stream.handle)
    try:
        with symc.cuda.stream(stream), pytest.raises(DeviceError, match="call the function once"):
            symc.cuda.empty((12_345,), np.float64, device)
    finally:
        with device:
            device.driver.capture_end(stream.handle)
    assert np.array_equal(x.to_numpy(), np.ones(12_345))


# --- errors ---------------------------------------------------------------------------------------


def test_an_error_of_the_driver_has_its_name_and_number(device: Device) -> None:
    with pytest.raises(DeviceError) as caught:
        device.load(picture(device), ["add", "subtract"])
    assert caught.value.code == 500
    assert "CUDA_ERROR_NOT_FOUND (500)" in str(caught.value)
    assert str(caught.value).startswith(f"{device.name}: cuModuleGetFunction")


def test_an_image_that_is_none(device: Device) -> None:
    with pytest.raises(DeviceError, match="cuModuleLoadData"):
        device.load(b"no image at all" * 100, [])


def picture(device: Device) -> bytes:
    return image(simulated=device.is_simulator, architecture=device.architecture)


def test_what_kernels_take(device: Device) -> None:
    module = device.load(picture(device), KERNELS)
    assert len(module.functions) == len(KERNELS)
    taken = module.attributes("add")
    assert set(taken) == {"registers", "shared", "local"}
    assert taken["registers"] > 0
    assert taken["shared"] < 1024
    assert taken["local"] == 0


# --- processes ------------------------------------------------------------------------------------

FORK = """
import os, sys
import numpy as np
import symc.cuda
from symc.errors import DeviceError

x = symc.cuda.asarray(np.ones(3), device="cuda:sim")
child = os.fork()
if not child:
    try:
        symc.cuda.asarray(np.ones(4), device="cuda:sim")
    except DeviceError as error:
        assert "forked" in str(error), error
    else:
        os._exit(3)
    try:
        x.to_numpy()
    except DeviceError as error:
        assert "spawn" in str(error), error
    else:
        os._exit(4)
    del x
    sys.exit(0)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert np.array_equal(x.to_numpy(), np.ones(3))
"""

EXIT = """
import numpy as np
import symc, symc.cuda

x = symc.cuda.asarray(np.ones(3), device="cuda:sim")
stream = symc.cuda.Stream("cuda:sim")
with symc.cuda.stream(stream):
    y = x.copy()
w = symc.shared(np.ones(3), device="cuda:sim")
"""

UNUSED = """
import sys
import symc
assert "symc.cuda" not in sys.modules
assert symc.cuda.DeviceArray
assert "symc.codegen.targets.sim" not in sys.modules
assert "cuda.bindings" not in sys.modules
"""


@pytest.mark.parametrize("program", [FORK, EXIT, UNUSED], ids=["fork", "exit", "unused"])
def test_processes(program: str) -> None:
    if not sim.available():
        pytest.skip("no C++ compiler (c++, g++ or clang++)")
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=ROOT, env=dict(os.environ),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
