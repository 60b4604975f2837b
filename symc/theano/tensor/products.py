"""Matrix products and the ops they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import upcast
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.math import cast
from symc.theano.tensor.type import TensorType

__all__ = [
    "BatchedDot", "Dot", "TensorDot", "batched_dot", "batched_tensordot", "dot", "outer",
    "tensordot",
]  # fmt: skip


class Dot(Op):
    """The product of vectors and matrices."""

    __props__ = ()
    differentiates_integers = True

    def __str__(self) -> str:
        return "dot"

    def make_node(self, *inputs: Any) -> Apply:
        given = [as_tensor_variable(each) for each in inputs]
        if len(given) != 2:
            raise TypeError(f"theano.tensor.Dot: 2 arguments required, {len(given)} given ")
        for position, each in enumerate(given):
            if each.ndim not in (1, 2):
                raise TypeError(
                    f"theano.tensor.Dot: input {position} ({each}) must have ndim of 1 or 2, "
                    f"{each.ndim} given. Use theano.tensor.dot instead."
                )
        left, right = (each.type.broadcastable for each in given)
        flags = [*left[:-1], *(right[1:] if len(right) == 2 else ())]
        dtype = upcast(*(each.type.dtype for each in given))
        return Apply(self, given, [TensorType(dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        dtype = node.outputs[0].type.dtype
        return [T.dot(*(T.cast(each, dtype) for each in inputs))]


_dot = Dot()


def dot(l: Any, r: Any) -> Any:  # noqa: E741 -- Theano's name
    """The product of two tensors, as `numpy.dot`."""
    a, b = as_tensor_variable(l), as_tensor_variable(r)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim > 2 or b.ndim > 2:
        return tensordot(a, b, [[a.ndim - 1], [max(0, b.ndim - 2)]])
    return _dot(a, b)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The product of two tensors summed along axes, as `numpy.tensordot`."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if isinstance(axes, int | np.integer):
        count = int(axes)
        if count > a.ndim or count > b.ndim:
            raise ValueError(
                f"axes {axes} should be less than or equal to the number of dimensions of both"
            )
        left, right = list(range(a.ndim - count, a.ndim)), list(range(count))
    else:
        if len(axes) != 2:
            raise ValueError(
                f"Axes should be an integer or a list/tuple of len 2 ({axes!r} was given)"
            )
        left, right = ([int(n) for n in np.atleast_1d(each)] for each in axes)
        if len(left) != len(right):
            raise ValueError("Cannot perform tensordot: axes have different lengths")
    for given, ndim in ((left, a.ndim), (right, b.ndim)):
        if len(given) > ndim or any(not -ndim <= axis < ndim for axis in given):
            raise ValueError("axes out of bounds of a tensor", given, ndim)
    return TensorDot(left, right)(a, b)


class TensorDot(Op):
    """The product of two tensors summed along pairs of axes."""

    __props__ = ("left", "right")

    def __init__(self, left: Sequence[int], right: Sequence[int]) -> None:
        self.left, self.right = tuple(left), tuple(right)

    def make_node(self, a: Any, b: Any) -> Apply:
        dtype = upcast(a.dtype, b.dtype)
        a, b = cast(a, dtype), cast(b, dtype)
        left = [axis % a.ndim for axis in self.left]
        right = [axis % b.ndim for axis in self.right]
        flags = [flag for axis, flag in enumerate(a.broadcastable) if axis not in left]
        flags += [flag for axis, flag in enumerate(b.broadcastable) if axis not in right]
        return Apply(self, [a, b], [TensorType(dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.tensordot(inputs[0], inputs[1], axes=(list(self.left), list(self.right)))]


class BatchedDot(Op):
    """A product of matrices for each element of the first axis."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        given = [as_tensor_variable(each) for each in inputs]
        if len(given) != 2:
            raise TypeError(f"theano.tensor.BatchedDot: 2 arguments required, {len(given)} given ")
        for position, each in enumerate(given):
            if each.ndim not in (2, 3):
                raise TypeError(
                    f"theano.tensor.BatchedDot: input {position} ({each}) must have ndim of 2 or "
                    f"3, {each.ndim} given. Use theano.tensor.batched_dot instead."
                )
        left, right = (each.type.broadcastable for each in given)
        flags = [left[0] or right[0], *left[1:-1], *right[2:]]
        dtype = upcast(*(each.type.dtype for each in given))
        return Apply(self, [cast(each, dtype) for each in given], [TensorType(dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        a, b = inputs
        x = T.expand_dims(a, 1) if a.ndim == 2 else a
        y = T.expand_dims(b, 2) if b.ndim == 2 else b
        result = T.matmul(x, y)
        if b.ndim == 2:
            result = T.squeeze(result, axis=2)
        return [T.squeeze(result, axis=1) if a.ndim == 2 else result]


def batched_dot(a: Any, b: Any) -> Any:
    """A product for each element of the first axis."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if a.ndim == 0 or b.ndim == 0:
        raise TypeError("a and b must have at least one (batch) dimension")
    if a.ndim == 1:
        return a.dimshuffle(*([0] + ["x"] * (b.ndim - 1))) * b
    if b.ndim == 1:
        return a * b.dimshuffle(*([0] + ["x"] * (a.ndim - 1)))
    if a.ndim > 3 or b.ndim > 3:
        return batched_tensordot(a, b, [[a.ndim - 1], [np.maximum(1, b.ndim - 2)]])
    return BatchedDot()(a, b)


def batched_tensordot(x: Any, y: Any, axes: Any = 2) -> Any:
    """A product summed along axes for each element of the first axis."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if isinstance(axes, int | np.integer):
        count = int(axes)
        left, right = list(range(x.ndim - count, x.ndim)), list(range(1, count + 1))
    else:
        left, right = ([int(n) for n in np.atleast_1d(each)] for each in axes)
    if 0 in left or 0 in right:
        raise ValueError("The batch axis cannot be summed along")
    own = [axis for axis in range(1, x.ndim) if axis not in left]
    its = [axis for axis in range(1, y.ndim) if axis not in right]
    lengths = [x.shape[0], *(x.shape[a] for a in own), *(y.shape[a] for a in its)]
    a = x.dimshuffle([0, *own, *left]).reshape([x.shape[0], _product(x, own), _product(x, left)])
    b = y.dimshuffle([0, *right, *its]).reshape([y.shape[0], _product(y, right), _product(y, its)])
    return BatchedDot()(a, b).reshape(lengths, ndim=1 + len(own) + len(its))


def _product(x: Any, axes: Sequence[int]) -> Any:
    result: Any = 1
    for axis in axes:
        result = result * x.shape[axis]
    return result


def outer(x: Any, y: Any) -> Any:
    """The products of all elements of one tensor with all of another."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    x = x.flatten() if x.ndim != 1 else x
    y = y.flatten() if y.ndim != 1 else y
    return _dot(x.dimshuffle(0, "x"), y.dimshuffle("x", 0))
