"""The patterns that passes look for agree with NumPy, in lengths at the ends of their strips."""

from __future__ import annotations

import pytest

import symc
from tests.fuzz.patterns import GENERATOR

DEVICE = "" if symc.config.device == "cpu" else symc.config.device


@pytest.mark.parametrize("first", [0, 15])
def test_interpreted(first: int) -> None:
    for seed in range(first, first + 15):
        GENERATOR.generate(seed).run("python")


@pytest.mark.parametrize("seed", [100] if DEVICE else [100, 101, 102, 103])
def test_compiled(seed: int) -> None:
    GENERATOR.generate(seed).run(DEVICE or "default")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_many(seed: int) -> None:
    GENERATOR.generate(seed).run(DEVICE or ("default", "fast", "compile")[seed % 3])
