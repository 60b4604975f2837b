"""More elementwise functions: signs, parts and exponents of numbers, divisors, choices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import COMPLEX128, FLOAT64, INT32, INT64, UINT8, UINT64
from symc.errors import DTypeError
from symc.graph.bfloat16 import finfo
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.broadcast import describe
from symc.tensor.build import full_like
from symc.tensor.complex_numbers import imag
from symc.tensor.elementwise import call, cast_to, common, elementwise, refuse_complex
from symc.tensor.exponentials import pow
from symc.tensor.logic import (
    eq,
    gt,
    isinf,
    isnan,
    lt,
    ne,
    where,
)
from symc.tensor.math import abs as absolute
from symc.tensor.math import as_float, clip, copysign, trunc
from symc.tensor.signatures import FunctionOfTwo

__all__ = [
    "bitwise_count", "float_power", "frexp", "gcd", "heaviside", "iscomplex", "iscomplexobj",
    "isneginf", "isposinf", "isreal", "isrealobj", "lcm", "ldexp", "logaddexp2", "modf",
    "piecewise", "signbit", "spacing",
]  # fmt: skip
_ALSO_ENTERED = ["bit_count", "frexp_exponent", "frexp_mantissa"]

# --- signs and parts ------------------------------------------------------------------------------


def signbit(x: TensorLike) -> Tensor:
    """Whether x is negative, as -0.0 and some NaN are, too. Elementwise; gives bool.

    Raises DTypeError for complex numbers.

    >>> import symc.tensor as T
    >>> T.signbit([-1.5, -0.0, 0.0]).eval()
    array([ True,  True, False])
    """
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

    Elementwise; integers become floats. Raises DTypeError for complex numbers.

    >>> import symc.tensor as T
    >>> fraction, whole = T.modf([1.5, -0.25])
    >>> fraction.eval(), whole.eval()
    (array([ 0.5 , -0.25]), array([ 1., -0.]))
    """
    x = as_float(x)
    whole = trunc(x)
    part = where(signbit(x), -(whole - x), x - whole)  # -0.0 where `x` is negative
    return where(isinf(x), copysign(0, x), part), whole


def spacing(x: TensorLike) -> Tensor:
    """The distance from x to the next number away from 0, with the sign of x.

    Elementwise, in the dtype of x; integers become floats. Raises DTypeError for complex numbers.

    >>> import symc.tensor as T
    >>> T.spacing([1.0, -1024.0]).eval()
    array([ 2.22044605e-16, -2.27373675e-13])
    """
    x = as_float(x)
    size = absolute(x)
    limits = finfo(x.dtype)
    step = OPERATORS["nextafter"](size, np.inf) - size
    greatest = float(limits.max) - float(np.nextafter(limits.max, limits.dtype.type(0)))
    step = where(isinf(size), np.nan, where(eq(size, float(limits.max)), greatest, step))
    return copysign(step, x)


def isposinf(x: TensorLike) -> Tensor:
    """Whether x is plus infinity. Elementwise; gives bool.

    Raises DTypeError for complex numbers.

    >>> import symc.tensor as T
    >>> T.isposinf([float("inf"), float("-inf"), 0.0]).eval()
    array([ True, False, False])
    """
    return _is_infinite("isposinf", x, np.inf)


def isneginf(x: TensorLike) -> Tensor:
    """Whether x is minus infinity. Elementwise; gives bool.

    Raises DTypeError for complex numbers.

    >>> import symc.tensor as T
    >>> T.isneginf([float("inf"), float("-inf"), 0.0]).eval()
    array([False,  True, False])
    """
    return _is_infinite("isneginf", x, -np.inf)


def _is_infinite(label: str, x: TensorLike, infinity: float) -> Tensor:
    x = as_tensor(x)
    refuse_complex(label, x.dtype)
    return eq(x, infinity) if x.dtype.is_float else full_like(x, False, "bool")


def isreal(x: TensorLike) -> Tensor:
    """Whether the imaginary part is 0; gives bool. Elementwise: of real numbers all are.

    >>> import symc.tensor as T
    >>> T.isreal([1 + 0j, 1j]).eval()
    array([ True, False])
    """
    x = as_tensor(x)
    return eq(imag(x), 0) if x.dtype.is_complex else full_like(x, True, "bool")


def iscomplex(x: TensorLike) -> Tensor:
    """Whether the imaginary part is not 0; gives bool. Elementwise: of real numbers none is.

    >>> import symc.tensor as T
    >>> T.iscomplex([1 + 0j, 1j]).eval()
    array([False,  True])
    """
    x = as_tensor(x)
    return ne(imag(x), 0) if x.dtype.is_complex else full_like(x, False, "bool")


def iscomplexobj(x: TensorLike) -> bool:
    """Whether the dtype is complex, whatever the values are: a bool that is known at once.

    >>> import symc.tensor as T
    >>> T.iscomplexobj(T.zvector("z")), T.iscomplexobj(1.0)
    (True, False)
    """
    return as_tensor(x).dtype.is_complex


def isrealobj(x: TensorLike) -> bool:
    """Whether the dtype is not complex, whatever the values are: a bool that is known at once.

    >>> import symc.tensor as T
    >>> T.isrealobj(T.zvector("z")), T.isrealobj(1.0)
    (False, True)
    """
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


# --- exponents ------------------------------------------------------------------------------------

logaddexp2 = elementwise(
    "logaddexp2", np.logaddexp2,
    """
    // log2(2^a + 2^b), without overflow; the constant is log2(e).
    static inline real symc_logaddexp2_fNN(real a, real b) {
        real apart = a == b ? 0 : fabsNN(a - b);
        return (a > b ? a : b) + (real)1.4426950408889634 * log1pNN(exp2NN(-apart));
    }
    """,
    """``log2(2**x + 2**y)`` without overflow.

    >>> import symc.tensor as T
    >>> T.logaddexp2(2000.0, 2000.0).eval()
    array(2001.)
    """,
    lambda g, x, y, z: g * OPERATORS["sigmoid"]((x - y) * math.log(2)),
    lambda g, x, y, z: g * OPERATORS["sigmoid"]((y - x) * math.log(2)), cost=30,
)  # fmt: skip
_ldexp: FunctionOfTwo = elementwise(
    "ldexp", lambda x, n: np.ldexp(x, np.clip(n, -9999, 9999).astype(np.int32)), call("ldexp"),
    "``x * 2**n`` for a whole n.", lambda g, x, n, z: _ldexp(g, n), None, cost=20,
)  # fmt: skip
_exponent = elementwise(
    "frexp_exponent", lambda x: np.frexp(x)[1], call("frexp_exponent"),
    "The exponent that `frexp` gives.", None, cost=6,
)  # fmt: skip
_mantissa = elementwise(
    "frexp_mantissa", lambda x: np.frexp(x)[0], call("frexp_mantissa"),
    "The mantissa that `frexp` gives.", lambda g, x, y: _ldexp(g, -_exponent(x)), cost=5,
)  # fmt: skip


def ldexp(x1: TensorLike, x2: TensorLike) -> Tensor:
    """``x1 * 2**x2`` for integers `x2`, rounded once. Elementwise; the dtype is that of `x1`.

    >>> import symc.tensor as T
    >>> T.ldexp([1.0, 3.0], [4, -1]).eval()
    array([16. ,  1.5])
    """
    x, n = as_float(x1), as_tensor(x2)
    if not n.dtype.is_integer:
        raise DTypeError(f"ldexp: the exponents must be integers, not {n.dtype}")
    # Beyond these limits the result is 0 or infinite, as it is at them.
    return _ldexp(x, cast_to(clip(cast_to(n, INT64), -2200, 2200), x.dtype))


def frexp(x: TensorLike) -> tuple[Tensor, Tensor]:
    """The pair of numbers m from 0.5 to below 1 and integers n, int32, for which x is ``m * 2**n``.

    Elementwise. For 0, infinities and NaN they are x itself and 0.

    >>> import symc.tensor as T
    >>> mantissa, exponent = T.frexp([8.0, -3.0])
    >>> mantissa.eval(), exponent.eval()
    (array([ 0.5 , -0.75]), array([4, 2], dtype=int32))
    """
    x = as_float(x)
    return _mantissa(x), cast_to(_exponent(x), INT32)


# --- integers -------------------------------------------------------------------------------------


def _wide(name: str) -> Any:
    """A function of integers that is computed with 64 bits."""

    def expression(*values: ir.Expr) -> ir.Expr:
        own = values[0].dtype
        wide = UINT64 if own.kind == "uint" else INT64
        given = tuple(v if own is wide else ir.Cast(v, wide) for v in values)
        result = ir.Call(name, given, wide)
        return result if own is wide else ir.Cast(result, own)

    return expression


gcd = elementwise(
    "gcd", np.gcd, _wide("gcd"),
    """The greatest common divisor, which is not negative.

    >>> import symc.tensor as T
    >>> T.gcd([12, -18], 8).eval()
    array([4, 2])
    """,
    None, None,
    domain="whole", cost=100,
)  # fmt: skip
lcm = elementwise(
    "lcm", np.lcm, _wide("lcm"),
    """The least common multiple, which is not negative; 0 where an argument is 0.

    >>> import symc.tensor as T
    >>> T.lcm([4, 0], 6).eval()
    array([12,  0])
    """,
    None, None,
    domain="whole", cost=110,
)  # fmt: skip
_bit_count = elementwise(
    "bit_count", lambda x: np.bitwise_count(x), _wide("bit_count"),
    "How many bits of the absolute value are 1.", None, domain="integer", cost=8,
)  # fmt: skip


def bitwise_count(x: TensorLike) -> Tensor:
    """How many bits of the absolute value are 1, as uint8. Elementwise, integers only.

    >>> import symc.tensor as T
    >>> T.bitwise_count([1, 7, -8]).eval()
    array([1, 3, 1], dtype=uint8)
    """
    return cast_to(_bit_count(x), UINT8)


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
    it, 0 is there. Functions get all of x (in NumPy the elements that their condition chooses,
    which they must not depend on), then `args` and `kw`, and must be elementwise. The dtype is that
    of x. The gradient of a function is 0 where it is not chosen.

    >>> import symc.tensor as T
    >>> x = T.vector("x")
    >>> T.piecewise(x, [x < 0, x >= 0], [lambda v: -v, T.sqrt]).eval({x: [-4.0, 4.0]})
    array([4., 2.])
    """
    x = as_tensor(x)
    several = isinstance(condlist, list | tuple) and not all(np.isscalar(c) for c in condlist)
    if isinstance(condlist, Tensor | np.ndarray):
        several = condlist.ndim > x.ndim or (condlist.ndim > 0 and x.ndim == 0)
    given: Any = condlist if several else [condlist]
    conditions = [as_tensor(condition) for condition in given]
    extra = len(funclist) - len(conditions)
    if extra not in (0, 1):
        raise ValueError(
            f"piecewise: {len(funclist)} functions for {len(conditions)} conditions; as many are "
            f"needed, or one more\n  given  {describe(x)}"
        )
    values: list[Any] = [f(x, *args, **kw) if callable(f) else f for f in funclist]
    result = cast_to(values[-1] if extra else 0, x.dtype)
    for condition, value in zip(conditions, values[: len(conditions)], strict=True):
        result = where(condition, cast_to(value, x.dtype), result)
    return result if result.ndim == x.ndim else OPERATORS["add"](full_like(x, 0), result)
