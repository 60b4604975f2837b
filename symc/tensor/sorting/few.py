"""Rows of a few elements sorted by exchanging neighbours: elementwise, many rows side by side.

For n elements neighbours are compared in n rounds, in the even and the odd places in turn, which
sorts any row (Knuth, The Art of Computer Programming, volume 3, section 5.3.4, exercise 37).
Neighbours that are equal stay as they are, so that equal elements keep their order. What of the
sorted row nobody needs, as all but the middle of it for a median, is not computed.
"""

from __future__ import annotations

from symc.codegen.dtypes import INT64
from symc.graph.inputs import scalar_constant
from symc.graph.node import OPERATORS, Tensor
from symc.tensor.logic import where
from symc.tensor.shape import stack
from symc.tensor.views import broadcast_to

COUNTS = (1, 2, 3, 4)  # elements of rows that vectors are loaded from, and stored to, in groups
MOST = 9  # elements that are no such rows: neighbours of a pixel, and itself


def sorted_few(x: Tensor, count: int, *, places: bool, descending: bool) -> Tensor:
    """The last axis of `x`, of `count` elements, sorted; or the places they come from.

    NaN is the greatest element.
    """
    values = [x[..., k] for k in range(count)]
    numbers = [broadcast_to(scalar_constant(k, INT64), values[0].type.shape) for k in range(count)]
    for first in range(count):
        for k in range(first % 2, count - 1, 2):
            exchanged = _are_exchanged(values[k], values[k + 1], descending=descending)
            values[k : k + 2] = _chosen(exchanged, values[k], values[k + 1])
            if places:
                numbers[k : k + 2] = _chosen(exchanged, numbers[k], numbers[k + 1])
    return stack(numbers if places else values, -1)


def _are_exchanged(left: Tensor, right: Tensor, *, descending: bool) -> Tensor:
    """Whether the right one of two neighbours belongs before the left one."""
    small, great = (left, right) if descending else (right, left)
    exchanged: Tensor
    if small.dtype.is_float:
        is_number = OPERATORS["eq"](small, small)
        exchanged = OPERATORS["logical_and"](is_number, ~OPERATORS["le"](great, small))
    else:
        exchanged = OPERATORS["gt"](great, small)
    return exchanged


def _chosen(exchanged: Tensor, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    return where(exchanged, right, left), where(exchanged, left, right)
