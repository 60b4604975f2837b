"""Which nodes are worth storing: those that would be computed repeatedly.

Nodes all at once could each be right only because another is not yet stored, so of a chain of such
nodes the last is stored first, the one next to the results. What comes before it has other users
then: the stages that still reach it, and the new one. Where these are seen to share no loops, as
one of them folds, it is stored at once; where that depends on how stages will be merged, the next
round finds it. So a deep network has no more rounds than a shallow one.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from symc.graph.lowering import At
from symc.graph.node import EXPENSIVE, Tensor
from symc.schedule.dependencies import Groups
from symc.schedule.fusing import share_all_loops
from symc.schedule.plan import Problem
from symc.schedule.stages import Analysis, Facts


def worth_storing(
    problem: Problem, facts: Facts, groups: Groups, costs: Mapping[Tensor, float],
    analysis: Analysis,
) -> set[Tensor]:  # fmt: skip
    """Nodes that would be computed repeatedly: in outer loops, or in several stages' loops."""
    alone: dict[int, bool] = {}  # for sets of stages: whether no other loops compute the same
    extra = set(facts.repeated)
    shared: dict[Tensor, int] = {}
    for node, users in facts.inlined.items():
        if costs[node] >= EXPENSIVE:
            if users not in alone:
                alone[users] = is_one(users) or share_all_loops(groups, users)
            if not alone[users]:
                shared[node] = users
    if shared:
        # Of a chain that is shared as a whole, only the last node is worth keeping.
        for node in problem.order:
            for arg in node.args:
                if arg in shared and facts.inlined.get(node) != shared[arg]:
                    extra.add(arg)
    found = extra - facts.stages.keys()
    last = _outermost(problem, found, facts.stages.keys())
    if len(last) == len(found) or facts.repeated:
        return last
    return last | _Further(problem, facts, costs, analysis).found(last)


def is_one(users: int) -> bool:
    """Whether a set has one member at most."""
    return users & (users - 1) == 0


def _outermost(problem: Problem, nodes: set[Tensor], stored: AbstractSet[Tensor]) -> set[Tensor]:
    """Those that no other of them is computed from. What is stored ends a chain."""
    if len(nodes) < 2:
        return nodes
    below: set[Tensor] = set()
    for node in reversed(problem.order):
        if node in nodes or (node in below and node not in stored):
            below.update(node.args)
    return nodes - below or nodes


class _Further:
    """The search for nodes that will be worth storing once those after them are stored."""

    def __init__(
        self, problem: Problem, facts: Facts, costs: Mapping[Tensor, float], analysis: Analysis
    ) -> None:
        self._order = problem.order
        self._facts = facts
        self._costs = costs
        self._reads = analysis.reads_of()
        self._users: dict[Tensor, int] = {}
        self._readers: dict[Tensor, set[int]] = {}  # of each node, the users of its readers
        self._open: set[Tensor] = set()  # those of which it is not known whether they are stored
        self._folds = sum(
            [
                1 << number
                for number, stage in enumerate(facts.stages.values())
                if not isinstance(stage.lowering, At)
            ]
        )

    def found(self, stored: AbstractSet[Tensor]) -> set[Tensor]:
        """The nodes before those that are `stored` now."""
        itself = {node: 1 << number for number, node in enumerate(self._facts.stages)}
        found: set[Tensor] = set()
        for node in reversed(self._order):
            if node in self._facts.stages:
                self._hand_down(node, itself[node], is_stored=True)
                continue
            users = self._users.get(node, 0)
            if node in stored or (node not in self._open and self._is_shared(node, users)):
                if node in stored or users & self._folds:
                    found.add(node)
                    itself[node] = 1 << len(itself)
                    self._hand_down(node, itself[node], is_stored=True)
                    continue
                self._open.add(node)
            self._hand_down(node, users, is_stored=False)
        return found

    def _is_shared(self, node: Tensor, users: int) -> bool:
        """Whether several stages compute a node, and not all that reads it."""
        is_costly = node in self._facts.inlined and self._costs[node] >= EXPENSIVE
        return is_costly and not is_one(users) and self._readers[node] != {users}

    def _hand_down(self, node: Tensor, users: int, *, is_stored: bool) -> None:
        """Tells what a node reads who computes it."""
        for arg in self._reads.get(node, ()):
            self._users[arg] = self._users.get(arg, 0) | users
            self._readers.setdefault(arg, set()).add(0 if is_stored else users)
            if not is_stored and node in self._open:
                self._open.add(arg)
