"""Elements as expressions over stored elements: "element (i, j) of this node", written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symc.codegen import ir
from symc.graph.formulas import Formula, Index, IndexFormula
from symc.graph.lowering import Lowering
from symc.graph.node import Tensor
from symc.graph.open_formulas import Answering, OpenFormula


class Tracer(Answering[ir.Expr]):
    """Expressions of elements, each computed once.

    `stored` gives the element of a node that is kept in memory (or None for nodes computed where
    they are used); `name` is told each newly computed element, and may give it a name.
    """

    def __init__(
        self,
        lowerings: Mapping[Tensor, Lowering],
        stored: Callable[[Tensor, Index], ir.Expr | None],
        name: Callable[[Tensor, Index, ir.Expr], ir.Expr],
    ) -> None:
        super().__init__(lowerings)
        self._stored = stored
        self._name = name
        self.memo: dict[tuple[Tensor, Index], ir.Expr] = {}

    def run(self, node: Tensor, formula: Formula, index: Index, inner: Index = ()) -> ir.Expr:
        """The value that a formula of `node`'s arguments gives at an index."""
        opened = OpenFormula(formula, index, inner)
        self.answer(node, opened)
        return opened.value()

    def target(self, node: Tensor, formula: IndexFormula, index: Index) -> Index:
        """The place that a formula of `node`'s arguments gives at an index."""
        opened = OpenFormula(formula, index)
        self.answer(node, opened)
        return opened.target()

    def ask(self, node: Tensor, index: Index) -> ir.Expr | OpenFormula:
        found = self.memo.get((node, index))
        if found is None:
            found = self._stored(node, index)
            if found is None:
                return OpenFormula(self.formula(node), index)
            self.memo[node, index] = found
        return found

    def give(self, opened: OpenFormula, found: ir.Expr) -> None:
        opened.elements.append(found)

    def finish(self, node: Tensor, opened: OpenFormula) -> ir.Expr:
        named = self._name(node, opened.index, opened.value())
        self.memo[node, opened.index] = named
        return named
