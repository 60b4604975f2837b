"""Where entries are kept, and whether that place may be trusted.

root/ab/abcd.../    an entry
root/tmp/           entries being made or removed: <digest>.<random>/
root/locks/         one file for each key that is being made
root/ledger         sizes of what was published, see bound.py
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ELSEWHERE", "default_root", "entry_folder", "explain", "problem"]

ELSEWHERE = "set SYMC_CACHE_DIR to a folder of your own"
_ADVICE = {
    errno.ENOSPC: "free some space (`python -m symc cache prune`), or set SYMC_CACHE_DIR to a "
    "folder on another disk",
    errno.EDQUOT: "free some of your quota (`python -m symc cache prune`), or set SYMC_CACHE_DIR "
    "to a folder on another disk",
    errno.EACCES: f"make it writable for you, or {ELSEWHERE}",
    errno.EROFS: f"make it writable, or {ELSEWHERE}",
}


def default_root() -> str:
    """Return $SYMC_CACHE_DIR, or the user's cache folder for symc; touches no disk."""
    if chosen := os.environ.get("SYMC_CACHE_DIR"):
        return _expanded(chosen)
    if sys.platform == "linux":
        # As platformdirs answers, whose import would take 9 ms of each process's start.
        base = os.environ.get("XDG_CACHE_HOME", "")
        return f"{base if os.path.isabs(base) else _expanded('~/.cache')}/symc"
    from platformdirs import user_cache_dir  # see above

    return user_cache_dir("symc", appauthor=False)


def _expanded(path: str) -> str:
    """Replace a leading ``~``; for a user without a home the folder is refused later, and why."""
    found = os.path.expanduser(path)
    return f"{os.devnull}/home" if found.startswith("~") else found.rstrip("/") or "/"


def entry_folder(root: str | Path, digest: str) -> str:
    """Return the folder of an entry."""
    return f"{root}/{digest[:2]}/{digest}"


def problem(root: str | Path) -> str | None:
    """Return why the folder may not be used and what to do, or None.

    Programs are loaded from it, so nobody else may be able to put one there.
    """
    try:
        link, info = os.lstat(root), os.stat(root)
    except FileNotFoundError:
        return None  # not made yet
    except OSError as error:
        return explain(root, error)
    me = os.geteuid()
    if not stat.S_ISDIR(info.st_mode):
        return f"{root} is not a folder; remove it, or {ELSEWHERE}"
    if info.st_uid != me or link.st_uid not in {me, 0}:  # the administrator may redirect us
        return f"{root} belongs to user {info.st_uid} and you are user {me}; {ELSEWHERE}"
    if info.st_mode & 0o022:
        return f"other users may write to {root}; run `chmod go-w {root}`, or {ELSEWHERE}"
    return None


def explain(root: str | Path, error: OSError) -> str:
    """Return what is wrong with the folder and what to do."""
    where = error.filename or root
    return f"{where}: {error.strerror}; {_ADVICE.get(error.errno or 0, ELSEWHERE)}"
