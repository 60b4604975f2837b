"""A loop that goes on while ``(j > 0) & (x[j - 1] > v)`` looks at x only where j is above 0.

Both sides of such a condition are computed, and of x[-1] there is an element. Where the first side
says that an index does not count from the end, it is decided first: then the index needs no test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Binary,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Program,
    Repeat,
    Stmt,
    Store,
    Unary,
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
    ends = {
        (step.kernel, buffer)
        for repeat in every_step(program.steps)
        if isinstance(repeat, Repeat) and repeat.stop is not None
        for step in repeat.steps
        if isinstance(step, Launch)
        for buffer in _params(program, step, repeat.stop)
    }
    if not ends:
        return program
    short = inlined_kernels(program) & launched_once(program)

    def decided(kernel: Kernel) -> Block:
        if kernel.name not in short:
            return kernel.body
        return tuple(_decided(kernel, {buffer for name, buffer in ends if name == kernel.name}))

    return map_kernels(program, decided)


def _params(program: Program, launch: Launch, buffer: str) -> list[str]:
    """The parameters of a kernel that a buffer is given for."""
    (kernel,) = [kernel for kernel in program.kernels if kernel.name == launch.kernel]
    pairs = zip(kernel.params, launch.buffers, strict=True)
    return [param.name for param, given in pairs if given == buffer]


def _decided(kernel: Kernel, flags: set[str]) -> Iterator[Stmt]:
    names: dict[str, Expr] = {}
    for stmt in kernel.body:
        match stmt:
            case Let(var, value):
                names[var.name] = substitute(value, names)
                yield stmt
            case Store(buffer, value=Unary("not", condition)) if buffer in flags:
                yield _one_after_the_other(stmt, conjuncts(condition), names) or stmt
            case _:
                yield stmt


def _one_after_the_other(
    store: Store, parts: Sequence[Expr], names: dict[str, Expr]
) -> Stmt | None:
    """The store of whether one of the parts does not hold, if the first ones say of an index."""
    first = [part for part in parts if not any(isinstance(node, Load) for node in nodes(part))]
    second = [part for part in parts if part not in first]
    if not first or not second:
        return None
    known = [fact for part in first for fact in compared(substitute(part, names), holds=True)]

    def visit(expr: Expr) -> Expr:
        place = from_the_end(expr)
        if place is not None and _is_natural(substitute(place, names), known):
            return rebuild(place, visit)
        return rebuild(expr, visit)

    plain = [visit(part) for part in second]
    if plain == second:
        return None
    then = Store(store.buffer, store.index, Unary("not", both(plain), BOOL))
    otherwise = Store(store.buffer, store.index, Const(value=True, dtype=BOOL))
    return If(both(first), (then,), (otherwise,))


def _is_natural(place: Expr, known: Sequence[Expr]) -> bool:
    """Whether an index is a number that is known to be at least so much, or no more below it."""
    for fact in known:
        match fact:
            case Binary("lt" | "le" as op, Const(int() as low), high):
                least = low + (op == "lt")
            case Binary("gt" | "ge" as op, high, Const(int() as low)):
                least = low + (op == "gt")
            case _:
                continue
        by = added(polynomial(place), polynomial(high), -1)
        if by.keys() <= {()} and -least <= by.get((), 0) <= 0 <= least:
            return True
    return False
