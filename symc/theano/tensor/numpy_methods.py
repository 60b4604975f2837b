"""Methods that NumPy's functions look for: ``numpy.exp(x)`` asks an object for ``x.exp()``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symc.theano.tensor import math

_NAMES = (
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "cos", "cosh", "deg2rad",
    "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "rad2deg", "sin", "sinh",
    "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip


def _method(name: str) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return getattr(math, name)(self)

    method.__name__, method.__doc__ = name, f"`theano.tensor.{name}` of it."
    return method


class NumpyMethods:
    """Functions of one variable, as methods."""


for _name in _NAMES:
    setattr(NumpyMethods, _name, _method(_name))
