"""Products of vectors and matrices, softmax and its kin, convolutions and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.tensor.math as tm
import pytensor.tensor.special as tp
from pytensor.tensor.blas.batched import BatchedDot
from pytensor.tensor.blas.gemm import Dot22, Dot22Scalar, Gemm
from pytensor.tensor.blas.gemv import Gemv
from pytensor.tensor.einsum import Einsum
from pytensor.tensor.fft import IRFFTOp, RFFTOp
from pytensor.tensor.signal.conv import Convolve1d

from symc import tensor as T
from symc.graph.node import Tensor
from symc.pytensor.conversion import OnHost, as_length, known, register


@register(tm.Dot, Dot22)
def _dot(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    dtype = node.outputs[0].type.dtype
    return lambda x, y: T.dot(T.cast(x, dtype), T.cast(y, dtype))


@register(Dot22Scalar)
def _scaled_dot(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x, y, factor: factor * T.dot(x, y)


@register(Gemm)
def _gemm(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda z, a, x, y, b: b * z + a * T.dot(x, y)


@register(Gemv)
def _gemv(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda y, alpha, a, x, beta: beta * y + alpha * T.dot(a, x)


@register(BatchedDot)
def _batched_dot(op: Any, **_: Any) -> Callable[..., Any]:
    return T.matmul


@register(Einsum)
def _einsum(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda *operands: T.einsum(op.subscripts, *operands)


@register(tp.Softmax)
def _softmax(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x: T.softmax(x, axis=op.axis)


@register(tp.LogSoftmax)
def _log_softmax(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x: T.log_softmax(x, axis=op.axis)


@register(Convolve1d)
def _convolve(op: Any, **_: Any) -> Callable[..., Any]:
    def compute(x: Tensor, kernel: Tensor, full: Any) -> Tensor:
        value = known(full)
        if value is None:
            raise OnHost("whether the convolution is full is computed")
        return T.convolve(x, kernel, mode="full" if bool(value) else "valid")

    return compute


def _pairs(z: Tensor) -> Tensor:
    """Complex numbers as pairs along a last axis, as PyTensor's transforms have them."""
    return T.stack([T.real(z), T.imag(z)], axis=-1)


@register(RFFTOp)
def _rfft(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    axes = tuple(range(1, node.inputs[0].type.ndim))

    def compute(x: Tensor, shape: Tensor) -> Tensor:
        return _pairs(T.fft.rfftn(x, tuple(as_length(shape[i - 1]) for i in axes), axes=axes))

    return compute


@register(IRFFTOp)
def _irfft(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    axes = tuple(range(1, node.inputs[0].type.ndim - 1))

    def compute(pairs: Tensor, shape: Tensor) -> Tensor:
        z = T.complex(pairs[..., 0], pairs[..., 1])
        lengths = tuple(as_length(shape[i - 1]) for i in axes)
        scale: Any = 1
        for length in lengths:
            scale = scale * length
        result: Tensor = T.fft.irfftn(z, lengths, axes=axes) * scale
        return result

    return compute
