"""What is read of memory before a stage overwrites it, and kept: then the stage needs no copy.

    b = a[i, j].set(s)                   c = b[i, j].set(a[i, j] / b[j, j])

The quotient needs both a and b, so that b could not lie where a does: in each step of a loop the
whole of a would be copied. But `a[i, j]`, or the largest number that is computed from old elements
alone, is read first and kept; and of ``x[1:].set(x[:-1])`` the part that is written, which is
smaller than `x`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from symc.graph.inputs import Constant
from symc.graph.lowering import At, Fold, Write
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.schedule.dependencies import Groups
from symc.schedule.overwriting import Use, is_base
from symc.schedule.stages import Stage
from symc.tensor.elementwise import Cast, Elementwise


class ReadingFirst:
    """Finds the nodes that are to be kept before one writer, of those computed where read."""

    def __init__(self, groups: Groups, inlined: Mapping[Tensor, int], writer: Tensor) -> None:
        self._groups = groups
        self._inlined = inlined
        self._node = writer
        self._writer = groups.group_of[writer]

    def of(self, use: Use) -> set[Tensor] | None:
        """The nodes which are to be kept for a read to be harmless; None if that cannot be."""
        stage = use.stage
        if stage is None:
            return None
        if isinstance(stage.lowering, Write):
            if not is_base(stage.node.args[0], stage.node, stage.lowering):
                return None  # all is written: the parts together are as large
            through = set(self._written(stage, use.seen))
            return through if through or stage.node.args[0] is use.seen else None
        # Rows and numbers are kept in less memory than a second array takes, but of a vector.
        is_writer = isinstance(stage.lowering, At) and stage.node is self._node
        own = is_writer and use.seen.ndim > 1
        if not own and (not isinstance(stage.lowering, At | Fold) or self._is_in_unit(stage.node)):
            return None
        found: set[Tensor] = set()
        return found if self._collect(stage.node, use.seen, found, own=own) else None

    def hold(self, nodes: AbstractSet[Tensor]) -> None:
        """Says that what these nodes are computed from comes before the stage that overwrites."""
        for node in walk(nodes, stop=lambda node: node not in self._inlined):
            if node in self._groups.group_of:
                self._groups.edge(self._groups.group_of[node], self._writer)

    def _written(self, stage: Stage, seen: Tensor) -> Iterator[Tensor]:
        """The arguments that a write computes on its way, from elements of a node."""
        for arg in stage.node.args[1:]:
            is_computed = arg in self._inlined and not isinstance(arg.op, Constant)
            if is_computed and seen in self._under(arg):
                yield arg

    def _collect(self, node: Tensor, seen: Tensor, found: set[Tensor], *, own: bool) -> bool:
        """Adds the largest nodes under `node` that see the old elements alone; False if they are
        too large to be kept, or there are none.

        Where `node` is the writer's `own` element, or made of it element by element, it may also
        see the element that is overwritten.
        """
        dims = self._groups.problem.dims
        own = own and isinstance(node.op, Elementwise | Cast) and dims[node] == dims[seen]
        for arg in node.args:
            if arg is seen:
                if own:
                    continue
                return False
            if arg not in self._inlined or arg in found:
                continue
            under = self._under(arg)
            if seen not in under:
                continue
            if arg.ndim < seen.ndim and not any(map(self._is_after, under)):
                found.add(arg)
            elif not self._collect(arg, seen, found, own=own):
                return False
        return True

    def _under(self, node: Tensor) -> list[Tensor]:
        """What a node is computed from, down to what lies in memory."""
        return walk([node], stop=lambda node: node not in self._inlined)

    def _is_in_unit(self, node: Tensor) -> bool:
        return self._groups.group_of.get(node) == self._writer

    def _is_after(self, node: Tensor) -> bool:
        """Whether a node might be known only once the stage that overwrites has begun."""
        if node in self._groups.problem.readings:
            return True
        group = self._groups.group_of.get(node)
        if group is None:
            return False
        return group == self._writer or self._groups.reaches(self._writer, group)
