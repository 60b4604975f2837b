"""Elements of arrays to which steps of loops add something, and what else of them they read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify
from symc.errors import BadIndex
from tests.near import assert_near

A, X, K = T.matrix("a"), T.vector("x"), T.lscalar("k")


def loop(stop: Any, body: Any, state: Any, start: Any = 0) -> Any:
    return symc.fori_loop(start, stop, body, state)


def adds_up(f: Any) -> bool:
    """Whether an element is a number in a loop of a kernel."""
    return "_sum" in f.source


def triangular(a: Any, x: Any) -> Any:
    def row(i: Any, x: Any) -> Any:
        x = loop(i, lambda j, x: x[i].inc(-a[i, j] * x[j]), x)
        return x[i].set(x[i] / a[i, i])

    return loop(x.shape[0], row, x)


def factors(a: Any) -> Any:
    def row(i: Any, a: Any) -> Any:
        def left(j: Any, a: Any) -> Any:
            a = loop(j, lambda k, a: a[i, j].inc(-a[i, k] * a[k, j]), a)
            return a[i, j].set(a[i, j] / a[j, j])

        def right(j: Any, a: Any) -> Any:
            return loop(i, lambda k, a: a[i, j].inc(-a[i, k] * a[k, j]), a)

        return loop(a.shape[0], right, loop(i, left, a), i)

    return loop(a.shape[0], row, a)


def _definite(n: int) -> Any:
    return np.random.default_rng(n).random((n, n)) + n * np.eye(n)


@pytest.mark.parametrize("n", [0, 1, 2, 17])
def test_a_bug_elements_that_steps_add_to_were_loaded_and_stored_in_each(n: int) -> None:
    a, x = _definite(n), np.random.default_rng(1).random(n)
    f = symc.function([A, X], triangular(A, X))
    assert adds_up(f)
    verify(f.runner.compilation().optimised)
    assert_near(f(a, x), np.linalg.solve(np.tril(a), x), 1e-12)
    g = symc.function([A], factors(A))
    assert adds_up(g)
    verify(g.runner.compilation().optimised)
    found = g(a)
    assert_near((np.tril(found, -1) + np.eye(n)) @ np.triu(found), a, 1e-12)


@pytest.mark.parametrize("step", [1, -1, 2, -2])
def test_steps_that_read_the_element_itself_go_one_by_one(step: int) -> None:
    """Whether they do is known only when the loop begins."""

    def row(i: Any, x: Any, n: Any) -> Any:
        first = 0 if step > 0 else 2 * n - 1
        return loop(n, lambda j, x: x[i].inc(0.1 * x[step * j + first]), x)

    f = symc.function([X], loop(X.shape[0], lambda i, x: row(i, x, X.shape[0] // 2), X))
    assert adds_up(f) or step < 0
    verify(f.runner.compilation().optimised)
    wanted = np.random.default_rng(0).random(10)
    found = f(wanted)
    for i in range(10):
        for j in range(5):
            wanted[i] += 0.1 * wanted[step * j + (0 if step > 0 else 9)]
    assert_near(found, wanted, 1e-13)


def test_places_that_arrays_say() -> None:
    places = T.lvector("places")

    def row(i: Any, x: Any) -> Any:
        return loop(A.shape[1], lambda j, x: x[places[i]].inc(A[i, j]), x)

    f = symc.function([A, X, places], loop(A.shape[0], row, X))
    assert adds_up(f)
    verify(f.runner.compilation().optimised)
    a, x = np.random.default_rng(0).random((5, 7)), np.ones(4)
    wanted = x.copy()
    np.add.at(wanted, [3, 0, 3, -1, 1], a.sum(1))
    assert_near(f(a, x, [3, 0, 3, -1, 1]), wanted, 1e-13)
    with pytest.raises(BadIndex):
        f(a, x, [3, 0, 4, 0, 1])
    assert np.array_equal(f(a[:, :0], x, [3, 0, 4, 0, 1]), x)
    g = symc.function([X, K], loop(X.shape[0], lambda j, x: x[K].inc(x[j]), X))
    assert np.array_equal(g(np.ones(3), 1), [1.0, 5.0, 1.0])


def test_rows_that_read_columns_of_what_they_add_to() -> None:
    def cell(i: Any, j: Any, a: Any) -> Any:
        return loop(A.shape[0], lambda k, a: a[i, j].inc(a[k, j] * a[i, k]), a)

    def row(i: Any, a: Any) -> Any:
        return loop(A.shape[1], lambda j, a: cell(i, j, a), a)

    f = symc.function([A], loop(A.shape[0], row, A))
    verify(f.runner.compilation().optimised)
    for n in (1, 2, 5):
        given = np.random.default_rng(0).random((n, n)) / n
        wanted = given.copy()
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    wanted[i, j] += wanted[k, j] * wanted[i, k]
        assert_near(f(given), wanted, 1e-12)


def test_columns_are_added_up() -> None:
    """The loop around is one of a kernel, too: what inner loops check moves out of both."""

    def column(j: Any, x: Any) -> Any:
        return loop(A.shape[0], lambda i, x: x[j].inc(A[i, j] * 2), x)

    f = symc.function([A, X], loop(X.shape[0], column, X))
    assert "for (int64_t step" not in f.source[f.source.index("int64_t symc_run") :]
    for n, m in ((0, 3), (3, 0), (1, 1), (7, 20), (300, 600)):
        a, x = np.random.default_rng(0).random((n, m)), np.random.default_rng(1).random(m)
        assert_near(f(a, x), x + 2 * a.sum(0), 1e-12)


def test_no_steps_read_and_write_nothing() -> None:
    f = symc.function([X, K], loop(K, lambda j, x: x[5].inc(x[j]), X))
    assert np.array_equal(f(np.ones(2), 0), np.ones(2))
    assert np.array_equal(f(np.ones(2), -1), np.ones(2))
    with pytest.raises(BadIndex):
        f(np.ones(2), 1)
    zero = symc.function([X, K], loop(K, lambda j, x: x[0].inc(x[1] * 0 + j), X))
    assert np.signbit(zero(np.array([-0.0, 1.0]), 0)[0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "complex128"])
def test_dtypes(dtype: str) -> None:
    x = T.tensor(dtype, (None,), "x")
    f = symc.function([x, K], loop(x.shape[0] - 1, lambda j, y: y[K].inc(y[j + 1] * y[j + 1]), x))
    given = np.array([1, 0, 3, 2, 5, 4, 1, 2, 6]).astype(dtype)
    for k in (0, 4):
        wanted = given.copy()
        for j in range(8):
            with np.errstate(over="ignore"):
                wanted[k] += wanted[j + 1] * wanted[j + 1]
        assert_near(f(given, k), wanted, 1e-6 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("dtype", ["float16", "bool"])
def test_what_is_rounded_in_each_step_still_is(dtype: str) -> None:
    x = T.tensor(dtype, (None,), "x")
    f = symc.function([x], loop(x.shape[0] - 1, lambda j, y: y[0].set(y[0] + y[j + 1]), x))
    given = np.array([0, 1, 1, 0, 1] * 9).astype(dtype)
    wanted = given.copy()
    for j in range(1, len(given)):
        wanted[0] = wanted[0] + wanted[j]
    assert np.array_equal(f(given), wanted)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes(name: str) -> None:
    """A NaN is the extreme, as in NumPy."""
    chosen = getattr(T, name)
    f = symc.function([X], loop(X.shape[0], lambda j, x: x[0].set(chosen(x[0], 2 * x[j])), X))
    for given in (np.array([0.5, -3.0, 7.0, 1.0]), np.array([0.0, np.nan, 1.0]), np.array([-0.0])):
        wanted = given.copy()
        for j in range(len(given)):
            wanted[0] = getattr(np, name)(wanted[0], 2 * wanted[j])
        assert np.array_equal(f(given), wanted, equal_nan=True)
