"""The rules of `program.py` for expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from symc.codegen.dtypes import BOOL, INT32, INT64, DType
from symc.codegen.ir import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Length,
    Load,
    Select,
    Unary,
    Var,
)
from symc.codegen.math import FUNCTIONS
from symc.codegen.record import record

_LOGIC = frozenset({"and", "or", "xor"})
_BITS = frozenset({"band", "bor", "bxor", "shl", "shr"})


class Broken(Exception):
    """A rule is broken by this part of the program."""

    def __init__(self, part: object, message: str) -> None:
        super().__init__(message)
        self.part = part
        self.message = message


@record
class Scope:
    """The names and buffers that an expression may use."""

    names: Mapping[str, DType]
    buffers: Mapping[str, DType]
    lengths: Mapping[str, int]
    """The buffers that `Length` may name, with their numbers of axes."""


def is_used_once(names: Iterable[tuple[str, object]]) -> None:
    """Every name is used for one part only."""
    seen: set[str] = set()
    for name, part in names:
        if name in seen:
            raise Broken(part, f"{name} is declared twice")
        seen.add(name)


def check_expr(expr: Expr, scope: Scope, part: object) -> DType:
    """The dtype of an expression that breaks no rule. `part` is named in the error otherwise."""
    match expr:
        case Var(name, dtype):
            if name not in scope.names:
                raise Broken(part, f"{name} is not bound here")
            if scope.names[name] is not dtype:
                raise Broken(part, f"{name} is {scope.names[name]}, but used as {dtype}")
        case Const():
            _constant(expr, part)
        case Length(buffer, axis):
            if not 0 <= axis < scope.lengths.get(buffer, 0):
                raise Broken(part, f"there is no length {axis} of {buffer} here")
        case Load(buffer, index, dtype):
            check_access(buffer, index, dtype, scope, part)
        case Unary():
            _unary(expr, scope, part)
        case Binary():
            _binary(expr, scope, part)
        case Call():
            _call(expr, scope, part)
        case Cast(x):
            check_expr(x, scope, part)
        case Select(condition, then, otherwise, dtype):
            _condition(condition, scope, part)
            _same(dtype, (then, otherwise), scope, part, "select")
            _not_only_stored(dtype, part, "select")
        case _:
            assert_never(expr)
    return expr.dtype


def check_access(buffer: str, index: Expr, dtype: DType, scope: Scope, part: object) -> None:
    """An element of a buffer."""
    if buffer not in scope.buffers:
        raise Broken(part, f"there is no buffer {buffer} here")
    if scope.buffers[buffer] is not dtype:
        raise Broken(part, f"{buffer} is {scope.buffers[buffer]}, but used as {dtype}")
    found = check_expr(index, scope, part)
    if found not in (INT32, INT64):
        raise Broken(part, f"the index of {buffer} is {found}, not int64")


def _condition(expr: Expr, scope: Scope, part: object) -> None:
    found = check_expr(expr, scope, part)
    if found is not BOOL:
        raise Broken(part, f"a condition is {found}, not bool")


def _same(dtype: DType, operands: Iterable[Expr], scope: Scope, part: object, what: str) -> None:
    for operand in operands:
        found = check_expr(operand, scope, part)
        if found is not dtype:
            raise Broken(part, f"an operand of {what} is {found}, not {dtype}")


def _not_only_stored(dtype: DType, part: object, what: str) -> None:
    if dtype.is_only_stored:
        raise Broken(part, f"{what} is computed in {dtype}")


def _constant(const: Const, part: object) -> None:
    value, dtype = const.value, const.dtype
    if dtype.is_float:
        return
    if isinstance(value, float):
        raise Broken(part, f"the constant {value} is no {dtype}")
    low = -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0
    high = (1 << (dtype.bits - (dtype.kind == "int"))) - 1
    if not low <= value <= high:
        raise Broken(part, f"the constant {value} is out of the range of {dtype}")


def _unary(expr: Unary, scope: Scope, part: object) -> None:
    op, dtype = expr.op, expr.dtype
    _same(dtype, (expr.x,), scope, part, op)
    _not_only_stored(dtype, part, op)
    wrong = {
        "not": dtype is not BOOL,
        "invert": dtype.is_float,
        "neg": dtype is BOOL,
    }[op]
    if wrong:
        raise Broken(part, f"{op} of {dtype}")


def _binary(expr: Binary, scope: Scope, part: object) -> None:
    op, dtype = expr.op, expr.left.dtype
    _same(dtype, (expr.left, expr.right), scope, part, op)
    _not_only_stored(dtype, part, op)
    result = BOOL if op in COMPARISONS else dtype
    if expr.dtype is not result:
        raise Broken(part, f"{op} of {dtype} gives {result}, not {expr.dtype}")
    if op in _LOGIC:
        wrong = dtype is not BOOL
    elif op in _BITS:
        wrong = dtype.is_float
    elif op in COMPARISONS or op in ("min", "max"):
        wrong = False
    elif op == "div":
        wrong = not dtype.is_float
    else:
        wrong = dtype is BOOL
    if wrong:
        raise Broken(part, f"{op} of {dtype}")


def _call(call: Call, scope: Scope, part: object) -> None:
    row = FUNCTIONS.get(call.function)
    if row is None:
        raise Broken(part, f"there is no function {call.function}")
    if len(call.args) != row.arity:
        raise Broken(part, f"{call.function} takes {row.arity} arguments, not {len(call.args)}")
    if row.types:
        found = (*(check_expr(arg, scope, part) for arg in call.args), call.dtype)
        if found != row.types:
            raise Broken(part, f"{call.function} is of {row.types}, not of {found}")
        return
    dtype = call.args[0].dtype
    _same(dtype, call.args, scope, part, call.function)
    _not_only_stored(dtype, part, call.function)
    if not dtype.is_float and (row.integer is None or dtype is BOOL):
        raise Broken(part, f"{call.function} of {dtype}")
    result = BOOL if row.is_predicate else dtype
    if call.dtype is not result:
        raise Broken(part, f"{call.function} of {dtype} gives {result}, not {call.dtype}")
