"""Diagonals and triangles of matrices: taking them, building them, masking by them.

`Diagonal` is index arithmetic in whoever reads it. Ones on a diagonal and triangles compare counts
along two axes, so they are not stored either; only `AsDiagonal` fills a buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL
from symc.codegen.record import record
from symc.config import config
from symc.errors import RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import LONG, MOST, Dim
from symc.graph.formulas import Formula, Index, formula, part_formula, target_formula
from symc.graph.inputs import as_tensor, constant_value, scalar_constant
from symc.graph.lowering import At, SizeOf, Write, Written
from symc.graph.node import METHODS, OPERATORS, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.build import arange
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import (
    Template,
    as_dim,
    fill_dims,
    fill_values,
    normal_axis,
    public,
    split_template,
    unbatched,
)
from symc.tensor.views import expand_dims, moveaxis, through

__all__ = [
    "diag", "diagonal", "eye", "identity", "identity_like", "trace", "tri", "tril", "triu",
]  # fmt: skip

# --- taking a diagonal and putting one ------------------------------------------------------------


def _start(offset: int) -> tuple[int, int]:
    """Where diagonal number `offset` begins; no axis is longer than `MOST`."""
    return min(max(-offset, 0), MOST), min(max(offset, 0), MOST)


def _length(n: Dim, m: Dim, offset: int) -> Dim:
    """How many elements diagonal `offset` of an n by m matrix has."""
    row, column = _start(offset)
    count = dims.minimum(dims.sub(n, row), dims.sub(m, column))
    return count if dims.nonnegative(count) else dims.maximum(0, count)


@record
class Diagonal(Op):
    """Diagonal `offset` of the matrices on the last two axes."""

    offset: int

    def infer(self, *args: Tensor) -> TensorType:
        *batch, n, m = args[0].type.shape
        return TensorType(args[0].type.dtype, (*batch, _length(n, m, self.offset)))

    def evaluate(self, *args: Array) -> Array:
        return np.diagonal(args[0], self.offset, -2, -1)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        n, m = node.args[0].type.shape[-2:]
        return [through(lambda part: _put(part, self.offset, n, m), bar)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(formula(node, lambda read, i: read(0, _on_diagonal(i, self.offset))))


def _on_diagonal(index: Index, offset: int) -> Index:
    row, column = _start(offset)
    i = index[-1]
    return (*index[:-1], ir.add(i, ir.const(row)), ir.add(i, ir.const(column)))


@record
class AsDiagonal(Op):
    """Zero matrices on the last two axes, whose lengths the template has, but for one diagonal."""

    offset: int
    template: Template

    def infer(self, *args: Tensor) -> TensorType:
        v = args[0]
        n, m = fill_dims(self.template, args[1:])
        have, want = v.type.shape[-1], _length(n, m, self.offset)
        if isinstance(have, int) and isinstance(want, int) and have != want:
            raise ShapeMismatch(self._unfit(v, have, want))
        return TensorType(v.type.dtype, (*v.type.shape[:-1], n, m))

    def evaluate(self, *args: Array) -> Array:
        result = np.zeros(args[0].shape[:-1] + fill_values(self.template, args[1:]), args[0].dtype)
        row, column = _start(self.offset)
        count = args[0].shape[-1]
        result[..., range(row, row + count), range(column, column + count)] = args[0]
        return result

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        rest = [None] * (len(node.args) - 1)
        return [through(lambda part: Diagonal(self.offset)(part), bar), *rest]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("diag", batched[1:])
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> Write:
        shape = node.args[0].type.shape
        target = target_formula(node, shape, lambda _, i: _on_diagonal(i, self.offset))
        value = part_formula(node, shape, lambda read, i: read(0, i))
        return Write(Formula((), _zero(node)), (Written(shape, target, value),))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        v = node.args[0]
        n, m = node.type.shape[-2:]
        have, want = v.type.shape[-1], _length(n, m, self.offset)
        if have != want:
            yield Requirement(
                (have, want),
                ShapeMismatch,
                lambda value: self._unfit(v, value(have), value(want)),
            )

    def _unfit(self, v: Tensor, have: object, want: object) -> str:
        return (
            f"diag: diagonal {self.offset} has {want} elements, not {have}\n  given  {describe(v)}"
        )


def _zero(node: Tensor) -> ir.Const:
    if node.dtype is BOOL:
        return ir.Const(False, BOOL)
    return ir.Const(0.0 if node.dtype.is_inexact else 0, node.dtype)


def _put(v: Tensor, offset: int, n: Dim, m: Dim) -> Tensor:
    template, holes = split_template((n, m))
    return AsDiagonal(offset, template)(v, *holes)


def diagonal(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Diagonal `offset` of the matrices on two axes; it becomes the last axis.

    Positive offsets are above the main diagonal. Raises `RankError` below 2 axes.

    >>> import symc.tensor as T
    >>> T.diagonal(T.tensor("float64", (2, 3), "x"), offset=1)
    <diagonal(x) float64[2]>
    """
    x = as_tensor(x)
    if x.ndim < 2:
        raise RankError(f"diagonal: at least 2 axes are needed\n  given  {describe(x)}")
    axes = [normal_axis("diagonal", axis, x.ndim, x) for axis in (axis1, axis2)]
    if axes[0] == axes[1]:
        raise ValueError("diagonal: axis1 and axis2 are the same")
    return Diagonal(int(offset))(moveaxis(x, axes, (-2, -1)))


def diag(v: TensorLike, k: int = 0) -> Tensor:
    """A square matrix with a vector on diagonal `k`, or diagonal `k` of a matrix.

    Raises `RankError` for other numbers of axes.

    >>> import symc.tensor as T
    >>> T.diag(T.tensor("float64", (3,), "v"), k=-1)
    <asdiagonal(v) float64[4, 4]>
    """
    v = as_tensor(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise RankError(f"diag: a vector or a matrix is needed\n  given  {describe(v)}")
    n = dims.add(v.type.shape[0], abs(int(k)))
    return _put(v, int(k), n, n)


def trace(
    x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None
) -> Tensor:
    """The sum of diagonal `offset` of the matrices on two axes, with the dtypes of `sum`.

    >>> import symc.tensor as T
    >>> T.trace([[1, 2], [3, 4]]).eval()
    array(5)
    """
    result: Tensor = METHODS["sum"](diagonal(x, offset, axis1, axis2), axis=-1, dtype=dtype)
    return result


# --- on and beside a diagonal ---------------------------------------------------------------------


def _compare_axes(relation: str, n: Any, m: Any, k: TensorLike) -> Tensor:
    """Whether ``i + k`` relates to j, for i below n and j below m."""
    rows, columns = arange(public(as_dim(n))), arange(public(as_dim(n if m is None else m)))
    known = constant_value(as_tensor(k))
    if known is None or not abs(int(known)) < LONG:  # the sum might wrap, a difference cannot
        apart: Tensor = OPERATORS["sub"](columns, expand_dims(rows, 1))
        return OPERATORS[relation](as_tensor(k), apart)
    shifted = rows if known == 0 else rows + k
    result: Tensor = OPERATORS[relation](expand_dims(shifted, 1), columns)
    return result


def eye(n: Any, m: Any = None, k: TensorLike = 0, dtype: Any = None) -> Tensor:
    """An n by m matrix (m: n) with ones on diagonal `k`, above the main one where positive.

    >>> eye(2, 3, k=1, dtype="int64").eval()
    array([[0, 1, 0],
           [0, 0, 1]])
    """
    return cast_to(_compare_axes("eq", n, m, k), config.floatX if dtype is None else dtype)


def identity(n: Any, dtype: Any = None) -> Tensor:
    """The n by n identity matrix, of dtype `config.floatX` unless given; n may be a scalar tensor.

    >>> import symc.tensor as T
    >>> T.identity(2).eval()
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype)


def identity_like(x: TensorLike) -> Tensor:
    """Ones on the main diagonal and zeros elsewhere, with the shape and dtype of a matrix.

    >>> import symc.tensor as T
    >>> T.identity_like([[5, 6], [7, 8]]).eval()
    array([[1, 0],
           [0, 1]])
    """
    x = as_tensor(x)
    if x.ndim != 2:
        raise RankError(f"identity_like: a matrix is needed\n  given  {describe(x)}")
    return eye(public(x.type.shape[0]), public(x.type.shape[1]), dtype=x.dtype)


def tri(n: Any, m: Any = None, k: TensorLike = 0, dtype: Any = None) -> Tensor:
    """An n by m matrix (m: n) with ones on and below diagonal `k`, and zeros above.

    >>> import symc.tensor as T
    >>> T.tri(3, k=-1, dtype="int32").eval()
    array([[0, 0, 0],
           [1, 0, 0],
           [1, 1, 0]], dtype=int32)
    """
    return cast_to(_compare_axes("ge", n, m, k), config.floatX if dtype is None else dtype)


def tril(x: TensorLike, k: TensorLike = 0) -> Tensor:
    """The lower triangles of the matrices on the last two axes: zero above diagonal `k`.

    >>> import symc.tensor as T
    >>> T.tril([[1, 2], [3, 4]]).eval()
    array([[1, 0],
           [3, 4]])
    """
    return _triangle("ge", "tril", x, k)


def triu(x: TensorLike, k: TensorLike = 0) -> Tensor:
    """The upper triangles of the matrices on the last two axes: zero below diagonal `k`.

    >>> import symc.tensor as T
    >>> T.triu([[1, 2], [3, 4]]).eval()
    array([[1, 2],
           [0, 4]])
    """
    return _triangle("le", "triu", x, k)


def _triangle(relation: str, label: str, x: TensorLike, k: TensorLike) -> Tensor:
    x = as_tensor(x)
    if x.ndim < 2:
        raise RankError(f"{label}: at least 2 axes are needed\n  given  {describe(x)}")
    n, m = map(public, x.type.shape[-2:])
    zero = scalar_constant(_zero(x).value, x.dtype)
    result: Tensor = OPERATORS["where"](_compare_axes(relation, n, m, k), x, zero)
    return result


METHODS["diagonal"] = diagonal
METHODS["trace"] = trace
