"""Loops whose groups of doubles gcc must not permute in vectors of 512 bits.

A loop that writes all numbers of a group, such as the columns of a row, from numbers of a group in
another order becomes vectors and permutations. gcc 12 takes some permutations of eight doubles for
ones within pairs (in its ``avx_vpermilp_parallel`` the second pair is only tested from below): of
``stack([x[:, 0], x[:, 2], x[:, 2]], 1)`` every eighth row had a number of another row. Which
permutations there are follows from gcc's plans for sums and products, too, so all such loops go in
vectors of half the width. In groups of one, two and four no number is that far from its place.
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.dtypes import FLOAT64
from symc.codegen.ir import Accumulate, Expr, Let, Load, Loop, Stmt, Store
from symc.codegen.passes.loops.dependence import step_of
from symc.codegen.passes.walk import collect, expressions, index_names, substitute
from symc.codegen.record import field, record
from symc.codegen.verify.polynomials import added, polynomial


@record(frozen=False)
class _Group:
    """What a loop stores side by side into one array."""

    count: int = 0
    apart: dict[object, set[int]] = field(default_factory=dict[object, set[int]])
    """How far from their places doubles are read, within a group, of each array and row."""


def permutes_groups(loop: Loop) -> bool:
    """Whether a loop stores groups of numbers that it computes from doubles in another order."""
    names = index_names(loop.body)
    groups: dict[tuple[str, int], _Group] = {}
    loads: dict[str, frozenset[Load]] = {}  # of the values that have names
    for stmt in loop.body:
        if isinstance(stmt, Let):
            loads[stmt.var.name] = _doubles(stmt, loads)
        elif isinstance(stmt, Store | Accumulate):
            place = substitute(stmt.index, names)
            step = _length(place, loop)
            if step > 2 and step != 4:
                group = groups.setdefault((stmt.buffer, step), _Group())
                group.count += 1
                for load in _doubles(stmt, loads):
                    _enter(group, load, substitute(load.index, names), place, loop)
    return any(
        group.count > 1 and any(len(places) > 1 for places in group.apart.values())
        for group in groups.values()
    )


def _length(place: Expr, loop: Loop) -> int:
    """The length of the groups of which each iteration has one."""
    return abs(step_of(place, loop.var) or 0)


def _enter(group: _Group, load: Load, read: Expr, place: Expr, loop: Loop) -> None:
    """Enter how far a number is read from the place of what is computed from it."""
    step = _length(place, loop)
    if _length(read, loop) == step:
        distance = added(polynomial(read), polynomial(place), -1)
        within = distance.pop((), 0) % step
        group.apart.setdefault((load.buffer, frozenset(distance.items())), set()).add(within)


def _doubles(stmt: Stmt, named: Mapping[str, frozenset[Load]]) -> frozenset[Load]:
    """The doubles that are loaded for a statement's values, those of their names as well."""
    names: list[str] = []
    loads: list[Load] = []
    for expr in expressions(stmt):
        collect(expr, names, loads)
    own = frozenset([load for load in loads if load.dtype is FLOAT64])
    return own.union(*[named[name] for name in names if name in named])
