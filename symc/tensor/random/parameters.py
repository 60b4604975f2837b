"""The prologue of all samplers: parameters as tensors, and from them shape and dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symc.codegen.dtypes import FLOAT32, FLOAT64, DType
from symc.config import config
from symc.errors import DTypeError, ShapeMismatch
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor, constant_value
from symc.graph.node import Array, Tensor, TensorLike
from symc.graph.types import as_dtype, promote
from symc.tensor.broadcast import broadcast_shape, describe
from symc.tensor.checked import Checked
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import as_dims
from symc.tensor.random.draw import draw
from symc.tensor.views import broadcast_to

Shape = tuple[Dim, ...]


def float_dtype(label: str, wanted: Any, parameters: Sequence[TensorLike]) -> DType:
    """The dtype asked for; else that of the parameters which have one; else `config.floatX`."""
    if wanted is None:
        given = [as_tensor(p).dtype for p in parameters if isinstance(p, Tensor | np.ndarray)]
        floats = [dtype for dtype in given if dtype.is_float]
        wanted = promote(*floats) if floats else config.floatX
    dtype = as_dtype(wanted)
    if dtype not in (FLOAT32, FLOAT64):
        raise DTypeError(f"{label}: the numbers are float32 or float64, not {dtype}")
    return dtype


def shape_for(label: str, size: Any, parameters: Sequence[Tensor]) -> Shape:
    """The shape asked for, which the parameters must broadcast to; else theirs together."""
    common = broadcast_shape(label, parameters) if parameters else ()
    if size is None:
        return common
    shape = as_dims(size)
    if any(isinstance(dim, int) and dim < 0 for dim in shape):
        raise ShapeMismatch(f"{label}: a length cannot be negative, as in size={size}")
    if len(common) > len(shape):
        raise ShapeMismatch(
            f"{label}: parameters with {len(common)} axes do not fit size={size}\n"
            + "\n".join(f"  given  {describe(p)}" for p in parameters)
        )
    return shape


def fit(label: str, size: Any, dtype: DType, *parameters: TensorLike) -> tuple[Shape, list[Tensor]]:
    """The shape of a draw, and its parameters with one dtype, scalar or of that shape."""
    tensors = [cast_to(as_tensor(p, dtype), dtype) for p in parameters]
    shape = shape_for(label, size, tensors)
    return shape, [p if p.ndim == 0 else broadcast_to(p, shape) for p in tensors]


def refuse(
    label: str, name: str, parameter: Tensor, holds: Callable[[Array], Any], words: str
) -> None:
    """Raises ValueError if a parameter is known now and breaks its condition."""
    value = constant_value(parameter)
    if value is not None and not np.all(holds(value)):
        raise ValueError(f"{label}: {name} must be {words}\n  given  {describe(parameter)}")


def demand(
    label: str, name: str, parameter: Tensor, holds: Callable[[Any], Any], words: str
) -> Tensor:
    """The parameter; ValueError is raised now, or when it runs, if it breaks its condition."""
    refuse(label, name, parameter, holds, words)
    if constant_value(parameter) is not None:
        return parameter
    return Checked(f"{label}: {name} must be {words}")(parameter, holds(parameter))


def raw(name: str, key: Tensor, shape: Shape, dtype: DType, label: str) -> Tensor:
    """Uniform numbers in [0, 1), or standard normal ones."""
    return draw(f"random_{name}{'' if dtype is FLOAT64 else 32}", key, shape, label=label)


def wide(name: str, key: Tensor, shape: Shape, dtype: DType, *parameters: Tensor) -> Tensor:
    """Numbers of a sampler that computes in float64."""
    return cast_to(draw(f"random_{name}", key, shape, *parameters), dtype)
