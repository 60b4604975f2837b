"""Compiled functions of all targets: found in the cache, or built by the pipeline and put there.

A function that is in the cache is loaded without importing the compiler: rewriting, scheduling and
all of code generation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
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
from symc.graph.bfloat16 import is_bfloat16
from symc.graph.collector import without_collection
from symc.graph.node import Array
from symc.graph.request import Request
from symc.graph.walks import walk
from symc.pipeline.apart import is_apart
from symc.pipeline.identity import graph_parts, symc_text
from symc.pipeline.objects import StoredObjects, link

if TYPE_CHECKING:
    from pathlib import Path

    from symc.codegen import ir
    from symc.codegen.targets.base import Target
    from symc.pipeline.compile import Compilation
    from symc.pipeline.host_calls import BoundCall

time_limit.append(lambda: config.compile_timeout)

NO_CONTRACTION = "-ffp-contract=off"
FACTS = "function.txt"
SAID = "target.json"
"""The target's facts about the function, if it has any."""
Loaded = TypeVar("Loaded")
Read: TypeAlias = "Callable[[str], bytes]"
"""The content of a file of a function, by its name."""
Use: TypeAlias = "Callable[[CompiledFunction, Read], Loaded]"
Turn: TypeAlias = "AbstractContextManager[object]"
"""What is held while the Python part of building runs: background compilations take turns."""
NO_TURN: Turn = nullcontext()


@record
class CompiledFunction:
    """A compiled function of any target, and all that the caller must know to use it."""

    library: Any
    """The library or module that the target loaded."""
    folder: str
    hit: bool
    constants: list[Array]
    in_place: list[bool]
    """For each update whether it is done in place."""
    given: dict[int, int]
    """The outputs that are written into the memory of an argument, with its number."""
    facts: dict[str, Any]
    """Numbers of nodes, kernels and the like, and the target's facts about the function."""
    seconds: dict[str, float]
    host: list[BoundCall]
    """Its calls back into Python."""


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
    """A target; facts about compilers are remembered in the cache's folder.

    The C compiler is told to leave symbols for debuggers, where that is configured.
    """
    if name == "c" and config.debug_symbols:
        options["options"] = (DEBUG_SYMBOLS, *options.get("options", ()))
    if name == "c":
        options["objects"] = StoredObjects(the_store)
    return target_named(name, memo=Notes(the_store().folder), **options)


def target_for(request: Request) -> Target:
    """The target of the processor for a request."""
    return target(options=(NO_CONTRACTION,)) if is_apart(request) else target()


def compile_request(
    request: Request, *, mode: str, target: Target, use: Use[Loaded], turn: Turn = NO_TURN
) -> Loaded:
    """The result of `use` on a compiled function, which is found in the cache, or built and put
    there.

    It is given the function and a reader of its files, and is called again should they vanish.
    """
    seconds: dict[str, float] = {}
    load = _loader(request, mode, target, use, seconds)
    try:
        return find_or_build(request, mode, target, load, seconds, turn)
    except BlasMissing:
        # The file of NumPy's BLAS is there, but it did not open: the target is another one now.
        return find_or_build(request, mode, target, load, seconds, turn)


def kept_function(
    request: Request, *, mode: str, target: Target, use: Use[Loaded]
) -> Loaded | None:
    """As `compile_request`, for what can be had at once: None where it is not in the cache."""
    if Notes(the_store().folder).read("compiler") is None:
        return None  # nothing is kept there, and to ask the compiler for its version takes a while
    seconds: dict[str, float] = {}
    key, _ = _key(request, mode, target, seconds)
    entry = the_store().get(key)
    try:
        return None if entry is None else _loader(request, mode, target, use, seconds)(entry)
    except BlasMissing:  # the target is another one now
        return None
    except Exception:
        if the_store().get(key) is not None:  # so it is not that the entry vanished
            raise
        return None


def _loader(
    request: Request, mode: str, target: Target, use: Use[Loaded], seconds: dict[str, float]
) -> Callable[[Entry], Loaded]:
    def load(entry: Entry) -> Loaded:
        started = time.perf_counter()
        with without_collection():
            used = use(_load(entry, target, seconds, request, mode), entry.read)
        seconds["load"] = time.perf_counter() - started
        return used

    return load


def _key(
    request: Request, mode: str, target: Target, seconds: dict[str, float]
) -> tuple[Key, dict[str, str]]:
    """The key of a function, and those of its parts that are of the target."""
    started = time.perf_counter()
    with without_collection():
        parts = target.describe(quick=mode == "compile")
        key = Key.of(**graph_parts(request), mode=mode, symc=symc_text(), **parts)
    seconds["key"] = time.perf_counter() - started
    return key, parts


def find_or_build(
    request: Request,
    mode: str,
    target: Target,
    load: Callable[[Entry], Loaded],
    seconds: dict[str, float],
    turn: Turn = NO_TURN,
) -> Loaded:
    """The result of `load` on the function's entry in the cache, built if it is not there."""
    store, quick = the_store(), mode == "compile"
    key, parts = _key(request, mode, target, seconds)

    def make(folder: Path) -> None:
        from symc.cache.making import home
        from symc.pipeline.compile import Clock, build

        with turn, without_collection():
            clock = Clock(seconds)
            compilation = build(request, mode=mode, clock=clock, target=target)
        store.use(
            Key.of(source=compilation.source.text, **parts),
            lambda made: target.compile(compilation.source, made, quick=quick, home=home(made)),
            lambda entry: _link(entry, folder),
        )
        clock.lap("compile")
        _write_facts(folder, request, compilation)

    return store.use(key, make, load)


def compiled_once(source: str, target: Target, make: Callable[[Path], None], name: str) -> str:
    """The path of the file that `make` leaves in a folder of the cache, compiled from a source."""
    key = Key.of(source=source, **target.describe())
    return the_store().use(key, make, lambda entry: str(entry.file(name)))


def kept(
    parts: dict[str, str], make: Callable[[Path], None], load: Callable[[str], Loaded]
) -> Loaded:
    """The result of `load` on the folder that `make` fills, kept in the cache for these parts."""
    return the_store().use(Key.of(**parts), make, lambda entry: load(entry.folder))


def kept_files(
    parts: dict[str, str], make: Callable[[Path], None], load: Callable[[Read], Loaded]
) -> Loaded:
    """As `kept`, with a reader of the folder's files."""
    return the_store().use(Key.of(**parts), make, lambda entry: load(entry.read))


def _link(entry: Entry, folder: Path) -> None:
    """The target's files, under this function's own entry too."""
    for name in entry.names():
        link(entry.file(name), folder / name)


def is_tiny(program: ir.Program) -> bool:
    """Whether a program has no loops and calls nothing: not worth releasing Python's lock for."""
    from symc.codegen import ir
    from symc.codegen.blocks import every_step

    long = ir.Routine | ir.PythonCall | ir.Repeat
    return not any(isinstance(step, long) for step in every_step(program.steps)) and not any(
        isinstance(stmt, ir.Loop) for kernel in program.kernels for stmt in kernel.body
    )


def is_pure(program: ir.Program) -> bool:
    """Whether a program does nothing but fill its results, and cannot fail once it runs.

    What comes before all else is checked before it runs.
    """
    from symc.codegen import ir
    from symc.codegen.blocks import every_step, working_steps, written
    from symc.codegen.passes.kernels.memory import prepared, wholes
    from symc.codegen.routines import ROUTINES

    leading, _ = prepared(program)
    late = program.steps[leading:]
    for step in every_step(late):
        if isinstance(step, ir.Check | ir.PythonCall):
            return False
        if isinstance(step, ir.Routine) and ROUTINES[step.name].meets:
            return False
    whole, roles = wholes(program), {buffer.name: buffer.role for buffer in program.buffers}
    changed = {name for step, kernel in working_steps(program) for name in written(step, kernel)}
    return not any(roles[whole.get(name, name)] == "shared" for name in changed)


def _write_constants(folder: Path, constants: Sequence[Array]) -> None:
    """The arrays that are part of a function, a file each; of bfloat16, which NumPy's files do not
    know, as kernels see them."""
    for number, value in enumerate(constants):
        if is_bfloat16(value.dtype):
            value = value.view(np.uint16)
        with (folder / f"constant{number}.npy").open("wb") as file:
            np.lib.format.write_array(file, value, allow_pickle=False)


def _write_facts(folder: Path, request: Request, compilation: Compilation) -> None:
    _write_constants(folder, compilation.constants)
    facts = {
        "constants": len(compilation.constants),
        "nodes_before": compilation.nodes_before,
        "nodes_after": len(walk(compilation.rewritten)),
        "kernels": len(compilation.optimised.kernels),
        "tiny": int(is_tiny(compilation.optimised)),
        "pure": int(is_pure(compilation.optimised)),
        "host_calls": len(compilation.hosts),
        "said": int(bool(compilation.source.facts)),
    }
    if compilation.source.facts:
        import json

        (folder / SAID).write_text(json.dumps(dict(compilation.source.facts)), encoding="utf-8")
    if compilation.hosts:
        from symc.pipeline.host_calls import FILE, host_calls_text

        (folder / FILE).write_text(host_calls_text(compilation), encoding="utf-8")
    # For each update whether it is done in place, a line of outputs and arguments whose memory they
    # get, then lines of a name and a number.
    in_place = [str(int(shared in compilation.in_place)) for shared, _ in request.updates]
    given = [f"{output}:{argument}" for output, argument in compilation.given.items()]
    lines = [
        " ".join(in_place),
        " ".join(given),
        *(f"{name} {fact}" for name, fact in facts.items()),
    ]
    (folder / FACTS).write_text("\n".join(lines), encoding="utf-8")


def _load(
    entry: Entry, target: Target, seconds: dict[str, float], request: Request, mode: str
) -> CompiledFunction:
    in_place, given, *lines = entry.read(FACTS).decode().split("\n")
    facts: dict[str, Any] = {name: int(fact) for name, fact in map(str.split, lines)}
    if facts.pop("said"):
        import json  # late, as functions in C need none

        facts |= json.loads(entry.read(SAID))
    constants = [_read_constant(entry, number) for number in range(facts["constants"])]
    library = target.load(entry.folder)
    done_in_place = [word == "1" for word in in_place.split()]
    places = {int(output): int(x) for output, x in (pair.split(":") for pair in given.split())}
    host = _host_calls(entry, request, mode, target) if facts["host_calls"] else []
    return CompiledFunction(
        library, entry.folder, entry.hit, constants, done_in_place, places, facts, seconds, host
    )


def _host_calls(entry: Entry, request: Request, mode: str, target: Target) -> list[BoundCall]:
    """The calls of a function into Python, found in today's graph."""
    from symc.pipeline.host_calls import FILE, host_calls

    def compilation() -> Compilation:
        from symc.pipeline.compile import Clock, build

        return build(request, mode=mode, clock=Clock(), target=target)

    return host_calls(entry.read(FILE), request, compilation)


def _read_constant(entry: Entry, number: int) -> Array:
    """One of the arrays that are part of a function."""
    with entry.open(f"constant{number}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)
