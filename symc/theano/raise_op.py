"""Ops that raise while a program runs: `Assert`, `Raise`, and arguments that an op refuses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import symc
import symc.tensor as T
from symc.codegen.record import record
from symc.errors import BadArgument
from symc.graph.node import Requirement, Tensor
from symc.tensor.watch import Asserted
from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.op import Op
from symc.theano.tensor.convert import as_tensor_variable


class Assert(Op):
    """The first input, where all other inputs are true. Raises AssertionError with `msg`."""

    step_follows_meaning = True

    __props__ = ("msg",)

    def __init__(self, msg: str = "Theano Assert failed!") -> None:
        self.msg = msg

    def make_node(self, value: Any, *conds: Any) -> Apply:
        value = value if isinstance(value, Variable) else as_tensor_variable(value)
        found = [as_tensor_variable(each) for each in conds]
        assert all(each.type.ndim == 0 for each in found), "conditions are scalars"
        return Apply(self, [value, *found], [value.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        value, *conds = inputs
        held = [T.ne(each, 0) if each.dtype.name != "bool" else each for each in conds]
        return [symc.Assert(self.msg)(value, *held)]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        from symc.theano.gof.null_type import DisconnectedType

        del outputs
        return [*output_grads, *(DisconnectedType()() for _ in inputs[1:])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Conditions have no gradient."""
        return [[True]] + [[False]] * (node.nin - 1)

    def __str__(self) -> str:
        return f"Assert{{msg='{self.msg}'}}"


assert_op = assert_ = Assert()


class Raise(Op):
    """An op that raises NotImplementedError, or `exc`, when it is computed."""

    __props__ = ("msg", "exc")

    def __init__(self, msg: str = "", exc: type[Exception] = NotImplementedError) -> None:
        self.msg, self.exc = msg, exc

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [x.type()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        raise self.exc(self.msg)


@record
class Refused(Asserted):
    """As `symc.Assert`, for what an op of Theano's raises TypeError for in the call."""

    def require(self, node: Tensor) -> Iterable[Requirement]:
        for condition in node.args[1:]:
            yield Requirement(condition, BadArgument, self._failed(node, condition))
