"""More elementwise functions: signs and parts of numbers, other names, choices by functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symc.codegen.dtypes import COMPLEX128, FLOAT64
from symc.errors import ShapeMismatch
from symc.graph import OPERATORS, Tensor, TensorLike
from symc.inputs import as_tensor, constant
from symc.tensor.broadcast import describe
from symc.tensor.build import full_like
from symc.tensor.complex import imag
from symc.tensor.elementwise import cast_to, common, refuse_complex
from symc.tensor.lengths import public
from symc.tensor.logic import (
    eq,
    gt,
    invert,
    isinf,
    isnan,
    left_shift,
    logical_and,
    logical_not,
    logical_or,
    lt,
    ne,
    right_shift,
    where,
)
from symc.tensor.math import abs as absolute
from symc.tensor.math import as_float, copysign, pow, trunc
from symc.tensor.math import round as rounded
from symc.tensor.reduce import all as every
from symc.types import to_numpy

__all__ = [
    "around", "array_equal", "array_equiv", "bitwise_invert", "bitwise_left_shift", "bitwise_not",
    "bitwise_right_shift", "copy", "fabs", "fix", "float_power", "heaviside", "iscomplex",
    "iscomplexobj", "isneginf", "isposinf", "isreal", "isrealobj", "modf", "ndim", "piecewise",
    "positive", "rint", "signbit", "size", "spacing",
]  # fmt: skip

# --- signs and parts ------------------------------------------------------------------------------


def signbit(x: TensorLike) -> Tensor:
    """Whether x is negative, also if it is -0.0 or a NaN with that sign; gives bool. Elementwise."""
    x = as_tensor(x)
    refuse_complex("signbit", x.dtype)
    return lt(copysign(1, x) if x.dtype.is_float else x, 0)


def heaviside(x1: TensorLike, x2: TensorLike) -> Tensor:
    """0 where `x1` is negative, 1 where it is positive, `x2` where it is 0. Elementwise.

    The derivative by `x1` is 0.

    >>> import symc.tensor as T
    >>> T.heaviside([-1.5, 0.0, 2.0], 0.5).eval()
    array([0. , 0.5, 1. ])
    """
    x, middle = common((x1, x2), "float", "heaviside")
    refuse_complex("heaviside", x.dtype)
    step = where(isnan(x), np.nan, cast_to(gt(x, 0), x.dtype))
    return where(eq(x, 0), middle, step)


def modf(x: TensorLike) -> tuple[Tensor, Tensor]:
    """The pair of the fraction and the whole number that x is the sum of, both with its sign.

    >>> import symc.tensor as T
    >>> fraction, whole = T.modf([1.5, -0.25])
    >>> fraction.eval(), whole.eval()
    (array([ 0.5 , -0.25]), array([ 1., -0.]))
    """
    x = as_float(x)
    whole = trunc(x)
    return where(isinf(x), copysign(0, x), x - whole), whole


def spacing(x: TensorLike) -> Tensor:
    """The distance from x to the next number away from 0, with the sign of x. Elementwise."""
    x = as_float(x)
    size = absolute(x)
    limits = np.finfo(to_numpy(x.dtype))
    step = OPERATORS["nextafter"](size, np.inf) - size
    greatest = float(limits.max) - float(np.nextafter(limits.max, limits.dtype.type(0)))
    step = where(isinf(size), np.nan, where(eq(size, float(limits.max)), greatest, step))
    return copysign(step, x)


def isposinf(x: TensorLike) -> Tensor:
    """Whether x is plus infinity; gives bool. Elementwise."""
    return _is_infinite("isposinf", x, np.inf)


def isneginf(x: TensorLike) -> Tensor:
    """Whether x is minus infinity; gives bool. Elementwise."""
    return _is_infinite("isneginf", x, -np.inf)


def _is_infinite(label: str, x: TensorLike, infinity: float) -> Tensor:
    x = as_tensor(x)
    refuse_complex(label, x.dtype)
    return eq(x, infinity) if x.dtype.is_float else full_like(x, False, "bool")


def isreal(x: TensorLike) -> Tensor:
    """Whether the imaginary part is 0; gives bool. Elementwise."""
    x = as_tensor(x)
    return eq(imag(x), 0) if x.dtype.is_complex else full_like(x, True, "bool")


def iscomplex(x: TensorLike) -> Tensor:
    """Whether the imaginary part is not 0; gives bool. Elementwise."""
    x = as_tensor(x)
    return ne(imag(x), 0) if x.dtype.is_complex else full_like(x, False, "bool")


def iscomplexobj(x: TensorLike) -> bool:
    """Whether the dtype is complex."""
    return as_tensor(x).dtype.is_complex


def isrealobj(x: TensorLike) -> bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def float_power(x1: TensorLike, x2: TensorLike) -> Tensor:
    """``x1 ** x2``, computed in float64 (complex numbers: complex128). Elementwise.

    >>> import symc.tensor as T
    >>> T.float_power([2, 4], -1).eval()
    array([0.5 , 0.25])
    """
    x, y = common((x1, x2), "same", "float_power")
    wide = COMPLEX128 if x.dtype.is_complex else FLOAT64
    return pow(cast_to(x, wide), cast_to(y, wide))


# --- other names ----------------------------------------------------------------------------------


def rint(x: TensorLike) -> Tensor:
    """The nearest whole number, ties to even, as a float. Elementwise."""
    return rounded(as_float(x))


def around(x: TensorLike, decimals: int = 0) -> Tensor:
    """NumPy's other name for `round`."""
    return rounded(x, decimals)


def fix(x: TensorLike) -> Tensor:
    """NumPy's other name for `trunc`."""
    return trunc(x)


def fabs(x: TensorLike) -> Tensor:
    """The absolute value as a float. Elementwise."""
    x = as_float(x)
    refuse_complex("fabs", x.dtype)
    return absolute(x)


def positive(x: TensorLike) -> Tensor:
    """x itself."""
    return as_tensor(x)


def copy(x: TensorLike) -> Tensor:
    """x itself, as tensors do not change."""
    return as_tensor(x)


bitwise_not = bitwise_invert = invert
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift


def ndim(a: TensorLike) -> int:
    """The number of axes."""
    return as_tensor(a).ndim


def size(a: TensorLike, axis: int | None = None) -> int | Tensor:
    """How many elements there are, or how long an axis is: an int, or a 0-d int64 tensor."""
    x = as_tensor(a)
    return x.size if axis is None else x.shape[axis]


# --- comparing all elements -----------------------------------------------------------------------


def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> Tensor:
    """Whether both have one shape and equal elements: a bool scalar.

    With `equal_nan`, NaN equals NaN. Where a length is not known, `ShapeMismatch` is raised when it
    runs if lengths differ, as for every comparison.

    >>> import symc.tensor as T
    >>> T.array_equal([1, 2], [1, 2]).eval()
    array(True)
    """
    x, y = as_tensor(a1), as_tensor(a2)
    if x.ndim != y.ndim or any(map(_differ, x.type.shape, y.type.shape)):
        return constant(False)
    same = eq(x, y)
    if equal_nan and x.dtype.is_inexact and y.dtype.is_inexact:
        same = logical_or(same, logical_and(isnan(x), isnan(y)))
    return every(same)


def _differ(n: Any, m: Any) -> bool:
    return isinstance(n, int) and isinstance(m, int) and n != m


def array_equiv(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Whether both broadcast to one shape and have equal elements there: a bool scalar."""
    try:
        return every(eq(a1, a2))
    except ShapeMismatch:
        return constant(False)


# --- choices --------------------------------------------------------------------------------------


def piecewise(
    x: TensorLike,
    condlist: TensorLike | Sequence[TensorLike],
    funclist: Sequence[Any],
    *args: Any,
    **kw: Any,
) -> Tensor:
    """At each place, the function of x (or the number) whose condition is true: the last such.

    There is one function for each condition, and perhaps one more, for where none is true; without
    it, 0 is there. Functions get all of x (in NumPy what their condition chooses, which they must
    not depend on), then `args` and `kw`, and must be elementwise. The dtype is that of x. The
    gradient of a function is 0 where it is not chosen.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> T.piecewise(x, [x < 0, x >= 0], [lambda v: -v, T.sqrt]).eval({x: [-4.0, 4.0]})
    array([4., 2.])
    """
    x = as_tensor(x)
    several = isinstance(condlist, list | tuple) and not all(np.isscalar(c) for c in condlist)
    if isinstance(condlist, Tensor | np.ndarray):
        several = condlist.ndim > x.ndim or (condlist.ndim > 0 and x.ndim == 0)
    conditions = [as_tensor(c) for c in condlist] if several else [as_tensor(condlist)]
    extra = len(funclist) - len(conditions)
    if extra not in (0, 1):
        raise ValueError(
            f"piecewise: {len(funclist)} functions for {len(conditions)} conditions; as many are "
            f"needed, or one more\n  given  {describe(x)}"
        )
    values = [f(x, *args, **kw) if callable(f) else f for f in funclist]
    result = cast_to(values[-1] if extra else 0, x.dtype)
    for condition, value in zip(conditions, values[: len(conditions)], strict=True):
        result = where(condition, cast_to(value, x.dtype), result)
    return result if result.ndim == x.ndim else OPERATORS["add"](full_like(x, 0), result)
