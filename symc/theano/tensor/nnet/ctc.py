"""`theano.tensor.nnet.ctc`: the loss of sequences without alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType


def ctc_available() -> bool:
    """Whether the loss can be computed: symc needs no library for it."""
    return True


class ConnectionistTemporalClassification(Op):
    """The loss of each sequence, given activations before the softmax (time, batch, classes).

    Class 0 is the blank; labels below 0 pad rows of labels.
    """

    __props__ = ("compute_grad",)

    def __init__(self, compute_grad: bool = True, openmp: Any = None) -> None:
        del openmp
        self.compute_grad = compute_grad

    def make_node(self, activations: Any, labels: Any, input_lengths: Any) -> Apply:
        x, y, n = (as_tensor_variable(each) for each in (activations, labels, input_lengths))
        if x.dtype != "float32":
            raise TypeError("activations must use the float32 type!")
        if x.ndim != 3:
            raise ValueError("activations must have 3 dimensions!")
        if y.dtype != "int32":
            raise TypeError("labels must use the int32 type!")
        if y.ndim != 2:
            raise ValueError("labels must have 2 dimensions!")
        if n.dtype != "int32":
            raise TypeError("input_lengths must use the int32 type!")
        if n.ndim != 1:
            raise ValueError("input_lengths must have 1 dimension!")
        return Apply(self, [x, y, n], [TensorType("float32", (False,))()])

    makes_symbols = True

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, labels, lengths = inputs
        counts = T.sum(T.cast(T.ge(labels, 0), "int64"), axis=1)
        rows = T.log_softmax(x, axis=-1)
        losses = T.nnet.ctc_loss(
            rows, T.cast(T.maximum(labels, 0), "int64"), T.cast(lengths, "int64"), counts, blank=0
        )
        return [T.cast(losses, "float32")]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Labels and lengths have no gradient."""
        return [[True], [False], [False]]


def ctc(activations: Any, labels: Any, input_lengths: Any) -> Any:
    """The loss of each sequence, given activations before the softmax (time, batch, classes)."""
    return ConnectionistTemporalClassification()(activations, labels, input_lengths)
