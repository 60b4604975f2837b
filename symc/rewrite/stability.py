"""Rules that keep digits: they always run, in every mode, before anything else can hide the form.

Canonical: a logarithm, exponential or difference that would lose digits or overflow is the one
function that does not. The right side may cost more than the left, up to three times: digits come
before speed.
"""

from __future__ import annotations

import math

from symc.graph.node import Tensor
from symc.rewrite.match import Found, number_of
from symc.rewrite.pattern import (
    A,
    Pattern,
    erf,
    erfc,
    erfcx,
    exp,
    expm1,
    gt,
    log,
    log1p,
    log_sigmoid,
    log_softmax,
    logaddexp,
    logsumexp,
    logsumexp_kept,
    m,
    max,
    max_kept,
    maximum,
    minimum,
    reciprocal,
    s,
    sigmoid,
    softmax,
    softplus,
    sqr,
    sqrt,
    sum,
    sum_kept,
    where,
    x,
    y,
    z,
)
from symc.rewrite.pattern import abs as absolute
from symc.rewrite.rule import ROUNDS, Rules
from symc.tensor.elementwise import ELEMENTWISE
from symc.tensor.fold import Reduce
from symc.tensor.views import BroadcastTo, DimShuffle

STABILITY = Rules("stability")
rule = STABILITY.rule

# --- logarithms -----------------------------------------------------------------------------------
# Special cases come first.


def _not_limited(found: Found) -> bool:
    """Whether x is not already ``minimum(y, number)``, as on the right side of these rules."""
    node = found[x]
    limited = node.op is ELEMENTWISE["minimum"]
    return not (limited and any(number_of(arg) is not None for arg in node.args))


# log(1 - exp(x)): near 0 by expm1, far from it by log1p (Maechler 2012, "Accurately computing
# log(1 - exp(-|a|))").
_HALF = -math.log(2)
_LOG_OF_REST = where(gt(x, _HALF), log(-expm1(x)), log1p(-exp(minimum(x, _HALF))))
rule(log(1 - exp(x)), _LOG_OF_REST, valid=ROUNDS)
rule(log1p(-exp(x)), _LOG_OF_REST, valid=ROUNDS, where=_not_limited)
rule(log1p(0 - exp(x)), _LOG_OF_REST, valid=ROUNDS, where=_not_limited)
rule(log(exp(x) - 1), x + log(-expm1(-x)), valid=ROUNDS)  # softplus' inverse: exp overflows
rule(log(expm1(x)), x + log(-expm1(-x)), valid=ROUNDS)
rule(log(1 + exp(x)), softplus(x), valid=ROUNDS)  # exp overflows
rule(log1p(exp(x)), softplus(x), valid=ROUNDS)
rule(log(1 - sigmoid(x)), log_sigmoid(-x), valid=ROUNDS)
rule(log1p(-sigmoid(x)), log_sigmoid(-x), valid=ROUNDS)
rule(log1p(0 - sigmoid(x)), log_sigmoid(-x), valid=ROUNDS)
rule(log(sigmoid(x)), log_sigmoid(x), valid=ROUNDS)
rule(-softplus(-x), log_sigmoid(x), valid=ROUNDS)
rule(log(1 + x), log1p(x + 0), valid=ROUNDS)  # keeps digits near 0; log1p(-0.0) is -0.0
rule(log(1 - x), log1p(0 - x), valid=ROUNDS)
rule(log(exp(x) + exp(y)), logaddexp(x, y), valid=ROUNDS)
rule(log(exp(x)), x + 0, valid=ROUNDS)
rule(log(sqrt(x)), 0.5 * log(x), valid=ROUNDS)  # the root is nearer to 1
_LARGE = gt(x, 1)
_SCALED = where(_LARGE, erfcx(maximum(x, 1)), erfc(x))
rule(log(erfc(x)), log(_SCALED) - where(_LARGE, sqr(x), 0), valid=ROUNDS)  # erfc underflows at 27

# --- sums of exponentials -------------------------------------------------------------------------


def _not_shifted(found: Found) -> bool:
    """Whether x is not already ``y - max(y)``: then nothing overflows.

    PyTensor's form is seen, too: ``y - where(isinf(max(y)), 0, max(y))``.
    """
    node = found[x]
    if node.op is not ELEMENTWISE["sub"]:
        return True
    inner = _seen_through(node.args[1])
    if inner.op is ELEMENTWISE["where"] and number_of(inner.args[1]) == 0:
        test, inner = (_seen_through(arg) for arg in (inner.args[0], inner.args[2]))
        if test.op is not ELEMENTWISE["isinf"] or _seen_through(test.args[0]) is not inner:
            return True
    return not (isinstance(inner.op, Reduce) and inner.op.kind == "max")


def _seen_through(node: Tensor) -> Tensor:
    while isinstance(node.op, DimShuffle | BroadcastTo):
        node = node.args[0]
    return node


rule(log(softmax(x, A)), log_softmax(x, A), valid=ROUNDS)
rule(exp(log_softmax(x, A)), softmax(x, A), valid=ROUNDS)
rule(exp(log_sigmoid(x)), sigmoid(x), valid=ROUNDS)

_TOP = max_kept(x, A)
rule(log(sum(exp(x - _TOP), A)) + max(x, A), logsumexp(x, A), valid=ROUNDS)
rule(log(sum_kept(exp(x - _TOP), A)) + _TOP, logsumexp_kept(x, A), valid=ROUNDS)
rule((x - _TOP) - log(sum_kept(exp(x - _TOP), A)), log_softmax(x, A), valid=ROUNDS)
rule(exp(x - _TOP) / sum_kept(exp(x - _TOP), A), softmax(x, A), valid=ROUNDS)
rule(log(sum(exp(x), A)), logsumexp(x, A), valid=ROUNDS, where=_not_shifted)
rule(log(sum(exp(x), A) / s), logsumexp(x, A) - log(s), valid=ROUNDS, where=_not_shifted)
rule(x - logsumexp_kept(x, A), log_softmax(x, A), valid=ROUNDS)
rule(x - log(sum_kept(exp(x), A)), log_softmax(x, A), valid=ROUNDS, where=_not_shifted)
rule(exp(x) / sum_kept(exp(x), A), softmax(x, A), valid=ROUNDS, where=_not_shifted)

# --- differences ----------------------------------------------------------------------------------

# Zeros are 0.0 on the left sides, as 1 - 1 is.
rule(exp(x) - 1, expm1(x + 0), valid=ROUNDS)
rule(1 - exp(x), 0 - expm1(x), valid=ROUNDS)
rule(1 - sigmoid(x), sigmoid(-x), valid=ROUNDS)
rule(1 - erf(x), erfc(x), valid=ROUNDS)
rule(erf(x) - 1, -erfc(x), valid=ROUNDS)
rule(1 + erf(x), erfc(-x), valid=ROUNDS)
rule(1 - erfc(x), erf(x + 0), valid=ROUNDS)
rule(erfc(x) - 1, 0 - erf(x), valid=ROUNDS)

# --- quotients ------------------------------------------------------------------------------------

rule(1 / (1 + exp(-x)), sigmoid(x), valid=ROUNDS)
rule(1 / (1 + exp(x)), sigmoid(-x), valid=ROUNDS)
rule(reciprocal(1 + exp(-x)), sigmoid(x), valid=ROUNDS)
rule(reciprocal(1 + exp(x)), sigmoid(-x), valid=ROUNDS)
rule(exp(x) / (1 + exp(x)), sigmoid(x), valid=ROUNDS)  # inf / inf
rule(sqrt(sqr(x)), absolute(x), valid=ROUNDS)  # the square overflows

# --- gradients of the above -----------------------------------------------------------------------
# A gradient divides by a value that is positive but underflows, and multiplies by it again.


def _cancels(positive: Pattern) -> None:
    """Division by a number that is never 0, undone by multiplication."""
    rule((y / positive) * positive, y, valid=ROUNDS)
    rule((y / positive) * (positive * z), y * z, valid=ROUNDS)
    rule(positive * (y / positive - z), y - positive * z, valid=ROUNDS)
    rule(where(m, y / positive, 0) * positive, where(m, y, 0), valid=ROUNDS)
    rule(where(m, y / positive, 0) * (positive * z), where(m, y, 0) * z, valid=ROUNDS)
    rule(positive * (where(m, y / positive, 0) - z), where(m, y, 0) - positive * z, valid=ROUNDS)


_cancels(softmax(x, A))
_cancels(sigmoid(x))
_cancels(exp(x))
rule((y / (1 + exp(x))) * exp(x), y * sigmoid(x), valid=ROUNDS)
rule((y / sum_kept(exp(x), A)) * exp(x), y * softmax(x, A), valid=ROUNDS, where=_not_shifted)
rule((y / (exp(x) + exp(z))) * exp(x), y * sigmoid(x - z), valid=ROUNDS)
