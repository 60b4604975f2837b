"""Outputs that a function keeps, and overwrites in its next call.

Theano does so where a program lets it: by ``Out(variable, borrow=True)`` and a linker that frees
nothing. There a program may hold the array of an output, and finds the newest value in it. All
other results are fresh arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symc.theano.configparser import config


def keeps_memory(mode: Any) -> bool:
    """Whether a mode's linker frees nothing between calls."""
    linker = mode.linker
    if isinstance(linker, str):
        return linker.endswith("_nogc") or not config.allow_gc
    allowed = getattr(linker, "allow_gc", None)
    return not (config.allow_gc if allowed is None else allowed)


class BorrowedOutputs:
    """The arrays of the last call, for outputs at some positions."""

    def __init__(self, positions: Sequence[int]) -> None:
        self.last: dict[int, Any] = dict.fromkeys(positions)

    def overwritten(self, results: Sequence[Any]) -> list[Any]:
        """The results; those that are borrowed in the arrays of the last call, where they fit."""
        found = list(results)
        for position, last in self.last.items():
            new = found[position]
            if isinstance(last, np.ndarray) and (last.shape, last.dtype) == (new.shape, new.dtype):
                np.copyto(last, new)
                found[position] = last
            else:
                self.last[position] = new
        return found
