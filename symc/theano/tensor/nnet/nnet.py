"""Softmaxes, activations and losses."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import float_dtypes, upcast
from symc.theano.tensor import math, products, reductions
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.creation import arange
from symc.theano.tensor.nnet.crossentropy import (
    CrossentropyCategorical1Hot as CrossentropyCategorical1Hot,
)
from symc.theano.tensor.nnet.crossentropy import (
    CrossentropyCategorical1HotGrad as CrossentropyCategorical1HotGrad,
)
from symc.theano.tensor.nnet.crossentropy import (
    CrossentropySoftmax1HotWithBiasDx as CrossentropySoftmax1HotWithBiasDx,
)
from symc.theano.tensor.nnet.crossentropy import (
    CrossentropySoftmaxArgmax1HotWithBias as CrossentropySoftmaxArgmax1HotWithBias,
)
from symc.theano.tensor.nnet.crossentropy import binary_crossentropy as binary_crossentropy
from symc.theano.tensor.nnet.crossentropy import (
    categorical_crossentropy as categorical_crossentropy,
)
from symc.theano.tensor.nnet.crossentropy import (
    crossentropy_categorical_1hot as crossentropy_categorical_1hot,
)
from symc.theano.tensor.nnet.crossentropy import (
    crossentropy_categorical_1hot_grad as crossentropy_categorical_1hot_grad,
)
from symc.theano.tensor.nnet.crossentropy import (
    crossentropy_softmax_1hot as crossentropy_softmax_1hot,
)
from symc.theano.tensor.nnet.crossentropy import (
    crossentropy_softmax_1hot_with_bias as crossentropy_softmax_1hot_with_bias,
)
from symc.theano.tensor.nnet.crossentropy import (
    crossentropy_softmax_1hot_with_bias_dx as crossentropy_softmax_1hot_with_bias_dx,
)
from symc.theano.tensor.nnet.crossentropy import (
    crossentropy_softmax_argmax_1hot_with_bias as crossentropy_softmax_argmax_1hot_with_bias,
)
from symc.theano.tensor.nnet.crossentropy import (
    crossentropy_softmax_max_and_argmax_1hot as crossentropy_softmax_max_and_argmax_1hot,
)
from symc.theano.tensor.nnet.crossentropy import (
    crossentropy_softmax_max_and_argmax_1hot_with_bias,
)
from symc.theano.tensor.nnet.crossentropy import (
    sigmoid_binary_crossentropy as sigmoid_binary_crossentropy,
)
from symc.theano.tensor.nnet.sigm import sigmoid as sigmoid
from symc.theano.tensor.nnet.sigm import softplus as softplus
from symc.theano.tensor.shaping import shape_padleft

__all__ = [
    "CrossentropyCategorical1Hot", "CrossentropyCategorical1HotGrad",
    "CrossentropySoftmax1HotWithBiasDx", "CrossentropySoftmaxArgmax1HotWithBias", "LogSoftmax",
    "Prepend_scalar_constant_to_each_row", "Prepend_scalar_to_each_row", "Softmax", "SoftmaxGrad",
    "SoftmaxWithBias", "binary_crossentropy", "categorical_crossentropy", "confusion_matrix",
    "crossentropy_categorical_1hot", "crossentropy_categorical_1hot_grad",
    "crossentropy_softmax_1hot", "crossentropy_softmax_1hot_with_bias",
    "crossentropy_softmax_1hot_with_bias_dx", "crossentropy_softmax_argmax_1hot_with_bias",
    "crossentropy_softmax_max_and_argmax_1hot",
    "crossentropy_softmax_max_and_argmax_1hot_with_bias", "elu", "h_softmax", "logsoftmax",
    "logsoftmax_op", "prepend_0_to_each_row", "prepend_1_to_each_row",
    "prepend_scalar_to_each_row", "relu", "selu", "sigmoid_binary_crossentropy", "softmax",
    "softmax_grad", "softmax_graph", "softmax_op", "softmax_with_bias", "softsign",
]  # fmt: skip


def _of_rows(op: Op, x: Any) -> Apply:
    """The node of an op of one matrix; a vector is one row."""
    x = as_tensor_variable(x)
    if x.type.ndim not in (1, 2) or x.type.dtype not in float_dtypes:
        raise ValueError(f"x must be 1-d or 2-d tensor of floats. Got {x.type}")
    if x.ndim == 1:
        x = shape_padleft(x, n_ones=1)
    return Apply(op, [x], [x.type()])


class Softmax(Op):
    """Exponentials of rows, divided by their sum."""

    step_follows_meaning = True

    nin = nout = 1
    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        return _of_rows(self, x)

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.softmax(inputs[0], axis=1)]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        del inputs
        return [softmax_grad(output_grads[0], outputs[0])]


class LogSoftmax(Op):
    """The logarithm of a softmax."""

    step_follows_meaning = True

    nin = nout = 1
    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        return _of_rows(self, x)

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.log_softmax(inputs[0], axis=1)]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        del outputs
        (bar,) = output_grads
        return [bar - reductions.sum(bar, axis=1, keepdims=True) * softmax_op(inputs[0])]


class SoftmaxGrad(Op):
    """The gradient of a softmax, from that of its result `dy` and the result `sm`."""

    nin, nout = 2, 1
    __props__ = ()

    def make_node(self, dy: Any, sm: Any) -> Apply:
        dy, sm = as_tensor_variable(dy), as_tensor_variable(sm)
        if dy.type.ndim not in (1, 2) or dy.type.dtype not in float_dtypes:
            raise ValueError("dy must be 1-d or 2-d tensor of floats. Got ", dy.type)
        if dy.ndim == 1:
            dy = shape_padleft(dy, n_ones=1)
        if sm.ndim == 1:
            sm = shape_padleft(sm, n_ones=1)
        return Apply(self, [dy, sm], [sm.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        bar, result = inputs
        part = bar * result
        return [part - T.sum(part, axis=1, keepdims=True) * result]


class SoftmaxWithBias(Op):
    """The softmax of rows with a bias added."""

    step_follows_meaning = True

    nin, nout = 2, 1
    __props__ = ()

    def make_node(self, x: Any, b: Any) -> Apply:
        x, b = as_tensor_variable(x), as_tensor_variable(b)
        if x.type.ndim != 2 or x.type.dtype not in float_dtypes:
            raise ValueError("x must be 2-d tensor of floats")
        if b.type.ndim != 1 or b.type.dtype not in float_dtypes:
            raise ValueError("b must be 1-d tensor of floats")
        return Apply(self, [x, b], [x.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.softmax(inputs[0] + inputs[1], axis=1)]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        del inputs
        bar = softmax_grad(output_grads[0], outputs[0])
        return [bar, reductions.sum(bar, axis=0)]


softmax_op, logsoftmax_op = Softmax(), LogSoftmax()
softmax_grad, softmax_with_bias = SoftmaxGrad(), SoftmaxWithBias()


def softmax(c: Any) -> Any:
    """The softmax of rows; of a vector that of one row."""
    c = as_tensor_variable(c)
    if c.broadcastable[-1:] == (True,):
        warnings.warn(
            "The softmax is applied on a dimension of shape 1, which does not have a semantic "
            "meaning.", stacklevel=2,
        )  # fmt: skip
    return softmax_op(c)


def logsoftmax(c: Any) -> Any:
    """The logarithm of the softmax of rows."""
    return logsoftmax_op(c)


def softmax_graph(c: Any) -> Any:
    """The softmax put together from other operations."""
    e = math.exp(c - reductions.max(c, axis=-1, keepdims=True))
    return e / reductions.sum(e, axis=-1, keepdims=True)


def softsign(x: Any) -> Any:
    """``x / (1 + abs(x))``."""
    return x / (1.0 + abs(x))


def relu(x: Any, alpha: Any = 0) -> Any:
    """The positive part; `alpha` times the negative one is added."""
    if isinstance(alpha, int | float) and alpha == 0:
        return 0.5 * (x + abs(x))
    alpha = as_tensor_variable(alpha)
    f1, f2 = 0.5 * (1 + alpha), 0.5 * (1 - alpha)
    return f1 * x + f2 * abs(x)


def elu(x: Any, alpha: Any = 1) -> Any:
    """`x` where it is positive, else ``alpha * (exp(x) - 1)``."""
    return math.switch(x > 0, x, alpha * math.expm1(x))


def selu(x: Any) -> Any:
    """A scaled `elu`, whose outputs normalise themselves."""
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


def confusion_matrix(actual: Any, pred: Any) -> list[Any]:
    """How often each class was taken for each other, and the classes in order."""
    from symc.theano.tensor.extra_ops import Unique
    from symc.theano.tensor.joining import concatenate

    if actual.ndim != 1 or pred.ndim != 1:
        raise ValueError("actual and pred must be 1-d tensor variable")
    order = Unique(False, False, False)(concatenate([actual, pred]))
    column_a = actual.dimshuffle(0, "x")
    column_p = pred.dimshuffle(0, "x")
    one_hot_a = math.cast(math.eq(column_a, order.dimshuffle("x", 0)), "int64")
    one_hot_p = math.cast(math.eq(column_p, order.dimshuffle("x", 0)), "int64")
    return [one_hot_a.T.dot(one_hot_p), order]


# --- columns and rows put in front ----------------------------------------------------------------


class Prepend_scalar_constant_to_each_row(Op):
    """A matrix with a column of a constant in front."""

    __props__ = ()

    def __init__(self, val: Any = 0) -> None:
        if isinstance(val, float):
            val = np.asarray(val)
        self.val = np.asarray(getattr(val, "data", val))

    def make_node(self, mat: Any) -> Apply:
        x = as_tensor_variable(mat)
        if not x.type.broadcastable == (False, False):
            raise TypeError("Expected a matrix as input")
        if np.result_type(x.type.dtype, self.val.dtype) != np.dtype(x.type.dtype):
            raise TypeError("the value added don't have the same type as the matrix")
        return Apply(self, [x], [x.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [_with_column(inputs[0], T.as_tensor(self.val))]


class Prepend_scalar_to_each_row(Op):
    """A matrix with a column of a value in front."""

    __props__ = ()

    def make_node(self, val: Any, mat: Any) -> Apply:
        x, value = as_tensor_variable(mat), as_tensor_variable(val)
        if not x.type.broadcastable == (False, False):
            raise TypeError("Expected a matrix as input")
        if upcast(value.type.dtype, x.type.dtype) != x.type.dtype:
            raise TypeError("the value added don't have the same type as the matrix")
        return Apply(self, [value, x], [x.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [_with_column(inputs[1], inputs[0])]


def _with_column(x: Tensor, value: Tensor) -> Tensor:
    column = T.zeros((T.shape(x)[0], 1), dtype=x.dtype) + T.cast(value, x.dtype)
    return T.concatenate([column, x], axis=1)


prepend_scalar_to_each_row = Prepend_scalar_to_each_row()
prepend_0_to_each_row = Prepend_scalar_constant_to_each_row(0.0)
prepend_1_to_each_row = Prepend_scalar_constant_to_each_row(1.0)


# --- a softmax of two levels ----------------------------------------------------------------------


def h_softmax(
    x: Any, batch_size: Any, n_outputs: Any, n_classes: Any, n_outputs_per_class: Any, W1: Any,
    b1: Any, W2: Any, b2: Any, target: Any = None,
) -> Any:  # fmt: skip
    """Probabilities of outputs that are in classes: those of the targets, or with none all."""
    class_probs = softmax(products.dot(x, W1) + b1)
    if target is None:
        inner = products.tensordot(x, W2, (1, 1)) + b2
        inner = softmax(inner.reshape((-1, n_outputs_per_class)))
        inner = inner.reshape((batch_size, n_classes, -1))
        whole = class_probs.dimshuffle(0, 1, "x") * inner
        return whole.reshape((batch_size, -1))[:, :n_outputs]
    target = as_tensor_variable(target).flatten()
    classes, places = target // n_outputs_per_class, target % n_outputs_per_class
    rows = arange(batch_size)
    inner = products.batched_dot(x.dimshuffle(0, "x", 1), W2[classes])[:, 0, :] + b2[classes]
    inner = softmax(inner)
    return class_probs[rows, classes] * inner[rows, places]
