"""Memory that is taken over: which stages are computed where something lies that is needed no more.

Candidates are the new values of shared variables and of a loop's states, over the old ones, and
stages that write parts of an array, over that array. What is computed may overwrite a node if all
that reads the node's memory is done before, or reads only the elements that the same iteration
writes (`overwriting.py`). Of ``x[1:].set(x[:-1])`` what is written must be read first: then it is
asked to be kept in memory of its own, which is smaller than a copy of `x`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symc.graph.inputs import Constant, SharedVariable
from symc.graph.lowering import Control, Write
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.scan import Part, Scan
from symc.schedule.groups import Groups
from symc.schedule.overwriting import Use, looks_at, may_overwrite
from symc.schedule.plan import Problem
from symc.schedule.stages import Facts, Stage


class InPlace:
    """Decides which stages take over the memory of which nodes.

    `taken` has the nodes whose memory is taken over, with the stages; `first` the nodes that ought
    to be kept in memory, as then more could be taken over.
    """

    def __init__(self, problem: Problem, facts: Facts, groups: Groups) -> None:
        self._problem = problem
        self._stages = facts.stages
        self._inlined = facts.inlined
        self._groups = groups
        self.taken: dict[Tensor, Tensor] = {}
        self.first: set[Tensor] = set()
        self._takes: dict[Tensor, Tensor] = {}  # the other way round
        roots = {looks_at(root, self._stages) for root in problem.roots}
        for owner, writer in self._overwritten(roots):
            self._claim(owner, writer)
        if problem.updates:
            self._update()

    def _overwritten(self, roots: set[Tensor]) -> Iterator[tuple[Tensor, Tensor]]:
        """Stages that write parts of an array which is nobody's result."""
        for node, stage in self._stages.items():
            match stage.lowering:
                case Write(base=base) if base is not None and node.args:
                    owner = looks_at(node.args[0], self._stages)
                    fits = owner.dtype is node.dtype and self._fits(node.args[0], node)
                case Control() if (initial := _continued(node)) is not None:
                    owner = looks_at(initial, self._stages)
                    fits = True
                case _:
                    continue
            if fits and owner in self._stages and owner not in {*roots, *self.taken}:
                yield owner, node

    def _update(self) -> None:
        needed = self._groups.needed()
        for owner, node in self._problem.updates:
            writer = looks_at(node, self._stages)
            while writer in self._takes:
                writer = self._takes[writer]
            group = self._groups.unit_of(writer)
            if group is None or owner.dtype is not node.dtype or not self._fits(owner, node):
                continue
            if isinstance(owner, SharedVariable) and group in needed:
                continue  # what fails later must find nothing changed
            self._claim(owner, writer)

    def _claim(self, owner: Tensor, writer: Tensor) -> None:
        """Lets a stage overwrite a node, once all else that reads the node is done before."""
        groups, stage = self._groups, self._stages[writer]
        group = groups.unit_of(writer)
        if group is None or writer in self._takes:
            return
        found = list(groups.uses(owner))
        own = [use for use in found if use.unit == group]
        before = {use.unit for use in found} - {group}
        late = [use for use in found if use.unit in before and groups.reaches(group, use.unit)]
        stages, depth = groups.members(group)
        if isinstance(stage.lowering, Control):
            free = self._only_continues(writer, owner)
        else:
            free = may_overwrite(stage, stages, depth, own, self._problem.dims_of)
        if late or not free:
            self._read_first(owner, [*late, *own])
            return
        for reader in before:
            groups.put_before(reader, group)
        self.taken[owner] = writer
        self._takes[writer] = owner

    def _read_first(self, owner: Tensor, uses: Sequence[Use]) -> None:
        """Asks for what such stages write, which reads the node, to be kept in memory."""
        asked: set[Tensor] = set()
        for use in uses:
            if use.stage is None or not isinstance(use.stage.lowering, Write):
                return
            through = set(self._through(use.stage, use.seen))
            if not through and use.stage.node.args[0] is not use.seen:
                return
            asked |= through
        self.first |= asked

    def _only_continues(self, node: Tensor, owner: Tensor) -> bool:
        """Whether a loop reads a node for nothing but where the state begins whose end it gives."""
        initial = _continued(node)
        readers = [arg for arg in node.args if looks_at(arg, self._stages) is owner]
        return not readers or (len(readers) == 1 and readers[0] is initial)

    def _through(self, stage: Stage, seen: Tensor) -> Iterator[Tensor]:
        """The arguments that a stage computes on its way, from elements of a node."""
        for arg in stage.node.args[1:]:
            if arg in self._inlined and not isinstance(arg.op, Constant):
                inner = walk([arg], stop=lambda node: node not in self._inlined)
                if seen in inner:
                    yield arg

    def _fits(self, owner: Tensor, node: Tensor) -> bool:
        return self._problem.dims_of(owner) == self._problem.dims_of(node)


def _continued(node: Tensor) -> Tensor | None:
    """Where the state of a loop begins whose last value a node is; None for other nodes."""
    match node.op:
        case Scan(part=Part("final", number)) if node.op.layout.states[number].depth == 1:
            return node.op.split(node.args)[2][number]
        case _:
            return None
