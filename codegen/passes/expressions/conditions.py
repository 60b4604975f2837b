"""Conditions as lists of those that must all hold."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from symc.codegen.ir import Binary, Expr, binary


def both(conditions: Iterable[Expr]) -> Expr:
    """The condition that all of these hold."""
    return reduce(lambda one, other: binary("and", one, other), conditions)


def either(conditions: Iterable[Expr]) -> Expr:
    """The condition that some of these hold."""
    return reduce(lambda one, other: binary("or", one, other), conditions)


def conjuncts(condition: Expr) -> list[Expr]:
    """The conditions that must all hold for one to hold."""
    match condition:
        case Binary("and", left, right):
            return conjuncts(left) + conjuncts(right)
        case _:
            return [condition]
