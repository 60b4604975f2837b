"""The types of gradients that are none, and the errors about gradients."""

from __future__ import annotations

from typing import Any

from symc.theano.configparser import config
from symc.theano.gof.null_type import DisconnectedType as DisconnectedType
from symc.theano.gof.null_type import NullType
from symc.theano.scalar.dtypes import discrete_dtypes
from symc.theano.tensor import creation


class DisconnectedInputError(ValueError):
    """A gradient is asked for by a variable without influence."""


class NullTypeGradError(TypeError):
    """A gradient is asked for that does not exist."""


def zeros_of(variable: Any) -> Any:
    """A gradient of zeros, which has floatX where the variable is of integers."""
    dtype = getattr(variable.type, "dtype", None)
    if dtype is None:
        return DisconnectedType()()
    return creation.zeros_like(variable, config.floatX if dtype in discrete_dtypes else dtype)


def grad_undefined(op: Any, x_pos: int, x: Any, comment: str = "") -> Any:
    """A gradient that is not defined mathematically."""
    return NullType(
        f"This variable is Null because the grad method for input {x_pos} ({x}) of the {op} op is "
        f"mathematically undefined. {comment}"
    )()


def grad_not_implemented(op: Any, x_pos: int, x: Any, comment: str = "") -> Any:
    """A gradient that nobody has written."""
    return NullType(
        f"This variable is Null because the grad method for input {x_pos} ({x}) of the {op} op is "
        f"not implemented. {comment}"
    )()
