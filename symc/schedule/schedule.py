"""Scheduling: which nodes are kept in memory, which share loops, and the order of all.

    graph -> stages (nodes kept in memory; all others are computed where they are read)
          -> units in order:  Nest    stages that share their outer loops: one kernel
                            | Lone    a Write or Sweep: one kernel
                            | Invoke  a routine, or a function in Python, on whole buffers
                            | Inside  a loop or branch, with a plan for its body
                            | Test    a run-time condition
                            | MeasuredSize  a length that becomes known

A node is kept in memory when it must be (outputs, folds, arguments of routines) or when computing
it where it is read would repeat work: in loops that it does not depend on, in several stages, at
several places of one stage (neighbours of neighbours), or for elements of a small table that are
gathered again and again. Stages share loops when the part that one reads of the other lies in the
same iteration of those loops: then rows stay in cache and scalars in registers.

`stages.py` finds the reads of stages, `multiplying.py` what would have too many of them,
`tables.py` tables, `dependencies.py` their order as a graph; `fusing.py` merges,
`in_place.py` chooses the variables that are overwritten, `order.py` puts all in a row. The reasons
are recorded: see `reasons.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from symc.graph.inputs import Constant
from symc.graph.lowering import (
    Alias,
    Argument,
    At,
    Control,
    Fold,
    HostCall,
    LibCall,
    Lowering,
)
from symc.graph.node import Tensor
from symc.schedule.dependencies import Groups
from symc.schedule.fusing import merge
from symc.schedule.in_place import InPlace
from symc.schedule.multiplying import multiplying
from symc.schedule.order import apart, in_order
from symc.schedule.plan import Inside, Plan, Problem, Unit, is_source
from symc.schedule.stages import Analysis
from symc.schedule.storing import worth_storing
from symc.schedule.tables import tables
from symc.schedule.views import memory_read


def schedule(problem: Problem, *, in_steps: bool = False) -> Plan:
    """Decides which nodes are stored, which share loops, and the order of everything.

    `in_steps`: of the steps of a loop, or of one side of a branch.

    It depends on nothing but the problem, and changes nothing: equal problems have equal plans.
    Nodes that turn out worth storing are stored (`storing.py`), and all is looked at again: a few
    times at most, each time linear in the number of nodes.
    """
    sources = {node for node in problem.order if is_source(node)}
    own = {node: node.op.cost for node in problem.order if node not in sources}
    stored = _must_store(problem, sources)
    stored |= multiplying(problem, sources, stored)
    stored |= tables(problem, _inlined_costs(own, sources, stored), stored, in_steps=in_steps)
    analysis = Analysis(problem.order, problem.lowerings, problem.dims, sources)
    repeated: list[Tensor] = []
    first: list[Tensor] = []
    before: list[tuple[Tensor, Tensor]] = []
    while True:
        costs = _inlined_costs(own, sources, stored)
        facts = analysis.facts(stored, costs)
        groups = Groups(problem, facts, before)
        refusals = merge(groups)
        if extra := worth_storing(problem, facts, groups, costs, analysis):
            repeated += [node for node in problem.order if node in extra]
            stored |= extra
            continue
        in_place = InPlace(groups, facts)
        extra = in_place.first - stored
        if not extra:
            break
        first += [node for node in problem.order if node in extra]
        before += in_place.before
        stored |= extra
    units = [_planned(problem, unit) for unit in in_order(groups, in_place.taken.values())]
    return Plan(
        units, facts.stages, in_place.taken, in_place.alternating, repeated, first,
        in_place.copied, apart(units, refusals),
    )  # fmt: skip


def _planned(problem: Problem, unit: Unit) -> Unit:
    """The unit; if it is a loop or branch, with plans for its bodies."""
    if not isinstance(unit, Inside):
        return unit
    blocks = problem.blocks[unit.stages[0].node]
    return Inside(unit.stages, tuple(schedule(block.problem, in_steps=True) for block in blocks))


def _must_store(problem: Problem, sources: AbstractSet[Tensor]) -> set[Tensor]:
    stored = {node for node in problem.roots if node not in sources}
    unread = _unread(problem)
    for node in problem.order:
        lowering = problem.lowerings.get(node)
        if lowering is None or node in unread:
            continue
        if not isinstance(lowering, At):
            stored.add(node)
        match lowering:  # only arguments that are read: lengths are sizes, not memory
            case Alias():
                args = node.args[:1]
            case LibCall(args=parameters):
                numbers = [p.number for p in parameters if isinstance(p, Argument)]
                args = tuple(node.args[number] for number in numbers if number >= 0)
            case HostCall():
                args = node.args
            case Control(first=first):
                read = {*memory_read(node), node.args[0]}
                written = problem.blocks[node][0].numbers
                args = tuple([a for a in node.args[first:] if a in read and a not in written])
            case _:
                args = ()
        stored.update(arg for arg in args if arg not in sources and _is_buffer(arg))
    return stored


def _unread(problem: Problem) -> set[Tensor]:
    """The nodes that nothing needs: a routine may have no use for an argument, nor may a search."""
    if not any(_leaves_out(lowering) for lowering in problem.lowerings.values()):
        return set()
    read = set(problem.roots)
    for node in reversed(problem.order):
        if node in read:
            match problem.lowerings.get(node):
                case LibCall(args=args):
                    numbers = [arg.number for arg in args if isinstance(arg, Argument)]
                    read.update(node.args[number] for number in numbers if number >= 0)
                case Fold(finds=True):
                    read.add(node.args[0])
                case _:
                    read.update(node.args)
    return {node for node in problem.order if node not in read}


def _leaves_out(lowering: Lowering) -> bool:
    """Whether a lowering may have no use for an argument of its node."""
    return isinstance(lowering, LibCall) or (isinstance(lowering, Fold) and lowering.finds)


def _is_buffer(arg: Tensor) -> bool:
    return not (isinstance(arg.op, Constant) and not arg.type.shape)


def _inlined_costs(
    own: Mapping[Tensor, float], sources: AbstractSet[Tensor], stored: AbstractSet[Tensor]
) -> dict[Tensor, float]:
    """The cost of an element, computed from stored ones (shared parts counted every time).

    Numbers cost an element nothing: they are computed before the loop over it.
    """
    costs = dict.fromkeys(sources, 0.0)
    for node, total in own.items():
        for arg in node.args:
            if arg not in stored and (arg.ndim or not node.ndim):
                total += costs[arg]
        costs[node] = min(total, 1e6)
    return costs
