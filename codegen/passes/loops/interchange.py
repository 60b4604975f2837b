"""interchange: parallel loops go in the order in which what they store lies in memory.

A loop whose steps set a column each reads and writes a cache line for each element, and fills no
vector register. Its steps are independent, so the loop over the rows may be the outer one:

    for j in parallel(m):                      for i in parallel(n):
      for i in parallel(n):                      for j in parallel(m):
        out[i*m + j] = x[i*m + j] + 1              out[i*m + j] = x[i*m + j] + 1

Of the loops around the innermost, the first, which threads share out, stays where it is. Where an
order would compute something long more often, as it needs fewer of the loops, nothing is changed.
Only what a user writes as a loop has such orders: `independent` asks for this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import is_not

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Call,
    Const,
    Expr,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    Var,
)
from symc.codegen.math import OPERATOR_COSTS
from symc.codegen.passes.loops.nest import LoopNest, nest_of
from symc.codegen.passes.walk import (
    Block,
    expressions,
    index_names,
    parts,
    rebuild_statement,
    statements,
    substitute,
)
from symc.codegen.record import record
from symc.codegen.verify.polynomials import by, polynomial

SHORT = 16  # iterations: what so few of them touch lies close together in any order
LONG = 4  # the cost of an operator that is not to be repeated


def interchanged(block: Block) -> Block:
    """The block with the nests in it in a better order."""
    return tuple([_statement(stmt) for stmt in block])


def _statement(stmt: Stmt) -> Stmt:
    nest = nest_of(stmt) if isinstance(stmt, Loop) and stmt.kind == "parallel" else None
    if nest is None or len(nest.loops) < 2:
        return rebuild_statement(stmt, lambda expr: expr, interchanged)
    order = _order(nest)
    return stmt if order is None else nest.ordered(order)


def _order(nest: LoopNest) -> list[Loop] | None:
    """The loops in the order of memory; None if they have it, or it would repeat something."""
    strides = _strides(nest)
    if not strides:
        return None
    rest = [loop for loop in nest.loops if not _is_short(loop)]
    innermost = [
        loop for loop in rest if all(_wider(o, loop, strides) for o in rest if o is not loop)
    ]
    if _is_short(nest.loops[-1]) or not innermost:
        return None
    around = [loop for loop in nest.loops if loop is not innermost[0]]
    order = [around[0], *_sorted(around[1:], strides), innermost[0]]
    is_new = any(map(is_not, order, nest.loops))
    return order if is_new and not _repeats(nest, order) else None


def _is_short(loop: Loop) -> bool:
    return isinstance(loop.extent, Const) and loop.extent.value <= SHORT


def _sorted(loops: Sequence[Loop], strides: Sequence[Mapping[str, Stride]]) -> list[Loop]:
    """The loops, wider ones before narrower ones; those that cannot be compared stay."""
    found = list(loops)
    for end in range(len(found), 1, -1):
        for k in range(end - 1):
            if _wider(found[k + 1], found[k], strides):
                found[k], found[k + 1] = found[k + 1], found[k]
    return found


# --- strides --------------------------------------------------------------------------------------


@record
class Stride:
    """How far from each other two iterations store: a product of lengths, and a number."""

    lengths: tuple[Expr, ...]
    times: int


def _strides(nest: LoopNest) -> list[dict[str, Stride]]:
    """For each store to memory the strides of all loops; none at all if one has another form."""
    values = index_names((*nest.lets, *statements(nest.body)))
    local = {stmt.buffer.name for stmt in statements(nest.body) if isinstance(stmt, Alloc)}
    found: list[dict[str, Stride]] = []
    for stmt in statements(nest.body):
        if isinstance(stmt, Store | Accumulate) and stmt.buffer not in local:
            place = polynomial(substitute(stmt.index, values))
            strides: dict[str, Stride] = {}
            for loop in nest.loops:
                split = by(place, loop.var)
                if split is None or len(split[0]) != 1:
                    return []
                ((lengths, times),) = split[0].items()
                strides[loop.var.name] = Stride(lengths, abs(times))
            found.append(strides)
    return found


def _wider(one: Loop, other: Loop, strides: Sequence[Mapping[str, Stride]]) -> bool:
    """Whether the iterations of a loop lie further apart than another's in all stores."""
    return all(_is_wider(each[one.var.name], each[other.var.name]) for each in strides)


def _is_wider(one: Stride, other: Stride) -> bool:
    """Whether a stride is a multiple of another one, if lengths count more than numbers."""
    more, less = Counter(one.lengths), Counter(other.lengths)
    return less < more or (less == more and one.times > other.times)


# --- what would be computed again -----------------------------------------------------------------


def _repeats(nest: LoopNest, order: Sequence[Loop]) -> bool:
    """Whether something long would be computed more often in another order of the loops."""
    return any(not _around(order, needed) <= _around(nest.loops, needed) for needed in _long(nest))


def _around(order: Sequence[Loop], needed: frozenset[str]) -> frozenset[str]:
    """The variables of the loops around an expression that stands as far out as it can."""
    depth = max((n for n, loop in enumerate(order, 1) if loop.var.name in needed), default=0)
    return frozenset([loop.var.name for loop in order[:depth]])


def _long(nest: LoopNest) -> Iterator[frozenset[str]]:
    """For each long operation in a nest the variables of the loops that it needs."""
    every = frozenset([loop.var.name for loop in nest.loops])
    needs: dict[str, frozenset[str]] = {name: frozenset([name]) for name in every}
    local = {stmt.buffer.name for stmt in statements(nest.body) if isinstance(stmt, Alloc)}

    def needed(expr: Expr) -> frozenset[str]:
        if isinstance(expr, Load) and expr.buffer in local:
            return every
        own = needs.get(expr.name, frozenset[str]()) if isinstance(expr, Var) else frozenset[str]()
        return own.union(*map(needed, parts(expr)))

    def long_in(expr: Expr) -> Iterator[frozenset[str]]:
        operator = OPERATOR_COSTS.get(expr.op, 1) if isinstance(expr, Binary) else 1
        if isinstance(expr, Call) or operator >= LONG:
            yield needed(expr)
        for part in parts(expr):
            yield from long_in(part)

    for stmt in (*nest.lets, *statements(nest.body)):
        for expr in expressions(stmt):
            yield from long_in(expr)
        if isinstance(stmt, Let):
            needs[stmt.var.name] = needed(stmt.value)
