"""Arguments that samplers refuse, and the messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import DTypeError, RankError, ShapeMismatch

R = T.random
KEY = R.key(0)

REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: R.normal(cast("Any", 3)),
        TypeError,
        "normal: a key is needed, not 3; make one",
    ),
    (lambda: R.normal(T.vector("k")), DTypeError, "normal: a key is of uint64, not float64"),
    (lambda: R.normal(R.split(KEY)), RankError, r"one key is needed, of shape \(2,\)"),
    (lambda: R.normal(KEY, scale=-1.0), ValueError, "normal: the scale must be at least 0"),
    (lambda: R.normal(KEY, dtype="int32"), DTypeError, "float32 or float64, not int32"),
    (lambda: R.normal(KEY, np.zeros((2, 3)), size=3), ShapeMismatch, "parameters with 2 axes"),
    (lambda: R.gamma(KEY, [-1.0]), ValueError, "gamma: the shape must be at least 0"),
    (lambda: R.beta(KEY, 0.0, 1.0), ValueError, "beta: a must be above 0"),
    (lambda: R.bernoulli(KEY, 1.5), ValueError, "bernoulli: p must be from 0 to 1"),
    (lambda: R.geometric(KEY, 0.0), ValueError, "geometric: p must be above 0 and at most 1"),
    (lambda: R.poisson(KEY, -1.0), ValueError, "poisson: lam must be at least 0"),
    (lambda: R.binomial(KEY, -1, 0.5), ValueError, "binomial: n must be at least 0"),
    (lambda: R.binomial(KEY, 2.5, 0.5), DTypeError, "binomial: integers are needed"),
    (lambda: R.integers(KEY, 3, 3), ValueError, "integers: there is no number from 3 to 3"),
    (lambda: R.integers(KEY, 3, dtype="float32"), DTypeError, "must be one of integers"),
    (lambda: R.bits(KEY, 3, "int64"), DTypeError, "the dtype is uint32 or uint64, not int64"),
    (lambda: R.categorical(KEY), TypeError, "categorical needs either p= or logits="),
    (lambda: R.categorical(KEY, 0.5), RankError, "categorical: probabilities need an axis"),
    (lambda: R.dirichlet(KEY, 1.0), RankError, "dirichlet: alpha needs an axis"),
    (lambda: R.multinomial(KEY, 3, T.vector("p")), ShapeMismatch, "categories must be known"),
    (lambda: R.multivariate_normal(KEY, 0.0, [[1.0]]), RankError, "mean needs 1 axes"),
    (lambda: R.normal(KEY, size=-1), ShapeMismatch, "normal: a length cannot be negative"),
    (lambda: R.integers(KEY, 300, dtype="uint8"), ValueError, "uint8 has no numbers above 255"),
    (lambda: R.integers(KEY, -1, 3, dtype="uint8"), ValueError, "uint8 has no numbers below 0"),
    (lambda: R.categorical(KEY, [0.0, 0.0]), ValueError, "categorical: the sum of p must be above"),
    (lambda: R.multinomial(KEY, 3, [0.0, 0.0]), ValueError, "the sum of pvals must be above 0"),
    (lambda: R.multinomial(KEY, -3, [0.5, 0.5]), ValueError, "multinomial: n must be at least 0"),
    (lambda: R.dirichlet(KEY, np.ones((2, 3)), size=()), ShapeMismatch, "dirichlet: parameters"),
    (lambda: R.weibull(KEY, 0.0), ValueError, "weibull: a must be above 0"),
    (lambda: R.rayleigh(KEY, -1.0), ValueError, "rayleigh: scale must be above 0"),
    (lambda: R.f(KEY, 0.0, 1.0), ValueError, "f: dfnum must be above 0"),
    (lambda: R.wald(KEY, 0.0, 1.0), ValueError, "wald: the mean must be above 0"),
    (lambda: R.negative_binomial(KEY, 2, 0.0), ValueError, "p must be above 0"),
    (lambda: R.fold_in(KEY, 0.5), DTypeError, "fold_in: integers are needed"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused_at_once(number: int) -> None:
    build, error, message = REFUSED[number]
    with pytest.raises(error, match=message):
        build()


def test_a_key_that_turns_out_too_short() -> None:
    key = T.vector("key", "uint64")
    f = symc.function([key], R.normal(key, size=3), mode="compile")
    assert f(np.zeros(2, np.uint64)).shape == (3,)
    with pytest.raises(ShapeMismatch):
        f(np.zeros(1, np.uint64))


def test_refused_when_it_runs() -> None:
    """Whole numbers have no NaN to answer with, floats do."""
    lam, n = T.vector("lam"), T.scalar("n", "int64")
    f = symc.function(
        [lam, n],
        [R.poisson(KEY, lam), R.binomial(KEY, n, 0.5), R.integers(KEY, n), R.gamma(KEY, lam)],
        mode="compile",
    )
    assert f([1.0, 2.0], 5)[0].shape == (2,)
    with pytest.raises(ValueError, match="poisson: lam must be at least 0"):
        f([1.0, -2.0], 5)
    with pytest.raises(ValueError, match="there is no number to choose from"):
        f([1.0], 0)
    with pytest.raises(ValueError, match="binomial: n must be at least 0"):
        f([1.0], -1)
    shape = T.vector("shape")
    numbers = symc.function([shape], R.gamma(KEY, shape), mode="compile")([-1.0, np.nan, 0.0, 2.0])
    assert np.isnan(numbers).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("build", "values", "message"),
    [
        (lambda p: R.bernoulli(KEY, p), [0.5, 1.5], "bernoulli: p must be from 0 to 1"),
        (lambda p: R.bernoulli(KEY, p), [np.nan], "bernoulli: p must be from 0 to 1"),
        (lambda p: R.binomial(KEY, 3, p), [-0.5], "binomial: p must be from 0 to 1"),
        (lambda p: R.geometric(KEY, p), [0.0], "geometric: p must be above 0 and at most 1"),
        (lambda p: R.categorical(KEY, p), [0.0, 0.0], "the sum of p must be above 0 and finite"),
        (lambda p: R.categorical(KEY, p), [1.0, np.nan], "categorical: p must be at least 0"),
        (lambda p: R.categorical(KEY, logits=p), [1.0, np.nan], r"the sum of exp\(logits\) must"),
        (lambda p: R.multinomial(KEY, 3, T.specify_shape(p, (2,))), [0.0, 0.0], "sum of pvals"),
        (lambda p: R.choice(KEY, 2, 3, p=p), [-1.0, 1.0], "choice: p must be at least 0"),
        (lambda p: R.choice(KEY, 2, 2, replace=False, p=p), [0.0, 1.0], "choice: fewer entries"),
    ],
)
def test_probabilities_that_turn_out_wrong(build: Any, values: Any, message: str) -> None:
    """Some gave numbers that are none of the categories, or the least integer."""
    p = T.vector("p")
    f = symc.function([p], build(p), mode="python")
    f([0.5] * len(values))
    with pytest.raises(ValueError, match=message):
        f(values)
