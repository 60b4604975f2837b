"""Which sizes follow from others, and so differ from step to step of a loop."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from symc.codegen.blocks import every_step
from symc.codegen.ir import Measure, Program, Repeat
from symc.codegen.passes.walk import names_in


def following(program: Program, sizes: Iterable[str]) -> set[str]:
    """These sizes, and all that follow from them."""
    found = set(sizes)
    for size in program.sizes:
        if size.value is not None and found & names_in(size.value):
            found.add(size.var.name)
    return found


def varying_sizes(
    program: Program, repeat: Repeat, but: AbstractSet[str] = frozenset()
) -> set[str]:
    """The sizes that may differ from step to step, `but` counters of loops inside."""
    found = {repeat.var}
    for step in every_step(repeat.steps):
        match step:
            case Repeat(var, done=done):
                found.update({var} - but if done is None else {var, done} - but)
            case Measure(measured):
                found.add(measured)
            case _:
                pass
    return following(program, found)
