"""Opening, reading, writing and removing files in folders of the cache, given as descriptors.

Folders are opened by `place.open_root` and `place.open_inside`, or with `opened` all the way. So no
link that somebody may have planted is followed, wherever it stands.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from symc.cache import place
from symc.cache.checksum import hasher
from symc.cache.errors import Damaged

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "ASIDE", "digest", "open_file", "opened", "read", "remove", "replace", "reserve",
    "write_new",
]  # fmt: skip

# A pipe put in a file's place must not make us wait, hence O_NONBLOCK.
_OPEN = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_CHUNK = 1 << 20
ASIDE = "file"  # how the names of files being written begin


@contextmanager
def opened(root: str | Path, *names: str) -> Generator[int]:
    """A descriptor of a folder below a cache folder, each on the way to it being looked at.

    Raises as `place.open_root` and `place.open_inside` do.
    """
    fd, where = place.open_root(root), str(root)
    try:
        for name in names:
            above, where = fd, f"{where}/{name}"
            try:
                fd = place.open_inside(above, name, where)
            finally:
                if fd != above:
                    os.close(above)
        yield fd
    finally:
        os.close(fd)


def open_file(
    folder: int, name: str, flags: int = os.O_RDONLY, *, is_shared: bool = True
) -> tuple[int, os.stat_result]:
    """Return a descriptor and the status of a file in a folder.

    One that is written to should not be shared: have another name, somewhere else.

    Raises OSError, and `Damaged` when it is not a plain file of this user's.
    """
    fd = os.open(name, flags | _OPEN, 0o600, dir_fd=folder)
    info = os.fstat(fd)
    is_ours = stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid()
    if is_ours and (is_shared or info.st_nlink <= 1):
        return fd, info
    os.close(fd)
    msg = f"file {name!r} is not a plain file of your own"
    raise Damaged(msg)


def write_new(folder: int, name: str, data: bytes, mode: int = 0o600) -> None:
    """Write a file that is not there yet; raises OSError."""
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, mode, dir_fd=folder)
    try:
        while data:
            data = data[os.write(fd, data) :]
    finally:
        os.close(fd)


def reserve(folder: int, name: str, size: int) -> None:
    """Write a file that is not there yet, and have room for so many bytes in it; raises OSError."""
    write_new(folder, name, bytes(1 << 16))
    if hasattr(os, "posix_fallocate"):  # macOS has none
        fd, _ = open_file(folder, name, os.O_WRONLY)
        try:
            os.posix_fallocate(fd, 0, size)
        finally:
            os.close(fd)


def replace(folder: int, name: str, data: bytes, temporary: int) -> None:
    """Write a file whole or not at all, in the place of a file of its name; raises OSError.

    It is written in the folder for temporary ones, where leftovers of killed processes are swept.
    """
    aside = f"{ASIDE}.{os.urandom(6).hex()}"
    try:
        write_new(temporary, aside, data)
        os.replace(aside, name, src_dir_fd=temporary, dst_dir_fd=folder)
    except BaseException:
        remove(aside, temporary)
        raise


def read(fd: int) -> bytes:
    """Return all that follows in a file."""
    return b"".join(_chunks(fd))


def digest(fd: int) -> str:
    """Return the checksum of all that follows in a file."""
    state = hasher()
    for chunk in _chunks(fd):
        state.update(chunk)
    return state.hexdigest()


def remove(name: str, folder: int) -> None:
    """Remove a file, a link or a folder with all in it; files that cannot be removed stay."""
    try:
        is_folder = stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode)
        if not is_folder:
            os.unlink(name, dir_fd=folder)
    except OSError:
        return
    if is_folder:
        import shutil  # 3 ms, and only needed off the fast path

        shutil.rmtree(name, ignore_errors=True, dir_fd=folder)


def _chunks(fd: int) -> Iterator[bytes]:
    size = min(_CHUNK, os.fstat(fd).st_size + 1)
    while chunk := os.read(fd, size):
        yield chunk
