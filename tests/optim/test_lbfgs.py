"""L-BFGS on problems whose minima are known, and its line search alone."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import symc
from symc import optim
from symc import tensor as T
from symc.optim.line_search import CURVATURE, DECREASE, LinePoint, strong_wolfe


@pytest.mark.parametrize("size", [2, 50])
def test_rosenbrock(size: int) -> None:
    """Started where it usually is: (-1.2, 1, -1.2, 1, ...)."""
    start = np.where(np.arange(size) % 2, 1.0, -1.2)
    x = symc.shared(start, name="x")
    loss = (100 * T.sqr(x[1:] - T.sqr(x[:-1])) + T.sqr(1 - x[:-1])).sum()
    found = optim.minimize(loss, [x], max_iterations=500)
    assert found.converged, found
    assert found.message == "converged: the gradient is small"
    np.testing.assert_allclose(x.get_value(), 1.0, atol=1e-6)
    assert found.value < 1e-12
    assert found.gradient <= 1e-6
    assert found.iterations < found.evaluations < 3 * found.iterations + 20


def test_a_quadratic_ends_within_a_few_steps() -> None:
    random = np.random.default_rng(1)
    root = random.normal(size=(20, 20))
    matrix, wanted = root @ root.T / 20 + np.eye(20), random.normal(size=20)
    x, a, b = symc.shared(np.zeros(20), name="x"), T.matrix("a"), T.vector("b")
    fit = optim.lbfgs((x @ a @ x) / 2 - b @ x, [x], [a, b])
    found = fit(matrix, matrix @ wanted)
    assert found.converged
    assert found.iterations < 40
    np.testing.assert_allclose(x.get_value(), wanted, atol=1e-5)
    x.set_value(np.zeros(20))
    other = fit(np.eye(20), wanted)
    assert other.converged
    assert other.iterations <= 3
    np.testing.assert_allclose(x.get_value(), wanted, atol=1e-5)


def test_parameters_of_several_shapes_and_dtypes() -> None:
    """Logistic regression: the gradient at the end is zero for each parameter."""
    random = np.random.default_rng(2)
    points = random.normal(size=(300, 3))
    labels = (points @ [1.0, -2.0, 0.5] + 0.3 + random.logistic(size=300) > 0).astype(np.float64)
    x, y = T.matrix("x"), T.vector("y")
    w = symc.shared(np.zeros((3, 1), "float32"), name="w")
    bias = symc.shared(0.0, name="bias")
    score = (x @ w)[:, 0] + bias
    loss = (T.softplus(score) - y * score).mean() + 1e-3 * (w * w).sum()
    found = optim.minimize(loss, [w, bias], {x: points, y: labels}, gradient_tolerance=1e-5)
    assert found.converged
    assert w.get_value().dtype == np.float32
    slopes = symc.function([x, y], symc.grad(loss, [w, bias]), mode="python")(points, labels)
    assert max(np.abs(slope).max() for slope in slopes) < 1e-4
    assert np.sign(w.get_value()).ravel().tolist() == [1, -1, 1]


def test_it_stops() -> None:
    x = symc.shared(np.array([3.0, 1.0]), name="x")
    found = optim.minimize((x**4).sum(), [x], max_iterations=2)
    assert not found.converged
    assert found.iterations == 2
    assert found.message == "stopped: as many iterations as were allowed"
    assert found.value < 82
    assert math.isclose(found.value, (x.get_value() ** 4).sum())
    endless = optim.minimize(-x.sum(), [x])
    assert endless.message == "stopped: no step leads further down"
    x.set_value(np.array([-1.0, 1.0]))
    outside = optim.minimize(T.log(x).sum(), [x])
    assert outside.message == "stopped: the loss or its gradient is not finite"
    assert outside.iterations == 0
    assert x.get_value().tolist() == [-1.0, 1.0]


def test_it_stays_inside_the_domain() -> None:
    """The logarithm is NaN beyond 0, where the first steps try to go."""
    x = symc.shared(np.array([30.0]), name="x")
    found = optim.minimize((x - 1e-2 * T.log(x)).sum(), [x])
    assert found.converged
    np.testing.assert_allclose(x.get_value(), 0.01, rtol=1e-3)


def test_draws_of_a_stream_stay_the_same() -> None:
    stream = T.random.RandomStream(0)
    x = symc.shared(np.zeros(5), name="x")
    target = stream.normal(size=5)
    found = optim.minimize(T.sqr(x - target).sum(), [x])
    assert found.converged
    np.testing.assert_allclose(x.get_value(), symc.function([], target)(), atol=1e-5)


LINES: dict[str, tuple[Callable[[float], tuple[float, float]], float]] = {
    "quadratic": (lambda t: ((t - 3) ** 2, 2 * (t - 3)), 1.0),
    "far": (lambda t: ((t - 300) ** 2, 2 * (t - 300)), 1.0),
    "near": (lambda t: ((t - 1e-3) ** 2, 2 * (t - 1e-3)), 1.0),
    "steep end": (lambda t: (math.exp(5 * t) - 10 * t, 5 * math.exp(5 * t) - 10), 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", ["quadratic", "far", "near", "steep end"])
def test_strong_wolfe_conditions_hold(name: str) -> None:
    line, first = LINES[name]
    start = LinePoint(0.0, *line(0.0))
    found = strong_wolfe(lambda t: LinePoint(t, *line(t)), start, first)
    assert found is not None
    assert found.length > 0
    assert found.value <= start.value + DECREASE * found.length * start.slope
    assert abs(found.slope) <= CURVATURE * abs(start.slope)


def test_no_point_on_an_endless_slope() -> None:
    start = LinePoint(0.0, 0.0, -1.0)
    assert strong_wolfe(lambda t: LinePoint(t, -t, -1.0), start, 1.0) is None


def test_float32_converges_as_far_as_it_can_tell() -> None:
    x = symc.shared(np.array([-1.2, 1.0, 0.5, 2.0], np.float32), name="x")
    cost = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    found = optim.minimize(cost, [x])
    assert found.converged
    assert found.value == pytest.approx(3.70142861, rel=1e-6)


def test_nothing_to_minimise_over() -> None:
    with pytest.raises(ValueError, match="at least one parameter"):
        optim.lbfgs(T.constant(1.0), [])
