"""Derivatives of random numbers with respect to the parameters of their distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.meaning.special import gammainc
from symc.graph.interpreter import evaluate
from symc.tensor.random import RandomStream
from tests.ops.harness import check
from tests.random.distributions import Array

KEY = T.random.key(42)
LOC, SCALE = np.array([0.5, -1.0, 2.0]), np.array([[0.3], [2.0]])


@pytest.mark.parametrize(
    "name", ["normal", "uniform", "lognormal", "laplace", "logistic", "gumbel", "cauchy"]
)
def test_location_and_scale(name: str) -> None:
    """Uniform numbers have two bounds instead."""
    sampler = getattr(T.random, name)
    check(lambda loc, scale: sampler(KEY, loc, scale), LOC, SCALE, compiled=name == "normal")


def test_scale_alone() -> None:
    check(lambda scale: T.random.exponential(KEY, scale, size=(2, 3)), SCALE, compiled=False)
    check(lambda scale: T.random.gamma(KEY, 2.0, scale), SCALE, compiled=False)


def _solved(share: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Where an increasing function has a value, by bisection."""
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if share(middle) < target else (low, middle)
    return (low + high) / 2


def _quotient(number: Callable[[float], float], at: float) -> float:
    step = 1e-5 * max(abs(at), 1e-3)
    return (number(at + step) - number(at - step)) / (2 * step)


@pytest.mark.parametrize("a", [0.02, 0.4, 1.0, 3.0, 200.0])
def test_gamma_by_the_inverse_distribution_function(a: float) -> None:
    shape = T.scalar("a")
    draws = T.random.gamma(KEY, shape, size=4)
    bars = np.eye(4)
    numbers, *rows = evaluate(
        [draws, *(symc.grad((draws * bar).sum(), shape) for bar in bars)], {shape: np.array(a)}
    )
    for x, slope in zip(numbers.tolist(), rows, strict=True):
        if x > 1e-200:
            wanted = x * _quotient(partial(_gamma_logarithm, gammainc(a, x), math.log(x)), a)
            assert math.isclose(slope, wanted, rel_tol=1e-4), (a, x)


def _gamma_logarithm(chance: float, near: float, a: float) -> float:
    """The logarithm of the gamma number of shape `a` that has a chance of being exceeded."""
    return _solved(lambda y: gammainc(a, math.exp(y)), chance, near - 3, near + 3)


def _truncated_slopes(low: float, high: float) -> tuple[Array, list[Array]]:
    a, b = T.scalar("a"), T.scalar("b")
    draws = T.random.truncated_normal(KEY, a, b, size=6)
    rows = [g for bar in np.eye(6) for g in symc.grad((draws * bar).sum(), [a, b])]
    numbers, *slopes = evaluate([draws, *rows], {a: np.array(low), b: np.array(high)})
    return numbers, slopes


@pytest.mark.parametrize("bounds", [(-1.0, 2.0), (-3.0, -0.5), (1.5, 2.5), (6.0, 7.0)])
def test_truncated_normal_by_the_inverse_distribution_function(bounds: tuple[float, float]) -> None:
    numbers, slopes = _truncated_slopes(*bounds)
    for k, x in enumerate(numbers.tolist()):
        for end in (0, 1):
            wanted = _quotient(partial(_truncated, x, bounds, end), bounds[end])
            assert math.isclose(float(slopes[2 * k + end]), wanted, rel_tol=1e-5)


def _truncated(x: float, bounds: tuple[float, float], end: int, moved: float) -> float:
    """Where the number x between bounds goes as one of them moves and its chance stays."""

    def tail(x: float) -> float:
        return -math.erfc(x / math.sqrt(2)) if bounds[0] > -1.5 else math.erfc(-x / math.sqrt(2))

    low, high = bounds
    share = (tail(x) - tail(low)) / (tail(high) - tail(low))
    low, high = (moved, high) if end == 0 else (low, moved)
    return _solved(tail, tail(low) + share * (tail(high) - tail(low)), low, high)


def test_an_infinite_bound_gives_no_nan() -> None:
    loc, scale = T.scalar("loc"), T.scalar("scale")
    draws = T.random.truncated_normal(KEY, 0.0, math.inf, loc, scale, size=5)
    slopes = evaluate(
        symc.grad(draws.sum(), [loc, scale]), {loc: np.array(1.0), scale: np.array(2.0)}
    )
    assert np.isfinite(slopes).all()


@pytest.mark.parametrize(
    ("build", "given"),
    [
        (lambda a, b: T.random.beta(KEY, a, b, size=4000).mean(), (2.0, 3.0)),
        (lambda a, b: T.random.dirichlet(KEY, T.stack([a, b]), size=4000)[:, 0].mean(), (2.0, 3.0)),
        (lambda a, b: T.random.beta(KEY, a, b, size=4000).mean(), (0.05, 0.2)),
    ],
)
def test_beta_and_dirichlet_on_average(build: Any, given: tuple[float, float]) -> None:
    """The mean a / (a + b) has the gradient (b, -a) / (a + b)**2."""
    a, b = T.scalars("a", "b")
    values = {a: np.array(given[0]), b: np.array(given[1])}
    f = symc.function([a, b], symc.grad(build(a, b), [a, b]), mode="compile")
    wanted = np.array([given[1], -given[0]]) / sum(given) ** 2
    np.testing.assert_allclose(f(*values.values()), wanted, rtol=0.1)


def test_student_t_in_its_degrees_of_freedom() -> None:
    """E t**2 = v / (v - 2), whose derivative is -2 / (v - 2)**2."""
    v = T.scalar("v")
    slope = symc.grad(T.sqr(T.random.student_t(KEY, v, size=20_000)).mean(), v)
    assert math.isclose(symc.function([v], slope, mode="compile")(12.0), -0.02, rel_tol=0.1)


@pytest.mark.parametrize("name", ["poisson", "geometric", "bernoulli"])
def test_nothing_passes_through_whole_numbers(name: str) -> None:
    p = T.scalar("p")
    cost = T.cast(getattr(T.random, name)(KEY, p, size=3), "float64").sum()
    assert evaluate([symc.grad(cost, p)], {p: np.array(0.5)})[0] == 0


def test_gradients_use_the_numbers_that_were_drawn() -> None:
    stream = RandomStream(0)
    mean, deviation = T.scalars("mean", "deviation")
    z = stream.normal(mean, deviation, size=100)
    slopes = symc.grad(z.sum(), [mean, deviation])
    f = symc.function([mean, deviation], [z, *slopes], mode="compile")
    drawn, by_mean, by_deviation = f(1.0, 2.0)
    assert by_mean == 100
    np.testing.assert_allclose(by_deviation, ((drawn - 1) / 2).sum(), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("weibull", (1.7,)), ("pareto", (2.5,)), ("power", (0.4,)), ("rayleigh", (2.0,)),
        ("triangular", (-1.0, 0.5, 4.0)), ("wald", (2.0, 3.0)),
    ],
)  # fmt: skip
def test_further_distributions_follow_their_parameters(
    name: str, parameters: tuple[float, ...]
) -> None:
    """With one key, numbers are functions of the parameters: against differences."""
    inputs = [T.scalar(f"p{i}") for i in range(len(parameters))]
    x = getattr(T.random, name)(T.random.key(3), *inputs, size=50).sum()
    f = symc.function(inputs, [x, *symc.grad(x, inputs)], mode="python")
    _, *slopes = f(*parameters)
    for i, slope in enumerate(slopes):
        step = 1e-5 * np.eye(len(parameters))[i]
        high, low = f(*(parameters + step))[0], f(*(parameters - step))[0]
        np.testing.assert_allclose(slope, (high - low) / 2e-5, rtol=1e-5)
