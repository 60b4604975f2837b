"""Which programs must round products before they are added to something.

A multiplication and an addition that become one instruction round once, not twice. Several kernels
may compute one value again, and not all of them make one instruction of the two. That shows where a
value is compared with itself:

- where one of two results rounds to a whole number, ``x - floor(x)`` may be negative,
- where numbers are looked up in others, those on the edges of bins are in the bins below,
- where elements are sought that are equal to the largest of them, as slopes of extremes do, there
  may be none,
- where an element is compared with others of the same array, one may be greater than itself, and
  slopes that follow either of the two may follow both or none.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.graph.node import Tensor
from symc.graph.request import Request
from symc.graph.walks import walk, walk_within
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.views import BroadcastTo, DimShuffle

_JUMPS = ("floor", "ceil", "trunc", "round", "mod", "floordiv")
_SUMS = ("add", "sub")
_EXACT = ("neg", "abs", "maximum", "minimum", "where", "sign")
_ORDER = ("gt", "lt", "ge", "le", "eq", "ne")


def is_apart(request: Request) -> bool:
    """Whether no multiplication and addition of a request may become one instruction.

    Nor may they where who made the request wants it so.
    """
    if not request.contracts:
        return True
    nodes = list(walk_within(request.roots()))
    return any(map(_compares, nodes)) or _compares_among(nodes)


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


def _compares_among(nodes: Sequence[Tensor]) -> bool:
    """Whether elements of an array, in which products are added to something, meet in a comparison.

    Arguments come before those who read them. Each such array has a bit in the masks of what it is
    in: as the element at the same place, and as one from elsewhere.
    """
    if not any(isinstance(node.op, Elementwise) and node.op.name in _ORDER for node in nodes):
        return False
    here: dict[Tensor, int] = {}
    moved: dict[Tensor, int] = {}
    bit = 1
    for node in nodes:
        match node.op:
            case Elementwise(name=name) if name in _ORDER:
                one, other = node.args
                if (_met(one, here, moved) & moved.get(other, 0)) or (
                    moved.get(one, 0) & _met(other, here, moved)
                ):
                    return True
            case Elementwise(name=name) if node.dtype.is_inexact:
                _join(node, here, here)
                _join(node, moved, moved)
                if name in _SUMS and any(map(_may_be_product, node.args)):
                    here[node] = here.get(node, 0) | bit
                    bit <<= 1
            case Cast():
                _join(node, here, here)
                _join(node, moved, moved)
            case op if op.moves:
                _join(node, here, moved)
                _join(node, moved, moved)
            case _:
                pass
    return False


def _met(node: Tensor, here: dict[Tensor, int], moved: dict[Tensor, int]) -> int:
    return here.get(node, 0) | moved.get(node, 0)


def _join(node: Tensor, given: dict[Tensor, int], into: dict[Tensor, int]) -> None:
    """What arguments are made of, a node is made of, too."""
    for arg in node.args:
        if arg in given:
            into[node] = into.get(node, 0) | given[arg]


def _may_be_product(term: Tensor) -> bool:
    while isinstance(term.op, Elementwise) and term.op.name == "neg":
        (term,) = term.args
    return isinstance(term.op, Elementwise) and term.op.name not in {*_SUMS, *_EXACT}
