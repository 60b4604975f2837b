"""Branches that leave a loop, for all steps at once: lengths inside are those of what is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex

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


def test_what_some_steps_need_of_each_element_is_read_in_vain_by_none() -> None:
    """An index was out of range for elements whose steps never take the side that reads there."""
    x, limits = T.vector("x"), T.vector("limits")
    places, starts = T.lvector("places"), T.vector("starts")

    def one(limit: Any, place: Any, start: Any) -> Any:
        def step(i: Any, total: Any) -> Any:
            return symc.ifelse(limit > 0.5, total * 0.5 + x[place], total + i)

        return symc.fori_loop(0, x.shape[0], step, start)

    f = symc.function([x, limits, places, starts], symc.vmap(one)(limits, places, starts))
    given = np.arange(1.0, 4.0)
    np.testing.assert_array_equal(
        f(given, [0.0, 1.0, 0.0], [7, 2, -9], [1.0, 2.0, 3.0]), [4, 5.5, 6]
    )
    with pytest.raises(BadIndex):
        f(given, [0.0, 1.0, 0.0], [7, 3, -9], [1.0, 2.0, 3.0])


def test_elements_of_other_numbers_of_steps_read_nothing_in_vain() -> None:
    x, counts, places = T.vector("x"), T.lvector("counts"), T.lvector("places")

    def one(count: Any, place: Any) -> Any:
        def step(i: Any, total: Any) -> Any:
            return symc.ifelse(T.ge(i, x.shape[0]), total + x[place], total + 1)

        return symc.fori_loop(0, count, step, 0.0)

    f = symc.function([x, counts, places], symc.vmap(one)(counts, places))
    np.testing.assert_array_equal(f([5.0, 7.0], [1, 3, 2, 0], [9, 1, 9, 9]), [1, 9, 2, 0])
    with pytest.raises(BadIndex):
        f([5.0, 7.0], [1, 3, 2, 0], [9, 2, 9, 9])
