"""What only the steps of a loop need, and may fail, belongs to loops of at least one step.

Values that do not change from step to step are computed before the loop. One that may fail there,
such as an element at an index that is given, or a factor of a matrix, must not do so for a loop
that does no steps: it is computed in a branch then, on the condition that there are some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from symc.codegen.record import record
from symc.graph.conditions import as_tests, requirements
from symc.graph.dims import Dim, Size, nonnegative, sizes, sub, substitute, symbolic
from symc.graph.node import Requirement, Tensor
from symc.graph.walks import walk
from symc.loops.body import Body
from symc.loops.branch import Choice
from symc.loops.build import step_number
from symc.loops.comparisons import Counters, always_holds, comparisons
from symc.loops.scan import Scan
from symc.tensor.lengths import dim_of


@record
class Scope:
    """The loops around a graph: the numbers of their steps, and lengths as they are outside.

    Known lengths are those that follow from arrays outside of all loops and from numbers of steps.
    """

    counters: Counters = ()
    outside: Callable[[Dim], Dim | None] = lambda dim: dim

    def inside(self, op: Scan, args: Sequence[Tensor]) -> Scope:
        """The scope of the body of a loop."""
        number, (step, *_), length = Size(step_number(), None), op.body.slots, op.lengths(args)

        def known(size: Size) -> Dim | None:
            if size.source is step:
                return symbolic(number)
            found = length(symbolic(size))
            return None if found is None else self.outside(found)

        count = self.outside(dim_of(args[0]))
        if count is None:
            return Scope((), partial(_replaced, known=known))
        return Scope((*self.counters, (number, count)), partial(_replaced, known=known))

    def holds(self, condition: Tensor) -> bool:
        """Whether a condition holds in each step of the loops around."""
        compared = comparisons(condition, lambda dim: self.outside(dim) is not None)
        return compared is not None and all(
            always_holds((sign, left, right), self.counters)
            for sign, *both in compared
            for left, right in [[found for found in map(self.outside, both) if found is not None]]
        )


_UNKNOWN = Scope((), lambda dim: None)  # inside a branch


def _replaced(dim: Dim, known: Callable[[Size], Dim | None]) -> Dim | None:
    found = {size: known(size) for size in sizes(dim)}
    known_ones = {size: value for size, value in found.items() if value is not None}
    return substitute(dim, known_ones.__getitem__) if len(known_ones) == len(found) else None


def may_have_none(op: Scan, args: Sequence[Tensor]) -> bool:
    """Whether a loop may do no steps."""
    return not nonnegative(sub(dim_of(op.split(args)[0]), 1))


def may_fail(nodes: Iterable[Tensor], scope: Scope, *, by_lengths: bool = True) -> bool:
    """Whether conditions of these nodes, or in their loops and branches, may not hold.

    Without `by_lengths` only those of values count.
    """
    pending, seen = [(list(nodes), scope)], set[object]()
    while pending:
        order, around = pending.pop()
        if _any_open(requirements(order), around, by_lengths):
            return True
        for node in order:
            for body, inner in _bodies(node, around):
                key = (body, node.args, around)  # results of one loop or branch have one body
                if key not in seen:
                    seen.add(key)
                    pending.append((walk(body.results), inner))
    return False


def _bodies(node: Tensor, scope: Scope) -> list[tuple[Body, Scope]]:
    match node.op:
        case Scan() as op:
            return [(op.body, scope.inside(op, node.args))]
        case Choice() as op:
            return [(body, _UNKNOWN) for body in op.bodies()]
        case _:
            return []


def _any_open(found: Sequence[tuple[Tensor, Requirement]], scope: Scope, by_lengths: bool) -> bool:
    return any(
        by_lengths if test.node is None else not scope.holds(test.node) for test in as_tests(found)
    )
