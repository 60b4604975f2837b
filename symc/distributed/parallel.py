"""Training on several processes, each with a part of the data.

One step on r processes with n_1 ... n_r rows is one step of one process with all of them: costs and
gradients of each process count as much as it has rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from symc import tensor as T
from symc.calls.callable import Function
from symc.calls.function import function
from symc.calls.updates import as_updates
from symc.codegen.dtypes import UINT64, DType
from symc.derivatives.grad import grad
from symc.distributed.collectives import all_reduce
from symc.distributed.groups import ProcessGroup, world
from symc.errors import ShapeMismatch
from symc.graph.inputs import SharedVariable
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.random.keys import fold_in

Update: TypeAlias = tuple[SharedVariable, Tensor]
Optimizer: TypeAlias = Callable[[Sequence[Tensor], Sequence[SharedVariable]], Sequence[Update]]


def data_parallel(
    loss: Tensor,
    params: Sequence[SharedVariable],
    optimizer: Optimizer,
    *,
    inputs: Sequence[Tensor],
    updates: Sequence[Update] | Mapping[SharedVariable, Tensor] = (),
    group: ProcessGroup | None = None,
    bucket_bytes: int = 32 << 20,
    name: str | None = None,
    **options: Any,
) -> Function:
    """A training step that all processes take together, each with rows of its own.

    - `loss`: a scalar, the mean over the rows of the inputs, whose first axis is that of rows. The
      processes may have different numbers of rows, but at least one.
    - `params`: what is trained. Process 0's values are given to all of them now.
    - `optimizer`: called with the gradients and the parameters; gives updates, as those of
      `symc.optim` do: ``lambda grads, params: symc.optim.adam(grads, params, 1e-3)``.
    - `inputs`: of the function. Its result is the loss over the rows of all processes.
    - `updates`: other updates, such as the running means of batch normalisation: floats become
      the mean over the processes, by rows. Random streams of the loss are made different in each
      process now, by folding in its rank.
    - `bucket_bytes`: gradients of one dtype are sent together, so many bytes at a time.
    - `options` go to `symc.function`.

    All processes call this, and the function, equally often. Raises `ShapeMismatch` for a loss that
    is not a scalar, `ValueError` where no input has rows.

    >>> import numpy as np, symc, symc.tensor as T, symc.distributed as D
    >>> x, y, w = T.matrix("x"), T.vector("y"), symc.shared(np.zeros(2), "w")
    >>> step = D.data_parallel(
    ...     ((x @ w - y) ** 2).mean(), [w], lambda g, p: symc.optim.sgd(g, p, 0.5), inputs=[x, y])
    >>> step([[1.0, 0.0], [0.0, 1.0]], [1.0, 3.0])
    array(5.)
    >>> w.get_value()
    array([0.5, 1.5])
    """
    group = world() if group is None else group
    if loss.ndim:
        raise ShapeMismatch(f"the loss must be a scalar\n  given  {describe(loss)}")
    rows = next((each.shape[0] for each in inputs if each.ndim), None)
    if rows is None:
        raise ValueError("no input has an axis of rows")
    mine = cast_to(T.as_tensor(rows), T.as_tensor(1.0).dtype)
    share = mine / all_reduce(mine, "sum", group)
    gradients = _summed(grad(loss, list(params)), share, group, bucket_bytes)
    stepped = list(optimizer(gradients, params))
    others = [(variable, _mean(new, share, group)) for variable, new in as_updates(updates)]
    _start_together([*params, *(variable for variable, _ in stepped)], group)
    _start_apart(loss, group)
    total = all_reduce(loss * cast_to(share, loss.dtype), "sum", group)
    return function(list(inputs), total, updates=[*stepped, *others], name=name, **options)


def _mean(new: Tensor, share: Tensor, group: ProcessGroup) -> Tensor:
    """The mean over the processes, by rows. What is no float, such as a count, is left alone."""
    if not new.dtype.is_inexact:
        return new
    return all_reduce(new * cast_to(share, new.dtype), "sum", group)


def _summed(
    gradients: Sequence[Tensor], share: Tensor, group: ProcessGroup, bucket_bytes: int
) -> list[Tensor]:
    """The gradients of all processes' rows, sent in buckets of neighbours of one dtype."""
    found: dict[int, Tensor] = {}
    for numbers in _buckets(gradients, bucket_bytes):
        parts = [gradients[number] for number in numbers]
        flat = T.concatenate([part.reshape((-1,)) for part in parts])
        total = all_reduce(flat * cast_to(share, flat.dtype), "sum", group)
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


def _start_together(variables: Sequence[SharedVariable], group: ProcessGroup) -> None:
    """Give process 0's values to all: of parameters and of the optimizer's memory."""
    for variable in dict.fromkeys(variables):
        variable.set_value(group.communicator.bcast(variable.get_value()))


def _start_apart(loss: Tensor, group: ProcessGroup) -> None:
    """Random streams that differ: process 0's seeds, each with the rank folded in."""
    for node in walk([loss]):
        if isinstance(node, SharedVariable) and _is_state(node):
            state = group.communicator.bcast(node.get_value())
            key = fold_in(T.as_tensor(state), group.rank).eval()
            node.set_value(np.array([key[0], state[1]], np.uint64))  # a seed, and calls since


def _is_state(variable: SharedVariable) -> bool:
    """Whether it is the state of a `RandomStream`."""
    return variable.default_update is not None and variable.dtype is UINT64 and variable.ndim == 1
