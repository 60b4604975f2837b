"""Strip-mining: a loop becomes one over strips, with loops over the iterations of a strip inside.

Whoever cuts a loop does it by `StripMining`: so the lengths of strips are computed in one way, and
the loops say what they are (`Strips` and `Strip` in `ir.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from symc.codegen.dtypes import DType
from symc.codegen.ir import (
    Binary,
    Cast,
    Const,
    Cut,
    Expr,
    Let,
    Load,
    Loop,
    LoopKind,
    Stmt,
    Store,
    Strip,
    Strips,
    Var,
    add,
    ceiling,
    mul,
    sub,
)
from symc.codegen.record import record


@record
class StripMining:
    """A loop of `extent` iterations, cut into strips of `length` of which the last may be shorter.

    `number` counts the strips. `first`, if it has a name, is the first iteration of each.
    """

    number: Var
    extent: Expr
    length: Expr
    first: Var | None = None

    @property
    def strips(self) -> Expr:
        """How many strips there are."""
        return ceiling(self.extent, self.length)

    @property
    def start(self) -> Expr:
        """The first iteration of a strip."""
        return self._product if self.first is None else self.first

    @property
    def let(self) -> Let:
        """What gives the first iteration of a strip its name."""
        assert self.first is not None
        return Let(self.first, self._product)

    @property
    def _product(self) -> Expr:
        return mul(self.number, _as(self.length, self.number.dtype))

    @property
    def count(self) -> Expr:
        """How many iterations a strip has."""
        dtype = self.extent.dtype
        rest = sub(self.extent, _as(self.start, dtype))
        return Binary("min", _as(self.length, dtype), rest, dtype)

    def at(self, place: Var) -> Expr:
        """The iteration at a place of a strip."""
        return add(self.start, place)

    @property
    def over(self) -> Strips:
        """The part of the loop over strips."""
        return Strips(self.extent, self.length)

    @property
    def within(self) -> Strip:
        """The part of a loop over the iterations of a strip."""
        return Strip(self.number, self.over)

    def loop(
        self, kind: LoopKind, body: tuple[Stmt, ...], note: str = "", count: Expr | None = None
    ) -> Loop:
        """The loop over strips; their `count` may be a name."""
        return Loop(self.number, count or self.strips, kind, body, note, self.over)

    def inner(self, place: Var, kind: LoopKind, body: tuple[Stmt, ...], note: str = "") -> Loop:
        """A loop over the iterations of a strip, which `place` counts from 0."""
        return Loop(place, self.count, kind, body, note, self.within)


def strip_mined(loop: Loop, length: int, kind: LoopKind, name: Callable[[str], str]) -> Loop:
    """A loop run in strips, whose body is as it was; `name` gives names that are not taken."""
    unit = {"parallel": "block"}.get(kind, "pack")
    number, first, place = (
        Var(name(stem)) for stem in (unit, "start", f"{loop.var.name}_in_{unit}")
    )
    cut = mining_of(loop, number, length, first)
    inner = cut.inner(place, "vector", (Let(loop.var, cut.at(place)), *loop.body))
    return cut.loop(kind, (cut.let, inner), loop.note)


def mining_of(loop: Loop, number: Var, length: int, first: Var | None = None) -> StripMining:
    """The iterations of a loop cut into strips."""
    return StripMining(number, loop.extent, Const(length, loop.extent.dtype), first)


@record
class StripLoop:
    """The loop over the iterations of a strip that is all there is in a loop over strips."""

    start: Let
    """The first iteration of a strip."""
    loop: Loop
    strips: Strips
    body: tuple[Stmt, ...]
    """The statements of an iteration, without its name."""


def strip_loop(loop: Loop) -> StripLoop | None:
    """What is in a loop over strips, or None if that is more than a loop over each."""
    match loop:
        case Loop(
            var=number,
            cut=Strips() as strips,
            body=(Let() as start, Loop(cut=Strip(counter), body=(Let(), *body)) as inner),
        ) if counter == number:
            return StripLoop(start, inner, strips, tuple(body))
        case _:
            return None


@record
class PartLoop:
    """The loop in one that takes parts of a range one after the other, see `loops/wraps.py`."""

    whole: Expr
    """How many iterations all parts have."""
    loop: Loop


def part_loop(loop: Loop) -> PartLoop | None:
    """What is in a loop over parts, or None if that is another loop."""
    match loop:
        case Loop(
            kind="serial",
            body=(Let(begin, Load(following)), *lets, Store(stored, _, end), Loop() as inner),
        ) if stored == following and inner.extent == sub(end, begin):
            nearest = next(s.value for s in lets if isinstance(s, Let) and s.var == end)
            while isinstance(nearest, Binary):
                nearest = nearest.left
            return PartLoop(nearest, inner)
        case _:
            return None


def extent_of(cut: Cut) -> Expr:
    """The extent of a loop that has this part in strip-mining."""
    match cut:
        case Strips(whole, length):
            return ceiling(whole, length)
        case Strip(number, strips):
            dtype = strips.whole.dtype
            length = _as(strips.length, dtype)
            rest = sub(strips.whole, mul(_as(number, dtype), length))
            return Binary("min", length, rest, dtype)
        case _:
            assert_never(cut)


def length_of(cut: Cut) -> Expr:
    """The length of the strips, but for the last one."""
    return cut.length if isinstance(cut, Strips) else cut.strips.length


def iterations_of(number: Expr, strips: Strips) -> Expr:
    """How many iterations the strip of this number has."""
    return extent_of(Strip(number, strips))


def expressions_of(cut: Cut | None) -> tuple[Expr, ...]:
    """The expressions that a part in strip-mining is about."""
    match cut:
        case None:
            return ()
        case Strips(whole, length):
            return (whole, length)
        case Strip(number, strips):
            return (number, *expressions_of(strips))
        case _:
            assert_never(cut)


def map_cut(cut: Cut | None, visit: Callable[[Expr], Expr]) -> Cut | None:
    """The part with `visit` applied to its expressions."""
    match cut:
        case None:
            return None
        case Strips(whole, length):
            w, n = visit(whole), visit(length)
            return cut if w is whole and n is length else Strips(w, n)
        case Strip(number, Strips(whole, length)):
            k, w, n = visit(number), visit(whole), visit(length)
            same = k is number and w is whole and n is length
            return cut if same else Strip(k, Strips(w, n))
        case _:
            assert_never(cut)


def _as(index: Expr, dtype: DType) -> Expr:
    """An index in the type of another."""
    if isinstance(index, Const):
        return Const(index.value, dtype)
    return index if index.dtype is dtype else Cast(index, dtype)
