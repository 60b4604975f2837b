"""The devices that programs run on: the simulator, and a graphics card where there is one."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import symc.cuda
from symc.codegen.targets import sim
from symc.cuda.devices import Device
from tests.cuda.running.programs import Library, Programs, build_host

NAMES = ["cuda:sim", "cuda"]


@pytest.fixture(params=NAMES)
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    """A device; nothing of the test is left on it afterwards."""
    name: str = request.param
    if name == "cuda:sim" and not sim.available():
        pytest.skip("no C++ compiler (c++, g++ or clang++)")
    if name != "cuda:sim" and not symc.cuda.available(name):
        pytest.skip(f"no device {name}")
    found = symc.cuda.device(name)
    yield found
    gc.collect()
    if found.is_simulator:
        driver = sim.load()
        driver.set_deferred(False)
        driver.recover()
    found.empty_cache()


@pytest.fixture
def simulator(device: Device) -> sim.Simulator:
    """The simulator, for cases that cannot be arranged on a graphics card."""
    if not device.is_simulator:
        pytest.skip("only on the simulator")
    return sim.load()


@pytest.fixture
def other(simulator: sim.Simulator) -> Device:
    """Another device than `device`: the simulator once more, under a card's name."""
    return Device("cuda:7", 0, simulator.table())


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return build_host(tmp_path_factory.mktemp("host"))


_programs: dict[str, Programs] = {}


@pytest.fixture
def programs(device: Device, library: Library) -> Programs:
    """Makes functions of the programs of host.c on the device."""
    if device.name not in _programs:
        _programs[device.name] = Programs(device, library)
    return _programs[device.name]
