"""`theano.compile.nanguardmode`: the mode, and what it asks of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.compile.mode import NanGuardMode as NanGuardMode


def _floats(arr: Any) -> bool:
    return isinstance(arr, np.ndarray | np.floating) and np.asarray(arr).dtype.kind in "fc"


def contains_nan(arr: Any, node: Any = None, var: Any = None) -> bool:
    """Whether an array holds a NaN."""
    del node, var
    return _floats(arr) and bool(np.isnan(arr).any())


def contains_inf(arr: Any, node: Any = None, var: Any = None) -> bool:
    """Whether an array holds an infinity."""
    del node, var
    return _floats(arr) and bool(np.isinf(arr).any())
