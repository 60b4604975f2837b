"""Scheduling: which nodes are kept in memory, which share loops, and in what order all is done.

    graph -> stages (nodes kept in memory; all others are computed where they are read)
          -> units in order:  Nest    stages that share their outer loops: one kernel
                            | Lone    a Write or Sweep: one kernel
                            | Invoke  a routine on whole buffers
                            | Test    a run-time condition
                            | Reading a length that becomes known

A node is kept in memory when it must be (outputs, folds, arguments of routines) or when computing
it where it is read would repeat expensive work. Stages share loops when what one reads of the other
lies in the same iteration of those loops: then rows stay in cache and scalars in registers.
"""

from __future__ import annotations

from symc.graph import Tensor
from symc.groups import Groups
from symc.inputs import Constant, Input, Shared
from symc.lowering import Alias, At, LibCall
from symc.stages import EXPENSIVE, Analysis, Stage
from symc.tensor.elementwise import Elementwise
from symc.units import Plan, Problem


def is_source(node: Tensor) -> bool:
    """Whether a node's value is given: an input, a shared variable or a constant array."""
    return isinstance(node.op, Input | Shared) or (
        isinstance(node.op, Constant) and bool(node.type.shape)
    )


def schedule(problem: Problem) -> Plan:
    """Decides what is stored, what shares loops, and the order of everything."""
    stored = _must_store(problem)
    reasons: list[str] = []
    costs = _inlined_costs(problem, stored)
    stages: dict[Tensor, Stage] = {}
    extra: set[Tensor] = set()
    while True:
        analysis = Analysis(
            problem.lowering_of,
            lambda node: node in stored or is_source(node),
            problem.dims_of,
            costs,
        )
        # A stage is analysed again only where one of the nodes stored now was computed in it.
        stages = {
            node: stages[node]
            if node in stages and extra.isdisjoint(stages[node].inlined)
            else analysis.stage(node)
            for node in problem.order
            if node in stored
        }
        groups = Groups(problem, stages)
        groups.merge()
        extra = _worth_storing(problem, stages, groups)
        if not extra:
            break
        reasons += [
            f"{node!r} is stored: computing it where it is read would repeat work"
            for node in problem.order
            if node in extra
        ]
        stored.update(extra)
        costs = _inlined_costs(problem, stored)
    in_place = groups.choose_in_place()
    units = groups.in_order()
    return Plan(units, stored, in_place, reasons + groups.reasons)


def _must_store(problem: Problem) -> set[Tensor]:
    stored = {node for node in problem.roots if not is_source(node)}
    for node in problem.order:
        if is_source(node) or (isinstance(node.op, Constant)):
            continue
        lowering = problem.lowering_of(node)
        if not isinstance(lowering, At):
            stored.add(node)
        if isinstance(lowering, LibCall | Alias):
            # Of a reshape, only what it looks at: its lengths are sizes, not memory.
            args = node.args[:1] if isinstance(lowering, Alias) else node.args
            stored.update(arg for arg in args if not is_source(arg) and _is_buffer(arg))
    return stored


def _is_buffer(arg: Tensor) -> bool:
    return not (isinstance(arg.op, Constant) and not arg.type.shape)


def own_cost(node: Tensor) -> float:
    """What one element costs beyond its arguments, in simple operations."""
    return float(node.op.cost) if isinstance(node.op, Elementwise) else 0.5


def _inlined_costs(problem: Problem, stored: set[Tensor]) -> dict[Tensor, float]:
    """What computing an element from stored elements costs (shared parts counted every time)."""
    costs: dict[Tensor, float] = {}
    for node in problem.order:
        total = own_cost(node)
        for arg in node.args:
            if arg not in stored:
                total += costs[arg]
        costs[node] = min(total, 1e6) if not is_source(node) else 0.0
    return costs


def _worth_storing(problem: Problem, stages: dict[Tensor, Stage], groups: Groups) -> set[Tensor]:
    """Nodes that would be computed repeatedly: in outer loops, or in several stages' loops."""
    extra: set[Tensor] = set()
    users: dict[Tensor, set[Tensor]] = {}
    for stage in stages.values():
        extra |= stage.repeated
        for node, cost in stage.inlined.items():
            if cost >= EXPENSIVE:
                users.setdefault(node, set()).add(stage.node)
    readers: dict[Tensor, list[Tensor]] = {}
    for node in problem.order:
        for arg in node.args:
            if arg in users:
                readers.setdefault(arg, []).append(node)
    for node, consumers in users.items():
        if len(consumers) < 2 or groups.share_all_loops(consumers):
            continue
        # Of a chain that is shared as a whole, only the last node is worth keeping.
        if any(users.get(reader, {reader}) != consumers for reader in readers[node]):
            extra.add(node)
    return _outermost(problem, extra - stages.keys())


def _outermost(problem: Problem, nodes: set[Tensor]) -> set[Tensor]:
    """Nodes all at once could each be right only because another is not yet stored: that is fine,
    except for chains, where the last one is enough for now; the next round finds the rest."""
    inner: set[Tensor] = set()
    below: dict[Tensor, bool] = {}
    for node in reversed(problem.order):
        covered = below.get(node, False)
        if node in nodes and covered:
            inner.add(node)
        for arg in node.args:
            below[arg] = below.get(arg, False) or covered or node in nodes
    return (nodes - inner) or nodes
