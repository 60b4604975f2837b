"""Expressions of the loop IR: the part of `ir.py` that has values. Import them from there."""

from __future__ import annotations

from math import copysign
from typing import Literal, TypeAlias

from symc.codegen.dtypes import BOOL, INT64, DType
from symc.codegen.record import record

UnaryOp = Literal["neg", "not", "invert"]
BinaryOp = Literal[
    "add", "sub", "mul", "div", "floordiv", "mod", "min", "max",
    "eq", "ne", "lt", "le", "gt", "ge",
    "and", "or", "xor", "band", "bor", "bxor", "shl", "shr",
]  # fmt: skip
COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor"})


@record(eq=False)
class Const:
    """A number. NaN and infinities are allowed for floats.

    Constants are equal that are the same number of the same dtype: NaN is NaN, 0.0 is not -0.0.
    """

    value: bool | int | float
    dtype: DType = INT64

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const) or self.dtype is not other.dtype:
            return False
        if self.value != other.value:
            return self.value != self.value and other.value != other.value
        return self.value != 0 or copysign(1, self.value) == copysign(1, other.value)

    def __hash__(self) -> int:
        return hash((self.value if self.value == self.value else "nan", self.dtype))


@record
class Var:
    """A loop variable, a size, or a value named by `Let`."""

    name: str
    dtype: DType = INT64

    def __hash__(self) -> int:
        return hash(self.name)


@record
class Length:
    """The length of one axis of an input or shared buffer. Only in `Size.value`."""

    buffer: str
    axis: int

    @property
    def dtype(self) -> DType:
        """Lengths are int64."""
        return INT64


@record
class Load:
    """The element of a buffer at a flat index."""

    buffer: str
    index: Expr
    dtype: DType


@record
class Unary:
    """A unary operation; the result has the dtype of `x`."""

    op: UnaryOp
    x: Expr
    dtype: DType


@record
class Binary:
    """A binary operation on two values of one dtype (shift counts and powers too)."""

    op: BinaryOp
    left: Expr
    right: Expr
    dtype: DType


@record
class Call:
    """A function of `codegen/math.py`, by its symc name: ``exp``, ``gammaln``, ``sigmoid`` ..."""

    function: str
    args: tuple[Expr, ...]
    dtype: DType


@record
class Cast:
    """Conversion to another dtype, as NumPy's ``astype``."""

    x: Expr
    dtype: DType


@record
class Select:
    """``then`` where the condition holds, ``otherwise`` elsewhere. Both are evaluated."""

    condition: Expr
    then: Expr
    otherwise: Expr
    dtype: DType


Expr: TypeAlias = Const | Var | Length | Load | Unary | Binary | Call | Cast | Select


def number(value: bool | complex, dtype: DType) -> Expr:
    """A constant; a complex one is put together from its parts."""
    if not isinstance(value, complex):
        return Const(value, dtype)
    parts = Const(value.real, dtype.component), Const(value.imag, dtype.component)
    return Call("complex", parts, dtype)


def const(value: int) -> Const:
    """An int64 constant."""
    return Const(value, INT64)


def binary(op: BinaryOp, left: Expr, right: Expr) -> Binary:
    """A binary operation with the dtype that follows from its operands."""
    return Binary(op, left, right, BOOL if op in COMPARISONS else left.dtype)


def add(left: Expr, right: Expr) -> Expr:
    """``left + right`` on indexes of one type, folded where either is a constant."""
    match left, right:
        case Const(a), Const(b):
            return Const(int(a) + int(b), left.dtype)
        case Const(0), _:
            return right
        case _, Const(0):
            return left
        case Binary("add", x, Const(a)), Const(b):
            return add(x, Const(int(a) + int(b), left.dtype))
        case _:
            return Binary("add", left, right, left.dtype)


def sub(left: Expr, right: Expr) -> Expr:
    """``left - right`` on indexes, folded where both are constants."""
    match left, right:
        case _, Const(b):
            return add(left, Const(-int(b), left.dtype))
        case _ if left == right:
            return Const(0, left.dtype)
        case _:
            return Binary("sub", left, right, left.dtype)


def mul(left: Expr, right: Expr) -> Expr:
    """``left * right`` on indexes, folded where either is a constant."""
    match left, right:
        case Const(a), Const(b):
            return Const(int(a) * int(b), left.dtype)
        case (Const(0), _) | (_, Const(0)):
            return Const(0, left.dtype)
        case Const(1), _:
            return right
        case _, Const(1):
            return left
        case _:
            return Binary("mul", left, right, left.dtype)


def ceiling(extent: Expr, length: int | Expr) -> Expr:
    """How many pieces of a length there are in an extent, the last perhaps shorter."""
    dtype = extent.dtype
    if isinstance(length, int):
        length = Const(length, dtype)
    if isinstance(extent, Const) and isinstance(length, Const):
        return Const(-(-int(extent.value) // int(length.value)), dtype)
    above = add(extent, sub(length, Const(1, dtype)))
    return Binary("floordiv", above, length, dtype)
