"""Programs whose lengths are declared go the ways of those whose lengths are unknown.

Declared lengths made some of them slower by far: passes left constants alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T


def pooled(x: Any) -> Any:
    """The greatest of each 2 x 2 in pictures, set one after the other."""
    n, rows, columns, _ = x.shape

    def row(i: Any, out: Any) -> Any:
        def column(j: Any, out: Any) -> Any:
            part = x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :]
            return out[:, i, j, :].set(part.max(axis=(1, 2)))

        return symc.fori_loop(0, columns // 2, column, out)

    begun = T.zeros((n, rows // 2, columns // 2, x.shape[3]))
    return symc.fori_loop(0, rows // 2, row, begun)


def pooled_numpy(x: Any) -> Any:
    n, rows, columns, c = x.shape
    return x.reshape(n, rows // 2, 2, columns // 2, 2, c).max(axis=(2, 4))


def filtered(x: Any) -> Any:
    """Each column from the one before, and back."""
    n = x.shape[1]

    def forth(j: Any, y: Any) -> Any:
        return y[:, j + 1].set(y[:, j + 1] + 0.5 * y[:, j])

    def back(j: Any, y: Any) -> Any:
        return y[:, n - 2 - j].set(y[:, n - 2 - j] - 0.25 * y[:, n - 1 - j])

    return symc.fori_loop(0, n - 1, back, symc.fori_loop(0, n - 1, forth, x))


def filtered_numpy(x: Any) -> Any:
    y, n = x.copy(), x.shape[1]
    for j in range(n - 1):
        y[:, j + 1] += 0.5 * y[:, j]
    for j in range(n - 1):
        y[:, n - 2 - j] -= 0.25 * y[:, n - 1 - j]
    return y


def of_neighbours(x: Any) -> Any:
    """Each column from that of the row above: rows meet."""

    def forth(j: Any, y: Any) -> Any:
        return y[1:, j + 1].set(y[1:, j + 1] + 0.5 * y[:-1, j])

    return symc.fori_loop(0, x.shape[1] - 1, forth, x)


def of_neighbours_numpy(x: Any) -> Any:
    y = x.copy()
    for j in range(x.shape[1] - 1):
        y[1:, j + 1] += 0.5 * y[:-1, j]
    return y


def chosen(x: Any) -> Any:
    """Sums of rows that each row of a matrix chooses."""
    return x[T.constant(np.arange(60).reshape(6, 10) % 5 - 2)].sum(axis=1)


def chosen_numpy(x: Any) -> Any:
    return x[np.arange(60).reshape(6, 10) % 5 - 2].sum(axis=1)


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[tuple[int, ...]]]] = {
    "pooled": (pooled, pooled_numpy, [(2, 4, 6, 8), (1, 2, 2, 3), (3, 6, 4, 5), (2, 4, 4, 9)]),
    "filtered": (filtered, filtered_numpy, [(3, 2), (5, 17), (40, 5), (33, 40), (16, 512)]),
    "of neighbours": (of_neighbours, of_neighbours_numpy, [(3, 5), (40, 20), (17, 33)]),
    "chosen rows": (chosen, chosen_numpy, [(5, 2), (5, 8), (5, 17), (5, 40)]),
    "running sums": (lambda x: T.cumsum(x, axis=1), lambda x: x.cumsum(1),
                     [(3, n) for n in (0, 1, 5, 7, 8, 9, 11, 40, 43)]),
    "running maxima": (lambda x: T.cummax(x, axis=1), lambda x: np.maximum.accumulate(x, 1),
                       [(3, n) for n in (1, 5, 8, 9, 41)]),
    "extremes of columns": (lambda x: x.max(axis=0) - x.min(axis=0),
                            lambda x: x.max(0) - x.min(0),
                            [(7, 20), (8, 17), (9, 40), (11, 3), (300, 33)]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_declared_lengths_change_no_number(name: str) -> None:
    program, numpy, shapes = PROGRAMS[name]
    x = T.tensor("float64", (None,) * len(shapes[0]), "x")
    unknown = symc.function([x], program(x))
    for shape in shapes:
        given = np.random.default_rng(sum(shape)).normal(size=shape)
        x = T.tensor("float64", shape, "x")
        declared = symc.function([x], program(x))
        for f in (unknown, declared):
            np.testing.assert_allclose(f(given), numpy(given), rtol=1e-12, atol=1e-12)


def test_a_bug_pictures_of_eight_channels_took_six_times_as_long() -> None:
    """The channels were written out, and the four numbers of each folded in registers."""
    x = T.tensor("float64", (4, 56, 56, 8), "x")
    f = symc.function([x], pooled(x))
    kernels = f.source.split("/* ---- kernels ---- */")[1].split("/* ---- host ---- */")[0]
    assert kernels.count("#pragma omp simd") == 1
    assert "is_nan" not in kernels


def test_a_bug_columns_of_a_known_stride_were_gone_through_one_by_one() -> None:
    x = T.tensor("float64", (300, 300), "x")
    assert "row_in_strip" in symc.function([x], filtered(x)).source
    assert "row_in_strip" not in symc.function([x], of_neighbours(x)).source


def test_a_bug_an_index_into_a_known_length_was_compared_twice() -> None:
    """Products of sparse rows took 1.4 times as long as with lengths unknown."""
    starts = T.tensor("int64", (6,), "starts")
    places, values = T.tensor("int64", (20,), "places"), T.tensor("float64", (20,), "values")
    x = T.tensor("float64", (7,), "x")

    def row(i: Any, y: Any) -> Any:
        part = slice(starts[i], starts[i + 1])
        return y[i].set((values[part] * x[places[part]]).sum())

    f = symc.function([starts, places, values, x], symc.fori_loop(0, 5, row, T.zeros(5)))
    assert "symc_is_place(t, 7)" in f.source
    rng = np.random.default_rng(2)
    begin = np.array([0, 3, 3, 14, 15, 20])
    at, numbers, dense = rng.integers(-7, 7, 20), rng.normal(size=20), rng.normal(size=7)
    wanted = [(numbers[a:b] * dense[at[a:b]]).sum() for a, b in itertools.pairwise(begin)]
    np.testing.assert_allclose(f(begin, at, numbers, dense), wanted, rtol=1e-12)
    for wrong in (-8, 7, 2**62, -(2**63)):
        spoiled = at.copy()
        spoiled[17] = wrong
        with pytest.raises(IndexError):
            f(begin, spoiled, numbers, dense)
