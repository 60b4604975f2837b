"""Elementwise functions of real numbers: one row each, with meaning, expression and derivative.

A row's partial derivatives are written as users write expressions: ``lambda g, x, y: g * y`` gives
the gradient for argument x from the gradient g of the result y. Derivatives without a source below
are elementary calculus; those of special functions are from the NIST Digital Library (DLMF).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL
from symc.graph.inputs import as_tensor
from symc.graph.node import METHODS, OPERATORS, Tensor, TensorLike
from symc.tensor.elementwise import (
    ELEMENTWISE,
    binary,
    call,
    cast_to,
    common,
    elementwise,
)
from symc.tensor.rows import Expression2
from symc.tensor.signatures import FunctionOfOne, FunctionOfTwo

__all__ = [
    "abs", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "cbrt", "ceil", "clip", "copysign", "cos", "cosh", "deg2rad", "div", "divmod", "exp",
    "exp2", "expm1", "floor", "floordiv", "fmax", "fmin", "fmod", "hypot", "log", "log1p",
    "log2", "log10", "logaddexp", "maximum", "minimum", "mod", "mul", "neg", "nextafter", "pow",
    "rad2deg", "reciprocal", "round", "sign", "sin", "sinh", "sqr", "sqrt", "sub", "tan",
    "tanh", "trunc",
]  # fmt: skip

# --- arithmetic -----------------------------------------------------------------------------------


def _add(x: ir.Expr, y: ir.Expr) -> ir.Expr:
    return ir.binary("or" if x.dtype is BOOL else "add", x, y)


def _mul(x: ir.Expr, y: ir.Expr) -> ir.Expr:
    return ir.binary("and" if x.dtype is BOOL else "mul", x, y)


def _one(x: ir.Expr) -> ir.Const:
    return ir.Const(1.0 if x.dtype.is_inexact else 1, x.dtype)


add = elementwise(
    "add", np.add, _add, "``x + y``; for bool, logical or.",
    lambda g, x, y, z: g, lambda g, x, y, z: g, domain="same",
    of_complex=True, commutes=True, sign_bit="kept",
)  # fmt: skip
sub = elementwise(
    "sub", np.subtract, binary("sub"), "``x - y``.",
    lambda g, x, y, z: g, lambda g, x, y, z: -g, domain="number", of_complex=True,
)  # fmt: skip
mul = elementwise(
    "mul", np.multiply, _mul, "``x * y``; for bool, logical and.",
    lambda g, x, y, z: g * y, lambda g, x, y, z: g * x, domain="same",
    of_complex=True, commutes=True, sign_bit="kept",
)  # fmt: skip
div = elementwise(
    "div", np.true_divide, binary("div"), "``x / y``, true division.",
    lambda g, x, y, z: g / y, lambda g, x, y, z: -(g * z) / y, domain="divide", cost=4,
    of_complex=True, sign_bit="kept",
)  # fmt: skip
neg = elementwise(
    "neg", np.negative, lambda x: ir.Unary("neg", x, x.dtype), "``-x``.",
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
    """
    x = as_tensor(x)
    return OPERATORS["magnitude"](x) if x.dtype.is_complex else _abs(x)


def sign(x: TensorLike) -> Tensor:
    """-1, 0 or 1 by the sign, NaN for NaN; of complex numbers ``x / abs(x)``, 0 for 0.

    Elementwise, with NumPy's dtype. Raises DTypeError for bool.
    """
    x = as_tensor(x)
    return where_zero(x, 0, x / abs(x)) if x.dtype.is_complex else _sign(x)


sqr = elementwise(
    "sqr", np.square, lambda x: _mul(x, x), "``x * x``.", lambda g, x, y: g * (2 * x),
    domain="same", of_complex=True, sign_bit="never",
)  # fmt: skip
reciprocal = elementwise(
    "reciprocal", lambda x: np.divide(1, x).astype(x.dtype), lambda x: ir.binary("div", _one(x), x),
    "``1 / x``, a float for integers, too.", lambda g, x, y: -g * sqr(y), domain="divide", cost=4,
    of_complex=True,
)  # fmt: skip


def _nonzero_divisor(node: Tensor) -> Any:
    from symc.tensor.checks import nonzero_divisor

    return nonzero_divisor(node)


floordiv = elementwise(
    "floordiv", lambda x, y: np.floor_divide(x, y), binary("floordiv"),
    "``x // y``, rounded down. Integer division by zero raises ZeroDivisionError at run time.",
    None, None, domain="number", cost=8, checks=_nonzero_divisor,
)  # fmt: skip
mod = elementwise(
    "mod", lambda x, y: np.remainder(x, y), binary("mod"),
    "``x % y`` with the sign of y. Integer modulo zero raises ZeroDivisionError at run time.",
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
    """The pair ``(x // y, x % y)``."""
    return floordiv(x, y), mod(x, y)


def _power_checks(node: Tensor) -> Any:
    from symc.tensor.checks import nonnegative_exponent

    return nonnegative_exponent(node)


_pow = elementwise(
    "pow", np.power, call("pow"), "``x ** y``.",
    lambda g, x, y, z: g * where_zero(y, 0, y * _power(x, y - 1)),
    lambda g, x, y, z: g * where_zero(x, 0, z * log(x)),
    domain="same", cost=30, checks=_power_checks, of_complex=True,
)  # fmt: skip


def _power(x: Tensor, y: Tensor) -> Tensor:
    return ELEMENTWISE["pow"](x, y)


def where_zero(x: Tensor, then: float, otherwise: Tensor) -> Tensor:
    """`otherwise`, but `then` where x is zero: for limits of products like ``y * log(x)``."""
    return OPERATORS["where"](OPERATORS["eq"](x, 0), then, otherwise)


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
OPERATORS["abs"] = abs
OPERATORS["sign"] = sign

# --- rounding -------------------------------------------------------------------------------------


def _rounding(name: str, numpy: Any, doc: str) -> Any:
    float_function = elementwise(name, numpy, call(name), doc, None, cost=1)

    def function(x: TensorLike) -> Tensor:
        x = as_tensor(x)
        return x if not x.dtype.is_inexact else float_function(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc}\n\nElementwise; integers stay as they are. The derivative is 0."
    OPERATORS[name] = function
    return function


ceil: FunctionOfOne = _rounding("ceil", np.ceil, "The least whole number not below x.")
floor: FunctionOfOne = _rounding("floor", np.floor, "The greatest whole number not above x.")
trunc: FunctionOfOne = _rounding("trunc", np.trunc, "x without its fraction.")
_round: FunctionOfOne = _rounding("round", np.rint, "The nearest whole number, ties to even.")


def round(x: TensorLike, decimals: int = 0) -> Tensor:
    """The nearest number with so many decimals, ties to even: whole numbers for 0, tens for -1.

    Elementwise, computed as NumPy does, ``round(x * 10**decimals) / 10**decimals``. Integers stay
    integers. The derivative is 0.

    >>> round([2.5, -1.25], 1).eval(), round(1234, -2).eval()
    (array([ 2.5, -1.2]), array(1200))
    """
    x = as_tensor(x)
    if decimals == 0 or (decimals > 0 and not x.dtype.is_inexact):
        return _round(x)
    scale = float(10 ** (decimals if decimals > 0 else -decimals))
    if decimals > 0:
        return _round(x * scale) / scale
    return cast_to(_round(x / scale) * scale, x.dtype)


OPERATORS["round"] = round

# --- powers, exponentials and logarithms ----------------------------------------------------------

sqrt = elementwise(
    "sqrt", np.sqrt, call("sqrt"), "The square root.", lambda g, x, y: 0.5 * g / y, cost=5,
    of_complex=True, sign_bit="chosen",
)  # fmt: skip
cbrt = elementwise(
    "cbrt", np.cbrt, call("cbrt"), "The cube root.", lambda g, x, y: g / (3 * sqr(y)), cost=20,
    sign_bit="kept",
)  # fmt: skip
exp = elementwise(
    "exp", np.exp, call("exp"), "e to the power x.", lambda g, x, y: g * y, cost=12,
    of_complex=True, sign_bit="never",
)  # fmt: skip
exp2 = elementwise(
    "exp2", np.exp2, call("exp2"), "2 to the power x.",
    lambda g, x, y: g * y * math.log(2), cost=12, of_complex=True, sign_bit="never",
)  # fmt: skip
expm1 = elementwise(
    "expm1", np.expm1, call("expm1"), "``exp(x) - 1``, exact near 0.",
    lambda g, x, y: g * (y + 1), cost=16, of_complex=True,
)  # fmt: skip
log: FunctionOfOne = elementwise(
    "log", np.log, call("log"), "The natural logarithm.", lambda g, x, y: g / x, cost=12,
    of_complex=True, sign_bit="no zero",
)  # fmt: skip
log2 = elementwise(
    "log2", np.log2, call("log2"), "The logarithm to base 2.",
    lambda g, x, y: g / (x * math.log(2)), cost=12, of_complex=True, sign_bit="no zero",
)  # fmt: skip
log10 = elementwise(
    "log10", np.log10, call("log10"), "The logarithm to base 10.",
    lambda g, x, y: g / (x * math.log(10)), cost=12, of_complex=True, sign_bit="no zero",
)  # fmt: skip
log1p = elementwise(
    "log1p", np.log1p, call("log1p"), "``log(1 + x)``, exact near 0.",
    lambda g, x, y: g / (1 + x), cost=16, of_complex=True,
)  # fmt: skip
logaddexp = elementwise(
    "logaddexp", np.logaddexp, call("logaddexp"), "``log(exp(x) + exp(y))`` without overflow.",
    lambda g, x, y, z: g * OPERATORS["sigmoid"](x - y),
    lambda g, x, y, z: g * OPERATORS["sigmoid"](y - x), cost=30, commutes=True, sign_bit="no zero",
)  # fmt: skip

# --- trigonometry ---------------------------------------------------------------------------------

sin = elementwise(
    "sin", np.sin, call("sin"), "The sine of x radians.", lambda g, x, y: g * cos(x), cost=16,
    of_complex=True,
)  # fmt: skip
cos: FunctionOfOne = elementwise(
    "cos", np.cos, call("cos"), "The cosine of x radians.", lambda g, x, y: -g * sin(x), cost=16,
    of_complex=True,
)  # fmt: skip
tan = elementwise(
    "tan", np.tan, call("tan"), "The tangent of x radians.",
    lambda g, x, y: g * (1 + sqr(y)), cost=20, of_complex=True,
)  # fmt: skip
arcsin = elementwise(
    "arcsin", np.arcsin, call("arcsin"), "The inverse sine, in [-pi/2, pi/2].",
    lambda g, x, y: g / sqrt(1 - sqr(x)), cost=20, of_complex=True,
)  # fmt: skip
arccos = elementwise(
    "arccos", np.arccos, call("arccos"), "The inverse cosine, in [0, pi].",
    lambda g, x, y: -g / sqrt(1 - sqr(x)), cost=20, of_complex=True,
)  # fmt: skip
arctan = elementwise(
    "arctan", np.arctan, call("arctan"), "The inverse tangent, in [-pi/2, pi/2].",
    lambda g, x, y: g / (1 + sqr(x)), cost=20, of_complex=True,
)  # fmt: skip
arctan2 = elementwise(
    "arctan2", np.arctan2, call("arctan2"), "The angle of the point (y, x), in [-pi, pi].",
    lambda g, y, x, z: g * x / (sqr(x) + sqr(y)), lambda g, y, x, z: -g * y / (sqr(x) + sqr(y)),
    cost=30,
)  # fmt: skip
sinh = elementwise(
    "sinh", np.sinh, call("sinh"), "The hyperbolic sine.", lambda g, x, y: g * cosh(x), cost=20,
    of_complex=True,
)  # fmt: skip
cosh: FunctionOfOne = elementwise(
    "cosh", np.cosh, call("cosh"), "The hyperbolic cosine.", lambda g, x, y: g * sinh(x), cost=20,
    of_complex=True, sign_bit="never",
)  # fmt: skip
tanh = elementwise(
    "tanh", np.tanh, call("tanh"), "The hyperbolic tangent.",
    lambda g, x, y: g * (1 - sqr(y)), cost=20, of_complex=True,
)  # fmt: skip
arcsinh = elementwise(
    "arcsinh", np.arcsinh, call("arcsinh"), "The inverse hyperbolic sine.",
    lambda g, x, y: g / sqrt(sqr(x) + 1), cost=20, of_complex=True,
)  # fmt: skip
arccosh = elementwise(
    "arccosh", np.arccosh, call("arccosh"), "The inverse hyperbolic cosine, of x >= 1.",
    lambda g, x, y: g / (sqrt(x - 1) * sqrt(x + 1)), cost=20, of_complex=True,
)  # fmt: skip
arctanh = elementwise(
    "arctanh", np.arctanh, call("arctanh"), "The inverse hyperbolic tangent, of -1 <= x <= 1.",
    lambda g, x, y: g / (1 - sqr(x)), cost=20, of_complex=True,
)  # fmt: skip
hypot = elementwise(
    "hypot", np.hypot, call("hypot"), "``sqrt(x*x + y*y)`` without overflow. Its gradient at the "
    "origin is taken as 0.",
    lambda g, x, y, z: g * where_zero(z, 0, x / z), lambda g, x, y, z: g * where_zero(z, 0, y / z),
    cost=20,
)  # fmt: skip


def deg2rad(x: TensorLike) -> Tensor:
    """Degrees to radians: ``x * pi / 180``. Elementwise."""
    return as_float(x) * (math.pi / 180)


def rad2deg(x: TensorLike) -> Tensor:
    """Radians to degrees: ``x * 180 / pi``. Elementwise."""
    return as_float(x) * (180 / math.pi)


def as_float(x: TensorLike) -> Tensor:
    from symc.graph.types import float_for

    x = as_tensor(x)
    return cast_to(x, float_for(x.dtype))


# --- extremes and signs ---------------------------------------------------------------------------


def _share(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """`g` where x wins (x > y), half of it where they tie."""
    where, gt, eq = OPERATORS["where"], OPERATORS["gt"], OPERATORS["eq"]
    return g * where(gt(x, y), 1, where(eq(x, y), 0.5, cast_to(0, g.dtype)))


maximum = elementwise(
    "maximum", np.maximum, binary("max"),
    "The larger of x and y; NaN where either is NaN. Ties share the gradient evenly.",
    lambda g, x, y, z: _share(g, x, y), lambda g, x, y, z: _share(g, y, x), domain="same",
    commutes=True, sign_bit="chosen",
)  # fmt: skip
minimum = elementwise(
    "minimum", np.minimum, binary("min"),
    "The smaller of x and y; NaN where either is NaN. Ties share the gradient evenly.",
    lambda g, x, y, z: _share(g, y, x), lambda g, x, y, z: _share(g, x, y), domain="same",
    commutes=True, sign_bit="chosen",
)  # fmt: skip


def _ignoring_nan(name: str, op: ir.BinaryOp) -> Expression2:
    def expression(x: ir.Expr, y: ir.Expr) -> ir.Expr:
        return ir.Call(name, (x, y), x.dtype) if x.dtype.is_float else ir.binary(op, x, y)

    return expression


fmax = elementwise(
    "fmax", np.fmax, _ignoring_nan("fmax", "max"),
    "The larger of x and y, ignoring NaN. Ties share the gradient evenly.",
    lambda g, x, y, z: _share_present(g, x, y, OPERATORS["gt"]),
    lambda g, x, y, z: _share_present(g, y, x, OPERATORS["gt"]), domain="same",
    commutes=True, sign_bit="chosen",
)  # fmt: skip
fmin = elementwise(
    "fmin", np.fmin, _ignoring_nan("fmin", "min"),
    "The smaller of x and y, ignoring NaN. Ties share the gradient evenly.",
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
    "copysign", np.copysign, call("copysign"), "x with the sign of y.",
    lambda g, x, y, z: g * copysign(1, x) * copysign(1, y), None,
)  # fmt: skip
nextafter = elementwise(
    "nextafter", np.nextafter, call("nextafter"), "The next float after x towards y.",
    lambda g, x, y, z: g, None, cost=8,
)  # fmt: skip


def clip(x: TensorLike, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """x limited to [min, max], as ``minimum(maximum(x, min), max)``; None leaves a side open.

    Elementwise; NaN stays NaN. Raises ValueError when both limits are None.
    """
    if min is None and max is None:
        raise ValueError("clip needs at least one of min and max")
    result = as_tensor(x)
    result = result if min is None else maximum(result, min)
    return result if max is None else minimum(result, max)


for _method in (clip, round):
    METHODS[_method.__name__] = _method
