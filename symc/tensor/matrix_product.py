"""The product of two matrices, and of a matrix and a vector: the ops that go to BLAS.

The public functions are in `products.py` (`dot`, `matmul`) and `contraction.py` (any axes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BLAS_KINDS, BOOL, FLOAT32, FLOAT64, DType
from symc.codegen.record import record
from symc.codegen.routines import declare
from symc.errors import RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import Index, ReadElement, own_element, term_formula
from symc.graph.lowering import Argument, At, Fold, LibCall, SizeOf
from symc.graph.node import Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to, conjugated, masked
from symc.tensor.fold import Kind, accumulate_op, accumulator, identity, reduce_over
from symc.tensor.reshape import reshape
from symc.tensor.views import broadcast_to, expand_dims, peel_whole, swapaxes
from symc.tensor.wide import in_float32

__all__: list[str] = []

declare("complex_gemv", "trans m n a x y!", lambda of: 8 * of.product("m n"))

# Products of matrices known to need no more multiplications than this are loops, not BLAS calls.
SMALL = 512
SMALL_VECTOR = 100  # of those of a matrix and a vector, whose routines keep all sums in registers


@record
class MatMul(Op):
    """The product of two matrices, each transposed first if its flag says so.

    Leading axes, the same for both, are a batch.
    """

    trans_a: bool = False
    trans_b: bool = False

    def infer(self, *args: Tensor) -> TensorType:
        a, b = args
        if a.ndim != b.ndim or a.ndim < 2 or a.dtype is not b.dtype:
            raise RankError(f"matmul cannot multiply {a.type} and {b.type}")
        for left, right in self._pairs(a, b):
            check_lengths("matmul", a, left, b, right)
        pairs = zip(a.type.shape[:-2], b.type.shape[:-2], strict=True)
        batch = tuple(known(left, right) for left, right in pairs)
        rows, columns = a.type.shape[self._axes[0]], b.type.shape[self._axes[3]]
        return TensorType(a.type.dtype, (*batch, rows, columns))

    @property
    def _axes(self) -> tuple[int, int, int, int]:
        """Which axes have the rows, the lengths summed over (left and right) and the columns."""
        m, k = (-1, -2) if self.trans_a else (-2, -1)
        return (m, k, -1, -2) if self.trans_b else (m, k, -2, -1)

    def _pairs(self, a: Tensor, b: Tensor) -> list[tuple[int, int]]:
        """The axes whose lengths must be equal."""
        _, left, right, _ = self._axes
        return [(left + a.ndim, right + b.ndim), *((axis, axis) for axis in range(a.ndim - 2))]

    def evaluate(self, *args: Array) -> Array:
        a = args[0].swapaxes(-1, -2) if self.trans_a else args[0]
        b = args[1].swapaxes(-1, -2) if self.trans_b else args[1]
        with np.errstate(all="ignore"):
            return multiply(a, b)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        a, b = map(conjugated, node.args)
        ta, tb = self.trans_a, self.trans_b
        to_a = MatMul(tb, True)(b, bar) if ta else MatMul(False, not tb)(bar, b)
        to_b = MatMul(True, ta)(bar, a) if tb else MatMul(not ta, False)(a, bar)
        return [to_a, to_b]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        a, b = args
        ta, tb = self.trans_a, self.trans_b
        if all(batched):
            return self(a, b)
        if a.ndim + b.ndim > 5:  # a batch already: the other joins it
            batch = (a if batched[0] else b).type.shape[0]
            a, b = (
                x if flag else broadcast_to(x, (batch, *x.type.shape))
                for x, flag in zip(args, batched, strict=True)
            )
            return self(a, b)
        # One matrix stays the same for the whole batch: the batch's rows make one tall matrix.
        if batched[0]:
            a = swapaxes(a, 1, 2) if ta else a
            return unstacked(MatMul(False, tb)(stacked(a), b), a.type.shape[:2])
        b = b if tb else swapaxes(b, 1, 2)
        return swapaxes(unstacked(MatMul(False, not ta)(stacked(b), a), b.type.shape[:2]), 1, 2)

    def expand(self, node: Tensor) -> Tensor | None:
        """Floats of 16 bits are multiplied by BLAS in float32, but for a few, which loops read."""
        if not node.dtype.is_only_stored or self.is_small(node):
            return None
        return in_float32(node)

    def is_small(self, node: Tensor) -> bool:
        """Whether loops take no longer than a call."""
        work = dims.product((*node.type.shape, self._inner(node)))
        return isinstance(work, int) and work <= SMALL

    def lower(self, node: Tensor, size: SizeOf) -> Fold | LibCall:
        a, b = node.args
        m, k, _, n = self._axes
        rows, inner, columns = a.type.shape[m], a.type.shape[k], b.type.shape[n]
        dtype = node.type.dtype
        if self.is_small(node):
            return self.products(node)
        flags = ir.const(int(self.trans_a)), ir.const(int(self.trans_b))
        lengths = size(rows), size(columns), size(inner)
        batch = dims.product(node.type.shape[:-2])
        if dtype.is_complex:
            kind = ir.const(BLAS_KINDS.index(dtype.name))
            arrays = Argument(0), Argument(1), Argument(-1)
            return LibCall("matmul", (kind, size(batch), *flags, *lengths, *arrays))
        if not is_blas(dtype):
            return self.products(node)
        alpha, beta = ir.Const(1.0, dtype), ir.Const(0.0, dtype)
        leading = [size(x.type.shape[-1]) for x in (a, b, node)]
        args = (
            *flags, *lengths,
            alpha, Argument(0), leading[0], Argument(1), leading[1],
            beta, Argument(-1), leading[2],
        )  # fmt: skip
        routine = f"gemm_{blas_suffix(dtype)}"
        if node.ndim == 2:
            return LibCall(routine, args)
        strides = (size(dims.product(x.type.shape[-2:])) for x in (a, b, node))
        return LibCall(f"batched_{routine}", (size(batch), *args, *strides))

    def products(self, node: Tensor) -> Fold:
        """The product as loops, whatever its size."""
        return fold_products(node, self._inner(node), self._indexes)

    def _inner(self, node: Tensor) -> Dim:
        """How many products an element is the sum of: a number, if one of both factors says it."""
        (a, b), (_, left, right, _) = node.args, self._axes
        return known(a.type.shape[left], b.type.shape[right])

    def _indexes(self, index: Index, k: ir.Expr) -> tuple[Index, Index]:
        *batch, i, j = index
        at_a = (k, i) if self.trans_a else (i, k)
        at_b = (j, k) if self.trans_b else (k, j)
        return (*batch, *at_a), (*batch, *at_b)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        a, b = node.args
        for left, right in self._pairs(a, b):
            yield from require_lengths("matmul", a, left, b, right)


@record
class MatVec(Op):
    """The product of a matrix, transposed first if the flag says so, and a vector."""

    trans: bool = False

    def infer(self, *args: Tensor) -> TensorType:
        a, x = args
        if a.ndim != 2 or x.ndim != 1 or a.dtype is not x.dtype:
            raise RankError(f"a matrix times a vector cannot be {a.type} times {x.type}")
        check_lengths("matmul", a, self._summed, x, 0)
        return TensorType(a.type.dtype, (a.type.shape[1 - self._summed],))

    @property
    def _summed(self) -> int:
        return 0 if self.trans else 1

    def evaluate(self, *args: Array) -> Array:
        with np.errstate(all="ignore"):
            return multiply(args[0].T if self.trans else args[0], args[1])

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        a, x = map(conjugated, node.args)
        mask, inner = peel_whole(bar)
        shown = self._summed  # `bar` lies along the other axis of the matrix
        outer_product = expand_dims(inner, shown) * expand_dims(x, 1 - shown)
        to_a = masked(None if mask is None else expand_dims(mask, shown), outer_product)
        return [to_a, MatVec(not self.trans)(a, bar)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        a, x = args
        if not batched[0]:
            return MatMul(False, not self.trans)(x, a)
        if not batched[1] and not self.trans:
            return unstacked(MatVec()(stacked(a), x), a.type.shape[:2])
        rows = x if batched[1] else expand_dims(x, 0)
        vectors = expand_dims(rows, 2 if self.trans else 1)
        return summed_products(a, vectors, (1,) if self.trans else (2,))

    def lower(self, node: Tensor, size: SizeOf) -> Fold | LibCall:
        a, _ = node.args
        rows, columns = a.type.shape
        work = dims.mul(node.type.shape[0], self._inner(node))
        if isinstance(work, int) and work <= SMALL_VECTOR:
            return self.products(node)
        if node.type.dtype.is_complex:
            lengths = ir.const(int(self.trans)), size(rows), size(columns)
            return LibCall(
                f"complex_gemv_f{node.type.dtype.bits // 2}",
                (*lengths, Argument(0), Argument(1), Argument(-1)),
                otherwise=self.products(node),
            )
        if not is_blas(node.type.dtype):
            return self.products(node)
        alpha, beta = ir.Const(1.0, node.type.dtype), ir.Const(0.0, node.type.dtype)
        return LibCall(
            f"gemv_{blas_suffix(node.type.dtype)}",
            (
                ir.const(int(self.trans)), size(rows), size(columns),
                alpha, Argument(0), size(columns), Argument(1), beta, Argument(-1),
            ),
        )  # fmt: skip

    def products(self, node: Tensor) -> Fold:
        """The product as loops, whatever its size."""
        return fold_products(node, self._inner(node), self._indexes)

    def _inner(self, node: Tensor) -> Dim:
        a, x = node.args
        return known(x.type.shape[0], a.type.shape[self._summed])

    def _indexes(self, index: Index, k: ir.Expr) -> tuple[Index, Index]:
        return ((k, index[0]) if self.trans else (index[0], k)), (k,)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        yield from require_lengths("matmul", node.args[0], self._summed, node.args[1], 0)


# --- shared by the two ops ------------------------------------------------------------------------


def multiply(a: Array, b: Array) -> Array:
    """NumPy's matmul, float16 computed in float32."""
    if a.dtype == np.float16:
        return np.asarray(np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype))
    return np.asarray(np.matmul(a, b), dtype=a.dtype)


def is_blas(dtype: DType) -> bool:
    """Whether there are routines of `runtime/products/blas.h` for a dtype."""
    return dtype is FLOAT32 or dtype is FLOAT64


def blas_suffix(dtype: DType) -> str:
    """The end of a BLAS routine's name for a dtype."""
    return f"f{dtype.bits}"


def fold_products(
    node: Tensor, inner: Dim, indexes: Callable[[Index, ir.Expr], tuple[Index, Index]]
) -> Fold:
    """The sum over an inner index of products of an element of each argument."""
    dtype = accumulator("add", node.type.dtype)
    kind: Kind = "or" if dtype is BOOL else "add"

    def element(read: ReadElement, index: Index, folded: Index) -> ir.Expr:
        values: list[ir.Expr] = []
        for number, at in enumerate(indexes(index, folded[0])):
            value = read(number, at)
            values.append(value if value.dtype is dtype else ir.Cast(value, dtype))
        return ir.binary("and" if dtype is BOOL else "mul", *values)

    term = term_formula(node, (inner,), element)
    return Fold((inner,), accumulate_op(kind, dtype), dtype, identity(kind, dtype), term)


def stacked(x: Tensor) -> Tensor:
    """A batch of matrices as one matrix with all their rows."""
    batch, rows, columns = x.type.shape
    return reshape(x, (dims.mul(batch, rows), columns))


def unstacked(x: Tensor, shape: tuple[Dim, ...]) -> Tensor:
    """The first axis split into axes of these lengths."""
    return reshape(x, (*shape, *x.type.shape[1:]))


def summed(x: Tensor, axes: Sequence[int]) -> Tensor:
    """The sum along axes, with the dtype of `x`; bool: whether any is true."""
    return reduce_over("or" if x.dtype is BOOL else "add", x, axes)


def summed_products(a: Tensor, b: Tensor, axes: Sequence[int]) -> Tensor:
    """The sum of ``a * b`` along axes of it; of 16 bits in float32 and rounded once, as by BLAS."""
    if not (axes and a.dtype.is_only_stored):
        return summed(a * b, axes)
    wide = a.dtype.wide
    return cast_to(summed(cast_to(a, wide) * cast_to(b, wide), axes), a.dtype)


def known(left: Dim, right: Dim) -> Dim:
    """Of two lengths that are equal, the one that is known, if one is."""
    return right if isinstance(right, int) else left


# --- lengths that must be equal -------------------------------------------------------------------


def unequal(
    label: str, a: Tensor, axis_a: int, b: Tensor, axis_b: int, lengths: tuple[object, object]
) -> str:
    """The text of a `ShapeMismatch` between an axis of each of two factors."""
    return (
        f"{label}: axis {axis_a} is {lengths[0]} on the left, but axis {axis_b} is {lengths[1]} "
        f"on the right\n  left   {describe(a)}\n  right  {describe(b)}"
    )


def check_lengths(label: str, a: Tensor, axis_a: int, b: Tensor, axis_b: int) -> None:
    """Raises `ShapeMismatch` when two lengths are known to differ."""
    left, right = a.type.shape[axis_a], b.type.shape[axis_b]
    if isinstance(left, int) and isinstance(right, int) and left != right:
        raise ShapeMismatch(unequal(label, a, axis_a, b, axis_b, (left, right)))


def require_lengths(
    label: str, a: Tensor, axis_a: int, b: Tensor, axis_b: int
) -> Iterable[Requirement]:
    """The requirement that two lengths are equal, unless they are known to be."""
    left, right = a.type.shape[axis_a], b.type.shape[axis_b]
    if left != right:
        yield Requirement(
            (left, right),
            ShapeMismatch,
            lambda value: unequal(label, a, axis_a, b, axis_b, (value(left), value(right))),
        )


@record
class Agree(Op):
    """The first argument, one of whose axes must be as long as one of the second.

    `on_left` says which of the two stood on the left of the product that asks for it.
    """

    asked_by: str
    axis: int
    other: int
    on_left: bool

    def infer(self, *args: Tensor) -> TensorType:
        x, like = args
        check_lengths(*self._sides(x, like))
        shape = list(x.type.shape)
        shape[self.axis] = like.type.shape[self.other]
        return TensorType(x.type.dtype, tuple(shape))

    def evaluate(self, *args: Array) -> Array:
        return args[0]

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [bar, None]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        from symc.codegen.record import replace

        x, like = args
        if not batched[0]:
            x = broadcast_to(x, (like.type.shape[0], *x.type.shape))
        return replace(self, axis=self.axis + 1, other=self.other + int(batched[1]))(x, like)

    def expand(self, node: Tensor) -> Tensor | None:
        # A length that is only now known to be 1 may let others drop the axis.
        return None if node.type.shape[self.axis] == 1 else node.args[0]

    def require(self, node: Tensor) -> Sequence[Requirement]:
        return list(require_lengths(*self._sides(*node.args)))

    @property
    def only_checks(self) -> bool:
        return True

    def _sides(self, x: Tensor, like: Tensor) -> tuple[str, Tensor, int, Tensor, int]:
        if self.on_left:
            return self.asked_by, x, self.axis, like, self.other
        return self.asked_by, like, self.other, x, self.axis

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(own_element(node))


def agreed(label: str, a: Tensor, axis_a: int, b: Tensor, axis_b: int) -> tuple[Tensor, Tensor]:
    """Both tensors with one and the same length along these axes; checked at run time if need be.

    Raises `ShapeMismatch` when the lengths are known to differ.
    """
    check_lengths(label, a, axis_a, b, axis_b)
    left, right = a.type.shape[axis_a], b.type.shape[axis_b]
    if left == right:
        return a, b
    if isinstance(right, int):
        return Agree(label, axis_a, axis_b, True)(a, b), b
    return a, Agree(label, axis_b, axis_a, False)(b, a)
