"""The second half of `fuse`: a value just stored is used by name instead of loaded again.

Within a block, a load of a buffer at an index at which it was stored before becomes the stored
value, if nothing wrote there between. A float16 buffer gives back the rounded value.
Local buffers that nothing loads any more are removed, with the stores to them, and so is what is
stored where the block stores again before anything can have read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import assert_never

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Cast,
    Combine,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.walk import (
    Block,
    blocks,
    bound,
    collect,
    expressions,
    fresh,
    loads_of,
    rebuild,
    rebuild_statement,
    statements,
    with_body,
    written,
)
from symc.codegen.verify.polynomials import added, polynomial


def forward(kernel: Kernel, body: Block) -> Block:
    """The body of the kernel with stored values forwarded."""
    wanted = _reloaded(body)
    if wanted:
        body = _Forwarding(bound(with_body(kernel, body)), wanted).block(body)
    return _without_overwritten(_without_dead(body))


def _without_overwritten(block: Block) -> Block:
    """The block without stores to elements that it stores to again, unread between the two.

    Stores between them are of no account: what they write is what counts afterwards anyway.
    """
    kept: list[Stmt] = []
    later: dict[str, list[Expr]] = {}  # what is stored to below, unless it is read before
    for stmt in reversed(block):
        if isinstance(stmt, Store | Accumulate) and stmt.index in later.get(stmt.buffer, ()):
            continue
        if isinstance(stmt, Loop | If):
            kept.append(rebuild_statement(stmt, lambda expr: expr, _without_overwritten))
            later = {}
            continue
        match stmt:
            case Store(buffer, index) if not _has_loads(index):
                later.setdefault(buffer, []).append(index)
            case Accumulate(buffer):
                later.pop(buffer, None)
            case Barrier() | Combine():
                later = {}
            case _:
                pass
        for load in loads_of(stmt):  # before it stores
            later.pop(load.buffer, None)
        kept.append(stmt)
    same = len(kept) == len(block) and all(map(is_, reversed(kept), block))
    return block if same else tuple(reversed(kept))


def _reloaded(body: Block) -> frozenset[tuple[str, Expr]]:
    """The elements, as buffer and index, that are both stored and loaded: no others matter.

    An index that is itself loaded may mean another element later, so those do not count.
    """
    stores = [stmt for stmt in statements(body) if isinstance(stmt, Store)]
    buffers = {stmt.buffer for stmt in stores}
    loaded = {(load.buffer, load.index) for load in _loads(body) if load.buffer in buffers}
    return frozenset(
        (stmt.buffer, stmt.index)
        for stmt in stores
        if (stmt.buffer, stmt.index) in loaded and not _has_loads(stmt.index)
    )


def _has_loads(expr: Expr) -> bool:
    loads: list[Load] = []
    collect(expr, [], loads)
    return bool(loads)


def _loads(body: Block) -> list[Load]:
    loads: list[Load] = []
    for stmt in statements(body):
        for expr in expressions(stmt):
            collect(expr, [], loads)
    return loads


class _Forwarding:
    """The walk: the known values of each buffer, by index."""

    def __init__(self, taken: set[str], wanted: frozenset[tuple[str, Expr]]) -> None:
        self.taken = taken
        self.wanted = wanted
        self.holds: dict[str, dict[Expr, Expr]] = {}

    def block(self, block: Block) -> Block:
        """The block with loads replaced. Values it stores are not known after it."""
        outer = {buffer: dict(known) for buffer, known in self.holds.items()}
        out: list[Stmt] = []
        for stmt in block:
            match stmt:
                case Store():
                    out += self.store(stmt)
                case Accumulate(buffer):
                    out.append(rebuild_statement(stmt, self.expr, self.block))
                    self.forget((buffer,))
                case Loop() | If():
                    changed = [written(inner) for inner in blocks(stmt)]
                    if isinstance(stmt, Loop):
                        self.forget(changed[0])
                    out.append(rebuild_statement(stmt, self.expr, self.block))
                    self.forget(frozenset[str]().union(*changed))
                case Barrier():
                    self.holds.clear()
                    out.append(stmt)
                case Combine(buffer):
                    self.forget((buffer,))
                    out.append(stmt)
                case Let() | Alloc():
                    out.append(rebuild_statement(stmt, self.expr, self.block))
                case _:
                    assert_never(stmt)
        self.holds = outer
        return tuple(out)

    def forget(self, buffers: Iterable[str]) -> None:
        """Some buffers have changed."""
        for buffer in buffers:
            self.holds.pop(buffer, None)

    def store(self, stmt: Store) -> list[Stmt]:
        """Remember a stored value, under a name if it is loaded again."""
        index, value = self.expr(stmt.index), self.expr(stmt.value)
        known = self.holds.pop(stmt.buffer, {})
        if known:  # parts of a complex number lie side by side
            known = {other: held for other, held in known.items() if _differ(index, other)}
            self.holds[stmt.buffer] = known
        if (stmt.buffer, stmt.index) not in self.wanted:
            return [Store(stmt.buffer, index, value)]
        before: list[Stmt] = []
        if not value.dtype.is_only_stored:
            value = self.named(stmt.buffer, value, before)
        elif isinstance(value, Cast):
            value = Cast(self.named(stmt.buffer, value.x, before), value.dtype)
        elif not isinstance(value, Const):
            return [Store(stmt.buffer, index, value)]
        self.holds[stmt.buffer] = {**known, index: value}
        return [*before, Store(stmt.buffer, index, value)]

    def named(self, buffer: str, value: Expr, before: list[Stmt]) -> Expr:
        """A name or constant for a value."""
        if isinstance(value, Var | Const):
            return value
        var = Var(fresh(f"{buffer}_value", self.taken), value.dtype)
        before.append(Let(var, value))
        return var

    def expr(self, expr: Expr) -> Expr:
        """The expression with known loads replaced."""
        new = rebuild(expr, self.expr)
        if isinstance(new, Load) and new.buffer in self.holds:
            return self.holds[new.buffer].get(new.index, new)
        return new


def _differ(one: Expr, other: Expr) -> bool:
    """Whether two indexes differ by a number."""
    distance = added(polynomial(one), polynomial(other), -1)
    return distance.keys() == {()}


def _without_dead(body: Block) -> Block:
    """The body without local buffers that are never loaded."""
    while True:
        dead = {stmt.buffer.name for stmt in statements(body) if isinstance(stmt, Alloc)}
        if dead:
            dead.difference_update(load.buffer for load in _loads(body))
        if not dead:
            return body
        body = _without(body, dead)


def _without(block: Block, dead: set[str]) -> Block:
    kept: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Alloc(buffer) if buffer.name in dead:
                pass
            case Store(buffer) | Accumulate(buffer) if buffer in dead:
                pass
            case _:
                kept.append(
                    rebuild_statement(stmt, lambda expr: expr, lambda body: _without(body, dead))
                )
    return tuple(kept)
