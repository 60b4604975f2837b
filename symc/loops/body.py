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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from symc.codegen.dtypes import INT64, DType
from symc.codegen.record import record
from symc.graph.computation import Computation
from symc.graph.dims import Dim, Poly, Size, sizes, symbolic
from symc.graph.dims import substitute as replaced
from symc.graph.inputs import Constant
from symc.graph.node import Array, Op, Requirement, Tensor
from symc.graph.provenance import NOWHERE
from symc.graph.types import TensorType
from symc.graph.walks import rebuild, substitute, walk


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
) -> Iterator[Requirement]:
    """Those conditions of a body that compare lengths which `length` knows outside."""
    for _, requirement in found:
        if isinstance(requirement.holds, tuple):
            left, right = map(length, requirement.holds)
            if left is not None and right is not None:
                yield Requirement((left, right), requirement.error, _message(requirement, length))


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


def closed(
    params: Sequence[Tensor], results: Sequence[Tensor], inside: AbstractSet[Tensor] = frozenset()
) -> tuple[Body, list[Tensor]]:
    """The body that computes `results` from `params`, and its other inputs from outside.

    The body's slots stand for the parameters first, then for the tensors from outside, in order.
    A subgraph that depends on no parameter is such an input: it is computed outside, once. But not
    a transpose of which there are only products, which need none in memory. Nor those `inside`: as
    they may leave again, they depend on no parameter for its lengths either.
    """
    varying = set(params)
    order = walk(results, stop=lambda node: node in varying)
    varying |= inside
    for node in order:
        if any(arg in varying for arg in node.args):
            varying.add(node)
    boundary = _boundary(order, results, varying)
    turned = _only_multiplied(order, results, varying)
    captured, replaced = slots_for(params, boundary, turned, () if inside else params)
    slots = tuple(replaced[node] for node in (*params, *captured))
    return Body(slots, over_slots(results, replaced)), captured


def over_slots(results: Sequence[Tensor], replaced: Mapping[Tensor, Tensor]) -> tuple[Tensor, ...]:
    """The results, computed from slots in place of parameters and of what is outside.

    Of an array from outside that has ``max(k, 0) + 1`` rows a body does not know that there is one:
    lengths that were known with it, such as that of its first row, are promised inside.
    """
    from symc.tensor.specify import specify_length

    done = dict(replaced)
    for node in walk(results, stop=lambda node: node in replaced):
        if node in done:
            continue
        inside = rebuild(node, [done[arg] for arg in node.args])
        if inside.type.shape != node.type.shape:
            for axis, length in enumerate(node.type.shape):
                inside = specify_length(inside, axis, length) if isinstance(length, int) else inside
        done[node] = inside
    return tuple(done[result] for result in results)


def slots_for(
    params: Sequence[Tensor], boundary: Iterable[Tensor],
    turned: AbstractSet[Tensor] = frozenset(), measured_by: Sequence[Tensor] = (),
) -> tuple[list[Tensor], dict[Tensor, Tensor]]:  # fmt: skip
    """Inputs of a body from outside, and the slots that stand for them and for the parameters.

    Instead of values that follow from lengths, the arrays: lengths are known everywhere. Of those
    that are `turned`, their arguments. The positions of a slice are counted inside. An array of
    which only lengths are needed is left out if others have them: a loop around may change it, and
    what is computed from the others alone can be computed before that loop.
    """
    from symc.tensor.lengths import length

    captured: dict[Tensor, bool] = {}  # whether more than lengths of it is needed
    lengths: dict[Tensor, Tensor] = {}
    for node in boundary:
        inside = _from_lengths(node)
        if inside is None and node in turned:
            lengths[node] = node
            captured[node.args[0]] = True
        elif inside is None:
            bounds = _bounds_counted(node)
            for bound in [node] if bounds is None else bounds:
                if bound is node or _length(bound) is None:
                    captured[bound] = True
                else:
                    captured = captured | _leaves(bound, params, captured)
            if node not in captured:
                lengths[node] = node
        else:
            lengths[node] = inside
            captured = captured | _leaves(inside, params, captured)
    owners = [*measured_by, *(node for node, is_needed in captured.items() if is_needed)]
    alike = _lengths_of_others(list(lengths.values()), captured.keys() - owners, owners)
    kept = [node for node, is_needed in captured.items() if is_needed or node not in alike]
    made = make_slots([*params, *kept], () if measured_by else kept)
    measured = {
        node: length(made[other], axis)
        for found in alike.values()
        for node, (other, axis) in found.items()
    }
    given = substitute(list(lengths.values()), {**made, **measured})
    return kept, {**dict(zip(lengths, given, strict=True)), **made}


def _lengths_of_others(
    values: Sequence[Tensor], arrays: AbstractSet[Tensor], owners: Sequence[Tensor]
) -> dict[Tensor, dict[Tensor, tuple[Tensor, int]]]:
    """For arrays that values need only for lengths that owners have: these, and where they are."""
    from symc.tensor.lengths import Length

    places = {
        dim: (owner, axis)
        for owner in reversed(owners)
        for axis, dim in enumerate(owner.type.shape)
    }
    found: dict[Tensor, dict[Tensor, tuple[Tensor, int]]] = {}
    missing: set[Tensor] = set()
    for node in walk(values):
        for array in node.args:
            if array in arrays:
                place = places.get(node.op.dim(node)) if isinstance(node.op, Length) else None
                if place is None:
                    missing.add(array)
                else:
                    found.setdefault(array, {})[node] = place
    return {array: nodes for array, nodes in found.items() if array not in missing}


def _leaves(
    node: Tensor, params: Sequence[Tensor], known: Mapping[Tensor, bool]
) -> dict[Tensor, bool]:
    """What a node is computed from, constants, parameters and what is known left out."""
    leaves = [leaf for leaf in walk([node]) if not leaf.args and leaf not in params]
    return {
        leaf: False for leaf in leaves if leaf not in known and not isinstance(leaf.op, Constant)
    }


def _bounds_counted(node: Tensor) -> list[Tensor] | None:
    """What the positions of a slice follow from, perhaps along another axis; None of others."""
    from symc.tensor.positions import Positions
    from symc.tensor.views import DimShuffle

    while isinstance(node.op, DimShuffle):
        node = node.args[0]
    if not isinstance(node.op, Positions):
        return None
    return [arg for arg in node.args if not isinstance(arg.op, Constant)]


def _from_lengths(node: Tensor) -> Tensor | None:
    """A number, or an array of one number, computed from lengths of arrays that are given."""
    from symc.tensor.lengths import tensor_of
    from symc.tensor.views import BroadcastTo

    if not isinstance(node.op, BroadcastTo):
        dim = _length(node)
        return None if dim is None else tensor_of(dim)
    value, *holes = node.args
    if value.type.shape or not isinstance(value.op, Constant):
        return None
    dims = [_length(hole) for hole in holes]
    known = [tensor_of(dim) for dim in dims if dim is not None]
    return node.op(value, *known) if len(known) == len(holes) else None


def _length(node: Tensor) -> Poly | None:
    """The length that an integer computes from lengths of arrays that are given; or None."""
    from symc.tensor.lengths import dim_of

    if node.ndim or node.dtype is not INT64 or not node.args:
        return None
    dim = dim_of(node)
    if isinstance(dim, int) or any(size.axis is None or size.source.args for size in sizes(dim)):
        return None
    return dim


def _only_multiplied(
    order: Sequence[Tensor], results: Sequence[Tensor], varying: AbstractSet[Tensor]
) -> set[Tensor]:
    """The transposed arrays that do not vary, and that nothing but products needs which do."""
    from symc.tensor.matrix_product import MatMul, MatVec
    from symc.tensor.views import DimShuffle

    found: dict[Tensor, bool] = dict.fromkeys(results, False)
    for node in order:
        if node in varying:
            for arg in node.args:
                if isinstance(arg.op, DimShuffle) and arg not in varying:
                    found[arg] = isinstance(node.op, MatMul | MatVec) and found.get(arg, True)
    return {
        node
        for node, only in found.items()
        if only and not isinstance(node.args[0].op, Constant) and node.ndim == node.args[0].ndim
    }


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
