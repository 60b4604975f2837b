"""Diagonals written on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import upcast
from symc.theano.tensor.convert import as_tensor_variable


class FillDiagonal(Op):
    """A tensor with a value on its main diagonal."""

    __props__ = ()

    def make_node(self, a: Any, val: Any) -> Apply:
        a, val = _checked(self, a, val)
        if a.ndim < 2:
            raise TypeError(f"{self}: first parameter must have at least two dimensions")
        return Apply(self, [a, val], [a.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        a, val = inputs
        return [T.fill_diagonal(a, T.cast(val, a.dtype))]


fill_diagonal_ = FillDiagonal()


def fill_diagonal(a: Any, val: Any) -> Any:
    """A tensor with a value on its main diagonal."""
    return fill_diagonal_(a, val)


class FillDiagonalOffset(Op):
    """A matrix with a value on a diagonal beside the main one."""

    __props__ = ()

    def make_node(self, a: Any, val: Any, offset: Any) -> Apply:
        a, val = _checked(self, a, val)
        offset = as_tensor_variable(offset)
        if a.ndim != 2:
            raise TypeError(f"{self}: first parameter must have exactly two dimensions")
        if offset.ndim:
            raise TypeError(f"{self}: third parameter must be a scalar")
        if not offset.dtype.startswith(("int", "uint")):
            raise TypeError(f"{self}: type of third parameter must be an integer")
        return Apply(self, [a, val, offset], [a.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        a, val, offset = inputs
        rows, columns = (T.expand_dims(T.arange(T.shape(a)[k]), 1 - k) for k in (0, 1))
        return [T.where(T.eq(columns - rows, offset), T.cast(val, a.dtype), a)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """The offset has no gradient."""
        return [[True], [True], [False]]


fill_diagonal_offset_ = FillDiagonalOffset()


def fill_diagonal_offset(a: Any, val: Any, offset: Any) -> Any:
    """A matrix with a value on a diagonal beside the main one."""
    return fill_diagonal_offset_(a, val, offset)


def _checked(op: Op, a: Any, val: Any) -> tuple[Any, Any]:
    a, val = as_tensor_variable(a), as_tensor_variable(val)
    if val.ndim:
        raise TypeError(f"{op}: second parameter must be a scalar")
    if upcast(a.dtype, val.dtype) != a.dtype:
        raise TypeError(f"{op}: type of second parameter must be compatible with first's")
    return a, val
