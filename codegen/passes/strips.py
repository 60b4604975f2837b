"""Strip-mined loops: how they are made, and the loops that they stand for."""

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
    dtype = strips.number.dtype
    first = _as(strips.first, dtype)
    rest = sub(strips.extent, first)
    count: Expr = Binary("min", Const(strips.length, dtype), rest, dtype)
    number = _as(strips.number, strips.first.dtype)
    body: list[Stmt] = [Let(strips.first, mul(number, Const(strips.length, number.dtype)))]
    if strips.count is not None:
        body.append(Let(strips.count, count))
        count = strips.count
    body += [
        _loop(part, strips.first, count) if isinstance(part, Strip) else part
        for part in strips.body
    ]
    return Loop(
        strips.number, ceiling(strips.extent, strips.length), strips.kind, tuple(body), strips.note
    )


def _loop(strip: Strip, first: Var, count: Expr) -> Loop:
    """The loop over one strip."""
    dtype = strip.var.dtype
    let = Let(strip.var, add(_as(first, dtype), _as(strip.place, dtype)))
    return Loop(strip.place, count, "vector", (let, *strip.body), strip.note)


def _as(name: Var, dtype: DType) -> Expr:
    """An index in the type of another."""
    return name if name.dtype is dtype else Cast(name, dtype)


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
