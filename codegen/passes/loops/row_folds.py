"""Loops whose iterations each fold a short row of a matrix, for `turn`."""

from __future__ import annotations

from functools import reduce
from typing import TypeGuard

from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Buffer,
    Const,
    Expr,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    binary,
    const,
    mul,
)
from symc.codegen.passes.expressions.fold import fold
from symc.codegen.passes.loops.dependence import is_unit
from symc.codegen.passes.loops.row_major import row_of
from symc.codegen.passes.walk import index_names, loads_of, names_in, substitute, written
from symc.codegen.record import record

LONGEST = 32  # elements of a row: longer ones fill registers by themselves
FEWEST = 8  # rows that are folded side by side, and for which a copy is worth making
MOST = 1 << 16  # elements of a matrix that is copied: those of a cache


@record
class RowFold:
    """A loop whose iterations each fold a row of a matrix into scalars.

    An iteration has names, the scalars' first values, the loop over the row, and what is done with
    the scalars then. That writes nothing which any of the rest reads, so that it may come later.
    """

    loop: Loop
    names: tuple[Let, ...]
    scalars: tuple[Buffer, ...]
    first: tuple[Store, ...]
    inner: Loop
    last: tuple[Stmt, ...]
    known: dict[str, Expr]
    """The integers that are named, written out."""

    @property
    def lengths(self) -> tuple[Expr, Expr]:
        """How many rows there are, and the elements of one."""
        return self.loop.extent, self.inner.extent

    def row(self, load: Load) -> Expr | None:
        """The row in which an element is, if it is that of the inner loop."""
        index = substitute(load.index, self.known)
        return row_of(index, self.inner.var.name, self.inner.extent)

    def turns(self, load: Load) -> bool:
        """Whether an element is read that the copy has."""
        return self.row(load) == self.loop.var


def folds_of(rows: Loop, names: frozenset[str], buffers: frozenset[str]) -> list[RowFold]:
    """The folds in a loop over other rows, all of the same lengths, where copying may pay.

    `names` and `buffers` do not change in the kernel.
    """
    found: list[RowFold] = []
    if names_in(rows.extent) <= names:
        for stmt in rows.body:
            one = _fold_of(stmt, names, buffers)
            if one is None or (found and one.lengths != found[0].lengths):
                continue
            if pays(rows.extent, *one.lengths) != Const(False, BOOL):
                found.append(one)
    return found


def pays(others: Expr, count: Expr, length: Expr) -> Expr:
    """Whether copying rows pays that are folded for each of other rows; a constant if known."""
    wanted = (
        binary("le", length, const(LONGEST)), binary("le", length, count),
        binary("ge", count, const(FEWEST)), binary("ge", others, const(FEWEST)),
        binary("le", mul(count, length), const(MOST)),
    )  # fmt: skip
    left = [one for one in map(_folded, wanted) if one != Const(True, BOOL)]
    if Const(False, BOOL) in left:
        return Const(False, BOOL)
    return reduce(lambda one, other: binary("and", one, other), left) if left else Const(True, BOOL)


def _folded(condition: Expr) -> Expr:
    return fold(condition, {}) if isinstance(condition, Binary) else condition


def _fold_of(stmt: Stmt, names: frozenset[str], buffers: frozenset[str]) -> RowFold | None:
    """What a loop does if it is one of folds, and reads a matrix that can be turned."""
    if not _is_uncut(stmt):
        return None
    inner = [at for at, part in enumerate(stmt.body) if isinstance(part, Loop)]
    if len(inner) != 1:
        return None
    before, loop, after = stmt.body[: inner[0]], stmt.body[inner[0]], stmt.body[inner[0] + 1 :]
    scalars = tuple([part.buffer for part in before if isinstance(part, Alloc)])
    own = {buffer.name for buffer in scalars}
    lets = tuple([part for part in before if isinstance(part, Let)])
    first = tuple([part for part in before if isinstance(part, Store) and part.buffer in own])
    if len(lets) + len(scalars) + len(first) != len(before) or any(b.shape for b in scalars):
        return None
    if not _is_uncut(loop) or not _only_folds(loop, own):
        return None
    if not all(isinstance(part, Let | Store | Accumulate) for part in after):
        return None
    if not names_in(stmt.extent) | names_in(loop.extent) <= names:
        return None
    integers = index_names((*lets, *loop.body))
    found = RowFold(stmt, lets, scalars, first, loop, after, integers)
    return found if _can_turn(found, buffers) else None


def _is_uncut(stmt: Stmt) -> TypeGuard[Loop]:
    return isinstance(stmt, Loop) and stmt.cut is None and stmt.kind in ("parallel", "serial")


def _only_folds(loop: Loop, scalars: set[str]) -> bool:
    """Whether a loop only folds into these scalars, which it does not read otherwise."""
    return all(
        isinstance(part, Let | Accumulate)
        and (isinstance(part, Let) or part.buffer in scalars)
        and not any(load.buffer in scalars for load in loads_of(part))
        for part in loop.body
    )


def _can_turn(one: RowFold, buffers: frozenset[str]) -> bool:
    """Whether a matrix is read row by row, and all else along the loop over rows or not at all."""
    rows, turned = one.loop.var.name, False
    later = written(one.last)
    for part in (*one.names, *one.first, *one.inner.body):
        for load in loads_of(part):
            index = substitute(load.index, one.known)
            if load.buffer in later:
                return False
            if rows not in names_in(index):
                continue
            if load.buffer in buffers and one.turns(load):
                turned = True
            elif not is_unit(index, rows):
                return False
    return turned
