"""`theano.tensor.fourier`: the complex transform along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.folding import get_scalar_constant_value
from symc.theano.tensor.type import TensorType

__all__ = ["Fourier", "fft"]


class Fourier(Op):
    """The transform of `a` along `axis` (default: the last), cut or filled with zeros to `n`."""

    __props__ = ("axis",)

    def __init__(self, axis: int = -1) -> None:
        self.axis = axis

    def make_node(self, a: Any, n: Any = None, axis: Any = None) -> Apply:
        a = as_tensor_variable(a)
        if a.ndim < 1:
            raise TypeError(f"{type(self).__name__}: input must be an array, not a scalar")
        place = -1 if axis is None else int(get_scalar_constant_value(axis))
        if not -a.ndim <= place < a.ndim:
            raise TypeError(f"{type(self).__name__}: axis {place} of an array of {a.ndim} axes")
        length = as_tensor_variable(a.shape[place] if n is None else n)
        if length.ndim or length.dtype not in ("int8", "int16", "int32", "int64"):
            raise TypeError(f"{type(self).__name__}: length must be an integer scalar")
        op = type(self)(place)
        return Apply(op, [a, length], [TensorType("complex128", [False] * a.ndim)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        a, n = inputs
        return [T.cast(T.fft.fft(a, n=T.cast(n, "int64"), axis=self.axis), "complex128")]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """The length has no gradient."""
        return [[True], [False]]


fft = Fourier()
