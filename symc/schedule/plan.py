"""What scheduling is given and what it decides: the data between the graph and the loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from symc.codegen.record import field, record
from symc.graph.conditions import Test
from symc.graph.dims import Dim
from symc.graph.lowering import Lowering
from symc.graph.node import Tensor
from symc.schedule.ranges import Known
from symc.schedule.reasons import Apart, Copied
from symc.schedule.sizes import Lengths
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
class Reading:
    """The value of the scalar `node` becomes the size `size`."""

    size: str
    node: Tensor


@record
class Inside:
    """A loop or branch: the stages of all wanted results, and a plan for each block."""

    stages: tuple[Stage, ...]
    plans: tuple[Plan, ...] = ()


Unit: TypeAlias = Nest | Lone | Invoke | Inside | Test | Reading


@record(frozen=False)
class Plan:
    """What scheduling decided, and why.

    `in_place` has the nodes whose memory is taken over, each with the stage that is computed there:
    shared variables, states of a loop, and stages that nobody else reads any more; `copied` has
    those whose memory is not. `repeated` are nodes that are stored because computing them where
    they are read would repeat work, `first` those that are read before memory is overwritten;
    `apart` has the kernels that might have been one.
    """

    units: list[Unit]
    stored: set[Tensor]
    in_place: dict[Tensor, Tensor]
    repeated: list[Tensor] = field(default_factory=list["Tensor"])
    first: list[Tensor] = field(default_factory=list["Tensor"])
    copied: list[Copied] = field(default_factory=list["Copied"])
    apart: list[Apart] = field(default_factory=list["Apart"])


@record
class Problem:
    """What is to be scheduled.

    `roots` must end in memory; `updates` pairs what is read of shared variables, or in a step of a
    loop of its states, with the nodes among the roots that are their new values; `tests`
    are the run-time conditions in order, `after` the numbers of those each one waits for;
    `known` says what is known of lengths; `asked` has the lengths that a node's lowering asked for;
    `measured` gives the sizes among some lengths that are known only once a scalar is computed,
    `measures` says whether there are any;
    `blocks_of` has what is to be scheduled inside a loop or branch.
    """

    order: Sequence[Tensor]
    roots: Sequence[Tensor]
    updates: Sequence[tuple[Tensor, Tensor]]
    tests: Sequence[Test]
    after: Sequence[frozenset[int]]
    lowering_of: Callable[[Tensor], Lowering]
    dims_of: Callable[[Tensor], tuple[Dim, ...]]
    known: Known
    asked: Mapping[Tensor, Sequence[Dim]]
    measures: bool
    measured: Callable[[Iterable[Dim]], list[tuple[str, Tensor]]]
    blocks_of: Callable[[Tensor], Sequence[Block]]


@record
class Block:
    """What stands in a loop or branch: a problem whose sources are slots.

    `results` are the nodes of the body's results, None for those that nobody needs; `number` is the
    size that is the number of a loop's step.
    """

    problem: Problem
    table: Lengths
    slots: Sequence[Tensor]
    results: Sequence[Tensor | None]
    number: str = ""
