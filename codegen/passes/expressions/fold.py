"""Folding of integer and bool expressions. One canonical form: indexes stay ``(i*m + j)*k + l``.

Only int64 arithmetic, comparisons of int64 and logic of constants is touched, never floats, where
``x + 0`` and ``x * 1`` are not the same for all x.
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import Binary, Const, Expr, Var, add, mul, sub

_LIMIT = 1 << 63


def fold(expr: Binary, extents: Mapping[str, Expr]) -> Expr:
    """The operation with constants folded. `extents` has the loop variables in scope."""
    left, right = expr.left, expr.right
    if left.dtype is INT64:
        if type(left) is Const and type(right) is Const:
            return _constants(expr, int(left.value), int(right.value))
        if type(right) is Const or type(left) is Const:
            return _half_constant(expr, extents)
        if expr.op in ("floordiv", "mod"):
            return _split(expr, extents)
        if left == right:
            return _equal(expr)
    elif left.dtype is BOOL and (type(left) is Const or type(right) is Const):
        return _logic(expr)
    return expr


def _constants(expr: Binary, a: int, b: int) -> Expr:
    value: int
    match expr.op:
        case "add":
            value = a + b
        case "sub":
            value = a - b
        case "mul":
            value = a * b
        case "floordiv":
            value = a // b if b else 0
        case "mod":
            value = a % b if b else 0
        case "min":
            value = min(a, b)
        case "max":
            value = max(a, b)
        case "eq" | "ne" | "lt" | "le" | "gt" | "ge":
            return Const(_compare(expr.op, a, b), BOOL)
        case _:
            return expr
    return Const(value) if -_LIMIT <= value < _LIMIT else expr


def _compare(op: str, a: int, b: int) -> bool:
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[op]


def _half_constant(expr: Binary, extents: Mapping[str, Expr]) -> Expr:
    """One of the two is a constant."""
    left, right = expr.left, expr.right
    match expr.op, left, right:
        case "add", _, _:
            return _bounded(expr, add(left, right))
        case "sub", _, Const():
            return _bounded(expr, sub(left, right))
        case "mul", _, _:
            return mul(left, right)
        case ("floordiv", _, Const(1)) | ("floordiv", Const(0), _):
            return left
        case ("mod", _, Const(1)) | ("mod", Const(0), _):
            return Const(0)
        case "floordiv" | "mod", _, _:
            return _split(expr, extents)
        case _:
            return expr


def _bounded(expr: Expr, folded: Expr) -> Expr:
    """`folded`, unless adding up constants left the range of int64."""
    match folded:
        case Const(value) | Binary(_, _, Const(value)) if not -_LIMIT <= value < _LIMIT:
            return expr
        case _:
            return folded


def _equal(expr: Binary) -> Expr:
    """Both operands are the same int64 expression."""
    match expr.op:
        case "sub":
            return Const(0)
        case "min" | "max":
            return expr.left
        case "eq" | "le" | "ge":
            return Const(True, BOOL)
        case "ne" | "lt" | "gt":
            return Const(False, BOOL)
        case _:
            return expr


def _logic(expr: Binary) -> Expr:
    match expr.op, expr.left, expr.right:
        case ("and", Const(True), x) | ("and", x, Const(True)):
            return x
        case ("or", Const(False), x) | ("or", x, Const(False)):
            return x
        case ("and", Const(False), _) | ("and", _, Const(False)):
            return Const(False, BOOL)
        case ("or", Const(True), _) | ("or", _, Const(True)):
            return Const(True, BOOL)
        case _:
            return expr


def _split(expr: Binary, extents: Mapping[str, Expr]) -> Expr:
    """``(i*m + j) // m -> i`` and ``% m -> j``, for loop variables only: they are in range."""
    quotient: Expr
    rest: Expr
    match expr.left:
        case Binary("add", Binary("mul", quotient, stride), Var(name) as rest) if (
            stride == expr.right and extents.get(name) == stride and _is_horner(quotient, extents)
        ):
            pass
        case Var(name) as rest if extents.get(name) == expr.right:
            quotient = Const(0)
        case Binary("mul", quotient, Const() as stride) if (
            stride == expr.right and stride.value > 0 and _is_horner(quotient, extents)
        ):
            rest = Const(0)
        case _:
            return expr
    return quotient if expr.op == "floordiv" else rest


def _is_horner(expr: Expr, extents: Mapping[str, Expr]) -> bool:
    """Whether this is an index made of loop variables, which cannot overflow."""
    match expr:
        case Var(name):
            return name in extents
        case Binary("add", Binary("mul", rest, _), Var(name)):
            return name in extents and _is_horner(rest, extents)
        case _:
            return False
