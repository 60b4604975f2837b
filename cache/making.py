"""Making an entry: under its key's lock, in a private folder, published by one rename."""

import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from symc.cache import place
from symc.cache.entry import Entry, find
from symc.cache.errors import Unwritable
from symc.cache.files import remove
from symc.cache.key import Key
from symc.cache.lock import Lock
from symc.cache.seal import seal

__all__ = ["discard", "home", "lock_file", "make_entry", "temporary_folder"]

_PROBE = bytes(1 << 16)
_FULL = {errno.ENOSPC, errno.EDQUOT}
_TAKEN = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}


def make_entry(root: Path, key: Key, make: Callable[[Path], None], *, is_last: bool) -> Entry:
    """Return the entry, made unless somebody else was faster.

    Raises `Unwritable` for the cache's own troubles, and whatever `make` raises; in a full disk
    that is `Unwritable` too, except in the last place that there is to try.
    """
    with _as_unwritable(root):
        _prepare(root, key.digest)
        lock = Lock.wait(lock_file(root, key.digest))
    try:
        if (entry := find(str(root), key)) is not None:
            return entry
        with _as_unwritable(root):
            folder = temporary_folder(root, key.digest)
            folder.mkdir(mode=0o700)
        try:
            _run(make, folder, is_last=is_last)
            with _as_unwritable(root):
                seal(folder, key)
                return _publish(root, key, folder)
        except BaseException:
            remove(folder)
            raise
    finally:
        lock.release()


def lock_file(root: Path, digest: str) -> Path:
    """Return the path of a key's lock."""
    return root / "locks" / digest


def temporary_folder(root: Path, digest: str) -> Path:
    """Return a fresh name beside the entries, so that publishing is one rename."""
    return root / "tmp" / f"{digest}.{os.urandom(6).hex()}"


def home(folder: Path) -> str:
    """Return where a folder that `make` fills will be once it is published."""
    return place.entry_folder(folder.parent.parent, folder.name.partition(".")[0])


def discard(root: Path, path: Path) -> None:
    """Take an entry away at once and remove it after; raises OSError when it cannot be moved.

    A process that has mapped one of its files keeps the mapping.
    """
    aside = temporary_folder(root, path.name)
    path.rename(aside)
    remove(aside)


def _prepare(root: Path, digest: str) -> None:
    """Make the folders that an entry needs, private to the user.

    Raises `Unwritable` and OSError.
    """
    for folder in (root, root / "tmp", root / "locks", root / digest[:2]):
        with suppress(FileExistsError):  # what is there instead is said below
            folder.mkdir(mode=0o700, parents=folder == root, exist_ok=True)
        if folder != root and folder.is_symlink():
            msg = f"{folder} is a link; remove it, or {place.ELSEWHERE}"
            raise Unwritable(msg)
        if (reason := place.problem(folder)) is not None:
            raise Unwritable(reason)


@contextmanager
def _as_unwritable(root: Path) -> Generator[None, None, None]:
    """Turn an OSError of the cache's own into `Unwritable`, unlike one that `make` raises."""
    try:
        yield
    except OSError as error:
        raise Unwritable(place.explain(root, error)) from error


def _run(make: Callable[[Path], None], folder: Path, *, is_last: bool) -> None:
    try:
        make(folder)
    except Exception as error:
        trouble = None if is_last else _disk_trouble(folder, error)
        if trouble is None:
            raise
        raise Unwritable(place.explain(folder.parent.parent, trouble)) from error


def _disk_trouble(folder: Path, error: Exception) -> OSError | None:
    """Return what the disk says when `make` failed because of it.

    `make` runs programs, and on a full disk they may report any failure.
    """
    if isinstance(error, OSError) and error.errno in _FULL:
        return error
    try:
        (folder / ".probe").write_bytes(_PROBE)
    except OSError as trouble:
        return trouble if trouble.errno in {*_FULL, errno.EROFS} else None
    return None


def _publish(root: Path, key: Key, folder: Path) -> Entry:
    final = Path(place.entry_folder(root, key.digest))
    try:
        folder.rename(final)
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
        if (entry := find(str(root), key)) is not None:  # only where the file system has no locks
            remove(folder)
            return entry
        discard(root, final)
        folder.rename(final)
    return Entry(str(final), key, hit=False)
