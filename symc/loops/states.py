"""The states of a loop: initial values, and how these are fitted to the results of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, cast

import numpy as np

from symc.codegen.dtypes import INT64, DType
from symc.codegen.record import record
from symc.config import config
from symc.errors import LoopError
from symc.graph.dims import Dim, sizes
from symc.graph.inputs import as_tensor, constant, is_number
from symc.graph.node import Tensor
from symc.graph.provenance import user_line
from symc.graph.types import as_dtype, complex_for, promote, to_numpy
from symc.graph.walks import walk
from symc.loops.sequences import taps_of
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import public, tensor_of
from symc.tensor.specify import segment, specify_length
from symc.tensor.views import broadcast_to, expand_dims


@record
class Start:
    """The rows a state starts from, oldest first, and which earlier rows a step reads.

    A Python number takes the shape of the step's result. An integer is int64, and a float
    `config.floatX`; an integer that floats are added to becomes such a float.
    """

    rows: Tensor
    taps: tuple[int, ...]
    number: bool | complex | None = None


def start(given: Any) -> Start | None:
    """An entry of ``outputs_info``: an initial row, ``dict(initial=, taps=)``, or None."""
    taps: Any = None
    if isinstance(given, Mapping):
        known = dict(cast("Mapping[str, Any]", given))
        if not {"initial", "taps"}.issuperset(known):
            raise LoopError(
                f"scan: an entry of outputs_info is dict(initial=, taps=), not one with "
                f"{list(known)}"
            )
        given, taps = known.get("initial"), known.get("taps")
        if given is None and taps is not None:
            raise LoopError(f"scan: outputs_info has taps={taps!r} but no initial value for them")
    if given is None:
        return None
    initial, chosen = initial_value(given), taps_of(taps, (-1,))
    if not chosen or max(chosen) >= 0:
        raise LoopError(
            f"scan: the taps of an output must be negative, not {list(chosen)}: a step can read "
            f"what earlier ones computed\n  initial {describe(initial)}"
        )
    if chosen != (-1,):
        return Start(_first_rows(initial, -min(chosen)), chosen)
    if is_number(given):
        return _numbered(cast("complex", given), initial.dtype, ())
    return Start(expand_dims(initial, 0), chosen)


def initial_value(given: Any) -> Tensor:
    """The initial value of a state: Python's floats, alone or in lists, are of floatX."""
    value = as_tensor(given)
    if isinstance(given, Tensor | np.ndarray) or hasattr(given, "dtype"):
        return value
    floats = all(is_number(leaf) for leaf in _leaves(given)) and value.dtype.is_inexact
    return cast_to(value, _float_like(value.dtype)) if floats else value


def _leaves(given: Any) -> Iterator[Any]:
    if isinstance(given, list | tuple):
        for item in cast("Sequence[Any]", given):
            yield from _leaves(item)
    else:
        yield given


def _float_like(dtype: DType) -> DType:
    """The dtype of floats that are given none; of complex numbers, that with such parts."""
    real = as_dtype(config.floatX)
    return complex_for(real) if dtype.is_complex else real


def _first_rows(initial: Tensor, depth: int) -> Tensor:
    length = initial.type.shape[0] if initial.ndim else None
    if length is None or (isinstance(length, int) and length < depth):
        raise LoopError(
            f"scan: for taps that reach back {depth} steps the initial value needs {depth} rows\n"
            f"  initial {describe(initial)}"
        )
    return initial if length == depth else segment(initial, 0, 0, depth)


def refit(start: Start, row: Tensor, result: Tensor, inside: AbstractSet[Tensor]) -> Start:
    """The start converted or broadcast to be like the result of a step; itself if it fits.

    `row` is the placeholder for the state in that step, `inside` are all that the step is given.
    Lengths that follow from those, as that of ``x[i : i + 2]``, are not the start's: before the
    loop nothing has them. Steps compare them: `of_length`.
    """
    if start.number is not None:
        return _refitted_number(start, start.number, row, result, inside)
    if row.ndim != result.ndim:
        raise LoopError(_unlike(f"has {row.ndim} axes and {result.ndim} after", start, result))
    rows = cast_to(start.rows, promote(start.rows.dtype, result.dtype))
    for axis, (have, want) in enumerate(zip(row.type.shape, result.type.shape, strict=True)):
        if have == want:
            continue
        if have == 1 and not _follows(want, inside):
            shape = list(map(public, rows.type.shape))
            shape[axis + 1] = public(want)
            rows = broadcast_to(rows, shape)
        elif isinstance(want, int):
            if isinstance(have, int):
                lengths = f"has length {have} along axis {axis} and {want} after"
                raise LoopError(_unlike(lengths, start, result))
            rows = specify_length(rows, axis + 1, want)
    return start if rows is start.rows else Start(rows, start.taps)


def of_length(result: Tensor, row: Tensor, inside: AbstractSet[Tensor]) -> Tensor:
    """What a step gives, as long as the state was: compared where only the step knows its length.

    So a state may be multiplied by ``x[i : i + 3]``, which may be shorter near the end of x.
    """
    for axis, (have, want) in enumerate(zip(result.type.shape, row.type.shape, strict=True)):
        if have != want != 1 and is_computed(have, inside):  # of length 1 it may be stretched
            result = specify_length(result, axis, want, of_state=True)
    return result


def is_computed(length: Dim, inside: AbstractSet[Tensor]) -> bool:
    """Whether a length is no length of what a step is given, but follows from its values."""
    if isinstance(length, int):
        return False
    values = [size.source for size in sizes(length) if size.axis is None]
    return any(node in inside for node in walk(values))


def _follows(length: Dim, inside: AbstractSet[Tensor]) -> bool:
    """Whether a length is computed from what a step is given."""
    if isinstance(length, int):
        return False
    return any(node in inside for node in walk([tensor_of(length)]))


def _refitted_number(
    start: Start, number: bool | complex, row: Tensor, result: Tensor, inside: AbstractSet[Tensor]
) -> Start:
    shape = tuple([1 if _follows(dim, inside) else dim for dim in result.type.shape])
    if row.dtype is INT64 and result.dtype.is_inexact:
        return _numbered(number, _float_like(result.dtype), shape)
    wide = promote(row.dtype, result.dtype)
    return Start(_numbered(number, wide, shape).rows, start.taps)


def _numbered(number: bool | complex, dtype: DType, shape: tuple[Dim, ...]) -> Start:
    """A number as the only row, of this shape."""
    value = constant(np.asarray(number).astype(to_numpy(dtype)))
    return Start(broadcast_to(value, list(map(public, (1, *shape)))), (-1,), number)


def as_given(rows: Tensor) -> Tensor:
    """The initial value that rows were made of: for errors."""
    while rows.args and rows.op.label in ("dimshuffle", "cast"):
        rows = rows.args[0]
    return rows


def _unlike(what: str, start: Start, result: Tensor) -> str:
    return (
        f"scan: a state {what} a step\n"
        f"  initial {describe(as_given(start.rows))}\n  result  {describe(result)}\n"
        f"  at      {user_line()}\n"
        "  give an initial value like the result, or None for an output that no step reads"
    )
