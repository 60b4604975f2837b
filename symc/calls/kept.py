"""Memory of results that nobody has any more, which is kept for later ones: see `_kept.c`."""

from __future__ import annotations

import sys


def free_memory() -> int:
    """Frees the memory of dead results that is kept for later ones; returns how many bytes.

    ``config.kept_memory`` says how much may be kept. Without symc's extension none is.

    >>> import symc
    >>> symc.free_memory() >= 0
    True
    """
    extension = sys.modules.get("symc.calls._call")  # before the first function, nothing is kept
    return 0 if extension is None else int(extension.free_kept())
