"""The meaning of each function of `math.py`, in plain Python on one number.

These are for the interpreter, a second opinion: they give IEEE infinities and NaN where Python
raises, and are right to about 1e-13, but not to the last bit. `special.py` has the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_abs = abs
_round = round


def _domain(function: Callable[[float], float]) -> Callable[[float], float]:
    """`function`, with NaN where Python raises ValueError."""

    def total(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return math.nan

    return total


def _log(function: Callable[[float], float], pole: float) -> Callable[[float], float]:
    """A logarithm, with minus infinity at its pole and NaN beyond it."""

    def total(x: float) -> float:
        if x > pole or x != x:
            return function(x)
        return -math.inf if x == pole else math.nan

    return total


def _grows(function: Callable[[float], float], *, odd: bool = False) -> Callable[[float], float]:
    """A function that overflows, with infinity where Python raises OverflowError."""

    def total(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return -math.inf if odd and x < 0 else math.inf

    return total


def _whole(function: Callable[[float], float]) -> Callable[[float], float]:
    """A rounding function on floats: keeps infinities, NaN and the sign of zero."""

    def total(x: float) -> float:
        return math.copysign(function(x), x) if math.isfinite(x) else x

    return total


exp = _grows(math.exp)
exp2 = _grows(math.exp2)
expm1 = _grows(math.expm1)
log = _log(math.log, 0.0)
log2 = _log(math.log2, 0.0)
log10 = _log(math.log10, 0.0)
log1p = _log(math.log1p, -1.0)
sqrt = _domain(math.sqrt)
cbrt = math.cbrt
hypot = math.hypot
sin = _domain(math.sin)
cos = _domain(math.cos)
tan = _domain(math.tan)
arcsin = _domain(math.asin)
arccos = _domain(math.acos)
arctan = math.atan
arctan2 = math.atan2
sinh = _grows(math.sinh, odd=True)
cosh = _grows(math.cosh)
tanh = math.tanh
arcsinh = math.asinh
arccosh = _domain(math.acosh)
erf = math.erf
erfc = math.erfc
copysign = math.copysign
nextafter = math.nextafter
isnan = math.isnan
isinf = math.isinf
isfinite = math.isfinite
floor = _whole(math.floor)
ceil = _whole(math.ceil)
trunc = _whole(math.trunc)
round = _whole(_round)  # ties go to even in Python too


def arctanh(x: float) -> float:
    """The inverse hyperbolic tangent."""
    return math.copysign(math.inf, x) if _abs(x) == 1 else _domain(math.atanh)(x)


def pow(x: float, y: float) -> float:
    """``x ** y`` of floats, as C's pow."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:  # zero to a negative power, or a negative base
        if x != 0:
            return math.nan
        return math.copysign(math.inf, x) if y % 2 == 1 else math.inf


def apart(x: float) -> float:
    """The number itself, which compilers do not put into one instruction with a sum."""
    return x


def below_or(index: int, end: int, other: int) -> int:
    """An index below an end, or another one."""
    return index if index < end else other


def unless(index: int, end: int, other: int) -> int:
    """An index that is not the end, or another one."""
    return other if index == end else index


def fmod(x: float, y: float) -> float:
    """The remainder with the sign of x."""
    try:
        return math.fmod(x, y)
    except ValueError:
        return math.nan


def fmod_power(x: float, power: float) -> float:
    """The same by a power of two."""
    return fmod(x, power)


def mod_power(x: float, power: float) -> float:
    """The remainder with the sign of the divisor, a power of two."""
    rest = fmod(x, power)
    if rest == 0:
        return math.copysign(0.0, power)
    return rest + power if (power < 0) != (rest < 0) else rest


def share(part: float, total: float, reciprocal: float) -> float:
    """A part divided by its total, of which the reciprocal is known."""
    return part / total


def fmax(x: float, y: float) -> float:
    """The larger; a NaN counts as missing."""
    return x if x >= y or y != y else y


def fmin(x: float, y: float) -> float:
    """The smaller; a NaN counts as missing."""
    return x if x <= y or y != y else y


def ldexp(x: float, n: float) -> float:
    """``x * 2**n`` for a whole n."""
    if n != n:
        return n
    try:
        return math.ldexp(x, int(min(max(n, -9999), 9999)))
    except OverflowError:
        return math.copysign(math.inf, x)


def frexp_mantissa(x: float) -> float:
    """The mantissa of `math.frexp`; infinities and NaN themselves."""
    return math.frexp(x)[0]


def frexp_exponent(x: float) -> float:
    """The exponent of `math.frexp`; 0 for infinities and NaN."""
    return float(math.frexp(x)[1]) if math.isfinite(x) else 0.0


def gcd(x: float, y: float) -> float:
    """The greatest common divisor of integers."""
    return math.gcd(int(x), int(y))


def lcm(x: float, y: float) -> float:
    """The least common multiple of integers."""
    return math.lcm(int(x), int(y))


def bit_count(x: float) -> float:
    """How many bits of an integer's absolute value are 1."""
    return int(x).bit_count()


def abs(x: float) -> float:
    """The absolute value."""
    return _abs(x)


def sign(x: float) -> float:
    """-1, 0 or 1; NaN for NaN. Of the type of x."""
    if x != x:
        return x
    return type(x)((x > 0) - (x < 0))


def sigmoid(x: float) -> float:
    """``1 / (1 + exp(-x))``."""
    e = math.exp(-_abs(x))
    return (1.0 if x >= 0 else e) / (1.0 + e)


def softplus(x: float) -> float:
    """``log(1 + exp(x))``."""
    return (x if x > 0 else 0.0) + math.log1p(math.exp(-_abs(x)))


def log_sigmoid(x: float) -> float:
    """``log(sigmoid(x))``."""
    return (x if x < 0 else -0.0) - math.log1p(math.exp(-_abs(x)))


def logaddexp(x: float, y: float) -> float:
    """``log(exp(x) + exp(y))``."""
    apart = 0.0 if x == y else _abs(x - y)
    return (x if x > y else y) + math.log1p(math.exp(-apart))
