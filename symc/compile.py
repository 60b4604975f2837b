"""The pipeline: from a request to a library that is ready to call. Read it from top to bottom.

    request -> (known graph?) -> rewrite -> schedule -> lower -> passes -> emit -> compile -> load

Each arrow is one data type; no stage knows another; only this file knows them all.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from symc.cache.entry import Entry
from symc.cache.key import Key
from symc.cache.store import Store
from symc.codegen import ir
from symc.codegen.emit import emit
from symc.codegen.targets.c import BINARY, SOURCE, CTarget
from symc.codegen.targets.library import Library
from symc.conditions import as_tests, lengths_in, requirements, waits
from symc.graph import Array, Tensor, walk
from symc.identity import graph_digest, symc_digest
from symc.inputs import Constant, SharedVariable
from symc.lower import Interface, Lowerer, program_names
from symc.prepare import Prepared, prepare
from symc.request import Request
from symc.rewrite.pipeline import rewrite
from symc.schedule import schedule
from symc.units import Plan

META = "function.json"
STAGES = ("rewrite", "schedule", "lower", "passes", "emit", "compile", "load")


@dataclass(slots=True)
class Stages:
    """Everything on the way from the graph to the source, for people to look at."""

    nodes_before: int
    rewritten: list[Tensor]
    plan: Plan
    program: ir.Program
    optimised: ir.Program
    source: str
    constants: list[Array]
    in_place: set[SharedVariable]


@dataclass(slots=True)
class Compiled:
    """A compiled function: its library, and what the caller must know to use it."""

    library: Library
    folder: Path
    hit: bool
    constants: list[Array]
    in_place: list[bool]
    facts: dict[str, Any]
    seconds: dict[str, float] = field(default_factory=dict)


class Clock:
    """Times the stages of one compilation."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Ends a stage."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


@cache
def the_store() -> Store:
    """The store of this process."""
    return Store()


def target() -> CTarget:
    """The C compiler; what it says of itself is remembered in the cache's folder."""
    return CTarget(memo=the_store().root / "compiler.json")


def compile_request(request: Request, *, mode: str) -> Compiled:
    """Finds the function in the cache, or builds it and puts it there."""
    clock = Clock()
    store, c = the_store(), target()
    quick = mode == "compile"
    parts = c.describe(quick=quick)
    key = Key.of(graph=graph_digest(request), mode=mode, symc=symc_digest(), **parts)
    clock.lap("key")

    def make(folder: Path) -> None:
        stages = build(request, mode=mode, clock=clock)
        binary = Key.of(source=stages.source, **parts)
        store.use(
            binary,
            lambda made: c.compile(stages.source, made, quick=quick),
            lambda entry: _link(entry, folder),
        )
        clock.lap("compile")
        _write_meta(folder, request, stages, clock)

    compiled = store.use(key, make, lambda entry: _load(entry, c))
    clock.lap("load")
    compiled.seconds = clock.seconds
    return compiled


def build(request: Request, *, mode: str, clock: Clock) -> Stages:
    """The Python part: from the graph to the source of one C file."""
    order = walk(request.roots())
    found = requirements(order)
    tests = as_tests(found)
    rewritten = rewrite(
        request.roots(), [test.node for test in tests if test.node is not None],
        mode=mode, outputs=len(request.outputs), lengths=lengths_in(found),
    )  # fmt: skip
    clock.lap("rewrite")

    names = program_names()
    prepared = prepare(request, rewritten, found, tests, waits(found, tests), names)
    plan = schedule(prepared.problem)
    clock.lap("schedule")

    interface = _interface(request, prepared, plan)
    lowerer = Lowerer(
        interface, plan, prepared.problem.updates, names, prepared.sizes,
        prepared.problem.dims_of, prepared.problem.lowering_of,
    )  # fmt: skip
    program = lowerer.program(request.name)
    clock.lap("lower")

    optimised = program
    for improve in target().passes():
        optimised = improve(optimised)
    clock.lap("passes")

    source = emit(optimised, target().lang)
    clock.lap("emit")
    constants = [
        node.op.value for node in prepared.constants if isinstance(node.op, Constant)
    ]
    return Stages(
        len(order), [*rewritten.outputs, *rewritten.updates], plan, program, optimised, source, constants, plan.in_place
    )


def _interface(request: Request, prepared: Prepared, plan: Plan) -> Interface:
    fresh = [
        (name, node)
        for name, node, shared in prepared.outputs
        if shared is None or shared not in plan.in_place
    ]
    return Interface(request.inputs, request.shared, prepared.constants, fresh, prepared.names)


def _link(entry: Entry, folder: Path) -> None:
    """The binary and its source under this function's own entry too."""
    for name in (SOURCE, BINARY):
        try:
            os.link(entry.file(name), folder / name)
        except OSError:
            shutil.copyfile(entry.file(name), folder / name)


def _write_meta(folder: Path, request: Request, stages: Stages, clock: Clock) -> None:
    for number, value in enumerate(stages.constants):
        with (folder / f"constant{number}.npy").open("wb") as file:
            np.lib.format.write_array(file, value, allow_pickle=False)
    meta = {
        "name": request.name,
        "in_place": [shared in stages.in_place for shared, _ in request.updates],
        "constants": len(stages.constants),
        "nodes_before": stages.nodes_before,
        "nodes_after": len(walk(stages.rewritten)),
        "kernels": len(stages.optimised.kernels),
        "seconds": clock.seconds,
    }
    (folder / META).write_text(json.dumps(meta), encoding="utf-8")


def _load(entry: Entry, c: CTarget) -> Compiled:
    meta = json.loads(entry.read(META))
    constants = [_read_constant(entry, number) for number in range(meta["constants"])]
    library = c.load(entry.path)
    return Compiled(library, entry.path, entry.hit, constants, meta["in_place"], meta)


def _read_constant(entry: Entry, number: int) -> Array:
    with entry.file(f"constant{number}.npy").open("rb") as file:
        return np.lib.format.read_array(file, allow_pickle=False)

