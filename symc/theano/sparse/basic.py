"""Sparse matrices made, taken apart, converted, added and multiplied element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symc.theano.sparse.op import SparseOp, joined, matrix_of, sparse_of, vector_of
from symc.theano.sparse.op import as_sparse as as_sparse
from symc.theano.sparse.op import as_sparse_or_tensor_variable as as_sparse_or_tensor_variable
from symc.theano.sparse.op import as_sparse_variable as as_sparse_variable
from symc.theano.sparse.op import is_sparse_variable as _is_sparse_variable
from symc.theano.sparse.scipy import is_sparse, sparse
from symc.theano.sparse.type import SparseType as SparseType
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType

__all__ = [
    "CSC", "CSR", "SparseType", "add", "as_sparse", "as_sparse_or_tensor_variable",
    "as_sparse_variable", "bcast", "bsr_matrix", "cast", "clean", "col_scale", "csc_dmatrix",
    "csc_fmatrix", "csc_from_dense", "csc_matrix", "csm_data", "csm_indices", "csm_indptr",
    "csm_properties", "csm_shape", "csr_dmatrix", "csr_fmatrix", "csr_from_dense", "csr_matrix",
    "dense_from_sparse", "diag", "dmatrix", "ensure_sorted_indices", "eq", "fmatrix", "ge",
    "getitem", "gt", "hstack", "le", "lt", "matrix", "minus", "mul", "neg", "neq", "remove0",
    "row_scale", "sp_ones_like", "sp_sum", "sp_zeros_like", "sparse_formats", "sparse_shape",
    "square_diagonal", "sub", "transpose", "vstack",
]  # fmt: skip
sparse_formats = ["csc", "csr"]
bcast = (False, False)


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


dmatrix = SparseType("csc", "float64")
fmatrix = SparseType("csc", "float32")
csc_dmatrix, csc_fmatrix = SparseType("csc", "float64"), SparseType("csc", "float32")
csr_dmatrix, csr_fmatrix = SparseType("csr", "float64"), SparseType("csr", "float32")


# --- parts ----------------------------------------------------------------------------------------


def _parts_back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
    (x,) = inputs
    from symc.theano.gof.null_type import DisconnectedType

    if isinstance(bars[0].type, DisconnectedType):
        return [None]
    return [_of_format(x.type.format)(bars[0], *outputs[1:])]


csm_properties: SparseOp = SparseOp(
    "csm_properties",
    lambda x: [vector_of(x.type.dtype), *[vector_of("int32")] * 3],
    lambda x: (x.data.copy(), x.indices.copy(), x.indptr.copy(), np.asarray(x.shape)),
    _parts_back,
)
csm_properties.connection_pattern = lambda node: [[True, False, False, False]]  # type: ignore[attr-defined]


def csm_data(csm: Any) -> Any:
    """The elements that are there."""
    return csm_properties(csm)[0]


def csm_indices(csm: Any) -> Any:
    """Where the elements are in their rows or columns."""
    return csm_properties(csm)[1]


def csm_indptr(csm: Any) -> Any:
    """Where rows or columns begin."""
    return csm_properties(csm)[2]


def csm_shape(csm: Any) -> Any:
    """The lengths, as a vector."""
    return csm_properties(csm)[3]


sparse_shape = SparseOp(
    "Shape", lambda x: [vector_of("int64")], lambda x: np.asarray(x.shape), lambda *_: [None]
)


def _of_format(format: str) -> SparseOp:
    return CSC if format == "csc" else CSR


def _made(format: str) -> SparseOp:
    build = SparseType.format_cls[format]

    def back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        return [_at_places(format)(bars[0], *inputs[1:]), None, None, None]

    return SparseOp(
        format.upper(), lambda data, *_: [SparseType(format, data.type.dtype)],
        lambda data, indices, indptr, shape: build(
            (data.copy(), indices.copy(), indptr.copy()), tuple(int(n) for n in shape)
        ), back,
    )  # fmt: skip


def _at_places(format: str) -> SparseOp:
    """The elements of a matrix at the places of another one's, in the order of those."""

    def run(x: Any, indices: Any, indptr: Any, shape: Any) -> Any:
        del shape
        major = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        rows, columns = (indices, major) if format == "csc" else (major, indices)
        return np.asarray(x[rows, columns]).reshape(-1)

    return SparseOp(f"at_places_{format}", lambda x, *_: [vector_of(x.type.dtype)], run)


row_scale: SparseOp
col_scale: SparseOp
CSC: SparseOp = _made("csc")
CSR: SparseOp = _made("csr")


# --- conversions ----------------------------------------------------------------------------------

dense_from_sparse: SparseOp = SparseOp(
    "DenseFromSparse", lambda x: [matrix_of(x.type.dtype)], lambda x: x.toarray(),
    lambda inputs, outputs, bars: [
        bars[0] if _is_sparse_variable(bars[0]) else _sparse_from(bars[0], inputs[0].type.format)
    ],
)  # fmt: skip


def _from_dense(format: str) -> SparseOp:
    return SparseOp(
        f"SparseFromDense{{{format}}}", lambda x: [SparseType(format, x.type.dtype)],
        lambda x: SparseType.format_cls[format](np.atleast_2d(x)),
        lambda inputs, outputs, bars: [dense_from_sparse(bars[0])],
    )  # fmt: skip


csr_from_dense, csc_from_dense = _from_dense("csr"), _from_dense("csc")


def _sparse_from(x: Any, format: str) -> Any:
    return csc_from_dense(x) if format == "csc" else csr_from_dense(x)


def cast(variable: Any, dtype: str) -> Any:
    """A sparse matrix with another dtype."""
    x = as_sparse_variable(variable)
    op = SparseOp(
        f"Cast{{{dtype}}}", lambda x: [sparse_of(x, dtype)], lambda x: x.astype(dtype),
        lambda inputs, outputs, bars: [cast(bars[0], inputs[0].type.dtype)],
    )  # fmt: skip
    return op(x)


_SWAPPED = {"csc": "csr", "csr": "csc"}
transpose: SparseOp = SparseOp(
    "Transpose", lambda x: [SparseType(_SWAPPED[x.type.format], x.type.dtype)],
    lambda x: x.transpose(), lambda inputs, outputs, bars: [transpose(bars[0])],
)  # fmt: skip
neg: SparseOp = SparseOp(
    "Neg", lambda x: [x.type], lambda x: -x, lambda inputs, outputs, bars: [neg(bars[0])]
)
ensure_sorted_indices: SparseOp = SparseOp(
    "EnsureSortedIndices", lambda x: [x.type], lambda x: x.sorted_indices(),
    lambda inputs, outputs, bars: [bars[0]],
)  # fmt: skip


def _without_zeros(x: Any) -> Any:
    made = x.copy()
    made.eliminate_zeros()
    return made


remove0: SparseOp = SparseOp(
    "Remove0", lambda x: [x.type], _without_zeros, lambda inputs, outputs, bars: [bars[0]]
)


def clean(x: Any) -> Any:
    """The matrix in order, and without zeros that are there."""
    return ensure_sorted_indices(remove0(x))


def _ones(x: Any) -> Any:
    made = x.copy()
    made.data = np.ones_like(made.data)
    return made


sp_ones_like: SparseOp = SparseOp(
    "sp_ones_like", lambda x: [x.type], _ones,
    lambda inputs, outputs, bars: [sp_zeros_like(inputs[0])],
)  # fmt: skip
sp_zeros_like: SparseOp = SparseOp(
    "sp_zeros_like", lambda x: [x.type], lambda x: type(x)(x.shape, dtype=x.dtype),
    lambda inputs, outputs, bars: [sp_zeros_like(inputs[0])],
)  # fmt: skip


# --- sums and scales ------------------------------------------------------------------------------


def sp_sum(x: Any, axis: int | None = None, sparse_grad: bool = False) -> Any:
    """The sum of all elements, or along an axis; with `sparse_grad` of those that are there."""
    if axis not in (None, 0, 1):
        raise ValueError("Illegal value for self.axis.")

    def back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        (x,), (bar,) = inputs, bars
        if sparse_grad:
            ones = sp_ones_like(x)
            if axis is None:
                return [mul(ones, bar)]
            return [col_scale(ones, bar) if axis == 0 else row_scale(ones, bar)]
        whole = bar.dimshuffle(*{None: ("x", "x"), 0: ("x", 0), 1: (0, "x")}[axis])
        spread = whole + math.cast(dense_from_sparse(sp_zeros_like(x)), bar.dtype)
        return [_sparse_from(spread, x.type.format)]

    op = SparseOp(
        "SpSum", lambda x: [TensorType(x.type.dtype, () if axis is None else (False,))],
        lambda x: np.asarray(x.sum(axis=axis)).reshape(() if axis is None else -1), back,
        axis=axis, sparse_grad=sparse_grad,
    )  # fmt: skip
    return op(as_sparse_variable(x))


def _scaled(name: str, by_rows: bool) -> SparseOp:
    def run(x: Any, s: Any) -> Any:
        return sparse.diags(s) @ x if by_rows else x @ sparse.diags(s)

    def back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        x, s = inputs
        own = row_scale if by_rows else col_scale
        return [own(bars[0], s), sp_sum(mul(x, bars[0]), axis=1 if by_rows else 0)]

    return SparseOp(name, lambda x, s: [sparse_of(x, joined(x, s))], run, back)


row_scale, col_scale = _scaled("RowScaleCSC", True), _scaled("ColScaleCSC", False)
diag: SparseOp = SparseOp(
    "Diag", lambda x: [vector_of(x.type.dtype)], lambda x: x.diagonal(),
    lambda inputs, outputs, bars: [square_diagonal(bars[0])],
)  # fmt: skip
square_diagonal: SparseOp = SparseOp(
    "SquareDiagonal", lambda d: [SparseType("csc", d.type.dtype)],
    lambda d: sparse.diags(d, format="csc"),
    lambda inputs, outputs, bars: [diag(bars[0])],
)  # fmt: skip


# --- two matrices ---------------------------------------------------------------------------------


def _like(variable: Any, bar: Any) -> Any:
    """A gradient as sparse or dense as its variable."""
    if _is_sparse_variable(variable) == _is_sparse_variable(bar):
        return bar
    if _is_sparse_variable(variable):
        return mul(sp_ones_like(variable), bar)
    return dense_from_sparse(bar)


def _sum_kinds(x: Any, y: Any) -> list[Any]:
    if _is_sparse_variable(x) and _is_sparse_variable(y):
        return [sparse_of(x, joined(x, y))]
    return [matrix_of(joined(x, y))]


_add: SparseOp = SparseOp(
    "Add", _sum_kinds, lambda x, y: x + y,
    lambda inputs, outputs, bars: [_like(each, bars[0]) for each in inputs],
)  # fmt: skip


def add(x: Any, y: Any) -> Any:
    """The sum of two matrices, one of them at least sparse."""
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not _is_sparse_variable(x) and not _is_sparse_variable(y):
        raise TypeError("add: one of the matrices must be sparse")
    return _add(x, y)


def sub(x: Any, y: Any) -> Any:
    """The difference of two matrices, one of them at least sparse."""
    y = as_sparse_or_tensor_variable(y)
    return add(x, -y)


minus = sub


def _mul_run(x: Any, y: Any) -> Any:
    if is_sparse(x):
        return x.multiply(y) if np.ndim(y) or is_sparse(y) else x * y
    return _mul_run(y, x)


def _mul_kinds(x: Any, y: Any) -> list[Any]:
    return [sparse_of(x if _is_sparse_variable(x) else y, joined(x, y))]


def _mul_back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
    del outputs
    x, y = inputs
    (bar,) = bars
    found: list[Any] = []
    for own, other in ((x, y), (y, x)):
        part = mul(other, bar)
        if not _is_sparse_variable(own):
            kinds = {0: None, 1: 0}
            part = sp_sum(part, kinds[own.ndim]) if own.ndim in kinds else dense_from_sparse(part)
        found.append(part)
    return found


_mul: SparseOp = SparseOp("Mul", _mul_kinds, _mul_run, _mul_back)


def mul(x: Any, y: Any) -> Any:
    """The product of two matrices element by element, one of them at least sparse."""
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not _is_sparse_variable(x) and not _is_sparse_variable(y):
        raise TypeError("mul: one of the matrices must be sparse")
    return _mul(x, y)


def _compared(name: str) -> Any:
    def kinds(x: Any, y: Any) -> list[Any]:
        if _is_sparse_variable(x) and _is_sparse_variable(y):
            return [sparse_of(x, "uint8")]
        return [matrix_of("uint8")]

    def dense(x: Any) -> Any:
        return x.toarray() if is_sparse(x) else x

    compare = {"eq": "equal", "neq": "not_equal", "lt": "less", "gt": "greater",
               "le": "less_equal", "ge": "greater_equal"}[name]  # fmt: skip
    op = SparseOp(name, kinds, lambda x, y: getattr(np, compare)(dense(x), dense(y)))

    def function(x: Any, y: Any) -> Any:
        return op(as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y))

    return function


eq, neq, lt = _compared("eq"), _compared("neq"), _compared("lt")
gt, le, ge = _compared("gt"), _compared("le"), _compared("ge")


# --- blocks and parts -----------------------------------------------------------------------------


def _stacked(name: str, blocks: Sequence[Any], format: str | None, dtype: Any, axis: int) -> Any:
    given = [as_sparse_variable(each) for each in blocks]
    kind = SparseType(format or "csc", dtype or joined(*given))
    run = sparse.vstack if axis == 0 else sparse.hstack

    def back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        found: list[Any] = []
        place: Any = 0
        for each in inputs:
            stop = place + each.shape[axis]
            part = bars[0][place:stop] if axis == 0 else bars[0][:, place:stop]
            found.append(part)
            place = stop
        return found

    op = SparseOp(name, lambda *_: [kind], lambda *xs: run(xs), back, format=kind.format)
    return op(*given)


def hstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Matrices beside each other."""
    return _stacked("HStack", blocks, format, dtype, 1)


def vstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Matrices above each other."""
    return _stacked("VStack", blocks, format, dtype, 0)


def getitem(x: Any, index: Any) -> Any:
    """A part of a sparse matrix by slices, or an element by two numbers."""
    entries = list(index) if isinstance(index, tuple) else [index]
    entries += [slice(None)] * (2 - len(entries))
    bounds: list[Any] = []
    template: list[Any] = []

    def hole(bound: Any) -> Any:
        if bound is None:
            return None
        bounds.append(as_tensor_variable(bound))
        return len(bounds) - 1

    for entry in entries:
        if isinstance(entry, slice):
            template.append(("slice", hole(entry.start), hole(entry.stop), hole(entry.step)))
        else:
            template.append(("at", hole(entry)))
    scalar = all(kind == "at" for kind, *_ in template)
    if not scalar and any(
        kind == "at" and bounds[places[0]].ndim == 0 for kind, *places in template
    ):
        raise NotImplementedError("a row or a column of a sparse matrix: take a slice of length 1")

    def filled(values: Sequence[Any]) -> tuple[Any, ...]:
        def number(place: Any) -> Any:
            return None if place is None else int(values[place])

        return tuple(
            slice(*map(number, places)) if kind == "slice" else np.asarray(values[places[0]])
            for kind, *places in template
        )

    kind = TensorType(x.type.dtype, ()) if scalar and not bounds[0].ndim else None

    def run(matrix: Any, *values: Any) -> Any:
        if kind is not None:
            return matrix[int(values[0]), int(values[1])]
        return matrix[filled(values)]

    op = SparseOp(
        "GetItem", lambda x, *_: [kind or x.type], run,
        None if kind is not None else _part_back(filled), template=str(template),
    )  # fmt: skip
    return op(x, *bounds)


def _part_back(filled: Any) -> Any:
    def back(inputs: Any, outputs: Any, bars: Any) -> list[Any]:
        del outputs
        x, *bounds = inputs

        def run(matrix: Any, part: Any, *values: Any) -> Any:
            made = sparse.lil_matrix(matrix.shape, dtype=matrix.dtype)
            made[filled(values)] = part
            return made

        op = SparseOp("GetItemGrad", lambda x, *_: [x.type], run)
        return [op(x, bars[0], *bounds), *(None for _ in bounds)]

    return back
