"""bfloat16 in NumPy: ml_dtypes has it as a type, and it is computed in float32.

NumPy's functions know the type in part (some by loops of ml_dtypes, most not at all), so the
interpreter gives ops float32 and rounds what they compute: which is also what compiled code does.
ml_dtypes is imported when the first array of the type is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from symc.codegen.dtypes import BFLOAT16, DType
from symc.errors import DTypeError

if TYPE_CHECKING:
    from symc.graph.node import Tensor


@cache
def numpy_bfloat16() -> np.dtype[Any]:
    """The type in NumPy. Raises `DTypeError` where ml_dtypes is not installed."""
    try:
        import ml_dtypes
    except ImportError as error:
        raise DTypeError(
            "arrays of bfloat16 need the package ml_dtypes\n  install it: pip install ml_dtypes"
        ) from error
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Whether a type of NumPy's is bfloat16, of ml_dtypes or of another package with its name."""
    return dtype.kind == "V" and dtype.itemsize == 2 and dtype.type.__name__ == "bfloat16"


def kind_of(dtype: np.dtype[Any]) -> str:
    """NumPy's letter for the kind of a type; "f" for bfloat16, too."""
    return "f" if is_bfloat16(dtype) else dtype.kind


def finfo(dtype: DType) -> Any:
    """The limits of a float dtype: NumPy's, or ml_dtypes' of bfloat16."""
    if dtype is not BFLOAT16:
        return np.finfo(np.dtype(dtype.name))
    numpy_bfloat16()
    import ml_dtypes

    return cast("Any", ml_dtypes.finfo)("bfloat16")


def computed(node: Tensor, compute: Callable[..., Any]) -> Callable[..., Any]:
    """An op's function of arrays for the arrays of a node: by way of float32 where it must be."""
    if node.dtype is not BFLOAT16 and all(arg.dtype is not BFLOAT16 for arg in node.args):
        return compute
    if node.op.takes_bfloat16:
        return compute
    return lambda *args: rounded(node, compute(*map(widened, args)))


def of_all(node: Tensor, compute: Callable[..., Any]) -> Callable[..., Any]:
    """The same of an op's `evaluate_all`: what it gives, `computed` asks for each result."""
    if node.op.takes_bfloat16 or all(arg.dtype is not BFLOAT16 for arg in node.args):
        return compute
    return lambda *args: compute(*map(widened, args))


def widened(array: Any) -> Any:
    """An array of bfloat16 as float32; any other as it is."""
    return array.astype(np.float32) if is_bfloat16(array.dtype) else array


def rounded(node: Tensor, result: Any) -> Any:
    """What an op computed, as the array that a node promises."""
    return result if node.op.takes_bfloat16 else rounded_to(node.dtype, result)


def rounded_to(dtype: DType, result: Any) -> Any:
    """An array, as one of bfloat16 if that is the dtype."""
    result = np.asarray(result)
    if dtype is not BFLOAT16:
        return result
    with np.errstate(all="ignore"):
        return result.astype(numpy_bfloat16(), copy=False)
