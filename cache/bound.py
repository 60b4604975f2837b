"""Keeping the cache small: entries not used for longest go first, and so do leftovers of the dead.

Counting all entries at each publication would cost more than a small compilation, so sizes are
appended to `root/ledger`, and entries are only counted when its sum passes the bound.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from symc.cache import files, manifest, notes, place
from symc.cache.errors import Damaged, Refused
from symc.cache.lock import Lock
from symc.cache.making import discard

__all__ = ["Kept", "clear", "entry_folders", "kept", "measure", "note", "prune"]

_LEFT_BEHIND = 3600.0  # seconds after which a temporary folder whose lock is free is swept
_LONGEST_LEDGER = 1 << 16
_HEX = frozenset("0123456789abcdef")


class Kept(NamedTuple):
    """An entry's folder, its size in bytes, and when it was last used, in seconds since 1970."""

    path: Path
    size: int
    used: float


def entry_folders(root: Path) -> Iterator[Path]:
    """Yield the folders of all entries, in order of their digests."""
    for group in _names(root):
        if len(group) == 2 and _HEX.issuperset(group):
            for name in _names(root, group):
                if name.startswith(group) and _is_digest(name):
                    yield root / group / name


def _is_digest(name: str) -> bool:
    return len(name) == 64 and _HEX.issuperset(name)


def measure(path: Path) -> Kept:
    """Return the size and age of an entry; files that have gone meanwhile count nothing."""
    size, used = 0, 0.0
    with (
        suppress(OSError, Refused),
        files.opened(*place.split(str(path))) as folder,
        os.scandir(folder) as items,
    ):
        for item in items:
            info = item.stat(follow_symlinks=False)
            size += info.st_size
            if item.name == manifest.NAME:
                used = info.st_mtime
    return Kept(path, size, used)


def kept(root: Path) -> list[Kept]:
    """Return all entries, the one not used for longest first."""
    return sorted(map(measure, entry_folders(root)), key=lambda item: (item.used, item.path.name))


def prune(root: Path, max_bytes: int, *, spare: Path | None = None) -> list[Path]:
    """Remove entries until the others take at most so many bytes, and return those removed."""
    sweep(root, _LEFT_BEHIND)
    items = kept(root)
    total = sum(item.size for item in items)
    removed: list[Path] = []
    for item in items:
        if total <= max_bytes:
            break
        if item.path != spare and _discard(root, item.path):
            total -= item.size
            removed.append(item.path)
    _write_ledger(root, total)
    return removed


def note(root: Path, path: Path, max_bytes: int) -> None:
    """Count an entry just published, and make room when there is too much.

    The new entry stays, even if it alone is larger than the bound: its maker is about to load it.
    """
    sweep(root, _LEFT_BEHIND)
    try:
        total = _add_to_ledger(root, measure(path).size)
    except (OSError, Damaged, Refused):  # something else in its place
        total = None
    if total is None:  # no ledger yet, or none that makes sense: start one
        total = sum(item.size for item in kept(root))
        _write_ledger(root, total)
    if total > max_bytes:
        # A little more than needed, or a full cache would be counted at every publication.
        prune(root, max_bytes - max_bytes // 10, spare=path)


def clear(root: Path) -> None:
    """Remove all entries and all leftovers, except entries that are being made."""
    for path in entry_folders(root):
        _discard(root, path)
    sweep(root, 0.0)
    with suppress(OSError, Refused), files.opened(root) as top:
        for name in ("ledger", notes.FOLDER):
            files.remove(name, top)


def sweep(root: Path, age: float) -> None:
    """Remove leftovers of killed processes: temporary folders and locks that nobody holds."""
    before = time.time() - age
    with suppress(OSError, Refused), files.opened(root, "locks") as locks:
        for room in ("tmp", "locks"):
            with suppress(OSError, Refused), files.opened(root, room) as folder:
                for name in _listed(folder):
                    base = name.partition(".")[0]
                    # Others are somebody else's: the folder need not be a cache.
                    if base == files.ASIDE or _is_digest(base):
                        _sweep_one(root, name, folder, locks, before)


def _sweep_one(root: Path, name: str, folder: int, locks: int, before: float) -> None:
    with suppress(OSError):
        if os.lstat(name, dir_fd=folder).st_mtime > before:
            return
        lock = Lock.if_free(root / "locks" / name.partition(".")[0], locks)
        if lock is None:
            return  # slow, but alive
        if name != lock.path.name:
            files.remove(name, folder)
        lock.release()  # which removes the lock's file


def _discard(root: Path, path: Path) -> bool:
    try:
        with files.opened(root) as top, suppress(FileExistsError):
            os.mkdir("tmp", 0o700, dir_fd=top)
        discard(root, path)
    except (OSError, Refused):
        return False  # another process was faster, or the disk is read-only
    return True


def _names(root: Path, *inner: str) -> list[str]:
    try:
        with files.opened(root, *inner) as folder:
            return _listed(folder)
    except (OSError, Refused):
        return []


def _listed(folder: int) -> list[str]:
    with os.scandir(folder) as items:
        return sorted(item.name for item in items)


def _add_to_ledger(root: Path, size: int) -> int | None:
    """Append a size and return the sum, or None when the ledger does not tell it."""
    how = os.O_RDWR | os.O_APPEND | os.O_CREAT
    with files.opened(root) as top:
        # A second name of the file would be one outside, for which our lines are not meant.
        fd, _ = files.open_file(top, "ledger", how, is_shared=False)
    try:
        text = os.pread(fd, _LONGEST_LEDGER + 1, 0)
        if not text or len(text) > _LONGEST_LEDGER:
            return None
        os.write(fd, b"%d\n" % size)
        return sum(map(int, text.split())) + size
    except ValueError:
        return None
    finally:
        os.close(fd)


def _write_ledger(root: Path, total: int) -> None:
    """Replace the ledger; lines that others append meanwhile are lost until the next count."""
    with (
        suppress(OSError, Refused),
        files.opened(root) as top,
        files.opened(root, "tmp") as temporary,
    ):
        files.replace(top, "ledger", b"%d\n" % total, temporary)
