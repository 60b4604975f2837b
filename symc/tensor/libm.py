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


def each(function: Callable[[float], float], x: Floats) -> Floats:
    """A function of numbers for each number of an array."""
    return np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


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
