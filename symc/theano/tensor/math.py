"""Elementwise functions: `theano.tensor.exp` and so on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from symc.theano.configparser import config
from symc.theano.scalar.basic import cast_op
from symc.theano.scalar.dtypes import ALL_DTYPES, complex_dtypes, discrete_dtypes
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.elemwise import Elemwise, elemwise

__all__ = [
    "abs_",
    "add",
    "allclose",
    "and_",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "cast",
    "ceil",
    "ceil_intdiv",
    "chi2sf",
    "clip",
    "complex",
    "complex_from_polar",
    "conj",
    "cos",
    "cosh",
    "deg2rad",
    "div_proxy",
    "divmod",
    "eq",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "fill",
    "floor",
    "floor_div",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammal",
    "gammaln",
    "gammau",
    "ge",
    "gt",
    "i0",
    "i1",
    "identity",
    "imag",
    "int_div",
    "inv",
    "invert",
    "iround",
    "isclose",
    "isinf",
    "isinf_",
    "isnan",
    "isnan_",
    "iv",
    "j0",
    "j1",
    "jv",
    "largest",
    "le",
    "log",
    "log1p",
    "log2",
    "log10",
    "lt",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "neg",
    "neq",
    "or_",
    "pow",
    "power",
    "psi",
    "rad2deg",
    "real",
    "round",
    "round_half_away_from_zero",
    "round_half_to_even",
    "second",
    "sgn",
    "sigmoid",
    "sin",
    "sinh",
    "smallest",
    "softplus",
    "sqr",
    "sqrt",
    "square",
    "sub",
    "switch",
    "tan",
    "tanh",
    "tensor_copy",
    "tri_gamma",
    "true_div",
    "trunc",
    "where",
    "xor",
]  # fmt: skip

exp, exp2, expm1 = elemwise("exp"), elemwise("exp2"), elemwise("expm1")
log, log2, log10, log1p = elemwise("log"), elemwise("log2"), elemwise("log10"), elemwise("log1p")
complex_from_polar = elemwise("complex_from_polar")
sqrt, sqr, inv = elemwise("sqrt"), elemwise("sqr"), elemwise("inv")
square = sqr
neg, abs_, sgn = elemwise("neg"), elemwise("abs_"), elemwise("sgn")
ceil, floor, trunc = elemwise("ceil"), elemwise("floor"), elemwise("trunc")
round_half_to_even = elemwise("round_half_to_even")
round_half_away_from_zero = elemwise("round_half_away_from_zero")
sin, cos, tan = elemwise("sin"), elemwise("cos"), elemwise("tan")
arcsin, arccos, arctan = elemwise("arcsin"), elemwise("arccos"), elemwise("arctan")
sinh, cosh, tanh = elemwise("sinh"), elemwise("cosh"), elemwise("tanh")
arcsinh, arccosh, arctanh = elemwise("arcsinh"), elemwise("arccosh"), elemwise("arctanh")
arctan2, deg2rad, rad2deg = elemwise("arctan2"), elemwise("deg2rad"), elemwise("rad2deg")
erf, erfc, erfcx, erfinv = elemwise("erf"), elemwise("erfc"), elemwise("erfcx"), elemwise("erfinv")
erfcinv = elemwise("erfcinv")
gamma, gammaln, psi = elemwise("gamma"), elemwise("gammaln"), elemwise("psi")
tri_gamma, gammainc, gammaincc = elemwise("tri_gamma"), elemwise("gammainc"), elemwise("gammaincc")
chi2sf, gammau, gammal = elemwise("chi2sf"), elemwise("gammau"), elemwise("gammal")
jv, iv = elemwise("jv"), elemwise("iv")
j0, j1, i0, i1 = elemwise("j0"), elemwise("j1"), elemwise("i0"), elemwise("i1")
real, imag, angle, conj = elemwise("real"), elemwise("imag"), elemwise("angle"), elemwise("conj")
complex = elemwise("complex")
tensor_copy = elemwise("identity")
identity = tensor_copy
sigmoid, softplus = elemwise("sigmoid"), elemwise("softplus")

add, sub, mul, true_div = elemwise("add"), elemwise("sub"), elemwise("mul"), elemwise("true_div")
int_div, mod, pow = elemwise("int_div"), elemwise("mod"), elemwise("pow")
floor_div = int_div
maximum, minimum, clip = elemwise("maximum"), elemwise("minimum"), elemwise("clip")
lt, le, gt, ge = elemwise("lt"), elemwise("le"), elemwise("gt"), elemwise("ge")
eq, neq, switch = elemwise("eq"), elemwise("neq"), elemwise("switch")
and_, or_, xor, invert = elemwise("and_"), elemwise("or_"), elemwise("xor"), elemwise("invert")
bitwise_and, bitwise_or, bitwise_xor, bitwise_not = and_, or_, xor, invert
where, second = switch, elemwise("second")
fill = second
isnan_, isinf_ = elemwise("isnan"), elemwise("isinf")


def power(x: Any, y: Any) -> Any:
    """``x ** y``."""
    return as_tensor_variable(x) ** y


def ceil_intdiv(a: Any, b: Any) -> Any:
    """The quotient of integers, rounded up."""
    quotient = int_div(a, b)
    return cast(neq(mod(a, b), 0), quotient.dtype) + quotient


_casts: dict[str, Elemwise] = {}


def cast(x: Any, dtype: Any) -> Any:
    """A tensor with another dtype, itself if it has that already."""
    wanted = config.floatX if isinstance(dtype, str) and dtype == "floatX" else dtype
    name = np.dtype(wanted).name if not isinstance(wanted, str) else wanted
    variable = as_tensor_variable(x)
    if variable.type.dtype == name:
        return variable
    if variable.type.dtype in complex_dtypes and name not in complex_dtypes:
        raise TypeError(
            "Casting from complex to real is ambiguous: consider real(), imag(), angle() or abs()"
        )
    if name not in ALL_DTYPES:
        raise TypeError(f"Cannot cast to {name!r}: there is no such dtype")
    if name not in _casts:
        _casts[name] = Elemwise(cast_op(name), name=f"Elemwise{{Cast{{{name}}}}}")
    return _casts[name](variable)


def isnan(a: Any) -> Any:
    """Whether elements are NaN."""
    x = as_tensor_variable(a)
    return _no_elements_are(x) if x.dtype in discrete_dtypes else isnan_(x)


def isinf(a: Any) -> Any:
    """Whether elements are infinite."""
    x = as_tensor_variable(a)
    return _no_elements_are(x) if x.dtype in discrete_dtypes else isinf_(x)


def _no_elements_are(x: Any) -> Any:
    return neq(x, x)


def round(a: Any, mode: str | None = None) -> Any:
    """Elements rounded to integers: `mode` is "half_to_even" or "half_away_from_zero"."""
    if mode is None:
        mode = "half_to_even"
        if config.warn.round:
            warnings.warn(
                "theano.tensor.round() changed its default from `half_away_from_zero` to "
                "`half_to_even` to have the same default as NumPy.", stacklevel=2,
            )  # fmt: skip
    if mode == "half_away_from_zero":
        return round_half_away_from_zero(a)
    if mode == "half_to_even":
        return round_half_to_even(a)
    raise Exception(f"round mode {mode} is not implemented.")


def iround(a: Any, mode: str | None = None) -> Any:
    """As `round`, as int64."""
    return cast(round(a, mode), "int64")


def div_proxy(x: Any, y: Any) -> Any:
    """Division as `config.int_division` says for integers."""
    from symc.theano.scalar.dtypes import IntegerDivisionError

    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if x.dtype in discrete_dtypes and y.dtype in discrete_dtypes:
        if config.int_division == "raise":
            raise IntegerDivisionError(
                "With `config.int_division` set to 'raise', dividing two integer types with '/' "
                "is forbidden to avoid confusion between integer and floating point divisions."
            )
        return int_div(x, y)
    return true_div(x, y)


def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Quotient and remainder."""
    return int_div(x, y), mod(x, y)


def mod_check(x: Any, y: Any) -> Any:
    """The remainder."""
    return mod(x, y)


def smallest(*args: Any) -> Any:
    """The smallest of several tensors, element by element."""
    return _extreme(minimum, args)


def largest(*args: Any) -> Any:
    """The largest of several tensors, element by element."""
    return _extreme(maximum, args)


def _extreme(choose: Any, args: Any) -> Any:
    result = args[0]
    for each in args[1:]:
        result = choose(result, each)
    return result


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether elements are nearly the same, as `numpy.isclose`."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    near = le(abs_(a - b), atol + rtol * abs_(b))
    finite = and_(invert(isinf(a)), invert(isinf(b)))
    result = or_(and_(near, finite), eq(a, b))
    return or_(result, and_(isnan(a), isnan(b))) if equal_nan else result


def allclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether all elements are nearly the same."""
    from symc.theano.tensor.reductions import all

    return all(isclose(a, b, rtol, atol, equal_nan))
