"""A loop that goes on while ``(j > 0) & (x[j - 1] > v)`` looks at x only where j is above 0.

Both sides of such a condition are computed, and of x[-1] there is an element. Where the first side
says that an index does not count from the end, it is decided first: then the index needs no test.
Nor does ``x[max(j, 0)]`` after ``j >= 0``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import (
    Binary,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Measure,
    Program,
    Repeat,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    const,
)
from symc.codegen.passes.expressions.conditions import both, conjuncts
from symc.codegen.passes.kernels.inlined import inlined_kernels, launched_once
from symc.codegen.passes.steps.asked import from_the_end
from symc.codegen.passes.steps.proven import compared
from symc.codegen.passes.walk import Block, map_kernels, nodes, rebuild, substitute
from symc.codegen.verify.polynomials import added, polynomial

_ZERO = const(0)


def halves(program: Program) -> Program:
    """The program, in which such conditions are decided one side after the other."""
    repeats = [step for step in every_step(program.steps) if isinstance(step, Repeat)]
    flags = {repeat.stop for repeat in repeats if repeat.stop is not None}
    if not flags:
        return program
    extents = {repeat.extent.name for repeat in repeats if isinstance(repeat.extent, Var)}
    flags |= {
        step.buffer
        for step in every_step(repeats)
        if isinstance(step, Measure) and step.size in extents
    }
    ends = {
        (step.kernel, param)
        for step in every_step(repeats)
        if isinstance(step, Launch)
        for param in _params(program, step, flags)
    }
    short = inlined_kernels(program) & launched_once(program)

    def decided(kernel: Kernel) -> Block:
        if kernel.name not in short:
            return kernel.body
        own = {buffer for name, buffer in ends if name == kernel.name}
        return tuple(_Halves().decided(kernel.body, own))

    return map_kernels(program, decided)


def _params(program: Program, launch: Launch, buffers: set[str]) -> list[str]:
    """The parameters of a kernel that one of these buffers is given for."""
    (kernel,) = [kernel for kernel in program.kernels if kernel.name == launch.kernel]
    pairs = zip(kernel.params, launch.buffers, strict=True)
    return [param.name for param, given in pairs if given in buffers]


class _Halves:
    """The statements of one kernel, of which some store whether a loop goes on."""

    def __init__(self) -> None:
        self._names: dict[str, Expr] = {}  # written out
        self._plain: dict[str, Expr] = {}  # as they are, of what reads nothing

    def decided(self, body: Block, flags: set[str]) -> Iterator[Stmt]:
        """The statements, with stores to these buffers one side after the other."""
        for stmt in body:
            match stmt:
                case Let(var, value):
                    self._names[var.name] = substitute(value, self._names)
                    if not any(isinstance(node, Load) for node in nodes(value)):
                        self._plain[var.name] = value
                    yield stmt
                case Store(buffer, index, Unary("not", condition)) if buffer in flags:
                    found = self._sides(condition)
                    if found is None:
                        yield stmt
                        continue
                    first, second = found
                    then = Store(buffer, index, Unary("not", second, BOOL))
                    yield If(first, (then,), (Store(buffer, index, Const(value=True, dtype=BOOL)),))
                case Store(buffer, index, Select(condition, on, Const() as off)) if buffer in flags:
                    found = self._sides(condition)
                    if found is None:
                        yield stmt
                        continue
                    first, second = found
                    then = Store(buffer, index, Select(second, on, off, off.dtype))
                    yield If(first, (then,), (Store(buffer, index, off),))
                case _:
                    yield stmt

    def _sides(self, condition: Expr) -> tuple[Expr, Expr] | None:
        """What decides first, and what is left then; None if that says nothing of an index."""
        parts = conjuncts(condition)
        first = [part for part in parts if not any(isinstance(node, Load) for node in nodes(part))]
        second = [part for part in parts if part not in first]
        if not first or not second:
            return None
        known = [
            fact for part in first for fact in compared(substitute(part, self._names), holds=True)
        ]

        def visit(expr: Expr) -> Expr:
            place, least = self._bounded(expr)
            if place is not None and _is_at_least(least, substitute(place, self._names), known):
                return rebuild(place, visit)
            return rebuild(expr, visit)

        told = [visit(part) for part in second]
        return None if told == second else (both(first), both(told))

    def _bounded(self, expr: Expr) -> tuple[Expr | None, int]:
        """What an integer is, if that is no less than a number; and that number."""
        match self._plain.get(expr.name) if isinstance(expr, Var) else expr:
            case Binary("max", place, Const(int() as least)) if place.dtype is INT64:
                return place, least
            case _:
                return from_the_end(expr), 0


def _is_at_least(bound: int, place: Expr, known: Sequence[Expr]) -> bool:
    """Whether an index is a number that is known to be at least so much, or no more below it."""
    match place:
        case Binary("floordiv" | "shr", whole, Const(int() as by)) if bound == 0 < by < 64:
            return _is_at_least(0, whole, known)
        case _:
            pass
    for fact in known:
        match fact:
            case Binary("lt" | "le" as op, Const(int() as low), high):
                least = low + (op == "lt")
            case Binary("gt" | "ge" as op, high, Const(int() as low)):
                least = low + (op == "gt")
            case _:
                continue
        more = added(polynomial(place), polynomial(high), -1)
        if more.keys() <= {()} and bound - least <= more.get((), 0) <= 0 <= least:
            return True
    return False
