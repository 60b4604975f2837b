"""Elementwise functions of real numbers: one row each, with meaning, expression and derivative.

A row's partial derivatives are written as users write expressions: ``lambda g, x, y: g * y`` gives
the gradient for argument x from the gradient g of the result y. Derivatives without a source below
are elementary calculus; those of special functions are from the NIST Digital Library (DLMF).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BFLOAT16, BOOL, FLOAT16, DType
from symc.errors import DTypeError
from symc.graph.inputs import as_tensor
from symc.graph.node import METHODS, OPERATORS, Tensor, TensorLike
from symc.graph.types import integer_range
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import (
    binary,
    call,
    cast_to,
    common,
    elementwise,
)
from symc.tensor.rows import Expression, Expression2, documented
from symc.tensor.signatures import FunctionOfOne, FunctionOfTwo

__all__ = [
    "abs", "add", "ceil", "clip", "copysign", "div", "divmod", "floor", "floordiv", "fmax", "fmin",
    "fmod", "maximum", "minimum", "mod", "mul", "neg", "nextafter", "reciprocal", "round", "sign",
    "sqr", "sub", "trunc",
]  # fmt: skip

# --- arithmetic -----------------------------------------------------------------------------------


def _add(x: ir.Expr, y: ir.Expr) -> ir.Expr:
    return ir.binary("or" if x.dtype is BOOL else "add", x, y)


def _mul(x: ir.Expr, y: ir.Expr) -> ir.Expr:
    return ir.binary("and" if x.dtype is BOOL else "mul", x, y)


def _one(x: ir.Expr) -> ir.Const:
    return ir.Const(1.0 if x.dtype.is_inexact else 1, x.dtype)


add = elementwise(
    "add", np.add, _add,
    """``x + y``; for bool, logical or.

    >>> import symc.tensor as T
    >>> T.add([1, 2], 0.5).eval()
    array([1.5, 2.5])
    """,
    lambda g, x, y, z: g, lambda g, x, y, z: g, domain="same",
    of_complex=True, commutes=True, sign_bit="kept",
)  # fmt: skip
sub = elementwise(
    "sub", np.subtract, binary("sub"),
    """``x - y``.

    >>> import symc.tensor as T
    >>> T.sub([5, 3], [1, 4]).eval()
    array([ 4, -1])
    """,
    lambda g, x, y, z: g, lambda g, x, y, z: -g, domain="number", of_complex=True,
)  # fmt: skip
mul = elementwise(
    "mul", np.multiply, _mul,
    """``x * y``; for bool, logical and.

    >>> import symc.tensor as T
    >>> T.mul([1.0, -2.0], 3).eval()
    array([ 3., -6.])
    """,
    lambda g, x, y, z: g * y, lambda g, x, y, z: g * x, domain="same",
    of_complex=True, commutes=True, sign_bit="kept",
)  # fmt: skip
div = elementwise(
    "div", np.true_divide, binary("div"),
    """``x / y``, true division: integers give float64, and by zero infinities or NaN.

    >>> import symc.tensor as T
    >>> T.div([6, 1], 4).eval()
    array([1.5 , 0.25])
    """,
    lambda g, x, y, z: g / y, lambda g, x, y, z: -(g * z) / y, domain="divide", cost=4,
    of_complex=True, sign_bit="kept",
)  # fmt: skip
neg = elementwise(
    "neg", np.negative, lambda x: ir.Unary("neg", x, x.dtype),
    """``-x``.

    >>> import symc.tensor as T
    >>> T.neg([1.5, -2.0]).eval()
    array([-1.5,  2. ])
    """,
    lambda g, x, y: -g, domain="number", of_complex=True,
)  # fmt: skip
_abs = elementwise(
    "abs", np.abs,
    lambda x: x if x.dtype.kind in ("bool", "uint") else ir.Call("abs", (x,), x.dtype),
    "The absolute value.", lambda g, x, y: g * sign(x), domain="same", sign_bit="never",
)  # fmt: skip
_sign = elementwise(
    "sign", np.sign, call("sign"), "-1, 0 or 1 by the sign; NaN for NaN.", None, domain="number"
)


def abs(x: TensorLike) -> Tensor:
    """The absolute value; of complex numbers a float. Its derivative at 0 is taken as 0.

    Elementwise, with NumPy's dtype.

    >>> import symc.tensor as T
    >>> T.abs([-1.5, 2.0]).eval(), T.abs(3 + 4j).eval()
    (array([1.5, 2. ]), array(5.))
    """
    x = as_tensor(x)
    return OPERATORS["magnitude"](x) if x.dtype.is_complex else _abs(x)


def sign(x: TensorLike) -> Tensor:
    """-1, 0 or 1 by the sign, NaN for NaN; of complex numbers ``x / abs(x)``, 0 for 0.

    Elementwise, with NumPy's dtype. Raises DTypeError for bool.

    >>> import symc.tensor as T
    >>> T.sign([-3, 0, 5]).eval()
    array([-1,  0,  1])
    """
    x = as_tensor(x)
    return OPERATORS["direction"](x) if x.dtype.is_complex else _sign(x)


sqr = elementwise(
    "sqr", np.square, lambda x: _mul(x, x),
    """``x * x``, which is also ``x ** 2``.

    >>> import symc.tensor as T
    >>> T.sqr([3, -4]).eval()
    array([ 9, 16])
    """,
    lambda g, x, y: g * (2 * x),
    domain="same", of_complex=True, sign_bit="never",
)  # fmt: skip
reciprocal = elementwise(
    "reciprocal", lambda x: np.divide(1, x).astype(x.dtype), lambda x: ir.binary("div", _one(x), x),
    """``1 / x``, a float for integers, too.

    >>> import symc.tensor as T
    >>> T.reciprocal([1, 4]).eval()
    array([1.  , 0.25])
    """,
    lambda g, x, y: -g * sqr(y), domain="divide", cost=4,
    of_complex=True,
)  # fmt: skip


def _nonzero_divisor(node: Tensor) -> Any:
    from symc.tensor.checks import nonzero_divisor

    return nonzero_divisor(node)


floordiv = elementwise(
    "floordiv", lambda x, y: np.floor_divide(x, y), binary("floordiv"),
    """``x // y``, rounded down. Integer division by zero raises ZeroDivisionError at run time.

    >>> import symc.tensor as T
    >>> T.floordiv([7, -7], 2).eval()
    array([ 3, -4])
    """,
    None, None, domain="number", cost=8, checks=_nonzero_divisor,
)  # fmt: skip
mod = elementwise(
    "mod", lambda x, y: np.remainder(x, y), binary("mod"),
    """``x % y`` with the sign of y. Integer modulo zero raises ZeroDivisionError at run time.

    >>> import symc.tensor as T
    >>> T.mod([7, -7], 3).eval()
    array([1, 2])
    """,
    lambda g, x, y, z: g, lambda g, x, y, z: -g * floor(x / y),
    domain="number", cost=8, checks=_nonzero_divisor,
)  # fmt: skip
_fmod = elementwise(
    "fmod", np.fmod, call("fmod"), "The remainder of x / y with the sign of x, as C's fmod.",
    lambda g, x, y, z: g, lambda g, x, y, z: -g * trunc(x / y), cost=20,
)  # fmt: skip


def fmod(x: TensorLike, y: TensorLike) -> Tensor:
    """The remainder of x / y with the sign of x, as C's fmod; an integer for integers.

    Elementwise, with NumPy's dtype; raises DTypeError for bool. Integers modulo zero raise
    ZeroDivisionError at run time; floats give NaN.

    >>> import symc.tensor as T
    >>> T.fmod([7, -7], 3).eval()
    array([ 1, -1])
    """
    left, right = common((x, y), "number", "fmod")
    if not left.dtype.is_integer:
        return _fmod(x, y)
    rest = mod(left, right)
    other = OPERATORS["ne"](rest, 0) & ((left < 0) ^ (right < 0))
    return OPERATORS["where"](other, rest - right, rest)


def divmod(x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    """The pair ``(x // y, x % y)``.

    Elementwise; both have NumPy's dtype. Integers divided by zero raise ZeroDivisionError at run
    time, and bool raises DTypeError.

    >>> import symc.tensor as T
    >>> quotient, rest = T.divmod([7, -7], 3)
    >>> quotient.eval(), rest.eval()
    (array([ 2, -3]), array([1, 2]))
    """
    return floordiv(x, y), mod(x, y)


def where_zero(x: Tensor, then: float, otherwise: Tensor) -> Tensor:
    """`otherwise`, but `then` where x is zero: for limits of products like ``y * log(x)``."""
    return OPERATORS["where"](OPERATORS["eq"](x, 0), then, otherwise)


def as_float(x: TensorLike) -> Tensor:
    from symc.graph.types import float_for

    x = as_tensor(x)
    return cast_to(x, float_for(x.dtype))


OPERATORS["abs"] = abs
OPERATORS["sign"] = sign

# --- rounding -------------------------------------------------------------------------------------


def _rounding(name: str, numpy: Any, doc: str) -> Any:
    float_function = elementwise(name, numpy, call(name), doc, None, cost=1)

    def function(x: TensorLike) -> Tensor:
        x = as_tensor(x)
        return x if not x.dtype.is_inexact else float_function(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = documented(
        doc, "Elementwise; integers stay as they are. Raises DTypeError for complex numbers. The "
        "derivative is 0.",
    )  # fmt: skip
    OPERATORS[name] = function
    return function


ceil: FunctionOfOne = _rounding(
    "ceil",
    np.ceil,
    """The least whole number not below x.

    >>> import symc.tensor as T
    >>> T.ceil([1.2, -1.2]).eval()
    array([ 2., -1.])
    """,
)
floor: FunctionOfOne = _rounding(
    "floor",
    np.floor,
    """The greatest whole number not above x.

    >>> import symc.tensor as T
    >>> T.floor([1.2, -1.2]).eval()
    array([ 1., -2.])
    """,
)
trunc: FunctionOfOne = _rounding(
    "trunc",
    np.trunc,
    """x without its fraction.

    >>> import symc.tensor as T
    >>> T.trunc([1.7, -1.7]).eval()
    array([ 1., -1.])
    """,
)
_round: FunctionOfOne = _rounding("round", np.rint, "The nearest whole number, ties to even.")


def round(x: TensorLike, decimals: int = 0) -> Tensor:
    """The nearest number with so many decimals, ties to even: whole numbers for 0, tens for -1.

    Elementwise, computed as NumPy does, ``round(x * 10**decimals) / 10**decimals``. Integers stay
    integers, and bool becomes float16. The derivative is 0. Raises DTypeError for complex numbers,
    and for decimals of bool.

    >>> round([2.5, -1.25], 1).eval(), round(1234, -2).eval()
    (array([ 2.5, -1.2]), array(1200))
    """
    x = as_tensor(x)
    if x.dtype is BOOL:
        if decimals:
            raise DTypeError(f"round: bool has no decimals\n  given  {describe(x)}")
        return cast_to(x, FLOAT16)
    if decimals == 0 or (decimals > 0 and not x.dtype.is_inexact):
        return _round(x)
    scale = float(10 ** (decimals if decimals > 0 else -decimals))
    if decimals > 0:
        return _round(x * scale) / scale
    return cast_to(_round(x / scale) * scale, x.dtype)


OPERATORS["round"] = round

# --- extremes and signs ---------------------------------------------------------------------------


def _share(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """`g` where x wins (x > y), half of it where they tie."""
    where, gt, eq = OPERATORS["where"], OPERATORS["gt"], OPERATORS["eq"]
    return g * where(gt(x, y), 1, where(eq(x, y), 0.5, cast_to(0, g.dtype)))


maximum = elementwise(
    "maximum", np.maximum, binary("max"),
    """The larger of x and y; NaN where either is NaN. Ties share the gradient evenly.

    >>> import symc.tensor as T
    >>> T.maximum([1.0, 5.0], [3.0, float("nan")]).eval()
    array([ 3., nan])
    """,
    lambda g, x, y, z: _share(g, x, y), lambda g, x, y, z: _share(g, y, x), domain="same",
    commutes=True, sign_bit="chosen",
)  # fmt: skip
minimum = elementwise(
    "minimum", np.minimum, binary("min"),
    """The smaller of x and y; NaN where either is NaN. Ties share the gradient evenly.

    >>> import symc.tensor as T
    >>> T.minimum([1.0, 5.0], 3.0).eval()
    array([1., 3.])
    """,
    lambda g, x, y, z: _share(g, y, x), lambda g, x, y, z: _share(g, x, y), domain="same",
    commutes=True, sign_bit="chosen",
)  # fmt: skip


def _ignoring_nan(name: str, op: ir.BinaryOp) -> Expression2:
    def expression(x: ir.Expr, y: ir.Expr) -> ir.Expr:
        return ir.Call(name, (x, y), x.dtype) if x.dtype.is_float else ir.binary(op, x, y)

    return expression


fmax = elementwise(
    "fmax", np.fmax, _ignoring_nan("fmax", "max"),
    """The larger of x and y, ignoring NaN. Ties share the gradient evenly.

    >>> import symc.tensor as T
    >>> T.fmax([1.0, 5.0], [3.0, float("nan")]).eval()
    array([3., 5.])
    """,
    lambda g, x, y, z: _share_present(g, x, y, OPERATORS["gt"]),
    lambda g, x, y, z: _share_present(g, y, x, OPERATORS["gt"]), domain="same",
    commutes=True, sign_bit="chosen",
)  # fmt: skip
fmin = elementwise(
    "fmin", np.fmin, _ignoring_nan("fmin", "min"),
    """The smaller of x and y, ignoring NaN. Ties share the gradient evenly.

    >>> import symc.tensor as T
    >>> T.fmin([1.0, 5.0], [3.0, float("nan")]).eval()
    array([1., 5.])
    """,
    lambda g, x, y, z: _share_present(g, x, y, OPERATORS["lt"]),
    lambda g, x, y, z: _share_present(g, y, x, OPERATORS["lt"]), domain="same",
    commutes=True, sign_bit="chosen",
)  # fmt: skip


def _share_present(g: Tensor, x: Tensor, y: Tensor, wins: Any) -> Tensor:
    where, eq, isnan = OPERATORS["where"], OPERATORS["eq"], OPERATORS["isnan"]
    return g * where(
        OPERATORS["logical_or"](wins(x, y), isnan(y)), 1, where(eq(x, y), 0.5, cast_to(0, g.dtype))
    )


copysign: FunctionOfTwo = elementwise(
    "copysign", np.copysign, call("copysign"),
    """x with the sign of y.

    >>> import symc.tensor as T
    >>> T.copysign([1.0, -2.0], -0.0).eval()
    array([-1., -2.])
    """,
    lambda g, x, y, z: g * copysign(1, x) * copysign(1, y), None,
)  # fmt: skip


# Of floats of 16 bits the step from 1 to the next, the least one, and what lies above all numbers.
_STEPS = {
    FLOAT16: (2.0**-10, 2.0**-24, 2.0**16),
    BFLOAT16: (2.0**-7, 2.0**-133, 2.0**128 - 2.0**104),
}


def _next_of(dtype: DType) -> Expression:
    """The next number of a dtype after x, which is a float32 as y is, towards y.

    What is added is between 0.6 and 1.2 times the distance to it, so that rounding finds it. What
    is not finite is approached from where the dtype would have its next number, or nearly.
    """
    relative, smallest, above = _STEPS[dtype]

    def following(x: ir.Expr, y: ir.Expr) -> ir.Expr:
        def number(value: float) -> ir.Expr:
            return ir.Const(value, x.dtype)

        size = ir.binary("min", ir.Call("abs", (x,), x.dtype), number(above))
        step = ir.binary("mul", size, number(0.6 * relative))
        step = ir.binary("max", step, number(0.6 * smallest))
        towards = ir.Select(ir.binary("lt", x, y), step, ir.Unary("neg", step, x.dtype), x.dtype)
        moved = ir.binary("add", ir.Call("copysign", (size, x), x.dtype), towards)
        same = x if dtype is FLOAT16 else y  # as NumPy and ml_dtypes have it, for zeros
        found = ir.Select(ir.binary("eq", x, y), same, moved, x.dtype)
        return ir.Select(ir.binary("eq", y, y), found, y, x.dtype)

    return following


nextafter = elementwise(
    "nextafter", np.nextafter, call("nextafter"),
    """The next float after x towards y. Its derivative by x is 1, by y 0.

    >>> import symc.tensor as T
    >>> T.nextafter(1.0, 2.0).eval() - 1
    np.float64(2.220446049250313e-16)
    """,
    lambda g, x, y, z: g, None, cost=8, of_16_bits=_next_of,
)  # fmt: skip


def clip(x: TensorLike, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """x limited to [min, max], as ``minimum(maximum(x, min), max)``; None leaves a side open.

    Elementwise; NaN stays NaN. Python's integers beyond the dtype of `x` leave a side open, too, as
    they do for NumPy.

    >>> import symc.tensor as T
    >>> T.clip([-2.0, 0.5, 9.0], 0, 1).eval()
    array([0. , 0.5, 1. ])
    """
    result = as_tensor(x)
    least, greatest = integer_range(result.dtype)
    if min is not None and not (type(min) is int and min <= least):
        result = maximum(result, min)
    if max is not None and not (type(max) is int and max >= greatest):
        result = minimum(result, max)
    return result


for _method in (clip, round):
    METHODS[_method.__name__] = _method
