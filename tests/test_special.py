"""The NumPy special functions against mpmath and at their special values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.tensor import beta_values
from symc.tensor import reference_values as special
from tests.near import is_near
from tests.special_cases import BY_NAME, CASES, Case, mp


def meaning(name: str) -> Callable[..., Any]:
    """The function in Python: `beta` and `betaln` have a file of their own."""
    found: Callable[..., Any] = getattr(
        beta_values if hasattr(beta_values, name) else special, name
    )
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_values(case: Case) -> None:
    result = meaning(case.name)(*case.points)
    for point, got, want in zip(zip(*case.points, strict=True), result, case.truth(), strict=True):
        error = abs(mp.mpf(float(got)) - want)
        smallest = mp.mpf(2) ** -1074
        assert error <= case.relative * abs(want) + case.absolute + smallest, (point, got, want)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_special_values(case: Case) -> None:
    for *point, want in case.special:
        got = float(meaning(case.name)(*point))
        assert is_near(got, want, 1e-13), (point, got, want)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nan_gives_nan(case: Case) -> None:
    count = len(case.points)
    for position in range(count):
        point = [math.nan if i == position else 1.5 for i in range(count)]
        assert math.isnan(meaning(case.name)(*point))


FUNCTIONS = [
    name
    for name, value in {**vars(special), **vars(beta_values)}.items()
    if hasattr(value, "__wrapped__") and not name.startswith("_")
]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_dtype_and_shape(name: str) -> None:
    count = len(BY_NAME[name].points) if name in BY_NAME else 1
    function = meaning(name)
    for dtype, result in [("f2", "f2"), ("f4", "f4"), ("f8", "f8"), ("i8", "f8"), ("?", "f8")]:
        x = np.ones((2, 3), dtype)
        assert function(*[x] * count).dtype == result
        assert function(*[x] * count).shape == (2, 3)
    assert function(*[np.ones((0, 4))] * count).shape == (0, 4)
    assert function(*[np.float64(0.5)] * count).shape == ()


def test_two_arguments_broadcast_and_promote() -> None:
    a, x = np.ones((3, 1), "f4"), np.ones((1, 4), "f4")
    assert special.gammainc(a, x).shape == (3, 4)
    assert special.gammainc(a, x).dtype == np.float32
    assert special.gammainc(a, x.astype("f8")).dtype == np.float64


def test_erf_and_erfc_are_those_of_math() -> None:
    x = np.array([-3.0, -0.5, 0.0, 0.25, 7.0])
    assert special.erf(x).tolist() == [math.erf(v) for v in x]
    assert special.erfc(x).tolist() == [math.erfc(v) for v in x]


def test_huge_incomplete_gammas_stay_near_one_half() -> None:
    # Q(a, a) = 1/2 - 1 / (3 sqrt(2 pi a)) + ... (DLMF 8.11.12)
    for a in (1e6, 1e10, 1e15):
        expected = 0.5 - 1 / (3 * math.sqrt(2 * math.pi * a))
        assert math.isclose(float(special.gammaincc(a, a)), expected, rel_tol=1e-10)


def test_derivatives_of_trigamma_and_gammainc_compile() -> None:
    # Their functions had no row in codegen/math.py: only the interpreter knew them.
    a, x = T.vector("a"), T.vector("x")
    slopes = [symc.grad(T.trigamma(a).sum(), a), symc.grad(T.gammainc(a, x).sum(), a)]
    compiled, plain = (symc.function([a, x], slopes, mode=mode) for mode in ("compile", "python"))
    points = np.array([0.3, 2.0, 10.0, 50.0]), np.array([1.5, 1.0, 20.0, 49.0])
    for ours, theirs in zip(compiled(*points), plain(*points), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_slopes_at_shape_0_are_those_from_the_right() -> None:
    """They were NaN, and so was a derivative along a direction that leaves the shape as it is."""
    a, x, by_a, by_x = T.dscalars("a", "x", "by_a", "by_x")
    along = T.Rop([T.gammainc(a, x), T.gammaincc(a, x)], [a, x], [by_a, by_x])
    for mode in ("default", "python"):
        f = symc.function([a, x, by_a, by_x], along, mode=mode)
        np.testing.assert_allclose(f(0.0, 1.0, 1.0, 0.0), [-0.21938393439552, 0.21938393439552])
        np.testing.assert_array_equal(f(0.0, 1.0, 0.0, 1.0), [0.0, 0.0])


def test_beta_of_an_endless_argument_is_no_number() -> None:
    """It was an integer of 64 bits that did not fit."""
    inf = math.inf
    assert all(math.isnan(beta_values.beta(a, b)) for a, b in ((-inf, -inf), (-inf, 1.0)))
