"""after_folds: functions of what rows are folded to are computed after the folds, side by side.

    for i in n:                                   for i in n:
        acc = 0                                       acc = 0
        for j in m: acc += x[i*m + j]                 for j in m: acc += x[i*m + j]
        y[i] = exp(-acc)                              y[i] = acc
                                                  for i in n: y[i] = exp(-y[i])

A loop around a fold runs in no vector registers, unless the fold is written out, and so one row
after the other waits for its exponential. Those of eight rows take little longer than one.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from symc.codegen.ir import Alloc, Const, Expr, Let, Load, Loop, Program, Stmt, Store, Var
from symc.codegen.passes.loops.dependence import UNROLL, step_of
from symc.codegen.passes.vectors.vectorize import dearest, has_vector_form
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    loads_of,
    map_kernels,
    names_in,
    nodes,
    parts,
    rebuild,
    rebuild_statement,
    statements,
    substitute,
    written,
)

LONG = 10  # operations that a function takes, from which it is worth a store and a load
FEWEST = 4  # rows of a known number


def after_folds(program: Program) -> Program:
    """The program with such loops as two."""
    return map_kernels(program, lambda kernel: _split(kernel.body, bound(kernel)))


def _split(body: Block, taken: set[str]) -> Block:
    found: list[Stmt] = []
    for stmt in body:
        two = _as_two(stmt, taken) if isinstance(stmt, Loop) else None
        if two is None:
            two = (rebuild_statement(stmt, lambda expr: expr, lambda block: _split(block, taken)),)
        found += two
    return tuple(found)


def _as_two(loop: Loop, taken: set[str]) -> Block | None:
    """A loop around folds as two loops; None for another one."""
    *before, last = loop.body
    if not isinstance(last, Store) or not _is_around_folds(loop, before):
        return None
    own = {stmt.buffer.name for stmt in before if isinstance(stmt, Alloc)}
    loads = {load.buffer for stmt in statements(loop.body) for load in loads_of(stmt)}
    if not written(tuple(before)) <= own or last.buffer in own | loads:
        return None
    lets = _lets(before, own)
    index, value = (substitute(expr, lets) for expr in (last.index, last.value))
    folded = _smallest(value, own)
    whole, part = (Store(last.buffer, index, expr) for expr in (value, folded))
    if folded.dtype is not value.dtype or step_of(index, loop.var) != 1:
        return None
    if dearest((whole,)) < LONG or dearest((part,)) >= LONG or not has_vector_form((whole,)):
        return None
    row = Var(fresh(loop.var.name, taken), loop.var.dtype)
    again = Load(last.buffer, index, folded.dtype)

    def of_stored(expr: Expr) -> Expr:
        return again if expr == folded else rebuild(expr, of_stored)

    after = Store(last.buffer, index, of_stored(value))
    inside = {stmt.var.name for stmt in statements(tuple(before)) if isinstance(stmt, Let | Loop)}
    if inside & (names_in(after.value) | names_in(index)):
        return None
    moved = rebuild_statement(after, lambda expr: substitute(expr, {loop.var.name: row}), tuple)
    first = Loop(loop.var, loop.extent, loop.kind, (*before, part), loop.note)
    return (first, Loop(row, loop.extent, "parallel", (moved,), loop.note))


def _is_around_folds(loop: Loop, before: Sequence[Stmt]) -> bool:
    """Whether a loop goes over several rows, which it folds by loops that are not written out."""
    folds = [stmt for stmt in before if isinstance(stmt, Loop)]
    if not folds or loop.kind not in ("serial", "parallel") or loop.cut is not None:
        return False
    lengths = [fold.extent.value for fold in folds if isinstance(fold.extent, Const)]
    if any(length <= UNROLL for length in lengths):
        return False
    return not isinstance(loop.extent, Const) or loop.extent.value >= FEWEST


def _lets(before: Sequence[Stmt], own: AbstractSet[str]) -> dict[str, Expr]:
    """What statements name, written out: what they read of scalars, if it is that of the end."""
    found: dict[str, Expr] = {}
    for k, stmt in enumerate(before):
        if isinstance(stmt, Let):
            value = substitute(stmt.value, found)
            read = {node.buffer for node in nodes(value) if isinstance(node, Load)}
            if not read & own or read.isdisjoint(written(tuple(before[k:]))):
                found[stmt.var.name] = value
    return found


def _smallest(value: Expr, own: AbstractSet[str]) -> Expr:
    """The smallest part of an expression in which all is that it reads of the scalars."""

    def reads(expr: Expr) -> bool:
        return any(isinstance(node, Load) and node.buffer in own for node in nodes(expr))

    while not isinstance(value, Load):
        inside = [part for part in parts(value) if reads(part)]
        if len(inside) != 1:
            break
        value = inside[0]
    return value
