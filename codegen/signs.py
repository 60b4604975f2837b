"""Which integers of a program are never negative, as far as that follows from lengths and loops."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import INT32
from symc.codegen.ir import Binary, Cast, Const, Expr, Launch, Length, Program, Repeat, Var

_NONE: frozenset[str] = frozenset()


def is_natural(expr: Expr, natural: AbstractSet[str], positive: AbstractSet[str] = _NONE) -> bool:
    """Whether an integer is surely not negative, if the variables `natural` are not.

    Those in `positive` are even above 0. Of large expressions only a part is looked at.
    """
    stack, budget = [expr], 64
    while stack:
        node = stack.pop()
        budget -= 1
        match node:
            case Const(value) if value >= 0 and budget > 0:
                pass
            case Var(name) if name in natural:
                pass
            case Length():
                pass
            case Cast(x) if x.dtype is INT32:  # of an index
                stack.append(x)
            case Binary("max", left, Const(value)) | Binary("max", Const(value), left):
                stack += () if value >= 0 else (left,)
            case Binary("add" | "mul" | "min" | "max", left, right):
                stack += (left, right)
            case Binary("floordiv", left, right) if is_positive(right, positive):
                stack.append(left)
            case Binary("mod", _, right) if is_positive(right, positive):
                pass
            case _:
                return False
    return True


def is_positive(expr: Expr, positive: AbstractSet[str] = _NONE) -> bool:
    """Whether an integer is surely above zero: a product of such things."""
    return all(
        (isinstance(factor, Const) and factor.value > 0)
        or (isinstance(factor, Var) and factor.name in positive)
        for factor in factors(expr)
    )


def factors(expr: Expr) -> list[Expr]:
    """The factors of an expression."""
    stack: list[Expr] = [expr]
    found: list[Expr] = []
    while stack:
        node = stack.pop()
        match node:
            case Binary("mul", left, right):
                stack += (left, right)
            case _:
                found.append(node)
    return found


def natural_names(program: Program) -> set[str]:
    """The sizes of a program that are never negative."""
    own: set[str] = set()
    for step in every_step(program.steps):
        if isinstance(step, Repeat):
            own.update([step.var] if step.done is None else [step.var, step.done])
    for size in program.sizes:
        if size.value is not None and is_natural(size.value, own):
            own.add(size.var.name)
    return own


def natural_sizes(program: Program) -> tuple[set[str], dict[str, set[str]]]:
    """The sizes of a program that are never negative, and of each kernel those it is given so."""
    own = natural_names(program)
    found: dict[str, set[str]] = {}
    sizes = {kernel.name: kernel.sizes for kernel in program.kernels}
    for step in every_step(program.steps):
        if isinstance(step, Launch):
            names = {
                size.name
                for size, value in zip(sizes[step.kernel], step.sizes, strict=True)
                if is_natural(value, own)
            }
            found[step.kernel] = found.get(step.kernel, names) & names
    return own, found
