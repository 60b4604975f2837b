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


def each(function: Callable[..., float], *args: Floats) -> Floats:
    """A function of numbers, of each element of arrays of one shape."""
    columns = (arg.ravel().tolist() for arg in args)
    found = np.fromiter(map(function, *columns), np.float64, args[0].size)
    return found.reshape(args[0].shape)


def _of_libm(name: str, function: Callable[[float], float]) -> Callable[[npt.ArrayLike], Reals]:
    try:
        extension = import_module("symc.tensor._libm")
    except ImportError:

        def mapped(x: Reals) -> Reals:
            return each(function, np.asarray(x, np.float64)).astype(x.dtype)

    else:

        def mapped(x: Reals) -> Reals:
            result = np.empty(x.shape, x.dtype)
            extension.map(name, np.ascontiguousarray(x), result)
            return result

    def of_any(x: npt.ArrayLike) -> Reals:
        array = np.asarray(x)
        if array.dtype == np.float32 or array.dtype == np.float64:
            return mapped(array)
        result = mapped(np.asarray(array, np.float64))
        return result.astype(array.dtype) if array.dtype.kind == "f" else result

    return of_any


erf, erfc = _of_libm("erf", math.erf), _of_libm("erfc", math.erfc)
"""Of arrays of any dtype, in that of floats. Of long arrays they may differ from those of `math` by
2 units in the last place, of long ones of float32 by 4."""
