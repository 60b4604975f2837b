"""How a function runs: compiled, or by the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symc.calls.spec import call_spec, converter
from symc.codegen.record import record
from symc.errors import NotFinite
from symc.graph.inputs import Constant
from symc.graph.node import Array, Tensor
from symc.graph.provenance import warn
from symc.graph.registry import SERVICES
from symc.graph.request import Request
from symc.graph.walks import walk
from symc.tensor.broadcast import describe

if TYPE_CHECKING:
    from symc.codegen.targets.base import Target
    from symc.pipeline.compile import Stages
    from symc.pipeline.host_calls import HostCall

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
    stages: Callable[[], Stages]
    facts: dict[str, int]
    seconds: dict[str, float]
    hit: bool = False
    folder: str | None = None


def runner_for(request: Request, mode: str, form: str, downcast: Sequence[bool | None]) -> Runner:
    """Compiles the request, or interprets it where the mode says so or no compiler is found."""
    if mode in ("python", "nanguard"):
        return _interpreted(request, mode, form, downcast)
    if request.device != "cpu" and mode != "debug":
        on_device: Runner = SERVICES["device_runner"](request, mode, form, downcast)
        return on_device
    from symc.codegen.errors import CompilerMissing

    try:
        if mode == "debug":
            checked: Runner = SERVICES["checked_runner"](request, form, downcast)
            return checked
        return compiled(request, mode, form, downcast)
    except CompilerMissing as missing:
        _warn_once(f"{missing}\nfunctions run in the NumPy interpreter instead, which is slower")
        return _interpreted(request, mode, form, downcast)


_warned: set[str] = set()


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warn(text, RuntimeWarning)


def stages_of(request: Request, mode: str, target: Target | None = None) -> Callable[[], Stages]:
    """A function that builds the request once more, for people to look at the stages."""
    kept: list[Stages] = []

    def stages() -> Stages:
        from symc.pipeline.compile import Clock, build

        if not kept:
            kept.append(build(request, mode=mode, clock=Clock(), target=target, trace=[]))
        return kept[0]

    return stages


# --- compiled -------------------------------------------------------------------------------------


def compiled(
    request: Request,
    mode: str,
    form: str,
    downcast: Sequence[bool | None],
    target: Target | None = None,
) -> Runner:
    """Compiles the request for the processor, by another target than the usual one if given."""
    from symc.calls.call import Caller
    from symc.pipeline import library

    target = library.target() if target is None else target
    made = library.compile_request(request, mode=mode, target=target, use=lambda made, _: made)
    caller = Caller(
        *call_spec(request, made, form, downcast),
        tiny=bool(made.facts["tiny"]),
        pure=bool(made.facts["pure"]),
        team=made.library.team,
        locks=locks_of(request),
        host=_host(made.host),
        keep=made.library,
    )
    stages = stages_of(request, mode, target)
    return Runner(caller, stages, made.facts, made.seconds, made.hit, made.folder)


def _host(calls: Sequence[HostCall]) -> Callable[[int, int, int], None] | None:
    """What a program calls for its functions in Python."""
    if not calls:
        return None
    from symc.pipeline.host_calls import HostCalls  # late: few functions call any

    return HostCalls(calls)


def locks_of(request: Request) -> tuple[tuple[Any, bool], ...]:
    """The locks of the shared variables in the order in which every call takes them, each with
    whether the function changes the variable."""
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
    from symc.calls.too_large import refuse_too_large
    from symc.graph.conditions import check_all, requirements
    from symc.graph.interpreter import evaluate
    from symc.rewrite.stabilise import stabilise

    order = walk(request.roots())
    found = requirements(order)
    roots = stabilise(request.roots())
    convert = converter(request, downcast)

    def call(*args: Any) -> Any:
        after = _Guard() if mode == "nanguard" else None
        arrays = [convert(position, value) for position, value in enumerate(args)]
        inputs = dict(zip(request.inputs, arrays, strict=True))
        if after is not None:
            for variable, array in inputs.items():
                after(variable, array)
        try:
            check_all(found, inputs)
        finally:
            refuse_too_large(order, inputs)
        values = [np.array(value) for value in evaluate(roots, inputs, after)]
        results, news = values[: len(request.outputs)], values[len(request.outputs) :]
        for (shared, _), new in zip(request.updates, news, strict=True):
            shared.op.replace(new)
        return results[0] if form == "one" else None if form == "none" else results

    return Runner(call, stages_of(request, "default"), {"nodes_before": len(order)}, {})


class _Guard:
    """Raises `NotFinite` for the first value that an op made not finite.

    Constants are as they were written, and infinities may be passed on: what fills a maximum's
    padding, or masks what is not to be seen.
    """

    def __init__(self) -> None:
        self._infinite: set[Tensor] = set()

    def __call__(self, node: Tensor, value: Array) -> None:
        if value.dtype.kind not in "fc" or bool(np.isfinite(value).all()):
            return
        has_nan = bool(np.isnan(value).any())
        passed_on = not has_nan and any(arg in self._infinite for arg in node.args)
        if passed_on or isinstance(node.op, Constant):
            self._infinite.add(node)
            return
        kind = "NaN" if has_nan else "an infinity"
        if not node.args:
            raise NotFinite(
                f"the {node.op.label} {node.name or '?'} has {kind}\n  {describe(node)}"
            )
        args = "".join(f"\n  from   {describe(arg)}" for arg in node.args)
        raise NotFinite(f"{node.op.label} gave {kind}\n  node   {describe(node)}{args}")


__all__ = ["MODES", "Runner", "mode_named", "runner_for"]
