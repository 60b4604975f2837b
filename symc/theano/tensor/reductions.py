"""Sums, products, extremes and functions made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.configparser import config
from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.op import Op
from symc.theano.gradient_types import grad_not_implemented
from symc.theano.scalar.basic import SCALAR_OPS
from symc.theano.scalar.dtypes import (
    complex_dtypes,
    discrete_dtypes,
    uint_dtypes,
)
from symc.theano.scalar.special import mul_without_zeros
from symc.theano.tensor import math
from symc.theano.tensor.careduce import CAReduce as CAReduce
from symc.theano.tensor.careduce import CAReduceDtype, NamedReduction, axes_of, dtype_name
from symc.theano.tensor.convert import as_tensor_variable

__all__ = [
    "All", "Argmax", "CAReduce", "Max", "Min", "Prod", "Sum", "all", "any", "argmax", "argmin",
    "makeKeepDims", "max", "max_and_argmax", "mean", "min", "prod", "ptp", "std", "sum", "var",
]  # fmt: skip


class Sum(CAReduceDtype):
    """The sum."""

    __props__ = ("axis", "dtype", "acc_dtype")

    def __init__(self, axis: Any = None, dtype: Any = None, acc_dtype: Any = None) -> None:
        super().__init__(SCALAR_OPS["add"], axis, dtype, acc_dtype)

    def total(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        return T.sum(x, axis=axis)


class Prod(CAReduceDtype):
    """The product."""

    __props__ = ("axis", "dtype", "acc_dtype", "no_zeros_in_input")

    def __init__(
        self, axis: Any = None, dtype: Any = None, acc_dtype: Any = None,
        no_zeros_in_input: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(SCALAR_OPS["mul"], axis, dtype, acc_dtype)
        self.no_zeros_in_input = no_zeros_in_input

    def total(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        return T.prod(x, axis=axis)


class ProdWithoutZeros(CAReduceDtype):
    """The product of the elements that are not 0."""

    __props__ = ("axis", "dtype", "acc_dtype")

    def __init__(self, axis: Any = None, dtype: Any = None, acc_dtype: Any = None) -> None:
        super().__init__(mul_without_zeros, axis, dtype, acc_dtype)

    def total(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        return T.prod(T.where(T.eq(x, 0), T.ones((), dtype=x.dtype), x), axis=axis)

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        text = (
            "2nd derivatives of `product(a)` is not currently supported. If `a` is guaranteed to "
            "contain no zeros, use `product(a, no_zeros_in_input=True)`."
        )
        return [grad_not_implemented(self, 0, inputs[0], text)]

    L_op = Op.L_op


def _named(op: Any) -> str:
    """The name of an op, with its axes where it has some."""
    name = type(op).__name__.rstrip("_")
    return name if op.axis is None else f"{name}{{{', '.join(map(str, op.axis))}}}"


class All(NamedReduction):
    """Whether all elements are true."""

    by = "and_"

    def __str__(self) -> str:
        return _named(self)

    def output_dtype(self, dtype: str) -> str:
        return "bool"

    def reduce(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        return T.all(T.ne(x, 0) if x.dtype.name != "bool" else x, axis=axis)


class Any_(NamedReduction):
    """Whether any element is true."""

    by = "or_"

    def __str__(self) -> str:
        return _named(self)

    def output_dtype(self, dtype: str) -> str:
        return "bool"

    def reduce(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        return T.any(T.ne(x, 0) if x.dtype.name != "bool" else x, axis=axis)


class Extreme(NamedReduction):
    """The largest or the smallest element; its gradient goes to all that are equal to it."""

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Any) -> Any:
        (x,), (out,), (bar,) = inputs, outputs, output_grads
        if x.dtype in discrete_dtypes:
            return [x.zeros_like(dtype=config.floatX)]
        axis = axes_of(self.axis, x.ndim)
        axis = tuple(range(x.ndim)) if axis is None else axis
        places = iter(range(out.ndim))
        order = ["x" if position in axis else next(places) for position in range(x.ndim)]
        same = math.eq(x, out.dimshuffle(order))
        return [same * bar.dimshuffle(order)]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Any:
        if eval_points[0] is None:
            return [None]
        axis = axes_of(self.axis, inputs[0].ndim)
        if inputs[0].ndim != 1 and axis is not None and len(axis) > 1:
            raise NotImplementedError("Rop of an extreme is along one axis")
        return super().R_op(inputs, eval_points)


class Max(Extreme):
    """The largest element."""

    by = "maximum"

    def reduce(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        return T.max(x, axis=axis)


class Min(Extreme):
    """The smallest element."""

    by = "minimum"

    def reduce(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        return T.min(x, axis=axis)


class Argmax(NamedReduction):
    """The position of the largest element; along several axes that in them as one."""

    by = "maximum"

    def output_dtype(self, dtype: str) -> str:
        return "int64"

    def reduce(self, x: Tensor, axis: tuple[int, ...] | None) -> Tensor:
        axis = axis or ()
        if len(axis) == 1:
            return T.cast(T.argmax(x, axis=axis[0]), "int64")
        kept = [position for position in range(x.ndim) if position not in axis]
        lengths = T.shape(x)
        moved = T.transpose(x, (*kept, *axis)) if kept else x
        flat = T.reshape(moved, [*(lengths[position] for position in kept), -1])
        return T.cast(T.argmax(flat, axis=-1), "int64")

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Positions have no gradient, but a zero one."""
        return [[True]]


# --- functions ------------------------------------------------------------------------------------


def makeKeepDims(x: Any, y: Any, axis: Any) -> Any:
    """The reduction `y` of `x`, with axes of length 1 where it was reduced."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    found = axes_of(axis, x.ndim)
    gone = tuple(range(x.ndim)) if found is None else found
    places = iter(range(y.ndim))
    return y.dimshuffle(["x" if position in gone else next(places) for position in range(x.ndim)])


def _reduced(op: CAReduce, input: Any, axis: Any, keepdims: bool) -> Any:
    x = as_tensor_variable(input)
    axes_of(axis, x.ndim)
    result = op(x)
    return makeKeepDims(x, result, axis) if keepdims else result


def _plain(axis: Any) -> Any:
    """The axes as Python's numbers."""
    if isinstance(axis, Constant):
        axis = axis.data
    if axis is None or np.ndim(axis) == 0:
        return None if axis is None else (int(axis),)
    return tuple(int(each) for each in axis)


def sum(
    input: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None
) -> Any:
    """The sum along axes."""
    return _reduced(Sum(_checked(axis), dtype, acc_dtype), input, axis, keepdims)


def prod(
    input: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False,
    acc_dtype: Any = None, no_zeros_in_input: bool = False,
) -> Any:  # fmt: skip
    """The product along axes."""
    op = Prod(_checked(axis), dtype, acc_dtype, no_zeros_in_input)
    return _reduced(op, input, axis, keepdims)


def _checked(axis: Any) -> Any:
    if isinstance(axis, Variable) and not isinstance(axis, Constant):
        raise TypeError(f"axis must be a constant. Got {axis}")
    if isinstance(axis, float):
        raise TypeError(f"axis must be an integer, not {axis}")
    return _plain(axis)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether all elements are true."""
    return _reduced(All(_checked(axis)), x, axis, keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether any element is true."""
    return _reduced(Any_(_checked(axis)), x, axis, keepdims)


def max(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest elements along axes."""
    return _reduced(Max(_checked(axis)), x, axis, keepdims)


def min(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest elements along axes."""
    return _reduced(Min(_checked(axis)), x, axis, keepdims)


def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the largest elements are; of all axes, the position among all elements."""
    return _reduced(Argmax(_checked(axis)), x, axis, keepdims)


def argmin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the smallest elements are."""
    x = as_tensor_variable(x)
    if x.dtype == "bool":
        return argmax(~x, axis, keepdims)
    flipped = np.iinfo(x.dtype).max - x if x.dtype in uint_dtypes else -x
    return argmax(flipped, axis=axis, keepdims=keepdims)


def max_and_argmax(a: Any, axis: Any = None, keepdims: bool = False) -> list[Any]:
    """The largest elements and where they are."""
    return [max(a, axis, keepdims), argmax(a, axis, keepdims)]


def mean(
    input: Any, axis: Any = None, dtype: Any = None, op: bool = False, keepdims: bool = False,
    acc_dtype: Any = None,
) -> Any:  # fmt: skip
    """The mean along axes: float64 for integers."""
    from symc.theano.tensor.shaping import shape

    del op
    x = as_tensor_variable(input)
    sum_dtype = dtype_name(dtype)
    if dtype is None and x.dtype == "float16":
        sum_dtype = "float32"
    s = sum(x, axis=axis, dtype=sum_dtype, keepdims=keepdims, acc_dtype=acc_dtype)
    lengths = math.cast(
        shape(x), s.dtype if s.dtype in ("float16", "float32", "complex64") else "float64"
    )
    found = axes_of(axis, x.ndim)
    for position in range(x.ndim) if found is None else found:
        s = math.true_div(s, lengths[position])
    if s.dtype in discrete_dtypes:  # nothing was divided
        s = math.cast(s, "float64")
    if dtype_name(dtype) == "float16" or (dtype is None and x.dtype == "float16"):
        s = math.cast(s, "float16")
    s.name = "mean"
    return s


def var(
    input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False
) -> Any:
    """The variance along axes."""
    from symc.theano.tensor.shaping import shape

    if isinstance(ddof, bool):
        raise ValueError(
            "Parameter keepdims is now at index 3: (input, axis=None, ddof=0, keepdims=False, "
            "corrected=False)"
        )
    x = as_tensor_variable(input)
    centered = x - mean(x, axis, keepdims=True)
    v = mean(centered**2 if x.dtype not in complex_dtypes else math.abs_(centered) ** 2, axis,
             keepdims=keepdims)  # fmt: skip
    found = axes_of(axis, x.ndim)
    if ddof != 0:
        count = 1
        for position in range(x.ndim) if found is None else found:
            count = count * shape(x)[position]
        v = v * math.cast(count, v.dtype) / math.cast(count - ddof, v.dtype)
    if corrected:
        error = mean(centered, axis, keepdims=keepdims) ** 2
        v = v - error
    v.name = "var"
    return v


def std(
    input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False
) -> Any:
    """The standard deviation along axes."""
    if isinstance(ddof, bool):
        raise ValueError(
            "Parameter keepdims is now at index 3: (input, axis=None, ddof=0, keepdims=False, "
            "corrected=False)"
        )
    result = math.sqrt(var(input, axis, ddof, keepdims, corrected))
    result.name = "std"
    return result


def ptp(a: Any, axis: Any = None) -> Any:
    """The difference of the largest and the smallest elements."""
    a = as_tensor_variable(a)
    return max(a, axis) - min(a, axis)
