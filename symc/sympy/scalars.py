"""Loop IR's expressions of numbers as SymPy's: the scalar half of `to_sympy`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, assert_never

import sympy

from symc.codegen import ir

EXACT_BITS = 30  # a float that is a whole number of 2**-30 becomes a fraction, others stay floats


def number(value: bool | complex) -> Any:
    """A constant: a fraction where that was surely meant, ``0.5`` and not ``0.1``."""
    if isinstance(value, bool):
        return sympy.true if value else sympy.false
    if isinstance(value, complex):
        return number(value.real) + sympy.I * number(value.imag)
    if value != value:
        return sympy.nan
    if value in (float("inf"), float("-inf")):
        return sympy.oo if value > 0 else -sympy.oo
    scaled = value * 2**EXACT_BITS
    if scaled == int(scaled):
        return sympy.Rational(int(scaled), 2**EXACT_BITS)
    return sympy.Float(value)


def truncated(x: Any) -> Any:
    """Rounded towards zero."""
    return sympy.sign(x) * sympy.floor(sympy.Abs(x))


def _flag(condition: Any) -> Any:
    return sympy.Piecewise((1, condition), (0, True))


def _not_a_number(x: Any) -> Any:
    raise NotImplementedError(f"SymPy's expressions are never NaN or infinite: asked of {x}")


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y, "floordiv": lambda x, y: sympy.floor(x / y), "mod": sympy.Mod,
    "min": sympy.Min, "max": sympy.Max,
    "eq": sympy.Eq, "ne": sympy.Ne, "lt": sympy.Lt, "le": sympy.Le, "gt": sympy.Gt, "ge": sympy.Ge,
    "and": sympy.And, "or": sympy.Or, "xor": sympy.Xor,
    "shl": lambda x, y: x * 2**y, "shr": lambda x, y: sympy.floor(x / 2**y),
}  # fmt: skip

CALLS: dict[str, Callable[..., Any]] = {
    "abs": sympy.Abs, "sign": sympy.sign, "floor": sympy.floor, "ceil": sympy.ceiling,
    "trunc": truncated, "fmod": lambda x, y: x - y * truncated(x / y),
    "fmax": sympy.Max, "fmin": sympy.Min, "pow": sympy.Pow, "sqrt": sympy.sqrt, "cbrt": sympy.cbrt,
    "copysign": lambda x, y: sympy.Abs(x) * sympy.Piecewise((-1, y < 0), (1, True)),
    "hypot": lambda x, y: sympy.sqrt(x**2 + y**2),
    "exp": sympy.exp, "exp2": lambda x: 2**x, "expm1": lambda x: sympy.exp(x) - 1,
    "exp_nonpositive": sympy.exp, "share": lambda part, total, _: part / total,
    "log": sympy.log, "log1p": lambda x: sympy.log(1 + x), "log2": lambda x: sympy.log(x, 2),
    "log10": lambda x: sympy.log(x, 10),
    "logaddexp": lambda x, y: sympy.log(sympy.exp(x) + sympy.exp(y)),
    "logaddexp2": lambda x, y: sympy.log(2**x + 2**y, 2),
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan,
    "arcsin": sympy.asin, "arccos": sympy.acos, "arctan": sympy.atan, "arctan2": sympy.atan2,
    "sinh": sympy.sinh, "cosh": sympy.cosh, "tanh": sympy.tanh,
    "arcsinh": sympy.asinh, "arccosh": sympy.acosh, "arctanh": sympy.atanh,
    "erf": sympy.erf, "erfc": sympy.erfc, "erfinv": sympy.erfinv,
    "erfcx": lambda x: sympy.exp(x**2) * sympy.erfc(x),
    "gamma": sympy.gamma, "gammaln": sympy.loggamma, "digamma": sympy.digamma,
    "trigamma": sympy.trigamma, "tetragamma": lambda x: sympy.polygamma(2, x),
    "beta": sympy.beta, "betaln": lambda x, y: sympy.log(sympy.beta(x, y)),
    "gammainc": lambda a, x: sympy.lowergamma(a, x) / sympy.gamma(a),
    "gammaincc": lambda a, x: sympy.uppergamma(a, x) / sympy.gamma(a),
    "j0": lambda x: sympy.besselj(0, x), "j1": lambda x: sympy.besselj(1, x),
    "i0": lambda x: sympy.besseli(0, x), "i1": lambda x: sympy.besseli(1, x),
    "jv": sympy.besselj, "yv": sympy.bessely, "iv": sympy.besseli, "kv": sympy.besselk,
    "ive": lambda v, x: sympy.besseli(v, x) * sympy.exp(-sympy.Abs(x)),
    "kve": lambda v, x: sympy.besselk(v, x) * sympy.exp(x),
    "expi": sympy.Ei, "exp1": sympy.E1, "hurwitz": sympy.zeta, "lambertw_branch": sympy.LambertW,
    "erfcinv": sympy.erfcinv, "poch": sympy.RisingFactorial, "binom": sympy.binomial,
    "betainc": lambda a, b, x: sympy.betainc_regularized(a, b, 0, x),
    "hyp2f1": lambda a, b, c, x: sympy.hyper((a, b), (c,), x), "angle": sympy.arg,
    "sigmoid": lambda x: 1 / (1 + sympy.exp(-x)), "softplus": lambda x: sympy.log(1 + sympy.exp(x)),
    "log_sigmoid": lambda x: -sympy.log(1 + sympy.exp(-x)),
    "complex": lambda x, y: x + sympy.I * y, "conj": sympy.conjugate,
    "real": sympy.re, "imag": sympy.im,
    "isnan": _not_a_number, "isinf": _not_a_number, "isfinite": _not_a_number,
}  # fmt: skip
"""Functions of `codegen/math.py`; SymPy has nothing for those that are missing here."""


def scalar(expr: ir.Expr, names: Mapping[str, Any]) -> Any:
    """An expression of numbers in SymPy; `names` has the values of its variables.

    Raises `NotImplementedError` for functions unknown to SymPy, such as operations on bits.
    """
    match expr:
        case ir.Const(value):
            return number(value)
        case ir.Var(name):
            return names[name]
        case ir.Unary("neg", x):
            return -scalar(x, names)
        case ir.Unary(_, x) if x.dtype.name == "bool":
            return sympy.Not(scalar(x, names))
        case ir.Binary(op, left, right):
            return _binary(op, left, right, names)
        case ir.Call(function, args) if function in CALLS:
            return CALLS[function](*(scalar(arg, names) for arg in args))
        case ir.Cast(x, dtype):
            return _cast(scalar(x, names), x, dtype.kind)
        case ir.Select(condition, then, otherwise):
            cases = [(scalar(then, names), scalar(condition, names))]
            return sympy.Piecewise(*cases, (scalar(otherwise, names), True))
        case ir.Unary(op) | ir.Call(op):
            raise NotImplementedError(f"SymPy has no word for {op}")
        case ir.Load() | ir.Length():
            raise AssertionError("elements and lengths are given as variables")
        case _:
            assert_never(expr)


def _binary(op: str, left: ir.Expr, right: ir.Expr, names: Mapping[str, Any]) -> Any:
    if left.dtype.name == "bool":
        op = {"band": "and", "bor": "or", "bxor": "xor", "eq": "eqv", "ne": "xor"}.get(op, op)
    x, y = scalar(left, names), scalar(right, names)
    if op == "eqv":
        return sympy.Equivalent(x, y)
    if op not in BINARY:
        raise NotImplementedError(f"SymPy has no word for {op}")
    return BINARY[op](x, y)


def _cast(value: Any, source: ir.Expr, kind: str) -> Any:
    """Conversions: numbers from conditions, whole numbers from others. Widths are not kept."""
    if source.dtype.kind == "bool":
        return value if kind == "bool" else _flag(value)
    if kind == "bool":
        return sympy.Ne(value, 0)
    return truncated(value) if source.dtype.is_float and kind in ("int", "uint") else value
