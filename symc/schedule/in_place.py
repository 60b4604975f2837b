"""Updates in place: which units overwrite a shared variable, and what must then come before them.

`overwriting.py` says when one unit may; here its readers elsewhere are put before it.
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.graph.inputs import SharedVariable
from symc.graph.node import Tensor
from symc.schedule.dependencies import Groups
from symc.schedule.overwriting import looks_at, may_overwrite, uses
from symc.schedule.reasons import (
    Copied,
    CopyReason,
    MayFail,
    OtherKind,
    ReadAfter,
    ReadWhileWritten,
)
from symc.schedule.stages import Stage


def choose_in_place(groups: Groups) -> tuple[list[SharedVariable], list[Copied]]:
    """The shared variables whose new value may overwrite the old one as it is computed, and the
    others with why not."""
    chosen: list[SharedVariable] = []
    copied: list[Copied] = []
    if not groups.problem.updates:
        return chosen, copied
    needed = groups.needed()  # what fails later must find nothing changed
    others: dict[Tensor, list[int]] = {}
    for number, unit in groups.extra.items():
        if unit.node is not None:
            others.setdefault(unit.node, []).append(number)
    for shared, node in groups.problem.updates:
        writer = looks_at(node, groups.stages)
        if writer not in groups.group_of:
            reason: CopyReason | None = OtherKind()
        elif groups.group_of[writer] in needed:
            reason = MayFail()
        else:
            reason = _claim(groups, shared, node, groups.stages[writer], others)
        if reason is None:
            chosen.append(shared)
        else:
            copied.append(Copied(shared, reason))
    return chosen, copied


def _claim(
    groups: Groups,
    shared: SharedVariable,
    node: Tensor,
    writer: Stage,
    others: Mapping[Tensor, list[int]],
) -> CopyReason | None:
    """Puts all else that reads a variable before the writer, or says why it must not overwrite."""
    dims, group = groups.problem.dims, groups.group_of[writer.node]
    if dims[shared] != dims[node] or shared.dtype is not node.dtype:
        return OtherKind()
    found = list(uses(shared, groups.readers, groups.stages, groups.group_of, others))
    own = [use for use in found if use.unit == group]
    if not may_overwrite(writer, groups.members[group], groups.depth[group], own, dims):
        return ReadWhileWritten()
    readers = {use.unit for use in found} - {group}
    for reader in readers:
        if groups.reaches(group, reader):
            return ReadAfter(groups.sign(reader))
    for reader in readers:
        groups.edge(reader, group)
    return None
