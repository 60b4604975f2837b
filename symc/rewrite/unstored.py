"""Products of a vector and a matrix that nothing else reads, as sums.

BLAS reads a matrix from memory. One that is computed element by element for a single product need
not be there: the loop that computes it multiplies and adds up, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from symc.graph.node import EXPENSIVE, Tensor
from symc.graph.walks import walk
from symc.rewrite.rule import ROUNDS, Rule, Rules
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.matrix_product import MatVec, summed_products
from symc.tensor.views import expand_dims


def unstored_rules(roots: Sequence[Tensor]) -> list[Rule]:
    """The rule for these graphs: it must know how often each of their nodes is used."""
    uses = Counter(arg for node in walk(roots) for arg in node.args)
    uses.update(roots)
    rules = Rules("unstored")

    @rules.structural(
        "a computed matrix times a vector", MatVec, valid=ROUNDS, inner=[Elementwise, Cast]
    )
    def add_up(node: Tensor) -> Tensor | None:
        a, x = node.args
        if not is_computed(a) or uses[a] != 1:
            return None
        assert isinstance(node.op, MatVec)
        if node.op.trans and is_expensive(a):
            return None
        along = 0 if node.op.trans else 1
        return summed_products(a, expand_dims(x, 1 - along), (along,))

    return rules.all


def is_computed(a: Tensor) -> bool:
    """Whether a matrix is computed element by element."""
    return isinstance(a.op, Elementwise | Cast)


def is_expensive(a: Tensor) -> bool:
    """Whether an element of a matrix takes longer to compute than to store and load.

    The sums of columns are computed for a row at a time, whose rest takes long if it is short.
    """
    parts = walk([a], stop=lambda node: not is_computed(node))
    return any(is_computed(node) and node.op.cost >= EXPENSIVE for node in parts)


def multiplies_computed(nodes: Sequence[Tensor]) -> bool:
    """Whether some of these nodes may be such products."""
    return any(isinstance(node.op, MatVec) and is_computed(node.args[0]) for node in nodes)
