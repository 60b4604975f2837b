"""Top-k, searches and bins by routines that do not sort: against NumPy and the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex
from symc.graph.interpreter import evaluate
from symc.tensor.sorting.order import KINDS
from symc.tensor.sorting.search import Bins
from tests.ops.test_sort import RNG, some


@pytest.mark.parametrize("dtype", KINDS)
def test_few_of_many_are_chosen_without_sorting_all(dtype: str) -> None:
    """Rows that fit into one pile, that fill it often, and that never do again."""
    x = T.tensor(dtype, (None, None))
    outputs = [T.topk(x, k, largest=most) for k in (0, 3, 200) for most in (True, False)]
    places = symc.function([x], [chosen for _, chosen in outputs], mode="compile")
    for length in (200, 250, 700, 9000):
        mixed = some(dtype, 2 * length).reshape(2, length)
        for given in (mixed, np.sort(mixed, axis=1), np.sort(mixed, axis=1)[:, ::-1].copy()):
            for found, (_, chosen) in zip(places(given), outputs, strict=True):
                (wanted,) = evaluate([chosen], {x: given})
                np.testing.assert_array_equal(found, wanted)


def test_too_few_for_topk() -> None:
    x = T.vector("x")
    f = symc.function([x], T.topk(T.exp(x), 3)[0], mode="compile")
    for length in (0, 2):
        with pytest.raises(BadIndex, match="topk: k must be from 0 to the number of elements"):
            f(np.zeros(length))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint64"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searches_of_sixteen_at_once(dtype: str, side: Any) -> None:
    a, v = T.tensor(dtype, (None,)), T.tensor(dtype, (None,))
    f = symc.function([a, v], T.searchsorted(a, v, side), mode="compile")
    for length in (0, 1, 2, 3, 7, 8, 9, 100):
        for count in (0, 1, 15, 16, 17, 40):
            numbers, values = np.sort(some(dtype, length)), some(dtype, count)
            np.testing.assert_array_equal(
                f(numbers, values), np.searchsorted(numbers, values, side)
            )


CLOSE = (1e10, 1e10 + 2e-4)
"""A range with 105 numbers of float64, of which only some can be edges."""


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize(
    ("bins", "limits"),
    [(33, None), (64, (0.0, 1.0)), (1000, (-3, 3.3)), (77, CLOSE), (100, (0.1, 0.1))],
)
def test_bins_of_equal_width_are_computed(dtype: str, bins: int, limits: Any) -> None:
    """Values on the edges, too, and edges that lie as close as numbers can."""
    if limits is CLOSE and dtype == "float32":
        limits = (1e10, 1e10 + 1e5)
    x = T.tensor(dtype, (None,))
    f = symc.function([x], T.histogram(x, bins, limits), mode="compile")
    values = (RNG.standard_normal(2000) * 2).astype(dtype)
    if limits is not None and dtype != "int32":
        odd = [np.nan, np.inf, -np.inf]
        values = np.concatenate([values, np.linspace(limits[0], limits[1], 500), odd]).astype(dtype)
    counts, edges = f(values)
    np.testing.assert_array_equal(counts, np.histogram(values, edges)[0])


@pytest.mark.parametrize("bins", [10, 50])
def test_values_on_edges_are_in_numpys_bins(bins: int) -> None:
    """Edges are rounded as NumPy's are: their products and sums are not one instruction."""
    x, low, high = T.vector("x"), T.scalar("low"), T.scalar("high")
    f = symc.function([x, low, high], T.histogram(x, bins, (low, high)))  # at -O3
    for first in RNG.normal(size=20).tolist():
        limits = (first - 1.1, first + 2.3)
        values = np.linspace(*limits, bins + 1)
        counts, edges = f(values, *limits)
        np.testing.assert_array_equal(edges, values)
        np.testing.assert_array_equal(counts, np.histogram(values, bins, limits)[0])


def test_a_range_that_vanishes_has_bins() -> None:
    edges, values = T.vector("edges"), T.vector("values")
    for numbers in (np.full(40, 3.0), np.linspace(-8e307, 8e307, 40), np.arange(40) * 5e-324):
        given = np.array([-np.inf, -1.0, 0.0, 5e-324, 3.0, 4.0, 1e308, np.inf, np.nan])
        bins = Bins(uniform=True)(edges, values)
        (wanted,) = evaluate([bins], {edges: numbers, values: given})
        found = symc.function([edges, values], bins, mode="compile")(numbers, given)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bins_between_edges_of_any_kind(dtype: str) -> None:
    """A few in a cell of the grid, many, on top of each other, and where there is no grid."""
    edges, values = T.tensor(dtype, (None,), "edges"), T.tensor(dtype, (None,), "values")
    bins = Bins(uniform=False)(edges, values)
    f = symc.function([edges, values], bins, mode="compile")
    far = np.inf
    for numbers in (RNG.normal(size=60), np.geomspace(1e-30, 1e30, 50), np.full(9, 3.0), [1.0, 2.0],
                    np.repeat([0.0, 1.0, 2.0], 3), [-far, 0.0, far], [-far, -far, 1.0, far],
                    [far, far, far], [0.0, 1.0, 1e38], [], [1], RNG.normal(size=999)):  # fmt: skip
        ends = np.sort(np.asarray(numbers, dtype))
        given = np.concatenate([RNG.normal(size=700) * 2, [-far, far, np.nan, 3.0], ends])
        given = given.astype(dtype)
        (wanted,) = evaluate([bins], {edges: ends, values: given})
        np.testing.assert_array_equal(f(ends, given), wanted)


@pytest.mark.parametrize("mode", ["compile", "python"])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_two_edges_have_no_bins(count: int, mode: str) -> None:
    """An element of the empty counts was read."""
    values, edges, weights = T.vector("values"), T.vector("edges"), T.vector("weights")
    given = np.array([0.0, 1.0, 1.0, 2.0, np.nan])
    for at in (np.ones(count), np.array([1.0, 2.0])[:count]):
        results = [*T.histogram(values, edges, weights=weights), T.histogram(values, edges)[0],
                   T.histogram(values, at)[0]]  # fmt: skip
        f = symc.function([values, edges, weights], results, mode=mode)
        plain, ends = np.histogram(given, at)
        heavy = np.histogram(given, at, weights=given + 1)[0]
        for found, wanted in zip(f(given, at, given + 1), [heavy, ends, plain, plain], strict=True):
            np.testing.assert_array_equal(found, wanted)
