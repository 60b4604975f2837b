"""Training: from a loss to a function that learns, and the loop that calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

import symc.tensor as T
from symc import optim
from symc.calls.callable import Function
from symc.calls.function import function
from symc.graph.node import Tensor
from symc.nets.weights import Weights

Scores: TypeAlias = Callable[[Weights, Tensor], Tensor]


def learner(
    w: Weights, inputs: Sequence[Tensor], loss: Tensor, *, name: str, rate: float = 1e-3
) -> Function:
    """A `Function` from inputs to the loss that changes all weights by a step of Adam.

    >>> import numpy as np, symc, symc.tensor as T
    >>> w, x = symc.nets.Weights(), T.fmatrix("x")
    >>> loss = ((w.dense("out", T.specify_shape(x, (None, 2)), 1) - 1) ** 2).mean()
    >>> step = symc.nets.learner(w, [x], loss, name="step", rate=0.1)
    >>> first, last = [float(step(np.eye(2, dtype="float32"))) for _ in range(40)][:: 39]
    >>> last < 0.1 * first
    True
    """
    updates = [*optim.adam(loss, w.learned, rate), *w.updates]
    return function(list(inputs), loss, updates=updates, name=name)


def cross_entropy(scores: Tensor, right: Tensor) -> Tensor:
    """The mean cross-entropy between scores along the last axis and the right numbers."""
    return T.nnet.categorical_crossentropy(scores, right, from_logits=True, reduction="mean")


def classification(w: Weights, scores: Scores, images: Tensor, *, name: str) -> Function:
    """`learner` of the cross-entropy between scores of images and the right classes.

    `scores` is a function from the weights and images to a tensor (images, classes). The `Function`
    takes images and an integer vector of classes.

    >>> import numpy as np, symc.nets, symc.tensor as T
    >>> w, x = symc.nets.Weights(), T.fmatrix("x", (None, 2))
    >>> step = symc.nets.classification(w, lambda w, x: w.dense("out", x, 2), x, name="step")
    >>> first, last = [float(step(np.eye(2, dtype="f4"), [0, 1])) for _ in range(40)][::39]
    >>> last < first
    True
    """
    labels = T.lvector("labels")
    return learner(w, [images, labels], cross_entropy(scores(w, images), labels), name=name)


def train(step: Callable[..., Any], batches: Iterable[Sequence[Any]]) -> list[float]:
    """The losses of all batches as floats, while the function learns from one after the other.

    >>> from symc.nets import train
    >>> train(lambda x: x / 2, [[4.0], [2.0]])
    [2.0, 1.0]
    """
    return [float(np.asarray(step(*batch))) for batch in batches]
