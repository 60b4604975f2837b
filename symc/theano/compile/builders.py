"""`OpFromGraph`: a graph as one op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.graph.node import Tensor
from symc.theano.compile.sharedvalue import SharedVariable
from symc.theano.gof.graph import Apply, Constant, Variable, clone_get_equiv
from symc.theano.gof.graph import inputs as leaves_of
from symc.theano.gof.null_type import DisconnectedType, NullType
from symc.theano.gof.op import Op
from symc.theano.tensor.convert import as_tensor_variable


class OpFromGraph(Op):
    """The outputs of a graph as an op of its inputs; shared variables in it come along.

    `lop_overrides` and `grad_overrides` (which is not given the outputs) replace its gradient,
    `rop_overrides` its directional derivative: a function or another such op, or a list with one
    of them for each input or output, where "default" keeps what follows from the graph, and a
    variable of DisconnectedType or NullType says that there is none.
    """

    makes_symbols = True

    @property
    def has_own_step(self) -> bool:
        """Whether the gradient is replaced."""
        overrides = (self.lop_overrides, self.grad_overrides)
        return any(not isinstance(each, str) for each in overrides)

    TYPE_ERR_MSG = "L_op/gradient override should be (single or list of) OpFromGraph, callable, "

    def __init__(
        self, inputs: Sequence[Any], outputs: Sequence[Any], inline: bool = False,
        lop_overrides: Any = "default", grad_overrides: Any = "default",
        rop_overrides: Any = "default", connection_pattern: Any = None, name: str | None = None,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        self._check(inputs, outputs, kwargs)
        self.shared_inputs = [
            each for each in leaves_of(outputs, inputs) if isinstance(each, SharedVariable)
        ]
        strangers = [
            each for each in leaves_of(outputs, inputs)
            if each not in inputs and not isinstance(each, Constant | SharedVariable)
        ]  # fmt: skip
        if strangers:
            from symc.theano.gof.fg import MissingInputError

            raise MissingInputError(
                f"{strangers[0]} is neither an input of the graph nor shared",
                variable=strangers[0],
            )
        stand_ins = [each.type() for each in self.shared_inputs]
        memo = dict(zip(self.shared_inputs, stand_ins, strict=True))
        memo = clone_get_equiv(list(inputs), list(outputs), True, False, memo)
        self.local_inputs = [*(memo[each] for each in inputs), *stand_ins]
        self.local_outputs = [memo[each] for each in outputs]
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.input_types = [each.type for each in inputs]
        self.output_types = [each.type for each in outputs]
        self.is_inline, self.name, self.kwargs = inline, name, kwargs
        if "default" not in (lop_overrides, grad_overrides):
            raise ValueError("lop_overrides and grad_overrides are mutually exclusive")
        self.lop_overrides, self.grad_overrides = lop_overrides, grad_overrides
        self.rop_overrides = rop_overrides
        self._connection = connection_pattern

    @staticmethod
    def _check(inputs: Any, outputs: Any, kwargs: dict[str, Any]) -> None:
        if not isinstance(outputs, list):
            raise TypeError(f"outputs must be list, got {type(outputs)}")
        for each in [*inputs, *outputs]:
            if not isinstance(each, Variable):
                raise TypeError("inputs and outputs must be Variable instances", each)
        if "updates" in kwargs or "givens" in kwargs:
            raise TypeError("updates and givens are not allowed here")

    def make_node(self, *inputs: Any) -> Apply:
        given = list(inputs)[: len(self.input_types)]
        if len(given) != len(self.input_types):
            raise ValueError(f"Expected {len(self.input_types)} inputs, got {len(given)}")
        found = [
            kind.filter_variable(each if isinstance(each, Variable) else as_tensor_variable(each))
            for kind, each in zip(self.input_types, given, strict=True)
        ]
        shared = list(inputs)[len(given) :] or self.shared_inputs
        return Apply(self, [*found, *shared], [kind() for kind in self.output_types])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        from symc.theano.meaning import Translation

        known = dict(zip(self.local_inputs, inputs, strict=True))
        return Translation(known, routes=True).expressions(self.local_outputs)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Which inputs each output depends on, by ways that have gradients."""
        if self._connection is not None:
            found: list[list[bool]] = self._connection
            return found + [[True] * node.nout] * (node.nin - len(found))
        from symc.theano.gradient_tape import connected

        self._connection = connected(self.local_inputs, self.local_outputs)
        return list(self._connection)

    # --- derivatives ------------------------------------------------------------------------------

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Any) -> Any:
        override, takes_outputs = self.lop_overrides, True
        if isinstance(override, str):
            override, takes_outputs = self.grad_overrides, False
        if isinstance(override, str):
            return super().L_op(inputs, outputs, output_grads)
        bars = [
            each.zeros_like() if isinstance(bar.type, DisconnectedType) else bar
            for each, bar in zip(outputs, output_grads, strict=True)
        ]
        own = list(inputs)[: len(self.input_types)]
        given = (own, list(outputs), bars) if takes_outputs else (own, bars)
        found = self._overridden(
            override, given, inputs, lambda: super(OpFromGraph, self).L_op(inputs, outputs, bars)
        )
        return [*found, *(each.zeros_like() for each in inputs[len(found) :])]

    def _overridden(self, override: Any, given: Any, wanted: Any, default: Any) -> list[Any]:
        if isinstance(override, OpFromGraph):
            return list(override(*(each for part in given for each in part), return_list=True))
        if callable(override):
            found = override(*given)
            return list(found) if isinstance(found, list | tuple) else [found]
        if isinstance(override, Variable):
            return [override]
        if not isinstance(override, list):
            raise TypeError(f"{self.TYPE_ERR_MSG}got {type(override)}")
        standard: Any = default() if any(isinstance(each, str) for each in override) else None
        results: list[Any] = []
        for position, each in enumerate(override):
            if isinstance(each, str):
                results.append(standard[position])
            elif each is None:
                results.append(wanted[position].zeros_like())
            elif isinstance(each, Variable):
                if not isinstance(each.type, DisconnectedType | NullType):
                    raise ValueError(f"{self.TYPE_ERR_MSG}got a variable of {each.type}")
                results.append(each)
            else:
                results.append(each(*given))
        return results

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Any:
        if isinstance(self.rop_overrides, str):
            return super().R_op(inputs, eval_points)
        own = list(inputs)[: len(self.input_types)]
        points = [
            each.zeros_like() if point is None else point
            for each, point in zip(own, eval_points, strict=False)
        ]
        return self._overridden(
            self.rop_overrides, (own, points), self(*inputs, return_list=True),
            lambda: super(OpFromGraph, self).R_op(inputs, eval_points),
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return f"{self.name or type(self).__name__}{{inline={self.is_inline}}}"


def inline_ofg_expansion(node: Apply) -> list[Any]:
    """The graph of such an op on the inputs of an application."""
    from symc.theano.compile.rebuild import clone

    op: Any = node.op
    pairs = dict(zip(op.local_inputs, node.inputs, strict=True))
    found: list[Any] = clone(op.local_outputs, replace=pairs)
    return found
