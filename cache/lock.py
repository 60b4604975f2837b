"""A lock on one key, held by one thread of one process; the kernel frees it when that one dies.

This is `flock`, used directly: the filelock package takes 25 ms to import (half a compilation),
polls instead of waiting, and where `flock` is missing it falls back to lock files which a killed
process leaves locked for ever.
"""

import errno
import fcntl
import os
from _thread import get_ident
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from symc.cache import files
from symc.cache.errors import CircularMake, Damaged

__all__ = ["Lock"]

# Locks this process holds: descriptor -> (thread, path).
_held: dict[int, tuple[int, Path]] = {}

# Some network file systems have no locks. Two processes may then make the same entry, and the
# second to publish uses the first one's: wasteful, never wrong.
_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL}


_SAID_AFTER = 10.0  # seconds


class Lock(NamedTuple):
    """A lock that is held until `release`: a file in a folder, which is open as long."""

    path: Path
    fd: int
    folder: int

    @classmethod
    def wait(cls, path: Path, folder: int) -> "Lock":
        """Take the lock as soon as it is free. `folder` is a descriptor of the path's folder.

        Raises OSError when its file cannot be made, and `CircularMake` when this thread has it.
        """
        if (get_ident(), path) in list(_held.values()):
            msg = f"making {path.name} asked for {path.name} itself"
            raise CircularMake(msg)
        if (lock := cls.if_free(path, folder)) is not None:
            return lock
        with _said_if_long(path):
            while True:
                if (lock := _attempt(path, folder, fcntl.LOCK_EX)) is not None:
                    return lock

    @classmethod
    def if_free(cls, path: Path, folder: int) -> "Lock | None":
        """Take the lock if nobody has it; raises OSError when its file cannot be made."""
        return _attempt(path, folder, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self) -> None:
        """Let the next one have it."""
        # In a child forked meanwhile the descriptor is closed, and its number may be another file.
        if _held.pop(self.fd, None) is None:
            return
        try:
            # Removed while still held: who waits for this file sees that and opens the next one.
            os.unlink(self.path.name, dir_fd=self.folder)
        except OSError:
            pass  # an empty file stays; it blocks nobody
        finally:
            # Closing alone would leave the lock with a child that was forked a moment ago.
            _unlock(self.fd)
            os.close(self.folder)


@contextmanager
def _said_if_long(path: Path) -> Generator[None]:
    """Name the lock waited for if that takes long; the thread that does is gone after the block."""

    def say() -> None:
        import logging  # late: few wait so long

        logging.getLogger("symc").warning(
            "waiting for another process or thread, which makes the same function; it holds %s",
            path,
        )

    import threading  # late, too

    timer = threading.Timer(_SAID_AFTER, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _attempt(path: Path, folder: int, how: int) -> Lock | None:
    """Take the lock; None when it is not free, or its file was removed while we waited."""
    try:
        fd, _ = files.open_file(folder, path.name, os.O_RDWR | os.O_CREAT)
    except Damaged as error:
        raise PermissionError(errno.EPERM, "not a plain file of your own", str(path)) from error
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error
    _held[fd] = (get_ident(), path)
    try:
        _flock(fd, how)
        is_current = _is_same_file(fd, path.name, folder)
    except BaseException as error:
        del _held[fd]
        os.close(fd)
        if isinstance(error, BlockingIOError):
            return None
        raise
    if is_current:
        return Lock(path, fd, os.dup(folder))
    del _held[fd]
    _unlock(fd)
    return None


def _flock(fd: int, how: int) -> None:
    try:
        fcntl.flock(fd, how)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


def _unlock(fd: int) -> None:
    try:
        _flock(fd, fcntl.LOCK_UN)
    finally:
        os.close(fd)


def _is_same_file(fd: int, name: str, folder: int) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(name, dir_fd=folder))
    except FileNotFoundError:
        return False


def _forget() -> None:
    """Close, in a forked child, the parent's locks: they must not outlive the parent."""
    for fd in _held:
        os.close(fd)
    _held.clear()


os.register_at_fork(after_in_child=_forget)
