"""`theano.sparse.basic`: sparse matrices as inputs; the ops on them have files of their own."""

from __future__ import annotations

from typing import Any

from symc.theano.scalar.dtypes import complex_dtypes as complex_dtypes
from symc.theano.scalar.dtypes import int_dtypes as int_dtypes
from symc.theano.scalar.dtypes import uint_dtypes as uint_dtypes
from symc.theano.sparse.arithmetic import *
from symc.theano.sparse.blocks import *
from symc.theano.sparse.conversions import *
from symc.theano.sparse.op import as_sparse as as_sparse
from symc.theano.sparse.op import as_sparse_or_tensor_variable as as_sparse_or_tensor_variable
from symc.theano.sparse.op import as_sparse_variable as as_sparse_variable
from symc.theano.sparse.op import constant as constant
from symc.theano.sparse.op import is_dense as _is_dense  # noqa: F401  # pyright: ignore
from symc.theano.sparse.op import is_dense_variable as _is_dense_variable  # noqa: F401  # pyright: ignore
from symc.theano.sparse.op import is_sparse_variable as _is_sparse_variable  # noqa: F401  # pyright: ignore
from symc.theano.sparse.parts import *
from symc.theano.sparse.products import *
from symc.theano.sparse.scipy import is_sparse as _is_sparse  # noqa: F401  # pyright: ignore
from symc.theano.sparse.scipy import sparse as _scipy_sparse
from symc.theano.sparse.structured import *
from symc.theano.sparse.sums import *
from symc.theano.sparse.type import SparseConstant as SparseConstant
from symc.theano.sparse.type import SparseType as SparseType
from symc.theano.sparse.type import SparseVariable as SparseVariable
from symc.theano.sparse.utils import hash_from_sparse as hash_from_sparse

sparse_formats = ["csc", "csr"]
float_dtypes = ["float32", "float64"]
integer_dtypes = [*int_dtypes, *uint_dtypes]
discrete_dtypes = [*int_dtypes, *uint_dtypes]
continuous_dtypes = [*complex_dtypes, *float_dtypes]
all_dtypes = [*integer_dtypes, *continuous_dtypes]


def matrix(format: str, name: str | None = None, dtype: Any = None) -> Any:
    """A sparse matrix of a format."""
    from symc.theano.configparser import config

    return SparseType(format, config.floatX if dtype is None else dtype)(name)


def csc_matrix(name: str | None = None, dtype: Any = None) -> Any:
    """A sparse matrix, column after column."""
    return matrix("csc", name, dtype)


def csr_matrix(name: str | None = None, dtype: Any = None) -> Any:
    """A sparse matrix, row after row."""
    return matrix("csr", name, dtype)


def bsr_matrix(name: str | None = None, dtype: Any = None) -> Any:
    """A sparse matrix, block after block."""
    return matrix("bsr", name, dtype)


dmatrix = csc_dmatrix = SparseType("csc", "float64")
fmatrix = csc_fmatrix = SparseType("csc", "float32")
csr_dmatrix, csr_fmatrix = SparseType("csr", "float64"), SparseType("csr", "float32")
bsr_dmatrix, bsr_fmatrix = SparseType("bsr", "float64"), SparseType("bsr", "float32")


def __getattr__(name: str) -> Any:
    if name == "_mtypes":
        return [_scipy_sparse.csc_matrix, _scipy_sparse.csr_matrix]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
