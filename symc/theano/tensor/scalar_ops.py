"""From 0-d tensors to numbers and back, and values for what is None."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply, Constant
from symc.theano.gof.op import Op
from symc.theano.gof.type import generic
from symc.theano.scalar.types import Scalar
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType

__all__ = [
    "Default", "ScalarFromTensor", "TensorFromScalar", "default", "scalar_from_tensor",
    "tensor_from_scalar",
]  # fmt: skip


class TensorFromScalar(Op):
    """A number as a 0-d tensor."""

    __props__ = ()

    def make_node(self, s: Any) -> Apply:
        assert isinstance(s.type, Scalar)
        return Apply(self, [s], [TensorType(s.type.dtype, ())()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return list(inputs)


class ScalarFromTensor(Op):
    """A 0-d tensor as a number."""

    __props__ = ()

    def make_node(self, t: Any) -> Apply:
        assert isinstance(t.type, TensorType)
        assert t.type.broadcastable == ()
        return Apply(self, [t], [Scalar(t.type.dtype)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return list(inputs)


tensor_from_scalar, scalar_from_tensor = TensorFromScalar(), ScalarFromTensor()


class Default(Op):
    """The first value, or where it is None the second."""

    __props__ = ()

    def make_node(self, x: Any, default: Any) -> Apply:
        default = as_tensor_variable(default)
        if isinstance(x, Constant) and x.type is generic and x.data is None:
            x = default
        x = as_tensor_variable(x)
        if x.type != default.type:
            raise TypeError("Both default() arguments must have same type", x, default)
        return Apply(self, [x, default], [default.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [inputs[0]]


default = Default()
