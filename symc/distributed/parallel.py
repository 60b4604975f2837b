"""Training on several processes, each with a part of the data.

One step on r processes with n_1 ... n_r rows is one step of one process with all of them: the cost
of each process counts as much as it has rows, and so does its gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from symc import tensor as T
from symc.calls.callable import Function
from symc.calls.function import function
from symc.calls.updates import as_updates
from symc.codegen.dtypes import DType
from symc.derivatives.grad import grad
from symc.distributed.collectives import all_reduce
from symc.distributed.groups import ProcessGroup, chosen
from symc.distributed.pending import sum_meanwhile
from symc.distributed.sharded import Optimizer, Update, sharded_updates
from symc.distributed.state import start_apart, start_together
from symc.errors import ShapeMismatch
from symc.graph.inputs import SharedVariable
from symc.graph.node import Tensor
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import length
from symc.tensor.reshape import reshape


def data_parallel(
    loss: Tensor,
    params: Sequence[SharedVariable],
    optimizer: Optimizer,
    *,
    inputs: Sequence[Tensor],
    updates: Sequence[Update] | Mapping[SharedVariable, Tensor] = (),
    group: ProcessGroup | None = None,
    bucket_bytes: int = 32 << 20,
    shard: bool = False,
    name: str | None = None,
    **options: Any,
) -> Function:
    """A training step that all processes take together, each with rows of its own.

    - `loss`: a scalar, the mean over the rows of the inputs, whose first axis is that of rows. The
      processes may have different numbers of rows, and some none.
    - `params`: what is trained. Process 0's values are given to all of them now.
    - `optimizer`: called with the gradients and the parameters; gives updates, as those of
      `symc.optim` do: ``lambda grads, params: symc.optim.adam(grads, params, 1e-3)``.
    - `inputs`: of the function. Its result is the loss over the rows of all processes.
    - `updates`: other updates, such as the running means of batch normalisation: floats become
      the mean over the processes, by rows. (Within the loss, means are of a process's own rows,
      unless the loss has `all_reduce`.) Random streams of the loss are made different in each
      process now, by folding in its rank.
    - `bucket_bytes`: gradients of one dtype are sent together, so many bytes at a time.
    - `shard`: each process keeps the optimiser's memory for its part of the parameters, and updates
      these. `optimizer` is then called with a vector for each bucket in place of the parameters,
      and must treat each element by itself; see `symc.distributed.sharded`.
    - `options` go to `symc.function`.

    All processes call this, and the function, equally often. Raises `ShapeMismatch` for a loss that
    is not a scalar, `ValueError` where no input has rows, and `FunctionError` for an optimiser that
    cannot be sharded.

    >>> import numpy as np, symc, symc.tensor as T, symc.distributed as D
    >>> x, y, w = T.matrix("x"), T.vector("y"), symc.shared(np.zeros(2), "w")
    >>> step = D.data_parallel(
    ...     ((x @ w - y) ** 2).mean(), [w], lambda g, p: symc.optim.sgd(g, p, 0.5), inputs=[x, y])
    >>> step([[1.0, 0.0], [0.0, 1.0]], [1.0, 3.0])
    array(5.)
    >>> w.get_value()
    array([0.5, 1.5])
    """
    group = chosen(group)
    if loss.ndim:
        raise ShapeMismatch(f"the loss must be a scalar\n  given  {describe(loss)}")
    rows = next((each.shape[0] for each in inputs if each.ndim), None)
    if rows is None:
        raise ValueError("no input has an axis of rows")
    mine = cast_to(T.as_tensor(rows), T.as_tensor(1.0).dtype)
    share = mine / all_reduce(mine, "sum", group)
    weighted = _by_rows(loss, share)
    start_together(params, group)
    gradients = [_as_long(*pair) for pair in zip(grad(weighted, [*params]), params, strict=True)]
    buckets = list(_buckets(gradients, bucket_bytes))
    if shard:
        stepped = sharded_updates(gradients, params, optimizer, buckets, group)
    else:
        stepped = list(optimizer(_summed(gradients, buckets, group), params))
    others = [(variable, _mean(new, share, group)) for variable, new in as_updates(updates)]
    start_together([variable for variable, _ in stepped], group)
    start_apart(loss, group)
    # Programs compute in the order of their results: the last bucket's gradients are there first.
    place = {params[number]: k for k, bucket in enumerate(buckets) for number in bucket}
    stepped.sort(key=lambda update: place.get(update[0], len(place)))
    total = all_reduce(weighted, "sum", group)
    return function(list(inputs), total, updates=[*stepped, *others], name=name, **options)


def _mean(new: Tensor, share: Tensor, group: ProcessGroup) -> Tensor:
    """The mean over the processes, by rows. What is no float, such as a count, is left alone."""
    if not new.dtype.is_inexact:
        return new
    return all_reduce(_by_rows(new, share), "sum", group)


def _by_rows(value: Tensor, share: Tensor) -> Tensor:
    """What a process adds to a mean by rows: without rows nothing, as means of no rows are NaN."""
    share = cast_to(share, value.dtype)
    return T.where(T.eq(share, 0), T.zeros_like(value), value * share)


def _as_long(gradient: Tensor, param: SharedVariable) -> Tensor:
    """The gradient with the lengths of its parameter in its type: they need no messages then."""
    return reshape(gradient, tuple(length(param, axis) for axis in range(param.ndim)))


def _summed(
    gradients: Sequence[Tensor], buckets: Sequence[Sequence[int]], group: ProcessGroup
) -> list[Tensor]:
    """The gradients of all processes together, sent bucket by bucket.

    Of several buckets, those that are complete travel while gradients of others are computed.
    """
    found: dict[int, Tensor] = {}
    for numbers in buckets:
        parts = [gradients[number] for number in numbers]
        flat = T.concatenate([part.reshape((-1,)) for part in parts])
        several = len(buckets) > 1
        total = sum_meanwhile(flat, group) if several else all_reduce(flat, "sum", group)
        place: Any = 0
        for number, part in zip(numbers, parts, strict=True):
            shape = tuple(part.shape[axis] for axis in range(part.ndim))
            length = part.size
            found[number] = total[place : place + length].reshape(shape)
            place = place + length
    return [found[number] for number in range(len(gradients))]


def _buckets(gradients: Sequence[Tensor], most: int) -> Iterator[list[int]]:
    """The numbers of gradients that are sent together, the last one first: it is there first."""
    waiting: dict[DType, tuple[list[int], int]] = {}
    for number in reversed(range(len(gradients))):
        each = gradients[number]
        size = np.prod([dim for dim in each.type.shape if isinstance(dim, int)])
        bytes_ = int(size) * each.dtype.bytes
        numbers, filled = waiting.pop(each.dtype, ([], 0))
        if numbers and filled + bytes_ > most:
            yield numbers
            numbers, filled = [], 0
        waiting[each.dtype] = ([*numbers, number], filled + bytes_)
    yield from (numbers for numbers, _ in waiting.values())
