"""Arrays whose lengths are computed: by arithmetic of lengths, by numbers, by both."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.graph.node import Tensor

LENGTHS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "a square": lambda n, _: T.sqr(n),
    "a cube": lambda n, _: n**3,
    "a square of a number": lambda _, k: k * k,
    "both": lambda n, k: T.sqr(k) + n * n,
    "a choice": lambda n, k: T.where(k > 2, k, n),
    "a product of extremes": lambda n, k: T.maximum(k, n) * T.maximum(k, n),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_arrays_of_computed_lengths(name: str) -> None:
    v, k = T.vector("v"), T.scalar("k", dtype="int64")
    z = T.concatenate([T.zeros((LENGTHS[name](v.shape[0], k),)), v])[::-1].inc(1.0)
    z = z[1:].set(T.exp(z[1:]))
    total = T.sort(z).sum() + (z * T.arange(z.shape[0])).sum()
    outputs = [total, symc.grad(total, v), z.shape[0]]
    values = np.array([0.5, 1.5, -2.0]), 3
    wanted = symc.function([v, k], outputs, mode="python", on_unused_input="ignore")(*values)
    found = symc.function([v, k], outputs, on_unused_input="ignore")(*values)
    for value, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-13)


def test_a_diagonal_of_unknown_length_has_a_gradient() -> None:
    """Seed 5500018 of gradients: the square of a length, rewritten, was in no declaration."""
    v = T.vector("v")
    filled = T.nanquantile(T.fill_diagonal(T.diagflat(v, -1), 3), 0.3, axis=-2)
    cost = T.sum(T.repeat(filled, 2) * np.arange(6.0))
    outputs = [cost, symc.grad(cost, v)]
    for mode in ("python", "default"):
        found = symc.function([v], outputs, mode=mode)(np.ones(2))
        np.testing.assert_allclose(found[0], 0.6 * (0 + 1 + 2 + 3))
        np.testing.assert_allclose(found[1], 0.6 * np.array([0 + 1, 2 + 3]))
