"""Which values are the same in all processes by construction; branches and loops that need it.

Constants are the same, as they stand in the program, and what processes have received together is;
so is everything computed from such. Inputs and shared variables may differ. A process that takes
another branch than the others, or another number of steps, would wait for ever where these exchange
arrays: so what decides about collective operations must be the same by construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symc.distributed.ops import AllGather, AllReduce, Broadcast, Collective
from symc.distributed.pending import EndSum
from symc.errors import FunctionError
from symc.graph.inputs import Constant
from symc.graph.node import Tensor
from symc.graph.walks import walk, walk_within
from symc.loops.branch import Choice
from symc.loops.scan import Scan
from symc.tensor.broadcast import describe


def exchanges(results: Iterable[Tensor]) -> bool:
    """Whether collective operations are among what the results depend on."""
    return any(node.op.is_collective for node in walk_within(results))


def check(roots: Sequence[Tensor]) -> None:
    """Raises `FunctionError` for a loop or branch that processes might do differently."""
    _check(roots, Uniform({}))


def _check(roots: Sequence[Tensor], uniform: Uniform) -> None:
    for node in walk(roots):
        if not any(exchanges(results) for _, results in node.op.graphs()):
            continue
        op = node.op
        if isinstance(op, Choice):
            if not uniform.holds(node.args[0]):
                raise FunctionError(_refusal(node, "the condition of this ifelse"))
            for body in op.bodies():
                _check(body.results, uniform.within(body.slots, node.args[1:]))
        elif isinstance(op, Scan):
            inside = uniform.of_steps(node)
            if not uniform.holds(node.args[0]):
                raise FunctionError(_refusal(node, "the number of steps of this loop"))
            if op.layout.stops and not inside.holds(_stop(op)):
                raise FunctionError(_refusal(node, "the condition on which this loop ends"))
            _check(op.body.results, inside)


def _stop(op: Scan) -> Tensor:
    """The result of a step that says whether it is the last one."""
    return op.body.results[len(op.layout.states) + op.layout.collected]


def _refusal(node: Tensor, decides: str) -> str:
    return (
        f"{decides} may differ between processes, which then wait for each other for ever: it has "
        f"collective operations inside\n  at     {describe(node)}\n"
        "  compute it from constants and from results of all_reduce, all_gather or broadcast, such "
        "as all_reduce(condition, 'max')"
    )


class Uniform:
    """Which tensors are the same in all processes, of a graph whose inputs are known in part."""

    def __init__(self, known: dict[Tensor, bool]) -> None:
        """With what holds of slots and inputs; others are not the same."""
        self._known = dict(known)

    def holds(self, tensor: Tensor) -> bool:
        """Whether a tensor is the same in all processes."""
        for node in walk([tensor], stop=self._known.__contains__):
            if node not in self._known:
                self._known[node] = self._of(node)
        return self._known[tensor]

    def _of(self, node: Tensor) -> bool:
        op = node.op
        if isinstance(op, Constant | AllReduce | AllGather | Broadcast | EndSum):
            return True
        if not node.args or isinstance(op, Collective) or op.is_users:
            return False
        if isinstance(op, Scan) and op.part.kind in ("history", "final"):
            inside = self.of_steps(node)
            steps = self.holds(node.args[0])
            ends = not op.layout.stops or inside.holds(_stop(op))
            return steps and ends and inside.holds(op.body.results[op.part.number])
        return all(self.holds(arg) for arg in node.args)

    def within(self, slots: Sequence[Tensor], args: Sequence[Tensor]) -> Uniform:
        """The same for a body with these arguments."""
        return Uniform({slot: self.holds(arg) for slot, arg in zip(slots, args, strict=True)})

    def of_steps(self, node: Tensor) -> Uniform:
        """The same for every step of a loop: states are while their first and next rows are."""
        op = node.op
        assert isinstance(op, Scan)
        given = [self.holds(arg) for arg, _ in op.given(node.args)]
        given[0] = True  # the number of the step
        states: list[list[int]] = []  # the slots of each state
        place = 1 + sum(len(rows.taps) for rows in op.layout.sequences)
        for state in op.layout.states:
            states.append(list(range(place, place + len(state.taps))))
            place += len(state.taps)
        while True:
            inside = Uniform(dict(zip(op.body.slots, given, strict=True)))
            fallen = [
                slot
                for result, slots in zip(op.body.results, states, strict=False)
                for slot in slots
                if given[slot] and not inside.holds(result)
            ]
            if not fallen:
                return inside
            for slot in fallen:
                given[slot] = False
