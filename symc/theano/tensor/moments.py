"""Reductions with an op of their own in Theano: `Mean`, `MaxAndArgmax`; and covariances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.tensor import math
from symc.theano.tensor.careduce import NamedReduction, axes_of
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.products import dot
from symc.theano.tensor.reductions import Argmax, Max, mean

__all__ = ["MaxAndArgmax", "Mean", "cov"]


class Mean(NamedReduction):
    """The mean along one axis (None: all), in one op."""

    by = "add"

    def output_dtype(self, dtype: str) -> str:
        return dtype if dtype.startswith(("float", "complex")) else "float64"

    def reduce(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        if not x.dtype.is_inexact:
            x = T.cast(x, "float64")
        return T.mean(x, axis=axis)

    def __str__(self) -> str:
        if self.axis is None:
            return "Mean"
        return f"Mean{{{', '.join(map(str, self.axis))}}}"


class MaxAndArgmax(Op):
    """The largest elements along axes and where they are."""

    nin, nout = 2, 2
    __props__ = ("axis",)

    def __init__(self, axis: Any) -> None:
        assert isinstance(axis, list | tuple)
        self.axis = tuple(axis)

    def get_params(self, node: Apply) -> Any:
        """The axes."""
        del node
        return self.axis

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        axis = axes_of(self.axis, x.ndim)
        found = tuple(range(x.ndim)) if axis is None else axis
        return Apply(self, [x], [Max(found)(x).type(), Argmax(found)(x).type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        (x,) = node.inputs
        axis = axes_of(self.axis, x.ndim)
        found = tuple(range(x.ndim)) if axis is None else axis
        return [Max(found).reduce(inputs[0], found), Argmax(found).reduce(inputs[0], found)]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        from symc.theano.gof.null_type import DisconnectedType

        (x,), largest = inputs, outputs[0]
        if isinstance(output_grads[0].type, DisconnectedType):
            return [x.zeros_like()]
        return Max(self.axis).L_op([x], [largest], [output_grads[0]])

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Positions have no gradient."""
        return [[True, False]]


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: Any = None, aweights: Any = None,
) -> Any:  # fmt: skip
    """The covariances of variables, which are rows, or columns if not `rowvar`."""
    from symc.theano.tensor.joining import concatenate
    from symc.theano.tensor.shaping import shape_padleft

    if fweights is not None:
        raise NotImplementedError("fweights are not implemented")
    if aweights is not None:
        raise NotImplementedError("aweights are not implemented")
    if ddof is not None and int(ddof) != ddof:
        raise ValueError("ddof must be integer")

    def rows(x: Any) -> Any:
        x = as_tensor_variable(x)
        if x.ndim > 2:
            raise ValueError("cov takes vectors and matrices")
        if x.ndim < 2:
            return shape_padleft(x, 2 - x.ndim)
        return x if rowvar else x.T

    together = rows(m) if y is None else concatenate([rows(m), rows(y)], axis=0)
    free = (0 if bias else 1) if ddof is None else ddof
    centered = together - mean(together, axis=1, keepdims=True)
    count = math.cast(together.shape[1] - free, centered.dtype)
    return dot(centered, centered.T.conj()).squeeze() / count
