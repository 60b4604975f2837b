"""Arguments of compiled functions: which values are accepted, converted or refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.errors import BadArgument, DTypeError, RankError, ShapeMismatch
from symc.graph.inputs import Input
from symc.graph.node import Array, Tensor
from symc.graph.types import to_numpy
from symc.graph.values import Unfit, as_array, held, may_round
from symc.tensor.broadcast import describe


def convert_argument(
    variable: Tensor, position: int, value: Any, allow_downcast: bool | None
) -> Array:
    """`value` as an array that fits `variable`, C-contiguous.

    Values are converted by the rule of `symc/graph/values.py`; others raise `DTypeError` unless
    `allow_downcast`. Raises `RankError` and `ShapeMismatch` when axes or declared lengths do not
    fit, and `BadArgument` for a value that is no array of numbers.
    """
    if isinstance(value, Tensor):
        raise BadArgument(
            _say(variable, position, f"is the symbolic {value!r}; pass an array, or use givens=")
        )
    try:
        array = as_array(value)
    except Unfit as problem:
        raise BadArgument(_say(variable, position, str(problem))) from problem.__cause__
    array = _converted(variable, position, value, array, allow_downcast)
    if array.ndim != variable.ndim:
        raise RankError(
            _say(variable, position, f"has {array.ndim} axes (shape {array.shape}), "
                 f"not {variable.ndim}")
        )  # fmt: skip
    assert isinstance(variable.op, Input)
    for axis, (declared, length) in enumerate(zip(variable.op.declared, array.shape, strict=True)):
        if declared is not None and declared != length:
            raise ShapeMismatch(
                _say(variable, position, f"has length {length} along axis {axis}, "
                     f"which was declared {declared}")
            )  # fmt: skip
    return np.require(array, requirements=["C", "A"])


def _converted(
    variable: Tensor, position: int, value: Any, array: Array, allow_downcast: bool | None
) -> Array:
    dtype = to_numpy(variable.dtype)
    converted: Array | None = held(value, array, dtype, allow_downcast)
    if converted is not None:
        return converted
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise DTypeError(
            _say(variable, position, f"has dtype {array.dtype}, and {variable.dtype} would lose "
                 "the imaginary part\n  pass .real, or declare the input complex")
        )  # fmt: skip
    if array.dtype.kind == "O" or may_round(array.dtype, dtype):
        name = variable.dtype.name
        raise DTypeError(
            _say(variable, position, f"has integers that no {name} is equal to: it would lose "
                 f"precision\n  round them with np.asarray(value, {name!r}), or declare another "
                 "dtype")
        )  # fmt: skip
    raise DTypeError(
        _say(variable, position, f"has dtype {array.dtype}, and {variable.dtype} would lose "
             f"precision\n  convert it with .astype({variable.dtype.name!r}), "
             "or compile with allow_input_downcast=True")
    )  # fmt: skip


def _say(variable: Tensor, position: int, problem: str) -> str:
    name = f" ({variable.name})" if variable.name else ""
    return f"argument {position}{name} {problem}\n  input  {describe(variable)}"
