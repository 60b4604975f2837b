"""The call convention of a compiled function as one record, however the function was compiled.

The callers are `call.py`, its twin in C, `_call.c`, and `cuda/caller.py`. Each takes this record,
and after it, by name, fields of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from symc.codegen.record import record
from symc.errors import ShapeMismatch, SymcError
from symc.graph.node import Array, Tensor
from symc.graph.request import Request
from symc.graph.types import to_numpy
from symc.graph.walks import walk

if TYPE_CHECKING:
    from symc.calls.call import Form
    from symc.pipeline.library import CompiledFunction


@record
class CallSpec:
    """The call of a function: its addresses, its arrays, and the fate of its results."""

    prepare: int
    run: int
    """The addresses of the compiled functions."""
    counts: tuple[int, int, int, int]
    """How many arrays, lengths, shapes and sizes they exchange."""
    inputs: tuple[tuple[int, int, tuple[int, ...] | None], ...]
    """NumPy's number of the type of each argument, its axes, and fixed lengths (-1: any)."""
    shared: tuple[list[Any], ...]
    """A list of one array for each shared variable."""
    constants: tuple[Array, ...]
    outputs: tuple[tuple[int, int, int], ...]
    """As `inputs`, and instead of lengths the number of the argument whose memory a result gets, or
    -1. New values of shared variables come after the results."""
    convert: Callable[[int, object], Array]
    """An argument that cannot be used as it is becomes an array that can, or an error."""
    failed: Callable[[int, tuple[object, ...]], NoReturn]
    """Raises the error of a failed check, from its status, the arguments and shared arrays."""
    rebind: tuple[tuple[int, list[Any]], ...]
    """The outputs that become values of shared variables, after a call that succeeds."""
    returns: tuple[int, Form]
    """How many outputs are handed back: ``"one"`` array, a ``"list"``, or ``"none"``."""

    def __iter__(self) -> Iterator[Any]:
        """The fields in order, as the caller in C reads them."""
        return iter([getattr(self, name) for name in FIELDS])


FIELDS = tuple(CallSpec.__annotations__)


def call_spec(
    request: Request, made: CompiledFunction, form: str, downcast: Sequence[bool | None]
) -> CallSpec:
    """How a compiled function is called."""
    fresh = [
        (shared, new)
        for (shared, new), in_place in zip(request.updates, made.in_place, strict=True)
        if not in_place
    ]
    count = len(request.outputs)
    return CallSpec(
        made.library.prepare,
        made.library.run,
        made.library.counts,
        tuple(_input(variable) for variable in request.inputs),
        tuple(shared.op.cell for shared in request.shared),
        tuple(made.constants),
        tuple(
            _output(node, made.given.get(number, -1))
            for number, node in enumerate((*request.outputs, *(new for _, new in fresh)))
        ),
        converter(request, downcast),
        failure(request),
        tuple((count + k, shared.op.cell) for k, (shared, _) in enumerate(fresh)),
        (count, cast("Form", form)),
    )


def _input(variable: Tensor) -> tuple[int, int, tuple[int, ...] | None]:
    dims = [dim if isinstance(dim, int) else -1 for dim in variable.type.shape]
    lengths = tuple(dims) if any(dim >= 0 for dim in dims) else None
    return to_numpy(variable.dtype).num, variable.ndim, lengths


def _output(node: Tensor, argument: int) -> tuple[int, int, int]:
    return to_numpy(node.dtype).num, node.ndim, argument


def converter(request: Request, downcast: Sequence[bool | None]) -> Callable[[int, object], Array]:
    """Converts an argument to the input's dtype and layout, or raises."""

    def convert(position: int, value: object) -> Array:
        from symc.calls.arguments import convert_argument  # late: most arguments fit as they are

        return convert_argument(request.inputs[position], position, value, downcast[position])

    return convert


_NUMBERS = (bool, int, float, complex)


def failure(request: Request) -> Callable[[int, tuple[object, ...]], NoReturn]:
    """Raises the error of a failed check, its values computed again from those of the call."""

    def failed(code: int, arrays: tuple[Any, ...]) -> NoReturn:
        from symc.codegen.status import Status
        from symc.graph.conditions import explain, explain_step, requirements

        found = requirements(walk(request.roots()))
        # Python's numbers come as they were passed: compiled functions read those themselves.
        # Variables have the values of the call: another thread may have set them since.
        inputs = {
            given: np.asarray(value, to_numpy(given.dtype)) if type(value) in _NUMBERS else value
            for given, value in zip((*request.inputs, *request.shared), arrays, strict=False)
        }
        if code == Status.TOO_LARGE:
            from symc.calls.too_large import explain_length

            raise explain_length(request.roots(), inputs)
        if code == len(found) + 1:
            raise explain_step(request.roots(), inputs)
        if code < 1 or code > len(found):
            raise SymcError(f"the compiled function ended with status {code}")
        error = explain(found[code - 1][1], inputs)
        if isinstance(error, ShapeMismatch):
            # That a length is not negative is seen by a number which may have wrapped.
            from symc.calls.too_large import beyond_counting

            error = beyond_counting(request.roots(), inputs) or error
        raise error

    return failed
