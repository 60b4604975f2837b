"""Short rows that share values, several computed as one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify

RNG = np.random.default_rng(11)
SHAPES = [
    (0, 3), (1, 1), (3, 0), (7, 1), (100, 3), (33, 4), (200, 5), (9, 8), (130, 10), (65, 63),
    (5, 256), (3, 257), (40, 300), (1, 1000),
]  # fmt: skip


def is_repeated(f: Any) -> bool:
    return "_repeated" in f.source


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values(dtype: str) -> None:
    x, b, c, s = (
        T.matrix("x", dtype),
        T.vector("b", dtype),
        T.vector("c", dtype),
        T.scalar("s", dtype),
    )
    z = T.exp(x * c - b) * s
    f = symc.function([x, b, c, s], [z, T.tanh(z) + b])
    assert is_repeated(f)
    verify(f.runner.compilation().optimised)
    tolerance = 1e-13 if dtype == "float64" else 1e-5
    for rows, columns in SHAPES:
        given = [RNG.standard_normal(n).astype(dtype) for n in ((rows, columns), columns, columns)]
        wanted = np.exp(given[0] * given[2] - given[1]) * 0.5
        found = f(*given, 0.5)
        np.testing.assert_allclose(found[0], wanted, rtol=tolerance)
        np.testing.assert_allclose(found[1], np.tanh(wanted) + given[1], rtol=tolerance, atol=1e-6)


def test_rows_of_known_length() -> None:
    """Those of whole registers, and long ones, are left alone."""
    for columns in (1, 3, 4, 7, 8, 20, 64, 255, 256, 257):
        x, b = T.tensor("float64", (None, columns)), T.tensor("float64", (columns,))
        f = symc.function([x, b], T.tanh(x + b))
        assert is_repeated(f) == (1 < columns < 256 and columns % 8 != 0)
        for rows in (0, 1, 31, 32, 33, 130):
            given = RNG.standard_normal((rows, columns)), RNG.standard_normal(columns)
            np.testing.assert_allclose(f(*given), np.tanh(given[0] + given[1]), rtol=1e-13)


def test_a_shared_variable_is_overwritten_by_its_rows() -> None:
    w, b = symc.shared(RNG.standard_normal((77, 6))), T.vector("b")
    step = symc.function([b], [], updates=[(w, T.sin(w * 1.5 + b))])
    assert is_repeated(step)
    now, given = w.get_value(), RNG.standard_normal(6)
    for _ in range(3):
        step(given)
        now = np.sin(now * 1.5 + given)
        np.testing.assert_allclose(w.get_value(), now, rtol=1e-12)


def test_masks_and_integers_that_rows_share() -> None:
    x, m, k = T.matrix("x"), T.vector("m", dtype="bool"), T.vector("k", dtype="int32")
    f = symc.function([x, m, k], T.where(m, T.log1p(T.exp(x)), x + k))
    x0, m0, k0 = RNG.standard_normal((50, 11)), RNG.random(11) < 0.5, RNG.integers(-5, 5, 11)
    found = f(x0, m0, k0.astype("int32"))
    np.testing.assert_allclose(found, np.where(m0, np.log1p(np.exp(x0)), x0 + k0), rtol=1e-13)


def test_a_variable_that_its_rows_read_as_a_row_is_left_alone() -> None:
    """The row that all share is one of those that are written."""
    w = symc.shared(RNG.standard_normal((6, 6)))
    step = symc.function([], [], updates=[(w, T.tanh(w + w[2]))])
    now = w.get_value()
    step()
    np.testing.assert_allclose(w.get_value(), np.tanh(now + now[2]), rtol=1e-13)


def test_numbers_of_rows_and_columns_are_left_alone() -> None:
    x, b = T.matrix("x"), T.vector("b")
    f = symc.function([x, b], T.exp(x + b) * T.arange(x.shape[1]) + T.arange(x.shape[0])[:, None])
    for shape in ((5, 7), (70, 3)):
        a, c = RNG.standard_normal(shape), RNG.standard_normal(shape[1])
        wanted = np.exp(a + c) * np.arange(shape[1]) + np.arange(shape[0])[:, None]
        np.testing.assert_allclose(f(a, c), wanted, rtol=1e-13)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x, b = T.matrix("x"), T.vector("b")
    f = symc.function([x, b], T.tanh(x + b))
    given = RNG.standard_normal((40_000, 7)), RNG.standard_normal(7)
    results = []
    for threads in (1, 3):
        with symc.config.set(threads=threads):
            results.append(f(*given))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_allclose(results[0], np.tanh(given[0] + given[1]), rtol=1e-13)
