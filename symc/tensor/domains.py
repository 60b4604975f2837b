"""What elementwise functions say of their dtypes and signs."""

from __future__ import annotations

from typing import Literal

# How the dtype the arguments are converted to follows from theirs:
#   float   float_for(promoted): exp, sqrt
#   divide  promoted, but integers become float64: division
#   same    promoted: add, maximum, abs
#   number  promoted, but bool is refused: subtract, negative
#   integer promoted, but floats are refused: bit operations
#   whole   promoted, but floats and bool are refused: divisors
#   logical bool: and, or, not
Domain = Literal["float", "divide", "same", "number", "integer", "whole", "logical"]
# Which results have a sign bit, that is, are negative or -0.0 (NaN does not count):
#   any      whatever the arguments are
#   never    none
#   kept     none if no argument has one
#   chosen   the same, and -0.0 only where an argument is -0.0
#   no zero  -0.0 is none, negative numbers may be
SignBit = Literal["any", "never", "kept", "chosen", "no zero"]

GENERAL: dict[Domain, str] = {
    "float": "Elementwise, with NumPy's broadcasting along axes of known length 1. Integers are "
    "converted to float64 (8 bits: float16, 16 bits: float32).",
    "divide": "Elementwise, with NumPy's broadcasting along axes of known length 1. Integers are "
    "converted to float64.",
    "same": "Elementwise, with NumPy's broadcasting along axes of known length 1 and NumPy's "
    "dtype.",
    "number": "Elementwise, with NumPy's broadcasting along axes of known length 1 and NumPy's "
    "dtype. Raises DTypeError for bool.",
    "integer": "Elementwise, with NumPy's broadcasting along axes of known length 1. Raises "
    "DTypeError for floats.",
    "whole": "Elementwise, with NumPy's broadcasting along axes of known length 1. Raises "
    "DTypeError for floats and bool.",
    "logical": "Elementwise on truth values (nonzero is true); gives bool.",
}
# What is asked for where floats, or floats and bool, are refused.
NEEDED = {"integer": "integers or bool", "whole": "integers"}
