"""Functions of the C library over arrays: by symc's extension, or else one number at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float64]"
Reals: TypeAlias = "npt.NDArray[Any]"


_MAPPED = (np.dtype(np.float32), np.dtype(np.float64))
"""The dtypes of which the extension has functions."""


def each(function: Callable[..., float], *args: Floats) -> Floats:
    """A function of numbers, of each element of arrays of one shape."""
    columns = (arg.ravel().tolist() for arg in args)
    found = np.fromiter(map(function, *columns), np.float64, args[0].size)
    return found.reshape(args[0].shape)


def _of_libm(name: str, function: Callable[[float], float]) -> Callable[[npt.ArrayLike], Reals]:
    try:
        extension = import_module("symc.tensor._libm")
    except ImportError:
        extension = None

    def mapped(x: npt.ArrayLike) -> Reals:
        array = np.asarray(x)
        own = array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)
        wide = array if extension and array.dtype in _MAPPED else array.astype(np.float64)
        if extension:
            result = np.empty(wide.shape, wide.dtype)
            extension.map(name, np.ascontiguousarray(wide), result)
        else:
            result = each(function, wide)
        return result.astype(own, copy=False)

    return mapped


erf, erfc = _of_libm("erf", math.erf), _of_libm("erfc", math.erfc)
"""Of arrays of any dtype, in that of floats. Of long arrays they may differ from those of `math` by
2 units in the last place, of long ones of float32 by 4."""
