"""The body of a kernel: for each stage, loops by how it is lowered.

Maps stand here; `folds.py`, `extremes.py`, `sweeps.py` and `writes.py` have the loops of the more
involved ways.
"""

from __future__ import annotations

from typing import assert_never

from symc.codegen import ir
from symc.graph.lowering import Alias, At, Control, Fold, HostCall, LibCall, Sweep, Write
from symc.lower import extremes, folds, sweeps, writes
from symc.lower.builder import KernelBuilder, Scope
from symc.lower.nesting import wrap
from symc.schedule.plan import Lone, Nest
from symc.schedule.stages import Stage


def nest_body(builder: KernelBuilder, nest: Nest) -> list[ir.Stmt]:
    """The body of a kernel for stages that share their outer loops."""
    first = nest.stages[0]
    prefix = builder.loops(0, nest.depth)
    scope = builder.scope([], None)
    for stage in nest.stages:
        _stage(builder, stage, prefix, scope)
    note = "; ".join(builder.context.describe(stage.node) for stage in nest.stages[-3:])
    extents = builder.extents(first, first.loops[: nest.depth])
    return wrap(prefix, extents, scope.statements(), "parallel", note)


def lone_body(builder: KernelBuilder, lone: Lone) -> list[ir.Stmt]:
    """The body of a kernel for one stage that shares no loops."""
    match lone.stage.lowering:
        case Write() as write:
            return writes.write(builder, lone.stage, write)
        case Sweep() as sweep:
            return sweeps.sweep(builder, lone.stage, sweep)
        case _:
            raise AssertionError(f"{lone.stage.node!r} is no kernel of its own")


def _stage(builder: KernelBuilder, stage: Stage, prefix: list[ir.Var], scope: Scope) -> None:
    lowering = stage.lowering
    match lowering:
        case At():
            _map(builder, stage, lowering, prefix, scope)
        case Fold(finds=True):
            extremes.find(builder, stage, lowering, prefix, scope)
        case Fold() if stage.column and builder.context.on_device:
            if prefix or not folds.is_long(lowering):
                folds.row(builder, stage, lowering, prefix, scope)
            else:
                folds.split(builder, stage, lowering, scope)
        case Fold() if stage.column:
            folds.column(builder, stage, lowering, prefix, scope)
        case Fold() if folds.is_large(builder, stage, lowering) and not prefix:
            folds.chunked(builder, stage, lowering, scope)
        case Fold():
            folds.row(builder, stage, lowering, prefix, scope)
        case Write() | Sweep() | LibCall() | HostCall() | Alias() | Control():
            raise AssertionError(f"{stage.node!r} cannot share loops")
        case _:
            assert_never(lowering)


def _map(
    builder: KernelBuilder, stage: Stage, lowering: At, prefix: list[ir.Var], scope: Scope
) -> None:
    own = stage.loops[len(prefix) :]
    loops = builder.loops(len(prefix), len(own))
    index = builder.index(stage, [*prefix, *loops])
    inner = scope if not own else builder.scope([], scope)
    value = inner.tracer.run(stage.node, lowering.element, index)
    builder.keep(stage, index, value, len(prefix), inner, scope)
    if own:
        note = builder.context.describe(stage.node)
        extents = builder.extents(stage, own)
        scope.block += wrap(loops, extents, inner.statements(), "parallel", note)
