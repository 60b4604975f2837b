"""Derivatives of special functions that are functions of their own: they were not known to C."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import GradientError
from tests.ops.harness import check

POINTS = np.array([0.4, 3.0])


def test_the_slope_of_gammainc_by_its_shape_compiles() -> None:
    check(lambda a: symc.grad(T.gammainc(a, 2.0).sum(), a), POINTS, grad=False)
    check(lambda x: symc.grad(T.gammainc(3.0, x).sum(), x), POINTS, compiled=False)


@pytest.mark.parametrize("a", [2e7, 1e12, 1e18])
def test_the_slope_of_gammainc_by_a_large_shape(a: float) -> None:
    """Its sums ended after 100000 steps, where sqrt(a) were needed: it was one 1e5 / sqrt(a)."""
    deviations = np.array([-6.0, -0.5, 0.0, 1.0, 5.0])
    x, shape = a + deviations * np.sqrt(a), T.vector("shape")
    found = symc.grad(T.gammainc(shape, x).sum(), shape).eval({shape: np.full(5, a)})
    # By differences of P; the shape moves by a part of a standard deviation.
    step = 2.0 ** np.round(np.log2(np.sqrt(a) / 1000))  # which the shape can be moved by
    low, high = (T.gammainc(a + k * step, x).eval() for k in (-1, 1))
    np.testing.assert_allclose(found, (high - low) / (2 * step), rtol=3e-5, atol=1e-9 / a**0.5)


def test_the_second_derivative_of_digamma_compiles() -> None:
    check(lambda x: symc.grad(T.trigamma(x).sum(), x), POINTS, grad=False)


def test_derivatives_that_are_not_known_are_not_zero() -> None:
    x = T.vector("x")
    slope = symc.grad(T.gammainc(x, 2.0).sum(), x)
    with pytest.raises(GradientError, match="the derivative of gammainc by its first argument"):
        symc.grad(slope.sum(), x)
    with pytest.raises(GradientError, match="the third derivative of digamma"):
        symc.grad(symc.grad(T.trigamma(x).sum(), x).sum(), x)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_hypotenuses_of_all_sizes(dtype: str) -> None:
    """libmvec's took twenty times as long where one of a vector was 0; this one has to scale."""
    limits: Any = np.finfo(dtype)
    sizes = [0.0, -0.0, 1.0, -3.0, np.inf, -np.inf, np.nan, limits.max / 2, limits.tiny,
             limits.smallest_subnormal, limits.max**0.5, limits.tiny**0.5]  # fmt: skip
    a, b = (grid.ravel().astype(dtype) for grid in np.meshgrid(sizes, sizes))
    x, y = T.vector("x", dtype=dtype), T.vector("y", dtype=dtype)
    f = symc.function([x, y], T.hypot(x, y))
    np.testing.assert_allclose(f(a, b), np.hypot(a, b), rtol=2 * float(limits.eps))
