"""Elementwise Ops with broadcasting, reductions, and axes put in another order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytensor.scalar.basic as ps
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import (
    Argmax,
    MulWithoutZeros,
)

from symc import tensor as T
from symc.graph.node import Tensor
from symc.pytensor.conversion import OnHost, as_bool, register
from symc.pytensor.convert.checks import droppable
from symc.pytensor.convert.scalars import scalar
from symc.tensor.lengths import public


@register(Elemwise)
def _elemwise(op: Any, node: Any, conversion: Any, **_: Any) -> Callable[..., Any]:
    dtypes = [v.type.dtype for v in node.outputs]

    def compute(*args: Tensor) -> list[Tensor]:
        made = scalar(op.scalar_op, args, dtypes, conversion)
        return [_broadcast(result, args) for result in made]

    return compute


def _broadcast(result: Tensor, args: Sequence[Tensor]) -> Tensor:
    """The result in the shape of all arguments, also where it is computed from some of them."""
    if all(_covers(result, arg) for arg in args):
        return result
    whole = T.broadcast_arrays(result, *args)[0]
    return T.broadcast_to(result, tuple(public(d) for d in whole.type.shape))


def _covers(result: Tensor, arg: Tensor) -> bool:
    return result.ndim >= arg.ndim and all(
        mine == its or its == 1
        for mine, its in zip(result.type.shape[::-1], arg.type.shape[::-1], strict=False)
    )


@register(DimShuffle)
def _dimshuffle(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x: T.dimshuffle(droppable(x, op.drop), *op.new_order)


# --- reductions -----------------------------------------------------------------------------------

_TRUTH = {ps.AND: T.all, ps.OR: T.any}


@register(CAReduce)
def _reduction(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    (out,) = node.outputs
    ndim = node.inputs[0].type.ndim
    axis = tuple(range(ndim)) if op.axis is None else tuple(op.axis)
    dtype = getattr(op, "acc_dtype", None) or out.type.dtype
    kind = next((k for k in type(op.scalar_op).__mro__ if k in _REDUCTIONS), None)
    if kind is None:
        raise OnHost(f"symc has no reduction by {op.scalar_op}")
    function = _REDUCTIONS[kind]
    return lambda x: function(x, axis, dtype) if axis else x


def _truth(kind: Any) -> Callable[..., Any]:
    def reduced(x: Tensor, axis: tuple[int, ...], dtype: str) -> Tensor:
        if x.dtype.name != "bool":
            raise OnHost("symc has no reduction of integers by their bits")
        return _TRUTH[kind](x, axis=axis)

    return reduced


def _parity(x: Tensor, axis: tuple[int, ...], dtype: str) -> Tensor:
    if x.dtype.name != "bool":
        raise OnHost("symc has no reduction of integers by their bits")
    return as_bool(T.mod(T.sum(x, axis=axis, dtype="int64"), 2))


def _product_without_zeros(x: Tensor, axis: tuple[int, ...], dtype: str) -> Tensor:
    return T.prod(T.where(T.eq(x, 0), T.ones_like(x), x), axis=axis, dtype=dtype)


_REDUCTIONS: dict[type, Callable[..., Any]] = {
    ps.Add: lambda x, axis, dtype: T.sum(x, axis=axis, dtype=dtype),
    ps.Mul: lambda x, axis, dtype: T.prod(x, axis=axis, dtype=dtype),
    ps.Maximum: lambda x, axis, dtype: T.max(x, axis=axis),
    ps.Minimum: lambda x, axis, dtype: T.min(x, axis=axis),
    ps.AND: _truth(ps.AND),
    ps.OR: _truth(ps.OR),
    ps.XOR: _parity,
    MulWithoutZeros: _product_without_zeros,
}


@register(Argmax)
def _argmax(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    ndim = node.inputs[0].type.ndim
    axes = tuple(range(ndim)) if op.axis is None else tuple(op.axis)
    kept = [axis for axis in range(ndim) if axis not in axes]

    def compute(x: Tensor) -> Tensor:
        if len(axes) == ndim:
            return T.argmax(x, axis=None)
        if len(axes) == 1:
            return T.argmax(x, axis=axes[0])
        turned = T.transpose(x, (*kept, *axes))
        return T.argmax(T.reshape(turned, (*turned.shape[: len(kept)], -1)), axis=-1)

    return compute
