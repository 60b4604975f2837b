"""Stochastic gradient descent, with momentum if wanted."""

from __future__ import annotations

from collections.abc import Sequence

from symc.graph.inputs import SharedVariable
from symc.optim.common import Loss, Rate, Updates, gradients, memory, pace

__all__ = ["sgd"]


def sgd(
    loss: Loss,
    params: Sequence[SharedVariable],
    learning_rate: Rate,
    momentum: float = 0.0,
    nesterov: bool = False,
) -> Updates:
    """A step along the gradient, ``param -= learning_rate * gradient``.

    With `momentum` it is along the sum of all gradients so far, each weighed by
    ``momentum ** age``; with `nesterov` momentum, from where the momentum alone would lead
    (Sutskever et al., On the importance of initialization and momentum in deep learning, 2013).

    The updates are for ``symc.function(..., updates=...)``. `learning_rate` may be a scalar tensor
    or a schedule.

    >>> import symc
    >>> w = symc.shared(1.0)
    >>> step = symc.function([], w * w, updates=symc.optim.sgd(w * w, [w], 0.25))
    >>> [float(step()) for _ in range(3)]
    [1.0, 0.25, 0.0625]
    """
    if nesterov and not momentum:
        raise ValueError("sgd: Nesterov's momentum needs momentum=")
    rate = pace(learning_rate, params)
    updates = list(rate.updates)
    for param, gradient in zip(params, gradients(loss, params), strict=True):
        if not momentum:
            updates.append((param, param - rate.of(param) * gradient))
            continue
        velocity = memory(param, "velocity")
        faster = momentum * velocity + gradient
        direction = gradient + momentum * faster if nesterov else faster
        updates += [(velocity, faster), (param, param - rate.of(param) * direction)]
    return updates
