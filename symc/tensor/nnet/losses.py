"""Losses. Each has one number for every example, or with `reduction` their mean or sum."""

from __future__ import annotations

from typing import Literal, TypeAlias

from symc.errors import RankError
from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.activations import softplus
from symc.tensor.broadcast import describe
from symc.tensor.checked import not_negative
from symc.tensor.elementwise import cast_to
from symc.tensor.exponentials import log, log1p
from symc.tensor.lengths import normal_axis
from symc.tensor.logic import isfinite, logical_and, logical_not, where
from symc.tensor.math import abs as absolute
from symc.tensor.math import as_float, maximum, sqr
from symc.tensor.reduce import sum as total
from symc.tensor.selection import take_along_axis
from symc.tensor.softmaxes import log_softmax
from symc.tensor.statistics import mean, wide
from symc.tensor.views import expand_dims, squeeze

__all__ = [
    "binary_crossentropy", "categorical_crossentropy", "hinge_loss", "huber_loss", "kl_divergence",
    "squared_error",
]  # fmt: skip

Reduction: TypeAlias = Literal["none", "mean", "sum"]


def categorical_crossentropy(
    predicted: TensorLike,
    target: TensorLike,
    *,
    from_logits: bool = False,
    axis: int = -1,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
    reduction: Reduction = "none",
) -> Tensor:
    """``-sum(target * log(predicted))`` along `axis`, the classes.

    `predicted` are probabilities, or with ``from_logits=True`` arguments of softmax. `target`
    are probabilities as well, or integers without that axis: the right classes. With
    `label_smoothing`, a target is that much of the way towards equal probabilities. A class whose
    target is 0 adds 0, whatever was predicted. Examples of the class `ignore_index`, which need not
    exist, have the loss 0 and do not count in a mean; where none is left that is NaN. Raises
    `IndexError`, when it runs, for other classes that do not exist, negative ones too, and
    `ValueError` for a `label_smoothing` that is not from 0 to 1 or an `ignore_index` beside
    probabilities.

    >>> import symc.tensor as T
    >>> T.nnet.categorical_crossentropy(T.constant([[0.5, 0.5], [0.25, 0.75]]), [1, 0]).eval()
    array([0.69314718, 1.38629436])
    >>> scores = T.constant([[0.0, 0.0], [3.0, 5.0]])
    >>> T.nnet.categorical_crossentropy(
    ...     scores, [1, -100], from_logits=True, ignore_index=-100, reduction="mean"
    ... ).eval()
    array(0.69314718)
    """
    label = "categorical_crossentropy"
    _check_smoothing(label, label_smoothing)
    x, t = as_float(as_tensor(predicted)), as_tensor(target)
    at = normal_axis(label, axis, x.ndim, x)
    logs = log_softmax(x, at) if from_logits else log(x)
    if t.dtype.is_float:
        if t.ndim != x.ndim:
            raise RankError(f"{label}: probabilities need {x.ndim} axes\n  target  {describe(t)}")
        if ignore_index is not None:
            raise ValueError(f"{label}: ignore_index is for targets that are classes")
        share = label_smoothing / x.shape[at] if label_smoothing else 0.0
        t = cast_to((1 - label_smoothing) * t + share if label_smoothing else t, x.dtype)
        return _reduced(-total(_weighed(t, logs), axis=at), reduction)
    if not t.dtype.is_integer or t.ndim != x.ndim - 1:
        raise RankError(
            f"{label}: classes must be integers with {x.ndim - 1} axes\n  target  {describe(t)}"
        )
    counts = None if ignore_index is None else OPERATORS["ne"](t, ignore_index)
    t = t if counts is None else where(counts, t, 0)
    t = not_negative(t, f"{label}: a class must not be negative", is_index=True)
    loss = -squeeze(take_along_axis(logs, expand_dims(t, at), at), at)
    if label_smoothing:
        loss = (1 - label_smoothing) * loss - label_smoothing * mean(logs, at)
    if counts is None:
        return _reduced(loss, reduction)
    loss = where(counts, loss, 0)
    if reduction == "mean":
        return cast_to(total(wide(loss)) / cast_to(total(counts), x.dtype.wide), x.dtype)
    return _reduced(loss, reduction)


def binary_crossentropy(
    predicted: TensorLike,
    target: TensorLike,
    *,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    reduction: Reduction = "none",
) -> Tensor:
    """``-(target * log(p) + (1 - target) * log(1 - p))``, element by element.

    `predicted` is p, or with ``from_logits=True`` the argument of sigmoid. With `label_smoothing`,
    a target is that much of the way towards 1/2. A term whose factor is 0 is 0. Raises
    `ValueError` for a `label_smoothing` that is not from 0 to 1.

    >>> import symc.tensor as T
    >>> T.nnet.binary_crossentropy(T.constant([0.0, 1000.0]), [0.0, 1.0], from_logits=True).eval()
    array([0.69314718, 0.        ])
    """
    _check_smoothing("binary_crossentropy", label_smoothing)
    x = as_float(as_tensor(predicted))
    t = cast_to(as_tensor(target), x.dtype)
    if label_smoothing:
        t = (1 - label_smoothing) * t + label_smoothing / 2
    if from_logits:
        # softplus(x) - t * x without a difference of what is nearly equal where a target is met.
        is_positive = OPERATORS["gt"](x, 0)
        small = softplus(where(is_positive, -x, x))
        return _reduced(small + where(is_positive, (1 - t) * x, -t * x), reduction)
    return _reduced(-(_weighed(t, log(x)) + _weighed(1 - t, log1p(-x))), reduction)


def kl_divergence(
    target: TensorLike, predicted: TensorLike, *, axis: int = -1, reduction: Reduction = "none"
) -> Tensor:
    """``sum(target * log(target / predicted))`` along `axis`, of two distributions.

    A term whose target is 0 is 0, and so are its derivatives: the target's would be infinite.

    >>> import symc.tensor as T
    >>> T.nnet.kl_divergence([0.5, 0.5], [0.25, 0.75]).eval()
    array(0.14384104)
    """
    t, p = as_float(as_tensor(target)), as_float(as_tensor(predicted))
    at = normal_axis("kl_divergence", axis, t.ndim, t)
    terms = where(OPERATORS["eq"](t, 0), 0, t * (log(t) - log(p)))
    return _reduced(total(terms, axis=at), reduction)


def squared_error(
    predicted: TensorLike, target: TensorLike, *, reduction: Reduction = "none"
) -> Tensor:
    """``(predicted - target) ** 2``, element by element; both broadcast.

    `reduction` is "none", "mean" or "sum".

    >>> import symc.tensor as T
    >>> T.nnet.squared_error([1.0, 3.0], [1.0, 1.0], reduction="mean").eval()
    array(2.)
    """
    return _reduced(sqr(as_float(as_tensor(predicted)) - target), reduction)


def huber_loss(
    predicted: TensorLike,
    target: TensorLike,
    *,
    delta: float = 1.0,
    reduction: Reduction = "none",
) -> Tensor:
    """``d ** 2 / 2`` of the difference d, and beyond `delta` the tangent to it (Huber, 1964).

    Both broadcast. `reduction` is "none", which gives an array, "mean" or "sum".

    >>> import symc.tensor as T
    >>> T.nnet.huber_loss([0.5, 3.0], [0.0, 0.0]).eval()
    array([0.125, 2.5  ])
    """
    difference = as_float(as_tensor(predicted)) - target
    away = absolute(difference)
    near = OPERATORS["le"](away, delta)
    return _reduced(where(near, sqr(difference) / 2, delta * (away - delta / 2)), reduction)


def hinge_loss(
    predicted: TensorLike, target: TensorLike, *, reduction: Reduction = "none"
) -> Tensor:
    """``max(0, 1 - target * predicted)``, element by element; targets are -1 and 1.

    Both broadcast. `reduction` is "none", "mean" or "sum".

    >>> import symc.tensor as T
    >>> T.nnet.hinge_loss([0.5, -2.0], [1, -1]).eval()
    array([0.5, 0. ])
    """
    return _reduced(maximum(1 - as_float(as_tensor(predicted)) * target, 0), reduction)


def _check_smoothing(label: str, smoothing: float) -> None:
    if not 0 <= smoothing <= 1:
        raise ValueError(f"{label}: label_smoothing must be from 0 to 1, not {smoothing!r}")


def _weighed(weight: Tensor, logs: Tensor) -> Tensor:
    """``weight * logs``; where 0 meets the logarithm of 0, it and its derivatives are 0.

    Where the logarithm is finite, the product has a derivative for a weight of 0, too.
    """
    is_without = logical_and(OPERATORS["eq"](weight, 0), logical_not(isfinite(logs)))
    return where(is_without, 0, weight * logs)


def _reduced(loss: Tensor, reduction: Reduction) -> Tensor:
    match reduction:
        case "none":
            return loss
        case "mean":
            return mean(loss)
        case "sum":
            return total(loss)
    raise ValueError(f"reduction must be 'none', 'mean' or 'sum', not {reduction!r}")
