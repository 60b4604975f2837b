"""Special functions of several arguments: where to try them, and their true values there.

These were found by mpmath with 40 digits and stand in ``tests/data/special_families.json``, since
that takes a minute; ``python -m tests.ops.special_families`` writes them anew.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import symc.tensor as T

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
        start = mp.mpf(float(_inverse_of[function](*map(float, args)).eval()))
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


_TINY = ((2.25, 1e-300), (-1.5, 1e-12), (1.0, 1e-300), (0.5, 5e-324), (-0.7, 1e-9))
_LARGE = ((1000.0, 1e5), (300.5, 310.0), (-73.6, 970.6), (0.5, 1.7e308), (2500.0, 700.0))
_ORDERS = ((0.0, 0.3), (0.5, 1.0), (2.0, 7.5), (1.25, 30.0), (20.0, 3.0), (-1.5, 2.5), (-3.0, 60.0))

FAMILIES = (
    Family("betainc", _betainc,
           ((0.5, 0.5, 0.3), (2.0, 3.0, 0.9), (30.0, 20.0, 0.5), (0.1, 8.0, 0.01)),
           ((2.0, 3.0, 0.0, 0.0), (2.0, 3.0, 1.0, 1.0), (2.0, 3.0, 1.5, NAN), (-1.0, 3.0, 0.5, NAN),
            (0.0, 3.0, 0.5, 1.0), (3.0, 0.0, 0.5, 0.0), (0.0, 0.0, 0.5, NAN), (NAN, 1.0, 0.5, NAN)),
           (0, 1, 2)),
    Family("betaincinv", _inverse(_betainc, 1),
           ((0.5, 0.5, 0.3), (2.0, 3.0, 0.99), (30.0, 20.0, 1e-8)),
           ((2.0, 3.0, 0.0, 0.0), (2.0, 3.0, 1.0, 1.0), (2.0, 3.0, 1.1, NAN), (0.0, 3.0, 0.5, NAN),
            (INF, 3.0, 1.0, 1.0), (2.0, INF, 0.0, 0.0), (2.0, INF, 0.5, NAN)),
           (0, 1, 2)),
    Family("gammaincinv", _inverse(_lower, 1),
           ((0.5, 0.3), (20.0, 0.9), (200.0, 1e-9), (0.05, 0.2)),
           ((2.0, 0.0, 0.0), (2.0, 1.0, INF), (2.0, 1.5, NAN), (-1.0, 0.5, NAN), (0.0, 0.5, NAN),
            (0.0, 0.0, 0.0), (0.0, 1.0, INF), (INF, 0.5, NAN), (INF, 0.0, 0.0)), (0, 1)),
    Family("gammainccinv", _inverse(_upper, 1e-40),
           ((0.5, 0.3), (20.0, 0.9), (200.0, 1e-9), (2.0, 1e-30)),
           ((2.0, 0.0, INF), (2.0, 1.0, 0.0), (2.0, 1.5, NAN), (-1.0, 0.5, NAN), (0.0, 0.5, NAN),
            (0.0, 0.0, INF), (0.0, 1.0, 0.0), (INF, 0.5, NAN), (INF, 1.0, 0.0)), (0, 1)),
    Family("erfcinv", _inverse(mp.erfc, 1e-110), ((1e-100,), (0.01,), (0.7,), (1.9,)),
           ((0.0, INF), (2.0, -INF), (1.0, 0.0), (-0.1, NAN), (-1e-300, NAN), (2.1, NAN)), (0,)),
    Family("ndtri", lambda p: -mp.sqrt(2) * _inverse(mp.erfc, 1e-40)(2 * p),
           ((1e-20,), (0.025,), (0.9,)),
           ((0.0, -INF), (1.0, INF), (0.5, 0.0), (-0.1, NAN), (-1e-300, NAN), (1.1, NAN)), (0,)),
    Family("binom", mp.binomial,
           ((5.0, 2.0), (40.5, 3.25), (0.5, 4.0), (-2.5, 3.0), (900.0, 450.5), (0.5, 1e5),
            (1e-20, 1000.0), (1e-20, 1.0), (1e-8, 0.9999999999), (-0.5, 500.0), (25.5, 1e4),
            (-250.25, 3.5), (-250.25, -300.5), (2.5, -7.75)),
           ((4.0, -1.0, 0.0), (4.0, 5.0, 0.0), (-1.0, 2.0, NAN), (0.0, 0.0, 1.0)), (0, 1), 6e-14),
    Family("comb", mp.binomial, ((5.0, 2.0), (50.0, 25.0)),
           ((4.0, -1.0, 0.0), (4.0, 5.0, 0.0), (-1.0, 2.0, 0.0), (0.0, 0.0, 1.0)), ()),
    Family("poch", mp.rf, ((3.0, 4.0), (0.5, 2.5), (-2.5, 3.0), (7.5, -2.0), (4.5, -1.25)),
           ((-2.0, 3.0, 0.0), (-2.0, 2.0, 2.0), (1.0, -1.0, INF), (3.0, 0.0, 1.0)), (0, 1), 6e-14),
    Family("boxcox", lambda x, p: (x**p - 1) / p,
           ((2.0, 0.5), (0.1, -2.0), (3.0, 1e-3), (9.0, 1e-7)),
           ((1.0, 0.0, 0.0), (0.0, 0.0, -INF), (0.0, 2.0, -0.5), (-1.0, 0.5, NAN), (INF, 0.0, INF)),
           (0, 1)),
    Family("zeta", mp.zeta, ((2.0, 1.0), (3.5, 0.2), (20.0, 8.0), (1.001, 5.0), (3.0, -4.5),
            (2.0, -1e-8), (10.0, -1e-8), (1.5, 1e300)),
           ((1.0, 1.0, INF), (0.0, 1.0, -0.5), (-2.0, 1.0, 0.0), (-1.0, 1.0, -1 / 12),
            (0.5, 2.0, NAN),
            (2.0, -1.0, INF), (2.5, -0.5, NAN), (INF, 1.0, 1.0), (INF, 2.0, 0.0)), (1,)),
    Family("beta", mp.beta,
           ((-2.5, 3.25), (0.7, 0.2), (-100.5, 500.0), (-250.5, 199.7), (-300.25, 10.5),
            (-300.25, -70.5), (-30.5, 0.01)),
           ((-0.5, -0.0, INF), (-25.5, 0.5, 0.0), (-250.5, 1e5, -INF)), (0, 1), 2e-13),
    Family("betaln", lambda a, b: mp.log(abs(mp.beta(a, b))),
           ((-2.5, 3.25), (0.7, 0.2), (-100.5, 1e5), (-6345.5, 456.25),
            (-300.25, -70.5), (10.0, 5e-324), (-0.01, 5e-324), (5e-324, 5e-324)),
           ((1.0, 1.0, 0.0), (-25.5, 0.5, -INF), (0.0, 1.0, INF)), (0, 1), 2e-13),
    Family("rel_entr", lambda x, y: x * mp.log(x / y),
           ((1.0, 0.9999999999), (2.0, 3.0), (1e-20, 1e300), (1e10, 1e-300), (5.0, 5.0000001)),
           ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, INF), (-1.0, 1.0, INF), (1.0, NAN, NAN),
            (2.0, -INF, INF)), (0, 1)),
    Family("polygamma", mp.psi, ((0.0, 2.5), (1.0, 0.3), (4.0, 7.0), (2.0, -1.5)),
           ((1.0, 0.0, INF), (1.0, -1.0, INF), (-1.0, 1.0, NAN), (1.0, NAN, NAN)), (1,)),
    Family("loggamma", mp.loggamma, ((0.1,), (3.5,), (1e10,)),
           ((0.0, INF), (-0.5, NAN), (INF, INF), (1.0, 0.0)), (0,)),
    Family("jv", mp.besselj, (*_ORDERS, *_TINY, *_LARGE[:3], (2500.0, 2300.0)),
           ((0.0, 0.0, 1.0), (2.0, 0.0, 0.0), (0.5, -1.0, NAN), (1.0, INF, 0.0), (-0.5, 0.0, INF),
            (INF, 1.0, NAN)), (1,), 3e-13),
    Family("yv", mp.bessely, (*_ORDERS, *_TINY[:3], *_LARGE[:3], (2500.0, 2300.0)),
           ((0.0, 0.0, -INF), (2.0, -1.0, NAN), (1.0, INF, 0.0), (-1.0, 0.0, INF)), (1,), 3e-13),
    Family("iv", mp.besseli, (*_ORDERS, *_TINY, (1000.0, 500.0), (-73.6, 650.0)),
           ((0.0, 0.0, 1.0), (2.0, 0.0, 0.0), (0.5, -1.0, NAN), (1.0, -INF, -INF),
            (1.0, 800.0, INF)),
           (1,)),
    Family("ive", _scaled_i, (*_ORDERS, *_TINY, (1000.0, 700.0), (100.0, 5000.0), *_LARGE[3:4]),
           ((0.0, 0.0, 1.0), (2.0, 0.0, 0.0), (0.5, -1.0, NAN), (1.0, INF, 0.0)), (1,)),
    Family("kv", mp.besselk, (*_ORDERS, *_TINY[1:], (1000.0, 500.0), (300.5, 310.0)),
           ((0.0, 0.0, INF), (2.0, -1.0, NAN), (1.0, INF, 0.0), (1.0, 1e4, 0.0)), (1,)),
    Family("kve", _scaled_k, (*_ORDERS, *_TINY[1:], *_LARGE[1:2], *_LARGE[3:4]),
           ((0.0, 0.0, INF), (2.0, -1.0, NAN), (1.0, INF, 0.0)), (1,)),
    Family("i0e", lambda x: _scaled_i(0, x),
           ((0.5,), (-20.0,), (5e5,), (5e-324,), (1.7e308,)), ((0.0, 1.0), (INF, 0.0)),
           (0,)),
    Family("i1e", lambda x: _scaled_i(1, x),
           ((0.5,), (-20.0,), (5e5,), (1e-160,), (1.7e308,)), ((0.0, 0.0), (INF, 0.0)),
           (0,)),
    Family("expi", mp.ei, ((0.37,), (1e-5,), (3.0,), (50.0,), (-2.0,), (5e-324,)),
           ((0.0, -INF), (INF, INF), (-INF, -0.0), (800.0, INF)), (0,)),
    Family("exp1", mp.e1, ((0.3,), (1.0,), (1.5,), (300.0,)),
           ((0.0, INF), (INF, 0.0), (-1.0, NAN)), (0,)),
    Family("owens_t", _owen, ((0.5, 0.7), (3.0, 2.5), (-1.0, -0.25), (6.0, 0.01)),
           ((0.0, 1.0, 0.125), (1.0, 0.0, 0.0), (INF, 1.0, 0.0), (0.0, INF, 0.25)), (0, 1)),
    Family("lambertw", lambda x: mp.lambertw(x).real,
           ((-0.3678,), (-0.2,), (0.5,), (1e5,), (1e-20,)),
           ((0.0, 0.0), (INF, INF), (-1.0, NAN), (-math.exp(-1), -1.0)), (0,)),
    Family("lambertw of branch -1", lambda x: mp.lambertw(x, -1).real,
           ((-0.3678,), (-0.2,), (-1e-20,)),
           ((0.0, -INF), (0.5, NAN), (-1.0, NAN)), (0,), function=lambda x: T.lambertw(x, -1)),
    Family("hyp2f1", mp.hyp2f1,
           ((1.0, 1.0, 2.0, 0.5), (0.5, 1.5, 2.0, 0.99), (-2.5, 0.3, 1.2, -4.0),
            (1.0, 2.0, 3.0, 0.999),
            (2.0, 3.0, 1.5, 0.8), (-3.0, 2.0, 0.5, 5.0), (0.3, 0.4, 2.7, -1e5)),
           ((1.0, 2.0, 4.0, 0.0, 1.0), (1.0, 1.0, 1.5, 1.0, INF), (0.5, 0.5, 2.0, 1.0, 4 / math.pi),
            (1.0, 2.0, -1.0, 0.5, INF), (1.0, 2.0, 4.0, 2.0, NAN), (-1.0, 2.0, -3.0, 0.5, 4 / 3)),
           (3,)),
)  # fmt: skip


TRUTH = Path(__file__).parent.parent / "data" / "special_families.json"


def _values(family: Family) -> list[float]:
    return [float(family.reference(*map(mp.mpf, point))) for point in family.points]


def _slope(family: Family, own: int) -> float:
    """The derivative by an argument at the second point."""
    point = [mp.mpf(value) for value in family.points[1]]
    step = abs(point[own]) * mp.mpf(10) ** -15
    high, low = (
        family.reference(*(v + s if k == own else v for k, v in enumerate(point)))
        for s in (step, -step)
    )
    return float((high - low) / (2 * step))


def main() -> None:
    """Write the true values."""
    found = {}
    for family in FAMILIES:
        with mp.workdps(40):
            values = _values(family)
        with mp.workdps(50):
            slopes = [_slope(family, own) for own in family.wrt]
        found[family.name] = {"values": values, "slopes": slopes}
    TRUTH.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
