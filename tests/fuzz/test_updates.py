"""Random programs that update variables from themselves and each other, in every mode."""

from __future__ import annotations

import pytest

import symc
from tests.fuzz.run_updates import check, check_given, check_loops
from tests.fuzz.updates import generate

MODES = ("default", "fast", "compile")
COMPILED = range(15 if symc.config.device == "cpu" else 4)  # compiling for a device takes longer


def mode_of(seed: int) -> str:
    return MODES[seed % 3]


@pytest.mark.parametrize("first", range(0, 240, 20))
def test_loops_agree(first: int) -> None:
    """Lowered programs, run by the interpreter of loops, before and after the passes."""
    compared = [check_loops(generate(seed), mode_of(seed)) for seed in range(first, first + 20)]
    assert sum(map(bool, compared)) >= 8  # others raise, or call routines


@pytest.mark.parametrize("seed", COMPILED)
def test_compiled_code_agrees(seed: int) -> None:
    assert check(generate(10_000 + seed), mode_of(seed), symc.config.device) > 0


@pytest.mark.parametrize("seed", COMPILED)
def test_arguments_given_away_agree(seed: int) -> None:
    assert check_given(generate(20_000 + seed), mode_of(seed)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(21_000, 21_600))
def test_arguments_of_many_agree(seed: int) -> None:
    check_given(generate(seed), mode_of(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 5000, 20))
def test_loops_of_many_agree(first: int) -> None:
    for seed in range(first, first + 20):
        check_loops(generate(seed), mode_of(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(11_000, 11_600))
def test_compiled_code_of_many_agrees(seed: int) -> None:
    check(generate(seed), mode_of(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12_000, 12_060))
def test_simulated_devices_agree(seed: int) -> None:
    check(generate(seed), "default", "cuda:sim")


# --- the programs themselves ----------------------------------------------------------------------


def test_a_seed_makes_one_program() -> None:
    for seed in range(5):
        assert generate(seed) == generate(seed)


def test_programs_have_what_they_are_for() -> None:
    """Swaps, several updates, outputs, repeated calls, loops, and variables read by others."""
    found: set[str] = set()
    for seed in range(60):
        program = generate(seed)
        assert program.updates
        texts = dict(program.updates)
        lines = "".join(text for _, text in program.lines)
        found |= {
            name
            for name, holds in {
                "several": len(texts) > 1,
                "outputs": bool(program.outputs),
                "again": program.calls > 1,
                "loops": "scan" in lines or "fori_loop" in lines,
                "in a loop": any("symc.scan" in text for text in texts.values()),
                "other": any(_reads_another(name, text, texts) for name, text in texts.items()),
                "reshape": "reshape" in "".join(texts.values()),
                "unknown": any("shape=(" in text for _, text in program.variables),
            }.items()
            if holds
        }
    assert len(found) == 8, found


def _reads_another(name: str, text: str, updated: dict[str, str]) -> bool:
    return any(other in text for other in updated if other != name)
