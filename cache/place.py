"""Where entries are kept, and whether that place may be trusted.

root/ab/abcd.../    an entry
root/tmp/           entries being made or removed: <digest>.<random>/
root/locks/         one file for each key that is being made
root/ledger         sizes of published entries, see bound.py
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from symc.cache.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "ELSEWHERE", "default_root", "entry_folder", "explain", "make_root", "open_inside",
    "open_root", "problem", "split", "trust",
]  # fmt: skip

_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY
_NOEXEC = getattr(os, "ST_NOEXEC", 0)
_MOST_LINKS = 40  # as Linux

ELSEWHERE = "set SYMC_CACHE_DIR to a folder of your own"
_ADVICE = {
    errno.ENOSPC: "free some space (`python -m symc cache prune`), or set SYMC_CACHE_DIR to a "
    "folder on another disk",
    errno.EDQUOT: "free some of your quota (`python -m symc cache prune`), or set SYMC_CACHE_DIR "
    "to a folder on another disk",
    errno.EACCES: f"make it writable for you, or {ELSEWHERE}",
    errno.EROFS: f"make it writable, or {ELSEWHERE}",
    errno.EFBIG: "this process may not write so large a file (see `ulimit -f`); raise that limit",
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


def split(folder: str) -> tuple[str, str, str]:
    """Return the cache folder of an entry's folder, and the two names below it."""
    root, group, digest = folder.rsplit("/", 2)
    return root, group, digest


def problem(root: str | Path) -> str | None:
    """Return why the folder may not be used, with the remedy, or None."""
    try:
        os.close(open_root(root))
    except FileNotFoundError:
        return None  # not made yet
    except Refused as reason:
        return str(reason)
    except OSError as error:
        return explain(root, error)
    return None


def open_root(root: str | Path) -> int:
    """Return a descriptor of a cache folder that may be trusted.

    Programs are loaded from it, so nobody else may be able to put one there: it is the user's own,
    and on the way to it nobody else can put another folder or link in the place of one. The
    compiler and the loader, which take paths, rely on that as well. Files below the folder are
    opened with `open_inside`.

    Raises FileNotFoundError where there is none yet, OSError, and `Refused`, which says why.
    """
    last = str(root)
    for path, info, is_last in _way(last):
        if (reason := _unsafe(path, info, root, is_last=is_last)) is not None:
            raise Refused(reason)
        last = path
    # The path cannot come to mean another folder any more, but the opened one is checked all the
    # same.
    return _checked(os.open(last, _FOLDER), root, is_root=True)


def open_inside(parent: int, name: str, where: str | Path) -> int:
    """Return a descriptor of a folder in a folder that was opened so; no link is followed.

    `where` is its path, for people. Raises FileNotFoundError, OSError and `Refused`.
    """
    try:
        fd = os.open(name, _FOLDER, dir_fd=parent)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR} and _is_link(name, parent):
            msg = f"{where} is a link; remove it, or {ELSEWHERE}"
            raise Refused(msg) from error
        raise type(error)(error.errno, error.strerror, str(where)) from error
    return _checked(fd, where, is_root=False)


def make_root(root: str | Path) -> None:
    """Make the folder and all above it that are missing, for the user alone; raises OSError."""
    missing = str(root)
    pending: list[str] = []
    while missing and not os.path.lexists(missing):
        pending.append(missing)
        missing = os.path.dirname(missing)
    for path in reversed(pending):
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)


def trust(root: str | Path) -> None:
    """Take a folder as it is that this process made in the system's folder for temporary files.

    Where that is open to all, every program is as safe as its names are hard to guess.
    """
    _own.add(str(root))


_own: set[str] = set()


def _checked(fd: int, where: str | Path, *, is_root: bool) -> int:
    try:
        info = os.fstat(fd)
        reason = _not_ours(where, info)
        if reason is None and is_root and os.fstatvfs(fd).f_flag & _NOEXEC:
            reason = (
                f"{where} is on a disk from which no program may be run (mounted noexec); "
                f"{ELSEWHERE} on another disk"
            )
        if reason is not None:
            raise Refused(reason)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _not_ours(path: str | Path, info: os.stat_result) -> str | None:
    me = os.geteuid()
    if not stat.S_ISDIR(info.st_mode):
        return f"{path} is not a folder; remove it, or {ELSEWHERE}"
    if info.st_uid != me:
        return f"{path} belongs to user {info.st_uid} and you are user {me}; {ELSEWHERE}"
    if info.st_mode & 0o022:
        return f"other users may write to {path}; run `chmod go-w {_quoted(path)}`, or {ELSEWHERE}"
    return None


def _unsafe(path: str, info: os.stat_result, root: str | Path, *, is_last: bool) -> str | None:
    """Why other users control this place on the way to a cache folder, if they do."""
    if is_last:
        return _not_ours(path, info)
    me = os.geteuid()
    if str(root) in _own:
        return None
    # In a container whose users are not the machine's, the administrator may have any number.
    if info.st_uid not in {me, 0} and info.st_uid != os.lstat("/").st_uid:
        return (
            f"{path} belongs to user {info.st_uid} and you are user {me}, so what is in "
            f"{root} may be exchanged; {ELSEWHERE}, in another place"
        )
    is_open = stat.S_ISDIR(info.st_mode) and info.st_mode & 0o022 and not info.st_mode & 0o1000
    if not is_open or (not info.st_mode & 0o002 and _is_own_group(info.st_gid, me)):
        return None
    return (
        f"other users may write to {path}, and so exchange {root}; run `chmod go-w "
        f"{_quoted(path)}`, or {ELSEWHERE} in another place"
    )


def _is_own_group(group: int, me: int) -> bool:
    """Whether a group has no member but the user, as on systems that give each user one."""
    import grp  # both late: few folders may be written by a group
    import pwd

    try:
        user, found = pwd.getpwuid(me), grp.getgrgid(group)
    except KeyError:
        return False
    is_own = group == 0 or (user.pw_gid == group and user.pw_name == found.gr_name)
    return is_own and set(found.gr_mem) <= {user.pw_name, "root"}


def _way(root: str) -> Iterator[tuple[str, os.stat_result, bool]]:
    """Yield the folders and links that a path leads through, from above, and whether each is last.

    Who may write to none of those that were yielded cannot change the rest.
    """
    pending = _names(root)
    at, links = "", 0
    while pending:
        name = pending.pop()
        if name == "..":
            at = at.rpartition("/")[0]
            continue
        path = f"{at}/{name}"
        info = os.lstat(path)
        is_link = stat.S_ISLNK(info.st_mode)
        yield path, info, not (pending or is_link)
        if not is_link:
            at = path
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), root)
        target = os.readlink(path)
        pending += _names(target)
        at = "" if target.startswith("/") else at


def _names(path: str) -> list[str]:
    """The names in a path, the last one first."""
    return [name for name in reversed(path.split("/")) if name not in {"", "."}]


def _is_link(name: str, parent: int) -> bool:
    with suppress(OSError):
        return stat.S_ISLNK(os.lstat(name, dir_fd=parent).st_mode)
    return False


def _quoted(path: str | Path) -> str:
    """As `shlex.quote`, without its import where there are enough troubles already."""
    text = str(path)
    if text.replace("/", "").replace(".", "").replace("_", "").replace("-", "").isalnum():
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


def explain(root: str | Path, error: OSError) -> str:
    """Return the fault of the folder and the remedy."""
    where = error.filename or root
    return f"{where}: {error.strerror}; {_ADVICE.get(error.errno or 0, ELSEWHERE)}"
