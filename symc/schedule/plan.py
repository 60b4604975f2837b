"""The input and the result of scheduling: the data between the graph and the loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from symc.codegen.record import record
from symc.graph.conditions import Test
from symc.graph.dims import Dim
from symc.graph.inputs import Constant, Input, Shared
from symc.graph.lowering import Lowering
from symc.graph.node import Tensor
from symc.loops.body import Slot
from symc.loops.comparisons import Counters
from symc.schedule.reasons import Apart, Copied
from symc.schedule.stages import Stage


@record
class Nest:
    """Stages, producers first, inside `depth` shared outer loops."""

    stages: tuple[Stage, ...]
    depth: int


@record
class Lone:
    """A stage that is a kernel of its own."""

    stage: Stage


@record
class Invoke:
    """A call of a routine or into Python, and the stages of all its results that are wanted."""

    stages: tuple[Stage, ...]


@record
class MeasuredSize:
    """The value of the scalar `node` becomes the size `size`."""

    size: str
    node: Tensor


@record
class Inside:
    """A loop or branch: the stages of all wanted results, and a plan for each block."""

    stages: tuple[Stage, ...]
    plans: tuple[Plan, ...] = ()


Unit: TypeAlias = Nest | Lone | Invoke | Inside | Test | MeasuredSize


@record
class Plan:
    """The decisions of scheduling, with their reasons.

    `stored` has the nodes that are kept in memory, with the nodes they are computed from.
    `in_place` has the nodes whose memory is taken over, each with the stage that is computed there:
    shared variables, states of a loop, and stages that nobody else reads any more; `copied` has
    those whose memory is not. `alternating` are states in two arrays in turn, which steps write the
    same part of. `repeated` are nodes that are stored because computing them where
    they are read would repeat work, `first` those that are read before memory is overwritten;
    `apart` has the kernels that might have been one.
    """

    units: Sequence[Unit]
    stored: Mapping[Tensor, Stage]
    in_place: Mapping[Tensor, Tensor]
    alternating: Sequence[Tensor]
    repeated: Sequence[Tensor]
    first: Sequence[Tensor]
    copied: Sequence[Copied]
    apart: Sequence[Apart]


@record
class Problem:
    """A graph to be scheduled: all that decisions depend on, in tables, by node.

    `order` has all nodes, arguments before users. `roots` must end in memory; `updates` pairs
    shared variables, inputs that are given away, or the states of the loop around, with nodes
    among the roots. Those in `rings` are the oldest rows of states of which several are kept.
    `tests` are the run-time conditions in order, `after` has for each the numbers of those that it
    waits for.

    `lowerings` says how nodes that are not given are computed, `dims` has the lengths of their
    axes, equal lengths as one. Some lengths are values that the program computes: `readings` has
    those that must be known before an element of a node is computed, `folded` those of the loops
    that a node has beyond its axes, and `tested` those of each condition.

    `written` has the lengths of the part that a node writes into another. `lengths` gives the
    lengths that size variables stand for, `steps` are the counters of the loops around.

    `blocks` has the problems inside each loop and branch.
    """

    order: Sequence[Tensor]
    roots: Sequence[Tensor]
    updates: Sequence[tuple[Tensor, Tensor]]
    rings: frozenset[Tensor]
    tests: Sequence[Test]
    after: Sequence[frozenset[int]]
    lowerings: Mapping[Tensor, Lowering]
    dims: Mapping[Tensor, tuple[Dim, ...]]
    readings: Mapping[Tensor, Sequence[MeasuredSize]]
    folded: Mapping[Tensor, Sequence[MeasuredSize]]
    tested: Sequence[Sequence[MeasuredSize]]
    written: Mapping[Tensor, tuple[Dim, ...]]
    lengths: Mapping[str, Dim]
    steps: Counters
    blocks: Mapping[Tensor, Sequence[Block]]
    on_device: bool


@record
class Block:
    """The body of a loop or branch: a problem whose sources are slots.

    `scope` is the number of its lengths among those of `Prepared`. `results` are the nodes of the
    body's results, None for those that nobody needs; `number` is the size that is the number of a
    loop's step, and `numbers` are the arguments that are written in the body where it reads them.
    """

    problem: Problem
    scope: int
    slots: Sequence[Tensor]
    results: Sequence[Tensor | None]
    number: str = ""
    numbers: frozenset[Tensor] = frozenset()


def is_source(node: Tensor) -> bool:
    """Whether a node's value is given: an input, a shared variable or a constant array."""
    if node.args:
        return False
    return isinstance(node.op, Input | Shared | Slot) or (
        isinstance(node.op, Constant) and bool(node.type.shape)
    )
