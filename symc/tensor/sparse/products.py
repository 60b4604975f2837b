"""Products of a sparse matrix in compressed rows and dense ones, as ops with routines in C.

A matrix is given as its elements `data`, and its structure: the column of each (`indices`, int32),
where rows start among them (`starts`, int64, one more than there are rows), and the number of
columns, a scalar. The three products are closed under differentiation: the gradients of each are
the other two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from symc.codegen.dtypes import INT32, INT64
from symc.codegen.record import record, replace
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
    """What the ops share: a value, and a status that must be 0, of a structure and other arrays."""

    __slots__ = ()
    part: int
    first = 0
    """Where the structure stands among the arguments: indices, starts and columns."""

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64, ()) if self.part == STATUS else self.type_of_value(*args)

    def evaluate(self, *args: Array) -> Array:
        status = _status(*args[self.first : self.first + 3])
        if self.part == STATUS:
            return status
        if status:  # a device, whose host calls this, looks at conditions later
            raise BadIndex(f"{_LABEL}: the parts are not those of a matrix")
        return self.value(*args)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [None] * len(node.args) if self.part == STATUS else self.slopes(node, bar)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        if self.part == STATUS:
            return
        yield from self.sides(node)
        status = self.both()[STATUS](*node.args)
        indices, starts, columns = node.args[self.first : self.first + 3]
        yield Requirement(
            OPERATORS["eq"](status, 0),
            BadIndex,
            lambda value: _fault(value(indices), value(starts), int(value(columns)), indices),
        )

    def both(self) -> tuple[Op, Op]:
        """The two parts, in the order of their numbers."""
        return replace(self, part=VALUE), replace(self, part=STATUS)

    def type_of_value(self, *args: Tensor) -> TensorType:
        """The type of the value."""
        raise NotImplementedError(type(self).__name__)

    def value(self, *args: Array) -> Array:
        """The value, in NumPy."""
        raise NotImplementedError(type(self).__name__)

    def slopes(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        """The gradient of each argument, given that of the value."""
        raise NotImplementedError(type(self).__name__)

    def sides(self, node: Tensor) -> Iterable[Requirement]:
        """The lengths that must agree."""
        raise NotImplementedError(type(self).__name__)


class _Product(_OfStructure):
    """The matrix, or its transpose, times `x`: of data, indices, starts, columns and x.

    Each element of the matrix takes a row of `x` *from* one place *to* another: from its column to
    its row, or the other way in the transpose.
    """

    __slots__ = ()
    first = 1

    def ways(self, rows: Any, columns: Any) -> tuple[Any, Any]:
        """Of what rows and columns have, that of the places from and to which rows are taken."""
        raise NotImplementedError(type(self).__name__)

    def type_of_value(self, *args: Tensor) -> TensorType:
        data, _, starts, columns, x = args
        _, length = self.ways(rows_of(starts), dim_of(columns))
        return TensorType(data.dtype, (length, *x.type.shape[1:]))

    def value(self, *args: Array) -> Array:
        data, indices, starts, columns, x = args
        source, to = self.ways(row_numbers(starts), indices)
        taken, length = self.ways(len(starts) - 1, int(columns))
        if len(x) != taken:  # lengths that are values are compared later on a device
            raise ShapeMismatch(f"{_LABEL}: {taken} columns, and {len(x)} elements or rows")
        result = np.zeros((length, *x.shape[1:]), data.dtype)
        np.add.at(result, to, _wide(data, x) * x[source])
        return result

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        data, *structure, x = args
        if not batched[0]:
            return _side_by_side(self, args, batched)
        unbatched(_LABEL, batched[1:-1])
        source, to = self.ways(RowNumbers()(*structure), structure[0])
        _, length = self.ways(rows_of(structure[1]), dim_of(structure[2]))
        return scattered(data, source, to, x, length, (True, batched[-1]))


@record
class SparseDot(_Product):
    """The matrix times `x`, columns or a vector: of data, indices, starts, columns and x."""

    part: int = VALUE

    def ways(self, rows: Any, columns: Any) -> tuple[Any, Any]:
        return columns, rows

    def slopes(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        data, *structure, x = node.args
        to_data = SparseSamples()(*structure, bar, x)
        return [to_data, None, None, None, SparseBack()(data, *structure, bar)]

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        columns = node.args[4].type.shape[0]
        return _product_call("sparse_dot", self.both(), node, columns, size)

    def sides(self, node: Tensor) -> Iterable[Requirement]:
        data, indices, _, columns, x = node.args
        yield _as_long("dot", x, dim_of(columns), "columns")
        yield from _as_many(data, indices)

    @property
    def label(self) -> str:
        return "sparse_dot"


@record
class SparseBack(_Product):
    """The transposed matrix times `x`, columns or a vector: arguments as of `SparseDot`."""

    part: int = VALUE

    def ways(self, rows: Any, columns: Any) -> tuple[Any, Any]:
        return rows, columns

    def slopes(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        data, *structure, x = node.args
        to_data = SparseSamples()(*structure, x, bar)
        return [to_data, None, None, None, SparseDot()(data, *structure, bar)]

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        columns = dim_of(node.args[3])
        return _product_call("sparse_back", self.both(), node, columns, size)

    def sides(self, node: Tensor) -> Iterable[Requirement]:
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

    def type_of_value(self, *args: Tensor) -> TensorType:
        return TensorType(args[3].dtype, args[0].type.shape)

    def value(self, *args: Array) -> Array:
        indices, starts, _, u, v = args
        terms = u[row_numbers(starts)] * v[indices]
        return np.asarray(terms if u.ndim == 1 else terms.sum(axis=1), u.dtype)

    def slopes(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
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
        routine = f"sparse_samples_{blas_suffix(u.dtype)}"
        return LibCall(routine, (*map(size, lengths), *arrays), self.both())

    def sides(self, node: Tensor) -> Iterable[Requirement]:
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

    def type_of_value(self, *args: Tensor) -> TensorType:
        return TensorType(INT32, args[0].type.shape)

    def value(self, *args: Array) -> Array:
        return row_numbers(args[1]).astype(np.int32)

    def slopes(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [None] * 3

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        indices, starts, columns = node.args
        lengths = rows_of(starts), dim_of(columns), indices.type.shape[0]
        arrays = (Argument(n) for n in (0, 1, -1, -2))
        return LibCall("sparse_row_numbers", (*map(size, lengths), *arrays), self.both())

    def sides(self, node: Tensor) -> Iterable[Requirement]:
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
