"""One entry: a folder of plain files and a manifest, all checked at each use.

Folders are text here, and in all that finding an entry needs: to import pathlib takes longer.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from symc.cache import files, manifest, place
from symc.cache.errors import Damaged, Refused
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

    def names(self) -> list[str]:
        """Return the names of this entry's files."""
        return [*contents(self.folder)[1]]

    def open(self, name: str) -> BinaryIO:
        """Open a file of this entry for reading.

        Raises ValueError as `file` does, and OSError: FileNotFoundError when there is no such file.
        """
        name = _checked(name)
        try:
            with files.opened(*place.split(self.folder)) as folder:
                fd, _ = files.open_file(folder, name)
        except (Damaged, Refused) as error:
            raise PermissionError(errno.EACCES, str(error), f"{self.folder}/{name}") from error
        return open(fd, "rb")

    def read(self, name: str) -> bytes:
        """Return the content of a file of this entry; raises as `open` does."""
        with self.open(name) as file:
            return file.read()


def _checked(name: str) -> str:
    if "/" in name or name in {"", ".", ".."}:
        msg = f"{name!r} is no name of a file"
        raise ValueError(msg)
    return name


def find(root: str, key: Key) -> Entry | None:
    """Return a verified entry, or None; a damaged one counts as missing."""
    folder = place.entry_folder(root, key.digest)
    try:
        check(folder, key, touch=True)
    except (FileNotFoundError, Damaged):
        return None
    return Entry(folder, key, hit=True)


def check(folder: str, key: Key, *, touch: bool = False) -> None:
    """Verify every byte of an entry, and note that it is used if it is to be touched.

    Raises FileNotFoundError when it is not there, `Damaged` when it was changed after publication,
    or stands where others may write.
    """
    with _opened(folder) as fd:
        used = _verify(fd, key)
        if touch and not 0 <= time.time() - used < _TOUCH_AFTER:
            with suppress(OSError):  # a read-only disk, or pruned just now
                os.utime(manifest.NAME, dir_fd=fd, follow_symlinks=False)


def _verify(fd: int, key: Key) -> float:
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
    return used


def contents(folder: str) -> Contents:
    """Return the manifest of an entry; the files are not looked at.

    Raises FileNotFoundError and `Damaged` as `check` does.
    """
    with _opened(folder) as fd:
        try:
            return _contents(fd)
        except OSError as error:
            msg = f"{manifest.NAME} cannot be read: {error.strerror}"
            raise Damaged(msg) from error


@contextmanager
def _opened(folder: str) -> Generator[int]:
    """A descriptor of an entry's folder; raises FileNotFoundError and `Damaged`."""
    with ExitStack() as stack:
        try:
            fd = stack.enter_context(files.opened(*place.split(folder)))
        except FileNotFoundError:
            raise
        except OSError as error:
            msg = f"its folder cannot be opened: {error.strerror}"
            raise Damaged(msg) from error
        except Refused as error:
            raise Damaged(str(error)) from error
        yield fd


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
