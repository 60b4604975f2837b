"""Gradients that divide by probabilities at some places and then multiply by all of them.

So does the gradient of ``log(softmax(x)[arange(n), y])``. Canonical: the value written into
zeros is multiplied before it is written, where the division then cancels (`stability.py`).
"""

from __future__ import annotations

from symc.graph.node import Tensor
from symc.rewrite.match import views_above
from symc.rewrite.rule import ROUNDS, Rules
from symc.tensor.elementwise import ELEMENTWISE
from symc.tensor.gather import Gather, Scatter, is_zero
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.softmaxes import Softmax
from symc.tensor.views import broadcast_to

SCATTER = Rules("scatter")
_MUL, _SUB, _DIV, _WHERE, _NEG = (ELEMENTWISE[n] for n in ("mul", "sub", "div", "where", "neg"))


def _divided_by(written: Tensor, softmax: Tensor) -> bool:
    """Whether a tensor is zeros into which a quotient by elements of `softmax` was written."""
    if written.op is _WHERE:
        return _divided_by(written.args[1], softmax)
    if not isinstance(written.op, Scatter | SliceWrite) or not is_zero(written.args[0]):
        return False
    quotient = written.args[1]
    while quotient.op is _NEG:
        quotient = quotient.args[0]
    return quotient.op is _DIV and views_above(quotient.args[1])[1] is softmax


def _multiplied(written: Tensor, factor: Tensor) -> Tensor:
    """The values written into zeros, multiplied by `factor`."""
    if written.op is _WHERE:
        mask, inner, zero = written.args
        return _WHERE(mask, _multiplied(inner, factor), zero)
    base, value, *given = written.args
    read = (
        Gather(written.op.axes, written.op.place)
        if isinstance(written.op, Scatter)
        else Slice(written.op.entries)  # type: ignore[attr-defined]
    )
    return written.op(base, _cancelled(value, read(factor, *given)), *given)


def _cancelled(value: Tensor, factor: Tensor) -> Tensor:
    """The product of a value and a factor by which it may have been divided."""
    if value.op is _NEG:
        return _NEG(_cancelled(value.args[0], factor))
    if value.op is _DIV and value.args[1] is factor:
        return broadcast_to(value.args[0], value.type.shape)
    return _MUL(value, factor)


@SCATTER.structural(
    "zeros with quotients of a softmax, times it", _MUL, valid=ROUNDS, inner=[Softmax]
)
def _times(node: Tensor) -> Tensor | None:
    for softmax, other in (node.args, node.args[::-1]):
        if not isinstance(softmax.op, Softmax) or softmax.type.shape != other.type.shape:
            continue
        if _divided_by(other, softmax):
            return _multiplied(other, softmax)
        if other.op is _SUB and _divided_by(other.args[0], softmax):
            return _SUB(_multiplied(other.args[0], softmax), _MUL(softmax, other.args[1]))
    return None
