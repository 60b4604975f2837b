"""What is in range only where a branch is taken is read only there, in loops and for gradients."""

from __future__ import annotations

import pytest

import symc
from tests.fuzz.guarded import GENERATOR
from tests.fuzz.protocol import Refused

DEVICE = "" if symc.config.device == "cpu" else symc.config.device


def run(seed: int, mode: str) -> bool:
    try:
        GENERATOR.generate(seed).run(mode)
    except Refused:
        return False
    return True


def test_interpreted() -> None:
    """Among these are the first that read in vain, each for another reason: see `test_gated.py`."""
    seeds = (*range(8), 16, 85, 107, 175, 225, 287, 310, 378, 456, 588, 671, 1050)
    assert sum(run(seed, "python") for seed in seeds) >= len(seeds) - 3


@pytest.mark.parametrize("seed", [107] if DEVICE else [85, 107])
def test_compiled(seed: int) -> None:
    assert run(seed, DEVICE or "default")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_many(seed: int) -> None:
    run(seed, DEVICE or ("default", "python", "compile")[seed % 3])


def test_what_is_left_of_a_program_runs_and_is_written_down() -> None:
    for program in list(GENERATOR.generate(3).smaller())[:4]:
        exec(program.script("python"), {})
