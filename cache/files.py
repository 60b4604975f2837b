"""Opening, reading and removing files without following a link that somebody may have planted."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

from symc.cache.checksum import hasher
from symc.cache.errors import Damaged

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["digest", "open_file", "open_folder", "read", "remove"]

# A pipe put in a file's place must not make us wait, hence O_NONBLOCK.
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_CHUNK = 1 << 20


def open_folder(path: str | Path, parent: int | None = None) -> int:
    """Return a descriptor of a folder; raises OSError, also when it is a link."""
    return os.open(path, _OPEN | os.O_DIRECTORY, dir_fd=parent)


def open_file(folder: int, name: str) -> tuple[int, os.stat_result]:
    """Return a descriptor and the status of a file in a folder.

    Raises OSError, and `Damaged` when it is not a plain file of this user's.
    """
    fd = os.open(name, _OPEN, dir_fd=folder)
    info = os.fstat(fd)
    if stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid():
        return fd, info
    os.close(fd)
    msg = f"file {name!r} is not a plain file of your own"
    raise Damaged(msg)


def read(fd: int) -> bytes:
    """Return all that follows in a file."""
    return b"".join(_chunks(fd))


def digest(fd: int) -> str:
    """Return the checksum of all that follows in a file."""
    state = hasher()
    for chunk in _chunks(fd):
        state.update(chunk)
    return state.hexdigest()


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with all in it; what cannot be removed stays."""
    import shutil  # 3 ms, and only needed off the fast path

    try:
        is_folder = stat.S_ISDIR(path.lstat().st_mode)
        if not is_folder:
            path.unlink()
    except OSError:
        return
    if is_folder:
        shutil.rmtree(path, ignore_errors=True)


def _chunks(fd: int) -> Iterator[bytes]:
    size = min(_CHUNK, os.fstat(fd).st_size + 1)
    while chunk := os.read(fd, size):
        yield chunk
