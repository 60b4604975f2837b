"""Softmaxes, activations and losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import discrete_dtypes, float_dtypes
from symc.theano.tensor import math, reductions
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.creation import arange
from symc.theano.tensor.shaping import shape_padleft
from symc.theano.tensor.type import TensorType


class Softmax(Op):
    """Exponentials of rows, divided by their sum."""

    nin = nout = 1
    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if x.type.ndim not in (1, 2) or x.type.dtype not in float_dtypes:
            raise ValueError(f"x must be 1-d or 2-d tensor of floats. Got {x.type}")
        if x.ndim == 1:
            x = shape_padleft(x, n_ones=1)
        return Apply(self, [x], [x.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.softmax(inputs[0], axis=1)]


class LogSoftmax(Softmax):
    """The logarithm of a softmax."""

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.log_softmax(inputs[0], axis=1)]


softmax_op, logsoftmax_op = Softmax(), LogSoftmax()


def softmax(c: Any) -> Any:
    """The softmax of rows; of a vector that of one row."""
    c = as_tensor_variable(c)
    if c.broadcastable[-1:] == (True,):
        import warnings

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


def softmax_with_bias(x: Any, b: Any) -> Any:
    """The softmax of rows with a bias added."""
    return softmax_op(as_tensor_variable(x) + as_tensor_variable(b))


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


# --- losses ---------------------------------------------------------------------------------------


def binary_crossentropy(output: Any, target: Any) -> Any:
    """The crossentropy of binary variables."""
    return -(target * math.log(output) + (1.0 - target) * math.log(1.0 - output))


def sigmoid_binary_crossentropy(output: Any, target: Any) -> Any:
    """The crossentropy of binary variables, of which `output` is before the sigmoid."""
    output, target = as_tensor_variable(output), as_tensor_variable(target)
    return math.softplus(-output) * target + math.softplus(output) * (1.0 - target)


class CrossentropyCategorical1Hot(Op):
    """Minus the logarithm of the probability of each row's class."""

    __props__ = ()

    def make_node(self, coding_dist: Any, true_one_of_n: Any) -> Apply:
        probs, classes = as_tensor_variable(coding_dist), as_tensor_variable(true_one_of_n)
        if probs.type.ndim != 2:
            raise TypeError("matrix required for argument: coding_dist")
        if classes.type.dtype not in discrete_dtypes or classes.ndim != 1:
            raise TypeError(
                f"integer vector required for argument: true_one_of_n(got type: {classes.type} "
                f"instead of: lvector)"
            )
        return Apply(self, [probs, classes], [TensorType(probs.dtype, [False])()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        probs, classes = inputs
        return [-T.log(probs[T.arange(T.shape(classes)[0]), classes])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Classes have no gradient."""
        return [[True], [False]]


crossentropy_categorical_1hot = CrossentropyCategorical1Hot()


def categorical_crossentropy(coding_dist: Any, true_dist: Any) -> Any:
    """The crossentropy of distributions, or of classes where `true_dist` is of integers."""
    coding_dist, true_dist = as_tensor_variable(coding_dist), as_tensor_variable(true_dist)
    if true_dist.ndim == coding_dist.ndim:
        return -reductions.sum(true_dist * math.log(coding_dist), axis=coding_dist.ndim - 1)
    if true_dist.ndim == coding_dist.ndim - 1:
        return crossentropy_categorical_1hot(coding_dist, true_dist)
    raise TypeError("rank mismatch between coding and true distributions")


def crossentropy_softmax_1hot_with_bias(x: Any, b: Any, y_idx: Any, **_: Any) -> tuple[Any, Any]:
    """The loss of rows with a bias and their softmax."""
    return crossentropy_softmax_1hot(as_tensor_variable(x) + b, y_idx)


def crossentropy_softmax_1hot(x: Any, y_idx: Any, **_: Any) -> tuple[Any, Any]:
    """The loss of rows and their softmax."""
    x, y_idx = as_tensor_variable(x), as_tensor_variable(y_idx)
    rows = logsoftmax_op(x)
    return -rows[arange(y_idx.shape[0]), y_idx], softmax_op(x)
