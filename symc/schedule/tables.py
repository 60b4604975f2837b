"""Tables that are computed, and of which elements are gathered: which of them are stored.

``T.round(255 * total / total[-1])[picture]`` has 256 elements, and a picture thousands. What is
gathered from a table of another length may be few of its elements: those are computed where they
are read. So it is in steps of loops, which may read one element of a table that each step changes.

But where as many elements as a table has are computed in any case, it takes no more than some times
longer to compute all of it, and of vectors more is gathered as a rule: the ranks of all pages,
divided by the numbers of their links, are read for each link. (Of a matrix it may be one element of
each row: the probability of what is so.)
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from math import prod

from symc.graph.node import REPEATED, Tensor
from symc.schedule.plan import Problem
from symc.tensor.elementwise import Elementwise
from symc.tensor.gather import Gather

MOST = 1024  # elements of a table: they take a microsecond, if they are not needed


def tables(
    problem: Problem, costs: Mapping[Tensor, float], stored: AbstractSet[Tensor], *, in_steps: bool
) -> set[Tensor]:
    """The tables that take longer to compute than to read, and are stored for all who read them."""
    found: set[Tensor] = set()
    computed = {node.type.shape for node in stored if isinstance(node.op, Elementwise)}
    for node in problem.order:
        if not isinstance(node.op, Gather) or node.args[0] in stored or not node.ndim:
            continue
        table = node.args[0]
        is_kept = _is_small(table, node) and not in_steps
        is_computed = table.ndim == 1 and table.type.shape in computed
        if costs.get(table, 0.0) >= REPEATED and (is_kept or is_computed):
            found.add(table)
    return found


def _is_small(table: Tensor, gathered: Tensor) -> bool:
    """Whether a table has few elements, and no more than are gathered."""
    lengths = [n for n in table.type.shape if isinstance(n, int)]
    if len(lengths) < table.ndim or not 0 < prod(lengths) <= MOST:
        return False
    known = [n for n in gathered.type.shape if isinstance(n, int)]
    return len(known) < gathered.ndim or prod(known) >= prod(lengths)
