"""The graph of elements beneath all that is stored: which each is computed from, whoever reads it.

    ElementPlace   an index, in the loop variables of whoever stores the result
    Element        a node at a place, and the elements that it needs

The needs of an element do not depend on the stage that reads it. So they are found once for all
stages, and hold as more nodes are stored: those are then not looked into. It takes time linear in
the number of elements.

Only int64 elements have a value, as they may be indexes; any other is just unknown. So are those of
nodes that were stored from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from symc.codegen import ir
from symc.codegen.dtypes import INT64, DType
from symc.codegen.record import record
from symc.graph.formulas import Formula, Index, IndexFormula
from symc.graph.lowering import Lowering
from symc.graph.node import Tensor
from symc.graph.open_formulas import Answering, OpenFormula

UNKNOWN = "?"  # the name of a number in an index that only memory tells


class ElementPlace:
    """An index. Equal ones are the same place, so looking one up needs no hash of expressions."""

    __slots__ = ("index",)

    def __init__(self, index: Index) -> None:
        self.index = index


@record(frozen=False)
class Element:
    """A node at a place, with its needs; `value` is its variable where that is unknown.

    `users` is a set of stages, the bits of a number: `stages.Analysis` sets it and leaves it 0.
    """

    node: Tensor
    place: ElementPlace
    needs: list[Element]
    value: ir.Expr
    users: int = 0

    __repr__ = object.__repr__  # not of all that it needs


class Asked(OpenFormula):
    """An open formula that keeps its elements. `place` is where it leads to an element."""

    __slots__ = ("needs", "place")

    def __init__(
        self,
        formula: Formula | IndexFormula,
        index: Index,
        inner: Index = (),
        place: ElementPlace | None = None,
    ) -> None:
        super().__init__(formula, index, inner)
        self.place = place
        self.needs: list[Element] = []


class Elements(Answering[Element]):
    """All elements that were asked for. In `order`, each stands after those that it needs."""

    def __init__(self, lowerings: Mapping[Tensor, Lowering], stored: AbstractSet[Tensor]) -> None:
        super().__init__(lowerings)
        self.order: list[Element] = []
        self._stored = stored
        self._places: dict[Index, ElementPlace] = {}
        self._last = ElementPlace(())
        self._known: dict[tuple[Tensor, ElementPlace], Element] = {}
        self._unknown: dict[DType, ir.Expr] = {}

    def needed(self, node: Tensor, formulas: Iterable[Asked]) -> list[Element]:
        """The elements of a node's arguments that these formulas ask for."""
        needs: list[Element] = []
        for opened in formulas:
            self.answer(node, opened)
            needs += opened.needs
        return needs

    def ask(self, node: Tensor, index: Index) -> Element | OpenFormula:
        place = self._place(index)
        found = self._known.get((node, place))
        if found is not None:
            return found
        if node not in self._stored:
            return Asked(self.formula(node), place.index, place=place)
        return self._new(node, place, [], None)

    def give(self, opened: OpenFormula, found: Element) -> None:
        assert isinstance(opened, Asked)
        opened.elements.append(found.value)
        opened.needs.append(found)

    def finish(self, node: Tensor, opened: OpenFormula) -> Element:
        assert isinstance(opened, Asked)
        assert opened.place is not None
        value = _visible(opened.value()) if node.type.dtype is INT64 else None
        return self._new(node, opened.place, opened.needs, value)

    def _new(
        self, node: Tensor, place: ElementPlace, needs: list[Element], value: ir.Expr | None
    ) -> Element:
        dtype = node.type.dtype
        if value is None:
            value = self._unknown.get(dtype)
            if value is None:
                value = self._unknown[dtype] = ir.Var(UNKNOWN, dtype)
        found = self._known[node, place] = Element(node, place, needs, value)
        self.order.append(found)
        return found

    def _place(self, index: Index) -> ElementPlace:
        last = self._last
        if index is last.index:
            return last
        found = self._places.get(index)
        if found is None:
            found = self._places[index] = ElementPlace(index)
        self._last = found
        return found


def _visible(value: ir.Expr) -> ir.Expr | None:
    """Index arithmetic as it is (a gather at arange(n) is the identity); all else is unknown."""
    return value if isinstance(value, ir.Var | ir.Const | ir.Binary) else None
