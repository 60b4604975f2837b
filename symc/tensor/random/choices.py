"""Choosing among given things: by probabilities, how often each, and in which order."""

from __future__ import annotations

import math
from typing import Any

from symc.codegen.dtypes import FLOAT64, INT64
from symc.errors import RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.inputs import as_tensor, constant_value
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.broadcast import describe
from symc.tensor.build import zeros_like
from symc.tensor.checked import Checked
from symc.tensor.elementwise import cast_to
from symc.tensor.logic import where
from symc.tensor.random.draw import draw
from symc.tensor.random.keys import fold_in
from symc.tensor.random.parameters import Shape, demand, refuse, shape_for
from symc.tensor.reduce import sum as total
from symc.tensor.reshape import reshape
from symc.tensor.shape import concatenate, stack
from symc.tensor.softmaxes import softmax
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
        chances = weights("categorical", p)
    elif logits is not None and p is None:
        chances = softmax(_vector("categorical", logits))
    else:
        raise TypeError("categorical needs either p= or logits=")
    heaps = cumsum(chances, axis=-1)
    name = "p" if logits is None else "exp(logits)"
    whole = expand_dims(_possible(f"categorical: the sum of {name}", chances, heaps[..., -1]), -1)
    shape = _leading("categorical", size, chances)
    u = draw("random_uniform", key, shape, label="categorical")
    # u is below 1, so that its product with the whole is below that, also when it is rounded.
    spot = expand_dims(u, -1) * whole
    return total(cast_to(OPERATORS["le"](heaps, spot), INT64), axis=-1)


def multinomial(key: Tensor, n: TensorLike, pvals: TensorLike, size: Any = None) -> Tensor:
    """How often each category comes up in `n` trials: a new last axis, whose sum is `n`.

    `pvals` has the probabilities, up to a factor, along its last axis, whose length must be known
    when the graph is built. `size` is the shape without that axis.

    int64. Raises ShapeMismatch where the number of categories is not known.

    >>> import symc.tensor as T
    >>> T.random.multinomial(T.random.key(0), 10, [0.5, 0.3, 0.2]).eval()
    array([5, 3, 2])
    """
    shares = weights("multinomial", pvals, "pvals")
    count = demand("multinomial", "n", as_tensor(n), lambda n: n >= 0, "at least 0")
    kinds = shares.type.shape[-1]
    if not isinstance(kinds, int):
        raise ShapeMismatch(
            "multinomial: the number of categories must be known when the graph is built\n"
            f"  given  {describe(shares)}\n  declare it: T.tensor(shape=(None, 3))"
        )
    shape = _leading("multinomial", size, shares, count)
    counts = expand_dims(broadcast_to(cast_to(count, INT64), shape), -1)
    # Halves of all categories share the trials, then quarters, and so on: a tree of binomial
    # numbers, of few levels, instead of a chain.
    levels = _halved(shares, kinds)
    levels[-1] = _possible("multinomial: the sum of pvals", shares, levels[-1])
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


def _halved(shares: Tensor, kinds: int) -> list[Tensor]:
    """The shares, their sums in pairs, those in fours ..., until there is one."""
    levels = [shares]
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


def weights(label: str, p: TensorLike, name: str = "p") -> Tensor:
    """Probabilities along the last axis, up to a factor."""
    chances = demand(label, name, _vector(label, p), lambda p: p >= 0, "at least 0")
    refuse(label, f"the sum of {name}", chances, lambda p: _is_whole(p.sum(axis=-1)), _WHOLE)
    return chances


_WHOLE = "above 0 and finite"


def _is_whole(total: Any) -> Any:
    return (total > 0) & (total < math.inf)


def _possible(name: str, chances: Tensor, whole: Tensor) -> Tensor:
    """The sum of all probabilities, by which they are divided."""
    if constant_value(chances) is not None:
        return whole
    return Checked(f"{name} must be {_WHOLE}")(whole, _is_whole(whole))


def _leading(label: str, size: Any, chances: Tensor, *others: Tensor) -> Shape:
    """The shape of the result: `size`, or that of the parameters without the categories' axis."""
    return shape_for(label, size, [chances[..., 0], *others])
