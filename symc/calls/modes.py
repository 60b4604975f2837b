"""How a function runs: compiled, or by the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from symc.calls.spec import call_spec
from symc.codegen.record import record
from symc.codegen.targets.named import target_of_device
from symc.graph.provenance import warn
from symc.graph.registry import SERVICES
from symc.graph.request import Request

if TYPE_CHECKING:
    from typing import Protocol

    from symc.calls.call import Locks
    from symc.calls.python_call import PythonCaller
    from symc.codegen.targets.base import Target
    from symc.pipeline.compile import Compilation
    from symc.pipeline.host_calls import BoundCall
    from symc.pipeline.library import CompiledFunction, Turn

    class RunnerSource(Protocol):
        """What a function asks: a `Runner`, or something that has one later."""

        @property
        def call(self) -> Callable[..., Any]:
            """The function of positional arguments."""
            ...

        @property
        def locks(self) -> bool:
            """Whether a call holds the locks of the function's variables by itself."""
            ...

        @property
        def is_compiled(self) -> bool:
            """Whether the next call runs a compiled program."""
            ...

        def has_ended(self, timeout: float | None = None) -> bool:
            """Whether the `Runner` is there, after so many seconds at the latest."""
            ...

        def result(self) -> Runner:
            """It, once it is there; what making it has raised."""
            ...


MODES = ("default", "fast", "compile", "python", "nanguard", "debug")
_ALIASES = {
    "FAST_RUN": "default", "Mode": "default", "FAST_COMPILE": "compile",
    "NanGuardMode": "nanguard", "DebugMode": "debug", "DEBUG_MODE": "debug", "py": "python",
}  # fmt: skip


def mode_named(name: str) -> str:
    """The mode of a name; Theano's names are accepted. Raises ValueError for others."""
    mode = _ALIASES.get(name, name)
    if mode not in MODES:
        from symc.graph.other_libraries import meant

        near = meant(name, [*MODES, *_ALIASES])
        raise ValueError(f"no mode {name!r}; there are {', '.join(map(repr, MODES))}{near}")
    return mode


@record
class Runner:
    """A function ready to be called: `call` takes positional arguments."""

    call: Callable[..., Any]
    compilation: Callable[[], Compilation]
    facts: dict[str, int]
    seconds: dict[str, float]
    hit: bool = False
    folder: str | None = None
    locks: bool = False
    """Whether a call holds the locks of the function's variables by itself."""

    @property
    def is_compiled(self) -> bool:
        """Whether `call` runs a compiled program."""
        return self.folder is not None

    def has_ended(self, timeout: float | None = None) -> bool:
        """As `Job.has_ended`: nothing is waited for."""
        del timeout
        return True

    def result(self) -> Runner:
        """As `Job.result`."""
        return self


def runner_for(
    request: Request,
    mode: str,
    form: str,
    downcast: Sequence[bool | None],
    turn: Turn | None = None,
) -> Runner:
    """Compiles the request, or interprets it where the mode says so or no compiler is found."""
    if mode in ("python", "nanguard"):
        return _interpreted(request, mode, form, downcast)
    if request.device != "cpu" and mode != "debug":
        return on_device(request, mode, form, downcast)
    from symc.codegen.errors import CompilerMissing

    try:
        if mode == "debug":
            checked: Runner = SERVICES["checked_runner"](request, form, downcast)
            return checked
        return compiled(request, mode, form, downcast, turn=turn)
    except CompilerMissing as missing:
        _warn_once(f"{missing}\nfunctions run in the NumPy interpreter instead, which is slower")
        return _interpreted(request, mode, form, downcast)


def on_device(
    request: Request, mode: str, form: str, downcast: Sequence[bool | None], **options: Any
) -> Runner:
    """Compiles the request for a device that is not the processor, by the target that it names.

    A target has a service that makes its functions callable, or is called with arrays.
    """
    name = target_of_device(request.device) or "cuda"  # which lists the devices
    own = SERVICES.find(f"{name}_runner")
    if own is not None:
        found: Runner = own(request, mode, form, downcast, **options)
        return found
    from symc.calls.on_arrays import runner_on_arrays

    return runner_on_arrays(request, name, mode, form, downcast, **options)


_warned: set[str] = set()


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warn(text, RuntimeWarning)


def compilation_of(
    request: Request, mode: str, target: Target | None = None
) -> Callable[[], Compilation]:
    """A function that compiles the request once more, for people to look at each step."""
    kept: list[Compilation] = []

    def compilation() -> Compilation:
        from symc.pipeline.compile import Clock, build

        if not kept:
            kept.append(build(request, mode=mode, clock=Clock(), target=target, trace=[]))
        return kept[0]

    return compilation


# --- compiled -------------------------------------------------------------------------------------


def compiled(
    request: Request,
    mode: str,
    form: str,
    downcast: Sequence[bool | None],
    target: Target | None = None,
    turn: Turn | None = None,
) -> Runner:
    """Compiles the request for the processor, by another target than the usual one if given.

    For `turn`, see `symc/pipeline/library.py`.
    """
    from symc.calls.call import Caller  # first: with the extension, other code is compiled
    from symc.pipeline import library

    target = library.target_for(request) if target is None else target
    made = library.compile_request(
        request, mode=mode, target=target, use=lambda made, _: made, turn=turn or library.NO_TURN
    )
    return _runner_of(Caller, made, request, mode, form, downcast, target)


def from_cache(
    request: Request, mode: str, form: str, downcast: Sequence[bool | None]
) -> Runner | None:
    """The compiled function if it is in the cache."""
    from symc.calls.call import Caller  # first: with the extension, other code is compiled
    from symc.pipeline import library

    target = library.target_for(request)
    made = library.kept_function(request, mode=mode, target=target, use=lambda made, _: made)
    return None if made is None else _runner_of(Caller, made, request, mode, form, downcast, target)


def _runner_of(
    caller: type[PythonCaller],
    made: CompiledFunction,
    request: Request,
    mode: str,
    form: str,
    downcast: Sequence[bool | None],
    target: Target,
) -> Runner:
    call = caller(
        call_spec(request, made, form, downcast),
        tiny=bool(made.facts["tiny"]),
        pure=bool(made.facts["pure"]),
        team=made.library.team,
        locks=locks_of(request),
        host=_host(made.host),
        keep=made.library,
    )
    compilation = compilation_of(request, mode, target)
    return Runner(call, compilation, made.facts, made.seconds, made.hit, made.folder, locks=True)


def _host(calls: Sequence[BoundCall]) -> Callable[[int, int, int], None] | None:
    """The callback of a program for its functions in Python, None without any."""
    if not calls:
        return None
    from symc.pipeline.host_calls import Callbacks  # late: few functions call any

    return Callbacks(calls)


def locks_of(request: Request) -> Locks:
    """The locks of the shared variables that every call of the function takes."""
    from symc.calls.call import Lock

    changed = {variable for variable, _ in request.updates}
    found: list[tuple[Any, bool]] = []
    for variable in request.shared:
        locks = variable.op.locks
        if not locks:
            locks.append(Lock())  # of two threads that come here at once, the first one's counts
        found.append((locks[0], variable in changed))
    return tuple(sorted(found, key=lambda pair: id(pair[0])))


# --- interpreted ----------------------------------------------------------------------------------


def _interpreted(request: Request, mode: str, form: str, downcast: Sequence[bool | None]) -> Runner:
    from symc.calls.interpreted import Guard, Interpreter

    interpreter = Interpreter(request, form, downcast, locks_of(request))

    def guarded(*args: Any) -> Any:
        return interpreter.watched(Guard(), args)

    call = guarded if mode == "nanguard" else interpreter
    facts = {"nodes_before": len(interpreter.plan().order)}
    return Runner(call, compilation_of(request, "default"), facts, {}, locks=True)


__all__ = ["MODES", "Runner", "mode_named", "runner_for"]
