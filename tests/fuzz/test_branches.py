"""Random branches in loops that write arrays agree with Python, and gradients with differences."""

from __future__ import annotations

import pytest

import symc
from tests.fuzz.branches import GENERATOR

DEVICE = "" if symc.config.device == "cpu" else symc.config.device


@pytest.mark.parametrize("first", [0, 20])
def test_interpreted(first: int) -> None:
    for seed in range(first, first + 20):
        GENERATOR.generate(seed).run("python")


@pytest.mark.parametrize("seed", [100] if DEVICE else [100, 111])
def test_compiled(seed: int) -> None:
    GENERATOR.generate(seed).run(DEVICE or ("default", "fast")[seed % 2])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_many(seed: int) -> None:
    GENERATOR.generate(seed).run(DEVICE or ("default", "fast", "compile")[seed % 3])


def test_what_is_left_of_a_program_runs_and_is_written_down() -> None:
    tried = 0
    for program in list(GENERATOR.generate(3).smaller())[:6]:
        exec(program.script("python"), {})
        tried += 1
    assert tried > 2
