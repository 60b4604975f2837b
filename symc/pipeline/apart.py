"""Which programs must round products before they are added to something.

A multiplication and an addition that become one instruction round once, not twice. Several kernels
may compute one value again, and not all of them make one instruction of the two. That shows where a
value is compared with itself:

- where one of two results rounds to a whole number, ``x - floor(x)`` may be negative,
- where numbers are looked up in others, those on the edges of bins are in the bins below,
- where elements are sought that are equal to the largest of them, as slopes of extremes do, there
  may be none.
"""

from __future__ import annotations

from symc.graph.node import Tensor
from symc.graph.request import Request
from symc.graph.walks import walk, walk_within
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.views import BroadcastTo, DimShuffle

_JUMPS = ("floor", "ceil", "trunc", "round", "mod", "floordiv")
_SUMS = ("add", "sub")
_EXACT = ("neg", "abs", "maximum", "minimum", "where", "sign")


def is_apart(request: Request) -> bool:
    """Whether no multiplication and addition of a request may become one instruction.

    Nor may they where who made the request wants it so.
    """
    return not request.contracts or any(_compares(node) for node in walk_within(request.roots()))


def _compares(node: Tensor) -> bool:
    match node.op:
        case Elementwise(name="eq"):
            one, other = node.args
            return _seeks(one, other) or _seeks(other, one)
        case Elementwise(name=name):
            return name in _JUMPS and node.dtype.is_float
        case Cast(dtype=dtype):
            return dtype.is_integer and node.args[0].dtype.is_float
        case op:
            return op.jumps and node.args[0].dtype.is_float


def _seeks(found: Tensor, among: Tensor) -> bool:
    """Whether one value is an extreme of the other, in which products are added to something."""
    while isinstance(found.op, DimShuffle | BroadcastTo):
        found = found.args[0]
    if not found.op.is_sought or found.args[0] is not among:
        return False
    parts = walk([among], stop=lambda node: not isinstance(node.op, Elementwise | Cast))
    names = {node.op.name for node in parts if isinstance(node.op, Elementwise)}
    return not names.isdisjoint(_SUMS) and not names <= {*_SUMS, *_EXACT}
