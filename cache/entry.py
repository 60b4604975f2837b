"""One entry: a folder of plain files and a manifest, all checked at each use.

Folders are text here, and in all that finding an entry needs: to import pathlib takes longer.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from symc.cache import files, manifest, place
from symc.cache.errors import Damaged
from symc.cache.key import Key

if TYPE_CHECKING:
    from pathlib import Path

# The key's parts, the files, and when the entry was last used, in seconds since 1970.
Contents = tuple[dict[str, str], manifest.Files, float]

_TOUCH_AFTER = 60.0  # seconds: recency need not be finer, and a hit should not write

__all__ = ["Contents", "Entry", "check", "contents", "find"]


class Entry:
    """Files kept under a key, in `folder`; `hit` says that they were found, not made.

    >>> entry = Entry("/cache/ab/abcd", Key.of(source="int f;"), hit=True)
    >>> entry.file("f.so").name
    'f.so'
    """

    __slots__ = ("folder", "hit", "key")

    def __init__(self, folder: str, key: Key, *, hit: bool) -> None:
        self.folder = folder
        self.key = key
        self.hit = hit

    @property
    def path(self) -> Path:
        """The entry's folder, as a path."""
        from pathlib import Path

        return Path(self.folder)

    def file(self, name: str) -> Path:
        """Return the path of a file of this entry.

        Raises ValueError for a name that leads out of the entry's folder.
        """
        return self.path / _checked(name)

    def open(self, name: str) -> BinaryIO:
        """Open a file of this entry for reading.

        Raises ValueError as `file` does, and FileNotFoundError when there is no such file.
        """
        return open(f"{self.folder}/{_checked(name)}", "rb")

    def read(self, name: str) -> bytes:
        """Return the content of a file of this entry; raises what `open` raises."""
        with self.open(name) as file:
            return file.read()


def _checked(name: str) -> str:
    if "/" in name or name in {"", ".", ".."}:
        msg = f"{name!r} is no name of a file"
        raise ValueError(msg)
    return name


def find(root: str, key: Key) -> Entry | None:
    """Return a verified entry, or None; a damaged one counts as missing."""
    if place.problem(root) is not None:
        return None
    folder = place.entry_folder(root, key.digest)
    try:
        used = check(folder, key)
    except (FileNotFoundError, Damaged):
        return None
    if not 0 <= time.time() - used < _TOUCH_AFTER:
        with suppress(OSError):  # a read-only disk, or pruned just now
            os.utime(f"{folder}/{manifest.NAME}")
    return Entry(folder, key, hit=True)


def check(folder: str, key: Key) -> float:
    """Verify every byte of an entry, and return when it was last used.

    Raises FileNotFoundError when it is not there and `Damaged` when it is not what was published.
    """
    fd = _open(folder)
    try:
        parts, expected, used = _contents(fd)
        if parts != dict(key.parts):
            msg = "it holds another key"
            raise Damaged(msg)
        with os.scandir(fd) as items:
            names = {item.name for item in items}
        for name in sorted(names ^ {*expected, manifest.NAME}):
            msg = f"file {name!r} is {'not expected' if name in names else 'missing'}"
            raise Damaged(msg)
        for name, (digest, size) in expected.items():
            _check_file(fd, name, digest, size)
    except OSError as error:
        msg = f"it cannot be read: {error.strerror}"
        raise Damaged(msg) from error
    finally:
        os.close(fd)
    return used


def contents(folder: str) -> Contents:
    """Return what the manifest of an entry says; the files are not looked at.

    Raises FileNotFoundError and `Damaged` as `check` does.
    """
    fd = _open(folder)
    try:
        return _contents(fd)
    except OSError as error:
        msg = f"{manifest.NAME} cannot be read: {error.strerror}"
        raise Damaged(msg) from error
    finally:
        os.close(fd)


def _open(folder: str) -> int:
    parent, _, name = folder.rpartition("/")
    try:
        fd = files.open_folder(parent)
        try:
            return files.open_folder(name, fd)
        finally:
            os.close(fd)
    except FileNotFoundError:
        raise
    except OSError as error:
        msg = f"its folder cannot be opened: {error.strerror}"
        raise Damaged(msg) from error


def _contents(folder: int) -> Contents:
    fd, info = files.open_file(folder, manifest.NAME)
    try:
        text = files.read(fd)
    finally:
        os.close(fd)
    return *manifest.parse(text), info.st_mtime


def _check_file(folder: int, name: str, digest: str, size: int) -> None:
    fd, info = files.open_file(folder, name)
    try:
        if info.st_size != size:
            msg = f"file {name!r} has {info.st_size} bytes, not {size}"
            raise Damaged(msg)
        if files.digest(fd) != digest:
            msg = f"file {name!r} has another checksum than when it was made"
            raise Damaged(msg)
    finally:
        os.close(fd)
