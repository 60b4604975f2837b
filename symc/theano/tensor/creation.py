"""Tensors made of lengths: filled ones, ranges, identities, triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import symc.tensor as T
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor
from symc.theano.configparser import config
from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.null_type import DisconnectedType
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import discrete_dtypes, integer_dtypes, upcast
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable, constant
from symc.theano.tensor.shaping import is_one, shape
from symc.theano.tensor.type import TensorType

__all__ = [
    "ARange", "Alloc", "AllocDiag", "AllocEmpty", "ExtractDiag", "Eye", "alloc", "arange", "diag",
    "diagonal", "eye", "identity_like", "mgrid", "ogrid", "ones", "ones_like", "trace", "tri",
    "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def disconnected_lengths(node: Apply) -> list[list[bool]]:
    """The connection pattern of ops whose inputs are lengths only."""
    return [[False]] * node.nin


class Alloc(Op):
    """A tensor of given lengths filled with a value, which broadcasts."""

    __props__ = ()

    def make_node(self, value: Any, *lengths: Any) -> Apply:
        v = as_tensor_variable(value)
        found, flags = checked_lengths(lengths)
        if v.ndim > len(found):
            raise TypeError(
                "The Alloc value to use has more dimensions than the specified dimensions",
                v.ndim, len(found),
            )  # fmt: skip
        return Apply(self, [v, *found], [TensorType(v.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        value, *lengths = inputs
        return [T.broadcast_to(value, _numbers(node, lengths))]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Lengths have no gradient."""
        return [[True]] + [[False]] * (node.nin - 1)


class AllocEmpty(Op):
    """A tensor of given lengths; its elements are zeros here."""

    __props__ = ("dtype",)

    def __init__(self, dtype: str) -> None:
        self.dtype = str(dtype)

    def make_node(self, *lengths: Any) -> Apply:
        found, flags = checked_lengths(lengths)
        return Apply(self, found, [TensorType(self.dtype, flags)()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.zeros(_numbers(node, inputs), dtype=self.dtype)]

    connection_pattern = staticmethod(disconnected_lengths)


def _numbers(node: Apply, lengths: Sequence[Tensor]) -> tuple[Any, ...]:
    flags = node.outputs[0].type.broadcastable
    values = [constant_value(each) for each in lengths]
    return tuple(
        1 if flag else n if value is None else int(value)
        for flag, n, value in zip(flags, lengths, values, strict=True)
    )


def checked_lengths(lengths: Sequence[Any]) -> tuple[list[Any], list[bool]]:
    """Lengths as variables, and which are known to be 1. Raises TypeError for other values."""
    found = [as_tensor_variable(each) for each in lengths]
    for each in found:
        if each.type.dtype not in integer_dtypes or each.ndim:
            raise TypeError(
                f"Shape arguments to Alloc must be integers, but argument {each} is not for apply "
                f"node: {each.type}"
            )
    return found, [is_one(each) for each in found]


alloc = Alloc()


def _lengths(given: Any, ndim: int | None = None) -> list[Any]:
    from symc.theano.tensor.shaping import vector_length

    if isinstance(given, Variable) and given.ndim == 1:
        count = ndim if ndim is not None else vector_length(given)
        return [given[position] for position in range(count)]
    if isinstance(given, list | tuple | np.ndarray):
        return list(np.ravel(given)) if isinstance(given, np.ndarray) else list(given)
    return [given]


def zeros(shape: Any, dtype: Any = None) -> Any:
    """A tensor of zeros."""
    return alloc(np.array(0, dtype=_dtype(dtype)), *_lengths(shape))


def ones(shape: Any, dtype: Any = None) -> Any:
    """A tensor of ones."""
    return alloc(np.array(1, dtype=_dtype(dtype)), *_lengths(shape))


def _dtype(dtype: Any) -> Any:
    return (
        config.floatX
        if dtype is None or (isinstance(dtype, str) and dtype == "floatX")
        else (dtype)
    )


def zeros_like(model: Any, dtype: Any = None, opt: bool = False) -> Any:
    """Zeros in the shape of a tensor."""
    del opt
    model = as_tensor_variable(model)
    return math.fill(model, constant(0.0, dtype=_dtype_or(dtype, model)))


def ones_like(model: Any, dtype: Any = None, opt: bool = False) -> Any:
    """Ones in the shape of a tensor."""
    del opt
    model = as_tensor_variable(model)
    return math.fill(model, constant(1.0, dtype=_dtype_or(dtype, model)))


def _dtype_or(dtype: Any, model: Any) -> Any:
    return model.type.dtype if dtype is None else _dtype(dtype)


# --- ranges ---------------------------------------------------------------------------------------


class ARange(Op):
    """Numbers from `start` to before `stop`."""

    __props__ = ("dtype",)

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def make_node(self, start: Any, stop: Any, step: Any) -> Apply:
        given = [as_tensor_variable(each) for each in (start, stop, step)]
        assert all(each.ndim == 0 for each in given)
        return Apply(self, given, [TensorType(self.dtype, (False,))()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        values = [constant_value(each) for each in inputs]
        start, stop, step = (
            each if value is None else value.item()
            for each, value in zip(inputs, values, strict=True)
        )
        return [T.arange(start, stop, step, dtype=self.dtype)]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        start, _, step = inputs
        (bar,) = output_grads
        if self.dtype in discrete_dtypes:
            zeros = [each.zeros_like(dtype=config.floatX) for each in (start, step)]
            return [zeros[0], DisconnectedType()(), zeros[1]]
        places = arange(outputs[0].shape[0], dtype=self.dtype)
        return [bar.sum(), DisconnectedType()(), (bar * places).sum()]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """The end has no gradient."""
        return [[True], [False], [True]]


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Numbers from `start` to before `stop`; of one argument alone from 0 to before it."""
    if stop is None:
        start, stop = 0, start
    start, stop, step = (as_tensor_variable(each) for each in (start, stop, step))
    if dtype is None:
        dtype = upcast(start.type.dtype, stop.type.dtype, step.type.dtype)
        if dtype in integer_dtypes:
            dtype = "int64"
        elif config.cast_policy == "numpy+floatX" and config.floatX == "float32":
            numbers = (start, stop, step)
            if dtype == "float64" and not any(each.dtype == "float64" for each in numbers):
                dtype = "float32"
    return ARange(_dtype(dtype) if isinstance(dtype, str) else np.dtype(dtype).name)(
        start, stop, step
    )


# --- matrices -------------------------------------------------------------------------------------


class Eye(Op):
    """Ones on a diagonal."""

    __props__ = ("dtype",)

    def __init__(self, dtype: Any = None) -> None:
        self.dtype = np.dtype(_dtype(dtype)).name

    def make_node(self, n: Any, m: Any, k: Any) -> Apply:
        given = [as_tensor_variable(each) for each in (n, m, k)]
        assert all(each.ndim == 0 for each in given)
        return Apply(self, given, [TensorType(self.dtype, (False, False))()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        n, m, k = inputs
        rows = T.expand_dims(T.arange(n), 1)
        columns = T.expand_dims(T.arange(m), 0)
        return [T.cast(T.eq(rows + T.cast(k, "int64"), columns), self.dtype)]

    connection_pattern = staticmethod(disconnected_lengths)


def eye(n: Any, m: Any = None, k: Any = 0, dtype: Any = None) -> Any:
    """A matrix with ones on a diagonal."""
    return Eye(dtype)(n, n if m is None else m, k)


def identity_like(x: Any) -> Any:
    """The identity in the shape of a matrix."""
    x = as_tensor_variable(x)
    return eye(shape(x)[0], shape(x)[1], k=0, dtype=x.dtype)


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Any:
    """Ones on and below a diagonal."""
    from symc.theano.tensor.tiles import Tri

    return Tri(dtype)(N, N if M is None else M, k)


def tril(m: Any, k: Any = 0) -> Any:
    """The elements on and below a diagonal, zeros above it."""
    m = as_tensor_variable(m)
    return m * tri(shape(m)[0], shape(m)[1], k=k, dtype=m.dtype)


def triu(m: Any, k: Any = 0) -> Any:
    """The elements on and above a diagonal, zeros below it."""
    m = as_tensor_variable(m)
    return m * (constant(1, dtype=m.dtype) - tri(shape(m)[0], shape(m)[1], k=k - 1, dtype=m.dtype))


class ExtractDiag(Op):
    """A diagonal of two axes."""

    __props__ = ("offset", "axis1", "axis2", "view")

    def __init__(self, offset: int = 0, axis1: int = 0, axis2: int = 1, view: bool = False) -> None:
        self.offset, self.axis1, self.axis2, self.view = offset, axis1, axis2, view

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if x.ndim < 2:
            raise ValueError("ExtractDiag needs an input with 2 or more dimensions", x)
        return Apply(self, [x], [TensorType(x.dtype, [False] * (x.ndim - 1))()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        return [T.diagonal(inputs[0], offset=self.offset, axis1=self.axis1, axis2=self.axis2)]


class AllocDiag(Op):
    """Matrices with the last axis on a diagonal, along `axis1` and `axis2` of the result."""

    __props__ = ("offset", "axis1", "axis2")

    def __init__(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> None:
        self.offset, self.axis1, self.axis2 = offset, axis1, axis2

    def make_node(self, diag: Any) -> Apply:
        diag = as_tensor_variable(diag)
        if diag.ndim < 1:
            raise ValueError("AllocDiag needs an input with 1 or more dimensions", diag.type)
        return Apply(self, [diag], [TensorType(diag.dtype, [False] * (diag.ndim + 1))()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        (x,) = inputs
        if x.ndim == 1:
            return [T.diag(x, self.offset)]
        found = T.vectorize(lambda row: T.diag(row, self.offset), signature="(n)->(m,m)")(x)
        return [T.moveaxis(found, (-2, -1), sorted((self.axis1, self.axis2)))]


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal of two axes."""
    return ExtractDiag(offset, axis1, axis2)(a)


def diag(v: Any, k: int = 0) -> Any:
    """The matrix with a vector on a diagonal, or a diagonal of a matrix."""
    v = as_tensor_variable(v)
    if v.ndim == 1:
        return AllocDiag(k)(v)
    if v.ndim >= 2:
        return diagonal(v, offset=k)
    raise ValueError("Input must has v.ndim >= 1.")


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of a diagonal."""
    return diagonal(a, offset, axis1, axis2).sum(-1)


def is_integer(variable: Any) -> bool:
    """Whether a variable is of integers or bools."""
    return variable.dtype in discrete_dtypes


class _Grid:
    """``mgrid[a:b, c:d]`` and ``ogrid``: coordinates of a grid."""

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, item: Any) -> Any:
        given = item if isinstance(item, tuple) else (item,)
        ranges = [arange(s.start or 0, s.stop, s.step or 1) for s in given]
        count = len(ranges)
        spread = [
            each.dimshuffle(["x"] * axis + [0] + ["x"] * (count - axis - 1))
            for axis, each in enumerate(ranges)
        ]
        if self.sparse:
            return spread if isinstance(item, tuple) else spread[0]
        total = spread[0]
        for each in spread[1:]:
            total = total + each
        full = [math.fill(total, each) for each in spread]
        return full if isinstance(item, tuple) else full[0]


mgrid, ogrid = _Grid(sparse=False), _Grid(sparse=True)
