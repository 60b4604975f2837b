"""Functions of complex numbers as formulas over their real and imaginary parts.

Loop IR has no complex arithmetic: `passes/expressions/pairs.py` replaces it by these formulas
before any other pass sees it. So they get all that floats get: vector registers, threads, devices.

Products and quotients are NumPy's: plain products, and division by R. Smith, "Algorithm 116:
complex division" (1962). The inverse functions are from W. Kahan, "Branch cuts for complex
elementary functions" (1987), with the signs of zeros on the cuts. Where a part is infinite or NaN
functions give what C99's annex G says, as NumPy's do; products and quotients give the result of
their real arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, DType

Name = Callable[[ir.Expr], ir.Expr]


class Real:
    """A real value in a formula. Results of arithmetic are named, so nothing is computed twice."""

    __slots__ = ("expr", "name")

    def __init__(self, expr: ir.Expr, name: Name) -> None:
        self.expr = expr
        self.name = name

    @property
    def dtype(self) -> DType:
        """The float dtype (bool for conditions)."""
        return self.expr.dtype

    def new(self, expr: ir.Expr) -> Real:
        """Another value of the same formula."""
        return Real(self.name(expr), self.name)

    def operand(self, other: Real | float) -> ir.Expr:
        """A value or number beside this one."""
        return other.expr if isinstance(other, Real) else ir.Const(float(other), self.dtype)

    def binary(self, op: ir.BinaryOp, other: Real | float) -> Real:
        """An operation with this value on the left."""
        return self.new(ir.binary(op, self.expr, self.operand(other)))

    def __add__(self, other: Real | float) -> Real:
        return self.binary("add", other)

    def __sub__(self, other: Real | float) -> Real:
        return self.binary("sub", other)

    def __mul__(self, other: Real | float) -> Real:
        return self.binary("mul", other)

    def __truediv__(self, other: Real | float) -> Real:
        return self.binary("div", other)

    def __radd__(self, other: float) -> Real:
        return self.binary("add", other)

    def __rsub__(self, other: float) -> Real:
        return self.new(ir.binary("sub", self.operand(other), self.expr))

    def __rmul__(self, other: float) -> Real:
        return self.binary("mul", other)

    def __rtruediv__(self, other: float) -> Real:
        return self.new(ir.binary("div", self.operand(other), self.expr))

    def __neg__(self) -> Real:
        return self.new(ir.Unary("neg", self.expr, self.dtype))

    def __abs__(self) -> Real:
        return self.call("abs")

    def __lt__(self, other: Real | float) -> Real:
        return self.binary("lt", other)

    def __gt__(self, other: Real | float) -> Real:
        return self.binary("gt", other)

    def __ge__(self, other: Real | float) -> Real:
        return self.binary("ge", other)

    def __and__(self, other: Real) -> Real:
        return self.binary("and", other)

    def __or__(self, other: Real) -> Real:
        return self.binary("or", other)

    def equals(self, other: Real | float) -> Real:
        """Whether both are the same number."""
        return self.binary("eq", other)

    def differs(self, other: Real | float) -> Real:
        """Whether they are different numbers, or one is NaN."""
        return self.binary("ne", other)

    def call(self, function: str, *others: Real) -> Real:
        """A function of `codegen/math.py`."""
        args = (self.expr, *(other.expr for other in others))
        predicate = function in ("isnan", "isinf", "isfinite")
        return self.new(ir.Call(function, args, BOOL if predicate else self.dtype))

    def number(self, value: float) -> Real:
        """A number of the same dtype."""
        return Real(ir.Const(value, self.dtype), self.name)

    def choose(self, then: Real | float, otherwise: Real) -> Real:
        """`then` where this condition holds, else `otherwise`."""
        first = otherwise.operand(then)
        return self.new(ir.Select(self.expr, first, otherwise.expr, otherwise.dtype))


class Complex:
    """A complex value in a formula."""

    __slots__ = ("im", "re")

    def __init__(self, re: Real, im: Real) -> None:
        self.re = re
        self.im = im


# --- arithmetic -----------------------------------------------------------------------------------


def add(a: Complex, b: Complex) -> Complex:
    """The sum."""
    return Complex(a.re + b.re, a.im + b.im)


def subtract(a: Complex, b: Complex) -> Complex:
    """The difference."""
    return Complex(a.re - b.re, a.im - b.im)


def multiply(a: Complex, b: Complex) -> Complex:
    """The product."""
    return Complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)


def scaled(a: Complex, factor: Real | float) -> Complex:
    """The product with a real number."""
    return Complex(a.re * factor, a.im * factor)


def negative(a: Complex) -> Complex:
    """The number with both signs changed."""
    return Complex(-a.re, -a.im)


def conjugate(a: Complex) -> Complex:
    """The number mirrored at the real axis."""
    return Complex(a.re, -a.im)


def _turned(a: Complex) -> Complex:
    """i times the number."""
    return Complex(-a.im, a.re)


def _turned_back(a: Complex) -> Complex:
    """The number divided by i."""
    return Complex(a.im, -a.re)


def divide(a: Complex, b: Complex) -> Complex:
    """The quotient, by Smith's method: no square of a part can overflow."""
    wide = abs(b.re) >= abs(b.im)
    large, small = wide.choose(b.re, b.im), wide.choose(b.im, b.re)
    zero = large.equals(0.0) & small.equals(0.0)  # a zero beside NaN is none
    ratio = zero.choose(0.0, small / large)
    scale = 1.0 / zero.choose(0.0, large + small * ratio)
    re = wide.choose(a.re + a.im * ratio, a.re * ratio + a.im)
    im = wide.choose(a.im - a.re * ratio, a.im * ratio - a.re)
    return Complex(re * scale, im * scale)


def magnitude(a: Complex) -> Real:
    """The absolute value, without overflow."""
    return a.re.call("hypot", a.im)


def angle(a: Complex) -> Real:
    """The argument, in [-pi, pi]."""
    return a.im.call("arctan2", a.re)


# --- exponentials, logarithms and powers ----------------------------------------------------------


def exp(z: Complex) -> Complex:
    """e to the power z. A real number stays real, also where its exponential is infinite."""
    size, wild = z.re.call("exp"), _is_wild(z.im)
    im = z.im.equals(0.0).choose(z.im, size * z.im.call("sin"))
    nothing = z.re.number(0.0).call("copysign", z.im)
    return Complex(
        (wild & z.re.call("isinf")).choose(size, size * z.im.call("cos")),
        (wild & z.re.equals(-math.inf)).choose(nothing, im),
    )


def _is_wild(x: Real) -> Real:
    """Whether a number is infinite or NaN."""
    return (x - x).differs(0.0)


def expm1(z: Complex) -> Complex:
    """``exp(z) - 1``, exact near 0."""
    half = (z.im * 0.5).call("sin")
    re = z.re.call("expm1") * z.im.call("cos") - 2.0 * (half * half)
    return Complex(re, z.re.call("exp") * z.im.call("sin"))


def log(z: Complex) -> Complex:
    """The natural logarithm; near the unit circle by log1p, which keeps digits of the real part."""
    factor, power = _factor(z)
    size = magnitude(scaled(z, factor))
    re, im = abs(z.re), abs(z.im)
    first = re >= im
    large, small = first.choose(re, im), first.choose(im, re)
    excess = (large - 1.0) * (large + 1.0) + small * small
    near = (size >= 0.5) & (size < 2.0) & power.equals(0.0)
    of_size = size.call("log") - power * math.log(2)
    return Complex(near.choose(0.5 * excess.call("log1p"), of_size), angle(z))


def _factor(z: Complex) -> tuple[Real, Real]:
    """A power of four that brings extreme numbers into the midst of the floats, and its exponent.

    1, which changes nothing, for all others.
    """
    highest, lowest = _EXTREMES[z.re.dtype.name]
    huge = (abs(z.re) > highest) | (abs(z.im) > highest)
    tiny = (abs(z.re) < lowest) & (abs(z.im) < lowest)
    one, zero = z.re.number(1.0), z.re.number(0.0)
    factor = huge.choose(0.25, tiny.choose(2.0**108, one))
    return factor, huge.choose(-2.0, tiny.choose(108.0, zero))


_EXTREMES = {"float32": (2.0**125, 2.0**-100), "float64": (2.0**1021, 2.0**-960)}


def log1p(z: Complex) -> Complex:
    """``log(1 + z)``, exact near 0."""
    size = (z.re + 1.0).call("hypot", z.im)
    near = (size >= 0.5) & (size < 2.0)
    excess = z.re * (z.re + 2.0) + z.im * z.im
    re = near.choose(0.5 * excess.call("log1p"), size.call("log"))
    return Complex(re, z.im.call("arctan2", z.re + 1.0))


def sqrt(z: Complex) -> Complex:
    """The square root with a real part that is not negative."""
    factor, power = _factor(z)
    size, im = abs(z.re * factor), abs(z.im * factor)
    root = (0.5 * size + 0.5 * size.call("hypot", im)).call("sqrt")
    other = root.equals(0.0).choose(im, im / (2.0 * root))
    back = power.equals(0.0).choose(1.0, power.equals(108.0).choose(2.0**-54, power.number(2.0)))
    root, other = root * back, other * back
    right = z.re >= 0.0
    endless = z.im.call("isinf")
    re = endless.choose(abs(z.im), right.choose(root, other))
    im = endless.choose(abs(z.im), right.choose(other, root))
    return Complex(re, im.call("copysign", z.im))


def power(z: Complex, w: Complex) -> Complex:
    """``exp(w log(z))``; 1 where w is 0, and 0 where z is and w has a positive real part.

    A constant whole exponent below 100 asks for products, as in NumPy.
    """
    count = _whole_number(w)
    if 0 < abs(count) < 100:
        return _product_of(z, count)
    value = exp(multiply(w, log(z)))
    one = w.re.equals(0.0) & w.im.equals(0.0)
    zero = z.re.equals(0.0) & z.im.equals(0.0)
    nothing = (w.re > 0.0).choose(0.0, w.re * math.nan)
    re = one.choose(1.0, zero.choose(nothing, value.re))
    im = one.choose(0.0, zero.choose(nothing, value.im))
    return Complex(re, im)


def _whole_number(w: Complex) -> int:
    """The value of a constant that is a whole real number; 0 for anything else."""
    match w.re.expr, w.im.expr:
        case ir.Const(value), ir.Const(0) if float(value).is_integer():
            return int(value)
        case _:
            return 0


def _product_of(z: Complex, count: int) -> Complex:
    """A number so often times itself; one over that where the count is negative, NaN for 0."""
    left, power_of_two, result = abs(count), z, None
    while True:
        if left & 1:
            result = power_of_two if result is None else multiply(result, power_of_two)
        left >>= 1
        if not left:
            break
        power_of_two = multiply(power_of_two, power_of_two)
    assert result is not None
    if count > 0:
        return result
    one = z.re * 0.0 + 1.0
    inverse = divide(Complex(one, z.im * 0.0), result)
    zero = z.re.equals(0.0) & z.im.equals(0.0)
    return Complex(zero.choose(math.nan, inverse.re), zero.choose(math.nan, inverse.im))


# --- trigonometry ---------------------------------------------------------------------------------


def sinh(z: Complex) -> Complex:
    """The hyperbolic sine."""
    sine, wild = z.re.call("sinh"), _is_wild(z.im)
    re = (wild & z.re.equals(0.0)).choose(z.re, sine * z.im.call("cos"))
    re = (wild & z.re.call("isinf")).choose(abs(z.re), re)
    im = z.im.equals(0.0).choose(z.im, z.re.call("cosh") * z.im.call("sin"))
    return Complex(re, im)


def cosh(z: Complex) -> Complex:
    """The hyperbolic cosine."""
    wild, sign = _is_wild(z.im), z.re.number(1.0).call("copysign", z.re)
    re = z.re.call("cosh") * z.im.call("cos")
    im = z.im.equals(0.0).choose(sign * z.im, z.re.call("sinh") * z.im.call("sin"))
    return Complex(
        (wild & z.re.call("isinf")).choose(abs(z.re), re),
        (wild & z.re.equals(0.0)).choose(0.0, im),
    )


def tanh(z: Complex) -> Complex:
    """The hyperbolic tangent; far from the imaginary axis it is 1 or -1 almost exactly."""
    far, wild = abs(z.re) >= 20.0, _is_wild(z.im)
    x = far.choose(1.0, z.re)
    tangent, sine, cosine = z.im.call("tan"), x.call("sinh"), x.call("cosh")
    beta = 1.0 + tangent * tangent
    below = 1.0 + beta * (sine * sine)
    tail = 4.0 * (z.im.call("sin") * z.im.call("cos")) * (-2.0 * abs(z.re)).call("exp")
    endless = z.re.call("isinf")
    re = (wild & z.re.equals(0.0)).choose(z.re, beta * cosine * sine / below)
    one = (far & (z.im - z.im).equals(0.0)) | endless
    im = far.choose(tail, tangent / below)
    known = z.im.equals(0.0) | (wild & endless)
    im = known.choose(wild.choose(0.0, abs(z.im)).call("copysign", z.im), im)
    return Complex(one.choose(x.call("copysign", z.re), re), im)


_FAR, _NEAR = 2.0**60, 2.0**-30
"""From the first on inverse functions are logarithms; below the second they are linear."""


def _is_far(z: Complex) -> Real:
    return (abs(z.re) >= _FAR) | (abs(z.im) >= _FAR)


def _is_near(z: Complex) -> Real:
    return (abs(z.re) < _NEAR) & (abs(z.im) < _NEAR)


def _far_log(z: Complex) -> Real:
    """The logarithm of twice the size."""
    return magnitude(scaled(z, 0.25)).call("log") + 3 * math.log(2)


def arcsin(z: Complex) -> Complex:
    """The inverse sine."""
    left, right = sqrt(Complex(1.0 - z.re, -z.im)), sqrt(Complex(1.0 + z.re, z.im))
    re = z.re.call("arctan2", left.re * right.re - left.im * right.im)
    im = (left.re * right.im - left.im * right.re).call("arcsinh")
    far, near = _is_far(z), _is_near(z)
    re = far.choose(z.re.call("arctan2", abs(z.im)), re)
    im = far.choose(_far_log(z).call("copysign", z.im), im)
    return Complex((near | z.re.equals(0.0)).choose(z.re, re), near.choose(z.im, im))


def arccos(z: Complex) -> Complex:
    """The inverse cosine."""
    left, right = sqrt(Complex(1.0 - z.re, -z.im)), sqrt(Complex(1.0 + z.re, z.im))
    im = (right.re * left.im - right.im * left.re).call("arcsinh")
    re = 2.0 * left.re.call("arctan2", right.re)
    far, near = _is_far(z), _is_near(z)
    re = far.choose(abs(z.im).call("arctan2", z.re), z.re.equals(0.0).choose(math.pi / 2, re))
    return Complex(re, far.choose(-_far_log(z).call("copysign", z.im), near.choose(-z.im, im)))


def arccosh(z: Complex) -> Complex:
    """The inverse hyperbolic cosine."""
    below, above = sqrt(Complex(z.re - 1.0, z.im)), sqrt(Complex(z.re + 1.0, z.im))
    re = (below.re * above.re + below.im * above.im).call("arcsinh")
    im = 2.0 * below.im.call("arctan2", above.re)
    far, near = _is_far(z), _is_near(z)
    im = z.re.equals(0.0).choose(z.re.number(math.pi / 2).call("copysign", z.im), im)
    im = far.choose(z.im.call("arctan2", z.re), im)
    return Complex(far.choose(_far_log(z), near.choose(abs(z.im), re)), im)


def arctanh(z: Complex) -> Complex:
    """The inverse hyperbolic tangent; beside 1 and -1 by a logarithm, for no square to vanish."""
    gap, square = 1.0 - abs(z.re), z.im * z.im
    size = 0.25 * (4.0 * abs(z.re) / (gap * gap + square)).call("log1p")
    beside = gap.equals(0.0) & (abs(z.im) < 1e-10)
    size = beside.choose(0.5 * (math.log(2) - abs(z.im).call("log")), size)
    im = (2.0 * z.im).call("arctan2", gap * (1.0 + abs(z.re)) - square)
    far, known = _is_far(z), z.re.equals(z.re) & z.im.equals(z.im)
    im = (z.im.call("isinf") | (far & known)).choose(math.pi, im).call("copysign", z.im)
    # Far away it is pi i / 2 + 1 / z.
    quarter = Complex(z.re * 0.25, z.im * 0.25)
    large = magnitude(quarter)
    size = far.choose(abs(quarter.re) / large / large * 0.25, size)
    endless = z.re.call("isinf") | z.im.call("isinf")
    size = (endless | z.re.equals(0.0)).choose(0.0, size)
    return Complex(size.call("copysign", z.re), 0.5 * im)


def sin(z: Complex) -> Complex:
    """The sine."""
    found = _of_turned(sinh)(z)
    endless = _is_wild(z.re) & z.im.call("isinf")
    return Complex(found.re, endless.choose(abs(z.im), found.im))


def _of_turned(function: Callable[[Complex], Complex]) -> Callable[[Complex], Complex]:
    """``f(i z) / i``: the function beside a hyperbolic one, or the other way round."""
    return lambda z: _turned_back(function(_turned(z)))


def _logarithm(base: float) -> Callable[[Complex], Complex]:
    return lambda z: scaled(log(z), 1 / math.log(base))


def _exp2(z: Complex) -> Complex:
    return exp(scaled(z, math.log(2)))


def _hyperbolic_cosine_of_turned(z: Complex) -> Complex:
    return cosh(_turned(z))


def _of_either(test: str) -> Callable[[Complex], Real]:
    """Whether something holds for one of the parts."""
    return lambda z: z.re.call(test) | z.im.call(test)


def _is_finite(z: Complex) -> Real:
    return z.re.call("isfinite") & z.im.call("isfinite")


def _real(z: Complex) -> Real:
    return z.re


def _imag(z: Complex) -> Real:
    return z.im


def _equal(a: Complex, b: Complex) -> Real:
    return a.re.equals(b.re) & a.im.equals(b.im)


def _different(a: Complex, b: Complex) -> Real:
    return a.re.differs(b.re) | a.im.differs(b.im)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "conj": conjugate, "abs": magnitude, "angle": angle, "real": _real, "imag": _imag,
    "exp": exp, "exp2": _exp2, "expm1": expm1,
    "log": log, "log2": _logarithm(2), "log10": _logarithm(10), "log1p": log1p,
    "sqrt": sqrt, "pow": power,
    "sin": sin, "cos": _hyperbolic_cosine_of_turned, "tan": _of_turned(tanh),
    "sinh": sinh, "cosh": cosh, "tanh": tanh,
    "arcsin": arcsin, "arccos": arccos, "arctan": _of_turned(arctanh),
    "arcsinh": _of_turned(arcsin), "arccosh": arccosh, "arctanh": arctanh,
    "isnan": _of_either("isnan"), "isinf": _of_either("isinf"), "isfinite": _is_finite,
}  # fmt: skip
"""Calls with complex arguments, by their parts: the results are complex numbers, or real ones."""

OPERATORS: dict[str, Callable[[Complex, Complex], Any]] = {
    "add": add, "sub": subtract, "mul": multiply, "div": divide, "eq": _equal, "ne": _different,
}  # fmt: skip
"""Binary operators on complex numbers, by their parts."""
