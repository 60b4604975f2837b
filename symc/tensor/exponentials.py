"""Powers, roots, exponentials and logarithms, elementwise: rows as in `math.py`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symc.codegen.dtypes import BOOL
from symc.graph.bfloat16 import finfo
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.elementwise import ELEMENTWISE, call, cast_to, elementwise
from symc.tensor.math import reciprocal, sqr, where_zero
from symc.tensor.signatures import FunctionOfOne

__all__ = [
    "cbrt", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp", "pow", "sqrt",
]  # fmt: skip

# --- powers and roots -----------------------------------------------------------------------------


def _power_checks(node: Tensor) -> Any:
    from symc.tensor.checks import nonnegative_exponent

    return nonnegative_exponent(node)


_pow = elementwise(
    "pow", np.power, call("pow"), "``x ** y``.",
    lambda g, x, y, z: g * _power_slope(x, y), lambda g, x, y, z: g * where_zero(x, 0, z * log(x)),
    domain="same", cost=30, checks=_power_checks, of_complex=True,
)  # fmt: skip


def _power_slope(x: Tensor, y: Tensor) -> Tensor:
    """``y * x ** (y - 1)``; 0, and no NaN, where y is 0 and ``1 / x`` overflows.

    Where y is 0 and x is not, the product is 0 by itself, and must not be replaced by 0: its own
    derivative by y is ``1 / x``.
    """
    slope = y * ELEMENTWISE["pow"](x, y - 1)
    tiny = OPERATORS["abs"](x) <= float(finfo(x.dtype).tiny)
    at_zero = OPERATORS["where"](tiny, 0, slope)
    return OPERATORS["where"](OPERATORS["eq"](y, 0), at_zero, slope)


def pow(x: TensorLike, y: TensorLike) -> Tensor:
    """``x ** y``. As in NumPy, constant exponents 2, 1, 0.5 and -1 of floats are exact operations,
    and bool to the power of bool is int8.

    Raises ValueError when an integer is raised to a negative integer, at run time if need be.

    >>> import symc.tensor as T
    >>> T.pow(T.vector("x"), 2).op.label
    'sqr'
    """
    x = as_tensor(x, y.dtype if isinstance(y, Tensor) else None)
    keeps_dtype = isinstance(y, int) if x.dtype.is_integer else x.dtype.is_inexact
    if isinstance(y, int | float) and not isinstance(y, np.generic) and keeps_dtype:
        if y == 2:
            return sqr(x)
        if y == 1:
            return x
        if x.dtype.is_inexact and y in (0.5, -1):
            return sqrt(x) if y == 0.5 else reciprocal(x)
    if x.dtype is BOOL and as_tensor(y).dtype is BOOL:
        x = cast_to(x, "int8")
    return _pow(x, y)


OPERATORS["pow"] = pow

sqrt = elementwise(
    "sqrt", np.sqrt, call("sqrt"),
    """The square root; NaN of negative floats, for which complex numbers have one.

    >>> import symc.tensor as T
    >>> T.sqrt([4.0, 2.0]).eval(), T.sqrt(-1 + 0j).eval()
    (array([2.        , 1.41421356]), array(0.+1.j))
    """,
    lambda g, x, y: 0.5 * g / y, cost=5,
    of_complex=True, sign_bit="chosen",
)  # fmt: skip
cbrt = elementwise(
    "cbrt", np.cbrt, call("cbrt"),
    """The cube root, real also for negative numbers.

    >>> import symc.tensor as T
    >>> T.cbrt([27.0, -8.0]).eval()
    array([ 3., -2.])
    """,
    lambda g, x, y: g / (3 * sqr(y)), cost=20,
    sign_bit="kept",
)  # fmt: skip
exp = elementwise(
    "exp", np.exp, call("exp"),
    """The exponential function, e to the power x (DLMF 4.2).

    >>> import symc.tensor as T
    >>> T.exp([0.0, 1.0]).eval()
    array([1.        , 2.71828183])
    """,
    lambda g, x, y: g * y, cost=12,
    of_complex=True, sign_bit="never",
)  # fmt: skip
exp2 = elementwise(
    "exp2", np.exp2, call("exp2"),
    """2 to the power x.

    >>> import symc.tensor as T
    >>> T.exp2([3.0, -1.0]).eval()
    array([8. , 0.5])
    """,
    lambda g, x, y: g * y * math.log(2), cost=12, of_complex=True, sign_bit="never",
)  # fmt: skip
expm1 = elementwise(
    "expm1", np.expm1, call("expm1"),
    """``exp(x) - 1``, exact near 0.

    >>> import symc.tensor as T
    >>> T.expm1(1e-10).eval()
    array(1.e-10)
    """,
    lambda g, x, y: g * exp(x), cost=16, of_complex=True,  # y + 1 is 0 below -37
)  # fmt: skip
log: FunctionOfOne = elementwise(
    "log", np.log, call("log"),
    """The natural logarithm: -inf at 0, NaN of negative floats (DLMF 4.2).

    >>> import symc.tensor as T
    >>> T.log([1.0, 10.0]).eval()
    array([0.        , 2.30258509])
    """,
    lambda g, x, y: g / x, cost=12,
    of_complex=True, sign_bit="no zero",
)  # fmt: skip
log2 = elementwise(
    "log2", np.log2, call("log2"),
    """The logarithm to base 2.

    >>> import symc.tensor as T
    >>> T.log2([8.0, 0.5]).eval()
    array([ 3., -1.])
    """,
    lambda g, x, y: g / (x * math.log(2)), cost=12, of_complex=True, sign_bit="no zero",
)  # fmt: skip
log10 = elementwise(
    "log10", np.log10, call("log10"),
    """The logarithm to base 10.

    >>> import symc.tensor as T
    >>> T.log10([1000, 0.1]).eval()
    array([ 3., -1.])
    """,
    lambda g, x, y: g / (x * math.log(10)), cost=12, of_complex=True, sign_bit="no zero",
)  # fmt: skip
log1p = elementwise(
    "log1p", np.log1p, call("log1p"),
    """``log(1 + x)``, exact near 0.

    >>> import symc.tensor as T
    >>> T.log1p(1e-10).eval()
    array(1.e-10)
    """,
    lambda g, x, y: g / (1 + x), cost=16, of_complex=True,
)  # fmt: skip
logaddexp = elementwise(
    "logaddexp", np.logaddexp, call("logaddexp"),
    """``log(exp(x) + exp(y))`` without overflow.

    >>> import symc.tensor as T
    >>> T.logaddexp(1000.0, 1000.0).eval()
    array(1000.69314718)
    """,
    lambda g, x, y, z: g * OPERATORS["sigmoid"](x - y),
    lambda g, x, y, z: g * OPERATORS["sigmoid"](y - x), cost=30, commutes=True, sign_bit="no zero",
)  # fmt: skip
