"""Checkpoints: a job that was ended goes on where its file ends, on any number of processes.

The file is one of `symc.save`, with a function whose results are the values of the step's shared
variables. So it can be looked at without MPI: ``symc.load(path)()`` is a dict of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from symc.calls.callable import Function, compiled_function
from symc.calls.function import function
from symc.distributed.groups import ProcessGroup, chosen
from symc.distributed.state import give_whole, whole
from symc.errors import BadFile
from symc.graph.inputs import shared
from symc.graph.node import Array
from symc.saved.functions import load, save

if TYPE_CHECKING:
    from os import PathLike

_DONE = "steps done"
_Result = TypeVar("_Result")


class Checkpoint:
    """The state of a training step in a file; made by `checkpoint`.

    `done` is the number of steps that have been taken, in all runs of the job.

    >>> import symc
    >>> import pathlib, tempfile
    >>> w = symc.shared(4.0, name="w")
    >>> step = symc.function([], w, updates={w: w / 2}, mode="python")
    >>> saved = symc.distributed.checkpoint(step, pathlib.Path(tempfile.mkdtemp(), "state"))
    >>> type(saved).__name__, saved.done
    ('Checkpoint', 0)
    """

    def __init__(self, step: Function, path: Path, every: int, group: ProcessGroup) -> None:
        self._step, self._path, self._every, self._group = step, path, every, group
        self._names = [f"{k} {each.name or '?'}" for k, each in enumerate(step.shared)]
        self.done = 0
        if self._on_first(path.exists):
            self._restore()

    def steps(self, total: int) -> Iterator[int]:
        """The numbers of the steps that are left of `total`; saves in between and after the last.

        A step counts once its body has run, and is in the file when the next one begins.

        >>> import pathlib, tempfile, symc, symc.distributed as D
        >>> n = symc.shared(0.0, "n")
        >>> step = symc.function([], updates=[(n, n + 1)])
        >>> place = pathlib.Path(tempfile.mkdtemp(), "run.symc")
        >>> for number in D.checkpoint(step, place, every=2).steps(3):
        ...     step()
        >>> list(D.checkpoint(step, place, every=2).steps(5)), n.get_value()
        ([3, 4], array(3.))
        """
        while self.done < total:
            yield self.done
            self.done += 1
            if self.done % self._every == 0 or self.done == total:
                self.save()

    def save(self) -> None:
        """Writes the file now, whole or not at all; all processes must call this.

        >>> import pathlib, tempfile, symc, symc.distributed as D
        >>> n = symc.shared(3.0, "n")
        >>> step = symc.function([], updates=[(n, n + 1)], mode="python")
        >>> place = pathlib.Path(tempfile.mkdtemp(), "run.symc")
        >>> D.checkpoint(step, place).save()
        >>> n.set_value(0.0)
        >>> run = D.checkpoint(step, place)
        >>> n.get_value()
        array(3.)
        """
        values = [whole(variable, self._group) for variable in self._step.shared]
        self._on_first(lambda: self._write(values))

    def _write(self, values: list[Array]) -> None:
        state = dict(zip(self._names, values, strict=True)) | {_DONE: np.int64(self.done)}
        kept = {name: shared(value, name) for name, value in state.items()}
        save(function([], kept, name="state", mode="python"), self._path)

    def _restore(self) -> None:
        found = self._on_first(self._read)
        for variable, value in zip(self._step.shared, found, strict=False):
            give_whole(variable, value, self._group)
        self.done = int(found[-1])

    def _read(self) -> list[Array]:
        """The values in the file. Raises `BadFile` if they are not those of this step."""
        state = load(self._path, mode="python")
        if state.keys != [*self._names, _DONE]:
            raise BadFile(
                f"{self._path} is of another step: it has {', '.join(state.keys) or 'no state'}; "
                f"this one has {', '.join(self._names)}"
            )
        return list(state().values())

    def _on_first(self, act: Callable[[], _Result]) -> _Result:
        """What process 0 finds; what it raises is raised in all, of which none waits for it."""
        answer: tuple[Any, BaseException | None] = None, None
        if self._group.rank == 0:
            try:
                answer = act(), None
            except Exception as error:
                answer = None, error
        result, failed = self._group.communicator.bcast(answer)
        if failed is not None:
            raise failed
        found: _Result = result
        return found


def checkpoint(
    step: Function,
    path: str | PathLike[str],
    *,
    every: int = 100,
    group: ProcessGroup | None = None,
) -> Checkpoint:
    """Keeps the shared variables of a training step in a file, and takes them from it now.

    Where the file exists, the step goes on from its values, and `Checkpoint.steps` from its number
    of steps; a job that was ended is started again as it was, on as many processes or on others.
    Sharded memory is cut anew, and random streams go on: on as many processes with the numbers that
    would have come.

    - `step`: a function of `data_parallel` or `symc.function`; all that it reads and updates is
      kept.
    - `path`: written and read by process 0 alone. It is replaced when all of it has been written.
    - `every`: how many steps lie between two files.

    All processes call this. Raises `BadFile` in all of them for a file of another step or none of
    symc's, OSError where it cannot be read, and ValueError for an `every` below 1.

    >>> import pathlib, tempfile, symc, symc.distributed as D
    >>> n = symc.shared(0.0, "n")
    >>> step = symc.function([], n, updates=[(n, n + 1)])
    >>> run = D.checkpoint(step, pathlib.Path(tempfile.mkdtemp(), "run.symc"), every=10)
    >>> [float(step()) for number in run.steps(3)]
    [0.0, 1.0, 2.0]
    """
    compiled_function(step, "checkpoint")
    if every < 1:
        raise ValueError(f"checkpoint: every={every} is not a number of steps")
    return Checkpoint(step, Path(path), every, chosen(group))
