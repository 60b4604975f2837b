"""Closing a body: what steps compute from their parameters, and what is computed outside, once.

The boundary between both is made of the tensors that do not change from step to step and that
something needs which does: they become arguments of the loop or branch, and slots in its body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from symc.codegen.dtypes import INT64
from symc.graph.dims import Poly, sizes
from symc.graph.inputs import Constant
from symc.graph.node import Tensor
from symc.graph.walks import rebuild, substitute, walk
from symc.loops.body import Body, make_slots


def closed(
    params: Sequence[Tensor],
    results: Sequence[Tensor],
    inside: AbstractSet[Tensor] = frozenset(),
    in_parts: Callable[[Tensor, Tensor], bool] | None = None,
) -> tuple[Body, list[Tensor]]:
    """The body that computes `results` from `params`, and its other inputs from outside.

    The body's slots stand for the parameters first, then for the tensors from outside, in order.
    A subgraph that depends on no parameter is such an input: it is computed outside, once. But not
    a transpose of which there are only products, which need none in memory; nor what nodes that do
    depend on one only use as `in_parts` says. Nor those `inside`: as they may leave again, they
    depend on no parameter for its lengths either.
    """
    varying = set(params)
    order = walk(results, stop=lambda node: node in varying)
    varying |= inside
    for node in order:
        if any(arg in varying for arg in node.args):
            varying.add(node)
    if in_parts is not None:
        varying |= _only_used(order, results, varying, in_parts)
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


def _only_used(
    order: Sequence[Tensor], results: Sequence[Tensor], varying: AbstractSet[Tensor],
    by: Callable[[Tensor, Tensor], bool],
) -> set[Tensor]:  # fmt: skip
    """The arrays that do not vary, and that all nodes which do use in a certain way."""
    found: dict[Tensor, bool] = dict.fromkeys(results, False)
    for node in order:
        if node in varying:
            for arg in node.args:
                if arg not in varying:
                    found[arg] = found.get(arg, True) and by(node, arg)
    return {node for node, only in found.items() if only}


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
