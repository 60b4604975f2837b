"""Numbers to which each step of a loop adds something, for `independent`.

    repeat step in n:                        kernel(total, x; n)
        kernel(total, x; step)                 alloc acc = total[0]
          let sum = total[0] + x[step]         for step in serial(n):
          total[0] = sum                         acc += x[step]
                                               total[0] = acc[0]

Sums are taken in any order, as all others are: by vectors, and by several numbers at a time. So the
steps do not wait for each other. Nobody asks between them whether to stop: so they are few
operations each, and no more of them than an array has elements, as each reads another one. Nothing
is gathered, for which a vector takes longer than a short loop, as those over the elements of a
sparse matrix's rows are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symc.codegen.ir import (
    Accumulate,
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
    Stmt,
    Store,
    Unary,
    Var,
    const,
)
from symc.codegen.passes.inline import operations
from symc.codegen.passes.walk import (
    Block,
    expressions,
    fresh,
    index_names,
    loads_of,
    names_in,
    nodes,
    statements,
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
    if not _is_brief(counter, inside, body):
        return None
    before: list[Stmt] = []
    after: list[Stmt] = []
    names: set[str] = set()
    for number in numbers:
        if not number.written or number.dtype.kind not in ("int", "uint", "float"):
            continue
        name = fresh(f"{number.name}_total", taken)
        changed = _adding(body, number.name, name)
        if changed is not None:
            body = changed
            before.append(Alloc(Buffer(name, number.dtype, (), "local")))
            before.append(Store(name, _ZERO, Load(number.name, _ZERO, number.dtype)))
            after.append(Store(number.name, _ZERO, Load(name, _ZERO, number.dtype)))
            names.add(name)
    return Totals(tuple(before), body, tuple(after), frozenset(names)) if names else None


def _is_brief(counter: Var, inside: Sequence[Stmt], body: Block) -> bool:
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


def _adding(body: Block, number: str, name: str) -> Block | None:
    """The body with the sum in another place, if it does nothing else with the number."""
    stores = [stmt for stmt in body if number in written((stmt,))]
    loads = [load for stmt in statements(body) for load in loads_of(stmt) if load.buffer == number]
    store = stores[0] if len(stores) == 1 else None
    if not isinstance(store, Store) or len(loads) != 1:
        return None
    named: Let | None = None
    value: Expr = store.value
    if isinstance(value, Var):
        named = next((s for s in body if isinstance(s, Let) and s.var == value), None)
        uses = [s for s in body if any(value.name in names_in(expr) for expr in expressions(s))]
        if named is None or uses != [store]:
            return None
        value = named.value
    term = _term(value, number)
    if term is None:
        return None
    kept = [stmt for stmt in body if stmt is not named]
    return tuple([Accumulate(name, _ZERO, "add", term) if stmt is store else stmt for stmt in kept])


def _term(value: Expr, number: str) -> Expr | None:
    """What is added to a number."""
    match value:
        case Binary("add", Load(buffer), term) if buffer == number:
            return term
        case Binary("add", term, Load(buffer)) if buffer == number:
            return term
        case Binary("sub", Load(buffer), Const(c, dtype)) if buffer == number:
            return Const(-c, dtype)
        case Binary("sub", Load(buffer), term, dtype) if buffer == number:
            return Unary("neg", term, dtype)
        case _:
            return None
