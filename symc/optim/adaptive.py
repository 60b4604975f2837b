"""Descent with a rate of its own for each element, by the sizes of its gradients so far."""

from __future__ import annotations

from collections.abc import Sequence

from symc import tensor as T
from symc.graph.inputs import SharedVariable
from symc.optim.common import Loss, Rate, Updates, check_fractions, gradients, memory, pace

__all__ = ["adadelta", "adagrad", "rmsprop"]


def adagrad(
    loss: Loss,
    params: Sequence[SharedVariable],
    learning_rate: Rate = 1e-2,
    epsilon: float = 1e-10,
) -> Updates:
    """Adagrad (Duchi, Hazan, Singer 2011): divides by the root of the sum of squared gradients.

    The updates are for ``symc.function(..., updates=...)``, with state of the parameters' shapes.

    >>> import symc
    >>> w = symc.shared(1.0)
    >>> step = symc.function([], w * w, updates=symc.optim.adagrad(w * w, [w], 0.1), mode="python")
    >>> [round(float(step()), 6) for _ in range(3)]
    [1.0, 0.81, 0.694061]
    """
    rate = pace(learning_rate, params)
    updates = list(rate.updates)
    for param, gradient in zip(params, gradients(loss, params), strict=True):
        squares = memory(param, "squares")
        more = squares + T.sqr(gradient)
        step = rate.of(param) * gradient / (T.sqrt(more) + epsilon)
        updates += [(squares, more), (param, param - step)]
    return updates


def rmsprop(
    loss: Loss,
    params: Sequence[SharedVariable],
    learning_rate: Rate = 1e-2,
    decay: float = 0.99,
    epsilon: float = 1e-8,
    momentum: float = 0.0,
    centered: bool = False,
) -> Updates:
    """RMSProp (Tieleman, Hinton 2012): divides by the root of a running mean of squared gradients.

    With `centered` by their deviation from a running mean of the gradients (Graves 2013), and with
    `momentum` steps add up as in `sgd`.

    The updates are for ``symc.function(..., updates=...)``, with state of the parameters' shapes.

    >>> import symc
    >>> w = symc.shared(1.0)
    >>> step = symc.function([], w * w, updates=symc.optim.rmsprop(w * w, [w]), mode="python")
    >>> [round(float(step()), 6) for _ in range(3)]
    [1.0, 0.81, 0.693752]
    """
    check_fractions("rmsprop", decay=decay)
    rate = pace(learning_rate, params)
    updates = list(rate.updates)
    for param, gradient in zip(params, gradients(loss, params), strict=True):
        squares = memory(param, "squares")
        spread = decay * squares + (1 - decay) * T.sqr(gradient)
        updates.append((squares, spread))
        if centered:
            mean = memory(param, "mean")
            middle = decay * mean + (1 - decay) * gradient
            updates.append((mean, middle))
            spread = T.maximum(spread - T.sqr(middle), 0.0)
        step = gradient / (T.sqrt(spread) + epsilon)
        if momentum:
            velocity = memory(param, "velocity")
            step = momentum * velocity + step
            updates.append((velocity, step))
        updates.append((param, param - rate.of(param) * step))
    return updates


def adadelta(
    loss: Loss,
    params: Sequence[SharedVariable],
    learning_rate: Rate = 1.0,
    decay: float = 0.95,
    epsilon: float = 1e-6,
) -> Updates:
    """Adadelta (Zeiler 2012): steps as large as they were, relative to gradients as they were.

    The updates are for ``symc.function(..., updates=...)``, with state of the parameters' shapes.

    >>> import symc
    >>> w = symc.shared(1.0)
    >>> step = symc.function([], w * w, updates=symc.optim.adadelta(w * w, [w]), mode="python")
    >>> [round(float(step()), 6) for _ in range(3)]
    [1.0, 0.991076, 0.982098]
    """
    check_fractions("adadelta", decay=decay)
    rate = pace(learning_rate, params)
    updates = list(rate.updates)
    for param, gradient in zip(params, gradients(loss, params), strict=True):
        squares, steps = memory(param, "squares"), memory(param, "steps")
        spread = decay * squares + (1 - decay) * T.sqr(gradient)
        step = gradient * T.sqrt(steps + epsilon) / T.sqrt(spread + epsilon)
        updates += [
            (squares, spread),
            (steps, decay * steps + (1 - decay) * T.sqr(step)),
            (param, param - rate.of(param) * step),
        ]
    return updates
