"""fours: exponentials are added up four at a time before their sum is widened.

Sums of float32 are made in float64, into which half a register's lanes fit: to widen each term and
to add it up takes more instructions than a pass over a row has otherwise. Powers e^x with x <= 0
are up to an ulp off themselves, so a sum of four of them in float32 is nearly as exact as they are,
and is widened as one number. The lanes of the sum stand in an array: a reduction's end one after
the other, each waiting for the one before, and the next step waits for the sum.

    for j in vector(n): out[j] = exp_nonpositive(x[j] - most)
    for j in vector(n): acc += float64(out[j])

    alloc lanes: float64[16]
    for lane in vector(16): lanes[lane] = 0
    for four in serial(n // 64):
      for lane in vector(16):
        let j = four*64 + lane
        let e = exp_nonpositive(x[j] - most)
        out[j] = e
        let e_2 = exp_nonpositive(x[j + 16] - most)
        ...
        lanes[lane] += float64((e + e_2) + (e_3 + e_4))
    for one in serial(n % 64 // 16): for lane in vector(16): ... lanes[lane] += float64(e)
    if n < 16: for lane in serial(n): ... lanes[lane] += float64(e)
    elif n % 16 > 0: the last 16 of the row, of which those that were added before are left out
    acc += the sum of lanes

How exact that is. No term is negative, so a sum is off by at most what the worst of its parts is,
in proportion. A term goes through two additions in float32, each off by at most 2^-24 of its
result; after that, errors are those of float64. So the sum is at most 2^-23 = 1.2e-7 off, an ulp of
float32, before it is rounded. Where one sum of four is most of all that bound is near: 9e-8 was the
largest error, against `math.fsum`, of 64 to 1000 exponentials of normal numbers times 3, and 3e-8
the root of the mean square. Errors of either sign meet in longer sums, 4e-8 for 10^5 terms, 1e-9
for 10^6 and 10^7. Equal terms make none, as doubling is exact. Sums of all terms in float32, one
for each lane, would be off by 9e-7 for 1000 equal terms, and by 1e-3 for 10^7. Where terms have
both signs this would not do: what cancels leaves the errors of the partial sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symc.codegen.dtypes import FLOAT32, FLOAT64, INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Call,
    Cast,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
    sub,
)
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    loads_of,
    map_kernels,
    rebuild_statement,
    statements,
    substitute,
    written,
)
from symc.codegen.record import record

ROUNDED = frozenset(["exp_nonpositive"])
"""Functions with results from 0 to 1 that are up to an ulp off."""
LANES = 16  # elements of the widest registers
FOUR = 4  # terms that are added in float32
_STEP = FOUR * LANES
_ZERO = const(0)


def fours(program: Program) -> Program:
    """The program with such sums made of sums of four."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    every = list(statements(kernel.body))
    if not any(_is_widened(stmt) for stmt in every):
        return kernel.body
    scalars = frozenset(
        stmt.buffer.name for stmt in every if isinstance(stmt, Alloc) and not stmt.buffer.shape
    )
    taken = bound(kernel)

    def block(body: Block) -> Block:
        found: list[Stmt] = []
        for stmt in body:
            one = _sum_of(stmt, found, scalars) if isinstance(stmt, Loop) else None
            if one is None:
                found.append(rebuild_statement(stmt, lambda expr: expr, block))
                continue
            if one.computed is not None:
                found.pop(one.computed)
            found += _Fours(one, taken).statements()
        return tuple(found)

    return block(kernel.body)


# --- which sums -----------------------------------------------------------------------------------


@record
class _PowerSum:
    """A loop that adds up exponentials, and whatever else it computes and stores of each."""

    loop: Loop
    acc: str
    term: Expr
    before: tuple[Stmt, ...]
    """The statements of an iteration but for the addition, for a term that `term` names."""
    computed: int | None = None
    """Where the loop stands that has stored the terms, which is part of this one then."""


def _is_widened(stmt: Stmt) -> bool:
    """Whether a number of float32 is added to a sum in float64."""
    match stmt:
        case Accumulate(op="add", value=Cast(x, wide)):
            return wide is FLOAT64 and x.dtype is FLOAT32
        case _:
            return False


def _sum_of(loop: Loop, done: Sequence[Stmt], scalars: frozenset[str]) -> _PowerSum | None:
    """The sum that a loop makes, of what it computes, or a loop among those that are `done`."""
    *before, last = loop.body
    if loop.kind != "vector" or not isinstance(last, Accumulate) or not _is_widened(last):
        return None
    extent, value = loop.extent, last.value
    if last.buffer not in scalars or not isinstance(value, Cast):
        return None
    if isinstance(extent, Const) and extent.value < _STEP:
        return None
    if not before and isinstance(value.x, Load):
        return _stored(loop, last.buffer, value.x, done)
    if not all(map(_computes, before)) or not _is_rounded(value.x, before):
        return None
    return _PowerSum(loop, last.buffer, value.x, tuple(before))


def _stored(loop: Loop, acc: str, load: Load, done: Sequence[Stmt]) -> _PowerSum | None:
    """The sum of what the loop before has stored: nothing but `acc` is written after that."""
    at = len(done) - 1
    while at >= 0 and _declares(done[at], acc):
        at -= 1
    first = done[at] if at >= 0 else None
    if not isinstance(first, Loop) or first.kind != "vector" or first.extent != loop.extent:
        return None
    index = substitute(load.index, {loop.var.name: first.var})
    *others, last = first.body
    match last:
        case Store(load.buffer, place, value) if place == index and _is_rounded(value, others):
            if all(map(_computes, others)):
                joined = Loop(first.var, first.extent, first.kind, first.body, _notes(first, loop))
                return _PowerSum(joined, acc, load, first.body, at)
        case _:
            pass
    return None


def _notes(*loops: Loop) -> str:
    return "\n".join(dict.fromkeys(filter(None, [loop.note for loop in loops])))


def _declares(stmt: Stmt, acc: str) -> bool:
    """Whether a statement gives the sum its first value, or declares something."""
    if isinstance(stmt, Store):
        return stmt.buffer == acc and isinstance(stmt.value, Const)
    return isinstance(stmt, Alloc) and (stmt.value is None or isinstance(stmt.value, Const))


def _computes(stmt: Stmt) -> bool:
    return isinstance(stmt, Let | Store)


def _is_rounded(term: Expr, before: Sequence[Stmt]) -> bool:
    """Whether a term is one of those that may be added in float32."""
    named = {stmt.var.name: stmt.value for stmt in before if isinstance(stmt, Let)}
    if isinstance(term, Var):
        term = named.get(term.name, term)
    return isinstance(term, Call) and term.function in ROUNDED


# --- the loops that take their place --------------------------------------------------------------


class _Fours:
    """One sum, on its way to sums of four."""

    def __init__(self, made: _PowerSum, taken: set[str]) -> None:
        self.made, self.taken = made, taken
        self.old = made.loop.var
        self.lanes = self.fresh("lanes")

    def fresh(self, base: str) -> str:
        return fresh(base, self.taken)

    def statements(self) -> Iterator[Stmt]:
        """The array of lanes, the loops that add to it, and its sum."""
        buffer = Buffer(self.lanes, FLOAT64, (const(LANES),), "local")
        lane, extent = self.index("lane"), self.made.loop.extent
        if not isinstance(extent, Const | Var):
            whole = Var(self.fresh(f"{self.old.name}_count"), extent.dtype)
            yield Let(whole, extent)
            extent = whole
        yield Alloc(buffer)
        first = Store(self.lanes, lane, Const(0.0, FLOAT64))
        yield Loop(lane, const(LANES), "vector", (first,))
        yield self.loop("four", _whole(extent, _STEP), _ZERO, FOUR, self.made.loop.note)
        done = mul(_whole(extent, _STEP), const(_STEP))
        ones = _least(_whole(_rest(extent, _STEP), LANES), extent)
        if ones != _ZERO:
            yield self.loop("one", ones, done, 1)
        yield from self.left(extent)
        yield from self.end()

    def left(self, extent: Expr) -> Iterator[Stmt]:
        """What is left after whole vectors: with one that overlaps those, if nothing stands against
        computing elements twice; one by one otherwise."""
        rest = _least(_rest(extent, LANES), extent)
        if rest == _ZERO:
            return
        start = mul(_whole(extent, LANES), const(LANES))
        if not self.may_repeat:
            yield self.row(rest, start, 1)
            return
        before = self.index("before")
        first = sub(start, before)
        last = (Let(before, sub(const(LANES), rest)), self.row(const(LANES), first, 1, before))
        if isinstance(extent, Const):
            yield from last
            return
        few = self.row(_least(extent, const(LANES - 1)), _ZERO, 1)
        some = If(binary("gt", rest, _ZERO), last)
        serial = Loop(few.var, few.extent, "serial", few.body)
        yield If(binary("ge", extent, const(LANES)), (some,), (serial,))

    @property
    def may_repeat(self) -> bool:
        """Whether iterations read nothing that they write."""
        body = self.made.loop.body if self.made.computed is None else self.made.before
        read = {load.buffer for stmt in body for load in loads_of(stmt)}
        return written(body).isdisjoint(read)

    def index(self, name: str) -> Var:
        return Var(self.fresh(name), INT64)

    def loop(self, name: str, count: Expr, start: Expr, terms: int, note: str = "") -> Loop:
        """A loop whose iterations have so many terms for each lane."""
        var = self.index(f"{self.old.name}_{name}")
        at = add(start, mul(var, const(terms * LANES)))
        return Loop(var, count, "serial", (self.row(const(LANES), at, terms),), note)

    def row(self, lanes: Expr, start: Expr, terms: int, first: Expr = _ZERO) -> Loop:
        """A loop over lanes with so many terms for each; those before the `first` add none."""
        lane, at = self.index("lane"), self.index(self.old.name)
        body: list[Stmt] = [Let(at, add(start, lane))]
        found: list[Expr] = []
        for number in range(terms):
            place = add(at, const(number * LANES)) if number else at
            body += self.copy(place, found)
        while len(found) > 1:
            pairs = zip(found[::2], found[1::2], strict=True)
            found = [binary("add", one, other) for one, other in pairs]
        (value,) = found
        if first != _ZERO:
            value = Select(binary("ge", lane, first), value, Const(0.0, FLOAT32), FLOAT32)
        body.append(Accumulate(self.lanes, lane, "add", Cast(value, FLOAT64)))
        return Loop(lane, lanes, "vector", tuple(body))

    def copy(self, place: Expr, found: list[Expr]) -> Iterator[Stmt]:
        """The statements of an iteration at a place, with names of their own; its term."""
        known: dict[str, Expr] = {self.old.name: place}
        *before, last = self.made.before or (None,)
        stored = self.made.computed is not None
        for stmt in before if stored else self.made.before:
            yield self.copied(stmt, known)
        term = last.value if stored and isinstance(last, Store) else self.made.term
        value = substitute(term, known)
        if not isinstance(value, Var):
            name = Var(self.fresh("e"), FLOAT32)
            yield Let(name, value)
            value = name
        found.append(value)
        if stored and isinstance(last, Store):
            yield Store(last.buffer, substitute(last.index, known), value)

    def copied(self, stmt: Stmt, known: dict[str, Expr]) -> Stmt:
        if isinstance(stmt, Let):
            value = substitute(stmt.value, known)
            known[stmt.var.name] = new = Var(self.fresh(stmt.var.name), stmt.var.dtype)
            return Let(new, value)
        return rebuild_statement(stmt, lambda expr: substitute(expr, known), lambda block: block)

    def end(self) -> Iterator[Stmt]:
        """The lanes are added up in two steps, of which the first is one of vectors."""
        lane = self.index("lane")

        def at(place: Expr) -> Load:
            return Load(self.lanes, place, FLOAT64)

        def four(step: int, first: Expr) -> Expr:
            parts = [
                at(add(first, const(step * number)) if number else first) for number in range(4)
            ]
            one, two, three, last = parts
            return binary("add", binary("add", one, two), binary("add", three, last))

        yield Loop(lane, const(4), "vector", (Store(self.lanes, lane, four(4, lane)),))
        yield Accumulate(self.made.acc, _ZERO, "add", four(1, _ZERO))


def _whole(extent: Expr, length: int) -> Expr:
    """How many pieces of a length there are."""
    if isinstance(extent, Const):
        return const(int(extent.value) // length)
    return binary("floordiv", extent, const(length))


def _rest(extent: Expr, length: int) -> Expr:
    """What is left of the last one."""
    if isinstance(extent, Const):
        return const(int(extent.value) % length)
    return binary("mod", extent, const(length))


def _least(count: Expr, extent: Expr) -> Expr:
    """A count, but none where the extent is below 0, of which remainders are not."""
    return count if isinstance(count, Const) else binary("min", count, extent)
