"""Integers as polynomials over atoms: names, and whatever is not a sum or a product."""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import Binary, BinaryOp, Const, Expr, Unary, Var, add, mul, sub
from symc.codegen.passes.walk import names_in

Monomial: TypeAlias = tuple[Expr, ...]
"""Atoms that are multiplied, in the order of their texts."""
Polynomial: TypeAlias = dict[Monomial, int]

ONE: Polynomial = {(): 1}
_TERMS = 48  # of a product; what has more is one atom


def polynomial(expr: Expr) -> Polynomial:
    """An integer as a polynomial over atoms."""
    match expr:
        case Const(int() as value):
            return {(): value} if value else {}
        case Binary("add", left, right):
            return added(polynomial(left), polynomial(right))
        case Binary("sub", left, right):
            return added(polynomial(left), polynomial(right), -1)
        case Unary("neg", x):
            return added({}, polynomial(x), -1)
        case Binary("mul", left, right):
            one, other = polynomial(left), polynomial(right)
            if len(one) * len(other) <= _TERMS:
                return multiplied(one, other)
        case _:
            pass
    return {(expr,): 1}


def added(one: Polynomial, other: Polynomial, times: int = 1) -> Polynomial:
    """A sum."""
    total = dict(one)
    for monomial, factor in other.items():
        total[monomial] = total.get(monomial, 0) + times * factor
    return {monomial: factor for monomial, factor in total.items() if factor}


def multiplied(one: Polynomial, other: Polynomial) -> Polynomial:
    """A product."""
    total: Polynomial = {}
    for monomial, factor in one.items():
        for another, times in other.items():
            key = tuple(sorted(monomial + another, key=repr))
            total[key] = total.get(key, 0) + factor * times
    return {monomial: factor for monomial, factor in total.items() if factor}


def expression(poly: Polynomial) -> Expr:
    """An integer that has this polynomial."""
    terms = sorted(poly.items(), key=lambda term: (term[1] < 0, not term[0]))
    total: Expr = Const(0, INT64)
    for k, (monomial, factor) in enumerate(terms):
        is_less = k > 0 and factor < 0
        term = product(monomial, -factor if is_less else factor)
        total = term if k == 0 else sub(total, term) if is_less else add(total, term)
    return total


def product(monomial: Monomial, factor: int = 1) -> Expr:
    """The product of atoms and a number."""
    if not monomial:
        return Const(factor, INT64)
    whole = reduce(mul, monomial)
    return whole if factor == 1 else mul(whole, Const(factor, INT64))


def by(poly: Polynomial, atom: Expr) -> tuple[Polynomial, Polynomial] | None:
    """The factor and the rest of a polynomial that is linear in an atom; else None."""
    times: Polynomial = {}
    rest: Polynomial = {}
    for monomial, factor in poly.items():
        count = monomial.count(atom)
        if count > 1:
            return None
        if count:
            place = monomial.index(atom)
            times[monomial[:place] + monomial[place + 1 :]] = factor
        else:
            rest[monomial] = factor
    inside = {name for monomial in (*times, *rest) for part in monomial for name in names_in(part)}
    return None if isinstance(atom, Var) and atom.name in inside else (times, rest)


def differences(fact: Expr) -> list[Polynomial]:
    """A comparison of integers as polynomials that are not negative."""
    match fact:
        case Binary("and", left, right):
            return differences(left) + differences(right)
        case Binary("lt" | "gt" | "le" | "ge" | "eq" as op, left, right) if left.dtype.is_integer:
            one, other = polynomial(left), polynomial(right)
            strict: Polynomial = ONE if op in ("lt", "gt") else {}
            up = added(added(other, one, -1), strict, -1)
            down = added(added(one, other, -1), strict, -1)
            return {"lt": [up], "le": [up], "gt": [down], "ge": [down], "eq": [up, down]}[op]
        case _:
            return []


_OPPOSITES: dict[BinaryOp, BinaryOp] = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def opposite(condition: Expr) -> Expr:
    """The opposite of a condition."""
    match condition:
        case Binary(op, left, right) if op in _OPPOSITES:
            return Binary(_OPPOSITES[op], left, right, BOOL)
        case _:
            return Unary("not", condition, BOOL)
