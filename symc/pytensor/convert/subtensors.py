"""Parts of arrays: read, set and added to, by slices, integers, arrays of integers and masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytensor.tensor.basic as tb
import pytensor.tensor.subtensor as ts
from pytensor.tensor.type_other import MakeSlice

from symc import tensor as T
from symc.graph.node import Tensor
from symc.pytensor.conversion import OnHost, known, register


def _index(args: Sequence[Any], entries: Sequence[Any]) -> tuple[Any, ...]:
    """An index as symc takes it: numbers in the Op's list say which argument stands there."""

    def given(entry: Any) -> Any:
        if not isinstance(entry, int):
            return entry
        value = known(args[entry])
        if value is None or isinstance(value, slice):
            return args[entry]
        return int(value) if value.ndim == 0 and value.dtype != bool else args[entry]

    def one(entry: Any) -> Any:
        if isinstance(entry, slice):
            return slice(given(entry.start), given(entry.stop), given(entry.step))
        return given(entry)

    return tuple(one(entry) for entry in entries)


@register(ts.Subtensor, ts.AdvancedSubtensor)
def _subtensor(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x, *index: x[_index(index, op.idx_list)]


@register(ts.IncSubtensor, ts.AdvancedIncSubtensor)
def _inc_subtensor(op: Any, **_: Any) -> Callable[..., Any]:
    repeats_matter = not getattr(op, "ignore_duplicates", False)

    def compute(x: Tensor, y: Tensor, *index: Any) -> Tensor:
        part: Any = x[_index(index, op.idx_list)]
        y = T.cast(y, x.dtype)
        result: Tensor
        if op.set_instead_of_inc:
            result = part.set(y)
        elif not repeats_matter:
            result = part.set(part + y)
        else:
            result = part.inc(y)
        return result

    return compute


@register(tb.Nonzero)
def _nonzero(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x: list(T.nonzero(x))


@register(tb.PermuteRowElements)
def _permute_rows(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    x, y = (v.type.ndim for v in node.inputs[:2])
    if x != y:
        raise OnHost("symc permutes rows only by as many permutations")
    inverse = op.inverse

    def compute(x: Tensor, y: Tensor, *_: Any) -> Tensor:
        return T.take_along_axis(x, T.argsort(y, axis=-1) if inverse else y, axis=-1)

    return compute


@register(MakeSlice)
def _make_slice(op: Any, **_: Any) -> Callable[..., Any]:
    raise OnHost("a slice is no array")
