"""The devices that tests run on: the simulator, and a graphics card where there is one."""

from __future__ import annotations

import importlib.util
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest

from symc import cuda

DEVICES = ["cuda:sim", *(["cuda:0"] if cuda.available("cuda") else [])]
needs_nvrtc = pytest.mark.skipif(
    importlib.util.find_spec("cuda") is None or importlib.util.find_spec("nvidia") is None,
    reason="NVRTC is not installed",
)


def orders(device: str) -> list[AbstractContextManager[Any]]:
    """Contexts in which threads run in different orders, where the device is simulated."""
    if device != "cuda:sim":
        return [nullcontext()]
    return [_order("forward"), _order("reversed")]


@contextmanager
def _order(name: Any) -> Generator[None]:
    from symc.codegen.targets import sim

    simulator = sim.load()
    simulator.set_order(name)
    try:
        yield
    finally:
        simulator.set_order("forward")
