"""What scalar ops mean in symc's expressions, with the dtypes of their results: one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import symc.tensor as T
from symc.graph.inputs import constant, constant_value
from symc.graph.node import Tensor
from symc.theano.scalar.dtypes import complex_dtypes, upcast
from symc.theano.scalar.rules import (
    Rule,
    bits_out,
    bool_out,
    bool_out_nocomplex,
    complex_out,
    floor_out,
    no_bool_sub,
    real_of,
    same_out,
    same_out_nobool,
    same_out_nocomplex,
    switch_out,
    true_div_out,
    upcast_out,
    upcast_out_min8,
    upcast_out_nocomplex,
    upgrade_to_float,
    upgrade_to_float_no_complex,
)


def chi2sf(x: Tensor, k: Tensor) -> Tensor:
    """One minus the distribution function of the chi-square distribution."""
    return T.gammaincc(k / 2, x / 2)


def gammau(k: Tensor, x: Tensor) -> Tensor:
    """The upper incomplete gamma function."""
    return T.gammaincc(k, x) * T.gamma(k)


def gammal(k: Tensor, x: Tensor) -> Tensor:
    """The lower incomplete gamma function."""
    return T.gammainc(k, x) * T.gamma(k)


# The rule of dtypes, the meaning, and what operands are converted to first: "out" for the dtype of
# the result, "upcast" for their common one, "own" for none.
Row: TypeAlias = tuple[Rule, Callable[..., Tensor], str]


def converted(x: Tensor, dtype: str) -> Tensor:
    """A tensor with another dtype; a constant becomes a constant, so that lengths stay known."""
    value = constant_value(x)
    if value is None or value.size != 1 or x.dtype.name == dtype:
        return T.cast(x, dtype)
    return constant(value.astype(dtype))


def _from_polar(r: Tensor, theta: Tensor) -> Tensor:
    return T.complex(r * T.cos(theta), r * T.sin(theta))


def _at_least(x: Tensor, y: Tensor) -> Tensor:
    """Whether ``x >= y``; complex numbers are in the order of their real parts first."""
    if not x.dtype.name.startswith("complex"):
        return T.ge(x, y)
    first = T.eq(T.real(x), T.real(y)) & T.ge(T.imag(x), T.imag(y))
    return T.gt(T.real(x), T.real(y)) | first


def _maximum(x: Tensor, y: Tensor) -> Tensor:
    # Theano's gradient goes to the first of two equal operands.
    return T.where(_at_least(x, y) | T.ne(x, x), x, y)


def _minimum(x: Tensor, y: Tensor) -> Tensor:
    return T.where(_at_least(y, x) | T.ne(x, x), x, y)


def _clip(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    return T.where(T.lt(x, low), low, T.where(T.gt(x, high), high, x))


def _switch(condition: Tensor, then: Tensor, otherwise: Tensor) -> Tensor:
    chosen = condition if condition.dtype.name == "bool" else T.ne(condition, 0)
    dtype = upcast(then.dtype.name, otherwise.dtype.name)
    return T.where(chosen, T.cast(then, dtype), T.cast(otherwise, dtype))


def _add(x: Tensor, y: Tensor) -> Tensor:
    return x | y if x.dtype.name == "bool" else x + y


def _mul(x: Tensor, y: Tensor) -> Tensor:
    return x & y if x.dtype.name == "bool" else x * y


def _round_away(x: Tensor) -> Tensor:
    return T.sign(x) * T.floor(abs(x) + 0.5)


def _imag(x: Tensor) -> Tensor:
    return T.imag(x) if x.dtype.is_complex else T.zeros_like(x)


def _second(_: Tensor, value: Tensor) -> Tensor:
    return value


def _chain(join: Callable[..., Tensor], first: Tensor, rest: Sequence[Tensor]) -> Tensor:
    for each in rest:
        first = join(first, each)
    return first


BINARY: dict[str, Row] = {
    "sub": (no_bool_sub, lambda x, y: x - y, "out"),
    "true_div": (true_div_out, lambda x, y: x / y, "out"),
    "int_div": (floor_out, lambda x, y: x // y, "out"),
    "mod": (floor_out, lambda x, y: x % y, "out"),
    "pow": (upcast_out_min8, lambda x, y: x**y, "out"),
    "maximum": (upcast_out, _maximum, "out"),
    "minimum": (upcast_out, _minimum, "out"),
    "lt": (bool_out_nocomplex, T.lt, "upcast"),
    "le": (bool_out_nocomplex, T.le, "upcast"),
    "gt": (bool_out_nocomplex, T.gt, "upcast"),
    "ge": (bool_out_nocomplex, T.ge, "upcast"),
    "eq": (bool_out, T.eq, "upcast"),
    "neq": (bool_out, T.ne, "upcast"),
    "and_": (bits_out, lambda x, y: x & y, "out"),
    "or_": (bits_out, lambda x, y: x | y, "out"),
    "xor": (bits_out, lambda x, y: x ^ y, "out"),
    "arctan2": (upgrade_to_float_no_complex, T.arctan2, "out"),
    "gammainc": (upgrade_to_float_no_complex, T.gammainc, "out"),
    "gammaincc": (upgrade_to_float_no_complex, T.gammaincc, "out"),
    "chi2sf": (upgrade_to_float_no_complex, chi2sf, "out"),
    "gammau": (upgrade_to_float_no_complex, gammau, "out"),
    "gammal": (upgrade_to_float_no_complex, gammal, "out"),
    "second": (lambda x, y: y, _second, "own"),
    "complex": (complex_out, T.complex, "own"),
    "complex_from_polar": (complex_out, _from_polar, "own"),
}

_FLOAT = {
    "exp": T.exp, "exp2": T.exp2, "expm1": T.expm1, "log": T.log, "log2": T.log2,
    "log10": T.log10, "log1p": T.log1p, "sqrt": T.sqrt, "inv": T.reciprocal, "sin": T.sin,
    "cos": T.cos, "tan": T.tan, "sinh": T.sinh, "cosh": T.cosh, "tanh": T.tanh,
    "arcsin": T.arcsin, "arccos": T.arccos, "arctan": T.arctan, "arcsinh": T.arcsinh,
    "arccosh": T.arccosh, "arctanh": T.arctanh,
}  # fmt: skip

_REAL: dict[str, Callable[..., Tensor]] = {
    "erf": T.erf, "erfc": T.erfc, "erfcx": T.erfcx, "erfinv": T.erfinv, "gamma": T.gamma,
    "gammaln": T.gammaln, "psi": T.digamma, "tri_gamma": T.trigamma, "j0": T.j0, "j1": T.j1,
    "i0": T.i0, "i1": T.i1, "sigmoid": T.sigmoid, "softplus": T.softplus,
    "deg2rad": T.deg2rad, "rad2deg": T.rad2deg,
    "erfcinv": lambda x: T.erfinv(1 - x),
    "ceil": T.ceil, "floor": T.floor, "trunc": T.trunc,
}  # fmt: skip

UNARY: dict[str, Row] = {
    **{name: (upgrade_to_float, means, "out") for name, means in _FLOAT.items()},
    **{name: (upgrade_to_float_no_complex, means, "out") for name, means in _REAL.items()},
    "round_half_to_even": (same_out_nocomplex, T.round, "out"),
    "round_half_away_from_zero": (same_out_nocomplex, _round_away, "out"),
    "sgn": (same_out_nocomplex, T.sign, "out"),
    "neg": (same_out_nobool, lambda x: -x, "out"),
    "sqr": (same_out, lambda x: x if x.dtype.name == "bool" else x * x, "out"),
    "abs_": (real_of, lambda x: x if x.dtype.name == "bool" else abs(x), "own"),
    "invert": (bits_out, lambda x: ~x, "out"),
    "isnan": (bool_out, T.isnan, "own"),
    "isinf": (bool_out, T.isinf, "own"),
    "real": (real_of, T.real, "own"),
    "imag": (real_of, _imag, "own"),
    "angle": (lambda x: real_of(x) if x in complex_dtypes else upgrade_to_float(x), T.angle, "own"),
    "conj": (same_out, T.conj, "out"),
    "identity": (same_out, lambda x: x, "out"),
}


OTHERS: dict[str, tuple[int, Row]] = {
    "add": (-1, (upcast_out, lambda x, *rest: _chain(_add, x, rest), "out")),
    "mul": (-1, (upcast_out, lambda x, *rest: _chain(_mul, x, rest), "out")),
    "switch": (3, (switch_out, _switch, "own")),
    "clip": (3, (upcast_out_nocomplex, _clip, "out")),
}
