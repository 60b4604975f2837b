"""A lock on one key, held by one thread of one process; the kernel frees it when that one dies.

This is `flock`, used directly: the filelock package takes 25 ms to import (half a compilation),
polls instead of waiting, and where `flock` is missing it falls back to lock files which a killed
process leaves locked for ever.
"""

import errno
import fcntl
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from symc.cache.errors import CircularMake

__all__ = ["Lock"]

# Locks this process holds: descriptor -> (thread, path).
_held: dict[int, tuple[int, Path]] = {}

# Some network file systems have no locks. Two processes may then make the same entry, and the
# second to publish uses the first one's: wasteful, never wrong.
_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL}


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that is held until `release`."""

    path: Path
    fd: int

    @classmethod
    def wait(cls, path: Path) -> "Lock":
        """Take the lock as soon as it is free.

        Raises OSError when its file cannot be made, and `CircularMake` when this thread has it.
        """
        if (threading.get_ident(), path) in list(_held.values()):
            msg = f"making {path.name} asked for {path.name} itself"
            raise CircularMake(msg)
        while True:
            if (lock := _attempt(path, fcntl.LOCK_EX)) is not None:
                return lock

    @classmethod
    def if_free(cls, path: Path) -> "Lock | None":
        """Take the lock if nobody has it; raises OSError when its file cannot be made."""
        return _attempt(path, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self) -> None:
        """Let the next one have it."""
        # In a child forked meanwhile the descriptor is closed, and its number may be another file.
        if _held.pop(self.fd, None) is None:
            return
        try:
            # Removed while still held: who waits for this file sees that and opens the next one.
            self.path.unlink(missing_ok=True)
        except OSError:
            pass  # an empty file stays; it blocks nobody
        finally:
            # Closing alone would leave the lock with a child that was forked a moment ago.
            _unlock(self.fd)


def _attempt(path: Path, how: int) -> Lock | None:
    """Take the lock; None when it is not free, or its file was removed while we waited."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    _held[fd] = (threading.get_ident(), path)
    try:
        _flock(fd, how)
        is_current = _is_same_file(fd, path)
    except BaseException as error:
        del _held[fd]
        os.close(fd)
        if isinstance(error, BlockingIOError):
            return None
        raise
    if is_current:
        return Lock(path, fd)
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


def _is_same_file(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.lstat())
    except FileNotFoundError:
        return False


def _forget() -> None:
    """Close, in a forked child, the parent's locks: they must not outlive the parent."""
    for fd in _held:
        os.close(fd)
    _held.clear()


os.register_at_fork(after_in_child=_forget)
