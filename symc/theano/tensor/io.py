"""`theano.tensor.io`: arrays read from files."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.gof.graph import Variable


def load(path: Any, dtype: Any, broadcastable: Any, mmap_mode: Any = None) -> Any:
    """A variable for the array in a NumPy file, which is read when this is called."""
    from symc.theano.compile.sharedvalue import shared

    if isinstance(path, Variable):
        raise NotImplementedError(
            "theano.tensor.load: symc has no strings in programs; give the path itself"
        )
    if mmap_mode not in (None, "c"):
        raise ValueError(
            f"The only supported values for mmap_mode are None and 'c', got {mmap_mode}"
        )
    found = np.load(path, mmap_mode=mmap_mode)
    if found.dtype != np.dtype(dtype):
        raise TypeError(f"Expected dtype {dtype}, got {found.dtype}")
    return shared(np.asarray(found), broadcastable=tuple(broadcastable))
