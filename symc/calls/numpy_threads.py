"""NumPy's own OpenBLAS with one thread, for calls that are computed while compilers work.

Its threads wait for each other by spinning. Where compilers or other programs need the processors,
small products then take up to a hundred times as long.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = allocate_lock()
_before: list[int] = []  # the number of threads, once for each call that is in `one_thread`
os.register_at_fork(
    before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
)


@contextmanager
def one_thread() -> Generator[None]:
    """In the block NumPy's products use one thread, if its OpenBLAS is found."""
    found = _functions()
    if found is None:
        yield
        return
    get, put = found
    with _lock:
        _before.append(_before[0] if _before else get())
        put(1)
    try:
        yield
    finally:
        with _lock:
            number = _before.pop()
            if not _before:
                put(number)


@cache
def _functions() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """What OpenBLAS has for its number of threads; its names depend on how NumPy was built."""
    import ctypes

    try:
        from numpy.linalg import _umath_linalg

        library = ctypes.CDLL(_umath_linalg.__file__)  # which finds what it is linked with
    except (ImportError, OSError, AttributeError):
        return None
    for prefix in ("scipy_openblas", "openblas"):
        for suffix in ("64_", "_64", ""):
            get = getattr(library, f"{prefix}_get_num_threads{suffix}", None)
            put = getattr(library, f"{prefix}_set_num_threads{suffix}", None)
            if get is not None and put is not None:
                return get, put
    return None
