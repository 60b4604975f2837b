"""Compiled functions: found in the cache, or built by the pipeline and put there.

A function that is in the cache is loaded without importing the compiler: rewriting, scheduling and
all of code generation.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symc.cache.entry import Entry
from symc.cache.key import Key
from symc.cache.store import Store
from symc.codegen.errors import BlasMissing
from symc.codegen.targets.c import BINARY, SOURCE, CTarget
from symc.codegen.targets.library import Library
from symc.graph import Array, walk
from symc.identity import graph_digest, symc_digest
from symc.request import Request

if TYPE_CHECKING:
    from symc.codegen import ir
    from symc.compile import Stages

META = "function.json"


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


@cache
def the_store() -> Store:
    """The store of this process."""
    return Store()


def target() -> CTarget:
    """The C compiler; what it says of itself is remembered in the cache's folder."""
    return CTarget(memo=the_store().root / "compiler.json")


def compile_request(request: Request, *, mode: str) -> Compiled:
    """Finds the function in the cache, or builds it and puts it there."""
    try:
        return _find_or_build(request, mode)
    except BlasMissing:
        # The file of NumPy's BLAS is there, but it did not open: the target is another one now.
        return _find_or_build(request, mode)


def _find_or_build(request: Request, mode: str) -> Compiled:
    started = time.perf_counter()
    seconds: dict[str, float] = {}
    store, c = the_store(), target()
    quick = mode == "compile"
    parts = c.describe(quick=quick)
    key = Key.of(graph=graph_digest(request), mode=mode, symc=symc_digest(), **parts)
    seconds["key"] = time.perf_counter() - started

    def make(folder: Path) -> None:
        from symc.compile import Clock, build

        clock = Clock(seconds)
        with without_collection():
            stages = build(request, mode=mode, clock=clock)
        binary = Key.of(source=stages.source, **parts)
        store.use(
            binary,
            lambda made: c.compile(stages.source, made, quick=quick),
            lambda entry: _link(entry, folder),
        )
        clock.lap("compile")
        _write_meta(folder, request, stages, seconds)

    compiled = store.use(key, make, lambda entry: _load(entry, c, seconds))
    compiled.seconds = seconds
    return compiled


@contextmanager
def without_collection() -> Generator[None]:
    """No garbage collection meanwhile: building makes many objects and hardly any garbage cycles.

    Else the collector would look through all of them again and again as their number grows.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _link(entry: Entry, folder: Path) -> None:
    """The binary and its source under this function's own entry too."""
    for name in (SOURCE, BINARY):
        try:
            os.link(entry.file(name), folder / name)
        except OSError:
            import shutil  # late: it takes longer to import than linking files does

            shutil.copyfile(entry.file(name), folder / name)


def is_tiny(program: ir.Program) -> bool:
    """Whether a program has no loops and calls nothing: not worth releasing Python's lock for."""
    from symc.codegen import ir

    return not any(isinstance(step, ir.Routine) for step in program.steps) and not any(
        isinstance(stmt, ir.Loop) for kernel in program.kernels for stmt in kernel.body
    )


def _write_meta(folder: Path, request: Request, stages: Stages, seconds: dict[str, float]) -> None:
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
        "tiny": is_tiny(stages.optimised),
        "seconds": seconds,
    }
    (folder / META).write_text(json.dumps(meta), encoding="utf-8")


def _load(entry: Entry, c: CTarget, seconds: dict[str, float]) -> Compiled:
    started = time.perf_counter()
    meta = json.loads(entry.read(META))
    constants = [_read_constant(entry, number) for number in range(meta["constants"])]
    library = c.load(entry.path)
    seconds["load"] = time.perf_counter() - started
    return Compiled(library, entry.path, entry.hit, constants, meta["in_place"], meta)


def _read_constant(entry: Entry, number: int) -> Array:
    with entry.file(f"constant{number}.npy").open("rb") as file:
        return np.lib.format.read_array(file, allow_pickle=False)
