"""Making an entry: under its key's lock, in a private folder, published by one rename."""

import errno
import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from symc.cache import place
from symc.cache.entry import Entry, find
from symc.cache.errors import Refused, Unwritable
from symc.cache.files import opened, remove, reserve
from symc.cache.key import Key
from symc.cache.lock import Lock
from symc.cache.seal import seal

__all__ = ["discard", "fresh", "home", "make_entry"]

_ROOM = 1 << 24
"""Bytes that compilers may need. One that fails may have removed all it wrote by then."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_TAKEN = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}


class Rooms(NamedTuple):
    """The folders that making an entry needs, as descriptors."""

    temporary: int
    locks: int
    group: int


def make_entry(root: Path, key: Key, make: Callable[[Path], None], *, is_last: bool) -> Entry:
    """Return the entry, made unless somebody else was faster.

    Raises `Unwritable` for the cache's own troubles, and whatever `make` raises; in a full disk
    that is `Unwritable` too. In the last place that there is to try, it is that only for errors of
    the disk that `make` itself raises.
    """
    with ExitStack() as stack:
        with _as_unwritable(root):
            rooms = _rooms(root, key.digest, stack)
            lock = Lock.wait(root / "locks" / key.digest, rooms.locks)
        stack.callback(lock.release)
        if (entry := find(str(root), key)) is not None:
            return entry
        with _as_unwritable(root):
            name = fresh(key.digest)
            os.mkdir(name, 0o700, dir_fd=rooms.temporary)
        try:
            with _as_unwritable(root):
                folder = place.open_inside(rooms.temporary, name, root / "tmp" / name)
                stack.callback(os.close, folder)
            _run(make, root / "tmp" / name, folder, is_last=is_last)
            with _as_unwritable(root):
                seal(folder, key)
                return _publish(root, key, name, rooms)
        except BaseException:
            remove(name, rooms.temporary)
            raise


def fresh(digest: str) -> str:
    """Return a new name for a folder in the cache's temporary one, beside the entries."""
    return f"{digest}.{os.urandom(6).hex()}"


def home(folder: Path) -> str:
    """Return where a folder that `make` fills will be once it is published."""
    return place.entry_folder(folder.parent.parent, folder.name.partition(".")[0])


def discard(root: Path, path: Path) -> None:
    """Take an entry away at once and remove it after; raises OSError when it cannot be moved.

    A process that has mapped one of its files keeps the mapping.
    """
    try:
        with opened(root, "tmp") as temporary, opened(root, path.parent.name) as group:
            _discard(path.name, Rooms(temporary, -1, group))
    except Refused as error:
        raise PermissionError(errno.EACCES, str(error), str(path)) from error


def _discard(digest: str, rooms: Rooms) -> None:
    aside = fresh(digest)
    os.rename(digest, aside, src_dir_fd=rooms.group, dst_dir_fd=rooms.temporary)
    remove(aside, rooms.temporary)


def _rooms(root: Path, digest: str, stack: ExitStack) -> Rooms:
    """Make the folders that an entry needs, private to the user, and open them.

    Raises `Refused` and OSError.
    """
    if (reason := place.problem(root)) is not None:
        raise Refused(reason)
    place.make_root(root)
    top = place.open_root(root)
    stack.callback(os.close, top)
    found: list[int] = []
    for name in ("tmp", "locks", digest[:2]):
        with suppress(FileExistsError):  # the check below says which file is there instead
            os.mkdir(name, 0o700, dir_fd=top)
        found.append(place.open_inside(top, name, root / name))
        stack.callback(os.close, found[-1])
    return Rooms(*found)


@contextmanager
def _as_unwritable(root: Path) -> Generator[None]:
    """Turn an OSError of the cache's own into `Unwritable`, unlike one that `make` raises."""
    try:
        yield
    except OSError as error:
        raise Unwritable(place.explain(root, error)) from error
    except Refused as reason:
        raise Unwritable(str(reason)) from reason


def _run(make: Callable[[Path], None], path: Path, folder: int, *, is_last: bool) -> None:
    """Let `make` fill a folder, which it is given as a path, as programs need it."""
    try:
        make(path)
    except Exception as error:
        if not _is_still(path, folder):
            raise Unwritable(_exchanged(path)) from error
        trouble = _disk_trouble(folder, error, is_last=is_last)
        if trouble is None:
            raise
        raise Unwritable(place.explain(path.parent.parent, trouble)) from error
    if not _is_still(path, folder):
        raise Unwritable(_exchanged(path))


def _is_still(path: Path, folder: int) -> bool:
    """Whether the file written by the path is in the folder."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(folder))
    except OSError:
        return False


def _exchanged(path: Path) -> str:
    return f"{path.parent.parent} was moved or removed while it was used; {place.ELSEWHERE}"


def _disk_trouble(folder: int, error: Exception, *, is_last: bool) -> OSError | None:
    """Return the disk's error when `make` failed because of it.

    `make` runs programs, and on a full disk they may report any failure.
    """
    if isinstance(error, OSError) and error.errno in _FULL:
        return error
    if is_last:  # then their report is better than nothing
        return None
    try:
        reserve(folder, ".probe", _ROOM)
    except OSError as trouble:
        return trouble if trouble.errno in {*_FULL, errno.EROFS} else None
    return None


def _publish(root: Path, key: Key, name: str, rooms: Rooms) -> Entry:
    def rename() -> None:
        os.rename(name, key.digest, src_dir_fd=rooms.temporary, dst_dir_fd=rooms.group)

    try:
        rename()
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
        if (entry := find(str(root), key)) is not None:  # only where the file system has no locks
            remove(name, rooms.temporary)
            return entry
        _discard(key.digest, rooms)
        rename()
    return Entry(place.entry_folder(root, key.digest), key, hit=False)
