"""Constants told from the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.errors import AssertionFailed
from symc.graph.inputs import constant_value
from symc.graph.interpreter import evaluate
from symc.graph.walks import walk
from symc.theano.gof.graph import Constant, Variable, ancestors
from symc.theano.tensor.convert import (
    EmptyConstantError,
    NotScalarConstantError,
    as_tensor_variable,
)

__all__ = [
    "extract_constant", "get_constant_value", "get_scalar_constant_value",
]  # fmt: skip


def get_scalar_constant_value(
    v: Any, elemwise: bool = True, only_process_constants: bool = False, max_recur: int = 10
) -> Any:
    """The value of a scalar that is constant, perhaps spread over a tensor, as a 0-d array.

    Raises `NotScalarConstantError` for others.
    """
    del elemwise, max_recur
    if v is None:
        raise NotScalarConstantError
    v = as_tensor_variable(v)
    if isinstance(v, Constant):
        return _only(v.data)
    if only_process_constants:
        raise NotScalarConstantError(v)
    if _is_length_of_one(v):
        return np.asarray(1, dtype="int64")
    found = _spread(v)
    if isinstance(found, Constant):
        return _only(found.data)
    value = _computed(found)
    if value is None:
        raise NotScalarConstantError(v)
    return _only(value)


def _is_length_of_one(v: Any) -> bool:
    """Whether a variable is the length of an axis that broadcasts."""
    node = v.owner
    if node is None:
        return False
    if type(node.op).__name__ == "Shape_i":
        return bool(node.inputs[0].broadcastable[node.op.i])
    if type(node.op).__name__ != "Subtensor":
        return False
    shape, place = node.inputs[0].owner, node.op.static_index(node)
    if not isinstance(place, int) or shape is None or type(shape.op).__name__ != "Shape":
        return False
    return bool(shape.inputs[0].broadcastable[place])


def _spread(v: Any) -> Any:
    """The value that a tensor is filled with, where it is one."""
    while v.owner is not None:
        name = type(v.owner.op).__name__
        if name in ("Alloc", "DimShuffle", "Rebroadcast") and v.owner.inputs[0].ndim <= v.ndim:
            v = v.owner.inputs[0]
        elif name == "Elemwise" and v.owner.op.scalar_op.name == "second":
            v = v.owner.inputs[1]
        elif name == "Subtensor" and (element := _chosen(v.owner)) is not None:
            v = element
        else:
            break
    return v


def _chosen(node: Any) -> Any:
    """The scalar that an index by a number chooses of a vector made of scalars; else None."""
    made, place = node.inputs[0].owner, node.op.static_index(node)
    if made is None or type(made.op).__name__ != "MakeVector":
        return None
    if not isinstance(place, int) or not -len(made.inputs) <= place < len(made.inputs):
        return None
    return made.inputs[place].astype(made.op.dtype)


def _computed(v: Any) -> Any:
    """The value of an expression that depends on constants and on lengths that are known."""
    from symc.theano.meaning import Translation

    leaves = [each for each in ancestors([v]) if each.owner is None]
    if any(_needs_value(each) for each in leaves) or len(leaves) > 64:
        return None
    (expression,) = Translation().expressions([v])
    known = constant_value(expression)
    if known is not None:
        return known
    if any(not node.args and constant_value(node) is None for node in walk([expression])):
        return None
    try:
        return evaluate([expression], {})[0]
    except AssertionFailed:
        return None


def _needs_value(leaf: Variable) -> bool:
    """Whether nothing at all is known of a leaf."""
    return not isinstance(leaf, Constant) and not any(getattr(leaf, "broadcastable", ()))


def _only(data: Any) -> Any:
    """The value of all elements, if they are one: a copy, which may be changed."""
    if data.ndim == 0:
        return data.copy()
    if data.size == 0:
        raise EmptyConstantError
    first = data.reshape(-1)[0]
    if (data != first).any():
        raise NotScalarConstantError(data)
    return data.reshape(-1)[0].reshape(()).copy()


def get_constant_value(v: Any) -> Any:
    """The value of a constant scalar."""
    return get_scalar_constant_value(v)


def extract_constant(x: Any, elemwise: bool = True, only_process_constants: bool = False) -> Any:
    """The value of a constant scalar, other variables as they are."""
    try:
        return get_scalar_constant_value(x, elemwise, only_process_constants)
    except NotScalarConstantError:
        return x
