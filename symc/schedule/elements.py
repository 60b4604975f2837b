"""What elements are computed from, whoever reads them: the graph beneath all that is stored.

    Place     an index, in the loop variables of whoever stores the result
    Element   a node at a place, and the elements that it needs

What an element needs does not depend on the stage that reads it. So it is found once for all
stages, and holds as more nodes are stored: those are then not looked into. It takes time linear in
the number of elements, on an explicit stack: chains of a million ops need no deep Python stack.

Only int64 elements have a value, as they may be indexes; any other is just unknown. So are those of
nodes that were stored from the beginning.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from symc.codegen import ir
from symc.codegen.dtypes import INT64, DType
from symc.codegen.record import field, record
from symc.graph.inputs import Constant
from symc.graph.lowering import At, Index, Lowering, Read
from symc.graph.node import Tensor
from symc.tensor.elementwise import Elementwise, project

AnyReader: TypeAlias = Generator[Read, ir.Expr, Any]


class Place:
    """An index. Equal ones are the same place, so looking one up needs no hash of expressions."""

    __slots__ = ("index",)

    def __init__(self, index: Index) -> None:
        self.index = index


@record(frozen=False)
class Element:
    """A node at a place. Its `needs` are complete once it is `read`.

    `users` is a set of stages, the bits of a number: `stages.Analysis` sets it and leaves it 0.
    """

    node: Tensor
    place: Place
    reader: AnyReader | None = None
    needs: list[Element] = field(default_factory=list["Element"])
    value: ir.Expr | None = None
    read: bool = False
    done: bool = False
    users: int = 0

    __repr__ = object.__repr__  # not of all that it needs


class Elements:
    """All elements that were asked for. In `order`, each stands behind those that it needs."""

    def __init__(self, lowerings: Mapping[Tensor, Lowering], stored: AbstractSet[Tensor]) -> None:
        self.order: list[Element] = []
        self._lowerings = lowerings
        self._stored = stored
        self._places: dict[Index, Place] = {}
        self._known: dict[tuple[Tensor, Place], Element] = {}
        self._unknown: dict[DType, ir.Expr] = {}

    def needed(self, node: Tensor, readers: Iterable[AnyReader]) -> list[Element]:
        """The elements of a node's arguments that these readers ask for."""
        needs: list[Element] = []
        for reader in readers:
            root = Element(node, Place(()), reader)
            self._explore(root)
            self.order.pop()  # the root: nothing needs it
            needs += root.needs
        return needs

    def _explore(self, root: Element) -> None:
        """Finds what an element needs, and what all those need."""
        stack = [root]
        while stack:
            element = stack[-1]
            if not element.done:
                if not element.read:
                    pending = self._read(element)
                    if pending:
                        pending.reverse()
                        stack += pending
                        continue
                element.done = True
                self.order.append(element)
            stack.pop()

    def _read(self, element: Element) -> list[Element]:
        """Reads on as far as possible, and gives the elements to go on with before this one."""
        node = element.node
        if element.reader is None:
            if type(node.op) is Elementwise and node.type.dtype is not INT64:
                return self._read_arguments(element)
            lowering = self._lowerings[node]
            assert isinstance(lowering, At), f"{node!r} must be stored before it is read"
            element.reader = lowering.element(element.place.index)
        answer = self._answer(element.needs[-1]) if element.needs else None
        while True:
            try:
                # None starts a generator.
                request = element.reader.send(answer)  # type: ignore[arg-type]
            except StopIteration as stop:
                element.read = True
                element.value = _visible(stop.value)
                return [need for need in element.needs if not need.done]
            arg = node.args[request.arg]
            if isinstance(arg.op, Constant) and not arg.type.shape:
                answer = ir.number(arg.op.value.item(), arg.type.dtype)
                continue
            need = self._element(arg, self._place(project(request.index, arg.type.shape)))
            element.needs.append(need)
            if arg.type.dtype is INT64 and not need.done:
                return [need]  # it may decide what is asked for next
            answer = self._answer(need)

    def _read_arguments(self, element: Element) -> list[Element]:
        """The same for an elementwise node, at a fraction of the cost: most nodes are."""
        node, here, known = element.node, element.place, self._known
        shape = node.type.shape
        needs = element.needs
        for arg in node.args:
            own = arg.type.shape
            if not own and isinstance(arg.op, Constant):
                continue
            place = here if own is shape else self._place(project(here.index, own))
            need = known.get((arg, place))
            needs.append(self._element(arg, place) if need is None else need)
        element.read = True
        return [need for need in needs if not need.done]

    def _place(self, index: Index) -> Place:
        found = self._places.get(index)
        if found is None:
            found = self._places[index] = Place(index)
        return found

    def _element(self, node: Tensor, place: Place) -> Element:
        found = self._known.get((node, place))
        if found is None:
            found = self._known[node, place] = Element(node, place)
            if node in self._stored:
                found.read = found.done = True
                self.order.append(found)
        return found

    def _answer(self, element: Element) -> ir.Expr:
        """What a reader gets that asks for an element."""
        if element.value is not None:
            return element.value
        dtype = element.node.type.dtype
        found = self._unknown.get(dtype)
        if found is None:
            found = self._unknown[dtype] = ir.Var("?", dtype)
        return found


def _visible(value: Any) -> ir.Expr | None:
    """Index arithmetic as it is (a gather at arange(n) is the identity); all else is unknown."""
    small = isinstance(value, ir.Var | ir.Const | ir.Binary) and value.dtype is INT64
    return value if small else None
