"""Columns, and other elements far apart, that all rows of a result read, are copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(8)

FORMS: dict[str, Any] = {
    "outer": lambda m, a: a[:, 3][:, None] * a[:, 0][None, :],
    "a column as a row": lambda m, a: m.minimum(a[:, :1], a[:, 2][None, :]),
    "two columns": lambda m, a: a[:, 1][None, :] * a[:, :1] + a[:, 2][None, :],
    "differences": lambda m, a: ((a[:, 1:2].T - a[:, 1:2]) ** 2).sum(1),
    "from the end": lambda m, a: a[::-1, 1][None, :] - a[:, :1],
    "every third": lambda m, a: a[:, None, ::3] - a[None, :, ::3],
    "chosen": lambda m, a: m.where(a[:, :1] > 0, a[:, 2][None, :], a[:, :1]),
    "asked": lambda m, a: m.where(a[:, 2][None, :] > 0, a[:, :1], -a[:, :1]),
    "folded": lambda m, a: m.exp(-abs(a[:, :1] - a[:, 3][None, :])).max(1),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("name", FORMS)
def test_results(name: str, dtype: str) -> None:
    dtype = "float32" if name == "folded" and dtype == "int16" else dtype
    a = T.tensor(dtype, (None, None), "a")
    f = symc.function([a], FORMS[name](T, a))
    for shape in [(1, 4), (7, 4), (8, 5), (63, 4), (64, 4), (65, 7), (130, 12)]:
        value = (RNG.normal(size=shape) * 5).astype(dtype)
        wanted = FORMS[name](np, value.astype(dtype))
        tolerance = 1e-5 if dtype == "float32" else 1e-13
        np.testing.assert_allclose(f(value), wanted, rtol=tolerance, atol=100 * tolerance)


def test_no_rows_read_no_line() -> None:
    """There may be none."""
    x, a = T.vector("x"), T.matrix("a")
    f = symc.function([x, a], x[:, None] * a[:, 1][None, :])
    assert f(np.zeros(0), np.zeros((9, 2))).shape == (0, 9)
    assert f(np.zeros(5), np.zeros((0, 2))).shape == (5, 0)


def test_a_column_of_a_matrix_that_is_set_in_place() -> None:
    """Outer products of a column are taken from what is right of it, step by step."""
    a = T.matrix("a")

    def step(j: Any, m: Any) -> Any:
        column = m[j:, j] / T.sqrt(m[j, j])
        m = m[j:, j].set(column)
        return m[j + 1 :, j + 1 :].inc(-m[j + 1 :, j][:, None] * m[j + 1 :, j][None, :])

    f = symc.function([a], T.tril(symc.fori_loop(0, a.shape[0], step, a)))
    for n in (1, 7, 9, 40, 70):
        b = RNG.normal(size=(n, n))
        value = b @ b.T + n * np.eye(n)
        np.testing.assert_allclose(f(value), np.linalg.cholesky(value), rtol=1e-9, atol=1e-11)


def test_a_line_is_copied() -> None:
    a = T.matrix("a")
    kernel = symc.function([a], FORMS["outer"](T, a)).source.split("/* ---- kernels")[1]
    assert "a_line[j" in kernel
    beside = symc.function([a], a[:, :1] * a[2][None, :]).source.split("/* ---- kernels")[1]
    assert "a_line" not in beside
