"""Adam and its kin: running means of gradients, divided by their sizes."""

from __future__ import annotations

from collections.abc import Sequence

from symc import tensor as T
from symc.graph.inputs import SharedVariable
from symc.graph.node import Tensor
from symc.optim.common import (
    CountedStep,
    Loss,
    Rate,
    Updates,
    check_fractions,
    counted,
    gradients,
    memory,
    pace,
)

__all__ = ["adam", "adamax", "adamw", "lion"]


def adam(
    loss: Loss,
    params: Sequence[SharedVariable],
    learning_rate: Rate = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
) -> Updates:
    """Adam (Kingma, Ba 2015, algorithm 1).

    `beta1` and `beta2` are how much is kept at each step of the running means of gradients and of
    their squares; both are corrected for having started from 0.

    The updates are for ``symc.function(..., updates=...)``; `learning_rate` may be a scalar tensor
    or a schedule. State has the dtypes and shapes of the parameters. Raises `ValueError` for a
    `beta1` or `beta2` that is not from 0 to below 1, or a negative rate.

    >>> import symc
    >>> w = symc.shared(1.0)
    >>> step = symc.function([], w * w, updates=symc.optim.adam(w * w, [w], 0.1), mode="python")
    >>> [round(float(step()), 6) for _ in range(3)]
    [1.0, 0.81, 0.64066]
    """
    return _adam("adam", loss, params, learning_rate, (beta1, beta2), epsilon, 0.0)


def adamw(
    loss: Loss,
    params: Sequence[SharedVariable],
    learning_rate: Rate = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    weight_decay: float = 1e-2,
) -> Updates:
    """Adam with weights that decay, ``param -= learning_rate * weight_decay * param``.

    Loshchilov and Hutter, Decoupled weight decay regularization, 2019.

    The updates are for ``symc.function(..., updates=...)``, with state of the parameters' shapes.

    >>> import symc
    >>> w = symc.shared(1.0)
    >>> step = symc.function([], w * w, updates=symc.optim.adamw(w * w, [w], 0.1), mode="python")
    >>> [round(float(step()), 6) for _ in range(3)]
    [1.0, 0.808201, 0.637633]
    """
    return _adam("adamw", loss, params, learning_rate, (beta1, beta2), epsilon, weight_decay)


def _adam(
    label: str,
    loss: Loss,
    params: Sequence[SharedVariable],
    learning_rate: Rate,
    betas: tuple[float, float],
    epsilon: float,
    weight_decay: float,
) -> Updates:
    check_fractions(label, beta1=betas[0], beta2=betas[1])
    step = counted(params)
    rate = pace(learning_rate, params, step)
    updates = list(step.updates)
    for param, gradient in zip(params, gradients(loss, params), strict=True):
        mean, squares = memory(param, "mean"), memory(param, "squares")
        middle = betas[0] * mean + (1 - betas[0]) * gradient
        spread = betas[1] * squares + (1 - betas[1]) * T.sqr(gradient)
        root = T.sqrt(spread * _correction(betas[1], step, param))
        change = middle * _correction(betas[0], step, param) / (root + epsilon)
        if weight_decay:
            change = change + weight_decay * param
        updates += [(mean, middle), (squares, spread), (param, param - rate.of(param) * change)]
    return updates


def adamax(
    loss: Loss,
    params: Sequence[SharedVariable],
    learning_rate: Rate = 2e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
) -> Updates:
    """Adamax (Kingma, Ba 2015, algorithm 2): sizes of gradients by their largest, not by squares.

    `epsilon` is added to the sizes, so that gradients of 0 divide by something.

    The updates are for ``symc.function(..., updates=...)``, with state of the parameters' shapes.

    >>> import symc
    >>> w = symc.shared(1.0)
    >>> step = symc.function([], w * w, updates=symc.optim.adamax(w * w, [w], 0.1), mode="python")
    >>> [round(float(step()), 6) for _ in range(3)]
    [1.0, 0.81, 0.648296]
    """
    check_fractions("adamax", beta1=beta1, beta2=beta2)
    step = counted(params)
    rate = pace(learning_rate, params, step)
    updates = list(step.updates)
    for param, gradient in zip(params, gradients(loss, params), strict=True):
        mean, size = memory(param, "mean"), memory(param, "size")
        middle = beta1 * mean + (1 - beta1) * gradient
        largest = T.maximum(beta2 * size, abs(gradient) + epsilon)
        change = middle * _correction(beta1, step, param) / largest
        updates += [(mean, middle), (size, largest), (param, param - rate.of(param) * change)]
    return updates


def lion(
    loss: Loss,
    params: Sequence[SharedVariable],
    learning_rate: Rate = 1e-4,
    beta1: float = 0.9,
    beta2: float = 0.99,
    weight_decay: float = 0.0,
) -> Updates:
    """Lion: steps of one size for all elements, in the direction of a running mean's sign.

    The mean of a step weighs the one before by `beta1`, the mean that is kept by `beta2`. Weights
    decay as in `adamw`. Chen et al., Symbolic discovery of optimization algorithms, 2023.

    The updates are for ``symc.function(..., updates=...)``, with state of the parameters' shapes.
    Raises `ValueError` for a `beta1` or `beta2` that is not from 0 to below 1.

    >>> import symc
    >>> w = symc.shared(1.0)
    >>> step = symc.function([], w * w, updates=symc.optim.lion(w * w, [w], 0.1), mode="python")
    >>> [round(float(step()), 6) for _ in range(3)]
    [1.0, 0.81, 0.64]
    """
    check_fractions("lion", beta1=beta1, beta2=beta2)
    rate = pace(learning_rate, params)
    updates = list(rate.updates)
    for param, gradient in zip(params, gradients(loss, params), strict=True):
        mean = memory(param, "mean")
        change = T.sign(beta1 * mean + (1 - beta1) * gradient)
        if weight_decay:
            change = change + weight_decay * param
        kept = beta2 * mean + (1 - beta2) * gradient
        updates += [(mean, kept), (param, param - rate.of(param) * change)]
    return updates


def _correction(beta: float, step: CountedStep, param: SharedVariable) -> Tensor:
    """The factor by which a running mean that started from 0 is too small."""
    return T.cast(1 / (1 - T.pow(beta, step.number)), param.dtype)
