"""Indexes that go round: by one in each step, and from the end to the beginning, or back.

``(s + 1) % n`` needs no division where ``0 <= s < n``, and of ``s + 1 < n ? s + 1 : 0`` compilers
make a choice, for which the next step has to wait. A jump is foreseen, as the end comes seldom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symc.codegen.dtypes import INT64
from symc.codegen.ir import Binary, BinaryOp, Call, Const, Expr, Load, Select, add, const
from symc.codegen.passes.steps.proven import OPPOSITE, KeptBounds

_MIRRORED: dict[str, BinaryOp] = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_ZERO, _BEFORE = const(0), const(-1)


def turned(
    expr: Expr, of: Callable[[Expr], Expr], kept: Mapping[Expr, KeptBounds],
    is_fixed: Callable[[Expr], bool],
) -> Expr | None:  # fmt: skip
    """The next place of an index that goes round, by a jump; None if an expression is no such.

    `of` is what something is in the program, `kept` the indexes there that are within bounds.
    """
    match expr:
        case Binary("mod", moved, length):
            state, by = _neighbour(of(moved))
            if not by or state not in kept or kept[state].below != of(length):
                return None
            ends = (length, _ZERO) if by == 1 else (_BEFORE, add(length, const(-1)))
            return Call("unless", (moved, *ends), INT64)
        case Select(Binary(op, left, right), then, otherwise) if (
            op in OPPOSITE and left.dtype is INT64 and expr.dtype is INT64
        ):
            for usual, other, sign in ((then, otherwise, op), (otherwise, then, OPPOSITE[op])):
                state, by = _neighbour(of(usual))
                if by and state in kept and is_fixed(of(other)):
                    sides = (left, right, sign), (right, left, _MIRRORED.get(sign, sign))
                    for side, end, holds in sides:
                        at = of(side)
                        where = by if at == state else 0
                        if is_fixed(of(end)) and (at == state or at == of(usual)):
                            return _until(usual, add(end, const(where)), other, holds, by, where)
            return None
        case _:
            return None


def _until(usual: Expr, end: Expr, other: Expr, holds: str, by: int, where: int) -> Expr | None:
    """The index while a comparison of it with its end holds, else the other one.

    If it was about the index before it moved by `where`, all but equality could wrap.
    """
    match holds:
        case "ne":
            return Call("unless", (usual, end, other), INT64)
        case "lt" if where == 0 and by == 1:
            return Call("below_or", (usual, end, other), INT64)
        case "ge" if where == 0 and by == -1 and end == _ZERO:
            return Call("unless", (usual, _BEFORE, other), INT64)
        case "gt" if where == -1 and end == _BEFORE:
            return Call("unless", (usual, _BEFORE, other), INT64)
        case _:
            return None


def _neighbour(expr: Expr) -> tuple[Expr, int]:
    """The index that another one is beside, and on which side; 0 if it is not."""
    match expr:
        case Binary("add", Load() as state, Const(1 | -1 as by)):
            return state, int(by)
        case _:
            return expr, 0
