"""How many processors this process may use, and the source of that number.

Asked for in this order: the environment's word to OpenMP, the processors that the system lets
the process run on, and the share of their time that its control group has.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from symc.codegen.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GROUPS = "/proc/self/cgroup"
MOUNT = "/sys/fs/cgroup"


@record
class Processors:
    """A number, its source, and settings that cannot be followed."""

    count: int
    why: str
    ignored: tuple[str, ...] = ()


def number_in(name: str, environ: Mapping[str, str]) -> tuple[int, str]:
    """A variable as OpenMP reads it: a number, or the first of a list such as ``4,2``.

    Returns 0 and its fault, or no text if it is not set.
    """
    text = environ.get(name, "")
    first = text.split(",")[0].strip()
    if not text.strip():
        return 0, ""
    if first.isascii() and first.removeprefix("+").isdigit() and 0 < int(first) < 1 << 31:
        return int(first), ""
    return 0, f"{name}={text!r:.60} is not a number of threads"


def find(environ: Mapping[str, str] | None = None) -> Processors:
    """How many threads to use where symc's own settings do not say."""
    told, wrong = number_in("OMP_NUM_THREADS", os.environ if environ is None else environ)
    ignored = (wrong,) if wrong else ()
    if told:
        return Processors(told, "OMP_NUM_THREADS")
    count, share = allowed(), quota()
    if share is not None and -int(-share // 1) < count:
        why = f"its control group has the time of {share:.3g} processors"
        return Processors(max(1, -int(-share // 1)), why, ignored)
    return Processors(count, f"the process may run on {count} of {os.cpu_count() or 1}", ignored)


def allowed() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def quota(groups: str = GROUPS, mount: str = MOUNT) -> float | None:
    """The processor time a second that the control groups of this process may use; None: any."""
    shares = [share for folder in _folders(groups, mount) for share in _shares(folder)]
    return min(shares, default=None)


def _folders(groups: str, mount: str) -> Iterator[str]:
    """The folders of the process's group and of those it is in.

    In a container the group may have another name than outside, where its files are at the top.
    """
    for line in _read(groups).splitlines():
        _, controllers, path = ([*line.split(":", 2), "", ""])[:3]
        names = controllers.split(",")
        if controllers and "cpu" not in names:
            continue
        for top in [mount] if not controllers else [f"{mount}/{controllers}", f"{mount}/cpu"]:
            parts = [part for part in path.split("/") if part not in ("", "..")]
            for depth in range(len(parts), -1, -1):
                yield "/".join([top, *parts[:depth]])


def _shares(folder: str) -> Iterator[float]:
    """The limit of a group itself: version 2, or version 1."""
    texts = _read(f"{folder}/cpu.max").split() or [
        *_read(f"{folder}/cpu.cfs_quota_us").split(), *_read(f"{folder}/cpu.cfs_period_us").split()
    ]  # fmt: skip
    try:
        time, period = map(float, texts)
    except ValueError:  # "max", or no such file
        return
    if time > 0 and period > 0:
        yield time / period


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
