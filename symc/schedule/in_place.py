"""Memory that is taken over: which stages are computed where something lies that is needed no more.

Candidates are the new values of shared variables and of a loop's states, over the old ones; stages
that write parts of an array, over that array; and loops, over where their states begin. A stage
may overwrite a node if all that reads the node's memory is done before, or reads only the
elements that the same iteration writes (`overwriting.py`). Of ``x[1:].set(x[:-1])`` the part that
is written must be read first: then it is asked to be kept in memory of its own, which is smaller
than `x` (`reading_first.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symc.graph.dims import sizes, symbolic
from symc.graph.inputs import Input, Shared
from symc.graph.lowering import Control, Write
from symc.graph.node import Op, Tensor
from symc.schedule.alternating import may_alternate, may_begin_elsewhere
from symc.schedule.dependencies import Groups
from symc.schedule.overwriting import Use, is_base, looks_at, may_overwrite, uses
from symc.schedule.reading_first import ReadingFirst
from symc.schedule.reasons import (
    Copied,
    CopyReason,
    MayFail,
    MustStay,
    OtherKind,
    ReadAfter,
    ReadWhileWritten,
)
from symc.schedule.stages import Facts, Stage, full_index
from symc.schedule.unbroken import last_of_all
from symc.schedule.views import memory_read


class InPlace:
    """Decides which stages take over the memory of which nodes.

    `taken` has the nodes whose memory is taken over, with the stages; `copied` the others, with why
    not; `first` the nodes that ought to be kept in memory, as then more could be taken over, and
    `before` those among them that nothing but their order puts before a stage, with that stage;
    `alternating` the states that need no copy as they are in two arrays in turn.
    """

    def __init__(self, groups: Groups, facts: Facts) -> None:
        self._problem = groups.problem
        self._groups = groups
        self._stages = facts.stages
        self._inlined = facts.inlined
        self.taken: dict[Tensor, Tensor] = {}
        self.copied: list[Copied] = []
        self.first: set[Tensor] = set()
        self.before: list[tuple[Tensor, Tensor]] = []
        self.alternating: list[Tensor] = []
        self._takes: dict[Tensor, Tensor] = {}  # the other way round
        self._unbroken: int | None = None  # the loop that writes into shared variables
        self._others: dict[Tensor, list[int]] = {}  # the groups without stages that read a node
        for number, unit in groups.extra.items():
            if unit.node is not None:
                self._others.setdefault(unit.node, []).append(number)
        for owner, writer in self._overwritten():
            self._note(owner, self._claim(owner, writer))
        if self._problem.updates:
            self._update()
        self._note_kept()

    def _note(self, owner: Tensor, reason: CopyReason | None) -> None:
        if reason is not None:
            self.copied.append(Copied(owner, reason))

    # --- candidates -------------------------------------------------------------------------------

    def _overwritten(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Stages that go on with an array which is nobody's result."""
        roots = {looks_at(root, self._stages) for root in self._problem.roots}
        for node, stage in self._stages.items():
            owner = self._goes_on_with(node, stage)
            if owner in self._stages and owner not in {*roots, *self.taken}:
                yield owner, node

    def _goes_on_with(self, node: Tensor, stage: Stage) -> Tensor | None:
        """The array that a write or a loop changes step by step, if it has the result's lengths."""
        match stage.lowering:
            case Write(base=base) as write if base is not None and node.args:
                owner = looks_at(node.args[0], self._stages)
                fits = self._fits(node.args[0], node) and self._is_measured_before(owner, node)
                return owner if fits and self._begins_there(owner, stage, write) else None
            case Control() if (initial := _continued(node)) is not None:
                owner = looks_at(initial, self._stages)
                return owner if self._is_measured_before(owner, node) else None
            case _:
                return None

    def _begins_there(self, owner: Tensor, stage: Stage, write: Write) -> bool:
        """Whether a write may store what it begins as where an array is that it reads.

        That is the array itself, or made of it element by element: parts that are written after
        that read no others of its elements.
        """
        node = stage.node
        own = full_index(node, self._problem.dims[node])
        return is_base(node.args[0], node, write) or all(
            index == own
            for seen, indexes in stage.reads.items()
            if looks_at(seen, self._stages) is owner
            for index in indexes
        )

    def _is_measured_before(self, owner: Tensor, node: Tensor) -> bool:
        """Whether lengths of a node are known when what it may take the memory of is computed.

        They are the owner's own, unless the node sees that under another shape: the lengths of it
        may be computed from the owner's elements.
        """
        problem = self._problem
        if problem.dims[owner] == problem.dims[node]:
            return True
        own = {symbolic(size) for dim in problem.dims[node] for size in sizes(dim)}
        needed = {one for one in problem.readings.get(node, ()) if problem.lengths[one.size] in own}
        return needed <= {*problem.readings.get(owner, ())}

    def _note_kept(self) -> None:
        """Notes the arrays that are copied as nothing may change them."""
        noted = {*self.taken, *self.alternating, *(copied.node for copied in self.copied)}
        for node, stage in self._stages.items():
            owner = None if node in self._takes else self._goes_on_with(node, stage)
            if owner is None or owner in noted or not owner.ndim:
                continue
            if owner in self._stages or (not owner.args and owner not in self._inlined):
                noted.add(owner)
                self.copied.append(Copied(owner, MustStay()))

    def _update(self) -> None:
        """Updates of shared variables and arguments that are given away, and of states."""
        updates = list(self._problem.updates)
        # What reads a variable then comes before a loop that may fail, and may change none itself.
        updates = [update for update in updates if not self._by_unbroken(*update)]
        needed: dict[type[Op], set[int]] = {}
        for kind in {type(owner.op) for owner, _ in updates} & {Input, Shared}:
            # Variables must never be half-changed; of an argument given away only errors may tell.
            taking = self._groups.taking_memory()
            needed[kind] = self._groups.needed(by_signals=kind is Shared, taking=taking)
        for owner, node in updates:
            writers = self._writers(node)
            reason: CopyReason | None
            if writers[0] not in self._stages or not self._fits(owner, node):
                reason = OtherKind()
            elif self._groups.group_of[writers[0]] in needed.get(type(owner.op), ()):
                reason = MayFail()  # then nothing must have changed
            else:
                reason = self._claim(owner, writers[0], writers)
            self._note(owner, reason)

    def _writers(self, node: Tensor) -> list[Tensor]:
        """The stages that one after the other make a new value, in one memory."""
        writers = [looks_at(node, self._stages)]
        while writers[0] in self._takes:
            writers.insert(0, self._takes[writers[0]])
        return writers

    def _by_unbroken(self, owner: Tensor, node: Tensor) -> bool:
        """Lets a loop that may fail write where it need not fail: one loop, after all others."""
        writers = self._writers(node)
        if writers[0] not in self._stages or not self._fits(owner, node):
            return False
        groups, group = self._groups, self._groups.group_of[writers[0]]
        if self._unbroken not in (None, group) or not self._begins_with(owner, writers[0]):
            return False
        others = last_of_all(self._problem, groups, group, by_signals=isinstance(owner.op, Shared))
        if others is None or self._claim(owner, writers[0], writers) is not None:
            return False
        self._unbroken = group
        for other in others:
            groups.edge(other, group)
        return True

    def _begins_with(self, owner: Tensor, loop: Tensor) -> bool:
        """Whether the state of a loop begins with a variable: else that would be written before."""
        initial = _continued(loop)
        return initial is not None and looks_at(initial, self._stages) is owner

    # --- claims -----------------------------------------------------------------------------------

    def _claim(
        self, owner: Tensor, writer: Tensor, writers: Sequence[Tensor] = ()
    ) -> CopyReason | None:
        """Lets a stage overwrite a node, once all else that reads the node is done before.

        Of a state, `writers` are all stages that make its new value, the first is `writer`.
        """
        groups, stage = self._groups, self._stages[writer]
        group = groups.group_of[writer]
        found = list(uses(owner, groups.readers, self._stages, groups.group_of, self._others))
        own = [use for use in found if use.unit == group]
        before = {use.unit for use in found} - {group}
        late = [use for use in found if use.unit in before and groups.reaches(group, use.unit)]
        if isinstance(stage.lowering, Control):
            free = self._only_continues(writer, owner)
        else:
            members, depth = groups.members[group], groups.depth[group]
            free = may_overwrite(stage, members, depth, own, self._problem)
        if (late or not free) and may_alternate(owner, writers, self._stages, self._problem):
            self.alternating.append(owner)
            return None
        if late or not free:
            reason = ReadAfter(groups.sign(late[0].unit)) if late else ReadWhileWritten()
            if may_begin_elsewhere(owner, writers, self._stages, self._problem):
                return reason
            is_loop = free and isinstance(stage.lowering, Control)  # what it reads is no obstacle
            self._read_first(late if is_loop else [*late, *own], writer)
            return reason
        for reader in before:
            groups.edge(reader, group)
        self.taken[owner] = writer
        self._takes[writer] = owner
        return None

    def _only_continues(self, node: Tensor, owner: Tensor) -> bool:
        """Whether a loop reads a node for nothing but where the state begins whose end it gives."""
        initial = _continued(node)
        readers = [arg for arg in memory_read(node) if looks_at(arg, self._stages) is owner]
        return not readers or (len(readers) == 1 and readers[0] is initial)

    def _fits(self, owner: Tensor, node: Tensor) -> bool:
        dims = self._problem.dims
        return owner.dtype is node.dtype and dims[owner] == dims[node]

    # --- elements that must be read first ---------------------------------------------------------

    def _read_first(self, uses: Sequence[Use], writer: Tensor) -> None:
        """Asks for what such stages read of the old elements to be kept in memory before."""
        reading = ReadingFirst(self._groups, self._inlined, writer)
        asked: set[Tensor] = set()
        before: list[tuple[Tensor, Tensor]] = []
        for use in uses:
            found = reading.of(use)
            if found is None:
                return
            if use.stage is not None and not isinstance(use.stage.lowering, Write):
                before += [(node, writer) for node in found]
                reading.hold(found)
            asked |= found
        self.first |= asked
        self.before += before


def _continued(node: Tensor) -> Tensor | None:
    """Where the state of a loop begins whose last value a node is; None for other nodes."""
    if not node.op.is_control:
        return None
    from symc.loops.scan import Part, Scan  # late: most programs have no loops

    match node.op:
        case Scan(part=Part("final", number)) if node.op.layout.states[number].depth == 1:
            return node.op.split(node.args)[2][number]
        case _:
            return None
