"""The devices that tests run on: the simulator, and a graphics card where there is one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

import symc
from symc import cuda
from symc.codegen.targets import sim
from symc.codegen.targets.cuda import nvrtc
from symc.codegen.targets.cuda.reading import module_of
from symc.codegen.targets.cuda.target import KERNELS

DEVICES = [
    *(["cuda:sim"] if sim.available() else []),
    *(["cuda:0"] if cuda.available("cuda") else []),
]
needs_simulator = pytest.mark.skipif(not sim.available(), reason="no C++ compiler")
ARCHITECTURES = [(8, 0), (9, 0)]
needs_nvrtc = pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")


def check_with_nvrtc(function: symc.Function) -> None:
    """NVRTC takes a function's kernels without a warning, and no register is spilled."""
    if not nvrtc.available():
        return
    assert function.folder is not None
    module = module_of((Path(function.folder) / KERNELS).read_text(encoding="utf-8"))
    for architecture in ARCHITECTURES:
        made = nvrtc.compile(module, architecture, quick=function.mode == "compile")
        assert made.log == ""
        for name, found in made.resources.items():
            assert (found.spill_stores, found.spill_loads) == (0, 0), name


def orders(device: str) -> list[AbstractContextManager[Any]]:
    """Contexts in which threads run in different orders, where the device is simulated."""
    if device != "cuda:sim":
        return [nullcontext()]
    return [_order("forward"), _order("reversed")]


@contextmanager
def _order(name: Any) -> Generator[None]:
    simulator = sim.load()
    simulator.set_order(name)
    try:
        yield
    finally:
        simulator.set_order("forward")
