"""Bodies: closed graphs over slots, which loops repeat and branches choose between.

    body = Body(slots, results)      results are computed from the slots and constants alone

A body is traced with ordinary inputs, whatever it uses from outside and does not change from step
to step becoming an argument (so it is computed once, before the loop). Then slots take the place of
inputs and arguments. A slot is known by its number and type, and nodes are interned: equal bodies
are the same nodes, so loops written twice are one loop.
"""

from __future__ import annotations

import atexit
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from symc.codegen.dtypes import INT64, DType
from symc.codegen.record import record
from symc.graph.computation import Computation
from symc.graph.dims import Dim, Size, sizes, symbolic
from symc.graph.dims import substitute as replaced
from symc.graph.node import Array, Op, Requirement, Tensor
from symc.graph.provenance import NOWHERE
from symc.graph.types import TensorType
from symc.graph.walks import substitute, walk


@record
class Slot(Op):
    """Parameter `number` of a body, of a dtype and with these lengths.

    A length is a number, or follows from those of other slots, or (None) is known outside. The name
    belongs to it, so that generated text depends on nothing but the graph.
    """

    number: int
    dtype: DType
    declared: tuple[Dim | None, ...]
    name: str | None = None

    def infer(self, *args: Tensor) -> TensorType:
        raise AssertionError("slots get their type when they are made")

    def evaluate(self, *args: Array) -> Array:
        raise AssertionError("slots are given, not computed")

    def key(self) -> str:
        declared = ", ".join("None" if dim is None else _text(dim) for dim in self.declared)
        return f"Slot({self.number}, {self.dtype}, ({declared}), {self.name})"


def _text(dim: Dim) -> str:
    """A length in lengths of slots, which are known by their numbers."""
    if isinstance(dim, int):
        return str(dim)
    terms: list[str] = []
    for monomial, factor in dim.terms:
        atoms = [
            f"{atom.source.op.number}.{atom.axis}"
            if isinstance(atom, Size)
            else f"{atom.kind}({_text(atom.left)}, {_text(atom.right)})"
            for atom in monomial
        ]
        terms.append("*".join([str(factor), *atoms]))
    return " + ".join(terms)


_slots: WeakValueDictionary[Slot, Tensor] = WeakValueDictionary()


def slot(
    number: int, dtype: DType, declared: tuple[Dim | None, ...], name: str | None = None
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


def make_slots(nodes: Sequence[Tensor], measured: Sequence[Tensor] = ()) -> dict[Tensor, Tensor]:
    """A slot for each of some tensors; lengths that are related outside are so inside, too.

    They are said by those of the `measured` where these have them.
    """
    places: dict[Size, tuple[Tensor, int | None]] = {}  # where each length is seen as it is
    for node in (*measured, *nodes):
        if not node.ndim and node.dtype is INT64:
            places.setdefault(Size(node, None), (node, None))
        for axis, dim in enumerate(node.type.shape):
            size = None if isinstance(dim, int) else next(sizes(dim), None)
            if size is not None and symbolic(size) is dim:
                places.setdefault(size, (node, axis))
    made: dict[Tensor, Tensor] = {}
    numbers = {node: number for number, node in enumerate(nodes)}
    pending = list(nodes)
    while pending:
        ready = [node for node in pending if _places_of(node, places).issubset(made)]
        for node in ready or pending[:1]:
            declared = tuple(
                _declared(dim, (node, axis), places, made)
                for axis, dim in enumerate(node.type.shape)
            )
            made[node] = slot(numbers[node], node.dtype, declared, node.name)
        pending = [node for node in pending if node not in made]
    return made


def _places_of(node: Tensor, places: Mapping[Size, tuple[Tensor, int | None]]) -> set[Tensor]:
    """The other tensors that the lengths of a tensor follow from."""
    found = {places[size][0] for dim in node.type.shape for size in sizes(dim) if size in places}
    return found - {node}


def _declared(
    dim: Dim,
    own: tuple[Tensor, int],
    places: Mapping[Size, tuple[Tensor, int | None]],
    made: Mapping[Tensor, Tensor],
) -> Dim | None:
    """A length in those of slots that are there already; None if it does not follow from them."""
    found = [places.get(size, own) for size in sizes(dim)]
    if any(place == own or place[0] not in made for place in found):
        return None

    def inside(size: Size) -> Dim:
        node, axis = places[size]
        return symbolic(Size(made[node], axis))

    return replaced(dim, inside)


Checks: TypeAlias = tuple[tuple[int, ...], ...]
"""For each condition that a body has as a result, which of them it waits for."""


@record
class Body:
    """Results computed from slots, and from nothing else but constants."""

    slots: tuple[Tensor, ...]
    results: tuple[Tensor, ...]

    def evaluate(self, *values: Array) -> list[Array]:
        """The results, given a value for each slot."""
        return self.computed()(values)

    def computed(self) -> Callable[[Sequence[Array]], list[Array]]:
        """`evaluate` for many values, one after the other."""
        from symc.graph.conditions import check_all
        from symc.graph.interpreter import evaluate, is_watched

        if not is_watched():
            return _computation(self).run

        def watched(values: Sequence[Array]) -> list[Array]:
            given = dict(zip(self.slots, values, strict=True))
            check_all(self.conditions(), given)
            return evaluate(self.results, given)

        return watched

    def conditions(self) -> Sequence[tuple[Tensor, Requirement]]:
        """The run-time conditions, each with the node that needs it."""
        return _conditions(self.results)

    def at(self, args: Sequence[Tensor]) -> list[Tensor]:
        """The results with the slots replaced: the body written out once."""
        return substitute(self.results, dict(zip(self.slots, args, strict=True)))

    def key(self) -> str:
        """Text that is equal exactly for equal bodies, in every process."""
        return _key(self)

    def lengths(
        self, args: Sequence[Tensor | None], skip: Sequence[int]
    ) -> Callable[[Dim], Dim | None]:
        """Lengths in the body as lengths outside, where slots are `args` less `skip` leading axes.

        None for those that are known inside only: they depend on values of rows, or of slots that
        stand for nothing outside.
        """
        from symc.tensor.lengths import dim_of

        outside = dict(zip(self.slots, zip(args, skip, strict=True), strict=True))

        def known(size: Size) -> bool:
            arg, axes = outside.get(size.source, (None, 0))
            return arg is not None and not (size.axis is None and axes)

        def length(size: Size) -> Dim:
            arg, axes = outside[size.source]
            assert arg is not None
            return dim_of(arg) if size.axis is None else arg.type.shape[size.axis + axes]

        def translated(dim: Dim) -> Dim | None:
            return replaced(dim, length) if all(map(known, sizes(dim))) else None

        return translated


@lru_cache(maxsize=256)
def _conditions(results: tuple[Tensor, ...]) -> Sequence[tuple[Tensor, Requirement]]:
    from symc.graph.conditions import requirements

    return requirements(walk(results))


@lru_cache(maxsize=256)
def _computation(body: Body) -> Computation:
    return Computation(body.slots, body.results, body.conditions())


@lru_cache(maxsize=256)
def _key(body: Body) -> str:
    """A digest: each result of a branch has its bodies, so that text would double with each level.

    For the same reason it is kept, as are the lengths below.
    """
    number: dict[Tensor, int] = {}
    lines: list[str] = []
    for node in (*body.slots, *walk(body.results)):
        if node not in number:
            args = ",".join(str(number[arg]) for arg in node.args)
            lines.append(f"{node.op.key()}({args})={node.name or ''}")
            number[node] = len(number)
    results = ",".join(str(number[result]) for result in body.results)
    text = f"{len(body.slots)}; {results}; {'; '.join(lines)}"
    return f"Body({hashlib.sha256(text.encode()).hexdigest()})"


@lru_cache(maxsize=256)
def _lengths_in(results: tuple[Tensor, ...]) -> tuple[tuple[Dim, tuple[Dim, ...]], ...]:
    """Each length in a body of which some value is part, with these values."""
    dims = {dim: None for node in walk(results) for dim in _lengths_at(node)}
    found = [
        (dim, tuple(symbolic(size) for size in sizes(dim) if size.axis is None)) for dim in dims
    ]
    return tuple((dim, values) for dim, values in found if values)


# Nodes that outlive the import system cannot be compared.
for _kept in (_conditions, _computation, _key, _lengths_in):
    atexit.register(_kept.cache_clear)


def outside(
    found: Sequence[tuple[Tensor, Requirement]], length: Callable[[Dim], Dim | None]
) -> Iterator[tuple[Tensor, Requirement]]:
    """Those conditions of a body that compare lengths which `length` knows outside, and of what."""
    for node, requirement in found:
        if isinstance(requirement.holds, tuple):
            left, right = map(length, requirement.holds)
            if left is not None and right is not None:
                message = _message(requirement, length)
                yield node, Requirement((left, right), requirement.error, message)


def _message(
    requirement: Requirement, length: Callable[[Dim], Dim | None]
) -> Callable[[Callable[[Any], Any]], str]:
    def message(value: Callable[[Any], Any]) -> str:
        return requirement.message(
            lambda what: value(what if isinstance(what, Tensor) else length(what))
        )

    return message


def value_lengths(body: Body, length: Callable[[Dim], Dim | None]) -> Iterator[Dim]:
    """The lengths in a body that are values of scalars outside, not lengths of arrays there.

    Of a length that depends on values inside as well, as that of ``x[i:k]``, those outside. These
    are named in any case: where ``x[k:0]`` is known to have no elements, a step may still ask where
    its first one is.
    """
    for dim, values in _lengths_in(body.results):
        for each in (dim, *values):
            found = length(each)
            if found is not None:
                yield found


def _lengths_at(node: Tensor) -> Iterator[Dim]:
    """The lengths of a node, and those that a loop or branch needs inside."""
    yield from node.type.shape
    yield from node.op.value_lengths(node.args)
