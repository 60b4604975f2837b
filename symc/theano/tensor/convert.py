"""Values and variables as tensor variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.scalar.dtypes import ALL_DTYPES, convert
from symc.theano.scalar.types import Scalar
from symc.theano.tensor.type import TensorType

__all__ = [
    "AsTensorError", "EmptyConstantError", "NotScalarConstantError", "ShapeError", "as_tensor",
    "as_tensor_variable", "constant",
]  # fmt: skip


class AsTensorError(TypeError):
    """Something cannot be made a tensor."""


class EmptyConstantError(Exception):
    """A value was needed of a constant that has no elements."""


class NotScalarConstantError(Exception):
    """A variable is no constant scalar."""


class ShapeError(Exception):
    """A shape cannot be computed."""


def constant(x: Any, name: str | None = None, ndim: int | None = None, dtype: Any = None) -> Any:
    """A constant; its axes of length 1 broadcast."""
    if isinstance(x, Variable):
        raise TypeError(f"constant(): {x} is a variable, not a value")
    array = convert(x, dtype)
    if array.dtype.name not in ALL_DTYPES:
        raise TypeError(f"Could not convert {x!r} to TensorType", type(x))
    flags = [length == 1 for length in array.shape]
    if ndim is not None and len(flags) < ndim:
        flags = [True] * (ndim - len(flags)) + flags
        array = array.reshape((1,) * (ndim - array.ndim) + array.shape)
    elif ndim is not None and len(flags) > ndim:
        raise ValueError(f"ndarray could not be cast to constant with {ndim} dimensions")
    return TensorType.Constant(TensorType(array.dtype.name, flags), array.copy(), name=name)


def as_tensor_variable(x: Any, name: str | None = None, ndim: int | None = None) -> Any:
    """A tensor variable: variables as they are, values as constants, lists of variables stacked.

    Raises `AsTensorError` for a value without a meaning as a tensor.
    """
    if hasattr(x, "_as_TensorVariable"):
        return x._as_TensorVariable()
    if isinstance(x, Apply):
        if len(x.outputs) != 1:
            raise ValueError("It is ambiguous which output of a multi-output Op has to be fetched.")
        x = x.outputs[0]
    if isinstance(x, Variable):
        return _of_rank(x, ndim)
    if isinstance(x, list | tuple) and any(_holds_variable(each) for each in x):
        from symc.theano.tensor.joining import stack

        return _of_rank(stack(list(x)), ndim)
    if isinstance(x, bool):
        raise AsTensorError(
            "Cannot cast True or False as a tensor variable. Please use 1 or 0. This error might "
            "be caused by using the == operator on Variables. v == w does not do what you think "
            "it does. Use theano.tensor.eq(v, w) instead."
        )
    try:
        return constant(x, name=name, ndim=ndim)
    except (TypeError, ValueError) as error:
        text = str(x)[:1000]
        raise AsTensorError(f"Cannot convert {text} to TensorType", type(x)) from error


def _holds_variable(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(_holds_variable(each) for each in x)
    return isinstance(x, Variable | Apply)


def _of_rank(x: Any, ndim: int | None) -> Any:
    if isinstance(x.type, Scalar):
        if isinstance(x, Constant):
            return constant(x.data, name=x.name, ndim=ndim)
        from symc.theano.tensor.scalar_ops import tensor_from_scalar

        x = tensor_from_scalar(x)
    if not isinstance(x.type, TensorType):
        raise AsTensorError("Variable type field must be a TensorType.", x, x.type)
    if ndim is None or x.type.ndim == ndim:
        return x
    from symc.theano.tensor.shaping import shape_padleft

    if x.type.ndim > ndim:
        first = x.type.ndim - ndim
        if all(x.broadcastable[:first]):
            return x.dimshuffle(list(range(x.ndim))[first:])
        raise ValueError(f"TensorType could not be cast to have {ndim} dimensions", x.type)
    return shape_padleft(x, n_ones=ndim - x.type.ndim)


as_tensor = as_tensor_variable


def constant_of(x: Any) -> Any:
    """The value of a constant or a number, None for other variables."""
    if isinstance(x, Variable):
        return getattr(x, "data", None)
    return np.asarray(x)
