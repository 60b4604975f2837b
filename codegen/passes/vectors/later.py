"""Loops in place: an iteration reads elements that only later ones write.

    for i in serial(n): v[i] = 0.5*(v[i + 1] + v[i])

In vector registers these are read before any of them is written, as one after the other: so a
serial loop may run there, though not on threads. All that is needed is that an iteration reads
before it writes, and that what it reads is its own element, one further on, or none that the loop
writes. Where numbers decide that, it is asked before the loop, and what was asked is written into
the index, so that whoever looks at the loop alone sees it (`is_later`):

    far = -w[k]
    if far >= 0 or far <= -n:
      place = select(far >= 0, max(far, 0), min(far, -n))
      for i in serial(n): v[i] = v[i] + v[i + place]
    else:
      for i in serial(n): v[i] = v[i] + v[i + far]
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Accumulate,
    Binary,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Select,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
    sub,
)
from symc.codegen.passes.expressions.conditions import both
from symc.codegen.passes.expressions.inline import weight
from symc.codegen.passes.vectors.vectorize import has_vector_form
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
)
from symc.codegen.record import record, replace
from symc.codegen.verify.polynomials import Polynomial, added, by, expression, polynomial

ASKED = 4  # distances that are asked before a loop
LONG = 128  # operations of a body that is not written twice
_ZERO = const(0)


def reads_later(loop: Loop, names: Mapping[str, Expr]) -> bool:
    """Whether iterations of a serial loop may run side by side if all read before any writes.

    `names` are integers from before the loop, written out.
    """
    found = _in_place(loop, names)
    return (
        found is not None
        and any(far for _, far in found.far)
        and all(_is_later(far, found.slope, loop.extent, names) for _, far in found.far)
    )


def read_later(loop: Loop, taken: set[str]) -> Block | None:
    """The statements in place of a loop whose steps read so; None for another one."""
    found = _in_place(loop, {})
    if found is None:
        return None
    serial = replace(loop, kind="serial")
    asked: dict[Expr, list[Load]] = {}
    for load, far in found.far:
        if not _is_later(far, found.slope, loop.extent, {}):
            if not far.keys() - {()}:
                return None
            asked.setdefault(expression(far), []).append(load)
    if not asked:
        return (serial,)
    if len(asked) > ASKED or sum(map(weight, loop.body)) > LONG:
        return None
    before, conditions, places = list[Let](), list[Expr](), dict[Load, Expr]()
    span = mul(loop.extent, const(abs(found.slope)))
    inside = list[Let]()
    for distance, loads in asked.items():
        far_var = Var(fresh("far", taken))
        before.append(Let(far_var, distance))
        place = _sure(far_var, span, is_up=found.slope > 0)
        conditions.append(_holds(far_var, span, is_up=found.slope > 0))
        inside.append(Let(Var(fresh("place", taken)), place))
        for load in loads:  # which may stand before the names that its own element's index has
            own = substitute(found.own[load.buffer], index_names(loop.body))
            places[load] = add(own, inside[-1].var)

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr in places:
            return Load(expr.buffer, places[expr], expr.dtype)
        return rebuild(expr, visit)

    body = tuple([rebuild_statement(stmt, visit, lambda block: block) for stmt in loop.body])
    together = replace(serial, body=body)
    return (*before, If(both(conditions), (*inside, together), own_names((serial,), taken)))


@record
class _InPlace:
    """What a loop does with the buffers that it writes."""

    slope: int
    """How far the elements that are written move in an iteration."""
    own: dict[str, Expr]
    """The element of each buffer that an iteration writes."""
    far: list[tuple[Load, Polynomial]]
    """What is read, and how far from its own element."""


def _in_place(loop: Loop, names: Mapping[str, Expr]) -> _InPlace | None:
    """What a loop does with the buffers that it writes, if it reads of each before it writes."""
    if loop.kind not in ("serial", "parallel") or not all(
        isinstance(stmt, Let | Store | Accumulate) for stmt in loop.body
    ):
        return None
    known = {**names, **index_names(loop.body)}
    writes = [stmt for stmt in loop.body if isinstance(stmt, Store | Accumulate)]
    own = {stmt.buffer: stmt.index for stmt in writes}
    if len(own) < len(writes) or not has_vector_form(loop.body):
        return None
    if any(isinstance(n, Load) for at in own.values() for n in nodes(substitute(at, known))):
        return None  # whoever writes where an array says must have read before
    changes = {stmt.var.name for stmt in loop.body if isinstance(stmt, Let)} | {loop.var.name}
    changes -= index_names(loop.body).keys() - {loop.var.name}
    slopes: set[int | None] = set()
    places: dict[str, Polynomial] = {}
    for buffer, index in own.items():
        places[buffer] = polynomial(substitute(index, known))
        slopes.add(_slope(places[buffer], loop, own, changes))
    found = list[tuple[Load, Polynomial]]()
    done = set[str]()
    for stmt in loop.body:
        for load in loads_of(stmt):
            if load.buffer in own:
                place = polynomial(substitute(load.index, known))
                slopes.add(_slope(place, loop, own, changes))
                far = added(place, places[load.buffer], -1)
                if far and load.buffer in done:
                    return None
                found.append((load, far))
        if isinstance(stmt, Store | Accumulate):
            done.add(stmt.buffer)
    if len(slopes) != 1:
        return None
    (slope,) = slopes
    return _InPlace(slope, own, found) if slope else None


def _slope(place: Polynomial, loop: Loop, own: Mapping[str, Expr], changes: set[str]) -> int | None:
    """How far a place moves in an iteration; None if nothing tells, or what is written decides."""
    moved = by(place, loop.var)
    if moved is None or moved[0].keys() - {()}:
        return None
    for monomial in moved[1]:
        for atom in monomial:
            if not changes.isdisjoint(names_in(atom)):
                return None
            if any(isinstance(node, Load) and node.buffer in own for node in nodes(atom)):
                return None
    return moved[0].get((), 0)


def _is_later(far: Polynomial, slope: int, extent: Expr, names: Mapping[str, Expr]) -> bool:
    """Whether an element so far from that of an iteration is written by none before it."""
    if not far.keys() - {()}:
        distance = far.get((), 0)
        return distance % slope != 0 or distance // slope >= 0
    match list(far.items()):
        case [((Select(Binary(_, var, _)) as place,), 1)]:
            span = substitute(mul(extent, const(abs(slope))), names)
            return place == _sure(var, span, is_up=slope > 0)
        case _:
            return False


def _sure(far: Expr, span: Expr, *, is_up: bool) -> Select:
    """A distance that is surely that of a later element, or of one that the loop does not write.

    It is `far` where `_holds`.
    """
    below = sub(_ZERO, span)
    if is_up:
        later, beyond = binary("max", far, _ZERO), binary("min", far, below)
        return Select(binary("ge", far, _ZERO), later, beyond, INT64)
    later, beyond = binary("min", far, _ZERO), binary("max", far, span)
    return Select(binary("le", far, _ZERO), later, beyond, INT64)


def _holds(far: Expr, span: Expr, *, is_up: bool) -> Expr:
    """The condition that a distance is one of those."""
    if is_up:
        one, other = binary("ge", far, _ZERO), binary("le", far, sub(_ZERO, span))
    else:
        one, other = binary("le", far, _ZERO), binary("ge", far, span)
    return binary("or", one, other)
