"""Loops of a few iterations in steps of loops of the program."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Accumulate, Branch, Launch
from symc.codegen.passes.kernels.inlined import inlined_kernels
from symc.codegen.passes.walk import statements
from symc.codegen.targets.host.functions import has_vectors
from symc.errors import SymcError

LENGTHS = (0, 1, 3, 7, 8, 9, 40)


def beside(f: symc.Function) -> int:
    """How many kernels there are twice: for few iterations and for many."""
    steps = every_step(f.runner.compilation().optimised.steps)
    return sum(
        isinstance(step, Branch)
        and any(isinstance(one, Launch) and "_brief" in one.kernel for one in step.then)
        for step in steps
    )


def nearest(points: Any, centres: Any) -> Any:
    """For each point the centre that is nearest, all by elements."""
    count, length = centres.shape[0], centres.shape[1]

    def point(i: Any, found: Any) -> Any:
        def centre(k: Any, best: Any, at: Any) -> Any:
            square = symc.fori_loop(
                0, length, lambda j, s: s + (points[i, j] - centres[k, j]) ** 2, T.constant(0.0)
            )
            return T.where(square < best, square, best), T.where(square < best, k, at)

        return found[i].set(
            symc.fori_loop(0, count, centre, (T.constant(np.inf), T.constant(0)))[1]
        )

    return symc.fori_loop(0, points.shape[0], point, T.zeros(points.shape[0], dtype="int64"))


@pytest.mark.parametrize("length", LENGTHS)
def test_a_sum_in_each_step_of_a_loop_in_a_loop(length: int) -> None:
    points, centres = T.dmatrix("points"), T.dmatrix("centres")
    f = symc.function([points, centres], nearest(points, centres))
    assert beside(f)
    rng = np.random.default_rng(length)
    p, c = rng.normal(size=(30, length)), rng.normal(size=(5, length))
    np.testing.assert_array_equal(f(p, c), ((p[:, None] - c) ** 2).sum(2).argmin(1))


FOLDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sum": (lambda x: (x**2).sum(), lambda x: (x**2).sum(-1)),
    "mean": (lambda x: abs(x).mean(), lambda x: abs(x).mean(-1)),
    "prod": (lambda x: x.prod(), lambda x: x.prod(-1)),
    "largest": (lambda x: x.max(), lambda x: x.max(-1)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("kind", FOLDS)
def test_a_row_that_is_folded_in_each_step(kind: str, dtype: str, length: int) -> None:
    """It was folded in pieces for threads: of three numbers that took three times as long."""
    fold, wanted = FOLDS[kind]
    points, centres = T.matrix("points", dtype=dtype), T.matrix("centres", dtype=dtype)

    def centre(i: Any, k: Any, best: Any) -> Any:
        new = fold(points[i] - centres[k])
        return symc.ifelse(new > best, new, best)

    def point(i: Any, found: Any) -> Any:
        first = T.zeros_like(fold(points[0]))
        return found[i].set(
            symc.fori_loop(0, centres.shape[0], lambda k, b: centre(i, k, b), first)
        )

    count = points.shape[0]
    out = T.zeros(count, dtype=fold(points[0]).dtype)
    f = symc.function([points, centres], symc.fori_loop(0, count, point, out))
    kernels = f.runner.compilation().optimised.kernels
    brief = [stmt for k in kernels if "_brief" in k.name for stmt in statements(k.body)]
    assert any(isinstance(stmt, Accumulate) for stmt in brief)
    rng = np.random.default_rng(length)
    p, c = (rng.uniform(-3, 3, (count, length)).astype(dtype) for count in (9, 5))
    if kind in ("mean", "largest") and not length:
        return
    right = np.maximum(wanted(p[:, None] - c).max(1), 0)
    np.testing.assert_allclose(f(p, c), right, rtol=1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_that_are_written_and_folded_in_steps(length: int, dtype: str) -> None:
    """Rows overwritten from rows before, and their largest number, which may be no number."""
    x = T.tensor(dtype, (None, None))

    def step(i: Any, y: Any, most: Any) -> Any:
        y = y[i].set(y[i - 1] * 0.5 + x[i])
        return y, most[i].set(T.concatenate([y[i], T.constant(np.zeros(1, dtype))]).max())

    f = symc.function([x], symc.fori_loop(1, x.shape[0], step, (x, T.zeros(x.shape[0], dtype))))
    given = np.random.default_rng(length).normal(size=(12, length)).astype(dtype)
    if length:
        given[7, length // 2] = np.nan
    y, most = given.copy(), np.zeros(12, dtype)
    for i in range(1, 12):
        y[i] = y[i - 1] * y.dtype.type(0.5) + given[i]
        most[i] = np.max(np.append(y[i], 0))
    got = f(given)
    np.testing.assert_allclose(got[0], y, rtol=1e-5 if dtype == "float32" else 1e-14)
    np.testing.assert_allclose(got[1], most, rtol=1e-5 if dtype == "float32" else 1e-14)


def test_lengths_that_change_from_step_to_step() -> None:
    x = T.dvector("x")
    f = symc.function([x], symc.scan(lambda i: (x[:i] * x[:i]).sum(), T.arange(x.shape[0]))[0])
    given = np.random.default_rng(1).normal(size=40)
    np.testing.assert_allclose(f(given), [(given[:i] ** 2).sum() for i in range(40)], rtol=1e-13)


def test_an_error_in_a_short_row_leaves_shared_variables_as_they_were() -> None:
    state, at, x = symc.shared(np.zeros((4, 3)), name="state"), T.lvector("at"), T.dmatrix("x")
    step = symc.fori_loop(0, at.shape[0], lambda i, s: s[at[i]].inc(x[i]), state)
    f = symc.function([at, x], [], updates=[(state, step)])
    rows = np.arange(6.0).reshape(2, 3)
    f(np.array([1, 3]), rows)
    kept = state.get_value()
    np.testing.assert_array_equal(kept[[1, 3]], rows)
    with pytest.raises((SymcError, IndexError)):
        f(np.array([0, 4]), rows)
    np.testing.assert_array_equal(state.get_value(), kept)


def test_no_loop_of_vectors_is_compiled_into_steps() -> None:
    """gcc 12 loses stores of vector loops whose jumps it threads, as it may in such steps."""
    points, centres = T.dmatrix("points"), T.dmatrix("centres")
    f = symc.function([points, centres], nearest(points, centres))
    made = f.runner.compilation().optimised
    inside = inlined_kernels(made)
    assert inside
    assert not any(has_vectors(kernel) for kernel in made.kernels if kernel.name in inside)
    assert any(has_vectors(kernel) for kernel in made.kernels)
    assert "SYMC_JUMPS int64_t symc_run" in f.source


@pytest.mark.parametrize("kind", ["sum", "dot", "most"])
def test_rows_of_which_an_array_says_where_they_begin_and_end(kind: str) -> None:
    """Sums over rows of CSR matrices were calls of a kernel, three times as long as the sums."""
    ptr, col = T.lvector("ptr"), T.lvector("col")
    val, x = T.dvector("val"), T.dvector("x")

    def row(i: Any) -> Any:
        of = slice(ptr[i], ptr[i + 1])
        if kind == "dot":
            return T.dot(val[of], x[col[of]])
        return x[col[of]].sum() if kind == "sum" else T.maximum(val[of], 0.5).prod()

    made, _ = symc.map(row, T.arange(ptr.shape[0] - 1))
    f = symc.function([ptr, col, val, x], made, on_unused_input="ignore")
    assert beside(f)
    kernels = f.runner.compilation().optimised.kernels
    brief = [s for k in kernels if "_brief" in k.name for s in statements(k.body)]
    assert len([stmt for stmt in brief if isinstance(stmt, Accumulate)]) == 1, "not four at a time"
    rng = np.random.default_rng(0)
    lengths = np.array([*LENGTHS, *LENGTHS[::-1], 24, 25, 26])
    p = np.concatenate([[0], np.cumsum(lengths)])
    c, v, given = rng.integers(-50, 50, p[-1]), rng.normal(size=p[-1]), rng.normal(size=50)
    wanted = []
    for a, b in pairwise(p):
        terms = given[c[a:b]]
        most = np.maximum(v[a:b], 0.5).prod()
        wanted.append(v[a:b] @ terms if kind == "dot" else terms.sum() if kind == "sum" else most)
    np.testing.assert_allclose(f(p, c, v, given), wanted, atol=1e-12)
    if kind != "most":
        for at in (3, 60):  # in a short row and in a long one
            wrong = c.copy()
            wrong[at] = 50
            with pytest.raises(SymcError):
                f(p, wrong, v, given)


@pytest.mark.parametrize("length", [1, 2, 8, 10, 15, 16, 17])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_known_length_that_the_next_step_adds_up(length: int, dtype: str) -> None:
    """Vectors of which the next sum reads one number after the other: 1.6 times as long."""
    rows = T.tensor(dtype, shape=(40, length), name="rows")
    aims = T.tensor(dtype, shape=(40,), name="aims")

    def step(i: Any, w: Any) -> Any:
        return w - 0.1 * (rows[i] @ w - aims[i]) * rows[i]

    f = symc.function([rows, aims], symc.fori_loop(0, 40, step, T.zeros_like(rows[0])))
    kernels = {kernel.name for kernel in f.runner.compilation().optimised.kernels}
    assert any("_brief" in name for name in kernels) == (1 < length < 16)
    assert not beside(f)
    rng = np.random.default_rng(length)
    given, wanted = rng.normal(size=(40, length)).astype(dtype), rng.normal(size=40).astype(dtype)
    w = np.zeros(length, dtype)
    for row, aim in zip(given, wanted, strict=True):
        w = w - np.asarray(0.1, dtype) * (row @ w - aim) * row
    np.testing.assert_allclose(f(given, wanted), w, rtol=2e-4 if dtype == "float32" else 1e-10)
