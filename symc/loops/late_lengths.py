"""Lengths that only the steps of a loop need, and may fail, are 0 where a loop does no steps.

    symc.fori_loop(0, n, lambda i, total: total + (a[v[0]:] * i).sum(), 0.)

sums slices whose length depends on an element. Arrays have their lengths outside of the loop, so
the element is read before it; where there are no steps it must not fail. It becomes
``ifelse(n > 0, v[0], 0)``, and the slice one at that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symc.graph.inputs import scalar_constant
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import substitute, walk
from symc.loops.branch import chosen_of
from symc.loops.entered import Scope, may_fail, may_have_none
from symc.loops.paths import Path, computed_lengths, places_of
from symc.loops.scan import Scan


def late_lengths(
    roots: Sequence[Tensor], order: Sequence[Tensor], scope: Scope
) -> list[Tensor] | None:
    """The roots with such lengths; None if there are none."""
    lengths = dict.fromkeys(_lengths_of_steps(order))
    if not lengths:
        return None
    places = places_of(roots, order, lengths_inside=True)
    waiting: dict[Tensor, Tensor] = {}
    for length in lengths:
        way = _known(places.get(length, ()), length)
        if way and may_fail(_inside(length, places), scope, by_lengths=False):
            waiting[length] = _behind(way, length)
    return substitute(roots, waiting) if waiting else None


def _lengths_of_steps(order: Sequence[Tensor]) -> Iterator[Tensor]:
    """The values that are lengths of what loops, which may do no steps, need for all steps."""
    for node in order:
        if isinstance(node.op, Scan) and may_have_none(node.op, node.args):
            yield from computed_lengths(node.op.split(node.args)[3])


def _known(path: Path, length: Tensor) -> Path:
    """The part of a path whose conditions are known, and do not depend on the length."""
    for number, (condition, _) in enumerate(path):
        if condition is None or length in walk([condition]):
            return path[:number]
    return path


def _inside(length: Tensor, places: dict[Tensor, Path]) -> list[Tensor]:
    """What no other place than the one of a length needs."""
    return [node for node in walk([length]) if places.get(node)]


def _behind(way: Path, length: Tensor) -> Tensor:
    with located_at(length.where):
        value, none = length, scalar_constant(0, length.dtype)
        for condition, side in reversed(way):
            assert condition is not None
            sides = (value, none) if side else (none, value)
            (value,) = chosen_of(condition, *([each] for each in sides))
    value.name = length.name
    return value
