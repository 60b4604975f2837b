"""bfloat16 as bits: what `runtime/common/bfloat16.h` means."""

from __future__ import annotations

import math
import struct

_EXPONENT = 0x7F80


def to_bfloat16(x: float) -> int:
    """The bits of the bfloat16 nearest to a float32, the even one of two that are equally near."""
    if math.isnan(x):
        return (0x8000 if math.copysign(1, x) < 0 else 0) | 0x7FC0
    if math.isinf(x):
        return (0x8000 if x < 0 else 0) | _EXPONENT
    try:
        (bits,) = struct.unpack("<I", struct.pack("<f", x))
    except OverflowError:  # no float32 either
        return (0x8000 if x < 0 else 0) | _EXPONENT
    nearest: int = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return nearest


def from_bfloat16(bits: int) -> float:
    """The number that has these bits."""
    value: float = struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    return value
