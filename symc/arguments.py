"""Arguments of compiled functions: what is accepted, what is converted, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.errors import BadArgument, DTypeError, RankError, ShapeMismatch
from symc.graph import Array, Tensor
from symc.inputs import Input
from symc.tensor.broadcast import describe
from symc.types import literal_fits, to_numpy


def convert_argument(
    variable: Tensor, position: int, value: Any, allow_downcast: bool | None
) -> Array:
    """`value` as an array that fits `variable`, C-contiguous.

    Values that the dtype holds without loss are converted, as are Python numbers and lists of
    them; others raise `DTypeError` unless `allow_downcast`. Raises `RankError` and `ShapeMismatch`
    when axes or declared lengths do not fit, and `BadArgument` for what is no array of numbers.
    """
    if isinstance(value, Tensor):
        raise BadArgument(
            _say(variable, position, f"is the symbolic {value!r}; pass an array, or use givens=")
        )
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise BadArgument(_say(variable, position, f"is no array: {error}")) from error
    if array.dtype.kind not in "biufc":
        raise BadArgument(_say(variable, position, f"has dtype {array.dtype}, which is no number"))
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
    if array.dtype == dtype:
        return array.astype(dtype, copy=False)
    typed = isinstance(value, np.ndarray | np.generic)
    drops_parts = array.dtype.kind == "c" and dtype.kind != "c"  # refused, whatever is allowed
    if np.can_cast(array.dtype, dtype, "safe") or (allow_downcast and not drops_parts):
        with np.errstate(all="ignore"):
            return array.astype(dtype)
    literal = not typed and allow_downcast is None and not drops_parts
    if literal and literal_fits(array, dtype):
        with np.errstate(all="ignore"):
            return array.astype(dtype)
    if drops_parts:
        raise DTypeError(
            _say(variable, position, f"has dtype {array.dtype}, and {variable.dtype} would lose "
                 "the imaginary part\n  pass .real, or declare the input complex")
        )  # fmt: skip
    raise DTypeError(
        _say(variable, position, f"has dtype {array.dtype}, and {variable.dtype} would lose "
             f"precision\n  convert it with .astype({variable.dtype.name!r}), "
             "or compile with allow_input_downcast=True")
    )  # fmt: skip


def _say(variable: Tensor, position: int, problem: str) -> str:
    name = f" ({variable.name})" if variable.name else ""
    return f"argument {position}{name} {problem}\n  input  {describe(variable)}"
