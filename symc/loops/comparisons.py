"""Comparisons of lengths and numbers of steps, and those of them that hold in every step.

A counter is a size that goes from 0 to below a number: the number of a loop's step, or the variable
of a loop in a kernel. A length linear in counters is least where they are at one of their ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import BinaryOp
from symc.graph import dims
from symc.graph.dims import Dim, Size
from symc.graph.node import Tensor
from symc.tensor.elementwise import Elementwise
from symc.tensor.lengths import dim_of

Comparison: TypeAlias = tuple[BinaryOp, Dim, Dim]

Counters: TypeAlias = Sequence[tuple[Size, Dim]]
"""Counters, each with how many values it has; those that others depend on come first."""

_SIGNS: dict[str, BinaryOp] = {
    "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"
}  # fmt: skip


def comparisons(node: Tensor, is_known: Callable[[Dim], bool]) -> list[Comparison] | None:
    """A condition as comparisons of known lengths, of which all must hold; None if it is not."""
    found: list[Comparison] = []
    pending = [node]
    while pending:
        part = pending.pop()
        match part.op:
            case Elementwise(name="bitwise_and" | "logical_and") if (
                part.dtype is BOOL and not part.ndim
            ):
                pending += reversed(part.args)
            case Elementwise(name=name) if name in _SIGNS and _are_lengths(part.args):
                left, right = map(dim_of, part.args)
                if not (is_known(left) and is_known(right)):
                    return None
                found.append((_SIGNS[name], left, right))
            case _:
                return None
    return found


def _are_lengths(args: Sequence[Tensor]) -> bool:
    return all(arg.dtype is INT64 and not arg.ndim for arg in args)


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
