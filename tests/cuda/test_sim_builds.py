"""The simulator's driver built in other ways, and processes that must die."""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from symc.codegen.targets import drivers, sim
from symc.pipeline.library import kept, store_at
from tests.cuda.device import ORDERS, Device, DriverError, Pointer

pytestmark = pytest.mark.skipif(not sim.available(), reason="no C++ compiler")


def test_the_driver_is_built_once(tmp_path: Path) -> None:
    with store_at(tmp_path / "cache"):
        made, again = (kept(sim.describe_driver(), sim.build, str) for _ in range(2))
    assert made == again
    assert Path(made, drivers.DRIVER).exists()
    assert Path(made).stat().st_mode & 0o777 == 0o700


def built(folder: Path, *options: str) -> sim.Simulator:
    sim.build(folder, *options)
    return sim.Simulator(folder / drivers.DRIVER)


def test_sources_compile_without_warnings() -> None:
    strict = ("-Wall", "-Wextra", "-Werror", "-Wmissing-prototypes")
    sources = sorted(map(str, sim.FOLDER.glob("*.c")))
    for option in ("-USYMC_SIM_UCONTEXT", "-DSYMC_SIM_UCONTEXT"):
        command = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", *strict, option, *sources]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr


def test_the_portable_switch_of_fibers_and_large_pages(tmp_path: Path) -> None:
    device = Device(built(tmp_path, "-DSYMC_SIM_UCONTEXT", "-DSYMC_SIM_PAGE=65536"))
    x = np.arange(600.0)
    for order in ORDERS:
        device.sim.set_order(order)
        to = device.allocate(24)
        device.run("good.cu", "block_sum", 3, 256, ctypes.c_int(600), device.put(x), to)
        assert device.get(to, 3, "f8").sum() == x.sum()
        with pytest.raises(DriverError, match="which has returned"):
            device.run("wrong.cu", "return_before_barrier", 1, 64, ctypes.c_int(20), to)
        device.sim.recover()


def test_addresses_are_used_again_when_there_are_no_others(tmp_path: Path, seed: int) -> None:
    """All that is allocated keeps its values, while the addresses are gone through many times."""
    device = Device(built(tmp_path, "-DSYMC_SIM_CAPACITY=(1ull<<20)"))
    generator = random.Random(seed)
    live: list[tuple[Pointer, int, int]] = []
    highest, wraps = 0, 0
    for number in range(3000):
        if len(live) > 20 or (live and generator.random() < 0.4):
            address, count, value = live.pop(generator.randrange(len(live)))
            assert (device.get(address, count, "i4") == value).all(), f"--seed {seed}"
            device.free(address)
        count = generator.randrange(1, 5000)
        address = device.put(np.full(count, number, "i4"))
        wraps += address < highest
        highest = address
        live.append((address, count, number))
    assert wraps > 2
    ends = sorted((address, address + 4 * count) for address, count, _ in live)
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))


HOST_TOUCHES_DEVICE_MEMORY = """
import ctypes
from tests.cuda.device import Device
device = Device()
address = device.allocate(64)
print("before", flush=True)
ctypes.string_at(int(address), 1)
print("after", flush=True)
"""


def test_the_host_cannot_touch_device_memory() -> None:
    command = [sys.executable, "-c", HOST_TOUCHES_DEVICE_MEMORY]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (-11, "before\n"), result.stderr


def test_the_environment_chooses(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from symc.codegen.targets import sim; sim.load()"]
    environment = {**os.environ, "TMPDIR": str(tmp_path), "SYMC_SIM_ORDER": "sideways"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "SYMC_SIM_ORDER: forward, reversed or a number, not 'sideways'" in result.stderr
