"""Calls by the interpreter: a function's graph computed node by node with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from operator import setitem
from typing import Any, TypeAlias

import numpy as np

from symc.calls.call import Locks, holding
from symc.calls.spec import converter
from symc.codegen.record import record
from symc.errors import NotFinite
from symc.graph.inputs import Constant
from symc.graph.node import Array, Requirement, Tensor
from symc.graph.request import Request
from symc.graph.walks import walk
from symc.tensor.broadcast import describe

After: TypeAlias = "Callable[[Tensor, Array], None]"
"""What sees every value that is computed, and may raise."""


@record
class InterpretedPlan:
    """Shared by all calls: nodes, their run-time conditions, and the outputs to compute."""

    order: list[Tensor]
    found: list[tuple[Tensor, Requirement]]
    roots: list[Tensor]


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
        return self.watched(None, args)

    def watched(
        self, after: After | None, args: tuple[Any, ...], most_bytes: float = float("inf")
    ) -> Any:
        """The same; `after` sees all arguments and values. What it raises leaves all as it was.

        Raises `MemoryError` if all values together take more than `most_bytes`.
        """
        return holding(self.locks, self._computed, after, args, most_bytes)

    def plan(self) -> InterpretedPlan:
        """The plan, made by the first call."""
        if self._plan is None:
            from symc.graph.conditions import requirements
            from symc.rewrite.stabilise import stabilise

            order = walk(self.request.roots())
            self._plan = InterpretedPlan(
                order, requirements(order), stabilise(self.request.roots())
            )
        return self._plan

    def _computed(self, after: After | None, args: tuple[Any, ...], most_bytes: float) -> Any:
        from symc.calls.too_large import refuse_too_large
        from symc.graph.conditions import check_all
        from symc.graph.interpreter import evaluate

        plan, request = self.plan(), self.request
        arrays = [self._convert(position, value) for position, value in enumerate(args)]
        inputs = dict(zip(request.inputs, arrays, strict=True))
        if after is not None:
            for variable, array in inputs.items():
                after(variable, array)
        try:
            check_all(plan.found, inputs)
        finally:
            needed = refuse_too_large(plan.order, inputs)
        if needed > most_bytes:
            raise MemoryError
        values = [np.array(value) for value in evaluate(plan.roots, inputs, after)]
        results, news = values[: len(request.outputs)], values[len(request.outputs) :]
        changed = [shared.op for shared, _ in request.updates]
        stored = [op.stored(new) for op, new in zip(changed, news, strict=True)]
        # All or none: within one call of C's, no signal is handled.
        any(map(setitem, [op.cell for op in changed], repeat(0), stored))
        return results[0] if self.form == "one" else None if self.form == "none" else results


class Guard:
    """Raises `NotFinite` for the first value that an op made not finite.

    Constants are as they were written, and infinities may be passed on: what fills a maximum's
    padding, or masks what is not to be seen.
    """

    def __init__(self) -> None:
        self._infinite: set[Tensor] = set()

    def __call__(self, node: Tensor, value: Array) -> None:
        if value.dtype.kind not in "fc" or bool(np.isfinite(value).all()):
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
