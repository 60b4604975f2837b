"""Parts of tensors by slices that are variables, such as inputs of a function: run in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.op import Op
from symc.theano.gradient_types import DisconnectedType
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType
from symc.theano.tensor.type_other import SliceType, slicetype


def has_given_slices(index: Any) -> bool:
    """Whether an index has a variable in it whose value is a slice."""
    entries = index if isinstance(index, tuple) else (index,)
    return any(isinstance(each, Variable) and isinstance(each.type, SliceType) for each in entries)


def given_slices(x: Any, index: Any) -> Any:
    """``x[index]`` for an index with such variables; all else in it are slices and integers."""
    entries = index if isinstance(index, tuple) else (index,)
    return GivenSlices()(x, *map(_entry, entries))


def _entry(given: Any) -> Any:
    if isinstance(given, slice):
        return slicetype.make_constant(given)
    if isinstance(given, Variable) and isinstance(given.type, SliceType):
        return given
    found = as_tensor_variable(given)
    if found.ndim or not found.dtype.startswith(("int", "uint")):
        raise NotImplementedError("beside a slice that is a variable: only slices and integers")
    return found


def _index(values: Any) -> tuple[Any, ...]:
    return tuple(each if isinstance(each, slice) else int(each) for each in values)


class GivenSlices(Op):
    """A part of a tensor; inputs: the tensor, and slices and integers."""

    __props__ = ()

    def make_node(self, x: Any, *index: Any) -> Apply:
        x = as_tensor_variable(x)
        if len(index) > x.ndim:
            raise IndexError("too many indices for array")
        kept = x.ndim - sum(isinstance(each.type, TensorType) for each in index)
        return Apply(self, [x, *index], [TensorType(x.dtype, [False] * kept)()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        output_storage[0][0] = np.asarray(inputs[0][_index(inputs[1:])])

    def grad(self, inputs: Any, output_grads: Any) -> Any:
        rest = [DisconnectedType()() for _ in inputs[1:]]
        return [GivenSlicesGrad()(inputs[0], output_grads[0], *inputs[1:]), *rest]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Indexes have no gradient."""
        return [[True]] + [[False]] * (node.nin - 1)


class GivenSlicesGrad(Op):
    """Zeros like a tensor, with the gradient of a part of it in its place."""

    __props__ = ()

    def make_node(self, x: Any, bar: Any, *index: Any) -> Apply:
        return Apply(self, [x, bar, *index], [TensorType(bar.dtype, x.broadcastable)()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        x, bar, *index = inputs
        found = np.zeros(x.shape, bar.dtype)
        found[_index(index)] = bar
        output_storage[0][0] = found
