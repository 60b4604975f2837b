"""float16 as bits: what `runtime/common/float16.h` means."""

from __future__ import annotations

import math
import struct


def to_float16(x: float) -> int:
    """The bits of the float16 nearest to a number, the even one of two that are equally near.

    >>> hex(to_float16(1.0)), hex(to_float16(-1e6))
    ('0x3c00', '0xfc00')
    """
    try:
        (bits,) = struct.unpack("<H", struct.pack("<e", x))
    except OverflowError:
        return to_float16(math.copysign(math.inf, x))
    nearest: int = bits
    return nearest


def from_float16(bits: int) -> float:
    """The number that has these bits.

    >>> from_float16(0x3c00)
    1.0
    """
    value: float = struct.unpack("<e", struct.pack("<H", bits))[0]
    return value
