"""Groups of processes that compute together: communicators of mpi4py, by number.

Programs name a group by its number, which is the same in all processes as long as these make their
groups in the same order. Each group has a communicator of its own, so that messages of symc and of
the user's never meet. Its errors end the process: other processes would wait for it for ever.
"""

from __future__ import annotations

import sys
import time
from typing import Any, cast

from symc.codegen.record import record
from symc.codegen.targets.mpi import COMMUNICATORS, MOST_GROUPS, started
from symc.errors import WrongProcesses

PATIENCE = 10.0
"""How many seconds a process that has ended waits before it says that the others have not."""

_ending: list[Any] = []
"""The communicator on which processes say that they have ended."""


@record
class ProcessGroup:
    """Processes that exchange arrays. `world()` has all of them, `group` makes others.

    >>> import symc.distributed as D
    >>> D.world().size, D.world().rank
    (1, 0)
    """

    number: int

    @property
    def communicator(self) -> Any:
        """Its communicator of mpi4py.

        >>> import symc.distributed as D
        >>> D.world().communicator.Get_size()
        1
        """
        return COMMUNICATORS[self.number]

    @property
    def rank(self) -> int:
        """The number of this process in the group, from 0.

        >>> import symc.distributed as D
        >>> D.world().rank
        0
        """
        return int(self.communicator.Get_rank())

    @property
    def size(self) -> int:
        """How many processes the group has.

        >>> import symc.distributed as D
        >>> D.world().size
        1
        """
        return int(self.communicator.Get_size())


def world() -> ProcessGroup:
    """The group of all processes of the job; of one where the script was started alone.

    The first call starts MPI, and all processes have to make it. Raises `MpiMissing` where mpi4py
    is not installed.

    >>> import symc.distributed as D
    >>> D.world().size
    1
    """
    if not COMMUNICATORS:
        every = started().COMM_WORLD
        group(every)
        _ending.append(every.Dup())
    return ProcessGroup(0)


def group(communicator: Any) -> ProcessGroup:
    """The group of the processes of one of mpi4py's communicators, all of which must call this.

    Processes that make several groups make them in the same order. Raises `ValueError` for more
    than 16 groups.

    >>> import symc.distributed as D
    >>> D.group(D.world().communicator).size
    1
    """
    if not COMMUNICATORS and communicator is not started().COMM_WORLD:
        world()
    if len(COMMUNICATORS) == MOST_GROUPS:
        raise ValueError(f"there are {MOST_GROUPS} groups of processes already; reuse one")
    own = communicator.Dup()
    own.Set_errhandler(started().ERRORS_ARE_FATAL)
    COMMUNICATORS.append(own)
    return ProcessGroup(len(COMMUNICATORS) - 1)


def chosen(given: ProcessGroup | None) -> ProcessGroup:
    """The group that is given, or all processes. Raises TypeError for what is no group."""
    if given is not None and not isinstance(cast("object", given), ProcessGroup):
        raise TypeError(
            f"{given!r:.80} is no group of processes\n"
            "  symc.distributed.group makes one of a communicator of mpi4py, once"
        )
    return world() if given is None else given


def check_processes(label: str, number: int, count: int) -> None:
    """Raises `WrongProcesses` unless there is a group of this number, of so many processes.

    A saved function has the numbers of the job in which it was made.
    """
    if number == 0:
        world()
    if not 0 <= number < len(COMMUNICATORS):
        raise WrongProcesses(
            f"{label} computes with group {number} of processes, which is not there\n"
            "  symc.distributed.group makes groups, in the same order as where it was saved"
        )
    if (found := ProcessGroup(number).size) != count:
        raise WrongProcesses(
            f"{label} is an operation of {count} processes, and there are {found}\n"
            f"  python -m symc run -n {count} starts as many"
        )


def wait_for_others(patience: float = PATIENCE) -> None:
    """At the end of a program: until all processes are there. Says so once if that takes long.

    A process that takes fewer steps than the others leaves them waiting for it, without a word.
    """
    if not _ending:
        return
    arrival, begin, said = _ending[0].Ibarrier(), time.monotonic(), False
    while not arrival.Test():
        if not said and time.monotonic() - begin >= patience:
            said = True
            sys.stderr.write(
                f"process {rank()} has ended, and waits for the others: if these are in a function "
                "that exchanges arrays, they wait for it for ever\n"
                "  all processes must call such functions equally often\n"
            )
            sys.stderr.flush()
        time.sleep(0.005)


def rank() -> int:
    """The number of this process, from 0: `world().rank`.

    A number that differs between processes must not stand in a graph, which they have in common;
    as the value of a shared variable it may.

    >>> import symc.distributed as D
    >>> D.rank()
    0
    """
    return world().rank


def size() -> int:
    """How many processes there are: `world().size`, 1 for a program that was started alone.

    >>> import symc.distributed as D
    >>> D.size()
    1
    """
    return world().size
