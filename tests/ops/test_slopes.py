"""Derivatives, of high orders too, at points where their formulas multiply or divide by zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T


def derivatives(function: Any, orders: list[tuple[int, ...]], *points: list[float]) -> Any:
    """For each order, one after the other by these arguments: at all points, a row for each."""
    args = [T.dvector(f"x{k}") for k in range(len(points))]
    found = []
    for order in orders:
        value = function(*args)
        for number in order:
            value = symc.grad(value.sum(), args[number])
        found.append(value)
    compiled, meant = (
        symc.function(args, found, mode=mode, on_unused_input="ignore")(*points)
        for mode in ("default", "python")
    )
    np.testing.assert_allclose(compiled, meant, rtol=1e-11)
    return compiled


def test_mixed_derivatives_of_powers_at_exponent_0() -> None:
    x = [0.5, 1.0, 2.0, 1e-300]
    found = derivatives(T.pow, [(0, 1), (1, 0)], x, [0.0] * 4)
    np.testing.assert_allclose(found, [1 / np.array(x)] * 2, rtol=1e-14)


def test_third_derivatives_of_powers_at_exponents_0_and_1() -> None:
    np.testing.assert_allclose(
        derivatives(T.pow, [(0, 0, 1)], [2.0, 2.0], [1.0, 0.0]), [[0.5, -0.25]]
    )


@pytest.mark.parametrize("function", [T.pow, T.float_power])
def test_derivatives_of_powers_of_0_are_no_nan(function: Any) -> None:
    x = [0.0, -0.0, 5e-324, 1e-310] * 2
    np.testing.assert_array_equal(
        derivatives(function, [(0,)], x, [0.0] * 4 + [1.0] * 4), [[0] * 4 + [1] * 4]
    )


@pytest.mark.parametrize(("function", "sign"), [(T.j1, -1), (T.i1, 1)])
def test_high_derivatives_of_bessel_functions_near_0(function: Any, sign: int) -> None:
    x = np.array([0.0, 1e-8, -1e-5, 0.02])
    wanted = [  # of x / 2 + sign * x**3 / 16 + x**5 / 384 ...
        0.5 + sign * 3 / 16 * x**2 + 5 / 384 * x**4,
        sign * 3 / 8 * x + 5 / 96 * x**3,
        sign * 3 / 8 + 5 / 32 * x**2,
    ]
    found = derivatives(function, [(0,), (0, 0), (0, 0, 0)], x.tolist())
    np.testing.assert_allclose(found, wanted, rtol=1e-7)


@pytest.mark.parametrize(("function", "sign"), [(T.gammainc, 1), (T.gammaincc, -1)])
def test_slopes_of_incomplete_gammas_at_0(function: Any, sign: int) -> None:
    found = derivatives(function, [(1,)], [1.0, 2.0, 0.5], [0.0] * 3)
    np.testing.assert_array_equal(found, [[sign, 0, sign * np.inf]])
    assert derivatives(function, [(0, 1)], [2.0], [0.0]) == [[0.0]]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("find", [T.max, T.min, T.nanmax, T.ptp])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_extreme_of_sums_of_products_is_found_again(dtype: str, find: Any, axis: int) -> None:
    """One kernel had rounded a product before it was added, another not: the slope was 0."""
    a, b, c = (T.tensor(dtype, (None, None), name) for name in "abc")
    cost = find(a * b + c * c, axis=axis).sum() + T.sin(c * c).sum()
    slopes = symc.grad(cost, [a, b, c])
    f, g = (symc.function([a, b, c], slopes, mode=mode) for mode in ("default", "python"))
    rng = np.random.default_rng(5)
    for _ in range(5):
        given = [rng.standard_normal((13, 40)).astype(dtype) for _ in "abc"]
        for got, wanted in zip(f(*given), g(*given), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("find", [T.max, T.min, T.nanmax])
def test_the_extreme_of_a_step_is_found_again(find: Any) -> None:
    """The step back computed sines anew, in other vectors than the extreme was found in."""
    q, x, n = T.tensor("float64", (1, 4), "q"), T.dscalar("x"), T.lscalar("n")
    (found,), _ = symc.scan(
        lambda row, _: [find(T.sin(row))], sequences=[q], outputs_info=[x], n_steps=n,
        return_list=True,
    )  # fmt: skip
    slope = symc.grad(T.concatenate([x[None], found])[-1], q)
    f = symc.function([q, x, n], slope, on_unused_input="ignore")
    rng = np.random.default_rng(6)
    for _ in range(20):
        given = rng.standard_normal((1, 4))
        wanted = np.zeros((1, 4))
        at = np.argmin(np.sin(given)) if find is T.min else np.argmax(np.sin(given))
        wanted[0, at] = np.cos(given[0, at])
        np.testing.assert_allclose(f(given, 0.3, 1), wanted)
