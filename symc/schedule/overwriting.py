"""Updates in place: which variables a new value may overwrite while it is computed.

The memory of a shared variable is read by stages, by run-time conditions and by lengths that are
measured, of the variable itself or of what looks at its memory under another shape:

    Use     who reads the memory: a unit and, of a stage, which elements

The new value may be written there if each use is one of these, and of those no other:

- It is in another unit, which can be put before the unit that overwrites.
- It is in the unit that overwrites, and in each iteration lies at the element that this iteration
  writes, which it then reads first (`reads_own`).

What is not known to lie there lies elsewhere: elements that are found by reading an index have no
known place, and neither has what a routine, a loop or a function in Python reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from symc.codegen import ir
from symc.codegen.record import record
from symc.graph.dims import Dim
from symc.graph.lowering import Alias, At, Control, Fold, HostCall, Index, LibCall, Sweep, Write
from symc.graph.node import Tensor
from symc.schedule.stages import Stage, variable

Dims: TypeAlias = Mapping[Tensor, tuple[Dim, ...]]
Element: TypeAlias = tuple[tuple[Dim, ir.Expr], ...]
"""Where an element is: along each axis that is longer than 1, its length and the index."""


@record
class Use:
    """A read of a variable's memory in a unit, whose number in the order of units is `unit`.

    `seen` is the variable, or what looks at its memory; `stage` is None where the whole is read
    before anything is computed: by a condition, or by a length that is measured.
    """

    unit: int
    seen: Tensor
    stage: Stage | None


def looks_at(node: Tensor, stages: Mapping[Tensor, Stage]) -> Tensor:
    """What has the memory of a node: itself, or what it is a reshape of."""
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
    writer: Stage, unit: Sequence[Stage], depth: int, own: Sequence[Use], table: Dims
) -> bool:
    """Whether no stage of a unit, inside `depth` shared loops, could read what is overwritten.

    `own` has the uses in this unit; `writer` is the stage that overwrites.
    """
    assert writer in unit
    if not all(_reads_own(use, writer, table) for use in own):
        return False
    # All that one iteration stores it stores at its end; but a loop inside it stores as it goes.
    others = [use.stage for use in own if use.stage is not writer]
    return not others or all(
        stage is not None and len(stage.loops) == depth for stage in (writer, *others)
    )


def _reads_own(use: Use, writer: Stage, table: Dims) -> bool:
    """Whether a stage reads the variable only where the writer stores in the same iteration.

    Their loops, which they share, count from the outermost: the n-th of one is the n-th of the
    other. What a stage reads per element of its result alone, not per folded or written element,
    has indexes over the variables of those loops.
    """
    if use.stage is None:
        return False
    match use.stage.lowering:
        case At():
            pass
        case Write():
            # Elements of its parts are no elements of its base. One of length 1 tells nothing.
            if use.stage is not writer or not writer.loops:
                return False
        case Fold() | Sweep() | LibCall() | HostCall() | Alias() | Control():
            return False
        case _:
            assert_never(use.stage.lowering)
    lengths = [table[writer.node][axis] for axis in writer.loops]
    if len(use.stage.loops) != len(lengths):
        return False
    written = tuple(zip(lengths, map(variable, use.stage.loops), strict=True))
    dims = table[use.seen]
    return all(_element(index, dims) == written for index in use.stage.reads[use.seen])


def _element(index: Index, dims: Sequence[Dim]) -> Element:
    return tuple([(dim, i) for dim, i in zip(dims, index, strict=True) if dim != 1])
