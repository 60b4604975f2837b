"""Reshapes moved towards the inputs, through elementwise functions that nothing else uses.

`Reshape` needs its argument in memory, where inputs and stored values are anyway; between two
elementwise functions it would keep them from being one loop. It stays above what is computed from
several parts of arrays, as neighbours in a picture are: each part would be copied, which takes
longer than to store what is computed from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.rewrite.rule import EXACT, Rule, Rules
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.gather import Gather
from symc.tensor.reshape import Reshape, reshape
from symc.tensor.slices import Slice
from symc.tensor.views import DimShuffle


def lifting_rules(roots: Sequence[Tensor]) -> list[Rule]:
    """The rule for these graphs: it must know how often each of their nodes is used."""
    uses = Counter(arg for node in walk(roots) for arg in node.args)
    uses.update(roots)
    rules = Rules("lift")

    @rules.structural("elementwise of a reshape", Reshape, valid=EXACT, inner=[Elementwise, Cast])
    def lift(node: Tensor) -> Tensor | None:
        x = node.args[0]
        if not isinstance(x.op, Elementwise | Cast) or uses[x] != 1:
            return None
        if any(arg.ndim and arg.type.shape != x.type.shape for arg in x.args):
            return None
        if len(set(_copied(x, uses))) > 1:
            return None
        args = [reshape(arg, node.type.shape) if arg.ndim else arg for arg in x.args]
        return x.op(*args)

    return rules.all


def _copied(node: Tensor, uses: Counter[Tensor]) -> Iterator[Tensor]:
    """The arrays below elementwise functions that are parts of others: a reshape copies each."""
    for arg in node.args:
        match arg.op:
            case Elementwise() | Cast() if uses[arg] == 1:
                yield from _copied(arg, uses)
            case Slice() | Gather() | DimShuffle():
                yield arg
            case _:
                pass
