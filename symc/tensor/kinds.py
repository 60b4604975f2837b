"""Questions about dtypes and shapes, with the names of NumPy and of the array API standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.codegen.dtypes import BFLOAT16, FLOAT32, DType
from symc.errors import ShapeMismatch
from symc.graph.bfloat16 import finfo as limits_of
from symc.graph.inputs import as_tensor, constant_value
from symc.graph.node import Tensor, TensorLike
from symc.graph.types import as_dtype, promote, to_numpy, weak_dtype
from symc.tensor.elementwise import cast_to, common

__all__ = [
    "astype", "broadcast_shapes", "can_cast", "finfo", "iinfo", "isdtype", "result_type",
]  # fmt: skip


def _dtype(of: Any) -> DType:
    return of.dtype if isinstance(of, Tensor) else as_dtype(of)


def astype(x: TensorLike, dtype: Any, /, *, copy: bool = True) -> Tensor:
    """`x` converted to a dtype, as `cast`. Tensors are values, so `copy` makes no difference.

    >>> import symc.tensor as T
    >>> T.astype([1.5, 2.5], "int64").eval()
    array([1, 2])
    """
    return cast_to(as_tensor(x), dtype)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype of what tensors, arrays, numbers and dtypes give together; numbers adapt.

    Raises ValueError without any, and `DTypeError` for what is no dtype.

    >>> import symc.tensor as T
    >>> T.result_type("int8", T.fvector("x"), 2.0), T.result_type("int32", "float32")
    (float32, float64)
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: of no dtypes there is no result")
    known, numbers = list[DType](), list[bool | int | float | complex]()
    for each in arrays_and_dtypes:
        if isinstance(each, str | type | np.dtype | DType):
            known.append(as_dtype(each))
        elif isinstance(each, bool | int | float | complex) and not isinstance(each, np.generic):
            numbers.append(each)
        else:
            known.append(as_tensor(each).dtype)
    if not known:
        return common(numbers, "same", "result_type")[0].dtype
    like = promote(*known)
    return promote(like, *(weak_dtype(number, like) for number in numbers))


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether every value of one dtype (or of a tensor) has its place in another, as NumPy has it.

    >>> import symc.tensor as T
    >>> T.can_cast("int32", "float64"), T.can_cast("float64", "float32")
    (True, False)
    """
    return bool(np.can_cast(to_numpy(_dtype(from_)), to_numpy(_dtype(to))))


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is another, one of a kind, or of one of several.

    Kinds are "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex
    floating" and "numeric". Raises ValueError for other words.

    >>> import symc.tensor as T
    >>> T.isdtype("float32", "real floating"), T.isdtype("int8", ("bool", "unsigned integer"))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)  # pyright: ignore[reportUnknownVariableType]
    known = _dtype(dtype)
    if isinstance(kind, DType) or kind == "bfloat16":
        return known is as_dtype(kind)
    stands_for = FLOAT32 if known is BFLOAT16 and isinstance(kind, str) else known
    return stands_for is not BFLOAT16 and bool(np.isdtype(to_numpy(stands_for), kind))


def finfo(dtype: Any) -> Any:
    """The limits of a float dtype, or of a tensor's: ``eps``, ``max``, ``tiny`` and so on.

    ``np.finfo``, or ``ml_dtypes.finfo`` for bfloat16. Raises ValueError for integers.

    >>> import symc.tensor as T
    >>> float(T.finfo("float32").eps)
    1.1920928955078125e-07
    """
    return limits_of(_dtype(dtype))


def iinfo(dtype: Any) -> np.iinfo[Any]:
    """The limits of an integer dtype, or of a tensor's: ``min`` and ``max``.

    Raises ValueError for floats.

    >>> import symc.tensor as T
    >>> T.iinfo("uint8").max
    255
    """
    return np.iinfo(to_numpy(_dtype(dtype)))


def broadcast_shapes(*shapes: Any) -> tuple[int | Tensor, ...]:
    """The shape of arrays of these shapes after broadcasting; lengths may be tensors.

    A length that is a tensor counts as longer than 1, as symc's broadcasting has it. Raises
    `ShapeMismatch` when lengths differ, or are not known to be the same.

    >>> import symc.tensor as T
    >>> T.broadcast_shapes((3, 1), (4,), 4)
    (3, 4)
    """
    rows = [(s,) if isinstance(s, int | Tensor) else tuple(s) for s in shapes]
    rank = max(map(len, rows), default=0)
    result = list[int | Tensor]()
    for axis in range(rank):
        known: int | Tensor = 1
        for row in rows:
            place = axis - rank + len(row)
            length = _length(row[place]) if place >= 0 else 1
            if isinstance(length, int) and length == 1:
                continue
            if isinstance(known, int) and known == 1:
                known = length
            elif known is not length and not (isinstance(known, int) and known == length):
                raise ShapeMismatch(
                    f"broadcast_shapes: {known!r} and {length!r} are not known to be one length\n"
                    f"  given  {', '.join(map(str, rows))}"
                )
        result.append(known)
    return tuple(result)


def _length(value: Any) -> int | Tensor:
    found = constant_value(value) if isinstance(value, Tensor) else None
    return int(found) if found is not None else value
