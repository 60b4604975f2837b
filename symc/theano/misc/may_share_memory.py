"""`may_share_memory`: whether two values may lie in the same memory."""

from __future__ import annotations

from typing import Any

import numpy as np


def may_share_memory(a: Any, b: Any, raise_other_type: bool = True) -> bool:
    """Whether two arrays may lie in the same memory; TypeError for what is none."""
    arrays = [each for each in (a, b) if isinstance(each, np.ndarray | np.generic)]
    if len(arrays) == 2:
        return bool(np.may_share_memory(a, b))
    sparse = [each for each in (a, b) if hasattr(each, "indptr")]
    if sparse:
        parts = [_parts(each) for each in (a, b)]
        return any(np.may_share_memory(p, q) for p in parts[0] for q in parts[1])
    if raise_other_type:
        raise TypeError("may_share_memory support only ndarray and scipy.sparse types")
    return False


def _parts(value: Any) -> list[Any]:
    if hasattr(value, "indptr"):
        return [value.data, value.indptr, value.indices]
    return [value] if isinstance(value, np.ndarray) else []
