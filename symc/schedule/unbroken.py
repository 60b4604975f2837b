"""Loops that write where shared variables lie, as nothing ends them before their last step.

A variable must never be half-changed. What a step of a loop checks may not hold, and a signal may
end a loop after any of its steps. So the passes answer before such a loop what its steps would
check, and let signals wait, where the loop is known to take moments; else it writes into a copy
(`codegen/passes/steps/unbroken.py`). Here it is decided for which loops that will do.
"""

from __future__ import annotations

from symc.graph.conditions import Test
from symc.graph.lowering import HostCall
from symc.graph.node import Op, Tensor
from symc.graph.walks import walk
from symc.loops.body import Slot
from symc.loops.scan import Scan
from symc.schedule.blocks import state_slots
from symc.schedule.dependencies import Groups, may_fail
from symc.schedule.plan import Problem
from symc.tensor.lengths import Length


def last_of_all(
    problem: Problem, groups: Groups, group: int, *, by_signals: bool
) -> list[int] | None:
    """For a loop that may write where a variable lies, all else that may fail, to come before it.

    None for other groups: those that fail by nothing, and those that others which may fail need.
    """
    failing = groups.failing(by_signals=by_signals)
    if group not in failing or not _is_answered_before(problem, groups, group):
        return None
    return None if any(groups.reaches(group, other) for other in failing) else failing


def _is_answered_before(problem: Problem, groups: Groups, group: int) -> bool:
    """Whether a group is a loop of which all that its steps check can be known before it."""
    if problem.on_device or group not in groups.members:
        return False
    node = groups.members[group][0].node
    if not isinstance(node.op, Scan) or node.op.layout.stops:
        return False
    inner = problem.blocks[node][0].problem
    if inner.readings or inner.folded:
        return False
    if any(isinstance(lowering, HostCall) for lowering in inner.lowerings.values()):
        return False
    if any(may_fail(inner, loop) or _stops(loop.op) for loop in inner.blocks):
        return False
    states = {slot for slots in state_slots(node.op) for slot in slots}
    return all(_is_about_given(test, states) for test in inner.tests)


def _stops(op: Op) -> bool:
    return isinstance(op, Scan) and op.layout.stops


def _is_about_given(test: Test, states: set[Tensor]) -> bool:
    """Whether a condition is about lengths, and about elements of arrays that no step changes."""
    if test.node is None:
        return True
    return all(
        node not in states if isinstance(node.op, Slot) else not node.ndim
        for node in walk([test.node], stop=_is_length)
    )


def _is_length(node: Tensor) -> bool:
    return isinstance(node.op, Length)
