"""The call convention of a compiled function as one record, however the function was compiled.

The callers are `call.py`, its twin in C, `_call.c`, and `cuda/caller.py`. Each takes these fields
in this order, and after them, by name, those of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

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
    """The call of a function: its addresses, its arrays, and the fate of its results.

    `inputs` has NumPy's number of each type, the axes, and the lengths that are fixed (-1: any);
    `outputs` the same without lengths, new values of shared variables after the results.
    `rebind` has the outputs that become the values of shared variables; `returns` how many results
    are handed back, and in which form.
    """

    prepare: int
    run: int
    counts: tuple[int, int, int, int]
    inputs: tuple[tuple[int, int, tuple[int, ...] | None], ...]
    shared: tuple[list[Any], ...]
    constants: tuple[Array, ...]
    outputs: tuple[tuple[int, int], ...]
    convert: Callable[[int, object], Array]
    failed: Callable[[int, tuple[object, ...]], NoReturn]
    rebind: tuple[tuple[int, list[Any]], ...]
    returns: tuple[int, Form]

    def __iter__(self) -> Any:
        """The fields in order, as callers take them."""
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
        tuple(_output(node) for node in (*request.outputs, *(new for _, new in fresh))),
        converter(request, downcast),
        failure(request),
        tuple((count + k, shared.op.cell) for k, (shared, _) in enumerate(fresh)),
        (count, cast("Form", form)),
    )


def _input(variable: Tensor) -> tuple[int, int, tuple[int, ...] | None]:
    dims = [dim if isinstance(dim, int) else -1 for dim in variable.type.shape]
    lengths = tuple(dims) if any(dim >= 0 for dim in dims) else None
    return to_numpy(variable.dtype).num, variable.ndim, lengths


def _output(node: Tensor) -> tuple[int, int]:
    return to_numpy(node.dtype).num, node.ndim


def converter(request: Request, downcast: Sequence[bool | None]) -> Callable[[int, object], Array]:
    """Converts an argument to the input's dtype and layout, or raises."""

    def convert(position: int, value: object) -> Array:
        from symc.calls.arguments import convert_argument  # late: most arguments fit as they are

        return convert_argument(request.inputs[position], position, value, downcast[position])

    return convert


def failure(request: Request) -> Callable[[int, tuple[object, ...]], NoReturn]:
    """Raises the error of a failed check, its values computed again from the arguments."""

    def failed(code: int, arrays: tuple[Any, ...]) -> NoReturn:
        from symc.codegen.status import Status
        from symc.graph.conditions import explain, explain_step, requirements

        found = requirements(walk(request.roots()))
        inputs = dict(zip(request.inputs, arrays, strict=False))
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
