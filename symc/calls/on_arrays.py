"""Functions of targets that have no caller of their own: a loaded program is called with arrays.

A caller of its own is a matter of speed, or of memory that is not the host's. Without one, a target
whose `load` gives a `RunsOnArrays` is all that a device of its name needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from symc.calls.modes import Runner, compilation_of
from symc.calls.spec import converter, failure
from symc.errors import FunctionError
from symc.graph.node import Array
from symc.graph.request import Request

if TYPE_CHECKING:
    from symc.pipeline.library import CompiledFunction


class RunsOnArrays(Protocol):
    """A loaded program: it gives a `Status`, or the number of a failed check, and the outputs.

    Arrays come in the order of the program's buffers: inputs, shared variables, constants. A shared
    variable that the program updates in place is written; outputs are new arrays.
    """

    def __call__(self, arrays: Sequence[Array]) -> tuple[int, Sequence[Array]]:
        """Runs the program."""
        ...


def runner_on_arrays(
    request: Request, name: str, mode: str, form: str, downcast: Sequence[bool | None], *,
    timed: bool = False,
) -> Runner:  # fmt: skip
    """Compiles the request by the target of a name."""
    from symc.pipeline import library

    if timed:
        raise FunctionError(f"functions on {name} have no timers: they cannot be profiled")

    target = library.target(name)
    made = library.compile_request(request, mode=mode, target=target, use=lambda made, _: made)
    if made.host:
        raise FunctionError(f"{request.name} calls Python, which a function on {name} cannot do")
    call = ArrayCaller(request, made, form, downcast)
    compilation = compilation_of(request, mode, target)
    return Runner(call, compilation, made.facts, made.seconds, made.hit, made.folder)


class ArrayCaller:
    """A function that can be called, as `calls/call.py` has it, with one thread at a time."""

    def __init__(
        self, request: Request, made: CompiledFunction, form: str, downcast: Sequence[bool | None]
    ) -> None:
        self._request = request
        self._run: RunsOnArrays = made.library
        self._constants = made.constants
        self._form = form
        self._convert = converter(request, downcast)
        self._failed = failure(request)
        updates = zip(request.updates, made.in_place, strict=True)
        self._in_place = [shared for (shared, _), in_place in updates if in_place]
        self._fresh = [s for s, _ in request.updates if s not in self._in_place]

    def __call__(self, *args: Any) -> Any:
        """Run the function. After an exception shared variables are as before."""
        given = [self._convert(position, value) for position, value in enumerate(args)]
        shared = [
            np.array(variable.op.evaluate(), copy=variable in self._in_place or None)
            for variable in self._request.shared
        ]
        status, outputs = self._run([*given, *shared, *self._constants])
        if status:
            self._failed(status, (*given, *shared))
        for variable, value in zip(self._request.shared, shared, strict=True):
            if variable in self._in_place:
                variable.op.replace(value)
        count = len(self._request.outputs)
        for variable, value in zip(self._fresh, outputs[count:], strict=True):
            variable.op.replace(value)
        results = list(outputs[:count])
        return results[0] if self._form == "one" else None if self._form == "none" else results
