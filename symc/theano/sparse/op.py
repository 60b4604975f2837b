"""Ops on sparse matrices: functions of SciPy's, with the types of their results and gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.null_type import DisconnectedType
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import upcast
from symc.theano.sparse.scipy import is_sparse
from symc.theano.sparse.type import SparseType
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType


def is_sparse_variable(x: Any) -> bool:
    """Whether a variable is a sparse matrix."""
    return isinstance(x, Variable) and isinstance(x.type, SparseType)


def is_dense_variable(x: Any) -> bool:
    """Whether a variable is a tensor. Raises NotImplementedError for other things."""
    if not isinstance(x, Variable):
        raise NotImplementedError(
            "this function should only be called on *variables* (of type sparse.SparseType or "
            "tensor.TensorType, for instance), not ", x,
        )  # fmt: skip
    return isinstance(x.type, TensorType)


def is_dense(x: Any) -> bool:
    """Whether a value is an array and no sparse matrix."""
    return isinstance(x, np.ndarray)


def constant(x: Any, name: str | None = None) -> Any:
    """A sparse matrix that is known. Raises TypeError for other values."""
    if not is_sparse(x):
        raise TypeError("sparse.constant must be called on a scipy.sparse.spmatrix")
    return as_sparse_variable(x, name)


def as_sparse_variable(x: Any, name: str | None = None) -> Any:
    """A sparse matrix as a variable; one that is known as a constant."""
    if isinstance(x, Apply):
        (x,) = x.outputs
    if isinstance(x, Variable):
        if not isinstance(x.type, SparseType):
            raise TypeError("Variable type field must be a SparseType.", x, x.type)
        return x
    if not is_sparse(x):
        raise TypeError(f"Cannot convert {x!r} to SparseType", type(x))
    return SparseType.Constant(SparseType(x.format, x.dtype), x.copy(), name=name)


as_sparse = as_sparse_variable


def as_sparse_or_tensor_variable(x: Any, name: str | None = None) -> Any:
    """A sparse or a dense matrix as a variable."""
    try:
        return as_sparse_variable(x, name)
    except TypeError:
        return as_tensor_variable(x, name=name)


class SparseOp(Op):
    """An op that SciPy computes: `kinds` gives the types of the results, `run` the values.

    `back` gives the gradients by the inputs; without it there are none.
    """

    def __init__(
        self, name: str, kinds: Callable[..., Sequence[Any]], run: Callable[..., Any],
        back: Callable[..., Sequence[Any]] | None = None, **settings: Any,
    ) -> None:  # fmt: skip
        self.name, self.kinds, self.run, self.back = name, kinds, run, back
        self.settings = settings

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseOp) and (self.name, self.settings) == (
            other.name,
            other.settings,
        )

    def __hash__(self) -> int:
        return hash((SparseOp, self.name, *map(str, self.settings.items())))

    def make_node(self, *inputs: Any) -> Apply:
        given = [as_sparse_or_tensor_variable(each) for each in inputs]
        return Apply(self, given, [kind() for kind in self.kinds(*given)])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, *_: Any) -> None:
        found = self.run(*inputs)
        values = found if isinstance(found, tuple) else (found,)
        for cell, value, output in zip(output_storage, values, node.outputs, strict=True):
            cell[0] = _as_type(value, output.type)

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        from symc.theano.gradient_types import grad_not_implemented

        if self.back is None:
            return [grad_not_implemented(self, k, x) for k, x in enumerate(inputs)]
        found = self.back(inputs, outputs, output_grads)
        return [DisconnectedType()() if each is None else each for each in found]

    def __str__(self) -> str:
        return self.name


def _as_type(value: Any, kind: Any) -> Any:
    if isinstance(kind, SparseType):
        return SparseType.format_cls[kind.format](value, dtype=kind.dtype)
    if is_sparse(value):
        value = value.toarray()
    array = np.asarray(value, dtype=kind.dtype)
    return array.reshape(array.shape[-kind.ndim :]) if array.ndim > kind.ndim else array


def joined(*variables: Any) -> str:
    """The dtype of variables together."""
    return upcast(*(each.type.dtype for each in variables))


def sparse_of(x: Any, dtype: str | None = None) -> SparseType:
    """The type of a sparse matrix, perhaps with another dtype."""
    return SparseType(x.type.format, dtype or x.type.dtype)


def matrix_of(dtype: str) -> TensorType:
    """The type of dense matrices."""
    return TensorType(dtype, (False, False))


def vector_of(dtype: str) -> TensorType:
    """The type of dense vectors."""
    return TensorType(dtype, (False,))
