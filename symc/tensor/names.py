"""NumPy's names for what has another one here: ``T.square`` is `sqr`, ``T.equal`` is `eq` ...

NumPy's own functions also take tensors, and do the same: ``np.exp(x)`` is ``T.exp(x)``.
"""

from __future__ import annotations

from typing import Any

from symc.graph import Tensor, TensorLike
from symc.inputs import as_tensor
from symc.tensor.elementwise import cast_to
from symc.tensor.logic import eq, ge, gt, isclose, le, lt, ne
from symc.tensor.math import abs as _abs
from symc.tensor.math import (
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    deg2rad,
    div,
    floordiv,
    mod,
    mul,
    neg,
    pow,
    rad2deg,
    sqr,
    sub,
)
from symc.tensor.reduce import all as _all
from symc.tensor.shape import concatenate

__all__ = [
    "absolute", "acos", "acosh", "allclose", "array", "asarray", "asin", "asinh", "atan", "atan2",
    "atanh", "concat", "degrees", "divide", "equal", "floor_divide", "greater", "greater_equal",
    "less", "less_equal", "multiply", "negative", "newaxis", "not_equal", "power", "radians",
    "remainder", "square", "subtract", "true_divide",
]  # fmt: skip

newaxis = None
absolute = _abs
acos, acosh, asin, asinh, atan, atanh = arccos, arccosh, arcsin, arcsinh, arctan, arctanh
atan2 = arctan2
negative, square = neg, sqr
degrees, radians = rad2deg, deg2rad
subtract, multiply, divide, true_divide = sub, mul, div, div
floor_divide, remainder, power = floordiv, mod, pow
equal, not_equal, less, less_equal, greater, greater_equal = eq, ne, lt, le, gt, ge
concat = concatenate


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
