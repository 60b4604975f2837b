"""Random programs of any dtype mean the same to NumPy, to the loop IR's interpreter, and in C."""

from __future__ import annotations

import pytest

import symc
from tests.fuzz.running import LineProgram
from tests.fuzz.typed import Script, lines_of

DEVICE = "" if symc.config.device == "cpu" else symc.config.device
QUICK = range(6 if DEVICE else 30)  # compiling for a device takes longer


def agree(seed: int, steps: int, mode: str) -> None:
    program = LineProgram(lines_of(Script(seed, steps)))
    try:
        program.run(DEVICE or mode)
    except Exception as error:
        error.add_note(f"seed={seed} steps={steps}\n{program.script(DEVICE or mode)}")
        raise


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", QUICK)
def test_all_agree(number: int, seed: int) -> None:
    agree(seed + number, 3 + number % 20, "compile" if number % 4 == 0 else "default")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1000, 1600))
def test_all_agree_on_many(number: int, seed: int) -> None:
    agree(seed + number, 5 + number % 40, ("default", "compile", "fast")[number % 3])
