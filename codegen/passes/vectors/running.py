"""running: running sums, maxima and minima are computed four at a time.

An addition waits for the one before it, which takes a running sum four times as long as everything
else about it. Four terms are added up beside each other first, so that a sum waits once for four:

    for i in serial(n):
      acc += x[i]
      y[i] = acc

    for i_four in serial(n // 4):
      let a = x[4*i_four]; let b = x[4*i_four + 1]; let c = ...; let d = ...
      let two = a + b; let before = acc
      y[4*i_four] = before + a; y[...] = before + two
      y[...] = before + (two + c); let last = before + (two + (c + d)); y[...] = last; acc = last
    for i_rest in serial(n % 4): ...

That is another order of additions, as other sums have it, too: of terms none of which is negative
the sums still never fall.

A comparison waits as an addition does. Where a NaN may be passed on, it waits for two more: so a
maximum of four that are all numbers is a choice, and others are taken one after the other:

    if isnan(a) or isnan(b) or isnan(c) or isnan(d):
      acc = max(acc, a); y[4*i_four] = acc; acc = max(acc, b); ...
    else:
      let two = a < b ? b : a; let before = acc; ...
      let most = before < a ? a : before; y[4*i_four] = most; ...; acc = most_4
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from symc.codegen.dtypes import BOOL, FLOAT32, FLOAT64, INT64, DType
from symc.codegen.ir import (
    Accumulate,
    AccumulateOp,
    Alloc,
    Call,
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
)
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.vectors.groups import groups
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    fresh,
    loads_of,
    map_kernels,
    names_in,
    rebuild,
    rebuild_statement,
    statements,
    substitute,
    written,
)
from symc.codegen.record import record

AT_ONCE = 4
MOST = 24  # operations of an iteration, of which there will be five texts, of extremes nine
_NAMES: Mapping[AccumulateOp, str] = {"add": "sum", "max": "most", "min": "least"}
_ZERO = const(0)


def running(program: Program) -> Program:
    """The program with four terms of each running sum or extreme at a time."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    scalars = {
        stmt.buffer.name: stmt.buffer.dtype
        for stmt in statements(kernel.body)
        if isinstance(stmt, Alloc) and not stmt.buffer.shape
    }
    if not scalars:
        return kernel.body
    taken = bound(kernel)

    def block(body: Block) -> Block:
        found: list[Stmt] = []
        for stmt in body:
            sums = _running(stmt, scalars) if isinstance(stmt, Loop) else None
            if sums is None:
                found.append(rebuild_statement(stmt, lambda expr: expr, block))
            else:
                found += _Four(sums, taken).statements()
        changed = len(found) != len(body) or any(
            a is not b for a, b in zip(found, body, strict=True)
        )
        return tuple(found) if changed else body

    return block(kernel.body)


@record
class _Running:
    """A loop that adds a value to a scalar, and then stores what has been added up.

    Or the scalar becomes the larger or the smaller of the two.
    """

    loop: Loop
    before: tuple[Let, ...]
    sum: Accumulate
    after: tuple[Store, ...]
    dtype: DType


def _running(loop: Loop, scalars: Mapping[str, DType]) -> _Running | None:
    """The parts of such a loop."""
    adding = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
    if loop.kind != "serial" or len(adding) != 1 or _is_few(loop.extent):
        return None
    (total,) = adding
    dtype = scalars.get(total.buffer)
    if dtype is None or total.op not in _NAMES:
        return None
    if not (dtype in (FLOAT32, FLOAT64) or (dtype.is_integer and total.op != "add")):
        return None
    place = loop.body.index(total)
    before = [stmt for stmt in loop.body[:place] if isinstance(stmt, Let)]
    after = [stmt for stmt in loop.body[place + 1 :] if isinstance(stmt, Store)]
    if len(before) + 1 + len(after) < len(loop.body) or not after:
        return None
    stored = written(tuple(after))
    if stored & scalars.keys():
        return None
    terms: list[Stmt] = [*before, total]
    early = [load.buffer for stmt in terms for load in loads_of(stmt)]
    late = [load.buffer for stmt in after for load in loads_of(stmt)]
    if total.buffer in early or stored & {*early, *late}:
        return None
    work = sum(operations(e) for stmt in loop.body for e in expressions(stmt))
    if work > (MOST if total.op == "add" else MOST // 2):
        return None
    return _Running(loop, tuple(before), total, tuple(after), dtype)


def _is_few(extent: Expr) -> bool:
    return isinstance(extent, Const) and extent.value < 2 * AT_ONCE


class _Four:
    """One loop, on its way to four iterations at a time."""

    def __init__(self, sums: _Running, taken: set[str]) -> None:
        self.sums = sums
        self.taken = taken
        self.acc = Load(sums.sum.buffer, _ZERO, sums.dtype)

    def name(self, stem: str, dtype: DType = INT64) -> Var:
        """A new name."""
        return Var(fresh(stem, self.taken), dtype)

    def statements(self) -> Iterator[Stmt]:
        """The loop over four iterations at a time, and that over the rest."""
        loop = self.sums.loop
        old, extent = loop.var, loop.extent
        if names_in(extent) and not isinstance(extent, Var):
            whole = self.name(f"{old.name}_count")
            yield Let(whole, extent)
            extent = whole
        fours, rest = self.name(f"{old.name}_four"), self.name(f"{old.name}_rest")
        count, left = groups(extent, AT_ONCE)
        yield Loop(fours, count, "serial", tuple(self._together(fours)), loop.note)
        if left == const(0):
            return
        last = self.name(old.name)
        names: dict[str, Expr] = {old.name: last}
        named, value = self._term(names)
        own, stores = self._step(value), self._stores(names, self.acc)
        begin = Let(last, add(mul(count, const(AT_ONCE)), rest))
        yield Loop(rest, left, "serial", (begin, *named, own, *stores))

    def _step(self, term: Expr) -> Accumulate:
        """One term added to the sum, or compared with the extreme."""
        return Accumulate(self.sums.sum.buffer, _ZERO, self.sums.sum.op, term)

    def _together(self, fours: Var) -> Iterator[Stmt]:
        """Four iterations."""
        old, op = self.sums.loop.var, self.sums.sum.op
        first = self.name(old.name)
        yield Let(first, mul(fours, const(AT_ONCE)))
        every: list[dict[str, Expr]] = []
        terms: list[Var] = []
        for number in range(AT_ONCE):
            every.append({old.name: add(first, const(number))})
            named, value = self._term(every[-1])
            yield from named
            terms.append(self.name("term", self.sums.dtype))
            if op == "add" and not isinstance(value, Load | Var):
                value = Call("apart", (value,), self.sums.dtype)  # it is rounded once for all sums
            yield Let(terms[-1], value)
        if op == "add" or self.sums.dtype.is_integer:
            yield from self._at_once(every, terms, partial(binary, op), _NAMES[op])
            return
        one_by_one: list[Stmt] = []
        for names, term in zip(every, terms, strict=True):
            one_by_one += [self._step(term), *self._stores(names, self.acc)]
        at_once = self._at_once(every, terms, partial(_better, op), _NAMES[op])
        yield If(_is_any_nan(terms), tuple(one_by_one), tuple(at_once))

    def _at_once(
        self,
        every: Sequence[Mapping[str, Expr]],
        terms: Sequence[Var],
        joined: Callable[[Expr, Expr], Expr],
        stem: str,
    ) -> Iterator[Stmt]:
        """The terms joined beside each other, then with what there was before, and stored."""
        dtype = self.sums.dtype
        a, b, c, d = terms
        two, three, other, four, before = (
            self.name(name, dtype) for name in ("two", "three", "other", "four", "before")
        )
        yield Let(two, joined(a, b))
        yield Let(three, joined(two, c))
        yield Let(other, joined(c, d))
        yield Let(four, joined(two, other))
        yield Let(before, self.acc)
        found = [self.name(stem, dtype) for _ in every]
        for names, more, value in zip(every, (a, two, three, four), found, strict=True):
            yield Let(value, joined(before, more))
            yield from self._stores(names, value)
        yield Store(self.sums.sum.buffer, _ZERO, found[-1])

    def _term(self, names: dict[str, Expr]) -> tuple[list[Let], Expr]:
        """What an iteration adds; `names` gets its own names for values."""
        lets: list[Let] = []
        for let in self.sums.before:
            new = self.name(let.var.name, let.var.dtype)
            lets.append(Let(new, substitute(let.value, names)))
            names[let.var.name] = new
        return lets, substitute(self.sums.sum.value, names)

    def _stores(self, names: Mapping[str, Expr], value: Expr) -> Iterator[Store]:
        """What an iteration stores of the sum so far."""

        def visit(expr: Expr) -> Expr:
            return value if expr == self.acc else rebuild(expr, visit)

        for store in self.sums.after:
            index = substitute(store.index, names)
            yield Store(store.buffer, index, visit(substitute(store.value, names)))


def _better(op: AccumulateOp, one: Expr, other: Expr) -> Expr:
    """The larger or the smaller of two numbers neither of which is NaN: one instruction."""
    left, right = (one, other) if op == "max" else (other, one)
    return Select(binary("lt", left, right), other, one, one.dtype)


def _is_any_nan(terms: Sequence[Expr]) -> Expr:
    """Whether one of the numbers is NaN."""
    a, b, c, d = (Call("isnan", (term,), BOOL) for term in terms)
    return binary("or", binary("or", a, b), binary("or", c, d))
