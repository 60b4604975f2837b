"""Loops cut into strips: how they are made, and how they are recognised.

`StripMining` has the arithmetic, for whoever cuts a loop. Passes that are the last to change a loop
make `Strips` of it (`strip_mined`), which says that it is cut; those before them, whose loops other
passes still fuse, collapse and flatten, write the loops out at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symc.codegen.dtypes import DType
from symc.codegen.ir import (
    Binary,
    Cast,
    Const,
    Expr,
    Let,
    Loop,
    LoopKind,
    Plain,
    Stmt,
    Strip,
    Strips,
    Var,
    add,
    ceiling,
    mul,
    sub,
)
from symc.codegen.record import record
from symc.codegen.text import expression


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
        number = self.number if self.first is None else _as(self.number, self.first.dtype)
        return mul(number, _as(self.length, number.dtype))

    @property
    def count(self) -> Expr:
        """How many iterations a strip has."""
        dtype = self.extent.dtype
        rest = sub(self.extent, _as(self.start, dtype))
        return Binary("min", _as(self.length, dtype), rest, dtype)

    def at(self, place: Var) -> Expr:
        """The iteration at a place of a strip."""
        return add(self.start, place)


def cut_extent(count: Expr, number: str) -> Expr | None:
    """The extent of the loop that is cut into strips, if this is the `count` of strip `number`.

    Over all strips, the iterations of one add up to it.
    """
    match count:
        case Binary("min", length, Binary("sub", extent, Binary("mul", left, right))) | Binary(
            "min", Binary("sub", extent, Binary("mul", left, right)), length
        ):
            factors = {expression(left), expression(right)}
            return extent if {number, expression(length)} == factors else None
        case _:
            return None


def strip_mined(loop: Loop, length: int, kind: LoopKind, name: Callable[[str], str]) -> Strips:
    """A loop run in strips, whose body is as it was; `name` gives names that are not taken."""
    unit = {"parallel": "block"}.get(kind, "pack")
    number, first, place = (
        Var(name(stem)) for stem in (unit, "start", f"{loop.var.name}_in_{unit}")
    )
    inner = Strip(place, loop.var, loop.body)
    return Strips(number, first, loop.extent, length, kind, (inner,), None, loop.note)


def written_out(strips: Strips) -> Loop:
    """The loops that a strip-mined loop stands for."""
    length = Const(strips.length, strips.number.dtype)
    cut = StripMining(strips.number, strips.extent, length, strips.first)
    count, body = cut.count, list[Stmt]([cut.let])
    if strips.count is not None:
        body.append(Let(strips.count, count))
        count = strips.count
    body += [
        _loop(part, strips.first, count) if isinstance(part, Strip) else part
        for part in strips.body
    ]
    return Loop(strips.number, cut.strips, strips.kind, tuple(body), strips.note)


def _loop(strip: Strip, first: Var, count: Expr) -> Loop:
    """The loop over one strip."""
    dtype = strip.var.dtype
    let = Let(strip.var, add(_as(first, dtype), _as(strip.place, dtype)))
    return Loop(strip.place, count, "vector", (let, *strip.body), strip.note)


def _as(index: Expr, dtype: DType) -> Expr:
    """An index in the type of another."""
    if isinstance(index, Const):
        return Const(index.value, dtype)
    return index if index.dtype is dtype else Cast(index, dtype)


def plain(stmt: Stmt) -> Plain:
    """The statement, or the loops that it stands for."""
    return written_out(stmt) if isinstance(stmt, Strips) else stmt


def single(strips: Strips) -> Strip | None:
    """The loop over a strip, if that is all that is done with it."""
    match strips.body:
        case (Strip() as strip,):
            return strip
        case _:
            return None


def map_strips(
    strips: Strips, extent: Expr, block: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]
) -> Strips:
    """Strips of another extent, with `block` applied to the blocks inside."""
    body: list[Stmt | Strip] = []
    for part in strips.body:
        if isinstance(part, Strip):
            inner = block(part.body)
            body.append(part if inner is part.body else replace(part, body=inner))
        else:
            body += block((part,))
    same = len(body) == len(strips.body) and all(map(_is, body, strips.body))
    return (
        strips
        if same and extent is strips.extent
        else replace(strips, extent=extent, body=tuple(body))
    )


def _is(new: object, old: object) -> bool:
    return new is old
