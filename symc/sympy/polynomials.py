"""Orthogonal polynomials, and functions of whole numbers, of an order that is known.

Each polynomial is its recurrence over the order, written out (DLMF 18.9.1 and 18.9.2): no powers
are summed, which would cancel. So derivatives are exact, and complex arguments are no other case.
`lambdify` compiles a function for each order that it is called with.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from symc import tensor as T
from symc.sympy.functions import Value

Step = Callable[[int], tuple[Value, Value, Value]]
"""Of k: the a, b and c in ``p[k + 1] = (a * x + b) * p[k] - c * p[k - 1]``."""


def _recurred(order: int, x: Value, first: Value, step: Step) -> Value:
    """The polynomial of an order: `first` is the one of order 1."""
    before, this = 1.0, first
    if order == 0:
        return before + 0.0 * x
    for k in range(1, order):
        a, b, c = step(k)
        before, this = this, (a * x + b) * this - c * before
    return this


def _chebyshevt(n: int, x: Value) -> Value:
    return _recurred(n, x, x, lambda k: (2, 0, 1))


def _chebyshevu(n: int, x: Value) -> Value:
    return _recurred(n, x, 2 * x, lambda k: (2, 0, 1))


def _legendre(n: int, x: Value) -> Value:
    return _recurred(n, x, x, lambda k: ((2 * k + 1) / (k + 1), 0, k / (k + 1)))


def _hermite(n: int, x: Value) -> Value:
    return _recurred(n, x, 2 * x, lambda k: (2, 0, 2 * k))


def _laguerre(n: int, x: Value) -> Value:
    return _assoc_laguerre(n, 0, x)


def _assoc_laguerre(n: int, a: Value, x: Value) -> Value:
    def step(k: int) -> tuple[Value, Value, Value]:
        return -1 / (k + 1), (2 * k + 1 + a) / (k + 1), (k + a) / (k + 1)

    return _recurred(n, x, 1 + a - x, step)


def _gegenbauer(n: int, a: Value, x: Value) -> Value:
    def step(k: int) -> tuple[Value, Value, Value]:
        return 2 * (k + a) / (k + 1), 0, (k - 1 + 2 * a) / (k + 1)

    return _recurred(n, x, 2 * a * x, step)


def _jacobi(n: int, a: Value, b: Value, x: Value) -> Value:
    def step(k: int) -> tuple[Value, Value, Value]:
        s = 2 * k + a + b
        below = 2 * (k + 1) * (k + a + b + 1) * s
        return (
            (s + 1) * (s + 2) * s / below,
            (s + 1) * (a * a - b * b) / below,
            2 * (k + a) * (k + b) * (s + 2) / below,
        )

    return _recurred(n, x, (a - b) / 2 + (a + b + 2) * x / 2, step)


def _assoc_legendre(n: int, m: int, x: Value) -> Value:
    """Ferrers' function with the phase of Condon and Shortley (DLMF 14.6.1), of 0 <= m <= n.

    The m-th derivative of a Legendre polynomial is a multiple of a Gegenbauer polynomial
    (DLMF 18.9.19).
    """
    if not 0 <= m <= n:
        raise NotImplementedError(f"assoc_legendre needs 0 <= m <= n, not m={m} and n={n}")
    factor = float(np.prod(np.arange(1.0, 2 * m, 2))) * (-1) ** m
    return factor * T.pow(1 - x * x, m / 2) * _gegenbauer(n - m, m + 0.5, x)


def _bernoulli(n: int, x: Value = None) -> Value:
    """The number, or the polynomial of x: by Horner's rule on exact coefficients."""
    if x is None:
        return float(sympy.bernoulli(n))
    t = sympy.Symbol("t")
    polynomial = sympy.Poly(sympy.bernoulli(n, t), t)
    total: Value = 0.0 * x
    for coefficient in polynomial.all_coeffs():
        total = total * x + float(Fraction(int(coefficient.p), int(coefficient.q)))
    return total


OF_KNOWN_ORDER: dict[type, tuple[int, Callable[..., Value]]] = {
    sympy.chebyshevt: (1, _chebyshevt), sympy.chebyshevu: (1, _chebyshevu),
    sympy.legendre: (1, _legendre), sympy.assoc_legendre: (2, _assoc_legendre),
    sympy.hermite: (1, _hermite), sympy.laguerre: (1, _laguerre),
    sympy.assoc_laguerre: (1, _assoc_laguerre), sympy.gegenbauer: (1, _gegenbauer),
    sympy.jacobi: (1, _jacobi), sympy.bernoulli: (1, _bernoulli),
}  # fmt: skip
"""By class: how many arguments, from the first on, are orders, and the function."""


def of_known_order(convert: Callable[[Any], Value], expr: Any) -> Value:
    """One of these functions, whose order is a number."""
    count, function = OF_KNOWN_ORDER[type(expr)]
    orders = [convert(each) for each in expr.args[:count]]
    for order, written in zip(orders, expr.args, strict=False):
        if not isinstance(order, int) or order < 0:
            raise NotImplementedError(
                f"the order of {type(expr).__name__} must be a whole number that is known and not "
                f"negative, as in {type(expr).__name__}(3, x); here it is {written}"
            )
    return function(*orders, *map(convert, expr.args[count:]))


def orders_in(expr: Any) -> set[Any]:
    """The symbols of an expression that an order depends on."""
    found: set[Any] = set()
    for each in expr.atoms(*OF_KNOWN_ORDER) if isinstance(expr, sympy.Basic) else ():
        for order in each.args[: OF_KNOWN_ORDER[type(each)][0]]:
            found |= order.free_symbols
    return found
