"""Optimisers whose memory is shared out: each process updates a part of the parameters.

The gradients of a bucket, one after the other, are cut into as many parts as there are processes.
Each receives the sum of its part (`reduce_scatter`), has the optimiser's memory for it alone, and
gives its new part of the parameters to all others (`all_gather`): as many numbers travel as with
`all_reduce`, and r processes need an r-th of the memory each. (Rajbhandari, Rasley, Ruwase and He:
ZeRO, 2020, stage 1.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from symc.calls.function import clone
from symc.distributed.collectives import all_gather, reduce_scatter
from symc.distributed.groups import ProcessGroup
from symc.distributed.ops import AllReduce
from symc.distributed.state import is_shard_of, part_length, rank_of, shard
from symc.errors import FunctionError
from symc.graph.inputs import SharedVariable
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.tensor.broadcast import describe
from symc.tensor.build import zeros
from symc.tensor.elementwise import Elementwise
from symc.tensor.shape import concatenate

Update: TypeAlias = tuple[SharedVariable, Tensor]
Optimizer: TypeAlias = Callable[[Sequence[Tensor], Sequence[SharedVariable]], Sequence[Update]]


def sharded_updates(
    gradients: Sequence[Tensor],
    params: Sequence[SharedVariable],
    optimizer: Optimizer,
    buckets: Iterable[Sequence[int]],
    group: ProcessGroup,
) -> list[Update]:
    """The updates of an optimiser that sees a part of each bucket.

    Raises `FunctionError` for an optimiser that combines elements, such as the norm of a gradient,
    as it has not all of them, and for parameters whose lengths may change.
    """
    numbers = [list(bucket) for bucket in buckets]
    counts = [[_count(params[k]) for k in bucket] for bucket in numbers]
    stand_ins: list[SharedVariable] = []  # for this process's parts of the parameters
    own: list[Tensor] = []  # these parts
    sums: list[Tensor] = []  # the gradients of these
    rank = rank_of(group)
    for bucket, lengths in zip(numbers, counts, strict=True):
        values = np.concatenate([params[k].get_value().reshape(-1) for k in bucket])
        name = "part of " + ", ".join(params[k].name or "?" for k in bucket[:3])
        stand_ins.append(shard(values, name, group))
        total = sum(lengths)
        flat = _padded([gradients[k] for k in bucket], total, group)
        sums.append(reduce_scatter(flat, group))
        rows = _padded([params[k] for k in bucket], total, group)
        own.append(rows.reshape((group.size, part_length(total, group)))[rank])
    updates = list(optimizer(sums, stand_ins))
    _check_elementwise(updates, [*sums, *stand_ins])
    replaced = clone([new for _, new in updates], list(zip(stand_ins, own, strict=True)))
    found: list[Update] = []
    for (variable, _), new in zip(updates, replaced, strict=True):
        if variable not in stand_ins:
            if variable.ndim:
                _remember(variable, stand_ins)
            found.append((variable, new))
            continue
        which = stand_ins.index(variable)
        every = all_gather(new, group=group).reshape((-1,))
        place = 0
        for k, length in zip(numbers[which], counts[which], strict=True):
            shape = params[k].type.shape
            found.append((params[k], every[place : place + length].reshape(shape)))
            place += length
    return found


def _padded(parts: Sequence[Tensor], total: int, group: ProcessGroup) -> Tensor:
    """Tensors one after the other, filled up with 0 to as many elements as have equal parts."""
    missing = part_length(total, group) * group.size - total
    rows = [part.reshape((-1,)) for part in parts]
    fill = [zeros((missing,), parts[0].dtype)] if missing else []
    return concatenate([*rows, *fill])


def _count(param: SharedVariable) -> int:
    lengths = [dim for dim in param.type.shape if isinstance(dim, int)]
    if len(lengths) < param.ndim:
        raise FunctionError(
            f"shard=True needs parameters whose lengths stay\n  given  {describe(param)}"
        )
    return int(np.prod(lengths))


def _remember(variable: SharedVariable, stand_ins: Sequence[SharedVariable]) -> None:
    """Note that the optimiser's memory has parts, too."""
    if not any(is_shard_of(variable, each) for each in stand_ins):
        raise FunctionError(
            "shard=True: the optimiser keeps an array that is not as long as a part of the "
            f"parameters\n  given  {describe(variable)}"
        )


def _check_elementwise(updates: Sequence[Update], parts: Sequence[Tensor]) -> None:
    """Raises `FunctionError` where an update of one element depends on others of its part."""
    depends = set(parts)
    for node in walk([new for _, new in updates], stop=lambda node: _is_together(node, parts)):
        if node in depends or depends.isdisjoint(node.args) or isinstance(node.op, AllReduce):
            continue
        depends.add(node)
        if not isinstance(node.op, Elementwise):
            raise FunctionError(
                "shard=True: this optimiser combines elements of gradients or parameters, of "
                f"which a process has a part\n  at     {describe(node)}\n"
                "  combine those of all: D.all_reduce((g**2).sum()) has all processes' elements"
            )


def _is_together(node: Tensor, parts: Sequence[Tensor]) -> bool:
    """What all processes have in common may be of all elements."""
    return node in parts or isinstance(node.op, AllReduce)
