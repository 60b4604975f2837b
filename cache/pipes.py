"""Writing into a pipe whose reader has gone, as in ``... list | head``: no error, but the end."""

import os
import sys
from collections.abc import Callable

__all__ = ["quietly"]

_SIGPIPE = 141  # a shell's status for a program that ended so


def quietly(run: Callable[[], int]) -> int:
    """Run a command and return its exit status; 141 when nobody reads its output."""
    try:
        try:
            return run()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
        return _SIGPIPE
