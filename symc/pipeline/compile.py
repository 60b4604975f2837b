"""The pipeline: from a request to the source of one C file. Read it from top to bottom.

    request -> conditions -> rewrite -> schedule -> lower -> passes -> emit

Each arrow is one data type; no stage knows another; only this file knows them all. `library.py`
asks the cache first, and compiles and loads the source that comes out here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from symc.graph.collector import without_collection

with without_collection(stays=True):  # the whole compiler is imported here
    from symc.codegen import ir
    from symc.codegen.dtypes import BFLOAT16
    from symc.codegen.record import record
    from symc.codegen.targets.base import Source, Target
    from symc.codegen.targets.named import target_named
    from symc.graph.conditions import as_tests, lengths_in, requirements, waits
    from symc.graph.inputs import Constant, SharedVariable
    from symc.graph.node import Array, Tensor
    from symc.graph.request import Request
    from symc.graph.walks import walk, walk_within
    from symc.lower.lower import lower, program_names
    from symc.lower.places import Interface
    from symc.rewrite.engine import Rewrite
    from symc.rewrite.pipeline import rewrite
    from symc.schedule.plan import Plan
    from symc.schedule.prepare import Prepared, prepare
    from symc.schedule.schedule import schedule


@record(frozen=False)
class Compilation:
    """Everything on the way from the graph to the source, for people to look at."""

    nodes_before: int
    rewritten: list[Tensor]
    plan: Plan
    program: ir.Program
    optimised: ir.Program
    source: Source
    constants: list[Array]
    in_place: set[SharedVariable]
    given: dict[int, int]
    """The outputs that are written into the memory of an input, with the input: their numbers."""
    hosts: list[list[Tensor]]
    """For each call into Python the nodes that it computes."""
    holds: dict[str, list[Tensor]]
    """The nodes whose values each buffer gets."""
    computes: dict[str, list[Tensor]]
    """The nodes that each kernel of `program` computes."""
    trace: list[Rewrite] | None
    """Every rewrite that happened, if asked for."""


class Clock:
    """Times the stages of one compilation."""

    def __init__(self, seconds: dict[str, float] | None = None) -> None:
        self.seconds: dict[str, float] = {} if seconds is None else seconds
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Ends a stage."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


def build(
    request: Request,
    *,
    mode: str,
    clock: Clock,
    target: Target | None = None,
    trace: list[Rewrite] | None = None,
) -> Compilation:
    """The Python part: from the graph to the source. A `trace` gets every rewrite that happens."""
    target = target_named("c") if target is None else target
    order = walk(request.roots())
    found = requirements(order)
    tests = as_tests(found)
    rewritten = rewrite(
        request.roots(), [test.node for test in tests if test.node is not None],
        mode=mode, outputs=len(request.outputs), lengths=lengths_in(found), trace=trace,
    )  # fmt: skip
    clock.lap("rewrite")

    names = program_names()
    prepared = prepare(request, rewritten, found, tests, waits(found, tests), names, mode, target)
    plan = schedule(prepared.problem)
    clock.lap("schedule")

    interface = _interface(request, prepared, plan)
    lowered = lower(
        request.name, interface, prepared.problem, prepared.scopes, plan, names,
        on_device=target.on_device,
    )  # fmt: skip
    program = _of_numbers(lowered.program, request)
    clock.lap("lower")

    optimised = program
    for improve in target.passes():
        optimised = improve(optimised)
    clock.lap("passes")
    if request.from_file:
        from symc.codegen.verify.program import verify  # late: for all others tests do that

        verify(program)
        verify(optimised)

    source = target.emit(optimised)
    clock.lap("emit")
    constants = [node.op.value for node in lowered.constants if isinstance(node.op, Constant)]
    after = [*rewritten.outputs, *rewritten.updates]
    return Compilation(
        len(order), after, plan, program, optimised, source, constants,
        {node for node in plan.in_place if isinstance(node, SharedVariable)},
        {n: request.inputs.index(owner) for n, owner in _given(request, prepared, plan)},
        lowered.hosts, lowered.holds, lowered.computes, trace,
    )  # fmt: skip


def _of_numbers(program: ir.Program, request: Request) -> ir.Program:
    """The program without the dtypes that no language has. The passes are imported when needed."""
    kinds = {node.type.dtype for node in walk_within(request.roots())}
    if any(dtype.is_complex for dtype in kinds):
        from symc.codegen.passes.expressions.pairs import pairs

        program = pairs(program)
    if BFLOAT16 in kinds:
        from symc.codegen.passes.expressions.bits import bits

        program = bits(program)
    return program


def _interface(request: Request, prepared: Prepared, plan: Plan) -> Interface:
    fresh = [
        (name, node)
        for name, node, owner in prepared.outputs
        if not isinstance(owner, SharedVariable) or owner not in plan.in_place
    ]
    given = {owner: prepared.outputs[n][0] for n, owner in _given(request, prepared, plan)}
    return Interface(
        request.inputs, request.shared, prepared.constants, fresh, prepared.names, given
    )


def _given(request: Request, prepared: Prepared, plan: Plan) -> Iterator[tuple[int, Tensor]]:
    """The numbers of the outputs that are written into the memory of an input, and that input."""
    for number, (_, _, owner) in enumerate(prepared.outputs[: len(request.outputs)]):
        if owner is not None and owner in plan.in_place:
            yield number, owner
