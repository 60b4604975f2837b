"""Overwriting: which memory a new value may be written to while the old one is still read.

The memory of a shared variable, of a loop's state or of a stage is read by stages, by run-time
conditions and by lengths that are measured, directly or under another shape:

    Use     who reads the memory: a unit and, of a stage, which elements

The new value may be written there if each use is one of these, and of those no other:

- It is in another unit, which can be put before the unit that overwrites.
- It is in the unit that overwrites, and in each iteration lies at the element that this iteration
  writes, which it then reads first.
- It is in the unit that overwrites, but of the row that an iteration of the outer loops writes, and
  outside of the loop that writes it: as a condition of a whole row.
- It is in a unit that writes a part, and lies in a row or column beside that part.

Elements not known to lie there lie elsewhere: those that are found by reading an index have no
known place, nor have those that a routine, a loop or a function in Python reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from symc.codegen import ir
from symc.codegen.record import record
from symc.graph.dims import Dim, Size, mul, sub, symbolic
from symc.graph.formulas import Index, folded_index, own_axis, own_element
from symc.graph.inputs import Constant
from symc.graph.lowering import (
    Alias,
    At,
    Control,
    Fold,
    HostCall,
    LibCall,
    Sweep,
    Write,
)
from symc.graph.node import Tensor
from symc.graph.open_formulas import OpenFormula
from symc.graph.walks import walk
from symc.loops.comparisons import is_natural
from symc.schedule.boxes import is_box, lacks_little, one_part
from symc.schedule.plan import Problem
from symc.schedule.ranges import dim_of
from symc.schedule.stages import Stage, full_index

Element: TypeAlias = tuple[tuple[Dim, ir.Expr], ...]
"""Where an element is: along each axis that is longer than 1, its length and the index."""


@record
class Use:
    """A read of a variable's memory in a unit, whose number in the order of units is `unit`.

    `seen` is the variable, or a view of its memory; `stage` is None where the whole is read
    before anything is computed: by a condition, or by a length that is measured.
    """

    unit: int
    seen: Tensor
    stage: Stage | None


def looks_at(node: Tensor, stages: Mapping[Tensor, Stage]) -> Tensor:
    """The node whose memory a node has: its own, or that of which it is a reshape."""
    while node in stages and isinstance(stages[node].lowering, Alias):
        node = node.args[0]
    return node


def uses(
    shared: Tensor,
    readers: Mapping[Tensor, Sequence[Tensor]],
    stages: Mapping[Tensor, Stage],
    unit_of: Mapping[Tensor, int],
    others: Mapping[Tensor, Sequence[int]],
) -> Iterator[Use]:
    """Every read of a variable's memory.

    `readers` has the stages that read each node, `others` the units that do so and have no stages.
    """
    pending: list[Tensor] = [shared]
    while pending:
        seen = pending.pop()
        for reader in readers.get(seen, ()):
            if isinstance(stages[reader].lowering, Alias):
                pending.append(reader)
            else:
                yield Use(unit_of[reader], seen, stages[reader])
        for number in others.get(seen, ()):
            yield Use(number, seen, None)


def may_overwrite(
    writer: Stage, unit: Sequence[Stage], depth: int, own: Sequence[Use], problem: Problem
) -> bool:
    """Whether no stage of a unit, inside `depth` shared loops, could read an overwritten element.

    `own` has the uses in this unit; `writer` is the stage that overwrites.
    """
    assert writer in unit
    own = [use for use in own if not _reads_row_before(use, writer, depth, problem)]
    if not all(_reads_own(use, writer, problem) for use in own):
        return False
    # All that one iteration stores it stores at its end; but a loop inside it stores as it goes.
    others = [use.stage for use in own if use.stage is not writer]
    return not others or all(
        stage is not None and len(stage.loops) == depth for stage in (writer, *others)
    )


def _reads_row_before(use: Use, writer: Stage, depth: int, problem: Problem) -> bool:
    """Whether a stage that the writer needs reads nothing but the row that an iteration writes.

    The stage has no loops but the shared ones, and comes before the loop of the writer inside them.
    """
    stage = use.stage
    if stage is None or not isinstance(stage.lowering, At) or use.seen is stage.node:
        return False
    if not 0 < len(stage.loops) == depth < len(writer.loops):
        return False
    lengths = [problem.dims[writer.node][axis] for axis in writer.loops[:depth]]
    row = tuple(zip(lengths, map(own_axis, stage.loops), strict=True))
    dims = problem.dims[use.seen]
    if any(_element(index, dims)[:depth] != row for index in stage.reads[use.seen]):
        return False
    return stage.node in walk([writer.node])


def _reads_own(use: Use, writer: Stage, problem: Problem) -> bool:
    """Whether a stage reads the variable only where the writer stores in the same iteration.

    Their loops, which they share, count from the outermost: the n-th of one is the n-th of the
    other. A read per element of its result alone, not per folded or written element,
    has indexes over the variables of those loops.
    """
    if use.stage is None:
        return False
    match use.stage.lowering:
        case At():
            pass
        case Write() as write:
            return use.stage is writer and _parts_read_own(use, writer, write, problem)
        case Fold() | Sweep() | LibCall() | HostCall() | Alias() | Control():
            return False
        case _:
            assert_never(use.stage.lowering)
    lengths = [problem.dims[writer.node][axis] for axis in writer.loops]
    if len(use.stage.loops) != len(lengths):
        return False
    written = tuple(zip(lengths, map(own_axis, use.stage.loops), strict=True))
    dims = problem.dims[use.seen]
    return all(_element(index, dims) == written for index in use.stage.reads[use.seen])


def _parts_read_own(use: Use, writer: Stage, write: Write, problem: Problem) -> bool:
    """Whether the written part reads only elements of the base that it writes itself, or nobody.

    Elements of the base that would be copied stay where they are, and are not read. If the memory
    is not that of the base, the part must be a box: what is around it is written, too.
    """
    if not writer.loops:
        return False  # of one element: that of the base and those of its parts look the same
    own = full_index(writer.node, problem.dims[writer.node])
    reads = [index for index in use.stage.reads[use.seen] if index != own] if use.stage else []
    if not reads:
        return True
    if len(write.parts) != 1:
        return False
    if not is_base(use.seen, writer.node, write):
        is_looped = len(writer.loops) == writer.node.ndim
        return is_looped and set(reads) == {box_places(writer.node, write, problem)}
    (part,) = write.parts
    inner = folded_index(len(part.extents))
    opened = OpenFormula(part.target, inner)
    if not part.parallel or not _has_all(opened, writer.node, problem):
        return False
    target, extents = opened.target(), problem.written[writer.node]
    written, read = Counted(inner, extents), Counted(inner, extents)
    for index in reads:
        if index != target and not _are_apart(index, target, read, written, problem):
            return False
    return True


def box_places(node: Tensor, write: Write, problem: Problem) -> Index | None:
    """The index of each element of a box in the middle of other memory, from a constant place on.

    None where what is around it is not written by itself, but all of the base below it (see
    `symc/lower/frames.py`): that would be read as elements of the box. (Other places have names in
    kernels, by which these do not see that they are boxes.)
    """
    part = None if problem.on_device else one_part(node, write)
    if part is None:
        return None
    if node.ndim == 1 and not lacks_little(problem.written[node][0], problem.dims[node][0]):
        return None
    inner = folded_index(node.ndim)
    places: list[Index] = []
    for index in (inner, (ir.const(0),) * node.ndim):
        opened = OpenFormula(part.target, index)
        if not _has_all(opened, node, problem):
            return None
        places.append(opened.target())
    is_fixed = all(isinstance(start, ir.Const) for start in places[1])
    return places[0] if is_fixed and is_box(places[0], inner, places[1]) else None


def is_base(seen: Tensor, node: Tensor, write: Write) -> bool:
    """Whether a node of which parts are written begins as another node, as that is."""
    return node.args[0] is seen and write.base == own_element(node)


class Counted:
    """Variables of a kernel's loops as counters: each object counts for itself."""

    def __init__(self, variables: Sequence[ir.Var], extents: Sequence[Dim]) -> None:
        names = [variable.name for variable in variables]
        sizes = [Size(ir.Var(name), None) for name in names]
        self.dims: dict[str, Dim] = dict(zip(names, map(symbolic, sizes), strict=True))
        self.counters = list(zip(sizes, extents, strict=True))


def _are_apart(
    index: Index, target: Index, read: Counted, written: Counted, problem: Problem
) -> bool:
    """Whether elements that are read lie apart from all that are written, along some axis."""
    here, there = dict(problem.lengths) | read.dims, dict(problem.lengths) | written.dims
    counters = [*problem.steps, *written.counters, *read.counters]
    for one, other in zip(index, target, strict=True):
        first, second = dim_of(one, here), dim_of(other, there)
        if first is None or second is None:
            continue
        distance = sub(second, first)
        if any(is_natural(sub(mul(distance, sign), 1), counters) for sign in (1, -1)):
            return True
    return False


_DEEPEST = 16  # indexes are looked into that far


def _has_all(opened: OpenFormula, node: Tensor, problem: Problem, depth: int = 0) -> bool:
    """Gives an open formula the integers that it asks for, written out, if all are known."""
    while (request := opened.next()) is not None:
        number, index = request
        element = _integer(node.args[number], index, problem, depth + 1)
        if element is None:
            return False
        opened.elements.append(element)
    return True


def _integer(node: Tensor, index: Index, problem: Problem, depth: int) -> ir.Expr | None:
    """An element of a node that is computed where it is read; None if that is stored."""
    if not node.dtype.is_integer or depth > _DEEPEST:
        return None
    if isinstance(node.op, Constant):
        return ir.const(int(node.op.value)) if not node.ndim else None
    lowering = problem.lowerings.get(node)
    if not isinstance(lowering, At):
        return None
    opened = OpenFormula(lowering.element, index)
    return opened.value() if _has_all(opened, node, problem, depth) else None


def _element(index: Index, dims: Sequence[Dim]) -> Element:
    return tuple([(dim, i) for dim, i in zip(dims, index, strict=True) if dim != 1])
