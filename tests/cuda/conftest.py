"""The simulated device, fresh for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from symc.codegen.targets import sim
from tests.cuda.device import Device


@pytest.fixture(scope="session")
def simulated() -> Device:
    if not sim.available():
        pytest.skip("no C++ compiler (c++, g++ or clang++)")
    return Device()


@pytest.fixture
def device(simulated: Device) -> Iterator[Device]:
    """The device, whose errors and settings end with the test."""
    simulated.sim.recover()
    yield simulated
    simulated.sim.set_order("forward")
    simulated.sim.set_deferred(False)
    simulated.sim.recover()
