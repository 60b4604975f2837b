"""Bounds of lengths that depend on the numbers of loops' steps.

A counter is a size that goes from 0 to below a number: the number of a loop's step, or the variable
of a loop in a kernel. A length linear in counters is least where they are at one of their ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from symc.codegen import ir
from symc.graph import dims
from symc.graph.dims import Dim, Size
from symc.schedule.numbers import Comparison

Counters: TypeAlias = Sequence[tuple[Size, Dim]]
"""Counters, each with how many values it has; those that others depend on come first."""


def dim_of(index: ir.Expr, lengths: Mapping[str, Dim]) -> Dim | None:
    """An index as a length, given those that variables stand for; None if that is not known."""
    match index:
        case ir.Const(int() as value):
            return value
        case ir.Var(name):
            return lengths.get(name)
        case ir.Binary("add" | "sub" | "mul" as op, left, right):
            one, other = dim_of(left, lengths), dim_of(right, lengths)
            return None if one is None or other is None else _ARITHMETIC[op](one, other)
        case _:
            return None


_ARITHMETIC: dict[str, Callable[[Dim, Dim], Dim]] = {
    "add": dims.add, "sub": dims.sub, "mul": dims.mul
}  # fmt: skip


def always_holds(comparison: Comparison, counters: Counters) -> bool:
    """Whether a comparison holds in every step of loops.

    Each counter has a value: of ``max(n, 0)`` steps there are n.
    """
    sign, left, right = comparison
    match sign:
        case "lt":
            rest = dims.sub(dims.sub(right, left), 1)
        case "le":
            rest = dims.sub(right, left)
        case "gt":
            rest = dims.sub(dims.sub(left, right), 1)
        case "ge":
            rest = dims.sub(left, right)
        case "eq":
            return left == right
        case _:
            return False
    return is_natural(rest, counters)


def is_natural(dim: Dim, counters: Counters) -> bool:
    """Whether a length is never negative, whatever the counters are.

    Each has a value: so however many they have, it is one at least.
    """
    if _is_natural(dim, counters):
        return True
    more = [dims.sub(dims.without_bound(count), 1) for _, count in counters]
    return any(
        _is_natural(dims.sub(dim, one), counters) for one in more if not isinstance(one, int)
    )


def _is_natural(dim: Dim, counters: Counters) -> bool:
    for counter, count in reversed(counters):
        least = dims.least_over(dim, counter, count)
        if least is None:
            return False
        dim = least
    return dims.nonnegative(dim)
