"""Remainders of floats by powers of two, for which there are functions without branches.

Others are computed by functions that return early, which no compiler vectorises: what a quotient of
two floats is rounded to may be far from the remainder.
"""

from __future__ import annotations

import math

from symc.codegen.dtypes import FLOAT32, FLOAT64
from symc.codegen.ir import Binary, Call, Const, Expr

LEAST, MOST = 2.0**-100, 2.0**100  # by these, quotients and products stay exact


def by_power(expr: Binary | Call) -> Expr:
    """A remainder of floats, by a function without branches where the divisor is a power of two.

    >>> from symc.codegen.ir import Var
    >>> x = Var("x", FLOAT64)
    >>> by_power(Binary("mod", x, Const(0.5, FLOAT64), FLOAT64)).function
    'mod_power'
    """
    left, right = (expr.left, expr.right) if isinstance(expr, Binary) else expr.args
    if type(right) is not Const or right.dtype not in (FLOAT32, FLOAT64):
        return expr
    size = abs(right.value)
    if not LEAST <= size <= MOST or math.frexp(size)[0] != 0.5:
        return expr
    function = "mod_power" if isinstance(expr, Binary) else "fmod_power"
    return Call(function, (left, right), expr.dtype)
