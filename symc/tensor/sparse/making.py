"""Symbolic sparse matrices made: inputs, of parts, of dense matrices and of SciPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symc.codegen.dtypes import BOOL, INT32, INT64
from symc.config import config
from symc.errors import DTypeError, RankError
from symc.graph.inputs import as_tensor, constant, tensor
from symc.graph.inputs import shared as shared_tensor
from symc.graph.node import Tensor, TensorLike
from symc.graph.types import as_dtype
from symc.tensor.broadcast import describe
from symc.tensor.build import zeros
from symc.tensor.elementwise import cast_to, common
from symc.tensor.lengths import as_dim, tensor_of
from symc.tensor.logic import ne
from symc.tensor.math import maximum, minimum
from symc.tensor.matrix_product import is_blas
from symc.tensor.reduce import sum as summed
from symc.tensor.selection import nonzero
from symc.tensor.shape import concatenate
from symc.tensor.sparse.matrices import Format, SparseMatrix
from symc.tensor.sparse.products import SparseSamples
from symc.tensor.sparse.values import take
from symc.tensor.sweep import cumsum

__all__ = [
    "as_sparse", "csc_from_dense", "csc_from_parts", "csc_matrix", "csr_from_dense",
    "csr_from_parts", "csr_matrix", "sampled_dot", "shared", "structured",
]  # fmt: skip


def csr_matrix(name: str | None = None, dtype: Any = None) -> SparseMatrix:
    """A symbolic sparse matrix, stored row after row: functions take a matrix of SciPy's for it.

    `dtype` is as for `T.matrix`. A function converts matrices of SciPy's in other formats, and
    returns ``scipy.sparse.csr_array``. Indices are int32.

    >>> import scipy.sparse, symc, symc.tensor as T
    >>> a = T.sparse.csr_matrix("a")
    >>> symc.function([a], a.sum(axis=0))(scipy.sparse.eye_array(3))
    array([1., 1., 1.])
    """
    return _input("csr", name, dtype)


def csc_matrix(name: str | None = None, dtype: Any = None) -> SparseMatrix:
    """A symbolic sparse matrix, stored column after column; otherwise as `csr_matrix`.

    >>> import symc.tensor as T
    >>> T.sparse.csc_matrix("a", "float32").T.format
    'csr'
    """
    return _input("csc", name, dtype)


def _input(format: Format, name: str | None, dtype: Any) -> SparseMatrix:
    def part(kind: Any, ndim: int, suffix: str) -> Tensor:
        return tensor(kind, (None,) * ndim, f"{name or format}_{suffix}")

    kind = as_dtype(config.floatX if dtype is None else dtype)
    parts = part(kind, 1, "data"), part(INT32, 1, "indices"), part(INT64, 1, "indptr")
    length = part(INT64, 0, "columns" if format == "csr" else "rows")
    return SparseMatrix(format, *parts, length, name)


def csr_from_parts(
    data: TensorLike, indices: TensorLike, indptr: TensorLike, columns: int | Tensor
) -> SparseMatrix:
    """The matrix with these elements, their columns, and where each row starts among them.

    `indptr` has one number more than there are rows: 0 first, the number of elements last. Raises
    `ValueError`, `IndexError` or `ShapeMismatch` when it runs if the parts do not fit together.

    >>> import symc.tensor as T
    >>> T.sparse.csr_from_parts([3.0, 4.0], [1, 0], [0, 1, 2], 2).toarray().eval()
    array([[0., 3.],
           [4., 0.]])
    """
    return _of_parts("csr", data, indices, indptr, columns)


def csc_from_parts(
    data: TensorLike, indices: TensorLike, indptr: TensorLike, rows: int | Tensor
) -> SparseMatrix:
    """The matrix with these elements, their rows, and where each column starts among them.

    >>> import symc.tensor as T
    >>> T.sparse.csc_from_parts([3.0, 4.0], [1, 0], [0, 1, 2], 2).toarray().eval()
    array([[0., 4.],
           [3., 0.]])
    """
    return _of_parts("csc", data, indices, indptr, rows)


def _of_parts(
    format: Format, data: TensorLike, indices: TensorLike, indptr: TensorLike, minor: int | Tensor
) -> SparseMatrix:
    parts = as_tensor(data), as_tensor(indices), as_tensor(indptr)
    for name, part in zip(("data", "indices", "indptr"), parts, strict=True):
        if part.ndim != 1:
            raise RankError(f"{format}_from_parts: {name} is a vector\n  given  {describe(part)}")
        if name != "data" and not part.dtype.is_integer:
            raise DTypeError(f"{format}_from_parts: {name} are integers\n  given  {describe(part)}")
    values, places, starts = parts
    if places.dtype is not INT32:  # one that int32 does not hold stays out of range
        places = cast_to(maximum(minimum(cast_to(places, INT64), 2**31 - 1), -1), INT32)
    length = tensor_of(as_dim(minor))
    return SparseMatrix(format, values, places, cast_to(starts, INT64), length)


def csr_from_dense(x: TensorLike) -> SparseMatrix:
    """The elements of a dense matrix that are not 0, row after row.

    >>> import symc.tensor as T
    >>> T.sparse.csr_from_dense([[0.0, 3.0], [4.0, 0.0]]).data.eval()
    array([3., 4.])
    """
    x = as_tensor(x)
    if x.ndim != 2:
        raise RankError(f"csr_from_dense: not a matrix\n  given  {describe(x)}")
    there = x if x.dtype is BOOL else ne(x, 0)
    rows, columns = nonzero(there)
    counts = cumsum(summed(there, axis=1))
    starts = concatenate([zeros((1,), INT64), cast_to(counts, INT64)])
    data = x[rows, columns]
    return SparseMatrix("csr", data, cast_to(columns, INT32), starts, tensor_of(x.type.shape[1]))


def csc_from_dense(x: TensorLike) -> SparseMatrix:
    """The elements of a dense matrix that are not 0, column after column.

    >>> import symc.tensor as T
    >>> T.sparse.csc_from_dense([[0.0, 3.0], [4.0, 0.0]]).data.eval()
    array([4., 3.])
    """
    x = as_tensor(x)
    if x.ndim != 2:
        raise RankError(f"csc_from_dense: not a matrix\n  given  {describe(x)}")
    return csr_from_dense(x.T).T


def as_sparse(value: Any) -> SparseMatrix:
    """A matrix of SciPy's as a constant: in the "csc" format if it has that, else in "csr".

    >>> import scipy.sparse, symc.tensor as T
    >>> (T.sparse.as_sparse(scipy.sparse.eye_array(2)) @ [1.0, 2.0]).eval()
    array([1., 2.])
    """
    if isinstance(value, SparseMatrix):
        return value
    return _of_scipy(value, "as_sparse", constant, constant)


def shared(value: Any, name: str | None = None) -> SparseMatrix:
    """A matrix of SciPy's whose parts are shared variables: update its `data`, as of a weight.

    >>> import scipy.sparse, symc, symc.tensor as T
    >>> w = T.sparse.shared(scipy.sparse.eye_array(2), "w")
    >>> symc.function([], updates={w.data: w.data * 2})()
    >>> w.eval().toarray()
    array([[2., 0.],
           [0., 2.]])
    """
    count = iter(("data", "indices", "indptr"))

    def variable(array: Any) -> Tensor:
        return shared_tensor(array, f"{name or 'sparse'}_{next(count)}")

    made = _of_scipy(value, "shared", variable, constant)
    return SparseMatrix(made.format, *made.parts, name)


def _of_scipy(
    value: Any, label: str, part: Callable[[Any], Tensor], length: Callable[[Any], Tensor]
) -> SparseMatrix:
    format: Format = "csc" if getattr(value, "format", "") == "csc" else "csr"
    data, indices, starts, minor = take(format, value, label)
    return SparseMatrix(format, part(data), part(indices), part(starts), length(minor))


def structured(function: Callable[..., TensorLike], *matrices: SparseMatrix) -> SparseMatrix:
    """A function of the stored elements alone: those that are not stored stay 0.

    `function` gets the `data` of each matrix; they must have the same structure.

    >>> import symc.tensor as T
    >>> a = T.sparse.csr_from_dense([[0.0, 4.0], [9.0, 0.0]])
    >>> T.sparse.structured(T.sqrt, a).toarray().eval()
    array([[0., 2.],
           [3., 0.]])
    """
    first, *others = matrices
    for other in others:
        if not first.has_structure_of(other):
            raise TypeError(f"structured: {other!r} has another structure than {first!r}")
    return first.with_data(function(*(each.data for each in matrices)))


def sampled_dot(x: TensorLike, y: TensorLike, pattern: SparseMatrix) -> SparseMatrix:
    """``x @ y`` where `pattern` has elements: only those are computed. Its values do not matter.

    >>> import symc.tensor as T
    >>> pattern = T.sparse.csr_from_dense([[0.0, 1.0], [1.0, 0.0]])
    >>> T.sparse.sampled_dot([[1.0], [2.0]], [[3.0, 4.0]], pattern).toarray().eval()
    array([[0., 4.],
           [6., 0.]])
    """
    left, right = common([x, y], "float", "sampled_dot")
    if left.ndim != 2 or right.ndim != 2 or not is_blas(left.dtype):
        raise RankError(
            "sampled_dot: both are matrices of float32 or float64\n"
            f"  left   {describe(left)}\n  right  {describe(right)}"
        )
    sides = (left, right.T) if pattern.format == "csr" else (right.T, left)
    _, *structure = pattern.parts
    return pattern.with_data(SparseSamples()(*structure, *sides))
