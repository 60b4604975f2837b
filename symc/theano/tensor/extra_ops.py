"""Further operations on arrays: repetitions, running sums, counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import symc.tensor as T
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply, Constant
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import discrete_dtypes, integer_dtypes
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.creation import arange, zeros
from symc.theano.tensor.diagonals import FillDiagonal as FillDiagonal
from symc.theano.tensor.diagonals import FillDiagonalOffset as FillDiagonalOffset
from symc.theano.tensor.diagonals import fill_diagonal as fill_diagonal
from symc.theano.tensor.diagonals import fill_diagonal_offset as fill_diagonal_offset
from symc.theano.tensor.flat_index import RavelMultiIndex as RavelMultiIndex
from symc.theano.tensor.flat_index import UnravelIndex as UnravelIndex
from symc.theano.tensor.flat_index import ravel_multi_index as ravel_multi_index
from symc.theano.tensor.flat_index import unravel_index as unravel_index
from symc.theano.tensor.joining import stack
from symc.theano.tensor.shaping import only_first
from symc.theano.tensor.shaping import squeeze as squeeze
from symc.theano.tensor.subtensor import set_subtensor
from symc.theano.tensor.type import TensorType
from symc.theano.tensor.uniques import Unique as Unique

__all__ = [
    "Bartlett", "CpuContiguous", "CumOp", "CumprodOp", "CumsumOp", "DiffOp", "FillDiagonal",
    "FillDiagonalOffset", "Nonzero", "RavelMultiIndex", "RepeatOp", "SearchsortedOp", "Unique",
    "UnravelIndex", "bartlett", "bartlett_", "bincount", "compress", "cpu_contiguous", "cumprod",
    "cumsum", "diff", "fill_diagonal", "fill_diagonal_offset", "flatnonzero", "nonzero",
    "nonzero_values", "ravel_multi_index", "repeat", "searchsorted", "squeeze", "to_one_hot",
    "unravel_index",
]  # fmt: skip


class CumOp(Op):
    """Sums or products of the elements so far; `mode` is "add" or "mul"."""

    __props__ = ("axis", "mode")

    def __init__(self, axis: int | None = None, mode: str = "add") -> None:
        if mode not in ("add", "mul"):
            raise ValueError(f'{type(self).__name__}: Unknown mode "{mode}"')
        self.axis, self.mode = axis, mode

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if self.axis is None:
            return Apply(self, [x], [TensorType(x.dtype, [False])()])
        if not -x.ndim <= self.axis < x.ndim:
            raise ValueError(f"axis(={self.axis}) out of bounds")
        return Apply(self, [x], [x.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x = T.ravel(inputs[0]) if self.axis is None else inputs[0]
        run = T.cumsum if self.mode == "add" else T.cumprod
        return [run(x, axis=0 if self.axis is None else self.axis)]


CumsumOp = CumprodOp = CumOp


def cumsum(x: Any, axis: int | None = None) -> Any:
    """Sums of the elements so far."""
    return CumOp(axis=axis, mode="add")(x)


def cumprod(x: Any, axis: int | None = None) -> Any:
    """Products of the elements so far."""
    return CumOp(axis=axis, mode="mul")(x)


class DiffOp(Op):
    """Differences of neighbours along an axis, `n` times."""

    __props__ = ("n", "axis")

    def __init__(self, n: int = 1, axis: int = -1) -> None:
        self.n, self.axis = n, axis

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        return Apply(self, [x], [TensorType(x.dtype, [False] * x.ndim)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.diff(inputs[0], n=self.n, axis=self.axis)]


def diff(x: Any, n: int = 1, axis: int = -1) -> Any:
    """Differences of neighbours, `n` times."""
    return DiffOp(n=n, axis=axis)(x)


class CpuContiguous(Op):
    """The tensor itself, in memory in the order of its axes; symc's results always are."""

    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return list(inputs)


cpu_contiguous = CpuContiguous()


class RepeatOp(Op):
    """Each element along an axis several times."""

    __props__ = ("axis",)

    def __init__(self, axis: int | None = None) -> None:
        self.axis = axis

    def make_node(self, x: Any, repeats: Any) -> Apply:
        x, counts = as_tensor_variable(x), as_tensor_variable(repeats)
        if counts.dtype not in integer_dtypes:
            raise TypeError("repeats.dtype must be an integer.")
        if counts.dtype == "uint64":
            raise TypeError("dtype uint64 is not supported for repeats", counts)
        if self.axis is None:
            flags = [False]
        else:
            flags = list(x.broadcastable)
            once = isinstance(counts, Constant) and counts.ndim == 0 and counts.data == 1
            flags[self.axis] = flags[self.axis] and once
        return Apply(self, [x, counts], [TensorType(x.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, counts = inputs
        known = constant_value(counts)
        if known is not None:
            counts = T.as_tensor(known) if known.ndim else int(known)  # type: ignore[assignment]
        return [T.repeat(x, counts, axis=self.axis)]

    connection_pattern = staticmethod(only_first)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element along an axis several times; None: each of all elements."""
    counts = as_tensor_variable(repeats)
    if counts.ndim > 1:
        raise ValueError("The dimension of repeats should not exceed 1.")
    return RepeatOp(axis=axis)(x, counts[0] if counts.ndim and counts.broadcastable[0] else counts)


def to_one_hot(y: Any, nb_class: Any, dtype: Any = None) -> Any:
    """A row for each integer, with 1 at its place."""
    y = as_tensor_variable(y)
    result = zeros((y.shape[0], nb_class), dtype=dtype)
    return set_subtensor(result[arange(y.shape[0]), y], 1)


def bincount(
    x: Any, weights: Any = None, minlength: Any = None, assert_nonneg: bool = False
) -> Any:
    """How often each integer occurs, of their dtype, or the sums of the weights at it."""
    from symc.theano.tensor.subtensor import inc_subtensor

    x = as_tensor_variable(x)
    if x.ndim != 1:
        raise TypeError("Inputs must be of dimension 1.")
    if assert_nonneg:
        from symc.theano.raise_op import Assert

        x = Assert("Input to bincount has negative values!")(x, math.ge(x, 0).all())
    size = math.cast(x.max() + 1, "int64")
    if minlength is not None:
        size = math.maximum(size, minlength)
    if weights is None:
        return inc_subtensor(zeros([size], dtype=x.dtype)[x], 1)
    weights = as_tensor_variable(weights)
    return inc_subtensor(zeros([size], dtype=weights.dtype)[x], weights)


def nonzero(a: Any, return_matrix: bool = False) -> Any:
    """Where elements are not zero: an index vector for each axis, or a matrix of them."""
    a = as_tensor_variable(a)
    found = Nonzero()(a, return_list=True)
    return stack(list(found)) if return_matrix else tuple(found)


class Nonzero(Op):
    """Where elements are not zero."""

    __props__ = ()

    def make_node(self, a: Any) -> Apply:
        a = as_tensor_variable(a)
        if a.ndim == 0:
            raise ValueError("Nonzero only supports non-scalar arrays.")
        return Apply(self, [a], [TensorType("int64", [False])() for _ in range(a.ndim)])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x = inputs[0]
        return list(T.nonzero(x if x.dtype.name == "bool" else T.ne(x, 0)))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Positions have no gradient."""
        return [[False] * node.nout]


def flatnonzero(a: Any) -> Any:
    """Where elements are not zero, counted through."""
    a = as_tensor_variable(a)
    if a.ndim == 0:
        raise ValueError("Nonzero only supports non-scalar arrays.")
    return nonzero(a.flatten())[0]


def nonzero_values(a: Any) -> Any:
    """The elements that are not zero."""
    a = as_tensor_variable(a)
    return a.flatten()[flatnonzero(a)]


def compress(condition: Any, x: Any, axis: int | None = None) -> Any:
    """The parts along an axis where the condition is true."""
    where = flatnonzero(condition)
    return as_tensor_variable(x).take(where, axis=axis)


class SearchsortedOp(Op):
    """Where values would be put to keep a vector in order."""

    __props__ = ("side",)

    def __init__(self, side: Literal["left", "right"] = "left") -> None:
        if side not in ("left", "right"):
            raise ValueError(f"'{side}' is an invalid value for keyword 'side'")
        self.side: Literal["left", "right"] = side

    def make_node(self, x: Any, v: Any, sorter: Any = None) -> Apply:
        x, v = as_tensor_variable(x), as_tensor_variable(v)
        given = [x, v]
        if x.ndim != 1:
            raise ValueError("x must be a vector", x)
        if sorter is not None:
            order = as_tensor_variable(sorter)
            if order.ndim != 1:
                raise ValueError("sorter must be a vector", sorter)
            if order.dtype not in discrete_dtypes:
                raise TypeError("sorter must be of integers", sorter)
            given.append(order)
        return Apply(self, given, [TensorType("int64", v.broadcastable)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        x, v, *order = inputs
        x = x[order[0]] if order else x
        return [T.cast(T.searchsorted(x, v, side=self.side), "int64")]


def searchsorted(x: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """Where values would be put to keep a vector in order."""
    op = SearchsortedOp(side)
    return op(x, v) if sorter is None else op(x, v, sorter)


class Bartlett(Op):
    """A triangular window."""

    __props__ = ()

    def make_node(self, M: Any) -> Apply:
        count = as_tensor_variable(M)
        if count.ndim:
            raise TypeError(f"{type(self).__name__} only works on scalar input")
        if count.dtype not in integer_dtypes:
            raise TypeError(f"{type(self).__name__} only works on integer input")
        return Apply(self, [count], [TensorType("float64", [False])()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        count = T.maximum(inputs[0], 0)
        last = T.cast(T.maximum(count - 1, 1), "float64")
        n = T.cast(T.arange(T.cast(count, "int64")), "float64")
        window = T.where(T.le(n, last / 2), n * 2 / last, 2 - n * 2 / last)
        return [T.where(T.eq(count, 1), 1.0, window)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """A count has no gradient."""
        return [[False]]


bartlett_ = Bartlett()


def bartlett(M: Any) -> Any:
    """A triangular window of M points."""
    return bartlett_(M)
