"""Random loops agree with loops in Python, and so do their gradients, of both orders."""

from __future__ import annotations

import pytest

import symc
from symc.errors import LoopError, ShapeMismatch
from tests.fuzz.run_loops import LoopProgram, agree

DEVICE = "" if symc.config.device == "cpu" else symc.config.device
COMPILED = (0,) if DEVICE else (0, 58, 97)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_interpreted(first: int) -> None:
    for seed in range(first, first + 10):
        agree(seed, "python", second=seed % 5 == 0)


@pytest.mark.parametrize("seed", COMPILED)
def test_compiled(seed: int) -> None:
    agree(seed, DEVICE or ("default", "fast", "compile")[seed % 3])


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2000, 10))
def test_many_interpreted(first: int) -> None:
    for seed in range(first, first + 10):
        agree(seed, "python", second=seed % 2 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2000, 2300))
def test_many_compiled(seed: int) -> None:
    agree(seed, DEVICE or ("default", "fast", "compile")[seed % 3], second=seed % 4 == 0)


@pytest.mark.filterwarnings("ignore:a loop changes")  # it is an output here
@pytest.mark.parametrize("seed", range(6))
def test_what_is_left_of_a_loop_is_one(seed: int) -> None:
    """Each smaller one runs, and its text has the same results; not every one fits, but most do."""
    tried = fits = 0
    for number, program in enumerate(LoopProgram(seed, second=False).smaller()):
        if number % 5:
            continue
        tried += 1
        try:
            program.run("python")
        except (LoopError, ShapeMismatch, IndexError):  # a value of another shape
            continue
        fits += 1
        exec(program.script("python"), {"print": lambda *_, **__: None})
    assert fits > 0.7 * tried > 0


@pytest.mark.filterwarnings("ignore:a loop changes")
def test_texts_of_loops_give_what_they_give(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(8):
        exec(LoopProgram(seed, second=False).script("python"), {})
        said = capsys.readouterr().out
        assert said[: len(said) // 2] == said[len(said) // 2 :] != ""
