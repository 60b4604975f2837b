"""`theano.scalar.basic`: the ops of the table as classes and objects, and casts."""

from __future__ import annotations

from typing import Any

import symc.tensor as _T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Variable
from symc.theano.scalar.composite import Composite as Composite
from symc.theano.scalar.dtypes import ALL_DTYPES as ALL_DTYPES
from symc.theano.scalar.dtypes import ComplexError as ComplexError
from symc.theano.scalar.dtypes import IntegerDivisionError as IntegerDivisionError
from symc.theano.scalar.dtypes import NumericAutocaster as NumericAutocaster
from symc.theano.scalar.dtypes import autocast_float as autocast_float
from symc.theano.scalar.dtypes import autocast_float_as as autocast_float_as
from symc.theano.scalar.dtypes import autocast_int as autocast_int
from symc.theano.scalar.dtypes import complex_dtypes as complex_dtypes
from symc.theano.scalar.dtypes import continuous_dtypes as continuous_dtypes
from symc.theano.scalar.dtypes import convert as convert
from symc.theano.scalar.dtypes import discrete_dtypes as discrete_dtypes
from symc.theano.scalar.dtypes import float_dtypes as float_dtypes
from symc.theano.scalar.dtypes import int_dtypes as int_dtypes
from symc.theano.scalar.dtypes import integer_dtypes as integer_dtypes
from symc.theano.scalar.dtypes import uint_dtypes as uint_dtypes
from symc.theano.scalar.dtypes import upcast as upcast
from symc.theano.scalar.meanings import BINARY, OTHERS, UNARY, Row, converted
from symc.theano.scalar.ops import BinaryBitOp as BinaryBitOp
from symc.theano.scalar.ops import BinaryScalarOp as BinaryScalarOp
from symc.theano.scalar.ops import FixedLogicalComparison as FixedLogicalComparison
from symc.theano.scalar.ops import LogicalComparison as LogicalComparison
from symc.theano.scalar.ops import ScalarOp as ScalarOp
from symc.theano.scalar.ops import UnaryBitOp as UnaryBitOp
from symc.theano.scalar.ops import UnaryScalarOp as UnaryScalarOp
from symc.theano.scalar.preferences import *
from symc.theano.scalar.special import InRange as InRange
from symc.theano.scalar.special import Iv as Iv
from symc.theano.scalar.special import Jv as Jv
from symc.theano.scalar.special import inclosedrange as inclosedrange
from symc.theano.scalar.special import inopenrange as inopenrange
from symc.theano.scalar.special import iv as iv
from symc.theano.scalar.special import jv as jv
from symc.theano.scalar.types import TYPES
from symc.theano.scalar.types import Scalar as Scalar
from symc.theano.scalar.types import ScalarConstant as ScalarConstant
from symc.theano.scalar.types import ScalarVariable as ScalarVariable
from symc.theano.scalar.types import as_scalar as as_scalar
from symc.theano.scalar.types import constant as constant
from symc.theano.scalar.types import get_scalar_type as get_scalar_type

# Names of classes that do not follow from those of the objects.
_CLASSES = {
    "abs_": "Abs", "and_": "AND", "or_": "OR", "xor": "XOR", "neq": "NEQ", "lt": "LT", "le": "LE",
    "gt": "GT", "ge": "GE", "eq": "EQ", "isnan": "IsNan", "isinf": "IsInf",
    "arccos": "ArcCos", "arccosh": "ArcCosh", "arcsin": "ArcSin", "arcsinh": "ArcSinh",
    "arctan": "ArcTan", "arctanh": "ArcTanh", "arctan2": "ArcTan2", "erfinv": "Erfinv",
    "sigmoid": "ScalarSigmoid", "softplus": "ScalarSoftplus", "tri_gamma": "TriGamma",
    "gammaln": "GammaLn", "gammainc": "GammaInc", "gammaincc": "GammaIncC", "gammal": "GammaL",
    "gammau": "GammaU", "chi2sf": "Chi2SF",
    "scalar_maximum": "Maximum", "scalar_minimum": "Minimum",
    "round_half_to_even": "RoundHalfToEven",
    "round_half_away_from_zero": "RoundHalfAwayFromZero", "deg2rad": "Deg2Rad",
    "rad2deg": "Rad2Deg",
}  # fmt: skip

_BASES: dict[str, type[ScalarOp]] = {
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "neq"), LogicalComparison),
    **dict.fromkeys(("isnan", "isinf"), FixedLogicalComparison),
    **dict.fromkeys(("and_", "or_", "xor"), BinaryBitOp),
    "invert": UnaryBitOp,
}

SCALAR_OPS: dict[str, ScalarOp] = {}


def _class_name(name: str) -> str:
    return _CLASSES.get(name) or "".join(part.capitalize() for part in name.split("_"))


def _entered(name: str, nin: int, row: Row) -> None:
    rule, means, operands = row
    base = _BASES.get(name) or {1: UnaryScalarOp, 2: BinaryScalarOp}.get(nin, ScalarOp)
    made: Any = type(_class_name(name), (base,), {
        "__module__": __name__, "__doc__": f"The scalar op `{name}`.", "nin": nin,
        "rule": staticmethod(rule), "means": staticmethod(means), "operands": operands,
    })  # fmt: skip
    SCALAR_OPS[name] = globals()[name] = made(name=name)
    globals()[made.__name__] = made


for _name, _row in UNARY.items():
    _entered(_name, 1, _row)
for _name, _row in BINARY.items():
    _entered(_name, 2, _row)
for _name, (_nin, _row) in OTHERS.items():
    _entered(_name, _nin, _row)

SCALAR_OPS["jv"], SCALAR_OPS["iv"] = jv, iv

scalar_maximum, scalar_minimum = SCALAR_OPS["maximum"], SCALAR_OPS["minimum"]
bitwise_and, bitwise_or = SCALAR_OPS["and_"], SCALAR_OPS["or_"]
bitwise_xor, bitwise_not = SCALAR_OPS["xor"], SCALAR_OPS["invert"]
tensor_copy = SCALAR_OPS["identity"]
true_div, int_div, floor_div = (SCALAR_OPS[n] for n in ("true_div", "int_div", "int_div"))
globals().update(TYPES)
for _name, _dtypes in (
    ("int", int_dtypes), ("uint", uint_dtypes), ("integer", integer_dtypes),
    ("float", float_dtypes), ("complex", complex_dtypes), ("discrete", discrete_dtypes),
    ("continuous", continuous_dtypes), ("all", ALL_DTYPES),
):  # fmt: skip
    globals()[f"{_name}_types"] = tuple(TYPES[each] for each in _dtypes)


class Cast(UnaryScalarOp):
    """The conversion to the dtype of a type."""

    __props__ = ("dtype",)
    operands = "own"

    def __init__(self, o_type: Any, name: str | None = None) -> None:
        self.o_type = o_type if isinstance(o_type, Scalar) else get_scalar_type(o_type)
        self.dtype = self.o_type.dtype
        super().__init__(name=name or f"Cast{{{self.dtype}}}")

    def output_types(self, types: Any) -> Any:
        del types
        return [self.o_type]

    def computed(self, dtypes: Any, operands: Any) -> list[Tensor]:
        del dtypes
        (x,) = operands
        return [_T.ne(x, 0) if self.dtype == "bool" else converted(x, self.dtype)]

    @property
    def is_own(self) -> bool:
        return False

    def meaning(self, node: Any, *inputs: Tensor) -> Any:
        return self.computed((), inputs)

    def __str__(self) -> str:
        return f"Cast{{{self.dtype}}}"


_casts = {dtype: Cast(dtype) for dtype in ALL_DTYPES}
for _dtype, _cast in _casts.items():
    globals()[f"convert_to_{_dtype}"] = _cast


def cast_op(dtype: str) -> Cast:
    """The conversion to a dtype."""
    return _casts[dtype]


def cast(x: Any, dtype: str) -> Any:
    """A number with another dtype."""
    from symc.theano.configparser import config

    wanted = config.floatX if dtype == "floatX" else dtype
    variable = as_scalar(x)
    return variable if variable.type.dtype == wanted else _casts[wanted](variable)


def div_proxy(x: Any, y: Any) -> Any:
    """Division as `config.int_division` says for integers."""
    x, y = as_scalar(x), as_scalar(y)
    if x.type.dtype in discrete_dtypes and y.type.dtype in discrete_dtypes:
        return int_div(x, y)
    return true_div(x, y)


def mod_check(x: Any, y: Any) -> Any:
    """The remainder; complex numbers have none."""
    if as_scalar(x).type.dtype in complex_dtypes or as_scalar(y).type.dtype in complex_dtypes:
        raise ComplexError("Theano does not support the mod operator (%) on complex numbers")
    return SCALAR_OPS["mod"](x, y)


def float_scalar(name: str | None = None) -> Variable:
    """A number of floatX."""
    made: Variable = Scalar("floatX")(name)
    return made


def _several(kind: Scalar) -> Any:
    def made(*names: Any) -> Any:
        if len(names) == 1 and isinstance(names[0], int):
            return [kind() for _ in range(names[0])]
        return [kind(name) for name in names]

    return made


for _dtype, _kind in TYPES.items():
    globals()[f"{_dtype}s"] = _several(_kind)
ints, floats = _several(TYPES["int64"]), _several(TYPES["float64"])
complexs, complexs64 = _several(TYPES["complex128"]), _several(TYPES["complex64"])
complexs128 = complexs


def is_discrete(dtype: str) -> bool:
    """Whether a dtype is of integers or bools."""
    return dtype in discrete_dtypes


def round_half_away_from_zero_(a: float) -> float:
    """A number rounded, halves away from zero."""
    import math

    return math.floor(a + 0.5) if a > 0 else math.ceil(a - 0.5)


def round_half_away_from_zero_vec(a: Any) -> Any:
    """An array rounded, halves away from zero."""
    import numpy as np

    return np.where(a > 0, np.floor(a + 0.5), np.ceil(np.asarray(a) - 0.5)).astype(
        np.asarray(a).dtype
    )


def upcast_types(*types: Scalar) -> Scalar:
    """The type of what several become together."""
    return get_scalar_type(upcast(*(each.dtype for each in types)))
