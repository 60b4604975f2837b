"""Functions compiled for a device: found in the cache or built, and ready to be called.

As `pipeline.library` and `calls.modes` do for the processor. A function is first built with 32-bit
indexes; the first call whose arrays are too long for them builds it again with 64.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from symc.cache.entry import Entry
from symc.cache.key import Key
from symc.cache.notes import Notes
from symc.calls.call import Form
from symc.calls.modes import Runner, converter, failure, output_types, spec, stages_of
from symc.codegen.record import record
from symc.codegen.targets.cuda.routines import source_of_kernel
from symc.codegen.targets.cuda.target import IMAGE, CudaTarget
from symc.codegen.targets.library import Library
from symc.config import config
from symc.cuda.caller import CudaCaller, TooLong
from symc.cuda.devices import Device, Module, device
from symc.cuda.host_calls import DeviceHostCalls
from symc.graph.collector import without_collection
from symc.graph.node import Array
from symc.graph.request import Request
from symc.graph.walks import walk
from symc.pipeline.host_calls import FILE as HOST_CALLS
from symc.pipeline.host_calls import host_calls, host_calls_text
from symc.pipeline.identity import graph_parts, symc_text
from symc.pipeline.library import read_constant, the_store, write_constants

FACTS = "device.json"
WORTH_A_GRAPH = 3  # launches: replaying a graph costs as much as launching two or so kernels


@record
class DeviceFunction:
    """A function loaded on a device, with the facts that its caller needs."""

    library: Library
    modules: list[Module]
    folder: str
    hit: bool
    constants: list[Array]
    facts: dict[str, Any]
    seconds: dict[str, float]
    host: DeviceHostCalls | None
    """What it calls in Python."""


def target_for(found: Device, *, wide: bool = False, timed: bool = False) -> CudaTarget:
    """The target that compiles for a device."""
    memo = Notes(the_store().folder)
    return CudaTarget(found.architecture, found.is_simulator, wide, memo, timed)


def compile_for(
    request: Request, found: Device, *, mode: str, wide: bool, timed: bool = False
) -> DeviceFunction:
    """Finds the function in the cache, or builds it and puts it there, and loads it."""
    started = time.perf_counter()
    seconds: dict[str, float] = {}
    store, target = the_store(), target_for(found, wide=wide, timed=timed)
    quick = mode == "compile"
    parts = target.describe(quick=quick)
    key = Key.of(**graph_parts(request), mode=mode, symc=symc_text(), **parts)
    seconds["key"] = time.perf_counter() - started

    def make(folder: Path) -> None:
        from symc.pipeline.compile import Clock, build

        clock = Clock(seconds)
        stages = build(request, mode=mode, clock=clock, target=target)
        target.compile(stages.source, folder, quick=quick)
        clock.lap("compile")
        write_constants(folder, stages.constants)
        facts = {
            **stages.source.facts,
            "in_place": [shared in stages.in_place for shared, _ in request.updates],
            "constants": len(stages.constants),
            "nodes_before": stages.nodes_before,
            "nodes_after": len(walk(stages.rewritten)),
            "host_calls": len(stages.hosts),
        }
        if stages.hosts:
            (folder / HOST_CALLS).write_text(host_calls_text(stages), encoding="utf-8")
        (folder / FACTS).write_text(json.dumps(facts), encoding="utf-8")

    def host(entry: Entry) -> DeviceHostCalls:
        stages = stages_of(request, mode, target)
        return DeviceHostCalls(host_calls(entry.read(HOST_CALLS), request, stages), found)

    with without_collection():
        return store.use(key, make, lambda entry: _load(entry, target, found, seconds, host))


def _load(
    entry: Entry, target: CudaTarget, found: Device, seconds: dict[str, float],
    hosts: Callable[[Entry], DeviceHostCalls],
) -> DeviceFunction:  # fmt: skip
    started = time.perf_counter()
    facts = json.loads(entry.read(FACTS))
    constants = [read_constant(entry, number) for number in range(facts["constants"])]
    library = target.load(entry.folder)
    if any("gemm" in name for name in facts["routines"]):
        found.open_blas()
    modules = [found.load(entry.read(IMAGE), facts["kernels"])] if facts["kernels"] else []
    modules += [_routine(found, target, name) for name in facts["routines"]]
    seconds["load"] = time.perf_counter() - started
    host = hosts(entry) if facts["host_calls"] else None
    return DeviceFunction(
        library, modules, entry.folder, entry.hit, constants, facts, seconds, host
    )


def _routine(found: Device, target: CudaTarget, name: str) -> Module:
    """The module of a kernel that programs share: compiled once on a machine, loaded once."""

    def load(entry: Entry) -> Module:
        return found.load(entry.read(IMAGE), [name])

    if name not in found.routines:
        key = Key.of(source=source_of_kernel(name), **target.describe_kernels())
        made = the_store().use(key, partial(target.compile_routine, name), load)
        return found.routines.setdefault(name, made)
    return found.routines[name]


# --- running --------------------------------------------------------------------------------------


def device_runner(
    request: Request, mode: str, form: str, downcast: Sequence[bool | None], *, timed: bool = False
) -> Runner:
    """Compiles the request for its device. With `timed`, it is one program, for `symc.profile`."""
    found = device(request.device)
    made = compile_for(request, found, mode=mode, wide=False, timed=timed)
    call: Callable[..., Any] = device_caller(made, request, found, form, downcast)
    if made.facts["narrow"] and not timed:
        call = Widening(call, lambda: _wide(request, found, mode, form, downcast))
    facts = {**made.facts, "kernels": len(made.facts["kernels"] + made.facts["routines"])}
    stages = stages_of(request, mode, target_for(found, timed=timed))
    return Runner(call, stages, facts, made.seconds, made.hit, made.folder)


def _wide(
    request: Request, found: Device, mode: str, form: str, downcast: Sequence[bool | None]
) -> CudaCaller:
    made = compile_for(request, found, mode=mode, wide=True)
    return device_caller(made, request, found, form, downcast)


class Widening:
    """A function that is built again when arrays come that need 64-bit indexes."""

    def __init__(self, narrow: Callable[..., Any], build: Callable[[], Callable[..., Any]]) -> None:
        self._narrow = narrow
        self._build = build
        self._wide: Callable[..., Any] | None = None
        self._lock = threading.Lock()

    @property
    def replayed(self) -> int:
        """How many calls with 32-bit indexes were launches of a graph."""
        return int(getattr(self._narrow, "replayed", 0))

    def __call__(self, *args: Any) -> Any:
        """Run the function."""
        try:
            return self._narrow(*args)
        except TooLong:
            with self._lock:
                if self._wide is None:
                    self._wide = self._build()
            return self._wide(*args)


def device_caller(
    made: DeviceFunction, request: Request, found: Device, form: str,
    downcast: Sequence[bool | None],
) -> CudaCaller:  # fmt: skip
    """The function with the types of its arguments and results."""
    in_place = dict(
        zip((shared for shared, _ in request.updates), made.facts["in_place"], strict=True)
    )
    fresh = [(shared, new) for shared, new in request.updates if not in_place[shared]]
    outputs = [*request.outputs, *(new for _, new in fresh)]
    count = len(request.outputs)
    return CudaCaller(
        made.library.prepare,
        made.library.run,
        made.library.counts,
        tuple(spec(variable) for variable in request.inputs),
        tuple(shared.op.cell for shared in request.shared),
        tuple(made.constants),
        output_types(outputs),
        converter(request, downcast),
        failure(request),
        tuple((count + k, shared.op.cell) for k, (shared, _) in enumerate(fresh)),
        (count, cast("Form", form)),
        device=found,
        functions=[function for module in made.modules for function in module.functions],
        on_device=request.on_device,
        in_place=tuple(in_place.get(shared, False) for shared in request.shared),
        steps=made.facts["steps"],
        host=made.host,
        tf32=config.tf32,
        steady=not made.facts["synchronises"],
        graphs=not made.facts["synchronises"] and len(made.facts["steps"]) >= WORTH_A_GRAPH,
        keep=(made.library, made.modules),
    )
