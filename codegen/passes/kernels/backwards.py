"""Loops that gcc must not put into vector registers: it would read beyond the ends of arrays.

A loop that goes backwards over some of the elements of each group, the halves of every second
complex number or two columns of four, loads whole groups with gcc 12, also the first one, which is
the last of the array. Forwards it leaves the last one to a loop of its own.
"""

from __future__ import annotations

from symc.codegen.ir import Loop
from symc.codegen.passes.loops.dependence import step_of
from symc.codegen.passes.walk import index_names, loads_of, statements, substitute
from symc.codegen.verify.polynomials import Polynomial, added, polynomial


def skips_backwards(loop: Loop) -> bool:
    """Whether several elements are read of each group, but not all, from the last group on."""
    names = index_names(loop.body)
    groups: dict[tuple[str, int], list[Polynomial]] = {}
    for load in dict.fromkeys(load for stmt in statements(loop.body) for load in loads_of(stmt)):
        index = substitute(load.index, names)
        step = step_of(index, loop.var)
        if step is not None and step < -1:
            groups.setdefault((load.buffer, step), []).append(polynomial(index))
    return any(_has_gaps(places, -step) for (_, step), places in groups.items())


def _has_gaps(places: list[Polynomial], length: int) -> bool:
    """Whether some places lie in one group of this length, and are not all that it has."""
    for place in places:
        apart = [added(other, place, -1) for other in places]
        left = sorted({each.get((), 0) for each in apart if each.keys() <= {()}})
        while left:
            group = [by for by in left if by < left[0] + length]
            if 1 < len(group) < length:
                return True
            left = left[len(group) :]
    return False
