"""Gradients kept within bounds: between taking and using them.

gradients = symc.optim.clip_by_global_norm(symc.grad(loss, params), 1.0)
updates = symc.optim.adam(gradients, params)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import cast

from symc import tensor as T
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor

__all__ = ["clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm"]


def clip_by_value(gradients: Sequence[Tensor], low: float, high: float) -> list[Tensor]:
    """The gradients, tensors of the same shapes, with each element between `low` and `high`.

    >>> import symc, symc.tensor as T
    >>> symc.optim.clip_by_value([T.constant([-5.0, 0.5])], -1.0, 1.0)[0].eval()
    array([-1. ,  0.5])
    """
    if low > high:
        raise ValueError(f"clip_by_value: low={low} is above high={high}")
    return [T.clip(gradient, low, high) for gradient in _listed(gradients)]


def clip_by_norm(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    """The gradients, each scaled down to the norm `limit` where it is longer.

    Tensors of the same shapes.

    >>> import symc, symc.tensor as T
    >>> short, long = symc.optim.clip_by_norm([T.constant([0.5]), T.constant([3.0, 4.0])], 1.0)
    >>> short.eval(), long.eval()
    (array([0.5]), array([0.6, 0.8]))
    """
    given = _listed(gradients)
    return [g * T.cast(_factor(global_norm([g]), limit), g.dtype) for g in given]


def clip_by_global_norm(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    """The gradients, all scaled by one factor, so that their norm together is at most `limit`.

    Tensors of the same shapes. Directions stay (Pascanu, Mikolov and Bengio, 2013).

    >>> import symc, symc.tensor as T
    >>> small, large = symc.optim.clip_by_global_norm([T.constant([3.0]), T.constant([4.0])], 1.0)
    >>> small.eval(), large.eval()
    (array([0.6]), array([0.8]))
    """
    given = _listed(gradients)
    norm = global_norm(given)
    return [g * T.cast(_factor(norm, limit), g.dtype) for g in given]


def global_norm(gradients: Sequence[Tensor]) -> Tensor:
    """The Euclidean norm of all elements of all gradients: a scalar, at least of float32.

    >>> import symc, symc.tensor as T
    >>> symc.optim.global_norm([T.constant([3.0]), T.constant([4.0])]).eval()
    array(5.)
    """
    given = _listed(gradients)
    if not given:
        raise ValueError("global_norm needs at least one gradient")
    # Squares of numbers of 16 bits overflow from 256 on, and vanish below some thousandths.
    return T.sqrt(reduce(add, [T.sqr(T.cast(g, g.dtype.wide)).sum() for g in given]))


def _listed(gradients: Sequence[Tensor]) -> list[Tensor]:
    if isinstance(cast("object", gradients), Tensor):
        raise TypeError("gradients must be a list of tensors, as symc.grad(loss, [w, b]) gives")
    return list(map(as_tensor, gradients))


def _factor(norm: Tensor, limit: float) -> Tensor:
    if limit <= 0:
        raise ValueError(f"the limit of a norm must be positive, not {limit}")
    return T.where(norm > limit, limit / norm, 1.0)
