"""Polynomials over a program's sizes: ``24*n + 8``. How much a step moves and computes is one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import log2

from symc.codegen.dtypes import INT64
from symc.codegen.ir import Binary, Const, Expr, Var
from symc.codegen.meaning.arithmetic import binary as meaning
from symc.codegen.record import field, record
from symc.codegen.text import expression


@record
class Factor:
    """A polynomial's unknown: a size, or an integer expression that is no polynomial of sizes.

    Or the logarithm of one, to base 2.
    """

    text: str
    expr: Expr = field(compare=False)
    log: bool = False

    def value(self, sizes: Mapping[str, int]) -> float | None:
        """The number for given sizes; None where one is not known."""
        number = number_of(self.expr, sizes)
        if number is None or not self.log:
            return number
        return log2(number) if number > 0 else 0.0


def number_of(expr: Expr, sizes: Mapping[str, int]) -> int | None:
    """An integer expression for given sizes; None where one is not known."""
    match expr:
        case Const(value):
            return int(value)
        case Var(name):
            return sizes.get(name)
        case Binary(op, left, right):
            a, b = number_of(left, sizes), number_of(right, sizes)
            return None if a is None or b is None else int(meaning(op, INT64)(a, b))
        case _:
            return None


Monomial = tuple[Factor, ...]


@record
class Amount:
    """A polynomial: coefficients of products of sizes.

    >>> n = Amount.of(Var("n"))
    >>> print(n * n + 2 * n + 8)
    n**2 + 2*n + 8
    """

    terms: Mapping[Monomial, float]

    @staticmethod
    def of(expr: Expr, names: Mapping[str, Amount] | None = None) -> Amount:
        """An integer expression as an amount; `names` has the values of variables."""
        match expr:
            case Const(value):
                return _constant(float(value))
            case Var(name) if names is not None and name in names:
                return names[name]
            case Binary("add", left, right):
                return Amount.of(left, names) + Amount.of(right, names)
            case Binary("sub", left, right):
                return Amount.of(left, names) - Amount.of(right, names)
            case Binary("mul", left, right):
                return Amount.of(left, names) * Amount.of(right, names)
            case Binary("band", left, Const(value)) if value < 0:  # in whole vectors, and the rest
                return Amount.of(left, names)
            case _:
                return Amount({(Factor(expression(expr), expr),): 1.0})

    @staticmethod
    def log2(expr: Expr) -> Amount:
        """The logarithm of an integer expression, to base 2."""
        return Amount({(Factor(f"log2({expression(expr)})", expr, log=True),): 1.0})

    def __add__(self, other: Amount | float) -> Amount:
        terms = dict(self.terms)
        for sizes, factor in _amount(other).terms.items():
            terms[sizes] = terms.get(sizes, 0.0) + factor
        return Amount({sizes: factor for sizes, factor in terms.items() if factor})

    def __sub__(self, other: Amount) -> Amount:
        return self + -1 * other

    def __mul__(self, other: Amount | float) -> Amount:
        total = NOTHING
        for left, a in self.terms.items():
            product = {
                tuple(sorted(left + right, key=_text)): a * b
                for right, b in _amount(other).terms.items()
            }
            total = total + Amount(product)
        return total

    __rmul__ = __mul__

    def value(self, sizes: Mapping[str, int]) -> float | None:
        """The number for given sizes; None where one is not known."""
        total = 0.0
        for factors, number in self.terms.items():
            for factor in factors:
                value = factor.value(sizes)
                if value is None:
                    return None
                number *= value
            total += number
        return total

    def __str__(self) -> str:
        terms = sorted(
            self.terms.items(), key=lambda term: (-len(term[0]), term[1] < 0, _texts(term[0]))
        )
        shown = " + ".join(_term(factors, number) for factors, number in terms) or "0"
        return shown.replace("+ -", "- ")


def _text(factor: Factor) -> str:
    return factor.text


def _texts(factors: Monomial) -> list[str]:
    return [factor.text for factor in factors]


def _constant(value: float) -> Amount:
    return Amount({(): value}) if value else NOTHING


def _amount(value: Amount | float) -> Amount:
    return value if isinstance(value, Amount) else _constant(value)


NOTHING = Amount({})
ONE = Amount({(): 1.0})


def _term(factors: Monomial, number: float) -> str:
    shown = [f"{abs(number):.4g}"] if abs(number) != 1 or not factors else []
    for factor, power in Counter(factors).items():
        shown.append(_word(factor) + (f"**{power}" if power > 1 else ""))
    return "-" * (number < 0) + "*".join(shown)


def _word(factor: Factor) -> str:
    rest, count = factor.text, 1
    while count:  # without all that stands in parentheses
        rest, count = re.subn(r"\([^()]*\)", "", rest)
    return factor.text if rest.isidentifier() else f"({factor.text})"
