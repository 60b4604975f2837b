"""Choosing among given things: by probabilities, how often each, and in which order."""

from __future__ import annotations

from typing import Any

from symc import dims
from symc.codegen.dtypes import FLOAT64, INT64
from symc.errors import RankError, ShapeMismatch
from symc.graph import OPERATORS, Tensor, TensorLike
from symc.inputs import as_tensor
from symc.tensor.broadcast import describe
from symc.tensor.build import zeros_like
from symc.tensor.elementwise import cast_to
from symc.tensor.logic import where
from symc.tensor.random.draw import draw
from symc.tensor.random.keys import fold_in
from symc.tensor.random.parameters import Shape, refuse, shape_for
from symc.tensor.reduce import sum as total
from symc.tensor.reshape import reshape
from symc.tensor.shape import concatenate, stack
from symc.tensor.softmax import softmax
from symc.tensor.sweep import cumsum
from symc.tensor.views import broadcast_to, expand_dims

__all__ = ["categorical", "multinomial"]


def categorical(
    key: Tensor,
    p: TensorLike | None = None,
    size: Any = None,
    *,
    logits: TensorLike | None = None,
) -> Tensor:
    """The number of a category, chosen with the probabilities along the last axis of `p`.

    Give the probabilities, up to a factor, or their logarithms as `logits`. `size` is the shape of
    the result, by default that of `p` without its last axis, which must broadcast to it.

    >>> import symc.tensor as T
    >>> T.random.categorical(T.random.key(0), [0.0, 1.0, 0.0], size=3).eval()
    array([1, 1, 1])
    """
    if p is not None and logits is None:
        chances = _weights("categorical", p)
    elif logits is not None and p is None:
        chances = softmax(_vector("categorical", logits))
    else:
        raise TypeError("categorical needs either p= or logits=")
    heaps = cumsum(chances, axis=-1)
    shape = _leading("categorical", size, chances)
    u = draw("random_uniform", key, shape, label="categorical")
    # u is below 1, so that its product with the whole is below that, also when it is rounded.
    spot = expand_dims(u, -1) * heaps[..., -1:]
    return total(cast_to(OPERATORS["le"](heaps, spot), INT64), axis=-1)


def multinomial(key: Tensor, n: TensorLike, pvals: TensorLike, size: Any = None) -> Tensor:
    """How often each category comes up in `n` trials: a new last axis, whose sum is `n`.

    `pvals` has the probabilities, up to a factor, along its last axis, whose length must be known
    when the graph is built. `size` is the shape without that axis.
    """
    weights = _weights("multinomial", pvals)
    count = as_tensor(n)
    kinds = weights.type.shape[-1]
    if not isinstance(kinds, int):
        raise ShapeMismatch(
            "multinomial: the number of categories must be known when the graph is built\n"
            f"  given  {describe(weights)}\n  declare it: T.tensor(shape=(None, 3))"
        )
    shape = _leading("multinomial", size, weights, count)
    counts = expand_dims(broadcast_to(cast_to(count, INT64), shape), -1)
    # Halves of all categories share the trials, then quarters, and so on: a tree of binomial
    # numbers, of few levels, instead of a chain.
    levels = _halved(weights, kinds)
    for level in range(len(levels) - 1, 0, -1):
        left = levels[level - 1][..., ::2]
        here = left.type.shape[-1]
        whole, counts = levels[level][..., :here], counts[..., :here]
        share = where(whole > 0, left / where(whole > 0, whole, 1.0), 0.0)
        lengths, branch = (*shape, here), fold_in(key, level)
        below = draw("random_binomial", branch, lengths, counts, share, label="multinomial")
        pairs = stack([below, counts - below], axis=-1)
        counts = reshape(pairs, (*shape, dims.mul(here, 2)))
    return counts[..., :kinds]


def _halved(weights: Tensor, kinds: int) -> list[Tensor]:
    """The weights, their sums in pairs, those in fours ..., until there is one."""
    levels = [weights]
    while kinds > 1:
        if kinds % 2:
            empty = zeros_like(levels[-1][..., :1])
            levels[-1] = concatenate([levels[-1], empty], axis=-1)
        kinds = (kinds + 1) // 2
        levels.append(levels[-1][..., ::2] + levels[-1][..., 1::2])
    return levels


def _vector(label: str, values: TensorLike) -> Tensor:
    tensor = cast_to(as_tensor(values), FLOAT64)
    if not tensor.ndim:
        raise RankError(f"{label}: probabilities need an axis\n  given  {describe(tensor)}")
    return tensor


def _weights(label: str, p: TensorLike) -> Tensor:
    weights = _vector(label, p)
    refuse(label, "p", weights, lambda value: value >= 0, "at least 0")
    return weights


def _leading(label: str, size: Any, weights: Tensor, *others: Tensor) -> Shape:
    """The shape of the result: `size`, or that of the parameters without the categories' axis."""
    return shape_for(label, size, [weights[..., 0], *others])
