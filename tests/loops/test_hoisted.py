"""Checks of lengths in the steps of loops are made before the loops: with the same outcome."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

X = np.arange(12.0).reshape(3, 4)
FAR = 2**63 - 5


def in_steps(f: Any) -> int:
    """How many checks are left in the loops of a program."""
    text: str = f.source
    run = text[text.index("int64_t symc_run(") :]
    return sum(line.startswith("      ") and "return 1" in line for line in run.splitlines())


def test_of_a_vector_beside_columns() -> None:
    x, scale = T.matrix("x"), T.vector("scale")
    f = symc.function(
        [x, scale],
        symc.fori_loop(
            0, x.shape[1], lambda j, out: out[:, j].set(x[:, j] * scale[j]), T.zeros_like(x)
        ),
        device="cpu",
    )
    np.testing.assert_array_equal(f(X, X[0]), X * X[0])
    assert "for (int64_t step = 0" not in f.source  # the loop became one of a kernel
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with length 3"):
        f(X, X[0, :3])
    assert f(X[:, :0], X[0, :0]).shape == (3, 0)


def test_of_a_triangle() -> None:
    a, b = T.matrix("a"), T.vector("b")

    def row(i: Any, x: Any) -> Any:
        total = symc.fori_loop(0, i, lambda j, s: s - a[i, j] * x[j], b[i])
        return x[i].set(total / a[i, i])

    f = symc.function([a, b], symc.fori_loop(0, b.shape[0], row, T.zeros_like(b)), device="cpu")
    assert in_steps(f) == 0
    lower = np.tril(np.random.default_rng(0).uniform(1, 2, (5, 5)))
    np.testing.assert_allclose(f(lower, lower[4]), np.linalg.solve(lower, lower[4]))
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with length 4"):
        f(lower[:4], lower[4])
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 1 with length 4"):
        f(lower[:, :4], lower[4])
    assert f(lower[:0, :0], lower[4][:0]).shape == (0,)


def test_shared_variables_stay_as_they_are() -> None:
    w, x, n = symc.shared(np.zeros(5), "w"), T.vector("x"), T.scalar("n", dtype="int64")
    step = symc.fori_loop(0, n, lambda i, w: w[i].inc(x[i]), w)
    f = symc.function([x, n], [], updates={w: step})
    f(np.ones(5), 4)
    for count, length in [(6, 6), (5, 4), (2**40, 5), (FAR, 5)]:
        with pytest.raises(IndexError):
            f(np.ones(length), count)
        np.testing.assert_array_equal(w.get_value(), [1, 1, 1, 1, 0])
    f(np.ones(0), 0)
    f(np.ones(0), -3)


@pytest.mark.parametrize("by", [1, -1, 2])
def test_numbers_near_the_end_of_64_bits(by: int) -> None:
    """Indexes that would wrap around before the last step are out of range long before that."""
    x, k, n = T.vector("x"), T.scalar("k", dtype="int64"), T.scalar("n", dtype="int64")
    f = symc.function([x, k, n], symc.fori_loop(0, n, lambda i, s: s + x[by * i + k], 0.0))
    for first, count in [(FAR, 1), (FAR, 10), (-FAR, 1), (-FAR, 10), (0, FAR), (1, FAR), (-1, FAR)]:
        with pytest.raises(IndexError):
            f(np.ones(3), first, count)
        assert f(np.ones(3), first, 0) == 0
        assert f(np.ones(3), first, -FAR) == 0


# --- random loops beside Python -------------------------------------------------------------------

NUMBERS = T.scalar("n", dtype="int64"), T.scalar("k", dtype="int64"), T.scalar("m", dtype="int64")


def program(rng: np.random.Generator) -> tuple[Any, Any]:
    """Sums of elements at even places, in one loop or in two, in symc and in Python."""
    n, k, m = NUMBERS
    x, y = T.vector("x"), T.matrix("y")
    by, twice = int(rng.choice([1, 1, 1, -1, 2])), bool(rng.random() < 0.6)
    form, triangle = int(rng.integers(4)), bool(rng.random() < 0.5)

    def element(x: Any, y: Any, i: Any, j: Any, k: Any, m: Any) -> Any:
        match form:
            case 0:
                return x[by * i + k] + y[i, j + m]
            case 1:
                return x[j] * y[j, by * i + k]
            case 2:
                return y[i + k, m] + x[i]
            case _:
                return x[by * j + k] * x[m]

    def row(i: Any, s: Any) -> Any:
        if not twice:
            return s + element(x, y, i, i, k, m)
        extent = i if triangle else m
        return symc.fori_loop(0, extent, lambda j, s: s + element(x, y, i, j, k, m), s)

    f = symc.function([x, y, n, k, m], symc.fori_loop(0, n, row, 0.0), on_unused_input="ignore")

    def expected(x: Any, y: Any, n: int, k: int, m: int) -> Any:
        total = 0.0
        for i in range(n):
            for j in range(i if triangle else m) if twice else [i]:
                total += element(x, y, i, j, k, m)
        return total

    return f, expected


@pytest.mark.parametrize("seed", range(24))
def test_the_same_as_in_python(seed: int) -> None:
    rng = np.random.default_rng(seed)
    f, expected = program(rng)
    raised = 0
    for _ in range(60):
        x, y = rng.random(rng.integers(0, 6)), rng.random(tuple(rng.integers(0, 6, 2)))
        n, k, m = int(rng.integers(-1, 6)), int(rng.integers(-3, 4)), int(rng.integers(-2, 5))
        try:
            wanted = expected(x, y, n, k, m)
        except IndexError:
            raised += 1
            with pytest.raises(IndexError):
                f(x, y, n, k, m)
        else:
            np.testing.assert_allclose(f(x, y, n, k, m), wanted, rtol=1e-12)
    assert 0 < raised < 60


def test_places_that_a_step_computes_by_itself_need_no_wrapping() -> None:
    """Red and black elements in turn: each place was looked at again for each neighbour."""
    u = T.matrix("u")

    def row(i: Any, u: Any) -> Any:
        first = 1 + i % 2

        def element(k: Any, u: Any) -> Any:
            j = first + 2 * k
            return u[i, j].inc(u[i, j - 1] + u[i, j + 1])

        return symc.fori_loop(0, (u.shape[1] - 1 - first) // 2, element, u)

    f = symc.function([u], symc.fori_loop(0, u.shape[0], row, u), device="cpu")
    given = np.random.default_rng(0).random((4, 9))
    expected = given.copy()
    for i in range(4):
        for j in range(1 + i % 2, 1 + i % 2 + 2 * ((8 - 1 - i % 2) // 2), 2):
            expected[i, j] += expected[i, j - 1] + expected[i, j + 1]
    np.testing.assert_allclose(f(given), expected)
    checked = f.source.index("else {", f.source.index("if (fine[0])"))
    fast = f.source[f.source.index("if (fine[0])") : checked]
    for name in re.findall(r"(\w+_kernel\w*)\(", fast):
        body = f.source[f.source.index(f" {name}(") :]
        assert "symc_place" not in body[: body.index("\n}")]


def test_a_number_that_is_read_before_it_is_stored_is_that_of_the_step_before() -> None:
    x = T.vector("x")

    def step(i: Any, at: Any, s: Any) -> Any:
        return [(at + 3) % 5, s + x[at]]

    f = symc.function([x], symc.fori_loop(0, 6, step, [T.constant(7, dtype="int64"), 0.0])[1])
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        f(np.arange(5.0))
    assert f(np.arange(9.0)) == 7 + 0 + 3 + 1 + 4 + 2
