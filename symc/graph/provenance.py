"""Provenance: the user's line that a node is attributed to."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar
from typing import Any, NamedTuple


class Where(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{_notebook_cell(self.file) or self.file.rpartition('/')[2]}:{self.line}"


def _notebook_cell(file: str) -> str | None:
    """IPython's name of a cell, ``In[3]``, if the file is one: no file has that text."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    named = shell.compile.format_code_name(file) if shell is not None else None
    return named[1] if named else None


NOWHERE = Where("?", 0)


_located: ContextVar[Where | None] = ContextVar("located", default=None)


class located_at:  # noqa: N801 -- used as a function: with located_at(node.where): ...
    """New nodes are attributed to this line: for gradients and rewrites of a user's node.

    (A class, as a generator would take longer than the block itself.)
    """

    __slots__ = ("_token", "_where")

    def __init__(self, where: Where) -> None:
        self._where = where

    def __enter__(self) -> None:
        self._token = _located.set(self._where)

    def __exit__(self, *_: object) -> None:
        _located.reset(self._token)


def user_line() -> Where:
    """The innermost line outside symc that is being executed."""
    located = _located.get()
    if located is not None:
        return located
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- inspect.stack() reads files
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module != "symc" and not module.startswith("symc."):
            break
        frame = frame.f_back
    return Where(frame.f_code.co_filename, frame.f_lineno)


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the innermost line outside symc that is being executed."""
    level, frame = 2, sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("symc."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
