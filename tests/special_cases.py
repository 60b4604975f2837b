"""Arguments and true values (mpmath, 40 digits) of the special functions, for C and NumPy alike.

Largest errors seen in the C on some 5,000 random points, in units of the last place:

    sigmoid softplus log_sigmoid  2.2     gamma       4.4     beta         14.6
    erfcx                         3.5     gammaln     2.3     betaln       21.6 near its zero
    erfinv                        3.1     digamma     2.2     gammainc     27.9
    j0 j1   3.6, near zeros      24       trigamma    3.5     gammaincc    32.3
    i0                            4.8     tetragamma  2.8     gammainc_da  231
    i1                            5.9

(digamma and tetragamma at negative arguments, near their zeros there: 131.)
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable

mp: Any = importlib.import_module("mpmath")  # it has no types
Floats = npt.NDArray[np.float64]
INF, NAN = math.inf, math.nan


@dataclass(frozen=True)
class Case:
    """A function, where to try it, and how far off it may be: C in ulp, NumPy relatively."""

    name: str
    reference: Callable[..., Any]
    points: tuple[Floats, ...]
    ulp: float
    relative: float
    absolute: float = 0.0
    """NumPy's error near zeros of the function."""
    special: tuple[tuple[float, ...], ...] = ()
    """Arguments and the value there."""

    def truth(self) -> list[Any]:
        """The true values, in mpmath's numbers."""
        return _truth(self.name)


@cache
def _truth(name: str) -> list[Any]:
    case = BY_NAME[name]
    with mp.workdps(40):
        return [case.reference(*map(mp.mpf, point)) for point in zip(*case.points, strict=True)]


def _of(reference: Callable[[Any], Any]) -> Callable[..., Any]:
    return reference


def _of_two(reference: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return reference


def _uniform(low: float, high: float, count: int = 25) -> Floats:
    return np.random.default_rng(count).uniform(low, high, count)


def _spread(low: float, high: float, count: int = 25) -> Floats:
    return np.exp(_uniform(math.log(low), math.log(high), count))


def _join(*parts: Floats) -> Floats:
    return np.concatenate(parts)


def _erfinv(x: Any) -> Any:
    if abs(x) < 0.99:
        return mp.erfinv(x)
    rest = 1 - abs(x)
    root = mp.findroot(_of(lambda y: mp.log(mp.erfc(y) / rest)), mp.sqrt(-mp.log(rest)) - 0.3)
    return root * mp.sign(x)


def _lower(a: Any, x: Any) -> Any:
    """P(a, x) by the power series 8.7.1; all terms are positive."""
    with mp.workdps(60):
        term = total = mp.mpf(1)
        n = 0
        while term > total * mp.mpf(10) ** -55:
            n += 1
            term *= x / (a + n)
            total += term
        return mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * total


def _upper(a: Any, x: Any) -> Any:
    """Q(a, x): one minus P with digits to spare."""
    with mp.workdps(160):
        term = total = mp.mpf(1)
        n = 0
        while term > total * mp.mpf(10) ** -150:
            n += 1
            term *= x / (a + n)
            total += term
        return 1 - mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * total


def _lower_slope(a: Any, x: Any) -> Any:
    with mp.workdps(60):
        h = a * mp.mpf(10) ** -20
        if x < a:
            return (_lower(a + h, x) - _lower(a - h, x)) / (2 * h)
        return (_upper(a - h, x) - _upper(a + h, x)) / (2 * h)


def _beta(a: Any, b: Any) -> Any:
    return mp.gammaprod([a, b], [a + b])


_SMALL_A, _SMALL_X = _spread(0.01, 90, 60), np.roll(_spread(0.01, 120, 60), 7)
_LARGE_A = _spread(90, 3000, 16)
_LARGE_X = _LARGE_A + np.sqrt(_LARGE_A) * np.linspace(-7, 7, 16)
_TINY_A, _TINY_X = _spread(1e-10, 1, 20), np.roll(_spread(1e-6, 3, 20), 3)
_GAMMAINC = (_join(_SMALL_A, _LARGE_A, _TINY_A), _join(_SMALL_X, _LARGE_X, _TINY_X))
_SLOPE = (_join(_SMALL_A, _LARGE_A, _TINY_A[8:]), _join(_SMALL_X, _LARGE_X, _TINY_X[8:]))
_BETA = (
    _join(_uniform(0, 10, 30), _uniform(0, 10, 31), _uniform(10, 300, 20), _uniform(-5, 0, 21)),
    _join(_uniform(0, 9, 30), _spread(10, 1e10, 31), _spread(10, 1e4, 20), _uniform(0, 4, 21)),
)
_BOTH_SIDES = _join(_uniform(-700, 700), _uniform(-5, 5))
_BESSEL_J = (_join(_uniform(-30, 30, 40), _spread(30, 1e5)),)
_BESSEL_I = (_join(_uniform(-40, 40, 60), _uniform(-713, 713)),)
_POLES = ((-1.0, INF), (-2.0, INF), (-1e17, INF))

CASES = (
    Case("sigmoid", _of(lambda x: 1 / (1 + mp.exp(-x))), (_BOTH_SIDES,), 4, 1e-15,
         special=((INF, 1.0), (-INF, 0.0), (0.0, 0.5), (-750.0, 0.0), (750.0, 1.0))),
    Case("softplus", _of(lambda x: mp.log1p(mp.exp(x))), (_BOTH_SIDES,), 4, 1e-15,
         special=((INF, INF), (-INF, 0.0), (0.0, math.log(2)), (750.0, 750.0))),
    Case("log_sigmoid", _of(lambda x: -mp.log1p(mp.exp(-x))), (_BOTH_SIDES,), 4, 1e-15,
         special=((INF, -0.0), (-INF, -INF), (0.0, -math.log(2)), (-750.0, -750.0))),
    Case("erfcx", _of(lambda x: mp.exp(x * x) * mp.erfc(x)),
         (_join(_uniform(-26.6, 5, 40), _uniform(-3, 3), _spread(5, 1e8)),), 5, 2e-15,
         special=((INF, 0.0), (-INF, INF), (0.0, 1.0), (-26.65, INF), (-27.0, INF))),
    Case("erfinv", _erfinv,
         (_join(_uniform(-1, 1, 40), 1 - _spread(1.2e-16, 1e-2), _spread(1e-300, 1e-3)),), 5, 2e-15,
         special=((1.0, INF), (-1.0, -INF), (1.5, NAN), (-INF, NAN), (0.0, 0.0),
                  (-0.0, -0.0))),
    Case("gamma", mp.gamma, (_join(_uniform(-20, 30, 60), _uniform(30, 171.6)),), 10, 3e-15,
         special=((0.0, INF), (-0.0, -INF), (-1.0, NAN), (-2.0, NAN), (INF, INF),
                  (-INF, NAN), (172.0, INF), (5.0, 24.0))),
    Case("gammaln", _of(lambda x: mp.log(abs(mp.gamma(x)))),
         (_join(_uniform(-20, 20, 60), _spread(20, 1e6), _spread(1e-300, 1)),), 8, 1e-14, 1e-14,
         special=((0.0, INF), (-0.0, INF), *_POLES, (INF, INF), (-INF, INF), (1.0, 0.0))),
    Case("digamma", mp.digamma,
         (_join(_uniform(0, 3), _uniform(1.3, 1.6), _uniform(3, 20), _spread(20, 1e300),
                _spread(1e-300, 1)),), 5, 2e-15, 2e-15,
         special=((0.0, -INF), (-0.0, INF), (-1.0, NAN), (-2.0, NAN), (INF, INF),
                  (-INF, NAN))),
    Case("trigamma", _of(lambda x: mp.psi(1, x)),
         (_join(_uniform(-30, 20, 60), _spread(20, 1e300), _spread(1e-150, 1)),), 6, 3e-15,
         special=((0.0, INF), (-0.0, INF), *_POLES, (INF, 0.0), (-INF, INF))),
    Case("tetragamma", _of(lambda x: mp.psi(2, x)),
         (_join(_uniform(0, 20, 60), _spread(20, 1e100), _spread(1e-100, 1)),), 6, 3e-15,
         special=((0.0, -INF), (-0.0, INF), (-1.0, NAN), (INF, -0.0), (-INF, NAN))),
    Case("gammainc", _lower, _GAMMAINC, 60, 1e-13,
         special=((0.0, 1.0, 1.0), (0.0, 0.0, NAN), (2.0, 0.0, 0.0), (2.0, INF, 1.0),
                  (INF, 2.0, 0.0), (INF, INF, NAN), (-1.0, 2.0, NAN), (2.0, -1.0, NAN),
                  (1e300, 1e300, 0.5))),
    Case("gammaincc", _upper, _GAMMAINC, 60, 1e-13,
         special=((0.0, 1.0, 0.0), (0.0, 0.0, NAN), (2.0, 0.0, 1.0), (2.0, INF, 0.0),
                  (INF, 2.0, 1.0), (INF, INF, NAN), (-1.0, 2.0, NAN), (2.0, -1.0, NAN),
                  (1e300, 1e300, 0.5))),
    Case("gammainc_da", _lower_slope, _SLOPE, 500, 3e-13,
         special=((2.0, 0.0, 0.0), (2.0, INF, 0.0), (INF, 2.0, 0.0), (0.0, 0.0, NAN),
                  (0.0, 1.0, -0.21938393439552027), (-0.0, 0.25, -1.0442826344437381),
                  (1e-320, 300.0, -1.71038427680451e-133), (0.0, INF, 0.0),
                  (-1.0, 1.0, NAN), (1.0, -1.0, NAN))),
    Case("beta", _beta, _BETA, 40, 5e-13,
         special=((0.0, 2.0, INF), (2.0, -0.0, INF), (-2.0, 3.0, INF), (-3.0, 2.0, 1 / 6),
                  (-3.0, 1.0, -1 / 3), (2.0, INF, 0.0), (INF, INF, 0.0), (-INF, 2.0, NAN),
                  (1e300, 1.0, 1e-300), (2.0, 3.0, 1 / 12))),
    Case("betaln", _of_two(lambda a, b: mp.log(abs(_beta(a, b)))), _BETA, 100, 1e-13, 1e-13,
         special=((0.0, 2.0, INF), (-2.0, 3.0, INF), (2.0, INF, -INF), (-INF, 2.0, NAN),
                  (1e300, 1.0, -math.log(1e300)))),
    Case("j0", _of(lambda x: mp.besselj(0, x)), _BESSEL_J, 30,
         1e-15, 1e-15, special=((0.0, 1.0), (INF, 0.0), (-INF, 0.0))),
    Case("j1", _of(lambda x: mp.besselj(1, x)), _BESSEL_J, 30,
         1e-15, 1e-15, special=((0.0, 0.0), (-0.0, -0.0), (INF, 0.0))),
    Case("i0", _of(lambda x: mp.besseli(0, x)), _BESSEL_I, 8,
         5e-15, special=((0.0, 1.0), (INF, INF), (-INF, INF), (714.0, INF), (1e5, INF))),
    Case("i1", _of(lambda x: mp.besseli(1, x)), _BESSEL_I, 10,
         5e-15, special=((0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (714.0, INF))),
)  # fmt: skip

BY_NAME = {case.name: case for case in CASES}
