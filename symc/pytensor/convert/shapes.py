"""Arrays made, and given other shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.tensor.basic as tb
import pytensor.tensor.extra_ops as te
from pytensor.assumptions.specify import SpecifyAssumptions
from pytensor.compile.ops import DeepCopyOp, TypeCastingOp
from pytensor.tensor.reshape import JoinDims, SplitDims
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape

from symc import tensor as T
from symc.graph.node import Tensor
from symc.pytensor.conversion import as_length, items, register


@register(
    tb.ScalarFromTensor, tb.TensorFromScalar, TypeCastingOp, DeepCopyOp, SpecifyAssumptions,
    te.CpuContiguous,
)  # fmt: skip
def _identity(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x, *rest: x


@register(tb.Alloc)
def _alloc(op: Any, **_: Any) -> Callable[..., Any]:
    def compute(value: Tensor, *shape: Any) -> Tensor:
        return T.broadcast_to(value, tuple(as_length(s) for s in shape))

    return compute


@register(tb.AllocEmpty)
def _alloc_empty(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda *shape: T.zeros(tuple(as_length(s) for s in shape), dtype=op.dtype)


@register(tb.MakeVector)
def _make_vector(op: Any, **_: Any) -> Callable[..., Any]:
    def compute(*args: Tensor) -> Tensor:
        if not args:
            return T.zeros((0,), dtype=op.dtype)
        return T.stack([T.cast(a, op.dtype) for a in args])

    return compute


@register(tb.ARange)
def _arange(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda start, stop, step: T.arange(start, stop, step, dtype=op.dtype)


@register(tb.Eye)
def _eye(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda n, m, k: T.eye(as_length(n), as_length(m), as_length(k), dtype=op.dtype)


# --- lengths --------------------------------------------------------------------------------------


@register(Shape)
def _shape(op: Any, **_: Any) -> Callable[..., Any]:
    def compute(x: Tensor) -> Tensor:
        if not x.ndim:
            return T.zeros((0,), dtype="int64")
        return T.stack([T.as_tensor(s) for s in T.shape(x)])

    return compute


@register(Shape_i)
def _length(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x: T.as_tensor(T.shape(x)[op.i])


@register(SpecifyShape)
def _specify_shape(op: Any, **_: Any) -> Callable[..., Any]:
    def compute(x: Tensor, *shape: Any) -> Tensor:
        return T.specify_shape(x, [None if s is None else as_length(s) for s in shape])

    return compute


@register(Reshape)
def _reshape(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    (out,) = node.outputs

    def compute(x: Tensor, shape: Tensor) -> Tensor:
        lengths = items(shape, out.type.ndim)
        return T.reshape(x, _completed(x, lengths, out.type.shape))

    return compute


def _completed(x: Tensor, lengths: list[Any], static: tuple[int | None, ...]) -> tuple[Any, ...]:
    """The lengths of a new shape, where one that is computed may turn out to be -1."""
    known = [s if s is not None else n for s, n in zip(static, lengths, strict=True)]
    open_at = [at for at, n in enumerate(known) if isinstance(n, Tensor) and not _is_length(n)]
    if -1 in known or not open_at:
        return tuple(known)
    if len(open_at) == 1:
        rest = [n for at, n in enumerate(known) if at != open_at[0]]
        filled = _rest(x, rest)
        at = open_at[0]
        return (*known[:at], _chosen(known[at], filled), *known[at + 1 :])
    product: Any = 1
    for n in known:
        product = product * n
    filled = T.where(T.eq(product, 0), 0, T.floordiv(T.size(x), T.maximum(T.abs(product), 1)))
    return tuple(_chosen(n, filled) if at in open_at else n for at, n in enumerate(known))


def _is_length(n: Tensor) -> bool:
    """Whether a number is plainly a length of something, which cannot be -1."""
    return type(n.op).__name__ in ("Length", "Derived")


def _rest(x: Tensor, others: list[Any]) -> Any:
    product: Any = 1
    for n in others:
        product = product * n
    return T.floordiv(T.size(x), T.maximum(product, 1))


def _chosen(given: Any, filled: Any) -> Tensor:
    return T.where(T.eq(given, -1), filled, given)


@register(JoinDims)
def _join_dims(op: Any, **_: Any) -> Callable[..., Any]:
    first, count = op.start_axis, op.n_axes

    def compute(x: Tensor) -> Tensor:
        lengths = T.shape(x)
        size: Any = 1
        for length in lengths[first : first + count]:
            size = length * size
        return T.reshape(x, (*lengths[:first], size, *lengths[first + count :]))

    return compute


@register(SplitDims)
def _split_dims(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    count = node.outputs[0].type.ndim - node.inputs[0].type.ndim + 1
    static = node.outputs[0].type.shape[op.axis : op.axis + count]

    def compute(x: Tensor, shape: Tensor) -> Tensor:
        lengths = T.shape(x)
        made = [s if s is not None else n for s, n in zip(static, items(shape, count), strict=True)]
        return T.reshape(x, (*lengths[: op.axis], *made, *lengths[op.axis + 1 :]))

    return compute
