"""Schedules: what is computed where it is read, without an array between."""

from __future__ import annotations

import numpy as np

import symc
from symc import tensor as T
from tests.test_schedule import F4, code, stages, temps


def test_masks_between_two_numbers_are_computed_where_they_are_read() -> None:
    """The numbers are divided once, before the loops, and not for each element: means of the
    elements in each of forty rings were stored as bytes in between, in three times JAX's time."""
    x, y, k = T.vector("x"), T.vector("y"), T.scalar("k")
    mask = (k * 3.0 / 7.0 <= y) & (y < k * 5.0 / 7.0)
    made = stages([x, y, k], T.where(mask, x, 0.0).sum() / T.cast(mask, "float64").sum())
    assert temps(made, 1) == [name for name in temps(made, 1) if name.startswith("partial")]
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 50))
    found = symc.function([x, y, k], T.where(mask, x, 0.0).sum())(a, b, 1.4)
    np.testing.assert_allclose(found, a[(b >= 0.6) & (b < 1.0)].sum())


def test_folds_of_few_elements_are_written_out() -> None:
    """Of four elements under each other, without a row for their running values."""
    x = T.tensor("float32", (None, 2, 2, None), "x")
    for fold in (T.max, T.sum, T.min, T.prod):
        made = stages([x], fold(x, axis=(1, 2)))
        assert " sums" not in code(made)
        assert "vector" in code(made)
    few = np.random.default_rng(0).random((3, 2, 2, 5)).astype(F4)
    np.testing.assert_allclose(
        symc.function([x], x.sum(axis=(1, 2)))(few), few.sum(axis=(1, 2)), 1e-6
    )
