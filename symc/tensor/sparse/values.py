"""Matrices of SciPy's as arguments and results of functions: their arrays, and back."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from symc.errors import BadArgument
from symc.graph.node import Array

__all__: list[str] = []

_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)


def take(format: str, value: Any, name: str) -> tuple[Array, Array, Array, Array]:
    """The data, indices and starts of a matrix of SciPy's in a format, and its other length.

    Raises `BadArgument` for anything else.
    """
    if getattr(value, "format", "") != format:
        value = _converted(format, value, name)
    data, indices, starts = value.data, value.indices, value.indptr
    if len(data) != starts[-1]:  # there may be room behind the elements
        data, indices = data[: starts[-1]], indices[: starts[-1]]
    if indices.dtype is not _INT32 and indices.dtype != _INT32:
        # An index that int32 does not hold stays out of range.
        indices = np.clip(indices, -1, 2**31 - 1).astype(_INT32)
    return data, indices, starts.astype(_INT64, copy=False), np.array(value.shape[format == "csr"])


def _converted(format: str, value: Any, name: str) -> Any:
    if not (hasattr(value, "asformat") and hasattr(value, "nnz") and len(value.shape) == 2):
        raise BadArgument(
            f"{name} must be a sparse matrix of SciPy's, not {value!r:.80}\n"
            f"  make it one: scipy.sparse.{format}_array(value)"
        )
    return value.asformat(format)


def take_csr(value: Any, name: str) -> Sequence[Array]:
    """The arrays of a matrix in compressed rows."""
    return take("csr", value, name)


def take_csc(value: Any, name: str) -> Sequence[Array]:
    """The arrays of a matrix in compressed columns."""
    return take("csc", value, name)


def give_csr(arrays: Sequence[Any]) -> Any:
    """A ``scipy.sparse.csr_array`` of its arrays."""
    shape = len(arrays[2]) - 1, int(arrays[3])
    return import_module("scipy.sparse").csr_array(tuple(arrays[:3]), shape=shape)


def give_csc(arrays: Sequence[Any]) -> Any:
    """A ``scipy.sparse.csc_array`` of its arrays."""
    shape = int(arrays[3]), len(arrays[2]) - 1
    return import_module("scipy.sparse").csc_array(tuple(arrays[:3]), shape=shape)
