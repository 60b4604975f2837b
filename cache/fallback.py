"""Where to go when the cache folder cannot be used: a temporary folder, and one warning."""

import atexit
import os
import sys
import tempfile
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path

from symc.cache import place
from symc.cache.errors import CacheWarning, NowhereToWrite, Refused
from symc.cache.files import opened, remove
from symc.cache.lock import Lock

__all__ = ["private_root", "warn_once"]

_PACKAGE = __name__.partition(".")[0]
_PREFIX = "symc-cache-"
_ALIVE = "alive"  # its lock is held as long as the process lives
_LEFT_BEHIND = 3600.0  # seconds
_PARENTS = ("/var/tmp", "/dev/shm")  # where programs may perhaps be run, if not in /tmp

_roots: dict[int, Path] = {}  # by process, since a forked child must not use its parent's
_warning = threading.Lock()  # taken by the first to warn, and never released


def private_root() -> Path:
    """Return this process's own temporary cache folder, which is removed at its exit.

    Raises `NowhereToWrite`.
    """
    pid = os.getpid()
    if (root := _roots.get(pid)) is not None:
        return root
    fresh = _made()
    atexit.register(_remove_own, pid, fresh)
    _sweep(fresh.parent)
    return _roots.setdefault(pid, fresh)  # another thread may have been faster


def _made() -> Path:
    """A new folder, from which programs can be loaded; raises `NowhereToWrite`."""
    troubles: list[str] = []
    for parent in dict.fromkeys((None, *_PARENTS)):
        try:
            fresh = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        except OSError as error:
            troubles.append(str(error))
            continue
        place.trust(fresh)
        try:
            with opened(fresh) as folder:
                Lock.wait(fresh / _ALIVE, folder)
        except (OSError, Refused) as error:
            fresh.rmdir()
            troubles.append(str(error))
        else:
            return fresh
    msg = f"no temporary folder can be made either: {'; '.join(troubles)}; set TMPDIR to another"
    raise NowhereToWrite(msg)


def warn_once(reason: str) -> None:
    """Say, once in a process, why nothing is kept on disk."""
    if _warning.acquire(blocking=False):
        warnings.warn(
            f"symc's cache cannot be used, so what is compiled now is lost when this process "
            f"ends: {reason}",
            CacheWarning,
            stacklevel=_levels_to_the_caller() + 1,
        )


def _levels_to_the_caller() -> int:
    """How many frames below this function's caller the innermost one outside the package is."""
    levels, frame = 0, sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- inspect reads files
    while frame.f_back is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] != _PACKAGE:
            break
        levels, frame = levels + 1, frame.f_back
    return levels


def _remove_own(pid: int, path: Path) -> None:
    if os.getpid() == pid:  # not in a forked child, which has this registered too
        _remove(path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            remove(path.name, parent)
        finally:
            os.close(parent)


def _sweep(parent: Path) -> None:
    """Remove the folders of processes that were killed."""
    for path in parent.glob(f"{_PREFIX}*/{_ALIVE}"):
        place.trust(path.parent)
        with suppress(OSError, Refused), opened(path.parent) as root:
            if os.lstat(_ALIVE, dir_fd=root).st_mtime < time.time() - _LEFT_BEHIND:
                lock = Lock.if_free(path, root)
                if lock is not None:
                    _remove(path.parent)
                    lock.release()
