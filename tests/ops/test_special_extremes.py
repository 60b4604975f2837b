"""Special functions of huge and of tiny numbers, compiled and by their meanings in NumPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

mp: Any = importlib.import_module("mpmath")  # it has no types
INF = np.inf
MODES = pytest.mark.parametrize("mode", ["default", "python"])


def _values(call: Callable[..., Any], points: Sequence[Sequence[float]], mode: str) -> Any:
    inputs = T.vectors("x", "y")
    columns = [np.array(column) for column in zip(*points, strict=True)]
    return symc.function(inputs, call(*inputs), mode=mode)(*columns)


def _gammas(above: Sequence[float], below: Sequence[float]) -> tuple[int, Any]:
    """The sign and the logarithm of the size of a quotient of gammas, none of them at a pole."""
    sign, total = 1, mp.mpf(0)
    for numbers, power in ((above, 1), (below, -1)):
        for x in numbers:
            if x > 0:
                total += power * mp.loggamma(x)
                continue
            sine = mp.sinpi(x)  # DLMF 5.5.3
            sign *= 1 if sine > 0 else -1
            total += power * (mp.log(mp.pi / abs(sine)) - mp.loggamma(1 - x))
    return sign, total


def _number(sign: int, log: Any) -> float:
    return float(sign * mp.exp(log)) if abs(log) < 2000 else sign * INF if log > 0 else 0.0


# --- products of gammas ---------------------------------------------------------------------------

RISING = [
    (1e30, 0.5), (1e308, 0.5), (1e308, -0.5), (1e10, 1.5), (1e10, -7.25), (1e16, 3.3),
    (1e308, 171.5), (1e300, -240.5), (1e74, -2e11 + 0.25), (-1e10 - 0.5, 0.25), (-1e5 - 0.5, 3.7),
    (0.176, -5e-324), (0.5, 1e-310), (171.5, -1e-310), (-20.5, 5e-324), (1e-310, 7.25),
    (5e-324, 1e-310), (1e-310, -3e-310), (-1e-300, 1e-310), (1e-300, 200.5), (5e-324, -0.5),
    (-0.25, 200.1), (30.5, -250.1),
]  # fmt: skip


@MODES
def test_rising_factorials_of_huge_and_tiny_numbers(mode: str) -> None:
    """In mode python logarithms of huge gammas cancelled, or raised OverflowError; compiled the
    gamma of a denormal was infinite, and the quotient of two such ones NaN.
    """
    found = _values(T.poch, RISING, mode)
    with mp.workdps(400):
        right = [_number(*_gammas([mp.mpf(z) + mp.mpf(m)], [mp.mpf(z)])) for z, m in RISING]
    np.testing.assert_allclose(found, right, rtol=1e-11)


@MODES
def test_rising_factorials_of_huge_float32(mode: str) -> None:
    z, m = T.fvectors("z", "m")
    found = symc.function([z, m], T.poch(z, m), mode=mode)
    given = np.array([1e30], "float32"), np.array([0.5], "float32")
    np.testing.assert_allclose(found(*given), [1e15], rtol=1e-6)


BETAS = [
    (-0.00344, 1.797e308), (-1e-300, 1e10), (-1e-10, 1e301), (-1.5, 1e100), (-15.25, 1.4e20),
    (-13.3, 2e23), (-1e-195, 3e13), (-5e-324, 1e-310), (-1e-20, 1.5e-20), (1.5, 1e305),
    (500.0, 1e308), (-30.5, 3e11), (-1e5 - 0.5, 81.25), (-25.5, -1e-311), (-25.5, 0.25),
    (1e-310, 1e308), (-1e5 - 0.5, -300.25),
]  # fmt: skip


@MODES
@pytest.mark.parametrize("logarithm", [False, True])
def test_betas_of_huge_and_tiny_numbers_are_finite(mode: str, logarithm: bool) -> None:
    """They were stepped up to positive arguments by factors whose product overflowed."""
    found = _values(T.betaln if logarithm else T.beta, BETAS, mode)
    with mp.workdps(400):
        sizes = [_gammas(p := [mp.mpf(a), mp.mpf(b)], [sum(p)]) for a, b in BETAS]
        right = [float(log) if logarithm else _number(sign, log) for sign, log in sizes]
    np.testing.assert_allclose(found, right, rtol=1e-11)


@MODES
def test_logarithms_of_betas_of_whole_numbers_below_zero(mode: str) -> None:
    """That of a beta which is too small was that of 0, as if whole numbers were poles."""
    a, b = -1964220859.0, 1116078969.0  # |B(a, b)| = B(1 - a - b, b)
    with mp.workdps(40):
        right = float(_gammas([1 - mp.mpf(a) - b, mp.mpf(b)], [1 - mp.mpf(a)])[1])
    np.testing.assert_allclose(_values(T.betaln, [(a, b), (b, a)], mode), [right] * 2, rtol=1e-13)


@MODES
def test_betas_are_zero_where_the_sum_is_a_pole(mode: str) -> None:
    """They were NaN: a factor 0 times, or over, another infinite or 0."""
    points = [(5e-324, -5e-324), (1e-310, -1e-310), (-100000.5, -100000.5), (-25.5, 0.5)]
    np.testing.assert_array_equal(_values(T.beta, points, mode), [0, 0, 0, 0])
    np.testing.assert_array_equal(_values(T.betaln, points, mode), [-INF] * 4)


# --- entropies ------------------------------------------------------------------------------------


@MODES
def test_relative_entropies_to_infinity(mode: str) -> None:
    """Mode python had NaN, the difference of two infinities."""
    points = [(1.5, INF), (5e-324, INF), (1e308, INF), (0.0, INF)]
    np.testing.assert_array_equal(_values(T.rel_entr, points, mode), [-INF, -INF, -INF, 0])


@MODES
def test_divergences_outside_are_infinite(mode: str) -> None:
    """As in SciPy; an infinite one less an infinite x was NaN."""
    points = [(INF, 0.0), (INF, -1.0), (1.5, -INF), (-INF, -INF), (0.0, -INF)]
    np.testing.assert_array_equal(_values(T.kl_div, points, mode), [INF] * 5)


# --- Bessel functions -----------------------------------------------------------------------------


@MODES
def test_bessel_functions_of_huge_orders(mode: str) -> None:
    """J was NaN, or mode python raised OverflowError; Y of huge whole orders below 0 was 0."""
    points = [(1e308, 1.5), (-1e308, 1.5), (1e16, 3.0), (1e30, 1e10), (1.79e308, 1e308),
              (1e300, -7.0), (2.0**52 + 1, 3.0)]  # fmt: skip
    np.testing.assert_array_equal(_values(T.jv, points, mode), [0] * 7)
    points = [(1e308, 1.5), (-1e308, 1.5), (-1e30, 1e5), (2.0**52 + 1, 3.0), (-(2.0**52) - 1, 3.0)]
    np.testing.assert_array_equal(_values(T.yv, points, mode), [-INF, -INF, -INF, -INF, INF])
    points = [(1e308, 0.5), (1.79e308, 7.25)]
    np.testing.assert_array_equal(_values(T.kv, points, mode), [INF, INF])
    np.testing.assert_array_equal(_values(T.iv, points, mode), [0, 0])


@MODES
def test_bessel_functions_of_orders_near_zero(mode: str) -> None:
    """Those of denormal orders were wrong compiled, those below 1e-16 in mode python, where the
    first terms of series cancel; and a denormal was taken for a whole number."""
    points = [
        (v, x) for v in (5e-324, 1e-310, 1e-20, 1e-9, 1e-3, 0.7, -1e-20) for x in (1e-20, 0.5)
    ]
    for call, reference in ((T.yv, mp.bessely), (T.kv, mp.besselk)):
        with mp.workdps(60):
            # Digits of mpmath's limit at 0 suffice, where v log(x) is below them.
            right = [float(reference(v if abs(v) > 1e-15 else 0, mp.mpf(x))) for v, x in points]
        np.testing.assert_allclose(_values(call, points, mode), right, rtol=1e-12)
    assert np.isnan(_values(T.jv, [(5e-324, -0.5), (-5e-324, -0.5)], mode)).all()
    assert np.isnan(_values(T.iv, [(5e-324, -0.5), (-5e-324, -0.5)], mode)).all()


@MODES
def test_scaled_bessel_functions_of_numbers_whose_squares_overflow(mode: str) -> None:
    """They were NaN, or too large by the factor exp(v * v / 2 / x)."""
    points = [(1e154, 1e308), (1e154, 1.79e308)]
    right = [np.sqrt(np.pi / 2) / np.sqrt(x) * np.exp(v / x * v / 2) for v, x in points]
    np.testing.assert_allclose(_values(T.kve, points, mode), right, rtol=1e-12)  # DLMF 10.40.2


# --- other functions ------------------------------------------------------------------------------


@MODES
def test_zetas_of_numbers_next_to_zero(mode: str) -> None:
    """They were 0 or infinite by the reflection, whose argument 1 - x rounds to the pole 1."""
    points = [(x, 1.0) for x in (-5e-324, -1e-310, -1e-20, -1e-9, -0.25)]
    with mp.workdps(400):
        right = [float(mp.zeta(x)) for x, _ in points]
    np.testing.assert_allclose(_values(T.zeta, points, mode), right, rtol=1e-13)


@MODES
def test_zetas_of_huge_numbers(mode: str) -> None:
    """Compiled 0 times infinity was NaN; mode python raised OverflowError."""
    points = [(-100000.5, 1.0), (-1e308, 1.0), (1e300, 1e300), (30.0, -1e-20), (1e10, -0.5)]
    np.testing.assert_array_equal(_values(T.zeta, points, mode), [-INF, 0, 0, INF, INF])


CHOICES = [
    (1e300, 0.5), (1e308, -0.75), (1e40, 7.3), (1e31, -1.5), (-1.5, -1e30), (-100000.5, 171.5),
    (1.79e308, 1e308),
]  # fmt: skip


@MODES
def test_binomials_of_huge_numbers(mode: str) -> None:
    """The beta function in them was too small; mode python was wrong at whole numbers."""
    found = _values(T.binom, CHOICES, mode)
    with mp.workdps(400):
        right = [
            _number(*_gammas([mp.mpf(n) + 1], [mp.mpf(k) + 1, mp.mpf(n) - k + 1]))
            for n, k in CHOICES[:4]
        ]
    np.testing.assert_allclose(found, [*right, 0, 0, INF], rtol=1e-12)


@MODES
def test_bessel_functions_of_huge_orders_and_arguments(mode: str) -> None:
    """The sign of the difference of two huge exponents decides (DLMF 10.41.4)."""
    points = [(1e308, 1e308), (1.79e308, 1e308), (1e300, 1e308)]
    np.testing.assert_array_equal(_values(T.kv, points, mode), [0, INF, 0])
    if mode == "default":  # Mode python has NaN where a series would take minutes.
        np.testing.assert_array_equal(_values(T.iv, points, mode), [INF, 0, INF])


@MODES
def test_owens_function_of_numbers_whose_squares_overflow(mode: str) -> None:
    """Infinity times 0 was NaN."""
    points = [(1e300, 0.0), (-1e308, -0.0), (1e300, 5e-324), (1e300, 2.0)]
    np.testing.assert_array_equal(_values(T.owens_t, points, mode), [0, 0, 0, 0])


@MODES
def test_incomplete_betas_of_huge_numbers(mode: str) -> None:
    """Compiled they were NaN: 0 / 0, or a fraction without an end at 1."""
    a, b, x = (np.array(v) for v in zip(*[
        (1e-300, 1e308, 1e-300), (2.5, 1e308, 0.5), (1e308, 2.5, 0.5), (30.0, 1e308, 1e-300),
    ], strict=True))  # fmt: skip
    inputs = T.vectors("a", "b", "x")
    found = symc.function(inputs, T.betainc(*inputs), mode=mode)(a, b, x)
    np.testing.assert_array_equal(found, [1, 1, 0, 1])


@MODES
def test_hypergeometric_functions_of_huge_numbers_do_not_raise(mode: str) -> None:
    """Mode python raised OverflowError."""
    inputs = T.vectors("a", "b", "c", "z")
    f = symc.function(inputs, T.hyp2f1(*inputs), mode=mode)
    found = f([0.5, 0.5, 1e-300], [0.5, 1.5, 0.5], [1e30, -INF, 1e30], [0.5, 0.5, 0.5])
    np.testing.assert_allclose(found, [1, INF, 1])


@MODES
def test_hypergeometric_functions_of_a_large_third_parameter(mode: str) -> None:
    """In mode python errors grew like z^(1 - c) on the way from z = 1/4: 2.7e9 for 1.004."""
    points = [(0.5, 0.5, 30.5, 0.5), (0.5, 1.0, 30.5, -2.0), (0.3, 0.7, 12.5, 0.9)]
    inputs = T.vectors("a", "b", "c", "z")
    f = symc.function(inputs, T.hyp2f1(*inputs), mode=mode)
    found = f(*(np.array(column) for column in zip(*points, strict=True)))
    np.testing.assert_allclose(found, [float(mp.hyp2f1(*p)) for p in points], rtol=1e-12)


@MODES
def test_polynomials_whose_third_parameter_ends_with_them(mode: str) -> None:
    """They were 0 / 0: F(a, -2; -2; z) is the sum to z^2."""
    inputs = T.vectors("a", "b", "c", "z")
    f = symc.function(inputs, T.hyp2f1(*inputs), mode=mode)
    np.testing.assert_allclose(f([0.5, 1.0], [-2.0, -2.0], [-2.0, -2.0], [0.5, -3.0]),
                               [1 + 0.25 + 0.375 / 4, 1 - 3 + 9])  # fmt: skip
