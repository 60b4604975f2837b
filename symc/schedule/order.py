"""The order of all units: each after those it needs, and checks as early as possible.

What begins something that goes on by itself comes next, and what waits for that comes last.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from symc.graph.inputs import Input, Shared
from symc.graph.lowering import Alias, Control, HostCall, LibCall
from symc.graph.node import Tensor
from symc.schedule.dependencies import Groups
from symc.schedule.plan import Inside, Invoke, Lone, Nest, Unit
from symc.schedule.reasons import Apart, Refusal
from symc.schedule.stages import Stage


def in_order(groups: Groups, taken: Collection[Tensor]) -> list[Unit]:
    """All units of a program, in order; the stages that have `taken` memory over take none."""
    position = {node: number for number, node in enumerate(groups.stages)}
    taking: list[int] = []
    if any(isinstance(owner.op, Input | Shared) for owner, _ in groups.problem.updates):
        own = {groups.group_of[node] for node in taken}
        taking = [group for group in groups.taking_memory() if group not in own]
    failing = ending = groups.needed(taking=taking) | set(taking)
    if any(isinstance(owner.op, Input) for owner, _ in groups.problem.updates):
        # What signals alone end may write into arguments that were given away, after what may fail.
        failing = groups.needed(by_signals=False, taking=taking) | set(taking)
    waiting = {group: len(before) for group, before in groups.before.items()}

    def priority(group: int) -> int:
        if group in ending:
            return 0 if group in failing else 1
        lowering = groups.members[group][0].lowering if group in groups.members else None
        when = lowering.when if isinstance(lowering, LibCall) else "in order"
        return {"begins": 2, "in order": 3, "waits": 4}[when]

    ready = [(priority(group), group) for group, count in waiting.items() if not count]
    heapq.heapify(ready)
    units: list[Unit] = []
    while ready:
        _, group = heapq.heappop(ready)
        if group in groups.extra:
            units.append(groups.extra[group])
        elif group in groups.members:
            units += _units(groups.members[group], groups.depth[group], position)
        for other in groups.after[group]:
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(ready, (priority(other), other))
    assert not any(waiting.values()), "groups form a cycle"
    return units


def _units(stages: Sequence[Stage], depth: int, position: Mapping[Tensor, int]) -> list[Unit]:
    if stages[0].fusible:
        return [Nest(tuple(sorted(stages, key=lambda stage: position[stage.node])), depth)]
    match stages[0].lowering:
        case Alias():
            return []
        case LibCall() | HostCall():
            return [Invoke(tuple(stages))]
        case Control():
            return [Inside(tuple(stages))]
        case _:
            return [Lone(stages[0])]


Kernels: TypeAlias = tuple[int, int]


def apart(units: Sequence[Unit], refusals: Iterable[Refusal]) -> list[Apart]:
    """The pairs of kernels that were not merged, each with its reason.

    Pairs refused before groups grew were tried again as they did: the last answer counts. That
    one kernel reads another says more than that both read an array.
    """
    number: dict[Tensor, int] = {}
    for position, unit in enumerate(units):
        match unit:
            case Nest(stages, _):
                number.update((stage.node, position) for stage in stages)
            case Lone(stage):
                number[stage.node] = position
            case _:
                pass
    found: dict[Kernels, Refusal] = {}
    for refusal in refusals:
        first, second = number.get(refusal.first), number.get(refusal.second)
        if first is None or second is None or first == second:
            continue
        pair = (first, second) if first < second else (second, first)
        if not refusal.siblings or pair not in found or found[pair].siblings:
            found[pair] = refusal
    return [Apart(*pair, found[pair].reason) for pair in sorted(found)]
