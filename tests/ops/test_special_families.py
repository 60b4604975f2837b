"""Special functions of several arguments against mpmath, at their ends, and by their derivatives.

Largest errors seen in the C on some 100 random points each, in units of the last place: zeta,
expi, exp1, lambertw 5; kv, iv 10; hyp2f1 35; poch, binom 60; betainc 60; the inverses 52. jv and yv
between a small argument and a large one, as far as the size of the oscillation: 2,000.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import GradientError
from symc.graph.interpreter import evaluate
from tests.near import is_near
from tests.ops.harness import check

mp: Any = importlib.import_module("mpmath")  # it has no types
INF, NAN = math.inf, math.nan


@dataclass(frozen=True)
class Family:
    """A function, mpmath's meaning of it, points, and known values where it is special."""

    name: str
    reference: Callable[..., Any]
    points: tuple[tuple[float, ...], ...]
    ends: tuple[tuple[float, ...], ...]
    wrt: tuple[int, ...]
    """The arguments by which there is a derivative."""
    rtol: float = 2e-14
    function: Callable[..., Any] | None = None


def _betainc(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def _inverse(function: Callable[..., Any], upper: float) -> Callable[..., Any]:
    """By the secant method for the logarithm of the argument, or of one minus it."""

    def inverse(*args: Any) -> Any:
        *parameters, p = args
        start = mp.mpf(float(evaluate([_inverse_of[function](*map(float, args))], {})[0]))
        return mp.findroot(
            lambda x: function(*parameters, x) - p, (start, start * (1 + mp.mpf(10) ** -8)),
            tol=mp.mpf(10) ** -50 * upper, verify=False,
        )  # fmt: skip

    return inverse


def _lower(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _upper(a: Any, x: Any) -> Any:
    return mp.gammainc(a, x, regularized=True)


_inverse_of: dict[Any, Any] = {
    _betainc: T.betaincinv, _lower: T.gammaincinv, _upper: T.gammainccinv, mp.erfc: T.erfcinv,
}  # fmt: skip


def _owen(h: Any, a: Any) -> Any:
    def integrand(t: Any) -> Any:
        return mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t)

    return mp.quad(integrand, mp.linspace(0, a, 5)) / (2 * mp.pi)


def _scaled_i(v: Any, x: Any) -> Any:
    return mp.besseli(v, x) * mp.exp(-abs(x))


def _scaled_k(v: Any, x: Any) -> Any:
    return mp.besselk(v, x) * mp.exp(x)


_ORDERS = ((0.0, 0.3), (0.5, 1.0), (2.0, 7.5), (1.25, 30.0), (20.0, 3.0), (-1.5, 2.5), (-3.0, 60.0))

FAMILIES = (
    Family("betainc", _betainc, ((0.5, 0.5, 0.3), (2.0, 3.0, 0.9), (30.0, 20.0, 0.5), (0.1, 8.0, 0.01)),
           ((2.0, 3.0, 0.0, 0.0), (2.0, 3.0, 1.0, 1.0), (2.0, 3.0, 1.5, NAN), (-1.0, 3.0, 0.5, NAN),
            (0.0, 3.0, 0.5, 1.0), (3.0, 0.0, 0.5, 0.0), (0.0, 0.0, 0.5, NAN), (NAN, 1.0, 0.5, NAN)),
           (0, 1, 2)),
    Family("betaincinv", _inverse(_betainc, 1), ((0.5, 0.5, 0.3), (2.0, 3.0, 0.99), (30.0, 20.0, 1e-8)),
           ((2.0, 3.0, 0.0, 0.0), (2.0, 3.0, 1.0, 1.0), (2.0, 3.0, 1.1, NAN), (0.0, 3.0, 0.5, NAN)),
           (0, 1, 2)),
    Family("gammaincinv", _inverse(_lower, 1), ((0.5, 0.3), (20.0, 0.9), (200.0, 1e-9), (0.05, 0.2)),
           ((2.0, 0.0, 0.0), (2.0, 1.0, INF), (2.0, 1.5, NAN), (-1.0, 0.5, NAN)), (0, 1)),
    Family("gammainccinv", _inverse(_upper, 1e-40), ((0.5, 0.3), (20.0, 0.9), (200.0, 1e-9), (2.0, 1e-30)),
           ((2.0, 0.0, INF), (2.0, 1.0, 0.0), (2.0, 1.5, NAN), (-1.0, 0.5, NAN)), (0, 1)),
    Family("erfcinv", _inverse(mp.erfc, 1e-110), ((1e-100,), (0.01,), (0.7,), (1.9,)),
           ((0.0, INF), (2.0, -INF), (1.0, 0.0), (-0.1, NAN), (2.1, NAN)), (0,)),
    Family("ndtri", lambda p: -mp.sqrt(2) * _inverse(mp.erfc, 1e-40)(2 * p), ((1e-20,), (0.025,), (0.9,)),
           ((0.0, -INF), (1.0, INF), (0.5, 0.0), (-0.1, NAN), (1.1, NAN)), (0,)),
    Family("binom", mp.binomial, ((5.0, 2.0), (40.5, 3.25), (0.5, 4.0), (-2.5, 3.0), (900.0, 450.5)),
           ((4.0, -1.0, 0.0), (4.0, 5.0, 0.0), (-1.0, 2.0, NAN), (0.0, 0.0, 1.0)), (0, 1), 6e-14),
    Family("comb", mp.binomial, ((5.0, 2.0), (50.0, 25.0)),
           ((4.0, -1.0, 0.0), (4.0, 5.0, 0.0), (-1.0, 2.0, 0.0), (0.0, 0.0, 1.0)), ()),
    Family("poch", mp.rf, ((3.0, 4.0), (0.5, 2.5), (-2.5, 3.0), (7.5, -2.0), (4.5, -1.25)),
           ((-2.0, 3.0, 0.0), (-2.0, 2.0, 2.0), (1.0, -1.0, INF), (3.0, 0.0, 1.0)), (0, 1), 6e-14),
    Family("boxcox", lambda x, l: (x**l - 1) / l, ((2.0, 0.5), (0.1, -2.0), (3.0, 1e-3), (9.0, 1e-7)),
           ((1.0, 0.0, 0.0), (0.0, 0.0, -INF), (0.0, 2.0, -0.5), (-1.0, 0.5, NAN), (INF, 0.0, INF)),
           (0, 1)),
    Family("zeta", mp.zeta, ((2.0, 1.0), (3.5, 0.2), (20.0, 8.0), (1.001, 5.0), (3.0, -4.5)),
           ((1.0, 1.0, INF), (0.0, 1.0, -0.5), (-2.0, 1.0, 0.0), (-1.0, 1.0, -1 / 12), (0.5, 2.0, NAN),
            (2.0, -1.0, INF), (2.5, -0.5, NAN), (INF, 1.0, 1.0), (INF, 2.0, 0.0)), (1,)),
    Family("polygamma", mp.psi, ((0.0, 2.5), (1.0, 0.3), (4.0, 7.0), (2.0, -1.5)),
           ((1.0, 0.0, INF), (1.0, -1.0, INF), (-1.0, 1.0, NAN), (1.0, NAN, NAN)), (1,)),
    Family("loggamma", mp.loggamma, ((0.1,), (3.5,), (1e10,)),
           ((0.0, INF), (-0.5, NAN), (INF, INF), (1.0, 0.0)), (0,)),
    Family("jv", mp.besselj, _ORDERS,
           ((0.0, 0.0, 1.0), (2.0, 0.0, 0.0), (0.5, -1.0, NAN), (1.0, INF, 0.0), (-0.5, 0.0, INF),
            (INF, 1.0, NAN)), (1,), 3e-13),
    Family("yv", mp.bessely, _ORDERS,
           ((0.0, 0.0, -INF), (2.0, -1.0, NAN), (1.0, INF, 0.0), (-1.0, 0.0, INF)), (1,), 3e-13),
    Family("iv", mp.besseli, _ORDERS,
           ((0.0, 0.0, 1.0), (2.0, 0.0, 0.0), (0.5, -1.0, NAN), (1.0, -INF, -INF), (1.0, 800.0, INF)),
           (1,)),
    Family("ive", _scaled_i, _ORDERS,
           ((0.0, 0.0, 1.0), (2.0, 0.0, 0.0), (0.5, -1.0, NAN), (1.0, INF, 0.0)), (1,)),
    Family("kv", mp.besselk, _ORDERS,
           ((0.0, 0.0, INF), (2.0, -1.0, NAN), (1.0, INF, 0.0), (1.0, 1e4, 0.0)), (1,)),
    Family("kve", _scaled_k, _ORDERS,
           ((0.0, 0.0, INF), (2.0, -1.0, NAN), (1.0, INF, 0.0)), (1,)),
    Family("i0e", lambda x: _scaled_i(0, x), ((0.5,), (-20.0,), (5e5,)), ((0.0, 1.0), (INF, 0.0)), (0,)),
    Family("i1e", lambda x: _scaled_i(1, x), ((0.5,), (-20.0,), (5e5,)), ((0.0, 0.0), (INF, 0.0)), (0,)),
    Family("expi", mp.ei, ((0.37,), (1e-5,), (3.0,), (50.0,), (-2.0,)),
           ((0.0, -INF), (INF, INF), (-INF, 0.0), (800.0, INF)), (0,)),
    Family("exp1", mp.e1, ((0.3,), (1.0,), (1.5,), (300.0,)),
           ((0.0, INF), (INF, 0.0), (-1.0, NAN)), (0,)),
    Family("owens_t", _owen, ((0.5, 0.7), (3.0, 2.5), (-1.0, -0.25), (6.0, 0.01)),
           ((0.0, 1.0, 0.125), (1.0, 0.0, 0.0), (INF, 1.0, 0.0), (0.0, INF, 0.25)), (0, 1)),
    Family("lambertw", lambda x: mp.lambertw(x).real, ((-0.3678,), (-0.2,), (0.5,), (1e5,), (1e-20,)),
           ((0.0, 0.0), (INF, INF), (-1.0, NAN), (-math.exp(-1), -1.0)), (0,)),
    Family("lambertw of branch -1", lambda x: mp.lambertw(x, -1).real, ((-0.3678,), (-0.2,), (-1e-20,)),
           ((0.0, -INF), (0.5, NAN), (-1.0, NAN)), (0,), function=lambda x: T.lambertw(x, -1)),
    Family("hyp2f1", mp.hyp2f1,
           ((1.0, 1.0, 2.0, 0.5), (0.5, 1.5, 2.0, 0.99), (-2.5, 0.3, 1.2, -4.0), (1.0, 2.0, 3.0, 0.999),
            (2.0, 3.0, 1.5, 0.8), (-3.0, 2.0, 0.5, 5.0), (0.3, 0.4, 2.7, -1e5)),
           ((1.0, 2.0, 4.0, 0.0, 1.0), (1.0, 1.0, 1.5, 1.0, INF), (0.5, 0.5, 2.0, 1.0, 4 / math.pi),
            (1.0, 2.0, -1.0, 0.5, INF), (1.0, 2.0, 4.0, 2.0, NAN), (-1.0, 2.0, -3.0, 0.5, 4 / 3)),
           (3,)),
)  # fmt: skip


def _built(family: Family) -> Callable[..., Any]:
    return family.function or getattr(T, family.name)


@cache
def _truth(family: Family) -> list[float]:
    with mp.workdps(40):
        return [float(family.reference(*map(mp.mpf, point))) for point in family.points]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_values_and_ends(family: Family) -> None:
    """In NumPy, in C, and in the kernels that the simulator runs; float32, too."""
    inputs = [T.vector(f"x{k}") for k in range(len(family.points[0]))]
    output = _built(family)(*inputs)
    ends = [end[:-1] for end in family.ends]
    columns = [np.array(column) for column in zip(*family.points, *ends, strict=True)]
    wanted = [*_truth(family), *(end[-1] for end in family.ends)]
    results = [
        evaluate([output], dict(zip(inputs, columns, strict=True)))[0],
        symc.function(inputs, output)(*columns),
        symc.function(inputs, output, device="cuda:sim")(*columns),
    ]
    for where, result, rtol in zip(
        ("NumPy", "C", "CUDA"), results, (2e-12, *[family.rtol] * 2), strict=True
    ):
        for point, got, want in zip([*family.points, *ends], result, wanted, strict=True):
            assert is_near(float(got), want, rtol), (where, point, float(got), want)
    singles = [T.vector(f"x{k}", dtype="float32") for k in range(len(inputs))]
    f = symc.function(singles, _built(family)(*singles))
    narrow = [column.astype("f4") for column in columns]
    wide = symc.function(inputs, output)(*(column.astype("f8") for column in narrow))
    result = f(*narrow)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, wide.astype("f4"), rtol=3e-6)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_derivatives(family: Family) -> None:
    if not family.wrt:
        return
    point = family.points[1]
    free = [np.array([point[k]]) for k in family.wrt]

    def build(*tensors: Any) -> Any:
        args = dict(zip(family.wrt, tensors, strict=True))
        return _built(family)(*(args.get(k, value) for k, value in enumerate(point)))

    x = [T.vector(f"x{k}") for k in range(len(free))]
    slopes = symc.grad(build(*x).sum(), x)
    given = dict(zip(x, free, strict=True))
    for slope, k in zip(evaluate(slopes, given), range(len(free)), strict=True):

        def along(t: Any, k: int = k) -> Any:
            own = family.wrt[k]
            return family.reference(*(t if i == own else mp.mpf(v) for i, v in enumerate(point)))

        with mp.workdps(50):
            start = mp.mpf(float(free[k][0]))
            step = abs(start) * mp.mpf(10) ** -15
            wanted = float((along(start + step) - along(start - step)) / (2 * step))
        assert is_near(float(slope[0]), wanted, 1e-9), (k, slope, wanted)
    check(lambda *args: symc.grad(build(*args).sum(), list(args)), *free, grad=False, rtol=1e-11)


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda v: T.jv(v, 2.0), "the derivative of jv by its order"),
        (lambda v: T.kv(v, 2.0), "the derivative of kv by its order"),
        (lambda s: T.zeta(s, 2.0), "the derivative of zeta by its first argument"),
        (lambda a: T.hyp2f1(a, 2.0, 3.0, 0.5), "the derivative of hyp2f1 by its first argument"),
    ],
)
def test_derivatives_that_are_not_known_are_refused(build: Any, what: str) -> None:
    x = T.vector("x")
    with pytest.raises(GradientError, match=what):
        symc.grad(build(x).sum(), x)


def test_an_unknown_derivative_hinders_no_other() -> None:
    """That by the order is not known, that by the argument was refused with it."""
    v, x = T.vector("v"), T.vector("x")
    slope = symc.grad(T.jv(v, x).sum(), x)
    assert is_near(slope.eval({v: [1.0], x: [2.0]})[0], -0.06447162473720103, 1e-13)


def test_lambertw_has_no_third_branch() -> None:
    assert math.isnan(T.lambertw(-0.1, 1.0).eval())


def test_integers_and_their_dtypes() -> None:
    assert T.comb(T.ivector("n"), 2).dtype == T.exp(T.ivector("n")).dtype
    assert T.comb(5, 2, repetition=True).eval() == 15
    assert T.comb(0, 0, repetition=True).eval() == 1
