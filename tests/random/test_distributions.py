"""Samples of each distribution have it, and the interpreter draws the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from tests.random.distributions import (
    CONTINUOUS,
    COUNT,
    CRITICAL,
    DISCRETE,
    Array,
    chi_square,
    draws,
    kolmogorov,
)


@pytest.fixture(scope="module")
def samples() -> dict[str, Array]:
    """All samples, from one compiled function."""
    found: dict[str, Array] = symc.function([], draws(), mode="compile")()
    return found


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name: str, samples: dict[str, Array]) -> None:
    assert samples[name].shape == (COUNT,)
    assert np.isfinite(samples[name]).all()
    assert kolmogorov(samples[name], CONTINUOUS[name].cdf) < CRITICAL


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name: str, samples: dict[str, Array]) -> None:
    assert abs(chi_square(samples[name], DISCRETE[name].log_chance)) < 3.29  # 1e-3, both sides


def test_the_tests_notice_a_wrong_distribution(samples: dict[str, Array]) -> None:
    assert kolmogorov(samples["normal"] * 1.05, CONTINUOUS["normal"].cdf) > CRITICAL
    assert kolmogorov(samples["gamma 3.5"], CONTINUOUS["gamma 1.0"].cdf) > CRITICAL
    assert chi_square(samples["poisson 9.5"], DISCRETE["poisson 10.0"].log_chance) > 3.29
    assert chi_square(samples["bernoulli"] ^ True, DISCRETE["bernoulli"].log_chance) > 3.29


def test_neighbours_are_independent(samples: dict[str, Array]) -> None:
    for name in ("uniform", "normal", "uniform float32", "normal float32", "exponential"):
        x = samples[name].astype(np.float64)
        for transformed in (x - x.mean(), (x - x.mean()) ** 2 - x.var()):
            for lag in (1, 2, 3, 4):
                product = transformed[lag:] * transformed[:-lag]
                error = product.std() / np.sqrt(len(product))
                assert abs(product.mean()) < 4 * error, (name, lag)
    assert not set(samples["normal"]) & set(samples["gamma 1.0"])


def test_the_interpreter_draws_the_same(samples: dict[str, Array]) -> None:
    """Element i does not depend on how many there are."""
    fewer = draws(150)
    for name, wanted in zip(fewer, evaluate(list(fewer.values()), {}), strict=True):
        got = samples[name][:150]
        assert got.dtype == wanted.dtype
        if wanted.dtype.kind == "f":
            digits = np.finfo(wanted.dtype).eps
            np.testing.assert_allclose(got, wanted, rtol=100 * digits, atol=10 * digits)
        else:
            np.testing.assert_array_equal(got, wanted)


def test_counts_among_very_many() -> None:
    """Differences of logarithms of factorials lost their digits: spreads were wrong by factors."""
    cases = [("poisson", (1e14,)), ("poisson", (9e18,)), ("binomial", (2**62, 0.5)),
             ("binomial", (2**50, 1e-6))]  # fmt: skip
    means = [1e14, 9e18, 2.0**61, 2.0**50 * 1e-6]
    spreads = np.sqrt([1e14, 9e18, 2.0**60, 2.0**50 * 1e-6])

    def draws(number: int) -> list[Tensor]:
        return [getattr(T.random, s)(T.random.key(5), *args, size=number) for s, args in cases]

    found = symc.function([], draws(10_000), mode="compile")()
    for counts, mean, spread in zip(found, means, spreads, strict=True):
        scaled = (counts - mean) / spread
        assert abs(scaled.mean()) < 4 / 100
        assert abs((scaled**2).mean() - 1) < 4 * np.sqrt(2) / 100
    for counts, wanted in zip(found, evaluate(draws(100), {}), strict=True):
        np.testing.assert_array_equal(counts[:100], wanted)


def test_as_many_categories_as_there_turn_out_to_be() -> None:
    """The last sum of probabilities was compared as if it might be none."""
    p, logits = T.matrix("p"), T.vector("logits")
    draws = [
        T.random.categorical(T.random.key(1), p),
        T.random.categorical(T.random.key(2), p, size=(500, 2)),
        T.random.categorical(T.random.key(3), logits=logits, size=500),
    ]
    f = symc.function([p, logits], draws, mode="python")
    one, many, others = f([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], np.log([1.0, 2.0]))
    assert one[0] == 1
    assert set(many[:, 0]) == {1}
    assert set(many[:, 1]) == {0, 2}
    assert abs(others.mean() - 2 / 3) < 4 * np.sqrt(2 / 9 / 500)
