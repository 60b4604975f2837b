"""Crossentropies of classes as ops: of probabilities, and of what is before the softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.tensor.checked import Checked
from symc.theano.gof.graph import Apply
from symc.theano.gof.null_type import DisconnectedType
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import discrete_dtypes, float_dtypes
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType


def _at(rows: Tensor, classes: Tensor) -> Tensor:
    """The element of each row that its class says."""
    return rows[T.arange(T.shape(classes)[0]), classes]


def _in_range(classes: Tensor, rows: Tensor) -> Tensor:
    """The classes; raises ValueError where one is negative, or no column of the rows."""
    count = T.shape(rows)[1]
    return Checked("y_i value out of bounds")(classes, T.logical_and(classes >= 0, classes < count))


def _one_hot(rows: Tensor, classes: Tensor) -> Tensor:
    """1 at each row's class, 0 elsewhere."""
    columns = T.expand_dims(T.arange(T.shape(rows)[1]), 0)
    return T.cast(T.eq(columns, T.expand_dims(classes, 1)), rows.dtype)


class CrossentropyCategorical1Hot(Op):
    """Minus the logarithm of the probability of each row's class."""

    step_follows_meaning = True

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
        return [-T.log(_at(probs, classes))]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        del outputs
        probs, classes = inputs
        bar = crossentropy_categorical_1hot_grad(output_grads[0], probs, classes)
        return [bar, DisconnectedType()()]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Classes have no gradient."""
        return [[True], [False]]


class CrossentropyCategorical1HotGrad(Op):
    """The gradient of `CrossentropyCategorical1Hot` by the probabilities."""

    __props__ = ()

    def make_node(self, g_y: Any, coding_dist: Any, true_one_of_n: Any) -> Apply:
        given = [as_tensor_variable(each) for each in (g_y, coding_dist, true_one_of_n)]
        return Apply(self, given, [given[1].type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        bar, probs, classes = inputs
        return [T.inc_subtensor(
            T.zeros_like(probs)[T.arange(T.shape(classes)[0]), classes], -bar / _at(probs, classes)
        )]  # fmt: skip

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Classes have no gradient."""
        return [[True], [True], [False]]


crossentropy_categorical_1hot = CrossentropyCategorical1Hot()
crossentropy_categorical_1hot_grad = CrossentropyCategorical1HotGrad()


class CrossentropySoftmaxArgmax1HotWithBias(Op):
    """The losses of rows with a bias, their softmax, and their largest elements' places."""

    step_follows_meaning = True

    nin, nout = 3, 3
    __props__ = ()

    def make_node(self, x: Any, b: Any, y_idx: Any) -> Apply:
        x, b, y_idx = (as_tensor_variable(each) for each in (x, b, y_idx))
        if x.type.ndim != 2 or x.type.dtype not in float_dtypes:
            raise ValueError("x must be 2-d tensor of floats", x.type)
        if b.type.ndim != 1 or b.type.dtype not in float_dtypes:
            raise ValueError("b must be 1-d tensor of floats", b.type)
        if y_idx.type.ndim != 1 or y_idx.type.dtype not in discrete_dtypes:
            raise ValueError("y_idx must be 1-d tensor of [u]ints", y_idx.type)
        losses = TensorType(x.type.dtype, y_idx.type.broadcastable)
        places = TensorType(y_idx.type.dtype, y_idx.type.broadcastable)
        return Apply(self, [x, b, y_idx], [losses(), x.type(), places()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, b, classes = inputs
        rows = x + b
        losses = -_at(T.log_softmax(rows, axis=1), _in_range(classes, rows))
        return [losses, T.softmax(rows, axis=1), T.cast(T.argmax(rows, axis=1), classes.dtype)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Places and classes have no gradient."""
        return [[True, True, False], [True, True, False], [False, False, True]]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        classes = inputs[2]
        softmax = outputs[1]
        of_losses, of_softmax, _ = output_grads
        bar: Any = None
        if not isinstance(of_losses.type, DisconnectedType):
            bar = crossentropy_softmax_1hot_with_bias_dx(of_losses, softmax, classes)
        if not isinstance(of_softmax.type, DisconnectedType):
            from symc.theano.tensor.nnet.nnet import softmax_grad

            part = softmax_grad(of_softmax, softmax)
            bar = part if bar is None else bar + part
        if bar is None:
            return [DisconnectedType()(), DisconnectedType()(), DisconnectedType()()]
        return [bar, bar.sum(axis=0), DisconnectedType()()]


class CrossentropySoftmax1HotWithBiasDx(Op):
    """The gradient of the losses by the rows: the softmax less the classes, times that of each."""

    nin, nout = 3, 1
    __props__ = ()

    def make_node(self, dy: Any, sm: Any, y_idx: Any) -> Apply:
        dy, sm, y_idx = (as_tensor_variable(each) for each in (dy, sm, y_idx))
        if dy.type.ndim > 1 or dy.type.dtype not in float_dtypes:
            raise ValueError("dy must be {0,1}-d tensor of floats", dy.type)
        if sm.type.ndim != 2 or sm.type.dtype not in float_dtypes:
            raise ValueError("sm must be 2-d tensor of floats", sm.type)
        if y_idx.type.ndim != 1 or y_idx.type.dtype not in discrete_dtypes:
            raise ValueError("y_idx must be 1-d tensor of [u]ints", y_idx.type)
        return Apply(self, [dy, sm, y_idx], [sm.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        dy, softmax, classes = inputs
        bar = dy if dy.ndim == 0 else T.expand_dims(dy, 1)
        return [bar * (softmax - _one_hot(softmax, _in_range(classes, softmax)))]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Classes have no gradient."""
        return [[True], [True], [False]]


crossentropy_softmax_argmax_1hot_with_bias = CrossentropySoftmaxArgmax1HotWithBias()
crossentropy_softmax_1hot_with_bias_dx = CrossentropySoftmax1HotWithBiasDx()


def crossentropy_softmax_1hot_with_bias(x: Any, b: Any, y_idx: Any, **kwargs: Any) -> Any:
    """The losses of rows with a bias, and their softmax."""
    return crossentropy_softmax_argmax_1hot_with_bias(x, b, y_idx, **kwargs)[0:2]


def crossentropy_softmax_1hot(x: Any, y_idx: Any, **kwargs: Any) -> Any:
    """The losses of rows, and their softmax."""
    b = as_tensor_variable(x)[0, :].zeros_like()
    return crossentropy_softmax_1hot_with_bias(x, b, y_idx, **kwargs)


def crossentropy_softmax_max_and_argmax_1hot_with_bias(
    x: Any, b: Any, y_idx: Any, **kwargs: Any
) -> list[Any]:
    """The losses of rows with a bias, their softmax, and its largest elements and their places."""
    losses, softmax, places = crossentropy_softmax_argmax_1hot_with_bias(x, b, y_idx, **kwargs)
    return [losses, softmax, softmax.max(axis=-1), places]


def crossentropy_softmax_max_and_argmax_1hot(x: Any, y_idx: Any, **kwargs: Any) -> list[Any]:
    """The losses of rows, their softmax, and its largest elements and their places."""
    b = as_tensor_variable(x)[0, :].zeros_like()
    return crossentropy_softmax_max_and_argmax_1hot_with_bias(x, b, y_idx, **kwargs)


def binary_crossentropy(output: Any, target: Any) -> Any:
    """The crossentropy of binary variables."""
    return -(target * math.log(output) + (1.0 - target) * math.log(1.0 - output))


def sigmoid_binary_crossentropy(output: Any, target: Any) -> Any:
    """The crossentropy of binary variables, of which `output` is before the sigmoid."""
    output, target = as_tensor_variable(output), as_tensor_variable(target)
    return math.softplus(-abs(output)) + output * ((output > 0) - target)


def categorical_crossentropy(coding_dist: Any, true_dist: Any) -> Any:
    """The crossentropy of distributions, or of classes where `true_dist` is of integers."""
    from symc.theano.tensor import reductions

    coding_dist, true_dist = as_tensor_variable(coding_dist), as_tensor_variable(true_dist)
    if true_dist.ndim == coding_dist.ndim:
        return -reductions.sum(true_dist * math.log(coding_dist), axis=coding_dist.ndim - 1)
    if true_dist.ndim == coding_dist.ndim - 1:
        return crossentropy_categorical_1hot(coding_dist, true_dist)
    raise TypeError("rank mismatch between coding and true distributions")
