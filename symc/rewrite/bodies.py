"""What rewriting does to loops and branches. Graphs without any do not import the files for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symc.graph.node import Tensor
from symc.graph.walks import walk


def _has_bodies(roots: Sequence[Tensor]) -> bool:
    return any(node.op.is_control for node in walk(roots))


def prepared_bodies(roots: Sequence[Tensor], *, exact: bool) -> list[Tensor]:
    """The roots before all phases: loops improved, conditions in bodies, branches that write.

    For `exact` see `improve_loops`.
    """
    if not _has_bodies(roots):
        return list(roots)
    from symc.loops.improve import improve_loops
    from symc.loops.inside import with_conditions
    from symc.loops.reads import measured_before_writing
    from symc.loops.writing import write_in_place

    written = write_in_place(with_conditions(improve_loops(roots, exact=exact)))
    return measured_before_writing(written)


def conditions_in_bodies(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots with conditions of steps as results of the bodies."""
    if not _has_bodies(roots):
        return list(roots)
    from symc.loops.inside import with_conditions

    return with_conditions(roots)


def improved_bodies(
    roots: Sequence[Tensor],
    improve: Callable[[Sequence[Tensor]], Sequence[Tensor]],
    *,
    exact: bool,
) -> list[Tensor]:
    """The roots after all phases: with the results of bodies improved, and rows collected.

    Unless `exact`, matrices that steps multiply transposed are turned before the loop.
    """
    if not _has_bodies(roots):
        return list(roots)
    from symc.loops.inside import improved
    from symc.loops.rows import collect_rows
    from symc.loops.turned import turn_before

    after = collect_rows(improved(roots, improve))
    return after if exact else turn_before(after)
