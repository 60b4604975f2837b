"""Bodies: closed graphs over slots, which loops repeat and branches choose between.

    body = Body(slots, results)      results are computed from the slots and constants alone

A body is traced with ordinary inputs, whatever it uses from outside and does not change from step
to step becoming an argument (so it is computed once, before the loop). Then slots take the place of
inputs and arguments. A slot is known by its number and type, and nodes are interned: equal bodies
are the same nodes, so loops written twice are one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from weakref import WeakValueDictionary

from symc.codegen.dtypes import DType
from symc.codegen.record import record
from symc.dims import Dim, Size, symbolic
from symc.graph import NOWHERE, Array, Op, Tensor, substitute, walk
from symc.inputs import Constant
from symc.types import TensorType


@record
class Slot(Op):
    """Parameter `number` of a body, of a dtype and with these lengths (None: known outside).

    The name belongs to it, so that generated text depends on nothing but the graph.
    """

    number: int
    dtype: DType
    declared: tuple[int | None, ...]
    name: str | None = None

    def infer(self, *args: Tensor) -> TensorType:
        raise AssertionError("slots get their type when they are made")

    def evaluate(self, *args: Array) -> Array:
        raise AssertionError("slots are given, not computed")

    def key(self) -> str:
        return f"Slot({self.number}, {self.dtype}, {self.declared}, {self.name})"


_slots: WeakValueDictionary[Slot, Tensor] = WeakValueDictionary()


def slot(
    number: int, dtype: DType, declared: tuple[int | None, ...], name: str | None = None
) -> Tensor:
    """The one node of a slot."""
    op = Slot(number, dtype, declared, name)
    found = _slots.get(op)
    if found is None:
        found = Tensor(op, (), TensorType(dtype, ()), NOWHERE)
        found.name = name
        dims: list[Dim] = [
            symbolic(Size(found, axis)) if length is None else length
            for axis, length in enumerate(declared)
        ]
        found.type = TensorType(dtype, tuple(dims))
        found = _slots.setdefault(op, found)
    return found


def declared_lengths(shape: Sequence[Dim]) -> tuple[int | None, ...]:
    """The lengths of a shape that are numbers, None for the others."""
    return tuple(dim if isinstance(dim, int) else None for dim in shape)


@record
class Body:
    """Results computed from slots, and from nothing else but constants."""

    slots: tuple[Tensor, ...]
    results: tuple[Tensor, ...]

    def evaluate(self, *values: Array) -> list[Array]:
        """The results, given a value for each slot."""
        from symc.evaluate import evaluate

        return evaluate(self.results, dict(zip(self.slots, values, strict=True)))

    def at(self, args: Sequence[Tensor]) -> list[Tensor]:
        """The results with the slots replaced: the body written out once."""
        return substitute(self.results, dict(zip(self.slots, args, strict=True)))

    def key(self) -> str:
        """Text that is equal exactly for equal bodies, in every process."""
        number: dict[Tensor, int] = {}
        lines: list[str] = []
        for node in (*self.slots, *walk(self.results)):
            if node not in number:
                args = ",".join(str(number[arg]) for arg in node.args)
                lines.append(f"{node.op.key()}({args})={node.name or ''}")
                number[node] = len(number)
        results = ",".join(str(number[result]) for result in self.results)
        return f"Body({len(self.slots)}; {results}; {'; '.join(lines)})"

    def lengths(self, args: Sequence[Tensor], skip: Sequence[int]) -> Callable[[Size], Dim]:
        """What lengths of the slots are outside: those of `args`, but for `skip` leading axes."""
        from symc.tensor.lengths import dim_of

        outside: dict[Tensor, tuple[Tensor, int]] = {
            each: (arg, axes) for each, arg, axes in zip(self.slots, args, skip, strict=True)
        }

        def length(size: Size) -> Dim:
            found = outside.get(size.source)
            if found is None:
                return symbolic(size)
            arg, axes = found
            return dim_of(arg) if size.axis is None else arg.type.shape[size.axis + axes]

        return length


def closed(params: Sequence[Tensor], results: Sequence[Tensor]) -> tuple[Body, list[Tensor]]:
    """The body that computes `results` from `params`, and what else it needs from outside.

    The body's slots stand for the parameters first, then for the tensors from outside, in order.
    What depends on no parameter is such a tensor as a whole: it is computed outside, once.
    """
    varying = set(params)
    order = walk(results, stop=lambda node: node in varying)
    for node in order:
        if any(arg in varying for arg in node.args):
            varying.add(node)
    captured = dict.fromkeys(_boundary(order, results, varying))
    for_node: dict[Tensor, Tensor] = {}
    for node in (*params, *captured):
        declared = declared_lengths(node.type.shape)
        for_node[node] = slot(len(for_node), node.dtype, declared, node.name)
    body = Body(tuple(for_node.values()), tuple(substitute(results, for_node)))
    return body, list(captured)


def _boundary(
    order: Sequence[Tensor], results: Sequence[Tensor], varying: set[Tensor]
) -> Iterator[Tensor]:
    """The nodes that do not vary but are needed by one that does, or are results themselves."""
    for node in order:
        if node in varying:
            for arg in node.args:
                if arg not in varying and not isinstance(arg.op, Constant):
                    yield arg
    for node in results:
        if node not in varying and not isinstance(node.op, Constant):
            yield node
