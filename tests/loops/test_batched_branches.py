"""Branches that leave a loop, for all steps at once: lengths inside are those of what is given."""

from __future__ import annotations

from typing import Any

import numpy as np

import symc
import symc.tensor as T

X = T.matrix("x")
VALUE = np.random.default_rng(0).random((3, 3))


def test_lengths_of_the_zeros_of_a_side_that_is_not_taken() -> None:
    """A gradient through such a branch did not compile: zeros had the lengths of a slot."""

    def step(v: Any) -> Any:
        product = T.dot(v, v)
        return [symc.ifelse(T.sum(product) > 0.2, v, v + product), v * 0.5]

    (chosen, _), _ = symc.scan(step, outputs_info=[None, X], n_steps=4)
    cost = (chosen.sum(axis=(1, 2)) * np.arange(1.0, 5.0)).sum()
    got = symc.function([X], symc.grad(cost, X))(VALUE)
    eager = symc.function([X], symc.grad(cost, X), mode="python")(VALUE)
    np.testing.assert_allclose(got, eager, rtol=1e-12)

    def value(x: Any) -> float:
        total = 0.0
        for factor in range(1, 5):
            product = x @ x
            total += factor * (x if product.sum() > 0.2 else x + product).sum()
            x = x * 0.5
        return float(total)

    for place in [(0, 0), (1, 2)]:
        e = np.zeros((3, 3))
        e[place] = 1e-6
        want = (value(VALUE + e) - value(VALUE - e)) / 2e-6
        np.testing.assert_allclose(got[place], want, rtol=1e-6)


def test_a_side_that_needs_only_a_length_of_what_differs() -> None:
    rows = T.tensor3("rows")
    flags = T.vector("flags")

    def one(flag: Any, row: Any) -> Any:
        return symc.ifelse(flag > 0, row, T.zeros(row.shape) + row.shape[0])

    out = T.vectorize(one, signature="(),(n,m)->(n,m)")(flags, rows)
    f = symc.function([flags, rows], out)
    given = np.arange(24.0).reshape(2, 4, 3)
    np.testing.assert_array_equal(f([1, 0], given), [given[0], np.full((4, 3), 4.0)])
