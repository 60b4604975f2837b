"""`theano.tensor.basic`: the names of `theano.tensor`, and comparisons of arrays."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

_LOOSE = {"float16": (1e-3, 1e-3), "float32": (1e-5, 1e-5), "complex64": (1e-5, 1e-5)}


def _get_atol_rtol(a: Any, b: Any) -> tuple[float, float]:
    """How far two arrays may be apart, by the less exact of their dtypes."""
    from symc.theano.configparser import config

    sloppy = {1: (1e-2, 1e-2), 2: (1e-1, 1e-1)}.get(config.tensor.cmp_sloppy)
    for dtype in ("float16", "float32", "complex64"):
        if dtype in (str(a.dtype), str(b.dtype)):
            return sloppy or _LOOSE[dtype]
    return 1e-8, 1e-5


def nearly_equal(a: Any, b: Any, rtol: float | None = None, atol: float | None = None) -> bool:
    """Whether two arrays are nearly the same."""
    a, b = np.asarray(a), np.asarray(b)
    loose, loose_relative = _get_atol_rtol(a, b)
    return bool(
        np.allclose(
            a,
            b,
            atol=loose if atol is None else atol,
            rtol=loose_relative if rtol is None else rtol,
            equal_nan=True,
        )
    )


_allclose = nearly_equal  # Theano's name


_CONVERSION = "_convert_to_"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name.startswith(_CONVERSION):
        from symc.theano.tensor.elemwise import Elemwise

        return Elemwise(getattr(import_module("symc.theano.scalar.basic"), name[1:]))
    return getattr(import_module("symc.theano.tensor"), name)
