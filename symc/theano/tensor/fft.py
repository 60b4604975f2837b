"""`theano.tensor.fft`: transforms of real batches, with real and imaginary parts in a last axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import int_dtypes
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.shaping import element
from symc.theano.tensor.type import TensorType

__all__ = [
    "IRFFTOp", "RFFTOp", "irfft", "irfft_op", "rfft", "rfft_op",
]  # fmt: skip


class RFFTOp(Op):
    """The transform of all axes after the first; half of the last one, as it is symmetric."""

    __props__ = ()

    def output_type(self, inp: Any) -> TensorType:
        """The type of the result: an axis more, of two parts."""
        return TensorType(inp.dtype, [False] * (inp.type.ndim + 1))

    def make_node(self, a: Any, s: Any = None) -> Apply:
        a = as_tensor_variable(a)
        if a.ndim < 2:
            raise TypeError(f"{type(self).__name__}: input must have dimension > 2, with first "
                            "dimension batches")  # fmt: skip
        lengths = a.shape[1:] if s is None else as_tensor_variable(s)
        if lengths.dtype not in int_dtypes:
            raise TypeError(
                f"{type(self).__name__}: length of the transformed axis must be of type integer"
            )
        return Apply(self, [a, lengths], [self.output_type(a)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        a, s = inputs
        axes = tuple(range(1, a.ndim))
        lengths = [element(s, position) for position in range(len(axes))]
        found = T.fft.rfftn(a, s=lengths, axes=axes)
        both = T.stack([T.real(found), T.imag(found)], axis=-1)
        return [T.cast(both, node.outputs[0].dtype)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Lengths have no gradient."""
        return [[True], [False]]


rfft_op = RFFTOp()


class IRFFTOp(RFFTOp):
    """The inverse of `RFFTOp`, not divided by the number of elements."""

    def output_type(self, inp: Any) -> TensorType:
        return TensorType(inp.dtype, [False] * (inp.type.ndim - 1))

    def make_node(self, a: Any, s: Any = None) -> Apply:
        a = as_tensor_variable(a)
        if a.ndim < 3:
            raise TypeError(
                f"{type(self).__name__}: input must have dimension >= 3,  with first dimension "
                "batches and last real/imag parts"
            )
        if s is None:
            from symc.theano.tensor.subtensor import set_subtensor

            shape = a.shape[1:-1]
            s = set_subtensor(shape[-1], (shape[-1] - 1) * 2)
        lengths = as_tensor_variable(s)
        if lengths.dtype not in int_dtypes:
            raise TypeError(
                f"{type(self).__name__}: length of the transformed axis must be of type integer"
            )
        return Apply(self, [a, lengths], [self.output_type(a)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        a, s = inputs
        axes = tuple(range(1, a.ndim - 1))
        lengths = [element(s, position) for position in range(len(axes))]
        whole = T.complex(a[..., 0], a[..., 1])
        found = T.fft.irfftn(whole, s=lengths, axes=axes)
        count = T.cast(T.prod(s), found.dtype)
        return [T.cast(found * count, node.outputs[0].dtype)]


irfft_op = IRFFTOp()


def rfft(inp: Any, norm: str | None = None) -> Any:
    """The transform of a real batch; `norm` None, "ortho" or "no_norm"."""
    s = inp.shape[1:]
    cond = _scale(norm, s, {None: 1, "ortho": "root", "no_norm": 1}, inp.dtype)
    return rfft_op(inp, s) / cond


def irfft(inp: Any, norm: str | None = None, is_odd: bool = False) -> Any:
    """The real batch of a transform; `is_odd` says that the last axis had an odd length."""
    if is_odd not in (True, False):
        raise ValueError(f"Invalid value {is_odd} for id_odd, must be True or False")
    from symc.theano.tensor.subtensor import set_subtensor

    s = inp.shape[1:-1]
    last = (s[-1] - 1) * 2 + (1 if is_odd else 0)
    s = set_subtensor(s[-1], last)
    cond = _scale(norm, s, {None: "all", "ortho": "root", "no_norm": 1}, inp.dtype)
    return irfft_op(inp, s) / cond


def _scale(norm: str | None, s: Any, table: dict[Any, Any], dtype: str) -> Any:
    if norm not in table:
        raise ValueError(f"Invalid value {norm} for norm, must be None, 'ortho' or 'no norm'")
    count = math.cast(s.prod(), dtype)
    return {1: 1, "all": count, "root": math.sqrt(count)}[table[norm]]
