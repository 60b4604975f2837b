"""`vmap` of random functions against a call for each element of the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.graph.node import Tensor

Line = Callable[[Tensor, Tensor, Tensor], Any]  # of a vector, an integer and a key: a vector
random = T.random

LINES: list[Line] = [
    lambda v, i, key: T.sin(v) * 2,
    lambda v, i, key: v - v.mean(),
    lambda v, i, key: T.sort(v)[::-1],
    lambda v, i, key: T.roll(v, i),
    lambda v, i, key: v * T.searchsorted(T.sort(v), 0.0),
    lambda v, i, key: v[i % v.shape[0]].set(7.0),
    lambda v, i, key: v[T.argsort(v)],
    lambda v, i, key: symc.grad((v**2).sum() * T.sin(v).sum(), v),
    lambda v, i, key: symc.fori_loop(0, T.abs(i) % 4, lambda j, s: s * 0.5 + j, v),
    lambda v, i, key: symc.while_loop(
        lambda s: T.lt(T.abs(s).sum(), 50.0), lambda s: s * 2 + 1, v, max_steps=20
    ),
    lambda v, i, key: symc.scan(lambda a, b: a + 0.5 * b, sequences=v, outputs_info=0.0)[0],
    lambda v, i, key: symc.fori_loop(
        0, v.shape[0],
        lambda j, s: symc.ifelse(T.gt(s[j], 0), s[j].set(s[j] * 2), s[j - 1].inc(1.0)), v,
    ),
    lambda v, i, key: symc.ifelse(T.lt(i, v.shape[0]) & T.ge(i, 0), v * 0 + v[i], v + 1),
    lambda v, i, key: symc.ifelse(T.gt(v.sum(), 0), T.cumsum(v), -v),
    lambda v, i, key: v + random.normal(random.fold_in(key, i), size=v.shape[0]),
    lambda v, i, key: v[random.permutation(random.fold_in(key, i), v.shape[0])],
]  # fmt: skip


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 300))]
)
def test_a_batch_is_its_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = [LINES[int(n)] for n in rng.integers(0, len(LINES), rng.integers(1, 4))]
    batch, length = int(rng.choice([0, 1, 2, 5, 17])), int(rng.choice([1, 2, 3, 9]))
    rows, numbers = rng.normal(size=(batch, length)).round(2), rng.integers(-6, 7, batch)
    x, k, v, i, key = T.matrix("x"), T.lvector("k"), T.vector("v"), T.lscalar("i"), random.key(seed)

    def value(v: Tensor, i: Tensor) -> Tensor:
        for line in lines:
            v = line(v, i, key)
        return v

    whole, one = symc.vmap(value)(x, k), value(v, i)
    results = [whole, symc.grad((whole * whole).sum(), x)]
    alone = [one, symc.grad((one * one).sum(), v)]
    mode = "python" if seed % 4 == 3 else "default"
    found = symc.function([x, k], results, on_unused_input="ignore", mode=mode)(rows, numbers)
    each = symc.function([v, i], alone, on_unused_input="ignore", mode="python")
    wanted = [each(row, number) for row, number in zip(rows, numbers, strict=True)]
    for result, *parts in zip(found, *wanted, strict=True):
        expected = np.stack(parts) if parts else np.zeros((0, length))
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)
