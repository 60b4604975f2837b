"""Matrices that loops multiply transposed are turned once, before the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import symc
import symc.tensor as T
from symc.graph.walks import walk, walk_within
from symc.rewrite.pipeline import rewrite
from symc.tensor.copies import Copy
from symc.tensor.matrix_product import MatMul

Array = NDArray[Any]


def turned(*roots: Any) -> tuple[int, int]:
    """How many copies there are outside of loops, and transposed matrices in all products."""
    after = rewrite(list(roots), []).outputs
    inside = [node for node in walk_within(after) if isinstance(node.op, MatMul)]
    return (
        sum(isinstance(node.op, Copy) for node in walk(after)),
        sum(node.op.trans_b for node in inside if isinstance(node.op, MatMul)),
    )


def repeated(h: Any, w: Any, steps: Any) -> Any:
    """``tanh(h @ w.T)`` over and over."""
    return symc.fori_loop(0, steps, lambda i, h: T.tanh(T.dot(h, w.T)), h)


def by_numpy(h: Array, w: Array, steps: int) -> Array:
    for _ in range(steps):
        h = np.tanh(h @ w.T)
    return h


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_any_number_of_steps(dtype: str, count: int) -> None:
    h, w, n = T.matrix("h", dtype=dtype), T.matrix("w", dtype=dtype), T.lscalar("n")
    out = repeated(h, w, n)
    assert turned(out) == (1, 0)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3, 5)).astype(dtype), rng.normal(size=(5, 5)).astype(dtype)
    got = symc.function([h, w, n], out)(x, y, count)
    np.testing.assert_allclose(got, by_numpy(x, y, count), rtol=1e-5)


def test_few_steps_do_not_pay() -> None:
    h, w = T.matrix("h"), T.matrix("w")
    assert turned(repeated(h, w, 3)) == (0, 1)
    assert turned(repeated(h, w, 4)) == (1, 0)


def test_small_products_stay_loops() -> None:
    h, w = T.matrix("h", shape=(2, 8)), T.matrix("w", shape=(8, 8))
    assert turned(repeated(h, w, 10)) == (0, 1)


def test_a_matrix_that_changes_is_multiplied_as_it_is() -> None:
    w, n = T.matrix("w"), T.lscalar("n")
    out = symc.fori_loop(0, n, lambda i, w: T.dot(w, w.T) / 9.0, w)
    assert turned(out)[0] == 0
    x = np.random.default_rng(1).normal(size=(4, 4))
    want = x
    for _ in range(3):
        want = want @ want.T / 9
    np.testing.assert_allclose(symc.function([w, n], out)(x, 3), want)


def test_of_one_matrix_there_is_one_copy() -> None:
    h, w, n = T.matrix("h"), T.matrix("w"), T.lscalar("n")
    out = symc.fori_loop(0, n, lambda i, h: T.tanh(T.dot(T.sin(T.dot(h, w.T)), w.T)), h)
    assert turned(out) == (1, 0)
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(3, 6)), rng.normal(size=(6, 6))
    want = x
    for _ in range(5):
        want = np.tanh(np.sin(want @ y.T) @ y.T)
    np.testing.assert_allclose(symc.function([h, w, n], out)(x, y, 5), want)


def test_gradients_of_recurrent_networks() -> None:
    """A step of descent: the matrix is updated in place, after its copy is made."""
    rng = np.random.default_rng(3)
    start = rng.normal(size=(6, 6)) / 3
    w = symc.shared(start, name="w")
    x = T.tensor3("x")

    def step(row: Any, h: Any) -> Any:
        return T.tanh(row + T.dot(h, w))

    h, _ = symc.scan(step, x, T.zeros((x.shape[1], 6)))
    loss = (h[-1] ** 2).sum()
    to_w = symc.grad(loss, w)
    assert turned(to_w)[1] == 0
    f = symc.function([x], [loss, w.T], updates=[(w, w - 0.1 * to_w)])
    rows = rng.normal(size=(9, 4, 6))
    before, given = f(rows)
    np.testing.assert_array_equal(given, start.T)

    def value(matrix: Array) -> float:
        h = np.zeros((4, 6))
        for row in rows:
            h = np.tanh(row + h @ matrix)
        return float((h**2).sum())

    np.testing.assert_allclose(before, value(start))
    got = (start - w.get_value()) / 0.1
    for i, j in [(0, 0), (2, 5), (5, 1)]:
        e = np.zeros((6, 6))
        e[i, j] = 1e-6
        want = (value(start + e) - value(start - e)) / 2e-6
        np.testing.assert_allclose(got[i, j], want, rtol=1e-5, atol=1e-7)


def test_loops_in_loops() -> None:
    h, w, n = T.matrix("h"), T.matrix("w"), T.lscalar("n")
    out = symc.fori_loop(0, n, lambda i, h: repeated(h + i, w, i), h)
    assert turned(out)[1] == 0
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(3, 5)), rng.normal(size=(5, 5)) / 3
    want = x
    for i in range(6):
        want = by_numpy(want + i, y, i)
    np.testing.assert_allclose(symc.function([h, w, n], out)(x, y, 6), want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_callers_give_is_multiplied_from_a_copy(dtype: str) -> None:
    """Its memory may begin anywhere; that of what the program computed begins with a line."""
    h, w, n = T.matrix("h", dtype=dtype), T.matrix("w", dtype=dtype), T.lscalar("n")
    of_given = symc.fori_loop(0, n, lambda i, h: T.tanh(T.dot(h, w)), h)
    of_computed = symc.fori_loop(0, n, lambda i, h: T.tanh(T.dot(h, T.exp(w))), h)
    assert turned(of_given) == (1, 0)
    assert turned(of_computed) == (0, 0)
    assert turned(symc.fori_loop(0, n, lambda i, h: T.tanh(T.dot(T.dot(h, w), w.T)), h)) == (2, 0)
    f = symc.function([h, w, n], of_given)
    rng = np.random.default_rng(5)
    x, room = rng.normal(size=(32, 128)).astype(dtype), np.zeros(128 * 128 + 16, dtype)
    for start in range(0, 16, 3):
        y = room[start : start + 128 * 128].reshape(128, 128)
        y[...] = rng.normal(size=(128, 128)) / 12
        got = f(x, y, 5)
        np.testing.assert_allclose(got, by_numpy(x, y.T, 5), rtol=1e-4, atol=1e-5)


def test_modes_that_keep_every_bit_leave_products_as_they_are() -> None:
    h, w, n = T.matrix("h"), T.matrix("w"), T.lscalar("n")
    after = rewrite([repeated(h, w, n)], [], mode="compile").outputs
    assert not any(isinstance(node.op, Copy) for node in walk(after))
