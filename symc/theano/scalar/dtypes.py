"""Theano's dtypes: the common dtype of two, and that of a Python number."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache, reduce
from typing import Any

import numpy as np

from symc.theano.configparser import config

discrete_dtypes = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
int_dtypes = ("int8", "int16", "int32", "int64")
uint_dtypes = ("uint8", "uint16", "uint32", "uint64")
float_dtypes = ("float16", "float32", "float64")
complex_dtypes = ("complex64", "complex128")
continuous_dtypes = (*float_dtypes, *complex_dtypes)
integer_dtypes = (*int_dtypes, *uint_dtypes)
ALL_DTYPES = (*discrete_dtypes, *continuous_dtypes)


class ComplexError(NotImplementedError):
    """Complex numbers where an operation has no meaning for them."""


class IntegerDivisionError(Exception):
    """Two integers are divided where `config.int_division` forbids it."""


@cache
def _joined(left: str, right: str) -> str:
    return np.promote_types(left, right).name


def upcast(dtype: str, *dtypes: str) -> str:
    """The dtype that can hold values of all of these, as arrays of NumPy become together."""
    result = reduce(_joined, dtypes, np.dtype(dtype).name)
    if (
        result == "float64"
        and config.cast_policy == "numpy+floatX"
        and config.floatX == "float32"
        and "float64" not in (dtype, *dtypes)
    ):
        return "float32"
    return result


class NumericAutocaster:
    """Gives a Python number the first of its dtypes that holds it exactly, else the last."""

    def __init__(self, dtypes: tuple[str, ...]) -> None:
        self.dtypes = dtypes

    def __call__(self, x: Any) -> Any:
        """The number as a 0-d array."""
        if config.cast_policy == "numpy+floatX":
            dtype = config.floatX if isinstance(x, float) else np.asarray(x).dtype.name
            return np.asarray(x, dtype=dtype)
        floatx = config.floatX
        if isinstance(x, float) and floatx in self.dtypes and floatx != "float64":
            return np.asarray(x, dtype=floatx)
        found: Any = None
        for dtype in self.dtypes:
            with np.errstate(all="ignore"):
                found = np.asarray(x).astype(dtype)
            if float(found) == x:
                break
        return found


autocast_int = NumericAutocaster(int_dtypes)
autocast_float = NumericAutocaster(("float32", "float64"))


@contextmanager
def autocast_float_as(*dtypes: str) -> Generator[None]:
    """For a block: the dtypes that Python floats get."""
    before = autocast_float.dtypes
    autocast_float.dtypes = dtypes
    try:
        yield
    finally:
        autocast_float.dtypes = before


def convert(x: Any, dtype: Any = None) -> Any:
    """A number, list or array as an array, with the dtype that Theano gives it."""
    if dtype is not None:
        return np.asarray(x, dtype=config.floatX if dtype == "floatX" else dtype)
    if isinstance(x, bool):
        return np.asarray(x)
    if isinstance(x, int) and not isinstance(x, np.generic):
        return _whole(x)
    if isinstance(x, float) and not isinstance(x, np.generic):
        return autocast_float(x)
    array = np.asarray(x)
    if array.size == 0 and not isinstance(x, np.ndarray):
        return array.astype(config.floatX)
    return array


def _whole(x: int) -> Any:
    if -(2**63) <= x < 2**63:
        return autocast_int(x)
    return np.asarray(x, dtype="uint64")
