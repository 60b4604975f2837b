"""NumPy's names for functions with another one here: ``T.square`` is `sqr`, ``T.equal`` is `eq` ...

NumPy's own functions also take tensors, and do the same: ``np.exp(x)`` is ``T.exp(x)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from symc.codegen.dtypes import BOOL, INT8
from symc.errors import DTypeError
from symc.graph import dims
from symc.graph.inputs import as_tensor, constant
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.elementwise import cast_to, refuse_complex
from symc.tensor.exponentials import pow
from symc.tensor.lengths import length, normal_axis, public
from symc.tensor.logic import (
    eq,
    ge,
    gt,
    invert,
    isclose,
    isnan,
    le,
    left_shift,
    logical_and,
    logical_or,
    lt,
    ne,
    right_shift,
)
from symc.tensor.math import abs as _abs
from symc.tensor.math import as_float, div, floordiv, minimum, mod, mul, neg, sqr, sub, trunc
from symc.tensor.math import round as _round
from symc.tensor.reduce import all as _all
from symc.tensor.shape import concatenate
from symc.tensor.trigonometry import (
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    deg2rad,
    rad2deg,
)

__all__ = [
    "absolute", "acos", "acosh", "allclose", "around", "array", "array_equal", "array_equiv",
    "asarray", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_invert", "bitwise_left_shift",
    "bitwise_not", "bitwise_right_shift", "concat", "copy", "degrees", "divide", "equal", "fabs",
    "fix", "floor_divide", "greater", "greater_equal", "less", "less_equal", "multiply", "ndim",
    "negative", "newaxis", "not_equal", "positive", "power", "radians", "remainder", "rint",
    "size", "square", "subtract", "true_divide",
]  # fmt: skip

newaxis = None
absolute = _abs
acos, acosh, asin, asinh, atan, atanh = arccos, arccosh, arcsin, arcsinh, arctan, arctanh
atan2 = arctan2
negative = neg
degrees, radians = rad2deg, deg2rad
subtract, multiply, divide, true_divide = sub, mul, div, div
floor_divide, remainder, power = floordiv, mod, pow
equal, not_equal, less, less_equal, greater, greater_equal = eq, ne, lt, le, gt, ge
concat = concatenate
bitwise_not = bitwise_invert = invert
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift


def asarray(x: TensorLike, dtype: Any = None) -> Tensor:
    """`x` as a tensor, converted to a dtype if one is given: `as_tensor` and `cast` in one.

    >>> asarray([1, 2]), asarray([1, 2], "float32").dtype
    (<constant int64[2]>, float32)
    """
    made = as_tensor(x)
    return made if dtype is None else cast_to(made, dtype)


array = asarray


def allclose(
    x: TensorLike, y: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether all elements are close, as `isclose` has it: a bool scalar.

    >>> allclose([1.0, 2.0], [1.0, 2.0 + 1e-9]).eval()
    array(True)
    """
    return _all(isclose(x, y, rtol, atol, equal_nan))


def rint(x: TensorLike) -> Tensor:
    """The nearest whole number, ties to even, as a float. Elementwise; `round` keeps integers.

    >>> import symc.tensor as T
    >>> T.rint([0.5, 1.5, -2.7]).eval()
    array([ 0.,  2., -3.])
    """
    return _round(as_float(x))


def around(x: TensorLike, decimals: int = 0) -> Tensor:
    """NumPy's other name for `round`: the nearest number with so many decimals. Elementwise.

    >>> import symc.tensor as T
    >>> T.around([2.345, -1.5], 1).eval()
    array([ 2.3, -1.5])
    """
    return _round(x, decimals)


def fix(x: TensorLike) -> Tensor:
    """NumPy's other name for `trunc`: x without its fraction. Elementwise; the derivative is 0.

    >>> import symc.tensor as T
    >>> T.fix([1.7, -1.7]).eval()
    array([ 1., -1.])
    """
    return trunc(x)


def fabs(x: TensorLike) -> Tensor:
    """The absolute value as a float. Elementwise; raises DTypeError for complex numbers.

    >>> import symc.tensor as T
    >>> T.fabs([-3, 2]).eval()
    array([3., 2.])
    """
    x = as_float(x)
    refuse_complex("fabs", x.dtype)
    return _abs(x)


def positive(x: TensorLike) -> Tensor:
    """x itself: a tensor of the same dtype and shape. Raises DTypeError for bool, as NumPy.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> T.positive(x) is x
    True
    """
    x = as_tensor(x)
    if x.dtype is BOOL:
        raise DTypeError("positive of bool is not defined; cast first")
    return x


def square(x: TensorLike) -> Tensor:
    """``x * x``, which is also ``x ** 2``: a tensor of the shape and dtype of x.

    Elementwise. Of bool it is int8, as NumPy has it.

    >>> import symc.tensor as T
    >>> T.square([3, -4]).eval()
    array([ 9, 16])
    """
    x = as_tensor(x)
    return sqr(cast_to(x, INT8) if x.dtype is BOOL else x)


def copy(x: TensorLike) -> Tensor:
    """x itself: tensors do not change, so that there is nothing to copy.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> T.copy(x) is x
    True
    """
    return as_tensor(x)


def ndim(a: TensorLike) -> int:
    """The number of axes of a tensor or array, an int that is known for every one.

    >>> import symc.tensor as T
    >>> T.ndim(T.matrix("m")), T.ndim([1, 2])
    (2, 1)
    """
    return as_tensor(a).ndim


def size(a: TensorLike, axis: int | None = None) -> int | Tensor:
    """How many elements there are, or how long an axis is: an int, or a 0-d int64 tensor.

    It is a tensor where a length is known only at a call. Raises BadIndex for an axis that is not
    there.

    >>> import symc.tensor as T
    >>> T.size([[1, 2, 3], [4, 5, 6]]), T.size(T.matrix("m"), 0)
    (6, <m.shape[0] int64[]>)
    """
    x = as_tensor(a)
    if axis is None:
        return public(dims.product(x.type.shape))
    return public(x.type.shape[normal_axis("size", axis, x.ndim, x)])


def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> Tensor:
    """Whether both have one shape and equal elements: a bool scalar.

    With `equal_nan`, NaN equals NaN.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> T.array_equal(x, [1, 2]).eval({x: [1.0, 2.0]})
    array(True)
    >>> T.array_equal(x, [1, 2]).eval({x: [1.0, 2.0, 3.0]})
    array(False)
    """
    x, y = as_tensor(a1), as_tensor(a2)
    if x.ndim != y.ndim or any(map(_differ, x.type.shape, y.type.shape)):
        return constant(False)
    unlike = [axis for axis, n in enumerate(x.type.shape) if n != y.type.shape[axis]]
    fits = [eq(length(x, axis), length(y, axis)) for axis in unlike]
    # Elements that both have are compared, as lengths that differ would raise.
    x, y = _cut(x, y, unlike), _cut(y, x, unlike)
    same = eq(x, y)
    if equal_nan and x.dtype.is_inexact and y.dtype.is_inexact:
        same = logical_or(same, logical_and(isnan(x), isnan(y)))
    return reduce(logical_and, fits, _all(same))


def _differ(n: Any, m: Any) -> bool:
    return isinstance(n, int) and isinstance(m, int) and n != m


def _cut(x: Tensor, y: Tensor, axes: Sequence[int]) -> Tensor:
    """`x`, of which these axes are no longer than those of `y`."""
    stops = [public(y.type.shape[axis]) if axis in axes else None for axis in range(x.ndim)]
    cut: Tensor = OPERATORS["getitem"](x, tuple(map(slice, stops)))
    return cut if axes else x


def array_equiv(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Whether both broadcast to one shape and have equal elements there: a bool scalar.

    Shapes that do not broadcast make it False. Lengths that are not known to be 1 broadcast if they
    turn out to be.

    >>> import symc.tensor as T
    >>> T.array_equiv([1, 2], [[1, 2], [1, 2]]).eval(), T.array_equiv([1, 2], [1, 3]).eval()
    (array(True), array(False))
    """
    x, y = as_tensor(a1), as_tensor(a2)
    fits: list[Tensor] = []
    for axis in range(-1, -1 - min(x.ndim, y.ndim), -1):
        n, m = x.type.shape[axis], y.type.shape[axis]
        if _differ(n, m) and 1 not in (n, m):
            return constant(False)
        if n != m and 1 not in (n, m):
            one, other = length(x, axis), length(y, axis)
            fits.append(logical_or(eq(one, other), logical_or(eq(one, 1), eq(other, 1))))
            x, y = _stretched(x, y, axis), _stretched(y, x, axis)
    return reduce(logical_and, fits, _all(eq(x, y)))


def _stretched(x: Tensor, y: Tensor, axis: int) -> Tensor:
    """`x`, an axis of which is as long as that of `y`, if only one of them is longer than 1.

    Of other lengths it is the longer one, or 0 if one of them is.
    """
    from symc.tensor.build import arange  # late: few functions need these
    from symc.tensor.selection import take

    n, m = x.type.shape[axis], y.type.shape[axis]
    some = dims.minimum(dims.minimum(n, m), 1)
    places = arange(public(dims.mul(dims.maximum(n, m), some)))
    return take(x, minimum(places, length(x, axis) - 1), axis)
