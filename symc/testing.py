"""Checks for people who write ops and models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symc.errors import GradientError
from symc.graph.bfloat16 import finfo, kind_of
from symc.graph.inputs import tensor
from symc.graph.node import Tensor
from symc.graph.types import as_dtype

__all__ = ["verify_grad"]


def verify_grad(
    function: Callable[..., Tensor],
    points: Sequence[Any],
    *,
    seed: int = 0,
    eps: float | None = None,
    rtol: float | None = None,
    mode: str = "default",
) -> None:
    """Checks symc's gradient of ``function(*tensors)`` against central differences at `points`.

    `function` builds an expression of any shape from tensors; `points` are arrays of floats. Along
    a random direction, the difference quotient with step `eps` (default: the cube root of the
    dtype's precision) must agree with the gradient within `rtol` (default: 1000 times the
    truncation error of that quotient for functions of moderate curvature). Raises `GradientError`.

    >>> import symc.tensor as T
    >>> verify_grad(lambda x: T.tanh(x) * x, [np.array([0.5, -1.0])])
    """
    from symc.calls.function import function as compile_function
    from symc.derivatives.grad import grad

    arrays = [np.asarray(point) for point in points]
    if any(kind_of(array.dtype) not in "fc" for array in arrays):
        raise GradientError("verify_grad needs points of floats")
    precision = max(float(finfo(as_dtype(array.dtype)).eps) for array in arrays)
    step = eps if eps is not None else precision ** (1 / 3)
    tolerance = rtol if rtol is not None else 1e3 * precision ** (2 / 3)
    rng = np.random.default_rng(seed)
    inputs = [tensor(a.dtype, (None,) * a.ndim, f"x{i}") for i, a in enumerate(arrays)]
    output = function(*inputs)
    shape: tuple[int, ...] = compile_function(inputs, output, mode=mode)(*arrays).shape
    weights = rng.standard_normal(shape).astype(output.dtype.name)
    cost = (output * weights).sum()
    value = compile_function(inputs, cost, mode=mode)
    gradient = compile_function(inputs, grad(cost, inputs), mode=mode, on_unused_input="ignore")
    directions = [rng.standard_normal(a.shape).astype(a.dtype) for a in arrays]
    above = value(*(a + step * d for a, d in zip(arrays, directions, strict=True)))
    below = value(*(a - step * d for a, d in zip(arrays, directions, strict=True)))
    wanted = float((above.astype(np.float64) - below) / (2 * step))
    got = sum(
        float((g.astype(np.float64) * d).sum())
        for g, d in zip(gradient(*arrays), directions, strict=True)
    )
    scale = max(1.0, abs(wanted), float(np.abs(weights).sum()))
    if not abs(got - wanted) <= tolerance * scale:
        raise GradientError(
            f"along a random direction the gradient is {got:.10g} and the difference quotient "
            f"{wanted:.10g}: apart by {abs(got - wanted):.2g}, allowed {tolerance * scale:.2g}"
        )


def __dir__() -> list[str]:
    return [*__all__]
