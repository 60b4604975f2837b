"""Sparse matrices of another structure than their operands: sums, products, parts, other formats.

Which places are stored is computed when a function runs, in expressions of tensors like any other:
the places as numbers, sorted, and the elements of each added up. So all of it is differentiable by
the stored elements, and costs a sort of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symc.codegen.dtypes import INT32, INT64
from symc.errors import BadIndex, ShapeMismatch
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor
from symc.tensor.along import repeat
from symc.tensor.build import arange, zeros
from symc.tensor.checked import Checked
from symc.tensor.elementwise import cast_to
from symc.tensor.logic import eq
from symc.tensor.segments import segment_sum
from symc.tensor.shape import concatenate
from symc.tensor.sorting.counting import unique
from symc.tensor.sorting.search import searchsorted
from symc.tensor.sweep import cumsum

if TYPE_CHECKING:
    from symc.tensor.sparse.matrices import Format, SparseMatrix

__all__: list[str] = []

Length = int | Tensor


def stored(
    format: Format, rows: Tensor, columns: Tensor, data: Tensor, shape: tuple[Length, Length]
) -> SparseMatrix:
    """The matrix with these elements, in order; those of one place are added up."""
    from symc.tensor.sparse.matrices import SparseMatrix

    by_rows = format == "csr"
    major, minor = (rows, columns) if by_rows else (columns, rows)
    count, width = (as_tensor(n) for n in (shape if by_rows else shape[::-1]))
    places, numbers = unique(cast_to(major, INT64) * width + minor, return_inverse=True)
    starts = searchsorted(places // width, arange(count + 1))
    summed = segment_sum(data, numbers, places.shape[0])
    return SparseMatrix(format, summed, cast_to(places % width, INT32), starts, width)


def merged(matrix: SparseMatrix, format: Format) -> SparseMatrix:
    """A matrix in a format, with one element for each place."""
    return stored(format, *matrix.coordinates, matrix.data, matrix.shape)


def added(a: SparseMatrix, b: SparseMatrix) -> SparseMatrix:
    """The sum: all that either of them stores."""
    both = zip(a.coordinates, b.coordinates, strict=True)
    rows, columns = (concatenate([left, right]) for left, right in both)
    data = concatenate([a.data, b.data])
    for n, m in zip(a.shape, b.shape, strict=True):
        data = _agreeing(data, n, m, f"{a!r} + {b!r}")
    return stored(a.format, rows, columns, data, a.shape)


def multiplied(a: SparseMatrix, b: SparseMatrix) -> SparseMatrix:
    """The product: each element of `a` times all of a row of `b`."""
    b = b if b.format == "csr" else merged(b, "csr")
    rows, columns = a.coordinates
    columns = _agreeing(columns, a.shape[1], b.shape[0], f"{a!r} @ {b!r}")
    starts = b.indptr[columns]
    chosen, at = _pieces(starts, b.indptr[columns + 1] - starts)
    data = a.data[chosen] * b.data[at]
    return stored(a.format, rows[chosen], b.indices[at], data, (a.shape[0], b.shape[1]))


def part(matrix: SparseMatrix, index: Any) -> SparseMatrix:
    """Some rows and columns: of slices, or of a vector of numbers on one axis."""
    both: list[Any] = [*index] if isinstance(index, tuple) else [index]
    if len(both) > 2:
        raise BadIndex(f"{matrix!r} has two axes, not {len(both)}")
    for axis, wanted in enumerate(both):
        if wanted is Ellipsis or wanted is None or as_number(wanted):
            raise BadIndex(f"rows and columns of {matrix!r} are chosen by slices or by vectors")
        if not (isinstance(wanted, slice) and wanted == slice(None)):
            matrix = _chosen(matrix, axis, wanted)
    return matrix


def as_number(wanted: Any) -> bool:
    """Whether an index is one number."""
    return not isinstance(wanted, slice) and as_tensor(wanted).ndim == 0


def _chosen(matrix: SparseMatrix, axis: int, wanted: Any) -> SparseMatrix:
    """The rows (axis 0) or columns with these numbers, in their order."""
    from symc.tensor.sparse.matrices import SparseMatrix

    format: Format = "csr" if axis == 0 else "csc"
    whole = matrix if matrix.format == format else merged(matrix, format)
    numbers = arange(whole.shape[axis])[wanted]
    starts = whole.indptr[numbers]
    counts = whole.indptr[numbers + 1] - starts
    _, at = _pieces(starts, counts)
    indptr = concatenate([zeros((1,), INT64), cumsum(counts)])
    found = SparseMatrix(format, whole.data[at], whole.indices[at], indptr, whole.minor)
    return found if matrix.format == format else merged(found, matrix.format)


def _pieces(starts: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """The positions in pieces of these starts and lengths, and the piece of each."""
    ends = cumsum(counts)
    piece = repeat(arange(starts.shape[0]), counts)
    return piece, arange(piece.shape[0]) - (ends - counts)[piece] + starts[piece]


def _agreeing(value: Tensor, n: Length, m: Length, what: str) -> Tensor:
    """A value; that the two lengths are the same is looked at as soon as they are known."""
    if isinstance(n, int) and isinstance(m, int):
        if n != m:
            raise ShapeMismatch(f"{what}: the lengths {n} and {m} differ")
        return value
    return Checked(f"{what}: lengths differ")(value, eq(as_tensor(n), m))
