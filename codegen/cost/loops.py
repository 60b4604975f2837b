"""Roughly how much work a loop does, in operations: enough to choose between ways of running it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard, assert_never

from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Call,
    Combine,
    Const,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    Strip,
    Strips,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.math import FUNCTIONS, OPERATOR_COSTS
from symc.codegen.passes.strips import part_loop, strip_loop
from symc.codegen.passes.walk import Block, expressions, names_in, parts, substitute

UNKNOWN = 16  # iterations, where the number depends on values


def work(loop: Loop) -> Expr:
    """Roughly how many simple operations a loop does, in the sizes of its kernel."""
    return _work_of_loop(loop, {})


def _work_of_loop(loop: Loop, inside: Mapping[str, Expr]) -> Expr:
    strip = strip_loop(loop)
    if strip is not None:
        return mul(_visible(strip.strips.whole, inside), work_of_block(strip.body, inside))
    match loop:  # of a loop in parts (`loops/wraps.py`) the work is that of what all of them do
        case Loop(
            cut=Strips(whole), body=(*_, Loop() as last) | (*_, If(_, _, (*_, Loop() as last)))
        ) if parts := part_loop(last):
            return mul(_visible(whole, inside), work_of_block(parts.loop.body[2:], inside))
        case _ if parts := part_loop(loop):
            names = {stmt.var.name: stmt.value for stmt in loop.body if isinstance(stmt, Let)}
            each = work_of_block(parts.loop.body[1:], {**inside, **names})
            return mul(_visible(parts.whole, inside), each)
        case _:
            pass
    extent = _visible(loop.extent, inside)
    names = {**inside, loop.var.name: extent}
    if isinstance(loop.cut, Strips):  # all strips together have the iterations of the whole
        names.update((stmt.var.name, stmt.value) for stmt in loop.body if isinstance(stmt, Let))
        strips = [stmt.body for stmt in loop.body if _is_strip(stmt, loop)]
        rest = tuple([stmt for stmt in loop.body if not _is_strip(stmt, loop)])
        total = mul(extent, work_of_block(rest, names))
        for body in strips:
            total = add(total, mul(_visible(loop.cut.whole, inside), work_of_block(body, names)))
        return total
    return mul(extent, work_of_block(loop.body, names))


def _is_strip(stmt: Stmt, loop: Loop) -> TypeGuard[Loop]:
    """Whether a loop goes over the iterations of one of the strips that another one goes over."""
    return isinstance(stmt, Loop) and isinstance(stmt.cut, Strip) and stmt.cut.number == loop.var


def work_of_block(block: Block, inside: Mapping[str, Expr]) -> Expr:
    """Roughly how many operations statements do; `inside` has values of names bound around them."""
    constant, total = 0, const(0)
    names = dict(inside)
    rest: Expr = total
    for stmt in block:
        match stmt:
            case Loop():
                part = _work_of_loop(stmt, names)
                if isinstance(part, Const):
                    constant += int(part.value)
                else:
                    rest = add(rest, part)
            case (
                If(Binary("lt", _, Const()), _, (_, *_) as many)  # few iterations, or many
                | If(Binary("ge", _, Const()), many, (_, *_))
            ):
                rest = add(rest, work_of_block(many, names))
            case If(_, then, otherwise):
                rest = add(rest, work_of_block(then + otherwise, names))
            case Let(var, value):
                names[var.name] = value
                constant += _cost(value)
            case Alloc(_, value) if value is not None:
                constant += 2 + _cost(value)
            case Store() | Accumulate() | Alloc():
                constant += 1 + sum(map(_cost, expressions(stmt)))
            case Barrier() | Combine():
                constant += 1
            case _:
                assert_never(stmt)
    return add(rest, const(constant))


def _visible(extent: Expr, inside: Mapping[str, Expr]) -> Expr:
    """An upper bound of an extent, in sizes alone; names bound inside the kernel are looked up."""
    if isinstance(extent, Binary) and extent.op == "band":  # as many as whole vectors have
        extent = extent.left
    for _ in range(8):
        if _is_outside(extent, inside):
            return extent
        if names_in(extent).isdisjoint(inside):
            return const(UNKNOWN)
        match extent:
            case Binary("min", Const() as bound_, _) | Binary("min", _, Const() as bound_):
                return bound_
            case Binary("min", Binary("mod", _, Const() as bound_), _):
                return bound_
            case Binary("min", bound_, _) if _is_outside(bound_, inside):
                return bound_
            case Binary("min", _, bound_) if _is_outside(bound_, inside):
                return bound_
            case Binary("add", left, right):
                return add(_visible(left, inside), _visible(right, inside))
            case Binary("mul", left, right):
                return mul(_visible(left, inside), _visible(right, inside))
            case Binary("floordiv", number, Const() as divisor):
                whole = _visible(number, inside)
                if isinstance(whole, Const) and divisor.value:
                    return const(int(whole.value) // int(divisor.value))
                return Binary("floordiv", whole, divisor, INT64)
            case Binary("sub", number, _):
                extent = number
            case _:
                extent = substitute(extent, inside)
    return const(UNKNOWN)


def _is_outside(extent: Expr, inside: Mapping[str, Expr]) -> bool:
    """Whether this is known before the kernel runs."""
    return names_in(extent).isdisjoint(inside) and not _loads(extent)


def _loads(expr: Expr) -> bool:
    return isinstance(expr, Load | Call) or any(map(_loads, parts(expr)))


def _cost(expr: Expr) -> int:
    """Rough cost of an expression. An index costs nothing: it is shared or strength-reduced."""
    if type(expr) is Var or type(expr) is Const:
        return 0
    if type(expr) is Load:
        return 1
    if type(expr) is Binary:
        return OPERATOR_COSTS.get(expr.op, 1) + _cost(expr.left) + _cost(expr.right)
    own = FUNCTIONS[expr.function].cost if type(expr) is Call else 1
    return own + sum(map(_cost, parts(expr)))
