"""Calls by the interpreter: a function's graph computed node by node with NumPy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import setitem
from typing import Any, TypeAlias

import numpy as np

from symc.calls.call import Locks, holding
from symc.calls.spec import converter
from symc.codegen.record import record
from symc.errors import NotFinite, TooLarge
from symc.graph.bfloat16 import kind_of
from symc.graph.computation import Computation
from symc.graph.dims import sizes
from symc.graph.inputs import Constant, SharedVariable
from symc.graph.node import Array, Requirement, Tensor
from symc.graph.request import Request
from symc.graph.walks import walk
from symc.tensor.broadcast import describe
from symc.tensor.lengths import Derived

After: TypeAlias = "Callable[[Tensor, Array], None]"
"""What sees every value that is computed, and may raise."""


@record
class InterpretedPlan:
    """Shared by all calls: nodes, their run-time conditions, and the outputs to compute."""

    order: list[Tensor]
    found: list[tuple[Tensor, Requirement]]
    roots: list[Tensor]
    computation: Computation
    sizes: NodeBytes
    inputs: tuple[Tensor, ...]

    def given(self, arrays: Sequence[Array]) -> dict[Tensor, Array]:
        """The values of the inputs."""
        return dict(zip(self.inputs, arrays, strict=True))


@record
class Limits:
    """What a call may need: bytes of all values, and nodes computed in steps of loops."""

    bytes: int
    steps: int


class Beyond(Exception):
    """A call needs more than it may; nothing has been computed."""


class Interpreter:
    """A function that NumPy computes. It holds the locks of its variables, as compiled ones do."""

    def __init__(
        self, request: Request, form: str, downcast: Sequence[bool | None], locks: Locks
    ) -> None:
        self.request = request
        self.form = form
        self.locks = locks
        self._convert = converter(request, downcast)
        self._plan: InterpretedPlan | None = None

    def __call__(self, *args: Any) -> Any:
        """What the compiled function returns for these arguments, to rounding."""
        return holding(self.locks, self._computed, None, args, None)

    def watched(self, after: After, args: tuple[Any, ...]) -> Any:
        """The same; `after` sees all arguments and values. What it raises leaves all as it was."""
        return holding(self.locks, self._computed, after, args, None)

    def limited(self, args: tuple[Any, ...], limits: Limits) -> Any:
        """The same; raises `Beyond` at once if it would need more than the limits allow."""
        return holding(self.locks, self._computed, None, args, limits)

    def plan(self) -> InterpretedPlan:
        """The plan, made by the first call."""
        if self._plan is None:
            from symc.graph.conditions import requirements
            from symc.rewrite.stabilise import stabilise

            request = self.request
            order, roots = walk(request.roots()), stabilise(request.roots())
            found = requirements(order)
            computation = Computation(request.inputs, roots, found, by_rows=True)
            every = list(dict.fromkeys([*order, *walk(roots)]))
            sizes = NodeBytes(every, request.inputs, request.shared)
            self._plan = InterpretedPlan(order, found, roots, computation, sizes, request.inputs)
        return self._plan

    def _refuse_long_loops(self, arrays: Sequence[Array], limits: Limits) -> None:
        if "symc.loops.scan" not in sys.modules:  # there are no loops
            return
        from symc.calls.step_count import count_of_steps
        from symc.loops.scan import Scan

        order = walk(self.request.roots()) if self._plan is None else self._plan.order
        if any(isinstance(node.op, Scan) for node in order):
            given = dict(zip(self.request.inputs, arrays, strict=True))
            if count_of_steps(order, given) > limits.steps:
                raise Beyond

    @staticmethod
    def _bytes(plan: InterpretedPlan, arrays: Sequence[Array]) -> dict[Tensor, int]:
        """The bytes of each node. A length that is too large may break a condition of its own."""
        try:
            return plan.sizes(arrays)
        except TooLarge:
            from symc.graph.conditions import check_all

            check_all(plan.found, plan.given(arrays))
            raise

    def _computed(self, after: After | None, args: tuple[Any, ...], limits: Limits | None) -> Any:
        arrays = [self._convert(position, value) for position, value in enumerate(args)]
        if limits is not None:  # before the plan, which takes a while the first time
            self._refuse_long_loops(arrays, limits)
        plan, request = self.plan(), self.request
        if after is None:
            needed = self._bytes(plan, arrays)
            if (
                limits is not None
                and sum(needed.get(node, 0) for node in plan.order) > limits.bytes
            ):
                raise Beyond
            values = plan.computation.run(arrays, needed)
            values = plan.computation.unshared(arrays, values)
        else:
            values = _watched(plan, plan.given(arrays), after)
        results, news = values[: len(request.outputs)], values[len(request.outputs) :]
        changed = [shared.op for shared, _ in request.updates]
        stored = [op.stored(new) for op, new in zip(changed, news, strict=True)]
        # All or none: within one call of C's, no signal is handled.
        any(map(setitem, [op.cell for op in changed], repeat(0), stored))
        return results[0] if self.form == "one" else None if self.form == "none" else results


def _watched(plan: InterpretedPlan, inputs: dict[Tensor, Array], after: After) -> list[Array]:
    from symc.calls.too_large import refuse_too_large
    from symc.graph.conditions import check_all
    from symc.graph.interpreter import evaluate

    for variable, array in inputs.items():
        after(variable, array)
    try:
        check_all(plan.found, inputs)
    finally:
        refuse_too_large(plan.order, inputs)
    return [np.array(value) for value in evaluate(plan.roots, inputs, after)]


class NodeBytes:
    """The bytes of each node of a graph, as far as lengths are known beforehand.

    They are computed once for the lengths of a call, and kept for the next one.
    """

    def __init__(
        self, order: Sequence[Tensor], inputs: Sequence[Tensor], shared: Sequence[SharedVariable]
    ) -> None:
        self._order, self._inputs, self._shared = order, inputs, shared
        given = {*inputs, *shared}
        self._may_keep = all(
            size.axis is not None and size.source in given
            for node in order
            for dim in node.type.shape
            for size in sizes(dim)
        ) and not any(isinstance(node.op, Derived) for node in order)
        self._kept: tuple[tuple[tuple[int, ...], ...], dict[Tensor, int]] | None = None

    def __call__(self, arrays: Sequence[Array]) -> dict[Tensor, int]:
        """Raises `TooLarge` for the first node of which a length or the bytes need over 64 bits."""
        from symc.calls.too_large import refuse_too_large

        inputs = dict(zip(self._inputs, arrays, strict=True))
        if not self._may_keep:
            return refuse_too_large(self._order, inputs)
        lengths = [array.shape for array in arrays]
        lengths += [variable.op.evaluate().shape for variable in self._shared]
        key = tuple(lengths)
        if self._kept is None or self._kept[0] != key:
            self._kept = key, refuse_too_large(self._order, inputs)
        return self._kept[1]


class Guard:
    """Raises `NotFinite` for the first value that an op made not finite.

    Constants are as they were written, and infinities may be passed on: what fills a maximum's
    padding, or masks what is not to be seen.
    """

    def __init__(self) -> None:
        self._infinite: set[Tensor] = set()

    def __call__(self, node: Tensor, value: Array) -> None:
        if kind_of(value.dtype) not in "fc" or bool(np.isfinite(value).all()):
            return
        has_nan = bool(np.isnan(value).any())
        passed_on = not has_nan and any(arg in self._infinite for arg in node.args)
        if passed_on or isinstance(node.op, Constant):
            self._infinite.add(node)
            return
        kind = "NaN" if has_nan else "an infinity"
        if not node.args:
            raise NotFinite(
                f"the {node.op.label} {node.name or '?'} has {kind}\n  {describe(node)}"
            )
        args = "".join(f"\n  from   {describe(arg)}" for arg in node.args)
        raise NotFinite(f"{node.op.label} gave {kind}\n  node   {describe(node)}{args}")
