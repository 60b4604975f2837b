"""Parts shared by the ops on matrices: checks of arguments, and reports of failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BLAS_KINDS, BOOL, FLOAT64, DType
from symc.codegen.record import record
from symc.errors import DTypeError, LinAlgError, RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import own_element
from symc.graph.inputs import as_tensor
from symc.graph.lowering import At, SizeOf
from symc.graph.node import OPERATORS, PROPERTIES, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType, promote
from symc.tensor.broadcast import describe
from symc.tensor.diagonals import eye, tril
from symc.tensor.elementwise import cast_to, conjugated
from symc.tensor.lengths import public, tensor_of
from symc.tensor.matrix_product import known, summed
from symc.tensor.products import batch_shape, matmul
from symc.tensor.reshape import reshape
from symc.tensor.views import broadcast_to, expand_dims, swapaxes

# --- arguments ------------------------------------------------------------------------------------


def matrices(label: str, x: TensorLike) -> Tensor:
    """A tensor whose last two axes are matrices of rounded numbers; integers become float64.

    Raises `RankError` below 2 axes, and `DTypeError` for floats of 16 bits, which LAPACK lacks.
    """
    x = as_tensor(x)
    if x.ndim < 2:
        raise RankError(f"{label} needs a matrix, or a stack of them\n  given  {describe(x)}")
    if x.dtype.is_only_stored:
        raise DTypeError(
            f"{label} cannot compute in {x.dtype}; cast to float32 first\n  given  {describe(x)}"
        )
    return x if x.dtype.is_inexact else cast_to(x, FLOAT64)


def square_matrices(label: str, x: TensorLike) -> Tensor:
    """As `matrices`; raises `ShapeMismatch`, at run time if need be, unless they are square."""
    x = matrices(label, x)
    rows, columns = x.type.shape[-2:]
    return x if rows == columns else Square(label)(x)


def common_dtype(*xs: Tensor) -> list[Tensor]:
    """All with one dtype."""
    dtype = promote(*(x.dtype for x in xs))
    return [cast_to(x, dtype) for x in xs]


@record
class Square(Op):
    """The argument, whose last two axes must be equally long."""

    asked_by: str

    def infer(self, *args: Tensor) -> TensorType:
        *batch, n, m = args[0].type.shape
        if isinstance(n, int) and isinstance(m, int) and n != m:
            raise ShapeMismatch(self._text(args[0], n, m))
        length = known(n, m)
        return TensorType(args[0].dtype, (*batch, length, length))

    def evaluate(self, *args: Array) -> Array:
        return args[0]

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [bar]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def expand(self, node: Tensor) -> Tensor | None:
        return None if node.type.shape[-1] == 1 else node.args[0]

    def require(self, node: Tensor) -> Iterable[Requirement]:
        x = node.args[0]
        n, m = x.type.shape[-2:]
        yield Requirement((n, m), ShapeMismatch, lambda value: self._text(x, value(n), value(m)))

    @property
    def only_checks(self) -> bool:
        return True

    def _text(self, x: Tensor, n: object, m: object) -> str:
        return (
            f"{self.asked_by} needs square matrices, not {n} rows and {m} columns\n"
            f"  given  {describe(x)}"
        )

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(own_element(node))


def not_empty(label: str, x: TensorLike) -> Tensor:
    """As `matrices`; raises `LinAlgError`, at run time if need be, if they have no elements."""
    x = matrices(label, x)
    return x if _has_elements(x) else NotEmpty(label)(x)


def _has_elements(x: Tensor) -> bool:
    return all(dims.nonnegative(dims.sub(dim, 1)) for dim in x.type.shape[-2:])


@record
class NotEmpty(Op):
    """The argument, whose last two axes must have elements."""

    asked_by: str

    def infer(self, *args: Tensor) -> TensorType:
        if 0 in args[0].type.shape[-2:]:
            raise LinAlgError(self._text(args[0]))
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return args[0]

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [bar]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def expand(self, node: Tensor) -> Tensor | None:
        return node.args[0]

    def require(self, node: Tensor) -> Iterable[Requirement]:
        (x,) = node.args
        if not _has_elements(x):
            count = tensor_of(dims.product(x.type.shape[-2:]))
            yield Requirement(OPERATORS["gt"](count, 0), LinAlgError, lambda _: self._text(x))

    @property
    def only_checks(self) -> bool:
        return True

    def _text(self, x: Tensor) -> str:
        return f"{self.asked_by}: the matrix has no elements\n  given  {describe(x)}"

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(own_element(node))


def stacks(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Both with the same leading axes; `a` without any serves for all of `b`'s."""
    if a.ndim == 2:
        return a, b
    shape = batch_shape(a, b)
    a, b = (broadcast_to(x, (*shape, *x.type.shape[-2:])) for x in (a, b))
    return a, b


def batched_stacks(args: Sequence[Tensor], batched: Sequence[bool]) -> list[Tensor]:
    """Arguments of an op on stacks, the first of which may be one matrix, with one more axis."""
    size = next(x.type.shape[0] for x, flag in zip(args, batched, strict=True) if flag)
    return [
        x if flag or (number == 0 and x.ndim == 2) else broadcast_to(x, (size, *x.type.shape))
        for number, (x, flag) in enumerate(zip(args, batched, strict=True))
    ]


def transposed(x: Tensor) -> Tensor:
    """The transposes of matrices."""
    return swapaxes(x, -1, -2)


def adjoint(x: Tensor) -> Tensor:
    """The transposes of matrices, complex numbers conjugated."""
    return conjugated(transposed(x))


def of_one(gradient: Tensor, a: Tensor) -> Tensor:
    """The gradient of a matrix that served for a whole stack: the sum of all of them."""
    extra = gradient.ndim - a.ndim
    return summed(gradient, tuple(range(extra))) if extra else gradient


def times(*factors: Tensor) -> Tensor:
    """The product of matrices, from the left."""
    result = factors[0]
    for factor in factors[1:]:
        result = matmul(result, factor)
    return result


def mirrored(x: Tensor) -> Tensor:
    """The symmetric (Hermitian) matrices with these lower triangles."""
    below = tril(x, -1)
    return below + adjoint(below) + _real_diagonal(x)


def folded(x: Tensor) -> Tensor:
    """The gradient of lower triangles, when all that is read of a symmetric matrix is that.

    `x` is the gradient of the whole matrix.
    """
    return tril(x, -1) + tril(adjoint(x), -1) + _real_diagonal(x)


def _real_diagonal(x: Tensor) -> Tensor:
    """The diagonal of matrices alone, as real numbers."""
    if x.dtype.is_complex:
        x = cast_to(PROPERTIES["real"](x), x.dtype)
    return OPERATORS["where"](eye(public(x.type.shape[-1]), dtype=BOOL), x, 0)


def differences(values: Tensor) -> Tensor:
    """``w[j] - w[i]`` at i, j: the gaps between a vector's numbers, which gradients divide by."""
    return expand_dims(values, -2) - expand_dims(values, -1)


def off_diagonal_reciprocal(gaps: Tensor) -> Tensor:
    """1 / x of square matrices, and 0 on their diagonals."""
    same = eye(public(gaps.type.shape[-1]), dtype=BOOL)
    return OPERATORS["where"](same, 0.0, 1.0 / OPERATORS["where"](same, 1.0, gaps))


# --- lowering -------------------------------------------------------------------------------------


def kind_of(dtype: DType) -> ir.Expr:
    """The number by which routines know an element type."""
    return ir.const(BLAS_KINDS.index(dtype.name))


def batch_of(x: Tensor) -> Dim:
    """How many matrices a stack has."""
    return dims.product(x.type.shape[:-2])


# --- failures -------------------------------------------------------------------------------------

OnFailure: TypeAlias = Literal["raise", "nan"]


def raises(label: str, on_failure: str) -> bool:
    """Whether failures raise. ValueError for another word than "raise" and "nan"."""
    if on_failure not in ("raise", "nan"):
        raise ValueError(f"{label}: on_failure is 'raise' or 'nan', not {on_failure!r}")
    return on_failure == "raise"


def nan_where_failed(result: Tensor, info: Tensor) -> Tensor:
    """Results, all NaN where the `info` of their matrix is not 0.

    (By a factor, so that gradients are NaN there as well.)
    """
    factor = OPERATORS["where"](OPERATORS["eq"](info, 0), 1.0, np.nan)
    factor = cast_to(factor, result.dtype)
    return result * reshape(factor, (*info.type.shape, 1, 1))


def succeeds(label: str, x: Tensor, info: Tensor, reason: Callable[[int], str]) -> Requirement:
    """The requirement that a routine succeeded: its `info` is 0 for every matrix of `x`.

    `reason` is the meaning of a number above 0.
    """

    def message(value: Callable[[Tensor], Array]) -> str:
        found = np.asarray(value(info))
        at = [int(i) for i in np.argwhere(found)[0]] if found.any() else []
        number = int(found[tuple(at)])
        which = f"matrix {at if len(at) > 1 else at[0]}" if at else "the matrix"
        text = reason(number) if number > 0 else "there is not enough memory to factorise it"
        return f"{label}: {which} {text}\n  given  {describe(x)}\n  at     {info.where}"

    return Requirement(OPERATORS["eq"](info, 0), LinAlgError, message)
