"""Elements of arrays to which each step of a loop adds something, or of which it keeps the most.

For `independent`, as `totals.py` has it for numbers: an element that is the same in all steps is a
local number in the loop. Of other elements of the array that steps read, nobody knows whether they
are that one: it is asked before the loop, of the first and the last step's.

    repeat k in n:                           kernel(x; n, i, m)
      kernel(x; k, i, m)                       if n >= 1 and i > n - 1:
        x[i] += x[k]*2                           alloc sum = x[i]
                                                 for k in serial(n): sum += x[k]*2
                                                 x[i] = sum[0]
                                               else:
                                                 for k in serial(n): x[i] += x[k]*2
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.dtypes import DType
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    Var,
    binary,
    const,
    sub,
)
from symc.codegen.passes.expressions.conditions import both
from symc.codegen.passes.loops.dependence import accesses
from symc.codegen.passes.steps.totals import is_brief, with_sum
from symc.codegen.passes.walk import (
    Block,
    fresh,
    index_names,
    loads_of,
    names_in,
    nodes,
    own_names,
    rebuild,
    rebuild_statement,
    substitute,
    written,
)
from symc.codegen.record import record, replace
from symc.codegen.verify.polynomials import added, by, expression, polynomial

_ZERO = const(0)


def sums_of_elements(loop: Loop, taken: set[str]) -> Block | None:
    """The statements in place of a loop with such sums; None if there are none."""
    if not is_brief(loop.var, (), loop.body):
        return None
    places, loop = _with_places(loop, taken)
    names = index_names(loop.body)
    sums = _sums(loop, names, taken)
    if sums is None:
        return None
    body, found = sums
    adding = Loop(loop.var, loop.extent, "serial", body, loop.note)
    reached = accesses(adding)
    if not all(map(reached.has_one_place, reached.writes - {one.local for one in found})):
        return None
    apart: dict[Expr, None] = {}
    for load in [load for stmt in body for load in loads_of(stmt)]:
        for one in found:
            if one.buffer == load.buffer:
                condition = _apart(substitute(load.index, names), one.index, loop)
                if condition is None:
                    return None
                apart[condition] = None
    made: Block = (
        *(stmt for one in found for stmt in one.before()), adding, *(one.after() for one in found)
    )  # fmt: skip
    is_some = binary("ge", loop.extent, const(1))
    if not apart:
        return (If(is_some, (*places, *made), ()),)
    if places:  # no loop of a kernel reads what it writes where an array says
        return None
    one_by_one = own_names((replace(loop, kind="serial"),), taken)
    return (If(both([is_some, *apart]), made, one_by_one),)


def _with_places(loop: Loop, taken: set[str]) -> tuple[list[Let], Loop]:
    """The loop with names for fixed places that follow from elements of arrays."""
    names, places = index_names(loop.body), dict[Expr, Var]()
    for stmt in loop.body:
        if isinstance(stmt, Store | Accumulate):
            index = substitute(stmt.index, names)
            if any(isinstance(node, Load) for node in nodes(index)) and _is_fixed(index, loop):
                places.setdefault(index, Var(fresh("place", taken)))
    if not places:
        return [], loop

    def named(index: Expr) -> Expr:
        return places.get(substitute(index, names), index)

    def visit(expr: Expr) -> Expr:
        new = rebuild(expr, visit)
        return Load(new.buffer, named(new.index), new.dtype) if isinstance(new, Load) else new

    body = [rebuild_statement(stmt, visit, lambda block: block) for stmt in loop.body]
    moved = [
        replace(stmt, index=named(stmt.index)) if isinstance(stmt, Store | Accumulate) else stmt
        for stmt in body
    ]
    lets = [Let(var, index) for index, var in places.items()]
    return lets, replace(loop, body=tuple(moved))


@record
class _ElementSum:
    """An element that is a local number in the loop."""

    buffer: str
    index: Expr
    """In names from before the loop."""
    local: str
    dtype: DType

    def before(self) -> tuple[Stmt, ...]:
        """What the number is first."""
        given = Load(self.buffer, self.index, self.dtype)
        return Alloc(Buffer(self.local, self.dtype, (), "local")), Store(self.local, _ZERO, given)

    def after(self) -> Stmt:
        """The element in the end."""
        return Store(self.buffer, self.index, Load(self.local, _ZERO, self.dtype))


def _sums(
    loop: Loop, names: Mapping[str, Expr], taken: set[str]
) -> tuple[Block, list[_ElementSum]] | None:
    """The steps with all sums of elements in local numbers; None if there are none.

    An array with such an element is written nowhere else.
    """
    body, found = loop.body, list[_ElementSum]()
    for stmt in loop.body:
        if not isinstance(stmt, Store | Accumulate):
            continue
        index, dtype = substitute(stmt.index, names), stmt.value.dtype
        if dtype.kind not in ("int", "uint", "float") or dtype.is_only_stored:
            continue
        if not _is_fixed(index, loop) or not _is_apart_from(stmt.buffer, index, found):
            continue
        name = fresh(f"{stmt.buffer}_sum", taken)
        one = _ElementSum(stmt.buffer, index, name, dtype)
        changed = with_sum(_as_number(body, one, names), name, name)
        if changed is not None:
            body = changed
            found.append(one)
    if not found or any(one.buffer in written(body) for one in found):
        return None
    return body, found


def _is_fixed(index: Expr, loop: Loop) -> bool:
    """Whether an index is the same in all steps, and known before them."""
    changed = written(loop.body)
    if any(isinstance(node, Load) and node.buffer in changed for node in nodes(index)):
        return False
    inner = {stmt.var.name for stmt in loop.body if isinstance(stmt, Let)} | {loop.var.name}
    return inner.isdisjoint(names_in(index))


def _is_apart_from(buffer: str, index: Expr, found: list[_ElementSum]) -> bool:
    """Whether an element is surely none of those that are sums already."""
    for one in found:
        if one.buffer == buffer:
            far = added(polynomial(index), polynomial(one.index), -1)
            if far.keys() != {()}:
                return False
    return True


def _as_number(body: Block, one: _ElementSum, names: Mapping[str, Expr]) -> Block:
    """The body with an element as the local number."""
    wanted = polynomial(one.index)

    def is_it(buffer: str, index: Expr) -> bool:
        return buffer == one.buffer and polynomial(substitute(index, names)) == wanted

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Load) and is_it(expr.buffer, expr.index):
            return Load(one.local, _ZERO, expr.dtype)
        return rebuild(expr, visit)

    made: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Store | Accumulate) and is_it(stmt.buffer, stmt.index):
            value = visit(stmt.value)
            if isinstance(stmt, Accumulate):
                value = binary(stmt.op, Load(one.local, _ZERO, one.dtype), value)
            made.append(Store(one.local, _ZERO, value))
        else:
            made.append(rebuild_statement(stmt, visit, lambda block: block))
    return tuple(made)


def _apart(index: Expr, place: Expr, loop: Loop) -> Expr | None:
    """The condition that an element which steps read is not that at a place; None if unknown."""
    if any(isinstance(node, Load) for node in nodes(index)):
        return None
    moved, far = by(polynomial(index), loop.var), added(polynomial(place), polynomial(index), -1)
    if moved is None or not far:
        return None
    first, last = (
        expression(polynomial(substitute(expression(far), {loop.var.name: step})))
        for step in (_ZERO, sub(loop.extent, const(1)))
    )
    if not moved[0]:
        return binary("ne", first, _ZERO)
    if moved[0].keys() == {()}:
        low, high = (last, first) if moved[0][()] > 0 else (first, last)
    else:
        low, high = binary("min", first, last), binary("max", first, last)
    return binary("or", binary("gt", low, _ZERO), binary("lt", high, _ZERO))
