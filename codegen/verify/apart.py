"""Whether two elements of a buffer differ, whatever the variables in their indexes are.

They do if one index is always above the other. And an index is a row of some length and a column,
as in ``i*n + column``, perhaps a row of rows: two differ if their rows or their columns do. What
has no number of rows in it, or a length alone, is in row 0, or 1, only if its column is seen to be
within the row: a loop over the whole array is in any.
"""

from __future__ import annotations

from collections.abc import Iterator

from symc.codegen.ir import Binary, Const, Expr, Var, add, const
from symc.codegen.verify.bounds import Bounds


def differ(one: Expr, other: Expr, bounds: Bounds) -> bool:
    """Whether two indexes, written out, are never equal."""
    if bounds.is_above(one, other) or bounds.is_above(other, one):
        return True
    for length in dict.fromkeys([*_lengths(one), *_lengths(other)]):
        for first in _places(one, length, bounds):
            for second in _places(other, length, bounds):
                if any(differ(a, b, bounds) for a, b in zip(first, second, strict=True)):
                    return True
    return False


def _lengths(index: Expr) -> list[Expr]:
    """The lengths of which an index has a number of rows."""
    return [
        part.right
        for part in terms(index)
        if isinstance(part, Binary) and part.op == "mul" and not isinstance(part.right, Const)
    ]


def _places(index: Expr, length: Expr, bounds: Bounds) -> Iterator[tuple[Expr, Expr]]:
    """The row of a length and the column that an index has, where it is surely in that row."""
    row: Expr = const(0)
    column: Expr = const(0)
    lone: Expr = const(0)  # the length itself: a row, or it belongs to the column
    for part in terms(index):
        match part:
            case Binary("mul", left, right) if right == length:
                row = add(row, left)
            case _ if part == length:
                lone = add(lone, part)
            case _:
                column = add(column, part)
    if row != const(0) and lone == const(0):
        yield row, column
        return
    for number, rest in ((row, add(column, lone)), (add(row, const(1)), column)):
        if bounds.is_above(length, rest) and bounds.is_above(rest, const(-1)):
            yield number, rest
        if lone != length:
            break


def multiples(index: Expr) -> dict[str, int] | None:
    """How often each variable occurs in a sum, "" for the number that is added; None if in none."""
    match index:
        case Const(int() as value):
            return {"": value}
        case Var(name):
            return {name: 1}
        case Binary("add" | "sub" as op, left, right):
            one, other = multiples(left), multiples(right)
            if one is None or other is None:
                return None
            sign = 1 if op == "add" else -1
            for name, factor in other.items():
                one[name] = one.get(name, 0) + sign * factor
            return {name: factor for name, factor in one.items() if factor}
        case Binary("mul", left, Const(int() as value)) | Binary(
            "mul", Const(int() as value), left
        ):
            one = multiples(left)
            return None if one is None else {name: value * f for name, f in one.items() if value}
        case _:
            return None


def terms(index: Expr) -> list[Expr]:
    """The terms of an index."""
    match index:
        case Binary("add", left, right):
            return terms(left) + terms(right)
        case _:
            return [index]
