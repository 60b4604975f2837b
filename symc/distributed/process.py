"""One of the processes that ``python -m symc run`` starts: ``process.py script.py ...``.

Run as a file, so that nothing of symc is imported before the script, which may set variables of the
environment first. What the script raises is written in one piece, with the number of the process:
several processes write at the same time. mpi4py, which runs this, then ends the job.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from pathlib import Path
from types import TracebackType

_NUMBERS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")


def main(arguments: list[str]) -> None:
    """Runs a script, or with ``-m`` a module, as Python would."""
    try:
        _run(arguments)
    except SystemExit as ended:
        if ended.code in (None, 0):
            _wait_for_others()
        raise
    except Exception as error:
        if sys.excepthook is not sys.__excepthook__:
            raise  # the script has its own way of showing errors
        sys.stderr.write(told(error))
        sys.stderr.flush()
        raise SystemExit(1) from None
    _wait_for_others()


def _run(arguments: list[str]) -> None:
    if arguments[0] == "-m":
        sys.argv[:] = arguments[1:]
        sys.path[0] = str(Path.cwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = arguments
        sys.path[0] = str(Path(arguments[0]).resolve().parent)
        runpy.run_path(arguments[0], run_name="__main__")


def _wait_for_others() -> None:
    """Until all have come to the end of the script, if it has used `symc.distributed`."""
    groups = sys.modules.get("symc.distributed.groups")
    if groups is not None:
        groups.wait_for_others()


def told(error: BaseException) -> str:
    """The traceback of an error from the script's first line on, and which process has raised it.

    >>> print(told(ValueError("bad")), end="")
    process ?:
    ValueError: bad
    """
    number = next((os.environ[name] for name in _NUMBERS if name in os.environ), "?")
    lines = traceback.format_exception(type(error), error, _own(error.__traceback__))
    return f"process {number}:\n{''.join(lines)}"


def _own(frames: TracebackType | None) -> TracebackType | None:
    """The frames of the script: those after this file's and those of `runpy`."""
    started = (__file__, runpy.__file__, "<frozen runpy>")
    while frames is not None and frames.tb_frame.f_code.co_filename in started:
        frames = frames.tb_next
    return frames


if __name__ == "__main__":
    main(sys.argv[1:])
