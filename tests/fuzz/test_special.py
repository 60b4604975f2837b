"""Special functions of random extreme arguments are mpmath's, compiled and in NumPy."""

import pytest

from tests.fuzz.special import GENERATOR, KINDS


@pytest.mark.parametrize("seed", range(len(KINDS)), ids=sorted(KINDS))
def test_extreme_arguments(seed: int) -> None:
    GENERATOR.generate(seed).run(("default", "python")[seed % 2])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 100 + 20 * len(KINDS)))
def test_many_extreme_arguments(seed: int) -> None:
    GENERATOR.generate(seed).run(("default", "python", "fast")[seed % 3])
