"""`verify_grad`: gradients compared with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symc.theano.compile.function import function
from symc.theano.compile.sharedvalue import shared
from symc.theano.gradient import grad
from symc.theano.tensor import reductions
from symc.theano.tensor.type import TensorType


class GradientError(Exception):
    """A gradient differs from finite differences."""

    def __init__(
        self, arg: int, err_pos: Any, shape: Any, val1: Any, val2: Any, abs_err: Any,
        rel_err: Any, abs_tol: Any, rel_tol: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            f"numeric gradient and analytic gradient exceed tolerance: at position {err_pos} of "
            f"argument {arg} with shape {shape}, val1 = {val1}, val2 = {val2}, abs. error = "
            f"{abs_err}, abs. tolerance = {abs_tol}, rel. error = {rel_err}, rel. tolerance = "
            f"{rel_tol}"
        )
        self.arg, self.err_pos, self.abs_err, self.rel_err = arg, err_pos, abs_err, rel_err


_STEPS = {"float64": 1e-7, "float32": 3e-4, "float16": 1e-1}
_TOLERANCES = {"float64": 1e-4, "float32": 1e-2, "float16": 5e-2}


class numeric_grad:
    """The gradient of ``f(*pt)`` by finite differences, in `gf`: for a list of arrays, a list."""

    type_eps = _STEPS

    def __init__(self, f: Any, pt: Any, eps: float | None = None, out_type: Any = None) -> None:
        packed = isinstance(pt, list | tuple)
        points = [np.array(each) for each in (pt if packed else [pt])]
        dtypes = [each.dtype.name for each in points]
        dtypes += [out_type] if out_type is not None and str(out_type).startswith("float") else []
        step = eps or max(_STEPS.get(dtype, 0.0) for dtype in dtypes)
        start = np.array(f(*(each.copy() for each in points)))
        found = [np.zeros(each.shape, dtype=each.dtype) for each in points]
        for each, gradient in zip(points, found, strict=True):
            for place in np.ndindex(each.shape):
                kept = each[place].copy()
                each[place] += step
                gradient[place] = np.asarray((f(*points) - start) / step)
                each[place] = kept
        self.gf: Any = found if packed else found[0]

    @staticmethod
    def abs_rel_err(a: Any, b: Any) -> tuple[Any, Any]:
        """The absolute and the relative difference."""
        absolute = abs(a - b)
        return absolute, absolute / np.maximum(abs(a) + abs(b), np.asarray(1e-8))

    def max_err(self, g_pt: Sequence[Any], abs_tol: float, rel_tol: float) -> Any:
        """Where the largest difference is: argument, position, both errors there."""
        worst: list[Any] = []
        for position, (own, other) in enumerate(zip(self.gf, g_pt, strict=True)):
            if own.shape != other.shape:
                raise ValueError("argument has wrong shape", (own.shape, other.shape))
            absolute, relative = self.abs_rel_err(own, other)
            score = np.minimum(absolute / abs_tol, relative / rel_tol)
            place = int(score.argmax()) if score.size else 0
            values = (each.flat[place] if each.size else 0 for each in (score, absolute, relative))
            worst.append((*values, position, place))
        if any(np.isnan(each[0]) for each in worst):
            return next((p, place, a, r) for s, a, r, p, place in worst if np.isnan(s))
        _, absolute, relative, position, place = max(worst, key=lambda each: each[0])
        return position, place, absolute, relative


def _on_copies(function: Any) -> Callable[..., Any]:
    """A function of arrays, which may overwrite copies of them."""
    return lambda *points: function(*(np.array(each) for each in points))


def verify_grad(
    fun: Any, pt: Any, n_tests: int = 2, rng: Any = None, eps: float | None = None,
    out_type: Any = None, abs_tol: float | None = None, rel_tol: float | None = None,
    mode: Any = None, cast_to_output_type: bool = False, no_debug_ref: bool = True,
) -> None:  # fmt: skip
    """Raises `GradientError` where the gradient of `fun` differs from finite differences."""
    del no_debug_ref
    assert isinstance(pt, list | tuple)
    points = [np.array(each) for each in pt]
    dtypes = [each.dtype.name for each in points]
    if any(dtype not in _STEPS for dtype in dtypes):
        raise TypeError("verify_grad can work only with floating point inputs", dtypes)
    if rng is None:
        raise TypeError("rng should be a valid instance of numpy.random.RandomState.")
    widest = max(_TOLERANCES[dtype] for dtype in dtypes)
    abs_tol, rel_tol = abs_tol or widest, rel_tol or widest
    inputs = [
        TensorType(each.dtype, [length == 1 for length in each.shape])(f"input {position}")
        for position, each in enumerate(points)
    ]
    output = fun(*inputs)
    if isinstance(output, list):
        raise NotImplementedError("cant (yet) autotest gradient of fun with multiple outputs")
    options: dict[str, Any] = {
        "mode": mode, "on_unused_input": "ignore", "accept_inplace": True,
    }  # fmt: skip
    value = _on_copies(function(inputs, output, **options))(*points)
    weights = shared(np.asarray(value * 0.0))
    cost = reductions.sum(weights * output)
    if cast_to_output_type:
        cost = cost.astype(output.dtype)
    gradients = grad(cost, inputs, disconnected_inputs="ignore")
    cost_at = _on_copies(function(inputs, cost, **options))
    grad_at = _on_copies(function(inputs, gradients, **options))
    for _ in range(n_tests):
        drawn = rng.rand(*value.shape) + 0.5
        drawn = drawn * np.where(rng.rand(*value.shape) < 0.5, -1, 1)
        weights.set_value(np.asarray(drawn, dtype=weights.dtype))
        numeric = numeric_grad(cost_at, points, eps, out_type)
        exact = grad_at(*points)
        arg, place, absolute, relative = numeric.max_err(exact, abs_tol, rel_tol)
        if not (absolute <= abs_tol or relative <= rel_tol):
            first, second = numeric.gf[arg].flat[place], exact[arg].flat[place]
            raise GradientError(
                arg, place, points[arg].shape, first, second, absolute, relative, abs_tol, rel_tol
            )


verify_grad.E_grad = GradientError  # type: ignore[attr-defined]
