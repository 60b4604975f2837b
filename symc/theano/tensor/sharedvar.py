"""Shared variables that are arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.compile.sharedvalue import SharedVariable, shared_constructor
from symc.theano.scalar.dtypes import ALL_DTYPES
from symc.theano.tensor.type import TensorType
from symc.theano.tensor.var import TensorVariable, _tensor_py_operators  # pyright: ignore[reportPrivateUsage] -- Theano's name


class TensorSharedVariable(_tensor_py_operators, SharedVariable):
    """A shared array."""

    __hash__ = object.__hash__


class ScalarSharedVariable(TensorSharedVariable):
    """A shared number."""


@shared_constructor
def tensor_constructor(
    value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None,
    borrow: bool = False, broadcastable: Any = None, target: str = "cpu",
) -> TensorSharedVariable:  # fmt: skip
    """A shared array; none of its axes broadcast unless `broadcastable` says so."""
    if target != "cpu" or not isinstance(value, np.ndarray):
        raise TypeError("not an array")
    if value.dtype.name not in ALL_DTYPES:
        raise TypeError(f"Unsupported dtype for TensorType: {value.dtype}")
    flags = (False,) * value.ndim if broadcastable is None else broadcastable
    kind = TensorType(value.dtype.name, flags)
    held = np.array(value, copy=None if borrow else True)
    return TensorSharedVariable(name, kind, held, strict, allow_downcast)


@shared_constructor
def scalar_constructor(
    value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None,
    borrow: bool = False, target: str = "cpu",
) -> ScalarSharedVariable:  # fmt: skip
    """A shared number."""
    del borrow
    if target != "cpu" or not isinstance(value, np.number | float | int | complex):
        raise TypeError("not a number")
    array = np.asarray(value)
    kind = TensorType(array.dtype.name, [])
    return ScalarSharedVariable(name, kind, array.copy(), strict, allow_downcast)


__all__ = [
    "ScalarSharedVariable", "TensorSharedVariable", "TensorVariable", "scalar_constructor",
    "tensor_constructor",
]  # fmt: skip
