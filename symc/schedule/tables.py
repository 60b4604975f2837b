"""Small tables that are computed, and of which elements are gathered: they are stored.

``T.round(255 * total / total[-1])[picture]`` has 256 elements, and a picture thousands. What is
gathered from a table of another length may be few of its elements: those are computed where they
are read. So it is in steps of loops, which may read one element of a table that each step changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from math import prod

from symc.graph.node import REPEATED, Tensor
from symc.schedule.plan import Problem
from symc.tensor.gather import Gather

MOST = 1024  # elements of a table: they take a microsecond, if they are not needed


def tables(
    problem: Problem, costs: Mapping[Tensor, float], stored: AbstractSet[Tensor]
) -> set[Tensor]:
    """The tables of few elements that take longer to compute than to read."""
    found: set[Tensor] = set()
    for node in problem.order:
        if isinstance(node.op, Gather) and node.args[0] not in stored and node.ndim:
            table = node.args[0]
            lengths = [n for n in table.type.shape if isinstance(n, int)]
            is_small = len(lengths) == table.ndim and 0 < prod(lengths) <= MOST
            known = [n for n in node.type.shape if isinstance(n, int)]
            if len(known) == node.ndim and prod(known) < prod(lengths):
                continue
            if is_small and costs.get(table, 0.0) >= REPEATED:
                found.add(table)
    return found
