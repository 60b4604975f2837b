"""Rules of elementwise algebra.

Canonical forms: ``1 / x`` for the reciprocal, ``sqr(x)`` for ``x * x``; signs stand outside of
products and quotients, but go into constants; ``a - b`` for ``a + (-b)``; one constant factor, not
two; multiplication instead of division by powers of two. Nothing is reordered.
"""

from __future__ import annotations

import math

from symc.rewrite.match import Found, number_of
from symc.rewrite.pattern import (
    A,
    bitwise_and,
    bitwise_or,
    c,
    conj,
    cos,
    d,
    eq,
    exp,
    f,
    fmax,
    fmin,
    i,
    invert,
    log,
    logical_and,
    logical_not,
    logical_or,
    m,
    maximum,
    minimum,
    ne,
    neg,
    p,
    pow,
    r,
    reciprocal,
    s,
    sqr,
    sqrt,
    sum,
    where,
    x,
    y,
    z,
)
from symc.rewrite.pattern import abs as absolute
from symc.rewrite.rule import EXACT, FINITE, ROUNDS, Rules

ALGEBRA = Rules("algebra")
rule = ALGEBRA.rule

# --- nothing to do --------------------------------------------------------------------------------

rule(i + 0, i, valid=EXACT)
rule(f + -0.0, f, valid=EXACT)
rule(0 + f, f, valid=FINITE)  # -0.0 + 0.0 is 0.0; see zeros.py for where that cannot be
rule(x - 0, x, valid=EXACT)
rule(0 - f, -f, valid=FINITE)  # 0.0 - 0.0 is 0.0
rule(x * 1, x, valid=EXACT)
rule(x / 1, x, valid=EXACT)
rule(i * 0, 0, valid=EXACT)
rule(f * 0, 0, valid=FINITE)
rule(0 / x, 0, valid=FINITE)
rule(i - i, 0, valid=EXACT)
rule(f - f, 0, valid=FINITE)
rule(x / x, 1, valid=FINITE)
rule((x / y) * y, x, valid=FINITE)
rule((x * y) / y, x, valid=FINITE)
rule((f + y) - y, f, valid=FINITE)
rule(exp(log(x)), x, valid=FINITE)
rule(sqr(sqrt(x)), x, valid=FINITE)

# --- signs ----------------------------------------------------------------------------------------

rule(neg(-x), x, valid=EXACT, of_complex=True)
rule(conj(conj(x)), x, valid=EXACT, of_complex=True)
rule(conj(-x), -conj(x), valid=EXACT, of_complex=True)
rule(x * -1, -x, valid=EXACT)
rule(x / -1, -x, valid=EXACT)
rule(x + -y, x - y, valid=EXACT, of_complex=True)
rule(x - -y, x + y, valid=EXACT, of_complex=True)
rule(-(f - y), y - f, valid=FINITE)  # -(a - a) is -0.0
rule(-(i - y), y - i, valid=EXACT)
rule(-(x * c), x * -c, valid=EXACT)
rule(-(x / c), x / -c, valid=EXACT)
rule(-(c / x), -c / x, valid=EXACT)
rule(-x * y, -(x * y), valid=EXACT)
rule(-x / y, -(x / y), valid=EXACT)
rule(x / -y, -(x / y), valid=EXACT)
rule(absolute(-f), absolute(f), valid=EXACT)
rule(absolute(absolute(x)), absolute(x), valid=EXACT)
rule(absolute(sqr(f)), sqr(f), valid=EXACT)
rule(absolute(exp(f)), exp(f), valid=EXACT)
rule(sqr(-r), sqr(r), valid=EXACT)
rule(sqr(absolute(r)), sqr(r), valid=EXACT)
rule(cos(-x), cos(x), valid=ROUNDS)

# --- powers ---------------------------------------------------------------------------------------


def _of_integers(found: Found) -> bool:
    """Whether the base is no bool."""
    return bool(found[i].dtype.is_integer)


rule(r * r, sqr(r), valid=EXACT, of_complex=True)
rule(reciprocal(x), 1 / x, valid=EXACT)
rule(pow(x, 0), 1, valid=EXACT)
rule(pow(x, 1), x, valid=EXACT)
rule(pow(f, 2), sqr(f), valid=ROUNDS)
rule(pow(i, 2), sqr(i), valid=EXACT, where=_of_integers)
rule(pow(f, 3), f * sqr(f), valid=ROUNDS)  # two roundings instead of one of a slow pow
rule(pow(f, -1), 1 / f, valid=ROUNDS)

# More factors round more often, up to 8 times by half an ulp: no more than a pow that vectorises.
rule(pow(f, 4), sqr(sqr(f)), valid=ROUNDS)
rule(pow(f, 5), f * sqr(sqr(f)), valid=ROUNDS)
rule(pow(f, 6), sqr(f * sqr(f)), valid=ROUNDS)
rule(pow(f, 7), f * sqr(f * sqr(f)), valid=ROUNDS)
rule(pow(f, 8), sqr(sqr(sqr(f))), valid=ROUNDS)
rule(pow(f, -2), sqr(1 / f), valid=ROUNDS)  # not 1 / sqr(f), which would overflow for a small one
rule(pow(f, -3), (1 / f) * sqr(1 / f), valid=ROUNDS)
rule(pow(f, -4), sqr(sqr(1 / f)), valid=ROUNDS)
rule(pow(i, 3), i * sqr(i), valid=EXACT, where=_of_integers)
rule(pow(i, 4), sqr(sqr(i)), valid=EXACT, where=_of_integers)
rule(pow(i, 5), i * sqr(sqr(i)), valid=EXACT, where=_of_integers)
rule(pow(i, 6), sqr(i * sqr(i)), valid=EXACT, where=_of_integers)
rule(pow(i, 8), sqr(sqr(sqr(i))), valid=EXACT, where=_of_integers)

# --- constants ------------------------------------------------------------------------------------


def _safe(value: float) -> bool:
    return value != 0 and math.isfinite(value) and 1e-30 < abs(value) < 1e30


def _both_safe(found: Found) -> bool:
    """Whether products and quotients of the two constants are numbers of ordinary size."""
    first, second = number_of(found[c]), number_of(found[d])
    assert first is not None
    assert second is not None
    if found[c].dtype.bits == 16:
        return False
    return _safe(first) and _safe(second) and _safe(first * second) and _safe(first / second)


rule(x / p, x * (1 / p), valid=EXACT)
rule((f * c) * d, f * (c * d), valid=ROUNDS, where=_both_safe)
rule((f / c) / d, f / (c * d), valid=ROUNDS, where=_both_safe)
rule((f * c) / d, f * (c / d), valid=ROUNDS, where=_both_safe)
rule((f / c) * d, f * (d / c), valid=ROUNDS, where=_both_safe)
rule((i * c) * d, i * (c * d), valid=EXACT)
rule((i + c) + d, i + (c + d), valid=EXACT)
rule((i - c) + d, i + (d - c), valid=EXACT)
rule((i + c) - d, i + (c - d), valid=EXACT)
rule((i - c) - d, i - (c + d), valid=EXACT)

# --- extremes and truth values --------------------------------------------------------------------

rule(maximum(x, x), x, valid=EXACT)
rule(minimum(x, x), x, valid=EXACT)
rule(fmax(x, x), x, valid=EXACT)
rule(fmin(x, x), x, valid=EXACT)
rule(logical_and(m, m), m, valid=EXACT)
rule(logical_or(m, m), m, valid=EXACT)
rule(bitwise_and(x, x), x, valid=EXACT)
rule(bitwise_or(x, x), x, valid=EXACT)
rule(logical_and(m, True), m, valid=EXACT)
rule(logical_and(m, False), False, valid=EXACT)
rule(logical_or(m, False), m, valid=EXACT)
rule(logical_or(m, True), True, valid=EXACT)
rule(logical_not(logical_not(m)), m, valid=EXACT)
rule(invert(invert(x)), x, valid=EXACT)
rule(logical_not(eq(x, y)), ne(x, y), valid=EXACT, of_complex=True)
rule(logical_not(ne(x, y)), eq(x, y), valid=EXACT, of_complex=True)
rule(eq(i, i), True, valid=EXACT)
rule(ne(i, i), False, valid=EXACT)

# --- choices --------------------------------------------------------------------------------------

rule(where(m, x, x), x, valid=EXACT, of_complex=True)
rule(where(True, x, y), x, valid=EXACT, of_complex=True)
rule(where(False, x, y), y, valid=EXACT, of_complex=True)
rule(where(logical_not(m), x, y), where(m, y, x), valid=EXACT, of_complex=True)
rule(where(m, where(m, x, y), z), where(m, x, z), valid=EXACT, of_complex=True)
rule(where(m, x, where(m, y, z)), where(m, x, z), valid=EXACT, of_complex=True)

# --- sums -----------------------------------------------------------------------------------------


def _wide(found: Found) -> bool:
    """Whether a factor has more than 16 bits: sums of those overflow early."""
    bits: int = found[s].dtype.bits
    return bits > 16


def _above_zero(found: Found) -> bool:
    """Whether a constant is positive, and of ordinary size."""
    value = number_of(found[c])
    return value is not None and value > 0 and _safe(value) and found[c].dtype.bits > 16


# A sum that is zero is 0.0, whatever zeros were added.
rule(sum(-x, A), 0 - sum(x, A), valid=ROUNDS, of_complex=True)
rule(sum(x * c, A), sum(x, A) * c, valid=ROUNDS, where=_above_zero)
rule(sum(x / c, A), sum(x, A) / c, valid=ROUNDS, where=_above_zero)
# Infinities of both signs add up to NaN, and no elements to 0, whatever the factor is.
rule(sum(x * s, A), sum(x, A) * s, valid=FINITE, where=_wide)
rule(sum(x / s, A), sum(x, A) / s, valid=FINITE, where=_wide)
