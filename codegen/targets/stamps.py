"""Stamps of files: text that changes when a file does, found without reading it.

A process that finds all its functions in the cache looks at some six hundred files to make keys. In
Python that is a fifth of what a function takes then, so there is the same in C, where the extension
is built (`symc/calls/_stamps.c`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

__all__ = ["Stamps", "python_stamps", "stamps", "use"]

Stamps: TypeAlias = "tuple[list[str], list[str]]"


def python_stamps(folder: str, endings: tuple[str, ...], /) -> Stamps:
    """Return a line for each file of a folder whose name ends so, and the names of its folders.

    A line has the name, the size and the time of the last change. What vanishes meanwhile, links
    that lead nowhere, and folders with a dot in their name are left out. Raises OSError.
    """
    lines: list[str] = []
    folders: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(endings):
                with suppress(FileNotFoundError):
                    info = entry.stat()
                    lines.append(f"{entry.name} {info.st_size} {info.st_mtime_ns}")
            elif "." not in entry.name and entry.is_dir():
                folders.append(entry.name)
    return lines, folders


_chosen: list[Callable[[str, tuple[str, ...]], Stamps]] = [python_stamps]


def use(function: Callable[[str, tuple[str, ...]], Stamps]) -> None:
    """Use another function with the meaning of `python_stamps` from now on."""
    _chosen[0] = function


def stamps(folder: str, endings: tuple[str, ...]) -> Stamps:
    """As `python_stamps`, by the function that is used."""
    return _chosen[0](folder, endings)
