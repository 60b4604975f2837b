"""Rows that one condition chooses: a branch for each, where a selection computed both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

RNG = np.random.default_rng(4)


def gated(m: Any, x: Any, c: Any) -> Any:
    return m.where(c[:, None], m.exp(x) / (1 + x), x)


def with_sides(m: Any, x: Any, c: Any) -> Any:
    return m.where(c[:, None], m.sin(x), m.exp(x) + 1)


def compared(m: Any, x: Any, c: Any) -> Any:
    return m.where((c * x[:, 0] > 0.5)[:, None], x, m.log(m.abs(x) + 1))


def summed(m: Any, x: Any, c: Any) -> Any:
    return m.where(c[:, None], m.exp(x), 0 * x).sum(axis=1)


def highest(m: Any, x: Any, c: Any) -> Any:
    return m.where(c[:, None], m.exp(x), x).max(axis=1)


def twice(m: Any, x: Any, c: Any) -> Any:
    inner = m.where((x[:, 0] > 1)[:, None], m.exp(x), m.cos(x))
    return m.where(c[:, None], inner * 2, x)


FORMULAS = [gated, with_sides, compared, summed, highest, twice]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_rows_of_every_length(formula: Any, dtype: str) -> None:
    x, c = T.tensor(dtype, (None, None), "x"), T.vector("c", dtype="bool")
    f = symc.function([x, c], formula(T, x, c))
    assert "if (" in f.source[f.source.index("/* ---- kern") : f.source.index("/* ---- host")]
    for rows, width in [(0, 4), (1, 1), (7, 3), (9, 33), (2, 200)]:
        value, chosen = RNG.random((rows, width)).astype(dtype) * 2, RNG.random(rows) < 0.5
        wanted = formula(np, value, chosen)
        got = f(value, chosen)
        assert got.dtype == wanted.dtype
        near = 1e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(got, wanted, rtol=near, atol=near / 10)


def test_rows_without_elements() -> None:
    x, c = T.matrix("x"), T.vector("c", dtype="bool")
    f = symc.function([x, c], [gated(T, x, c), summed(T, x, c)])
    rows, sums = f(np.zeros((3, 0)), np.array([True, False, True]))
    assert rows.shape == (3, 0)
    assert sums.tolist() == [0.0, 0.0, 0.0]


def test_what_is_not_finite_stays_on_its_side() -> None:
    x, c = T.matrix("x"), T.vector("c", dtype="bool")
    f = symc.function([x, c], gated(T, x, c))
    value = np.array([[np.nan, np.inf, -np.inf, 800.0, -1.0]] * 2)
    chosen = np.array([True, False])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(f(value, chosen), gated(np, value, chosen))


def test_cheap_sides_conditions_along_rows_and_rows_of_few_elements_stay() -> None:
    x, c, d = T.matrix("x"), T.vector("c", dtype="bool"), T.vector("d", dtype="bool")
    few = T.tensor("float64", (None, 3), "few")
    for args, result in [
        ([x, c], T.where(c[:, None], x + 1, x)),
        ([x, d], T.where(d[None, :], T.exp(x), x)),
        ([few, c], gated(T, few, c)),
    ]:
        f = symc.function(args, result)
        assert "if (t" not in f.source
    value, chosen = RNG.random((5, 3)), RNG.random(5) < 0.5
    np.testing.assert_allclose(f(value, chosen), gated(np, value, chosen))


def test_rows_in_steps_of_a_loop() -> None:
    x, c = T.matrix("x"), T.vector("c", dtype="bool")

    def step(state: Any) -> Any:
        return T.where(c[:, None], T.tanh(state) * 0.5, state)

    f = symc.function([x, c], symc.fori_loop(0, 3, lambda i, state: step(state), x))
    value, chosen = RNG.random((6, 21)), RNG.random(6) < 0.5
    wanted = value
    for _ in range(3):
        wanted = np.where(chosen[:, None], np.tanh(wanted) * 0.5, wanted)
    np.testing.assert_allclose(f(value, chosen), wanted, rtol=1e-13)
