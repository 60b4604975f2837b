"""Functions that several processes compute together, over MPI.

Every process runs the same script (``python -m symc run -n 4 script.py``) and calls the same
functions; in these, collective operations exchange arrays. `data_parallel` trains with a part of
the data in each process, and `checkpoint` lets an ended job go on. Needs mpi4py and an MPI: ``pip
install '.[mpi]'`` in a checkout.
"""

from __future__ import annotations

from symc.distributed.checkpoints import Checkpoint, checkpoint
from symc.distributed.collectives import all_gather, all_reduce, broadcast, reduce_scatter, shift
from symc.distributed.groups import ProcessGroup, group, rank, size, world
from symc.distributed.parallel import data_parallel
from symc.graph.registry import SERVICES as _SERVICES

__all__ = [
    "Checkpoint", "ProcessGroup", "all_gather", "all_reduce", "broadcast", "checkpoint",
    "data_parallel", "group", "rank", "reduce_scatter", "shift", "size", "world",
]  # fmt: skip

_SERVICES.announce("symc.distributed.agreement", "together")


def __dir__() -> list[str]:
    return [*__all__]
