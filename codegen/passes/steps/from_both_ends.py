"""from_both_ends: checks of an index from below and from above, in steps of loops, become one.

    check i >= -n                             check (i >= -n) & (i < n)
    check i < n

It is printed as one comparison (`symc_is_place`): a processor keeps in mind how some hundred jumps
went, and where the same ones wait for elements in each step, fewer are guessed wrongly.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.blocks import map_blocks
from symc.codegen.dtypes import INT64
from symc.codegen.ir import Binary, Check, Expr, Program, Repeat, Step, Unary, binary
from symc.codegen.passes.walk import substitute
from symc.codegen.record import replace
from symc.codegen.verify.polynomials import added, polynomial


def from_both_ends(program: Program) -> Program:
    """The program with such checks as one."""
    sizes = _sums(program)

    def joined(steps: Sequence[Step]) -> list[Step]:
        found: list[Step] = []
        for step in steps:
            both = _both(found[-1], step, sizes) if found else None
            if both is None:
                found.append(step)
            else:
                found[-1] = both
        return found

    steps = tuple(
        replace(step, steps=map_blocks(step.steps, joined)) if isinstance(step, Repeat) else step
        for step in program.steps
    )
    return program if steps == program.steps else replace(program, steps=steps)


def _sums(program: Program) -> dict[str, Expr]:
    """The sizes that are sums of others, written out."""
    found: dict[str, Expr] = {}
    for size in program.sizes:
        if isinstance(size.value, Binary | Unary):
            found[size.var.name] = substitute(size.value, found)
    return found


def _both(one: Step, other: Step, sizes: dict[str, Expr]) -> Check | None:
    """Two checks of one index as one, if they are such a pair."""
    match one, other:
        case Check(Binary("ge", index, low)), Check(Binary("lt", same, length) as below) if (
            index == same and index.dtype is INT64
            and (one.code, one.note) == (other.code, other.note)
        ):  # fmt: skip
            if added(polynomial(substitute(low, sizes)), polynomial(substitute(length, sizes))):
                return None
            above = binary("ge", index, Unary("neg", length, INT64))
            return replace(one, condition=binary("and", above, below))
        case _:
            return None
