"""Scalar ops: for each the dtype of its result, and its meaning in symc's expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

import symc.tensor as T
from symc.codegen.record import record
from symc.graph.inputs import constant, constant_value
from symc.graph.node import Tensor
from symc.theano.configparser import config
from symc.theano.scalar.dtypes import (
    ComplexError,
    complex_dtypes,
    continuous_dtypes,
    discrete_dtypes,
    upcast,
)

Rule: TypeAlias = Callable[..., str]


# --- the dtypes of results ------------------------------------------------------------------------


def upcast_out(*dtypes: str) -> str:
    """All operands' dtypes together."""
    return upcast(*dtypes)


def upcast_out_nobool(*dtypes: str) -> str:
    """As `upcast_out`, where bools alone have no meaning."""
    result = upcast(*dtypes)
    if result == "bool":
        raise TypeError("bool output not supported")
    return result


def upcast_out_min8(*dtypes: str) -> str:
    """As `upcast_out`, but int8 for bools."""
    result = upcast(*dtypes)
    return "int8" if result == "bool" else result


def upgrade_to_float(*dtypes: str) -> str:
    """The float dtype for operands, some of which may be integers."""
    small = {"bool": "float32", "int8": "float32", "int16": "float32", "uint8": "float32"}
    small["uint16"] = "float32"
    raised = [d if d in continuous_dtypes else small.get(d, "float64") for d in dtypes]
    return upcast(*raised)


def upgrade_to_float_no_complex(*dtypes: str) -> str:
    """As `upgrade_to_float`, for functions without a meaning for complex numbers."""
    if any(dtype in complex_dtypes for dtype in dtypes):
        raise TypeError("complex argument not supported")
    return upgrade_to_float(*dtypes)


def same_out(dtype: str, *_: str) -> str:
    """That of the first operand."""
    return dtype


def same_out_nobool(dtype: str, *_: str) -> str:
    """That of the operand, which is not bool."""
    if dtype == "bool":
        raise TypeError("bool input not supported")
    return dtype


def same_out_nocomplex(dtype: str, *_: str) -> str:
    """That of the operand, which is not complex."""
    if dtype in complex_dtypes:
        raise TypeError("complex argument not supported")
    return dtype


def bool_out(*_: str) -> str:
    """Bool."""
    return "bool"


def bool_out_nocomplex(*dtypes: str) -> str:
    """Bool, for functions without a meaning for complex numbers."""
    if any(dtype in complex_dtypes for dtype in dtypes):
        raise TypeError("complex argument not supported")
    return "bool"


def bits_out(*dtypes: str) -> str:
    """Integers or bools, of such."""
    if any(dtype not in discrete_dtypes for dtype in dtypes):
        raise TypeError("input to a BitOp must have type (u)int or bool", dtypes)
    return upcast(*dtypes)


def true_div_out(*dtypes: str) -> str:
    """As `upcast_out`, but floatX for integers."""
    if all(dtype in discrete_dtypes for dtype in dtypes):
        return str(config.floatX)
    return upcast(*dtypes)


def floor_out(*dtypes: str) -> str:
    """As `upcast_out_min8`, for functions without a meaning for complex numbers."""
    if any(dtype in complex_dtypes for dtype in dtypes):
        raise ComplexError(
            "Theano does not support the floor division or modulo of complex numbers"
        )
    return upcast_out_min8(*dtypes)


def switch_out(_: str, then: str, otherwise: str) -> str:
    """The dtypes of both values together."""
    return upcast(then, otherwise)


def real_of(dtype: str) -> str:
    """The dtype of the parts of a complex number."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def complex_out(*dtypes: str) -> str:
    """The dtype of complex numbers with such parts."""
    return "complex64" if upcast(*dtypes) == "float32" else "complex128"


# --- scalar ops -----------------------------------------------------------------------------------


@record(eq=False)
class ScalarOp:
    """An operation on numbers: its name, number of operands, rule of dtypes and meaning.

    `operands` says to which dtype they are converted first: "out" to the dtype of the result,
    "upcast" to their common one, "own" to nothing.
    """

    name: str
    nin: int
    rule: Rule
    means: Callable[..., Tensor]
    operands: str = "out"
    nout: int = 1

    def output_dtype(self, dtypes: Sequence[str]) -> str:
        """The dtype of the result."""
        return self.rule(*dtypes)

    def compute(self, dtypes: Sequence[str], operands: Sequence[Tensor]) -> Tensor:
        """The result, as a symc expression."""
        if self.operands == "own":
            return self.means(*operands)
        wanted = self.rule(*dtypes) if self.operands == "out" else upcast(*dtypes)
        return self.means(*(converted(each, wanted) for each in operands))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return named, (self.name,)


def converted(x: Tensor, dtype: str) -> Tensor:
    """A tensor with another dtype; a constant becomes a constant, so that lengths stay known."""
    value = constant_value(x)
    if value is None or value.size != 1 or x.dtype.name == dtype:
        return T.cast(x, dtype)
    return constant(value.astype(dtype))


SCALAR_OPS: dict[str, ScalarOp] = {}


def scalar_op(
    name: str, nin: int, rule: Rule, means: Callable[..., Tensor], operands: str = "out"
) -> ScalarOp:
    """A scalar op, entered into the table."""
    made = SCALAR_OPS[name] = ScalarOp(name, nin, rule, means, operands)
    return made


def _maximum(x: Tensor, y: Tensor) -> Tensor:
    # Theano's gradient goes to the first of two equal operands.
    return T.where(T.ge(x, y) | T.ne(x, x), x, y)


def _minimum(x: Tensor, y: Tensor) -> Tensor:
    return T.where(T.le(x, y) | T.ne(x, x), x, y)


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


def _no_bool_sub(*dtypes: str) -> str:
    if "bool" in dtypes and all(dtype == "bool" for dtype in dtypes):
        raise TypeError(
            "numpy boolean subtract, the `-` operator, is deprecated, use the bitwise_xor, the "
            "`^` operator, or the logical_xor function instead."
        )
    return upcast(*dtypes)


def _second(_: Tensor, value: Tensor) -> Tensor:
    return value


_BINARY: dict[str, tuple[Rule, Callable[..., Tensor], str]] = {
    "sub": (_no_bool_sub, lambda x, y: x - y, "out"),
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
    "second": (lambda x, y: y, _second, "own"),
    "complex": (complex_out, T.complex, "own"),
}

_FLOAT = {
    "exp": T.exp, "exp2": T.exp2, "expm1": T.expm1, "log": T.log, "log2": T.log2,
    "log10": T.log10, "log1p": T.log1p, "sqrt": T.sqrt, "inv": T.reciprocal, "sin": T.sin,
    "cos": T.cos, "tan": T.tan, "sinh": T.sinh, "cosh": T.cosh, "tanh": T.tanh,
    "arcsin": T.arcsin, "arccos": T.arccos, "arctan": T.arctan, "arcsinh": T.arcsinh,
    "arccosh": T.arccosh, "arctanh": T.arctanh,
}  # fmt: skip

_REAL = {
    "erf": T.erf, "erfc": T.erfc, "erfcx": T.erfcx, "erfinv": T.erfinv, "gamma": T.gamma,
    "gammaln": T.gammaln, "psi": T.digamma, "tri_gamma": T.trigamma, "j0": T.j0, "j1": T.j1,
    "i0": T.i0, "i1": T.i1, "sigmoid": T.sigmoid, "softplus": T.softplus,
    "deg2rad": T.deg2rad, "rad2deg": T.rad2deg,
    "erfcinv": lambda x: T.erfinv(1 - x),
    "ceil": T.ceil, "floor": T.floor, "trunc": T.trunc,
}  # fmt: skip

_UNARY: dict[str, tuple[Rule, Callable[..., Tensor], str]] = {
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

for _name, (_rule, _means, _operands) in _UNARY.items():
    scalar_op(_name, 1, _rule, _means, _operands)
for _name, (_rule, _means, _operands) in _BINARY.items():
    scalar_op(_name, 2, _rule, _means, _operands)

scalar_op("add", -1, upcast_out, lambda x, *rest: _chain(_add, x, rest))
scalar_op("mul", -1, upcast_out, lambda x, *rest: _chain(_mul, x, rest))
scalar_op("switch", 3, switch_out, _switch, "own")
scalar_op("clip", 3, upcast_out, _clip)


def _chain(join: Callable[..., Tensor], first: Tensor, rest: Sequence[Tensor]) -> Tensor:
    for each in rest:
        first = join(first, each)
    return first


def cast_op(dtype: str) -> ScalarOp:
    """The conversion to a dtype."""

    def convert(x: Tensor) -> Tensor:
        return T.ne(x, 0) if dtype == "bool" else converted(x, dtype)

    return ScalarOp(f"Cast{{{dtype}}}", 1, lambda _: dtype, convert, "own")


def named(name: str) -> ScalarOp:
    """The scalar op of a name."""
    if name.startswith("Cast{"):
        return cast_op(name[5:-1])
    return SCALAR_OPS[name]


def is_discrete(dtype: str) -> bool:
    """Whether a dtype is of integers or bools."""
    return np.dtype(dtype).kind in "biu"
