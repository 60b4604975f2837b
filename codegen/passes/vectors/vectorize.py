"""vectorize: which loops run in vector registers, and which are written out.

- A loop of a small constant length inside another loop becomes an `unroll` loop, if there is no
  other loop in it. What is around it then counts as innermost, unless its iterations read far
  apart (a channel of each image): then gathering for its registers costs more than the loops inside
  do in theirs, and gcc takes seconds for what would be written out.
- An innermost `parallel` loop becomes a `vector` loop.
- So does an innermost `serial` loop that only accumulates into local scalars from outside it, or
  writes elements that no other iteration touches.

A loop with an `If`, or with a function that has no vector form, stays as it is.
"""

from __future__ import annotations

from typing import assert_never

from symc.codegen.dtypes import FLOAT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Call,
    Combine,
    Const,
    Expr,
    If,
    Let,
    Load,
    Loop,
    LoopKind,
    Program,
    Stmt,
    Store,
    Var,
)
from symc.codegen.math import FUNCTIONS
from symc.codegen.passes.loops.dependence import UNROLL, accesses, is_reduction, step_of
from symc.codegen.passes.vectors.reductions import reductions
from symc.codegen.passes.walk import (
    Block,
    collect,
    expressions,
    loads_of,
    map_kernels,
    nodes,
    parts,
    statements,
)

COPIES = 32  # of a body, over all unrolled loops around it
LANES = 4  # iterations that are worth a vector loop of their own
NEAR = 16  # elements between what two iterations read, at most, if they share lines of the cache
DEAR = 10  # the cost of a function, from which to call it for one number alone takes time
SIMPLE = ("abs", "sign")  # functions of a few operations, of integers too


def vectorize(program: Program) -> Program:
    """The program with its innermost loops marked `vector` or `unroll`."""
    return map_kernels(program, lambda kernel: _block(kernel.body, 0, frozenset()))


def _block(block: Block, depth: int, scalars: frozenset[str], most: int = COPIES) -> Block:
    """`scalars` are the local scalars declared so far, `most` limits the copies of a body."""
    if not any(isinstance(stmt, Loop | If) for stmt in block):
        return block
    out: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Loop():
                out.append(_loop(stmt, depth, scalars, most))
            case If(condition, then, otherwise):
                then = _block(then, depth, scalars, most)
                otherwise = _block(otherwise, depth, scalars, most)
                out.append(If(condition, then, otherwise))
            case Alloc(buffer):
                if not buffer.shape:
                    scalars |= {buffer.name}
                out.append(stmt)
            case Let() | Store() | Accumulate() | Barrier() | Combine():
                out.append(stmt)
            case _:
                assert_never(stmt)
    return tuple(out)


def _loop(loop: Loop, depth: int, scalars: frozenset[str], most: int) -> Loop:
    body = _block(loop.body, depth + 1, scalars, most)
    marked = Loop(loop.var, loop.extent, loop.kind, body, loop.note, loop.cut)
    kind = _kind(marked, depth, scalars, most)
    if kind == "serial" and any(_adds_to_columns(stmt) for stmt in body):
        body = _block(loop.body, depth + 1, scalars, most=0)
    if kind == "vector" and _copies_inside(marked) > 1 and _reads_far_apart(marked):
        if _copies_inside(marked) < LANES:
            return Loop(loop.var, loop.extent, loop.kind, body, loop.note, loop.cut)
        rows = _block(loop.body, depth + 1, scalars, most=0)
        if any(isinstance(stmt, Loop) and stmt.kind == "vector" for stmt in statements(rows)):
            kind, body = loop.kind, rows
    return Loop(loop.var, loop.extent, kind, body, loop.note, loop.cut)


def _adds_to_columns(stmt: Stmt) -> bool:
    """Whether a statement is a loop that is written out, and adds to the sums of as many columns.

    An array of sums that fills a vector register stays there, if it is read and written as one.
    """
    return (
        isinstance(stmt, Loop)
        and stmt.kind == "unroll"
        and isinstance(stmt.extent, Const)
        and stmt.extent.value >= LANES
        and all(isinstance(s, Let | Accumulate) for s in stmt.body)
        and all(s.index == stmt.var for s in stmt.body if isinstance(s, Accumulate))
    )


def _kind(loop: Loop, depth: int, scalars: frozenset[str], most: int) -> LoopKind:
    """The kind that the loop should have, its body being done."""
    if loop.kind not in ("parallel", "serial") or not _is_innermost(loop):
        return loop.kind
    if depth > 0 and _copies(loop) <= most and _is_short(loop) and not _is_side_by_side(loop):
        return "unroll"
    if not has_vector_form(loop.body):
        return loop.kind
    if loop.kind == "parallel":
        return "vector"
    return "vector" if _accumulates(loop, scalars) else "serial"


def _is_side_by_side(loop: Loop) -> bool:
    """Whether a loop around others that are written out fills a register with neighbours itself."""
    extent = int(loop.extent.value) if isinstance(loop.extent, Const) else 0
    if loop.kind != "parallel" or extent < LANES or _copies_inside(loop) == 1:
        return False
    loads = [load for stmt in statements(loop.body) for load in loads_of(stmt)]
    return has_vector_form(loop.body) and all(
        _reach(load.index, loop.var) in (0, 1) for load in loads
    )


def _is_innermost(loop: Loop) -> bool:
    """Whether all loops inside are unrolled."""
    return all(stmt.kind == "unroll" for stmt in statements(loop.body) if isinstance(stmt, Loop))


def _is_short(loop: Loop) -> bool:
    return isinstance(loop.extent, Const) and loop.extent.value <= UNROLL


def _copies(loop: Loop) -> int:
    """How often the innermost body is written out if this loop is unrolled."""
    times = int(loop.extent.value) if isinstance(loop.extent, Const) else COPIES
    return times * _copies_inside(loop)


def _copies_inside(loop: Loop) -> int:
    inner = [_copies(stmt) for stmt in statements(loop.body) if isinstance(stmt, Loop)]
    return max(inner, default=1)


def _reads_far_apart(loop: Loop) -> bool:
    """Whether no two iterations that follow each other read from near places."""
    loads: list[Load] = []
    for stmt in statements(loop.body):
        for expr in expressions(stmt):
            collect(expr, [], loads)
    reaches = [_reach(load.index, loop.var) for load in loads]
    moving = [reach for reach in reaches if reach != 0]
    return bool(moving) and all(reach is None or reach > NEAR for reach in moving)


def _reach(index: Expr, var: Var) -> int | None:
    """How far an index moves at most from one iteration to the next; None if nothing tells.

    The places that windows or their gradients read are quotients and remainders between bounds.
    """
    match index:
        case Binary("add" | "sub" | "min" | "max" as op, left, right):
            one, other = _reach(left, var), _reach(right, var)
            if one is None or other is None:
                return None
            return one + other if op in ("add", "sub") else max(one, other)
        case Binary("floordiv", left, Const(value)) if value > 0:
            reach = _reach(left, var)
            return None if reach is None else -(-reach // int(value))
        case Binary("mod", left, Const(value)) if value > 0:
            return int(value) - 1 if _reach(left, var) != 0 else 0
        case Binary("mul", left, Const(value)):
            reach = _reach(left, var)
            return None if reach is None else reach * abs(int(value))
        case _:
            step = step_of(index, var)
            return None if step is None else abs(step)


def _accumulates(loop: Loop, scalars: frozenset[str]) -> bool:
    """Whether a serial loop's iterations meet only in local scalars that they accumulate."""
    found = accesses(loop)
    into = {buffer for buffer in found.accumulates if not found.has_one_place(buffer)}
    if not into <= scalars or not is_reduction(found):
        return False
    return reductions(loop, scalars) is not None


def has_vector_form(block: Block) -> bool:
    """Whether there is no branch in a block, and no function without a vector form."""
    for stmt in statements(block):
        if isinstance(stmt, If) or not all(map(_vectorises, expressions(stmt))):
            return False
    return True


def dearest(block: Block) -> int:
    """The cost of the dearest function that these statements call, not those in blocks in them."""
    called = [
        FUNCTIONS[node.function].cost
        for stmt in block
        for expr in expressions(stmt)
        for node in nodes(expr)
        if isinstance(node, Call)
    ]
    return max(called, default=0)


def _vectorises(expr: Expr) -> bool:
    if type(expr) is Var or type(expr) is Const:
        return True
    if type(expr) is Binary:
        if expr.op in ("mod", "floordiv") and expr.dtype is FLOAT64:
            return False
        return _vectorises(expr.left) and _vectorises(expr.right)
    if type(expr) is Call:
        row = FUNCTIONS[expr.function]
        of_integers = expr.args[0].dtype.is_integer and not row.types
        if (of_integers and expr.function not in SIMPLE) or not row.vectorises:
            return False
    return all(map(_vectorises, parts(expr)))
