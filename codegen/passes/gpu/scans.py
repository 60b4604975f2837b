"""Running values along a row, by a team: ``acc op= x[i]; y[i] = acc`` for each i in order.

A team takes as many elements at a time as it has threads. Each thread gets the value of its own
element combined with those before it (`Combine` with reach "before"), and the combined value of all
elements that were taken before is carried on in a scalar that all threads have::

    carry = acc
    for i in round(n):
        part = identity
        if i < n: part = x[i]
        total = part
        combine part add before
        combine total add
        acc = carry + part
        if i < n: y[i] = acc
        carry = carry + total
    acc = carry
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Buffer,
    Combine,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    binary,
    const,
)
from symc.codegen.passes.loops.dependence import accesses
from symc.codegen.passes.vectors.reductions import SCANNED, identity
from symc.codegen.passes.walk import Block, fresh, loads_of, substitute
from symc.codegen.record import record


@record
class RunningLoop:
    """A serial loop with a running value: the statements before the update, the update, those
    after.

    Neither part uses a name of the other.
    """

    loop: Loop
    before: Block
    update: Accumulate
    after: Block


def scan_of(loop: Loop, scalars: AbstractSet[str]) -> RunningLoop | None:
    """The parts of a loop with a running value in one of some scalars, or None."""
    if not all(isinstance(stmt, Let | Store | Accumulate) for stmt in loop.body):
        return None
    places = [n for n, stmt in enumerate(loop.body) if isinstance(stmt, Accumulate)]
    if len(places) != 1:
        return None
    update = loop.body[places[0]]
    before, after = loop.body[: places[0]], loop.body[places[0] + 1 :]
    assert isinstance(update, Accumulate)
    running = update.buffer
    dtype = update.value.dtype
    if running not in scalars or update.op not in SCANNED:
        return None
    if dtype is BOOL or dtype.is_only_stored:
        return None
    if update.op == "mul" and update.value.dtype.is_float:
        return None  # 0 times a later element that overflows is NaN
    if not all(isinstance(stmt, Let) for stmt in before):
        return None
    if any(load.buffer == running for stmt in (*before, update) for load in loads_of(stmt)):
        return None
    found = accesses(loop)
    stored = {stmt.buffer for stmt in after if isinstance(stmt, Store)}
    if not stored or stored & scalars or not all(map(found.has_one_place, stored)):
        return None
    if found.reads & stored:  # an element that an earlier iteration has written
        return None
    return RunningLoop(loop, before, update, _apart(before, after))


def _apart(before: Block, after: Block) -> Block:
    """The statements after the update, with the names bound before it written out."""
    values: dict[str, Expr] = {}
    for stmt in before:
        assert isinstance(stmt, Let)
        values[stmt.var.name] = substitute(stmt.value, values)
    out: list[Stmt] = []
    for stmt in after:
        match stmt:
            case Let(var, value):
                out.append(Let(var, substitute(value, values)))
            case Store(buffer, index, value):
                out.append(Store(buffer, substitute(index, values), substitute(value, values)))
            case _:
                raise AssertionError(f"{stmt} after a running value")
    return tuple(out)


def in_rounds(scan: RunningLoop, taken: set[str]) -> Block:
    """The loop for a team, as the module says. `taken` are the names of the kernel."""
    loop, update = scan.loop, scan.update
    dtype, op = update.value.dtype, update.op
    carry, part, total = (
        Buffer(fresh(f"{update.buffer}_{name}", taken), dtype, (), "local")
        for name in ("carry", "part", "total")
    )

    def at(buffer: str) -> Expr:
        return Load(buffer, const(0), dtype)

    def put(buffer: str, value: Expr) -> Store:
        return Store(buffer, const(0), value)

    inside = binary("lt", loop.var, loop.extent)
    combined = Binary(op, at(carry.name), at(part.name), dtype)
    carried = Binary(op, at(carry.name), at(total.name), dtype)
    body: Block = (
        Alloc(part),
        put(part.name, identity(op, dtype)),
        If(inside, (*scan.before, put(part.name, update.value))),
        Alloc(total),
        put(total.name, at(part.name)),
        Combine(part.name, op, dtype, "before"),
        Combine(total.name, op, dtype),
        put(update.buffer, combined),
        If(inside, scan.after),
        put(carry.name, carried),
    )
    return (
        Alloc(carry),
        put(carry.name, at(update.buffer)),
        Loop(loop.var, loop.extent, "round", body, loop.note, loop.cut),
        put(update.buffer, at(carry.name)),
    )
