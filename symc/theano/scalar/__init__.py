"""`theano.scalar`: dtypes and operations on numbers."""

from symc.theano.scalar import basic
from symc.theano.scalar.basic import SCALAR_OPS, ScalarOp, cast_op
from symc.theano.scalar.dtypes import (
    ComplexError,
    IntegerDivisionError,
    NumericAutocaster,
    autocast_float,
    autocast_float_as,
    autocast_int,
    complex_dtypes,
    continuous_dtypes,
    convert,
    discrete_dtypes,
    float_dtypes,
    int_dtypes,
    integer_dtypes,
    uint_dtypes,
    upcast,
)

__all__ = [
    "SCALAR_OPS", "ComplexError", "IntegerDivisionError", "NumericAutocaster", "ScalarOp",
    "autocast_float", "autocast_float_as", "autocast_int", "basic", "cast_op", "complex_dtypes",
    "continuous_dtypes", "convert", "discrete_dtypes", "float_dtypes", "int_dtypes",
    "integer_dtypes", "uint_dtypes", "upcast",
]  # fmt: skip

globals().update(SCALAR_OPS)
