"""Loops that gcc must not put into vector registers: it would read beyond the ends of arrays.

A loop that goes backwards over some of the elements of each group, the halves of every second
complex number or two columns of four, loads whole groups with gcc 12, also the first one, which is
the last of the array. Forwards it leaves the last one to a loop of its own.

That is not enough where iterations write four numbers and more, and where the first number of a
group is none of those that are read: whole groups then begin at the first that is, and the last one
ends in what follows the array. As many iterations as are left over are fewer than a vector has.
"""

from __future__ import annotations

from symc.codegen.ir import Accumulate, Loop, Store
from symc.codegen.passes.loops.dependence import step_of
from symc.codegen.passes.walk import index_names, loads_of, statements, substitute
from symc.codegen.verify.polynomials import Polynomial, added, polynomial

_MANY = 4  # numbers that an iteration writes side by side


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


def skips_first(loop: Loop) -> bool:
    """Whether iterations write several numbers, from groups whose first number is not read."""
    names = index_names(loop.body)
    written: dict[tuple[str, int], int] = {}
    for stmt in statements(loop.body):
        if isinstance(stmt, Store | Accumulate):
            key = (stmt.buffer, step_of(substitute(stmt.index, names), loop.var) or 0)
            written[key] = written.get(key, 0) + 1
    if not any(abs(step) >= _MANY <= count for (_, step), count in written.items()):
        return False
    found: dict[tuple[str, object], set[bool]] = {}
    for load in dict.fromkeys(load for stmt in statements(loop.body) for load in loads_of(stmt)):
        index = substitute(load.index, names)
        step = abs(step_of(index, loop.var) or 0)
        if step > 1:
            place = polynomial(index)
            is_first = all(factor % step == 0 for factor in place.values())
            place.pop((), None)
            found.setdefault((load.buffer, frozenset(place.items())), set()).add(is_first)
    return not all(True in firsts for firsts in found.values())


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
