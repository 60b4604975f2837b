"""What training on several processes keeps: values that all have in common, and others.

Most variables have one value in all processes. Of a sharded one each process has a part, and the
state of a random stream is that of all of them with the process's rank folded in. `whole` is the
value that does not depend on how many processes there are, and `give_whole` its inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from symc.codegen.dtypes import UINT64
from symc.distributed.groups import ProcessGroup
from symc.graph.inputs import SharedVariable, as_tensor, shared
from symc.graph.node import Array, Tensor
from symc.graph.walks import walk
from symc.tensor.random.keys import fold_in

_parts: WeakKeyDictionary[Tensor, int] = WeakKeyDictionary()
"""The elements of all processes' parts together, of sharded variables."""
_seeds: WeakKeyDictionary[Tensor, Array] = WeakKeyDictionary()
"""The state, of all processes together, that a random stream started with."""
_places: WeakSet[Tensor] = WeakSet()
"""Variables with the rank of the process."""


def start_together(variables: Sequence[SharedVariable], group: ProcessGroup) -> None:
    """Give process 0's values to all: of parameters and of the optimiser's memory."""
    for variable in dict.fromkeys(variables):
        if variable not in _parts:
            variable.set_value(group.communicator.bcast(variable.get_value()))


def start_apart(loss: Tensor, group: ProcessGroup) -> None:
    """Random streams that differ: process 0's seeds, each with the rank folded in."""
    for node in walk([loss]):
        if isinstance(node, SharedVariable) and _is_stream(node):
            state = group.communicator.bcast(node.get_value())
            _seeds[node] = state
            node.set_value(_own_stream(state, state[1], group))


def _is_stream(variable: SharedVariable) -> bool:
    """Whether it is the state of a `RandomStream`."""
    return variable.default_update is not None and variable.dtype is UINT64 and variable.ndim == 1


def _own_stream(seed: Array, calls: int, group: ProcessGroup) -> Array:
    """The state of this process's stream after so many calls: a key, and their number."""
    key = fold_in(as_tensor(seed), group.rank).eval()
    return np.array([key[0], calls], np.uint64)


def rank_of(group: ProcessGroup) -> SharedVariable:
    """A variable with this process's rank, which a program may have as the value of a variable."""
    made = shared(np.int64(group.rank), "rank")
    _places.add(made)
    return made


def shard(value: Array, name: str | None, group: ProcessGroup) -> SharedVariable:
    """A variable with this process's part of a vector, which is filled up with 0 to equal parts."""
    made = shared(_own_part(value, group), name)
    _parts[made] = len(value)
    return made


def is_shard_of(variable: SharedVariable, other: SharedVariable) -> bool:
    """Note that a variable has parts as another one does, such as an optimiser's memory."""
    if variable.type.shape != other.type.shape:
        return False
    _parts[variable] = _parts[other]
    return True


def _own_part(value: Array, group: ProcessGroup) -> Array:
    each = part_length(len(value), group)
    padded = np.zeros(each * group.size, value.dtype)
    padded[: len(value)] = value
    return padded[each * group.rank : each * (group.rank + 1)]


def part_length(count: int, group: ProcessGroup) -> int:
    """The elements of each process's part of so many."""
    return -(-count // group.size)


def whole(variable: SharedVariable, group: ProcessGroup) -> Array:
    """The value for all processes; every one of them must ask."""
    value: Array = variable.get_value()
    if variable in _parts:
        every = np.concatenate(group.communicator.allgather(value))
        return every[: _parts[variable]]
    if variable in _seeds:
        return np.array([*_seeds[variable], value[1]], np.uint64)
    return value


def give_whole(variable: SharedVariable, value: Array, group: ProcessGroup) -> None:
    """Give a process its value, of one that `whole` had, maybe of more or of fewer processes."""
    if variable in _parts:
        variable.set_value(_own_part(value, group))
    elif variable in _seeds:
        _seeds[variable] = value[:2]
        variable.set_value(_own_stream(value[:2], value[2], group))
    elif variable not in _places:
        variable.set_value(value)
