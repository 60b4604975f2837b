"""Comparisons of integers that no common dtype holds: exact, as NumPy's are.

A Python integer beyond the dtype of a tensor is above or below all of its elements, so that the
answer is known. uint64 and signed integers meet in float64, where 2**53 and 2**53 + 1 are equal:
those are compared as uint64 where the signed one is not negative.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from symc.codegen.dtypes import UINT64
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.graph.types import integer_range
from symc.tensor.build import full_like
from symc.tensor.signatures import FunctionOfTwo

Relation = Literal["eq", "ne", "lt", "le", "gt", "ge"]

_MIRRORED: dict[Relation, Relation] = {
    "eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le",
}  # fmt: skip


def exact(relation: Relation, row: FunctionOfTwo) -> FunctionOfTwo:
    """The comparison of any numbers, from the one of numbers that have a common dtype."""
    mirrored = _MIRRORED[relation]

    def compare(x: TensorLike, y: TensorLike) -> Tensor:
        if type(y) is int:
            known = None if _is_scalar(x) else _with_far_integer(relation, as_tensor(x), y)
        elif type(x) is int:
            known = None if _is_scalar(y) else _with_far_integer(mirrored, as_tensor(y), x)
        elif _is_scalar(x) or _is_scalar(y):
            known = None
        else:
            x, y = as_tensor(x), as_tensor(y)
            known = None
            if x.dtype is UINT64 and y.dtype.kind == "int":
                known = _with_signed(relation, row, x, y)
            elif y.dtype is UINT64 and x.dtype.kind == "int":
                known = _with_signed(mirrored, OPERATORS[mirrored], y, x)
        return row(x, y) if known is None else known

    compare.__name__ = compare.__qualname__ = relation
    compare.__doc__ = row.__doc__
    OPERATORS[relation] = compare
    return compare


def _is_scalar(value: TensorLike) -> bool:
    """Whether a value is a number of Python's, which has no dtype of its own."""
    return isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic)


def _with_far_integer(relation: Relation, x: Tensor, number: int) -> Tensor | None:
    """The relation of each element to an integer beyond the dtype; None if the dtype has it."""
    least, greatest = integer_range(x.dtype)
    if least <= number <= greatest:
        return None
    holding = ("lt", "le", "ne") if number > greatest else ("gt", "ge", "ne")
    return full_like(x, relation in holding, "bool")


def _with_signed(relation: Relation, row: FunctionOfTwo, x: Tensor, y: Tensor) -> Tensor:
    """The relation of numbers of uint64 to signed ones."""
    of_unsigned = row(x, y.astype(UINT64))
    if relation in ("eq", "lt", "le"):
        return OPERATORS["logical_and"](OPERATORS["ge"](y, 0), of_unsigned)
    return OPERATORS["logical_or"](OPERATORS["lt"](y, 0), of_unsigned)
