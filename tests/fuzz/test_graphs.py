"""Random graphs and their gradients mean the same in NumPy, in loops, and in C, in every mode."""

from __future__ import annotations

import pytest

import symc
from tests.fuzz.graphs import GraphProgram
from tests.fuzz.protocol import Refused

MODE = "" if symc.config.device == "cpu" else symc.config.device
QUICK = range(6 if MODE else 40)  # compiling for a device takes longer


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", QUICK)
def test_compiled_and_interpreted_agree(seed: int) -> None:
    GraphProgram(seed, 6 + seed % 15).run(MODE or ("default" if seed % 3 else "compile"))


def test_infinities_on_the_way_are_refused_in_mode_nanguard() -> None:
    """The derivative of a root of 0, of seed 3300037, which is multiplied by 0 afterwards."""
    program = GraphProgram(3300037, 23)
    with pytest.raises(Refused, match="nanguard asks for finite numbers"):
        program.run("nanguard")
    assert program.run("python").outputs


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_compiled_and_interpreted_agree_on_many(seed: int) -> None:
    mode = MODE or ("default", "compile", "fast")[seed % 3]
    GraphProgram(seed, 5 + seed % 40).run(mode)
