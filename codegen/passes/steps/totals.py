"""Numbers to which each step of a loop adds something, or of which it keeps the most.

For `independent`:

    repeat step in n:                        kernel(total, x; n)
        kernel(total, x; step)                 alloc acc = total[0]
          let sum = total[0] + x[step]         for step in serial(n):
          total[0] = sum                         acc += x[step]
                                               total[0] = acc[0]

Of integers the most, or the least, may also be chosen: ``c and v > most ? v : most``. Sums are
taken in any order, as all others are: by vectors, and by several numbers at a time. So the steps do
not wait for each other. Nobody asks between them whether to stop: so they are few
operations each, and no more of them than an array has elements, as each reads another one. Nothing
is gathered, for which a vector takes longer than a short loop, as those over the elements of a
sparse matrix's rows are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Accumulate,
    AccumulateOp,
    Alloc,
    Binary,
    Buffer,
    Call,
    Const,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Param,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    const,
)
from symc.codegen.passes.expressions.conditions import both, conjuncts
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.vectors.reductions import identity
from symc.codegen.passes.walk import (
    Block,
    expressions,
    fresh,
    index_names,
    loads_of,
    names_in,
    nodes,
    rebuild,
    substitute,
    written,
)
from symc.codegen.record import record
from symc.codegen.verify.polynomials import by, polynomial

MOST = 16  # operations of a step

_ZERO = const(0)


@record
class Totals:
    """The statements of a step that add to local numbers, and those before and after the loop."""

    before: Block
    body: Block
    after: Block
    names: frozenset[str]
    """The local numbers."""


def totals(
    counter: Var, inside: Sequence[Stmt], body: Block, numbers: Iterable[Param], taken: set[str]
) -> Totals | None:
    """A step with its sums in local numbers; None if there are none, or all may take long.

    `inside` has names of the step's sizes, `numbers` are buffers of one element.
    """
    if not is_brief(counter, inside, body):
        return None
    before: list[Stmt] = []
    after: list[Stmt] = []
    names: set[str] = set()
    for number in numbers:
        if not number.written or number.dtype.kind not in ("int", "uint", "float"):
            continue
        name = fresh(f"{number.name}_total", taken)
        changed = with_sum(body, number.name, name)
        if changed is not None:
            body = changed
            before.append(Alloc(Buffer(name, number.dtype, (), "local")))
            before.append(Store(name, _ZERO, Load(number.name, _ZERO, number.dtype)))
            after.append(Store(number.name, _ZERO, Load(name, _ZERO, number.dtype)))
            names.add(name)
    return Totals(tuple(before), body, tuple(after), frozenset(names)) if names else None


def is_brief(counter: Var, inside: Sequence[Stmt], body: Block) -> bool:
    """Whether a step is few operations, and reads an element of an array that no other reads."""
    if any(isinstance(stmt, Loop | If) for stmt in body):
        return False
    exprs = [expr for stmt in body for expr in expressions(stmt)]
    if any(isinstance(node, Call) for expr in exprs for node in nodes(expr)):
        return False
    lets = index_names((*inside, *body))
    places = [substitute(load.index, lets) for stmt in body for load in loads_of(stmt)]
    if any(isinstance(node, Load) for place in places for node in nodes(place)):
        return False
    moves = [by(polynomial(place), counter) for place in places]
    if not any(split is not None and split[0] for split in moves):
        return False
    return sum(map(operations, exprs)) + len(body) <= MOST


def with_sum(body: Block, number: str, name: str) -> Block | None:
    """The body with a sum or an extreme in another place, if it does nothing else with it."""
    stores = [stmt for stmt in body if number in written((stmt,))]
    store = stores[0] if len(stores) == 1 else None
    if not isinstance(store, Store):
        return None
    lets = {stmt.var.name: stmt.value for stmt in body if isinstance(stmt, Let)}
    update = _update(_written_out(store.value, lets), number)
    if update is None or _reads(update.term, number):
        return None
    kept: list[Stmt] = []
    needed: set[str] = set()
    for stmt in reversed(body):
        if stmt is store:
            kept.append(Accumulate(name, _ZERO, update.op, update.term))
            continue
        if isinstance(stmt, Let) and stmt.var.name not in needed:
            continue
        if any(_reads(expr, number) for expr in expressions(stmt)):
            return None
        needed = needed.union(*map(names_in, expressions(stmt)))
        kept.append(stmt)
    return tuple(reversed(kept))


def _written_out(expr: Expr, lets: Mapping[str, Expr]) -> Expr:
    """An expression without the names that a step gives to parts of it."""
    if isinstance(expr, Var) and expr.name in lets:
        return _written_out(lets[expr.name], lets)
    return rebuild(expr, lambda part: _written_out(part, lets))


def _reads(expr: Expr, number: str) -> bool:
    return any(isinstance(node, Load) and node.buffer == number for node in nodes(expr))


@record
class _Update:
    """What a step does to a number, whatever that is."""

    op: AccumulateOp
    term: Expr


def _update(value: Expr, number: str) -> _Update | None:
    """The update after which a number has a value; None if it is none of these."""
    match value:
        case Binary("add" | "max" | "min" as op, Load(buffer), term) if buffer == number:
            return _Update(op, term)
        case Binary("add" | "max" | "min" as op, term, Load(buffer)) if buffer == number:
            return _Update(op, term)
        case Binary("sub", Load(buffer), Const(c, dtype)) if buffer == number:
            return _Update("add", Const(-c, dtype))
        case Binary("sub", Load(buffer), term, dtype) if buffer == number:
            return _Update("add", Unary("neg", term, dtype))
        case Select(condition, term, Load(buffer)) if buffer == number:
            return _extreme(condition, term, number)
        case _:
            return None


def _extreme(condition: Expr, term: Expr, number: str) -> _Update | None:
    """The update of ``c and term > number ? term : number``; of integers, as no NaN is compared."""
    if term.dtype is not INT64:
        return None
    every = conjuncts(condition)
    for comparison in every:
        match comparison:
            case Binary("gt" | "ge" | "lt" | "le" as op, left, right) if left == term:
                is_greater, other = op in ("gt", "ge"), right
            case Binary("gt" | "ge" | "lt" | "le" as op, left, right) if right == term:
                is_greater, other = op in ("lt", "le"), left
            case _:
                continue
        if isinstance(other, Load) and other.buffer == number:
            kind: AccumulateOp = "max" if is_greater else "min"
            others = [one for one in every if one is not comparison]
            if others:
                term = Select(both(others), term, identity(kind, INT64), INT64)
            return _Update(kind, term)
    return None
