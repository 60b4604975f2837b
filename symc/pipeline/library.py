"""Compiled functions of all targets: found in the cache, or built by the pipeline and put there.

A function that is in the cache is loaded without importing the compiler: rewriting, scheduling and
all of code generation.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from symc.cache.entry import Entry
from symc.cache.key import Key
from symc.cache.notes import Notes
from symc.cache.store import Store
from symc.codegen.errors import BlasMissing
from symc.codegen.record import record
from symc.codegen.targets.compiler import DEBUG_SYMBOLS, time_limit
from symc.codegen.targets.named import target_named
from symc.config import config
from symc.graph.collector import without_collection
from symc.graph.node import Array
from symc.graph.request import Request
from symc.graph.walks import walk
from symc.pipeline.identity import graph_parts, symc_text

if TYPE_CHECKING:
    from pathlib import Path

    from symc.codegen import ir
    from symc.codegen.targets.base import Target
    from symc.pipeline.compile import Stages
    from symc.pipeline.host_calls import HostCall

time_limit.append(lambda: config.compile_timeout)

FACTS = "function.txt"
SAID = "target.json"
"""What the target says of the function, if anything."""
Loaded = TypeVar("Loaded")
Read: TypeAlias = "Callable[[str], bytes]"
"""The content of a file of a function, by its name."""
Use: TypeAlias = "Callable[[CompiledFunction, Read], Loaded]"


@record
class CompiledFunction:
    """A compiled function of any target, and what the caller must know to use it."""

    library: Any
    """What the target loaded."""
    folder: str
    hit: bool
    constants: list[Array]
    in_place: list[bool]
    """For each update whether it is done in place."""
    facts: dict[str, Any]
    """Numbers of nodes, kernels and the like, and what the target says of the function."""
    seconds: dict[str, float]
    host: list[HostCall]
    """What it calls in Python."""


_instead: Store | None = None


def the_store() -> Store:
    """The store of this process."""
    return _own_store() if _instead is None else _instead


@cache
def _own_store() -> Store:
    return Store()


@contextmanager
def store_at(folder: Path) -> Generator[None]:
    """In the block, functions are kept in this folder alone: for measuring."""
    global _instead
    before, _instead = _instead, Store(folder)
    try:
        yield
    finally:
        _instead = before


def target(name: str = "c", **options: Any) -> Target:
    """A target; what compilers say of themselves is remembered in the cache's folder.

    The C compiler is told to leave what debuggers need, where that is configured.
    """
    if name == "c" and config.debug_symbols:
        options["options"] = (DEBUG_SYMBOLS, *options.get("options", ()))
    return target_named(name, memo=Notes(the_store().folder), **options)


def compile_request(request: Request, *, mode: str, target: Target, use: Use[Loaded]) -> Loaded:
    """What `use` makes of a function, which is found in the cache, or built and put there.

    It is given the function and a reader of its files, and is called again should they vanish.
    """
    try:
        return _loaded(request, mode, target, use)
    except BlasMissing:
        # The file of NumPy's BLAS is there, but it did not open: the target is another one now.
        return _loaded(request, mode, target, use)


def _loaded(request: Request, mode: str, target: Target, use: Use[Loaded]) -> Loaded:
    seconds: dict[str, float] = {}

    def load(entry: Entry) -> Loaded:
        started = time.perf_counter()
        made = _load(entry, target, seconds, request, mode)
        used = use(made, entry.read)
        seconds["load"] = time.perf_counter() - started
        return used

    with without_collection():
        return find_or_build(request, mode, target, load, seconds)


def find_or_build(
    request: Request,
    mode: str,
    target: Target,
    load: Callable[[Entry], Loaded],
    seconds: dict[str, float],
) -> Loaded:
    """What `load` makes of the function's entry in the cache, which is built if it is not there."""
    started = time.perf_counter()
    store = the_store()
    quick = mode == "compile"
    parts = target.describe(quick=quick)
    key = Key.of(**graph_parts(request), mode=mode, symc=symc_text(), **parts)
    seconds["key"] = time.perf_counter() - started

    def make(folder: Path) -> None:
        from symc.cache.making import home
        from symc.pipeline.compile import Clock, build

        clock = Clock(seconds)
        stages = build(request, mode=mode, clock=clock, target=target)
        store.use(
            Key.of(source=stages.source.text, **parts),
            lambda made: target.compile(stages.source, made, quick=quick, home=home(made)),
            lambda entry: _link(entry, folder),
        )
        clock.lap("compile")
        _write_facts(folder, request, stages)

    return store.use(key, make, load)


def compiled_once(source: str, target: Target, make: Callable[[Path], None], name: str) -> str:
    """The path of the file that `make` leaves in a folder of the cache, compiled from a source."""
    key = Key.of(source=source, **target.describe())
    return the_store().use(key, make, lambda entry: str(entry.file(name)))


def kept(
    parts: dict[str, str], make: Callable[[Path], None], load: Callable[[str], Loaded]
) -> Loaded:
    """What `load` makes of the folder that `make` fills, kept in the cache for these parts."""
    return the_store().use(Key.of(**parts), make, lambda entry: load(entry.folder))


def kept_files(
    parts: dict[str, str], make: Callable[[Path], None], load: Callable[[Read], Loaded]
) -> Loaded:
    """As `kept`, with a reader of the folder's files."""
    return the_store().use(Key.of(**parts), make, lambda entry: load(entry.read))


def _link(entry: Entry, folder: Path) -> None:
    """What the target left, under this function's own entry too."""
    for name in entry.names():
        try:
            os.link(entry.file(name), folder / name)
        except OSError:
            import shutil  # late: it takes longer to import than linking files does

            shutil.copyfile(entry.file(name), folder / name)


def is_tiny(program: ir.Program) -> bool:
    """Whether a program has no loops and calls nothing: not worth releasing Python's lock for."""
    from symc.codegen import ir
    from symc.codegen.blocks import every_step

    long = ir.Routine | ir.Host | ir.Repeat
    return not any(isinstance(step, long) for step in every_step(program.steps)) and not any(
        isinstance(stmt, ir.Loop | ir.Strips) for kernel in program.kernels for stmt in kernel.body
    )


def is_pure(program: ir.Program) -> bool:
    """Whether a program does nothing but fill its results, and cannot fail once it runs.

    What comes before all else is checked before it runs.
    """
    from symc.codegen import ir
    from symc.codegen.blocks import every_step, working_steps, written
    from symc.codegen.passes.memory import prepared, wholes

    leading, _ = prepared(program)
    late = program.steps[leading:]
    if any(isinstance(step, ir.Check | ir.Host) for step in every_step(late)):
        return False
    whole, roles = wholes(program), {buffer.name: buffer.role for buffer in program.buffers}
    changed = {name for step, kernel in working_steps(program) for name in written(step, kernel)}
    return not any(roles[whole.get(name, name)] == "shared" for name in changed)


def _write_constants(folder: Path, constants: Sequence[Array]) -> None:
    """The arrays that are part of a function, a file each."""
    for number, value in enumerate(constants):
        with (folder / f"constant{number}.npy").open("wb") as file:
            np.lib.format.write_array(file, value, allow_pickle=False)


def _write_facts(folder: Path, request: Request, stages: Stages) -> None:
    _write_constants(folder, stages.constants)
    facts = {
        "constants": len(stages.constants),
        "nodes_before": stages.nodes_before,
        "nodes_after": len(walk(stages.rewritten)),
        "kernels": len(stages.optimised.kernels),
        "tiny": int(is_tiny(stages.optimised)),
        "pure": int(is_pure(stages.optimised)),
        "host_calls": len(stages.hosts),
        "said": int(bool(stages.source.facts)),
    }
    if stages.source.facts:
        import json

        (folder / SAID).write_text(json.dumps(dict(stages.source.facts)), encoding="utf-8")
    if stages.hosts:
        from symc.pipeline.host_calls import FILE, host_calls_text

        (folder / FILE).write_text(host_calls_text(stages), encoding="utf-8")
    # For each update whether it is done in place, then lines of a name and a number.
    in_place = [str(int(shared in stages.in_place)) for shared, _ in request.updates]
    lines = [" ".join(in_place), *(f"{name} {fact}" for name, fact in facts.items())]
    (folder / FACTS).write_text("\n".join(lines), encoding="utf-8")


def _load(
    entry: Entry, target: Target, seconds: dict[str, float], request: Request, mode: str
) -> CompiledFunction:
    in_place, *lines = entry.read(FACTS).decode().split("\n")
    facts: dict[str, Any] = {name: int(fact) for name, fact in map(str.split, lines)}
    if facts.pop("said"):
        import json  # late, as functions in C need none

        facts |= json.loads(entry.read(SAID))
    constants = [_read_constant(entry, number) for number in range(facts["constants"])]
    library = target.load(entry.folder)
    done_in_place = [word == "1" for word in in_place.split()]
    host = _host_calls(entry, request, mode, target) if facts["host_calls"] else []
    return CompiledFunction(
        library, entry.folder, entry.hit, constants, done_in_place, facts, seconds, host
    )


def _host_calls(entry: Entry, request: Request, mode: str, target: Target) -> list[HostCall]:
    """What a function calls in Python, from today's graph."""
    from symc.pipeline.host_calls import FILE, host_calls

    def stages() -> Stages:
        from symc.pipeline.compile import Clock, build

        return build(request, mode=mode, clock=Clock(), target=target)

    return host_calls(entry.read(FILE), request, stages)


def _read_constant(entry: Entry, number: int) -> Array:
    """One of the arrays that are part of a function."""
    with entry.open(f"constant{number}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)
