"""`map_blocks`: a function of symc's called for each block of Dask's arrays.

The tasks are put together here, one call for each block with all of the function's results: Dask's
own `map_blocks` has one result, whose lengths and dtype it guesses by calling the function.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from operator import itemgetter
from typing import Any

import numpy as np

from symc.calls.arguments import convert_argument
from symc.calls.callable import Function, compiled_function
from symc.codegen.record import record
from symc.dask.axes import (
    Axis,
    Chunks,
    Families,
    ResultAxis,
    check_lengths,
    families,
    result_axes,
)
from symc.errors import BadArgument, FunctionError, RankError
from symc.graph.request import Request
from symc.graph.types import to_numpy
from symc.graph.walks import walk_within
from symc.saved.frozen import Frozen, frozen
from symc.tensor.broadcast import describe


def map_blocks(f: Function | Frozen, *arrays: Any) -> Any:
    """Dask arrays of what `f` gives for the blocks of `arrays`; nothing is computed yet.

    - `f`: a function of `symc.function` or `symc.frozen`. Each process that computes makes it once,
      and a machine compiles it once. It must not update shared variables; those it reads keep the
      values of now, or of when it was frozen.
    - `arrays`: its arguments: Dask's arrays, by blocks; all else (NumPy's arrays, numbers) goes
      whole to every call.

    The result is one Dask array, or a list or dict of them as `f` returns arrays. Dtypes, numbers
    of axes and lengths are those of the graph. Axes that the graph wants equally long have their
    blocks in common, and Dask rechunks those that differ; an axis that a result lacks, such as that
    of a sum, must be one block.

    Raises `ShapeMismatch` where lengths or blocks do not fit, `RankError`, `DTypeError` and
    `BadArgument` for arguments that `f` does not take, `FunctionError` for functions with updates
    or with operations of several processes, and ModuleNotFoundError without Dask.

    >>> import dask.array as da, symc, symc.tensor as T
    >>> x, y = T.matrix("x"), T.vector("y")
    >>> f = symc.function([x, y], (x * y).sum(axis=1))
    >>> result = symc.dask.map_blocks(f, da.ones((4, 3), chunks=(2, 3)), [1.0, 2.0, 3.0])
    >>> result.chunks, result.dtype, result.compute(scheduler="sync")
    (((2, 2),), dtype('float64'), array([6., 6., 6., 6.]))
    """
    if find_spec("dask") is None:
        raise ModuleNotFoundError("map_blocks needs Dask\nin a checkout: pip install '.[dask]'")
    import dask.array as da

    sent = f if isinstance(f, Frozen) else None
    f = f.function if isinstance(f, Frozen) else f
    compiled_function(f, "map_blocks")
    if any(node.op.is_collective for node in walk_within(f.request.roots())):
        raise FunctionError(f"{f.name} exchanges arrays with other processes, which no task may")
    calls = _calls(f, sent or frozen(f), _arguments(f, arrays, da.Array))
    results = [_result(calls, number) for number in range(len(f.request.outputs))]
    match f.form:
        case "one":
            return results[0]
        case "dict":
            return dict(zip(f.keys, results, strict=True))
        case _:
            return results


@record
class Calls:
    """A call of a function for each combination of blocks.

    `chunks` has the lengths of the blocks of each family of axes, `several` the families of more
    than one block: a call is named after the numbers of its blocks of these. `tasks` are in Dask's
    form, and need those of `arrays`.
    """

    request: Request
    known: Families
    name: str
    chunks: Chunks
    several: Sequence[int]
    tasks: Mapping[Any, Any]
    arrays: Sequence[Any]

    def places(self) -> Iterator[tuple[int, ...]]:
        """The numbers of blocks of each call."""
        return itertools.product(*(range(len(self.chunks[family])) for family in self.several))


def _calls(f: Function, sent: Frozen, given: Sequence[Any]) -> Calls:
    """The calls for these arguments, Dask's arrays rechunked where that brings blocks together."""
    import dask.array as da
    from dask.array.core import unify_chunks
    from dask.base import tokenize

    known = families(f.request)
    lengths: dict[Axis, Sequence[float]] = {}
    for number, each in enumerate(given):
        chunks = each.chunks if isinstance(each, da.Array) else [(n,) for n in each.shape]
        lengths |= {(number, axis): tuple(of_axis) for axis, of_axis in enumerate(chunks)}
    check_lengths(f.request, known, lengths)

    axes = [[known.of[k, axis] for axis in range(each.ndim)] for k, each in enumerate(given)]
    blocked = [number for number, each in enumerate(given) if isinstance(each, da.Array)]
    shared, unified = unify_chunks(*(part for k in blocked for part in (given[k], axes[k])))
    arrays = dict(zip(blocked, unified, strict=True))
    of_family = {known.of[axis]: each for axis, each in lengths.items()} | shared
    several = [family for family, each in of_family.items() if len(each) > 1]

    name = f"{f.name}-{tokenize(sent.digest, *given)}"
    tasks: dict[Any, Any] = {f"{name}-function": sent}
    tasks |= {f"{name}-{k}": each for k, each in enumerate(given) if k not in arrays}
    calls = Calls(f.request, known, name, of_family, several, tasks, unified)
    for place in calls.places():
        at = dict(zip(several, place, strict=True))
        keys = [
            (arrays[k].name, *(at.get(family, 0) for family in axes[k]))
            if k in arrays else f"{name}-{k}"
            for k in range(len(given))
        ]  # fmt: skip
        tasks[f"{name}-call", *place] = (_call, f"{name}-function", *keys)
    return calls


def _result(calls: Calls, number: int) -> Any:
    """One of the function's results, as a Dask array."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    node = calls.request.outputs[number]
    axes = result_axes(calls.request, calls.known, calls.chunks, node)
    name = f"{calls.name}-{number}-of"
    taken: dict[Any, Any] = {
        (name, *_place(axes, calls.several, place)):
            (itemgetter(number), (f"{calls.name}-call", *place))
        for place in calls.places()
    }  # fmt: skip
    layer = dict(calls.tasks) | taken
    graph: Any = HighLevelGraph.from_collections(name, layer, dependencies=calls.arrays)
    dtype, chunks = to_numpy(node.dtype), tuple(axis.lengths for axis in axes)
    make: Any = da.Array  # it has a `__new__`, which type checkers do not find
    return make(graph, name, chunks, dtype=dtype, meta=np.empty((0,) * node.ndim, dtype))


def _arguments(f: Function, arrays: Sequence[Any], kind: type[Any]) -> list[Any]:
    """The arguments of a call: Dask's arrays as they are, all else as NumPy's."""
    if not any(isinstance(each, kind) for each in arrays):
        raise BadArgument(f"{f.name}: none of the arguments is a Dask array; call it as it is")
    if len(arrays) > len(f.ins):
        raise BadArgument(f"{f.name} takes {len(f.ins)} arguments, not {len(arrays)}")
    found: list[Any] = []
    for number, each in enumerate(f.arguments(arrays)):
        variable, downcast = f.request.inputs[number], f.ins[number].allow_downcast
        if not isinstance(each, kind):
            found.append(convert_argument(variable, number, each, downcast))
            continue
        if each.ndim != variable.ndim:
            raise RankError(
                f"argument {number} is a Dask array of {each.ndim} axes, not {variable.ndim}\n"
                f"  input  {describe(variable)}"
            )
        lengths = (dim if isinstance(dim, int) else 1 for dim in variable.type.shape)
        convert_argument(variable, number, np.zeros(tuple(lengths), each.dtype), downcast)
        found.append(each)
    return found


def _call(function: Frozen, *blocks: Any) -> Sequence[Any]:
    """All results for a block, as a sequence."""
    match function.function.form:
        case "one":
            return (function(*blocks),)
        case "dict":
            return tuple(function(*blocks).values())
        case _:
            results: Sequence[Any] = function(*blocks)
            return results


def _place(axes: Sequence[ResultAxis], order: Sequence[int], place: Sequence[int]) -> list[int]:
    """Which block of a result a call gives."""
    at: dict[int | None, int] = dict(zip(order, place, strict=True))
    return [at.get(axis.family, 0) for axis in axes]
