"""Products of a sparse matrix in compressed rows and dense ones, as ops with routines in C.

A matrix is given as its elements `data`, and its structure: the column of each (`indices`, int32),
where rows start among them (`starts`, int64, one more than there are rows), and the number of
columns, a scalar. The three products are closed under differentiation: the gradients of each are
the other two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from symc.codegen.dtypes import INT32, INT64
from symc.codegen.record import record
from symc.codegen.routines import declare
from symc.errors import BadIndex, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import OPERATORS, Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.lengths import dim_of, unbatched
from symc.tensor.matrix_product import blas_suffix, require_lengths
from symc.tensor.reshape import reshape
from symc.tensor.sparse.batching import sampled, scattered
from symc.tensor.views import not_negative, swapaxes

__all__: list[str] = []


for _name, _arguments in (
    ("sparse_dot", "m k n entries data* indices* starts* x* y! status!"),
    ("sparse_back", "m k n entries data* indices* starts* x* y! status!"),
    ("sparse_samples", "m k n entries indices* starts* u* v* values! status!"),
):
    declare(_name, _arguments, lambda of: 2 * of.product("entries n"))

# The parts of an op: its value, and whether the structure is not that of a matrix. Routines look at
# each index before they use it, and at where each row starts; the value of others does not matter.
VALUE, STATUS = 0, 1
_LABEL = "a product with sparse matrices"


class _OfStructure(Op):
    """What the ops share: they have a part for their status, which must be 0."""

    __slots__ = ()
    part: int

    def _structure(self, node: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The indices, starts and number of columns among the arguments."""
        raise NotImplementedError(type(self).__name__)

    def _sides(self, node: Tensor) -> Iterable[Requirement]:
        """The lengths that must agree."""
        raise NotImplementedError(type(self).__name__)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        if self.part == STATUS:
            return
        yield from self._sides(node)
        status = type(self)(STATUS)(*node.args)  # type: ignore[call-arg]
        indices, starts, columns = self._structure(node)
        yield Requirement(
            OPERATORS["eq"](status, 0),
            BadIndex,
            lambda value: _fault(value(indices), value(starts), int(value(columns)), indices),
        )


@record
class SparseDot(_OfStructure):
    """The matrix times `x`, columns or a vector: of data, indices, starts, columns and x."""

    part: int = VALUE

    def infer(self, *args: Tensor) -> TensorType:
        if self.part == STATUS:
            return TensorType(INT64, ())
        data, _, starts, _, x = args
        return TensorType(data.dtype, (rows_of(starts), *x.type.shape[1:]))

    def evaluate(self, *args: Array) -> Array:
        data, indices, starts, columns, x = args
        if self.part == STATUS:
            return _status(indices, starts, columns)
        result = np.zeros((len(starts) - 1, *x.shape[1:]), data.dtype)
        np.add.at(result, row_numbers(starts), _wide(data, x) * x[indices])
        return result

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        if self.part == STATUS:
            return [None] * 5
        data, *structure, x = node.args
        to_data = SparseSamples()(*structure, bar, x)
        return [to_data, None, None, None, SparseBack()(data, *structure, bar)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        data, *structure, x = args
        if not batched[0]:
            return _side_by_side(self, args, batched)
        unbatched(_LABEL, batched[1:-1])
        rows, columns = RowNumbers()(*structure), structure[0]
        length = rows_of(structure[1])
        return scattered(data, columns, rows, x, length, (True, batched[-1]))

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        columns = node.args[4].type.shape[0]
        parts = SparseDot(VALUE), SparseDot(STATUS)
        return _product_call("sparse_dot", parts, node, columns, size)

    def _structure(self, node: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return node.args[1], node.args[2], node.args[3]

    def _sides(self, node: Tensor) -> Iterable[Requirement]:
        data, indices, _, columns, x = node.args
        yield _as_long("dot", x, dim_of(columns), "columns")
        yield from _as_many(data, indices)

    @property
    def label(self) -> str:
        return "sparse_dot"


@record
class SparseBack(_OfStructure):
    """The transposed matrix times `x`, columns or a vector: arguments as of `SparseDot`."""

    part: int = VALUE

    def infer(self, *args: Tensor) -> TensorType:
        if self.part == STATUS:
            return TensorType(INT64, ())
        data, _, _, columns, x = args
        return TensorType(data.dtype, (dim_of(columns), *x.type.shape[1:]))

    def evaluate(self, *args: Array) -> Array:
        data, indices, starts, columns, x = args
        if self.part == STATUS:
            return _status(indices, starts, columns)
        result = np.zeros((int(columns), *x.shape[1:]), data.dtype)
        np.add.at(result, indices, _wide(data, x) * x[row_numbers(starts)])
        return result

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        if self.part == STATUS:
            return [None] * 5
        data, *structure, x = node.args
        to_data = SparseSamples()(*structure, x, bar)
        return [to_data, None, None, None, SparseDot()(data, *structure, bar)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        data, *structure, x = args
        if not batched[0]:
            return _side_by_side(self, args, batched)
        unbatched(_LABEL, batched[1:-1])
        rows, columns = RowNumbers()(*structure), structure[0]
        length = dim_of(structure[2])
        return scattered(data, rows, columns, x, length, (True, batched[-1]))

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        columns = dim_of(node.args[3])
        parts = SparseBack(VALUE), SparseBack(STATUS)
        return _product_call("sparse_back", parts, node, columns, size)

    def _structure(self, node: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return node.args[1], node.args[2], node.args[3]

    def _sides(self, node: Tensor) -> Iterable[Requirement]:
        data, indices, starts, columns, x = node.args
        yield from not_negative("a sparse matrix", columns, (dim_of(columns),))
        yield _as_long("dot", x, rows_of(starts), "rows")
        yield from _as_many(data, indices)

    @property
    def label(self) -> str:
        return "sparse_back"


def _product_call(
    routine: str, parts: tuple[Op, Op], node: Tensor, columns: Dim, size: SizeOf
) -> LibCall:
    """`columns` is the length of the array that indices lead into: that of no other is compared."""
    data, _, starts, _, x = node.args
    lengths = rows_of(starts), columns, _width(x), data.type.shape[0]
    arrays = (Argument(n) for n in (0, 1, 2, 4, -1, -2))
    return LibCall(f"{routine}_{blas_suffix(data.dtype)}", (*map(size, lengths), *arrays), parts)


@record
class SparseSamples(_OfStructure):
    """The elements of ``u @ v.T`` where the matrix has one: of indices, starts, columns, u and v.

    Of vectors it is the outer product.
    """

    part: int = VALUE

    def infer(self, *args: Tensor) -> TensorType:
        if self.part == STATUS:
            return TensorType(INT64, ())
        return TensorType(args[3].dtype, args[0].type.shape)

    def evaluate(self, *args: Array) -> Array:
        indices, starts, columns, u, v = args
        if self.part == STATUS:
            return _status(indices, starts, columns)
        terms = u[row_numbers(starts)] * v[indices]
        return np.asarray(terms if u.ndim == 1 else terms.sum(axis=1), u.dtype)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        if self.part == STATUS:
            return [None] * 5
        *structure, u, v = node.args
        return [
            None, None, None,
            SparseDot()(bar, *structure, v), SparseBack()(bar, *structure, u),
        ]  # fmt: skip

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        *structure, u, v = args
        unbatched(_LABEL, batched[:3])
        rows = RowNumbers()(*structure)
        return sampled(u, v, rows, structure[0], (batched[3], batched[4]))

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        indices, starts, _, u, v = node.args
        lengths = rows_of(starts), v.type.shape[0], _width(u), indices.type.shape[0]
        arrays = (Argument(n) for n in (0, 1, 3, 4, -1, -2))
        return LibCall(
            f"sparse_samples_{blas_suffix(u.dtype)}",
            (*map(size, lengths), *arrays),
            (SparseSamples(VALUE), SparseSamples(STATUS)),
        )

    def _structure(self, node: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return node.args[0], node.args[1], node.args[2]

    def _sides(self, node: Tensor) -> Iterable[Requirement]:
        _, starts, columns, u, v = node.args
        yield _as_long("sampled_dot", u, rows_of(starts), "rows")
        yield _as_long("sampled_dot", v, dim_of(columns), "columns")
        if u.ndim == 2:
            yield from require_lengths("sampled_dot", u, 1, v, 1)

    @property
    def label(self) -> str:
        return "sparse_samples"


@record
class RowNumbers(_OfStructure):
    """The row of each element, int32: of indices, starts and columns."""

    part: int = VALUE

    def infer(self, *args: Tensor) -> TensorType:
        if self.part == STATUS:
            return TensorType(INT64, ())
        return TensorType(INT32, args[0].type.shape)

    def evaluate(self, *args: Array) -> Array:
        if self.part == STATUS:
            return _status(*args)
        return row_numbers(args[1]).astype(np.int32)

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        indices, starts, columns = node.args
        lengths = rows_of(starts), dim_of(columns), indices.type.shape[0]
        return LibCall(
            "sparse_row_numbers",
            (*map(size, lengths), *(Argument(n) for n in (0, 1, -1, -2))),
            (RowNumbers(VALUE), RowNumbers(STATUS)),
        )

    def _structure(self, node: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return node.args[0], node.args[1], node.args[2]

    def _sides(self, node: Tensor) -> Iterable[Requirement]:
        return ()

    @property
    def label(self) -> str:
        return "sparse_row_numbers"


def row_numbers(starts: Array) -> Array:
    """The row of each element, in NumPy."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def rows_of(starts: Tensor) -> Dim:
    """The number of rows, of which `starts` has one more."""
    return dims.sub(starts.type.shape[0], 1)


def _width(x: Tensor) -> Dim:
    return x.type.shape[1] if x.ndim == 2 else 1


def _wide(data: Array, x: Array) -> Array:
    return data if x.ndim == 1 else data[:, None]


def _side_by_side(op: Op, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
    """A product with each of a batch of dense operands: with all their columns side by side."""
    unbatched(_LABEL, batched[:-1])
    *matrix, x = args
    batch, length, *n = x.type.shape
    joined = reshape(swapaxes(x, 0, 1), (length, dims.mul(batch, *n) if n else batch))
    result = op(*matrix, joined)
    return swapaxes(reshape(result, (result.type.shape[0], batch, *n)), 0, 1)


# --- conditions -----------------------------------------------------------------------------------


def _as_long(label: str, x: Tensor, wanted: Dim, name: str) -> Requirement:
    found = x.type.shape[0]
    return Requirement(
        (found, wanted),
        ShapeMismatch,
        lambda value: (
            f"{label}: axis 0 is {value(found)}, and the sparse matrix has {value(wanted)} {name}"
            f"\n  given  {describe(x)}"
        ),
    )


def _as_many(data: Tensor, indices: Tensor) -> Iterable[Requirement]:
    elements, found = data.type.shape[0], indices.type.shape[0]
    if elements != found:
        yield Requirement(
            (elements, found),
            ShapeMismatch,
            lambda value: (
                f"a sparse matrix has {value(elements)} elements and {value(found)} indices\n"
                f"  data   {describe(data)}"
            ),
        )


def _status(indices: Array, starts: Array, columns: Array) -> Array:
    grows = len(starts) > 0 and starts[0] == 0 and starts[-1] == len(indices)
    grows = bool(grows) and bool(np.all(starts[1:] >= starts[:-1]))
    inside = bool(np.all((indices >= 0) & (indices < columns)))
    return np.asarray(not (grows and inside), np.int64)


def _fault(indices: Array, starts: Array, columns: int, given: Tensor) -> str:
    """What is wrong with the structure of a matrix."""
    wrong = indices[(indices < 0) | (indices >= columns)]
    if len(wrong):
        text = f"a sparse matrix has the index {wrong[0]}, and it must be below {columns}"
    else:
        text = (
            "a sparse matrix's indptr must start with 0, not decrease, and end with the number of "
            f"elements, {len(indices)}, not be {np.array2string(starts, threshold=8)}"
        )
    return f"{text}\n  indices  {describe(given)}"
