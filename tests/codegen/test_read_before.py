"""Steps that read of other rows of what they write, and one of the elements that are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify

D = T.matrix("d")

Cell = Callable[[Any, Any, Any], Any]

UPDATES: dict[str, Cell] = {
    "paths": lambda own, left, above: (T if isinstance(own, symc.Tensor) else np).minimum(
        own, left + above
    ),
    "elimination": lambda own, left, above: own - 0.25 * left * above,
    "sum": lambda own, left, above: left + 0.5 * above,
}


def over_all(update: Cell, *, given: bool) -> Any:
    """``d[i, j] = update(d[i, j], d[i, k], d[k, j])`` for all k, i, j, or for i and k of a call."""
    i, k = T.lscalar("i"), T.lscalar("k")

    def row(i: Any, k: Any, d: Any) -> Any:
        def cell(j: Any, d: Any) -> Any:
            return d[i, j].set(update(d[i, j], d[i, k], d[k, j]))

        return symc.fori_loop(0, D.shape[1], cell, d)

    if given:
        return symc.function([D, i, k], row(i, k, D))
    n = D.shape[0]
    return symc.function(
        [D],
        symc.fori_loop(0, n, lambda k, d: symc.fori_loop(0, n, lambda i, d: row(i, k, d), d), D),
    )


def in_python(update: Cell, d: Any, i: int, k: int) -> None:
    for j in range(d.shape[1]):
        d[i, j] = update(d[i, j], d[i, k], d[k, j])


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("n", [1, 15, 16, 21])
def test_all_rows(name: str, n: int) -> None:
    f = over_all(UPDATES[name], given=False)
    given = np.random.default_rng(n).random((n, n)) / n
    wanted = given.copy()
    for k in range(n):
        for i in range(n):
            in_python(UPDATES[name], wanted, i, k)
    np.testing.assert_allclose(f(given), wanted, rtol=1e-12)
    verify(f.runner.compilation().optimised)


@pytest.mark.parametrize("name", UPDATES)
def test_one_row_from_any(name: str) -> None:
    f = over_all(UPDATES[name], given=True)
    for shape in ((3, 20), (20, 17), (4, 5)):
        given = np.random.default_rng(0).random(shape)
        given[1, 2] = np.nan
        for i in range(shape[0]):
            for k in range(min(shape)):
                wanted = given.copy()
                in_python(UPDATES[name], wanted, i, k)
                np.testing.assert_allclose(f(given, i, k), wanted, rtol=1e-12)


def test_rows_are_read_before_they_are_written_side_by_side() -> None:
    f = over_all(UPDATES["paths"], given=False)
    assert "meets" in f.source
    assert "omp simd" in f.source


def test_steps_that_read_what_the_step_before_has_written_stay_in_order() -> None:
    i, k = T.lscalar("i"), T.lscalar("k")

    def cell(j: Any, d: Any) -> Any:
        return d[i, j].set(d[i, j] + d[i, T.maximum(j - 1, 0)] + d[k, j])

    f = symc.function([D, i, k], symc.fori_loop(0, D.shape[1], cell, D))
    given = np.random.default_rng(0).random((3, 20))
    for first in range(3):
        for second in range(3):
            wanted = given.copy()
            for j in range(20):
                wanted[first, j] += wanted[first, max(j - 1, 0)] + wanted[second, j]
            np.testing.assert_allclose(f(given, first, second), wanted, rtol=1e-12)


def test_gauss_jordan_by_elements() -> None:
    n = D.shape[0]

    def pivot(k: Any, d: Any) -> Any:
        def row(i: Any, d: Any) -> Any:
            def cell(j: Any, d: Any) -> Any:
                return d[i, j].inc(-d[i, k] * d[k, j] / d[k, k])

            return symc.fori_loop(0, D.shape[1], cell, d)

        return symc.fori_loop(k + 1, n, row, d)

    f = symc.function([D], symc.fori_loop(0, n, pivot, D))
    given = np.random.default_rng(0).random((18, 20)) + 9 * np.eye(18, 20)
    wanted = given.copy()
    for k in range(18):
        for i in range(k + 1, 18):
            for j in range(20):
                wanted[i, j] -= wanted[i, k] * wanted[k, j] / wanted[k, k]
    np.testing.assert_allclose(f(given), wanted, rtol=1e-10, atol=1e-12)
    verify(f.runner.compilation().optimised)


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("shape", [(20, 20), (3, 17), (15, 15)])
def test_rows_of_known_length(name: str, shape: tuple[int, int]) -> None:
    """They took 1.7 times as long as unknown ones: no distance was known to be that of rows."""
    rows, columns = shape
    declared = T.tensor("float64", shape=shape, name="d")

    def row(k: Any, i: Any, d: Any) -> Any:
        def cell(j: Any, d: Any) -> Any:
            return d[i, j].set(UPDATES[name](d[i, j], d[i, k], d[k, j]))

        return symc.fori_loop(0, columns, cell, d)

    def pivot(k: Any, d: Any) -> Any:
        return symc.fori_loop(0, rows, lambda i, d: row(k, i, d), d)

    f = symc.function([declared], symc.fori_loop(0, rows, pivot, declared))
    assert ("meets" in f.source) == (columns >= 16)
    given = np.random.default_rng(rows).random(shape) / rows
    wanted = given.copy()
    for k in range(rows):
        for i in range(rows):
            in_python(UPDATES[name], wanted, i, k)
    np.testing.assert_allclose(f(given), wanted, rtol=1e-12)
    verify(f.runner.compilation().optimised)
