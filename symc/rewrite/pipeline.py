"""The phases of rewriting, in order."""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.dtypes import INT64
from symc.dims import sizes
from symc.graph import Tensor, walk
from symc.request import Optimised
from symc.rewrite.engine import Apply, Step, normalise


def rewrite(
    roots: Sequence[Tensor],
    conditions: Sequence[Tensor],
    *,
    mode: str = "default",
    outputs: int | None = None,
    trace: list[Step] | None = None,
) -> Optimised:
    """Rewrites the roots (the first `outputs` of them are outputs) and the conditions."""
    everything = [*roots, *conditions]
    phases = [expand_rules]
    for rules_for in phases:
        done = normalise(everything, rules_for, trace)
        everything = [done[node] for node in everything]
    scalars = _lengths(everything, phases, trace)
    split = len(roots) if outputs is None else outputs
    return Optimised(
        everything[:split], everything[split : len(roots)], everything[len(roots) :], scalars
    )


def expand_rules(node: Tensor) -> Sequence[tuple[str, Apply]]:
    """Composite ops become the simpler ops they stand for."""
    return (("expand", lambda node: node.op.expand(node)),)


def _lengths(roots: Sequence[Tensor], phases: Sequence, trace: list[Step] | None):  # type: ignore
    """The rewritten scalars whose values are lengths in the graph, by the original scalar."""
    from symc.tensor.elementwise import cast_to

    scalars: dict[Tensor, Tensor] = {}
    pending = list(roots)
    while pending:
        found = [
            size.source
            for node in walk(pending)
            for dim in node.type.shape
            if not isinstance(dim, int)
            for size in sizes(dim)
            if size.axis is None and size.source not in scalars
        ]
        pending = []
        for source in dict.fromkeys(found):
            value = cast_to(source, INT64)
            for rules_for in phases:
                value = normalise([value], rules_for, trace)[value]
            scalars[source] = value
            pending.append(value)
    return scalars
