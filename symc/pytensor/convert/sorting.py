"""Order: sorting, searching, what is unique; sums that go on; places as one number or several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.tensor.extra_ops as te
from pytensor.tensor.sort import ArgSortOp, SortOp

from symc import tensor as T
from symc.graph.node import Tensor
from symc.pytensor.conversion import items, register


@register(SortOp)
def _sort(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x: T.sort(x, axis=op.axis)


@register(ArgSortOp)
def _argsort(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda x: T.argsort(x, axis=op.axis)


@register(te.SearchsortedOp)
def _searchsorted(op: Any, **_: Any) -> Callable[..., Any]:
    def compute(x: Tensor, v: Tensor, sorter: Tensor | None = None) -> Tensor:
        return T.searchsorted(x, v, side=op.side, sorter=sorter)

    return compute


@register(te.Unique)
def _unique(op: Any, **_: Any) -> Callable[..., Any]:
    options = (op.return_index, op.return_inverse, op.return_counts)

    def compute(x: Tensor) -> list[Tensor]:
        found = T.unique(x, *options, axis=op.axis)
        results = list(found) if isinstance(found, tuple | list) else [found]
        if op.return_inverse:
            at = 1 + int(op.return_index)
            results[at] = T.reshape(results[at], (-1,))
        return results

    return compute


@register(te.CumOp)
def _cumulative(op: Any, **_: Any) -> Callable[..., Any]:
    function = T.cumsum if op.mode == "add" else T.cumprod
    return lambda x: function(x, axis=op.axis)


@register(te.RavelMultiIndex)
def _ravel_multi_index(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    count = len(node.inputs) - 1

    def compute(*args: Tensor) -> Tensor:
        *index, dims = args
        return T.ravel_multi_index(index, items(dims, count), mode=op.mode, order=op.order)

    return compute


@register(te.UnravelIndex)
def _unravel_index(op: Any, node: Any, **_: Any) -> Callable[..., Any]:
    count = len(node.outputs)
    return lambda index, dims: list(T.unravel_index(index, items(dims, count), order=op.order))


@register(te.Bartlett)
def _bartlett(op: Any, **_: Any) -> Callable[..., Any]:
    return lambda count: T.bartlett(count)
