"""`SparseType`: matrices of SciPy's, and their variables."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np

from symc.theano.compile.sharedvalue import Container, SharedVariable, shared_constructor
from symc.theano.gof.graph import Constant, Variable
from symc.theano.gof.type import Type
from symc.theano.scalar.dtypes import ALL_DTYPES, upcast
from symc.theano.sparse.scipy import is_sparse, sparse


def _of_format(format: str) -> Any:
    def make(*args: Any, **kwargs: Any) -> Any:
        return getattr(sparse, f"{format}_matrix")(*args, **kwargs)

    return make


_CLASSES = {format: _of_format(format) for format in ("csr", "csc", "bsr")}


class SparseType(Type):
    """Sparse matrices of a dtype, in a format of SciPy's: "csr", "csc" or "bsr"."""

    __props__ = ("format", "dtype")
    format_cls: ClassVar[dict[str, Any]] = _CLASSES
    ndim = 2
    broadcastable = (False, False)
    Variable: ClassVar[Any]
    Constant: ClassVar[Any]

    def __init__(self, format: str, dtype: Any) -> None:
        self.format, self.dtype = format, np.dtype(dtype).name
        if self.dtype not in ALL_DTYPES:
            raise NotImplementedError(f"unsupported dtype {self.dtype}")
        if format not in _CLASSES:
            raise NotImplementedError(f"unsupported format {format!r} not in csr, csc, bsr")

    def clone(self, format: str | None = None, dtype: Any = None) -> SparseType:
        """The type with another format or dtype."""
        return SparseType(format or self.format, dtype or self.dtype)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if isinstance(data, Variable):
            raise TypeError("Expected a sparse matrix, but found a Variable", data)
        fits = is_sparse(data) and data.format == self.format
        if fits and data.dtype.name == self.dtype:
            return data
        if strict:
            raise TypeError(
                f"{data!r} is not sparse, or not of dtype {self.dtype} and {self.format}"
            )
        made = _CLASSES[self.format](data)
        if made.dtype.name == self.dtype:
            return made
        if not allow_downcast and upcast(made.dtype.name, self.dtype) != self.dtype:
            raise NotImplementedError(f"Expected {self.dtype} dtype but got {made.dtype}")
        return made.astype(self.dtype)

    @classmethod
    def values_eq(cls, a: Any, b: Any) -> bool:
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        return bool(abs(a - b).sum() == 0)

    @classmethod
    def values_eq_approx(cls, a: Any, b: Any, eps: float = 1e-6) -> bool:
        if not (is_sparse(a) and is_sparse(b)):
            return False
        apart = abs(a - b)
        return apart.nnz == 0 or bool(apart.max() < eps)

    def is_valid_value(self, a: Any) -> bool:
        return bool(is_sparse(a) and a.format == self.format)

    def value_zeros(self, shape: Any) -> Any:
        """A matrix of zeros."""
        return _CLASSES[self.format](shape, dtype=self.dtype)

    @staticmethod
    def may_share_memory(a: Any, b: Any) -> bool:
        """Whether two matrices may lie in the same memory."""
        from symc.theano.misc.may_share_memory import may_share_memory

        return may_share_memory(a, b)

    def __str__(self) -> str:
        return f"Sparse[{self.dtype}, {self.format}]"


def _ops() -> Any:
    from symc.theano.sparse import basic

    return basic


class _sparse_py_operators:
    """Operators and methods on sparse matrices."""

    type: Any
    ndim = 2
    dtype = property(lambda self: self.type.dtype)
    format = property(lambda self: self.type.format)
    broadcastable = (False, False)
    __array_priority__ = 1001

    @property
    def T(self) -> Any:
        """The transpose."""
        return _ops().transpose(self)

    @property
    def shape(self) -> Any:
        """The lengths, as a vector."""
        return _ops().sparse_shape(self)

    @property
    def data(self) -> Any:
        """The elements that are there."""
        return _ops().csm_data(self)

    @property
    def indices(self) -> Any:
        """Where the elements are in their rows or columns."""
        return _ops().csm_indices(self)

    @property
    def indptr(self) -> Any:
        """Where rows or columns begin."""
        return _ops().csm_indptr(self)

    @property
    def size(self) -> Any:
        """The number of elements that are there, as SciPy counts."""
        return _ops().csm_data(self).size

    def __neg__(self) -> Any:
        return _ops().neg(self)

    def __add__(self, other: Any) -> Any:
        return _ops().add(self, other)

    def __radd__(self, other: Any) -> Any:
        return _ops().add(other, self)

    def __sub__(self, other: Any) -> Any:
        return _ops().sub(self, other)

    def __rsub__(self, other: Any) -> Any:
        return _ops().sub(other, self)

    def __mul__(self, other: Any) -> Any:
        return _ops().mul(self, other)

    def __rmul__(self, other: Any) -> Any:
        return _ops().mul(other, self)

    def __lt__(self, other: Any) -> Any:
        return _ops().lt(self, other)

    def __le__(self, other: Any) -> Any:
        return _ops().le(self, other)

    def __gt__(self, other: Any) -> Any:
        return _ops().gt(self, other)

    def __ge__(self, other: Any) -> Any:
        return _ops().ge(self, other)

    def __dot__(self, other: Any) -> Any:
        return _ops().structured_dot(self, other)

    def __rdot__(self, other: Any) -> Any:
        return _ops().structured_dot(other, self)

    def dot(self, other: Any) -> Any:
        """The product."""
        return _ops().dot(self, other)

    def toarray(self) -> Any:
        """The matrix as a tensor."""
        return _ops().dense_from_sparse(self)

    def sum(self, axis: Any = None, sparse_grad: bool = False) -> Any:
        """The sum along an axis."""
        return _ops().sp_sum(self, axis=axis, sparse_grad=sparse_grad)

    def astype(self, dtype: str) -> Any:
        """The matrix with another dtype."""
        return _ops().cast(self, dtype)

    def zeros_like(self) -> Any:
        """A matrix of zeros of the same shape."""
        return _ops().sp_zeros_like(self)

    def __getitem__(self, args: Any) -> Any:
        return _ops().getitem(self, args)


class SparseVariable(_sparse_py_operators, Variable):  # pyright: ignore
    """A sparse matrix."""

    __hash__ = object.__hash__


class SparseConstant(_sparse_py_operators, Constant):  # pyright: ignore
    """A sparse matrix that is known."""

    __hash__ = object.__hash__
    data: Any = None

    def signature(self) -> Any:
        return (self.type, self.data.shape, self.data.data.tobytes(), self.data.indices.tobytes())


class SparseTensorSharedVariable(_sparse_py_operators, SharedVariable):  # pyright: ignore
    """A shared sparse matrix."""

    __hash__ = object.__hash__


SparseType.Variable, SparseType.Constant = SparseVariable, SparseConstant


@shared_constructor
def sparse_constructor(
    value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None,
    borrow: bool = False, format: str | None = None,
) -> SparseTensorSharedVariable:  # fmt: skip
    """A shared sparse matrix."""
    if not is_sparse(value):
        raise TypeError("Expected a sparse matrix in the sparse shared variable constructor.")
    kind = SparseType(format or value.format, value.dtype)
    held = value if borrow else copy.deepcopy(value)
    container = Container(kind, [kind.filter(held)], strict, allow_downcast, name)
    return SparseTensorSharedVariable(name, kind, None, strict, allow_downcast, container)
