"""Functions of the C library over arrays: by symc's extension, or else one number at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float64]"


def each(function: Callable[..., float], *args: Floats) -> Floats:
    """A function of numbers, of each element of arrays of one shape."""
    columns = (arg.ravel().tolist() for arg in args)
    found = np.fromiter(map(function, *columns), np.float64, args[0].size)
    return found.reshape(args[0].shape)


def _of_libm(name: str, function: Callable[[float], float]) -> Callable[[Floats], Floats]:
    try:
        extension = import_module("symc.tensor._libm")
    except ImportError:
        return lambda x: each(function, x)

    def mapped(x: Floats) -> Floats:
        result: Floats = np.empty(x.shape)
        extension.map(name, np.ascontiguousarray(x), result)
        return result

    return mapped


erf, erfc = _of_libm("erf", math.erf), _of_libm("erfc", math.erfc)
"""Of long arrays they may differ from those of `math` by 2 units in the last place."""
