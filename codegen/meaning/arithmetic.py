"""Arithmetic of the loop IR on Python numbers, dtype by dtype: the meaning of each operator.

Values are bool, int or float by the kind of their dtype, and always exactly representable in it:
every operation ends by wrapping (integers) or rounding (floats). The C functions of
`codegen/runtime` mean the same.
"""

from __future__ import annotations

import ctypes
import math
import operator
import struct
from collections.abc import Callable
from typing import Literal

from symc.codegen.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, INT64, DType
from symc.codegen.ir import AccumulateOp, BinaryOp, UnaryOp
from symc.codegen.math import FUNCTIONS

Number = bool | int | float
Unary = Callable[[Number], Number]
Binary = Callable[[Number, Number], Number]

_PLAIN: dict[str, Binary] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge,
    "and": lambda a, b: bool(a and b), "or": lambda a, b: bool(a or b), "xor": operator.ne,
    "band": lambda a, b: int(a) & int(b),
    "bor": lambda a, b: int(a) | int(b),
    "bxor": lambda a, b: int(a) ^ int(b),
    "max": lambda a, b: a if a >= b or a != a else b,
    "min": lambda a, b: a if a <= b or a != a else b,
}  # fmt: skip
_EXACT = frozenset(_PLAIN) - {"add", "sub", "mul"}
_LOGICAL = {"band": "and", "bor": "or", "bxor": "xor"}  # the names of bit operators on bool


def fit(dtype: DType) -> Unary:
    """The function that makes any number of the right kind one of this dtype."""
    if dtype is BOOL:
        return bool
    if dtype is FLOAT64:
        return float
    if dtype is FLOAT32:
        return lambda x: ctypes.c_float(x).value
    if dtype is FLOAT16:
        return _half
    mask = (1 << dtype.bits) - 1
    if dtype.kind == "uint":
        return lambda x: int(x) & mask
    half = 1 << (dtype.bits - 1)
    return lambda x: ((int(x) + half) & mask) - half


def _half(x: Number) -> float:
    try:
        value: float = struct.unpack("e", struct.pack("e", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
    return value


def unary(op: UnaryOp, dtype: DType) -> Unary:
    """A unary operator."""
    if op == "not" or dtype is BOOL:
        return operator.not_
    into = fit(dtype)
    if op == "invert":
        return lambda x: into(~int(x))
    return lambda x: into(-x)


def binary(op: BinaryOp | AccumulateOp, dtype: DType) -> Binary:
    """A binary operator on values of `dtype`."""
    plain = _PLAIN.get(_LOGICAL.get(op, op) if dtype is BOOL else op)
    if plain is not None:
        if op in _EXACT or (dtype is FLOAT64):
            return plain
        into, known = fit(dtype), plain
        return lambda a, b: into(known(a, b))
    into = fit(dtype)
    if op == "div":
        return lambda a, b: into(_divide(a, b))
    if op in ("shl", "shr"):
        return _shift(op == "shl", dtype)
    if dtype.is_float:
        return _float_floordiv(into) if op == "floordiv" else _float_mod(into)
    if op == "floordiv":
        return lambda a, b: into(_floordiv(a, b))
    return lambda a, b: a % b if b else 0


def exact(op: BinaryOp) -> Binary:
    """A binary operator on int64 that raises OverflowError where the result does not fit."""
    known = _floordiv if op == "floordiv" else _PLAIN.get(op)
    if known is None or op in _EXACT:
        return binary(op, INT64)
    compute = known
    return lambda a, b: in_range(int(compute(a, b)))


def _floordiv(a: Number, b: Number) -> Number:
    return a // b if b else 0


def in_range(value: int) -> int:
    """The integer, or OverflowError if 64 bits cannot hold it."""
    if not -(1 << 63) <= value < 1 << 63:
        raise OverflowError(f"{value} does not fit into 64 bits")
    return value


def _divide(a: float, b: float) -> float:
    try:
        return a / b
    except ZeroDivisionError:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)


def _shift(left: bool, dtype: DType) -> Binary:
    bits, into = dtype.bits, fit(dtype)

    def shl(a: Number, b: Number) -> Number:
        return into(int(a) << int(b)) if 0 <= b < bits else 0

    def shr(a: Number, b: Number) -> Number:
        return int(a) >> (int(b) if 0 <= b < bits else bits)

    return shl if left else shr


def _float_mod(into: Unary) -> Binary:
    def mod(a: float, b: float) -> float:
        rest = FUNCTIONS["fmod"].python(a, b)
        if b == 0:
            return rest
        if rest == 0:
            return math.copysign(0.0, b)
        return into(rest + b) if (b < 0) != (rest < 0) else rest

    return mod


def _float_floordiv(into: Unary) -> Binary:
    def floordiv(a: float, b: float) -> float:
        if b == 0:
            return into(_divide(a, b))
        rest = FUNCTIONS["fmod"].python(a, b)
        quotient = into(_divide(into(a - rest), b))
        if rest != 0 and (b < 0) != (rest < 0):
            quotient = into(quotient - 1)
        if quotient == 0:
            return math.copysign(0.0, _divide(a, b))
        if not math.isfinite(quotient):
            return quotient
        whole = float(math.floor(quotient))
        return into(whole + 1) if quotient - whole > 0.5 else whole

    return floordiv


def call(name: str, dtype: DType, python: Callable[..., Number] | None) -> Callable[..., Number]:
    """A function of `math.py` on values of `dtype`. `python` replaces its meaning if given."""
    row = FUNCTIONS[name]
    meaning = python or row.python
    if row.is_predicate:
        return meaning
    into = fit(row.types[-1] if row.types else dtype)
    if python is None and name == "pow" and not dtype.is_float:
        return _integer_power(dtype)
    return lambda *args: into(meaning(*args))


def _integer_power(dtype: DType) -> Binary:
    into, modulus = fit(dtype), 1 << dtype.bits

    def power(base: Number, exponent: Number) -> Number:
        if exponent >= 0:
            return into(pow(int(base), int(exponent), modulus))
        return {1: 1, -1: -1 if exponent % 2 else 1}.get(int(base), 0)

    return power


def cast(source: DType, target: DType) -> Unary:
    """Conversion, as NumPy's ``astype`` of arrays on x86; `cast.h` has the details."""
    into = fit(target)
    if target is BOOL:
        return lambda x: x != 0
    if target.is_float:
        return into if source.is_float else lambda x: into(_exact(int(x), target))
    if not source.is_float:
        return into
    if target.kind == "uint" and target.bits >= 32:
        return _to_unsigned(target.bits)
    bits: Literal[32, 64] = 64 if target.bits == 64 else 32
    return lambda x: into(_truncate(x, bits))


def _exact(x: int, target: DType) -> float:
    """An integer as a float that rounds to `target` as the integer itself does."""
    excess = x.bit_length() - 32
    if target is FLOAT64 or excess <= 0:
        return float(x)
    size = abs(x)
    sticky = size & ((1 << excess) - 1) != 0
    kept = float(((size >> excess) | sticky) << excess)
    return -kept if x < 0 else kept


def _truncate(x: float, bits: int) -> int:
    """The whole part as a signed integer; the smallest where it is none or does not fit."""
    half = 1 << (bits - 1)
    if not math.isfinite(x):
        return -half
    whole = int(x)
    return whole if -half <= whole < half else -half


def _to_unsigned(bits: int) -> Unary:
    half, mask = float(1 << (bits - 1)), (1 << bits) - 1

    def convert(x: Number) -> Number:
        if x >= half:
            return ((1 << (bits - 1)) ^ _truncate(x - half, bits)) & mask
        return _truncate(x, bits) & mask

    return convert
