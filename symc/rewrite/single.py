"""Axes of length 1 stay known to have that length when a node is replaced.

An equal node may know less of its lengths: ``x * ones(2)`` is x, whose length is then a number that
calls bring, and of ``[1:2]`` of it nothing says that it has one element. Axes of length 1 are those
that broadcast and can be dropped, so nodes built upon the replacement would mean something else.
"""

from __future__ import annotations

from symc.graph.node import Tensor
from symc.tensor.slices import Slice
from symc.tensor.spans import WHOLE
from symc.tensor.views import expand_dims


def keep_single(before: Tensor, after: Tensor) -> Tensor:
    """The replacement of `before`, with its axes of length 1.

    They are read at element 0. That they have no other length is a condition of the graph as it
    was before.
    """
    was, now = before.type.shape, after.type.shape
    if was == now or 1 not in was:
        return after
    lost = [axis for axis, (old, new) in enumerate(zip(was, now, strict=True)) if old == 1 != new]
    if not lost:
        return after
    first = Slice(tuple(0 if axis in lost else WHOLE for axis in range(before.ndim)))(after)
    return expand_dims(first, lost)
