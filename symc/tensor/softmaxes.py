"""Softmax, its logarithm, and the logarithm of a sum of exponentials, without overflow.

They are ops so that rewrite rules can recognise them; only when loops are made do they expand into
the maximum, the exponentials, their sum and a division.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symc.codegen.record import record
from symc.graph.inputs import as_tensor
from symc.graph.node import METHODS, OPERATORS, Array, Op, Tensor, TensorLike
from symc.graph.types import TensorType, float_for
from symc.tensor.elementwise import call, cast_to, elementwise, masked, peel, refuse_complex
from symc.tensor.fold import reduce_over
from symc.tensor.reduce import Axis, axes_of
from symc.tensor.views import expand_dims, peel_whole

__all__ = ["log_softmax", "logsoftmax", "logsumexp", "softmax"]
_ALSO_ENTERED = ["exp_nonpositive", "share"]

_exp_nonpositive = elementwise(
    "exp_nonpositive", np.exp, call("exp_nonpositive"), "e to the power x, for x <= 0 or NaN.",
    lambda g, x, y: g * y, cost=10,
)  # fmt: skip


def _part_of(part: Array, total: Array, _: Array) -> Array:
    result: Array = np.divide(part, total)
    return result


_share = elementwise(
    "share", _part_of, call("share"),
    "A part of a total, of which the reciprocal is known: quicker than a division for each part.",
    lambda g, part, total, inverse, y: g / total, lambda g, part, total, inverse, y: -g * y / total,
    None, cost=4,
)  # fmt: skip


@record
class Softmax(Op):
    """``exp(x) / sum(exp(x))`` over some axes."""

    axes: tuple[int, ...]

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        _, powers, total = _powers(args[0], self.axes)
        with np.errstate(all="ignore"):
            return np.divide(powers, total, out=powers).astype(args[0].dtype, copy=False)

    def row_args(self, node: Tensor) -> Sequence[int] | None:
        return None if 0 in self.axes else (0,)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        mask, inner = _rows_reached(bar, self.axes)
        centre = reduce_over("add", inner * node, self.axes, keepdims=True)
        return [masked(mask, node * (inner - centre))]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return Softmax(_batched(self.axes))(*args)

    def expand(self, node: Tensor) -> Tensor | None:
        x = _wide(node.args[0])
        greatest = reduce_over("max", x, self.axes, keepdims=True, allow_empty=True)
        powers = _exp_nonpositive(x - greatest)
        total = reduce_over("add", powers, self.axes, keepdims=True)
        return cast_to(_share(powers, total, 1 / total), node.dtype)


@record
class LogSoftmax(Op):
    """``x - log(sum(exp(x)))`` over some axes."""

    axes: tuple[int, ...]

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        shifted, _, total = _powers(args[0], self.axes)
        with np.errstate(all="ignore"):
            return (shifted - np.log(total)).astype(args[0].dtype, copy=False)

    def row_args(self, node: Tensor) -> Sequence[int] | None:
        return None if 0 in self.axes else (0,)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        mask, inner = _rows_reached(bar, self.axes)
        total = reduce_over("add", inner, self.axes, keepdims=True)
        return [masked(mask, inner - Softmax(self.axes)(node.args[0]) * total)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return LogSoftmax(_batched(self.axes))(*args)

    def expand(self, node: Tensor) -> Tensor | None:
        x = _wide(node.args[0])
        shifted = x - reduce_over("max", x, self.axes, keepdims=True, allow_empty=True)
        total = reduce_over("add", _exp_nonpositive(shifted), self.axes, keepdims=True)
        return cast_to(shifted - OPERATORS["log"](total), node.dtype)

    @property
    def label(self) -> str:
        return "log_softmax"


@record
class LogSumExp(Op):
    """``log(sum(exp(x)))`` over some axes, which the result does not have."""

    axes: tuple[int, ...]

    def infer(self, *args: Tensor) -> TensorType:
        x = args[0].type
        kept = tuple(dim for axis, dim in enumerate(x.shape) if axis not in self.axes)
        return TensorType(x.dtype, kept)

    def evaluate(self, *args: Array) -> Array:
        x = args[0].astype(np.float32) if args[0].dtype == np.float16 else args[0]
        greatest = np.max(x, axis=self.axes, keepdims=True, initial=-np.inf)
        shift = np.where(np.isfinite(greatest), greatest, 0)
        with np.errstate(all="ignore"):
            total = np.sum(np.exp(x - shift), axis=self.axes, dtype=np.float64).astype(x.dtype)
            result = np.log(total) + np.squeeze(shift, self.axes)
        return np.asarray(result, dtype=args[0].dtype)

    def row_args(self, node: Tensor) -> Sequence[int] | None:
        return None if 0 in self.axes else (0,)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        mask, inner = peel_whole(bar)
        result = expand_dims(inner, self.axes) * Softmax(self.axes)(node.args[0])
        return [masked(None if mask is None else expand_dims(mask, self.axes), result)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return LogSumExp(_batched(self.axes))(*args)

    def expand(self, node: Tensor) -> Tensor | None:
        x, where, finite = _wide(node.args[0]), OPERATORS["where"], OPERATORS["isfinite"]
        greatest = reduce_over("max", x, self.axes, allow_empty=True)
        # Shifting by an infinity would give NaN; and the greatest is then the result.
        shift = where(finite(greatest), greatest, 0)
        powers = _exp_nonpositive(x - expand_dims(shift, self.axes))
        total: Tensor = OPERATORS["log"](reduce_over("add", powers, self.axes))
        return cast_to(where(finite(greatest), total + shift, greatest), node.dtype)


def _wide(x: Tensor) -> Tensor:
    return cast_to(x, x.dtype.wide)


def _batched(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis + 1 for axis in axes)


def _rows_reached(bar: Tensor, axes: tuple[int, ...]) -> tuple[Tensor | None, Tensor]:
    """A gradient that is summed over `axes`, and which of those sums any of it reaches.

    A row that nothing reaches has gradient 0, even where its softmax is NaN.
    """
    mask, _ = peel(bar)
    if mask is None:
        return None, bar
    mask = expand_dims(mask, tuple(range(bar.ndim - mask.ndim)))
    return reduce_over("or", mask, axes, keepdims=True), bar


def _powers(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """``x - max(x)``, the exponentials of that, and their sum."""
    wide: Array = x.astype(np.float32) if x.dtype == np.float16 else x
    with np.errstate(all="ignore"):
        shifted: Array = wide - np.max(wide, axis=axes, keepdims=True, initial=-np.inf)
        powers: Array = np.exp(shifted)
        total = np.sum(powers, axis=axes, keepdims=True, dtype=np.float64)
    return shifted, powers, np.asarray(total, dtype=wide.dtype)


def _arguments(label: str, x: TensorLike, axis: Axis) -> tuple[Tensor, tuple[int, ...]]:
    x = as_tensor(x)
    refuse_complex(label, x.dtype)
    return cast_to(x, float_for(x.dtype)), axes_of(label, x, axis)


def softmax(x: TensorLike, axis: Axis = -1) -> Tensor:
    """``exp(x) / sum(exp(x))`` over an axis (several, or all for None), without overflow.

    Positive numbers that sum to 1. Integers are converted to floats as by `exp`. A row that is all
    -inf, or has +inf or NaN, gives NaN.

    >>> import symc.tensor as T
    >>> T.softmax(T.constant([[0.0, 0.0], [1000.0, 0.0]])).eval()
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    x, axes = _arguments("softmax", x, axis)
    return Softmax(axes)(x)


def log_softmax(x: TensorLike, axis: Axis = -1) -> Tensor:
    """``log(softmax(x))`` over an axis (several, or all for None), exact where softmax is tiny.

    As for softmax, all is NaN where the largest element is infinite.

    >>> import symc.tensor as T
    >>> T.nnet.log_softmax([0.0, 1000.0]).eval()
    array([-1000.,     0.])
    """
    x, axes = _arguments("log_softmax", x, axis)
    return LogSoftmax(axes)(x)


logsoftmax = log_softmax


def logsumexp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """``log(sum(exp(x)))`` along axes, without overflow; -inf for no elements.

    Infinities are exact: all -inf gives -inf, and +inf gives +inf.

    >>> import symc.tensor as T
    >>> T.logsumexp(T.constant([1000.0, 1000.0])).eval()
    array(1000.69314718)
    """
    x, axes = _arguments("logsumexp", x, axis)
    result = LogSumExp(axes)(x)
    return expand_dims(result, axes) if keepdims else result


METHODS["logsumexp"] = logsumexp
METHODS["softmax"] = softmax
