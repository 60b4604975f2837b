"""Which sizes the text of some steps mentions: no others are declared there.

A loop whose checks were found to hold before it may need none of the lengths that they were about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.blocks import every_step
from symc.codegen.ir import Var
from symc.codegen.passes.kernels.memory import buffers_of, is_known
from symc.codegen.passes.walk import names_in, nodes
from symc.codegen.targets.host.steps import step_expressions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symc.codegen.ir import Expr, Step
    from symc.codegen.targets.host.writer import HostWriter


def used_sizes(host: HostWriter, steps: Sequence[Step]) -> set[str]:
    """The sizes that the text of all steps of a program mentions."""
    exprs = _mentioned(host, steps)
    exprs += [buffer.of.offset for buffer in host.program.buffers if buffer.of is not None]
    for size in host.program.sizes:
        if size.value is not None and size.var.name not in host.plan.early:
            exprs.append(size.value)
    return {node.name for expr in exprs for node in nodes(expr) if isinstance(node, Var)}


def sizes_inside(host: HostWriter, steps: Sequence[Step]) -> set[str]:
    """The sizes that a block of steps needs, with those that they follow from."""
    used = {name for step in every_step(steps) for name in buffers_of(step)}
    exprs = _mentioned(host, steps)
    for buffer in reversed(host.program.buffers):  # a row's own buffer is before it
        if buffer.of is not None and buffer.name in used:
            used.add(buffer.of.buffer)
            exprs.append(buffer.of.offset)
    names = set[str]().union(*map(names_in, exprs))
    for size in reversed(host.program.sizes):
        if size.value is not None and size.var.name in names:
            names |= names_in(size.value)
    return names


def _mentioned(host: HostWriter, steps: Sequence[Step]) -> list[Expr]:
    """What steps say of sizes, and the lengths of arrays whose memory is asked for among them."""
    exprs = [expr for step in every_step(steps) for expr in step_expressions(host, step)]
    if host.timed:
        from symc.codegen.targets.host.timers import arrays_of

        moves = [buffer for step in every_step(steps) for buffer in arrays_of(host, step)]
        exprs += [length for buffer in moves for length in buffer.shape]
    late = {b.name for b in host.outputs} | {item.buffer.name for item in host.plan.late}
    for buffer in host.program.buffers:
        if buffer.name in late and not all(is_known(s, host.plan.early) for s in buffer.shape):
            exprs += buffer.shape
    return exprs
