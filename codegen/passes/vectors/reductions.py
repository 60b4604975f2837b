"""The reductions of a vector loop: the clauses that let a compiler run iterations side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from symc.codegen.ir import (
    Accumulate,
    AccumulateOp,
    Alloc,
    Barrier,
    Binary,
    Combine,
    Const,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.walk import Block, nodes, parts, statements
from symc.codegen.record import record

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from symc.codegen.dtypes import DType

SCANNED: frozenset[AccumulateOp] = frozenset({"add", "mul", "min", "max"})
"""The operations whose running values the threads of a team can compute together."""


def identity(op: AccumulateOp, dtype: DType) -> Const:
    """The neutral value: of a thread without iterations, of an iteration that contributes none."""
    if dtype.is_float:
        values = {"add": -0.0, "mul": 1.0, "max": -float("inf"), "min": float("inf")}
        return Const(values[op], dtype)
    if dtype.kind == "bool":
        return Const(op in ("mul", "min", "and", "band"), dtype)
    low = -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0
    high = (1 << (dtype.bits - (dtype.kind == "int"))) - 1
    ones = -1 if dtype.kind == "int" else high
    whole = {"add": 0, "mul": 1, "max": low, "min": high, "bor": 0, "band": ones, "bxor": 0}
    return Const(whole[op], dtype)


@record
class Reduction:
    """A scalar outside a loop that every iteration of it updates by `op`."""

    buffer: str
    op: AccumulateOp
    dtype: DType


def reductions(loop: Loop, scalars: AbstractSet[str]) -> list[Reduction] | None:
    """The scalars a loop accumulates, or None where its iterations cannot run side by side.

    They cannot where an iteration reads an element that others accumulate in, where one scalar is
    updated in two ways, or where an element that is the same for all iterations is updated in
    memory.
    """
    inside = {stmt.buffer.name for stmt in statements(loop.body) if isinstance(stmt, Alloc)}
    found: dict[str, Reduction] = {}
    varying = {loop.var.name}
    suspects: list[Accumulate] = []
    for stmt in statements(loop.body):
        match stmt:
            case Accumulate(buffer, _, op, value) if buffer not in inside:
                if buffer in scalars:
                    new = Reduction(buffer, op, value.dtype)
                    if found.setdefault(buffer, new) != new:
                        return None
                else:
                    suspects.append(stmt)
            case _:
                pass
    if not found and not suspects:
        return []
    for stmt in statements(loop.body):
        if isinstance(stmt, Let) and mentions(stmt.value, varying):
            varying.add(stmt.var.name)
    if any(not mentions(stmt.index, varying) for stmt in suspects):
        return None
    if any(touches(stmt, found.keys()) for stmt in statements(loop.body)):
        return None
    return list(found.values())


def widths_of_flags(body: Block) -> dict[str, int]:
    """For bools that a kernel accumulates in loops, the bits of the widest operands compared."""
    found: dict[str, int] = {}
    for stmt in statements(body):
        if isinstance(stmt, Accumulate) and stmt.value.dtype.kind == "bool":
            before = found.get(stmt.buffer, 8)
            found[stmt.buffer] = max(before, width_of_flag(stmt.value))
    return found


def width_of_flag(value: Expr) -> int:
    """The bits of the widest operands compared for a bool; those of a place count for nothing."""
    widest, stack = 8, [value]
    while stack:
        node = stack.pop()
        if isinstance(node, Load):
            continue
        if isinstance(node, Binary) and node.left.dtype.kind in ("int", "uint", "float"):
            widest = max(widest, node.left.dtype.bits)
        stack.extend(parts(node))
    return widest


def touches(stmt: Stmt, buffers: AbstractSet[str]) -> bool:
    """Whether a statement loads one of these buffers, or stores to it."""
    match stmt:
        case Let(_, value):
            return loads(value, buffers)
        case Store(buffer, index, value):
            return buffer in buffers or loads(value, buffers) or loads(index, buffers)
        case Accumulate(_, index, _, value):
            return loads(value, buffers) or loads(index, buffers)
        case Loop():
            return loads(stmt.extent, buffers)
        case If():
            return loads(stmt.condition, buffers)
        case Combine(buffer):
            return buffer in buffers
        case Alloc() | Barrier():
            return False
        case _:
            assert_never(stmt)


def loads(expr: Expr, buffers: AbstractSet[str]) -> bool:
    """Whether an expression reads one of these buffers."""
    return any(isinstance(node, Load) and node.buffer in buffers for node in nodes(expr))


def mentions(expr: Expr, names: AbstractSet[str]) -> bool:
    """Whether an expression uses one of these variables."""
    return any(isinstance(node, Var) and node.name in names for node in nodes(expr))
