"""The dtypes of the results of scalar ops, from those of their operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from symc.theano.configparser import config
from symc.theano.scalar.dtypes import (
    ComplexError,
    complex_dtypes,
    continuous_dtypes,
    discrete_dtypes,
    upcast,
)

Rule: TypeAlias = Callable[..., str]


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
    """As `upgrade_to_float`, for what complex numbers have no meaning in."""
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
    """Bool, for what complex numbers have no meaning in."""
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
    """As `upcast_out_min8`, for what complex numbers have no meaning in."""
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


def upcast_out_nocomplex(*dtypes: str) -> str:
    """As `upcast_out`, for what complex numbers have no meaning in."""
    if any(dtype in complex_dtypes for dtype in dtypes):
        raise TypeError("complex argument not supported")
    return upcast(*dtypes)


def no_bool_sub(*dtypes: str) -> str:
    """As `upcast_out`, where two bools cannot be subtracted."""
    if dtypes and all(dtype == "bool" for dtype in dtypes):
        raise TypeError(
            "numpy boolean subtract, the `-` operator, is deprecated, use the bitwise_xor, the "
            "`^` operator, or the logical_xor function instead."
        )
    return upcast(*dtypes)
