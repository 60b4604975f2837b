"""turn: short rows that are folded for each of other rows, side by side: values of rows alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.dtypes import FLOAT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Const,
    Kernel,
    Launch,
    Length,
    Load,
    Loop,
    Param,
    Program,
    Size,
    Stmt,
    Store,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.loops.row_folds import FEWEST, LONGEST, MOST
from symc.codegen.passes.loops.turn import ROWS, turn
from tests.codegen.compiled import build, caller

# Of two matrices in symc and in NumPy, which have the same functions for these.
CASES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "distances": lambda n, x, y: n.sqrt(((x[:, None] - y[None]) ** 2).sum(axis=-1)),
    "the least distance": lambda n, x, y: ((x[:, None] - y[None]) ** 2).sum(axis=-1).min(axis=1),
    "the nearest": lambda n, x, y: n.argmin(abs(x[:, None] - y[None]).sum(axis=-1), axis=1),
    "largest differences": lambda n, x, y: n.max(abs(x[:, None] - y[None]), axis=-1),
    "sums of exponentials": lambda n, x, y: n.exp(-((x[:, None] - y[None]) ** 2).sum(axis=-1)).sum(
        axis=1
    ),
    "two folds": lambda n, x, y: (
        abs(x[:, None] - y[None]).sum(axis=-1) / n.exp(x[:, None] * y[None]).sum(axis=-1)
    ),
    "weighed by a column": lambda n, x, y: (abs(x[:, None] - y[None]) * x[:, :1, None]).sum(
        axis=-1
    ),
    "pulled to others": lambda n, x, y: (
        n.exp(-((x[:, None] - y[None]) ** 2).sum(axis=-1))[:, :, None] * (y[None] - x[:, None])
    ).sum(axis=1),
    "the farthest pull": lambda n, x, y: (
        x
        + (abs(x[:, None] - y[None]).sum(axis=-1)[:, :, None] * (y[None] - x[:, None])).max(axis=1)
    ),
    "of one matrix": lambda n, x, y: ((x[:, None] - x[None]) ** 2).sum(axis=-1) + y.sum(),
}


def turned(f: symc.Function) -> bool:
    """Whether a kernel copies a matrix."""
    return "_columns[" in f.source


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_rows_alone(name: str, dtype: str) -> None:
    formula = CASES[name]
    x, y = (T.tensor(dtype, (None, None), letter) for letter in "xy")
    f = symc.function([x, y], formula(T, x, y))
    assert turned(f)
    rng = np.random.default_rng(0)
    for rows, count, length in (
        (ROWS + 3, 2 * FEWEST, 3), (FEWEST, LONGEST + 5, LONGEST), (FEWEST - 1, 20, 3),
        (20, FEWEST - 1, 3), (20, LONGEST + 5, LONGEST + 1), (9, 10, 12), (2 * ROWS, 50, 1),
    ):  # fmt: skip
        a, b = (rng.normal(size=(n, length)).astype(dtype) for n in (rows, count))
        wanted = formula(np, a.astype("float64"), b.astype("float64"))
        tolerance = 5e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(f(a, b), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("length", [2, 3, 8, 9, 20, LONGEST + 1])
def test_known_lengths(length: int) -> None:
    x, y = (T.tensor("float64", (None, length), letter) for letter in "xy")
    f = symc.function([x, y], CASES["distances"](T, x, y))
    assert turned(f) == (length <= LONGEST)
    rng = np.random.default_rng(1)
    for rows, count in ((ROWS + 1, 40), (5, 40), (40, 5)):
        a, b = rng.normal(size=(rows, length)), rng.normal(size=(count, length))
        np.testing.assert_allclose(f(a, b), CASES["distances"](np, a, b), rtol=1e-12)


def test_nothing_is_chosen_where_all_lengths_are_known() -> None:
    x = T.tensor("float64", (100, 3), "x")
    f = symc.function([x], CASES["largest differences"](T, x, x))
    assert turned(f)
    assert "else" not in f.source.partition("---- host ----")[0]
    a = np.random.default_rng(2).normal(size=(100, 3))
    np.testing.assert_array_equal(f(a), CASES["largest differences"](np, a, a))


def test_nan_and_infinities_stay_in_their_rows() -> None:
    x, y = T.matrix("x"), T.matrix("y")
    f = symc.function([x, y], CASES["distances"](T, x, y))
    a, b = (np.random.default_rng(3).normal(size=(n, 3)) for n in (70, 20))
    a[4, 1], b[7, 0], b[9, 2] = np.nan, np.inf, np.nan
    np.testing.assert_allclose(f(a, b), CASES["distances"](np, a, b), rtol=1e-12)


def test_lengths_of_none() -> None:
    x, y = T.matrix("x"), T.matrix("y")
    f = symc.function([x, y], CASES["distances"](T, x, y))
    for rows, count, length in ((0, 9, 3), (9, 0, 3), (70, 20, 0), (0, 0, 0)):
        got = f(np.empty((rows, length)), np.empty((count, length)))
        np.testing.assert_array_equal(got, np.zeros((rows, count)))


def test_a_matrix_that_no_cache_holds_is_not_copied() -> None:
    x, y = T.matrix("x"), T.matrix("y")
    f = symc.function([x, y], CASES["the least distance"](T, x, y))
    count = MOST // 4 + 1
    a, b = (np.random.default_rng(4).normal(size=(n, 4)) for n in (9, count))
    for many in (b, b[:-1]):
        wanted = CASES["the least distance"](np, a, many)
        np.testing.assert_allclose(f(a, many), wanted, rtol=1e-12)


def folds(read: str) -> Program:
    """For each row of x, sums of products of rows of y with `read`, one after the other."""
    m, n, d = Var("m"), Var("n"), Var("d")
    i, j, k = Var("i"), Var("j"), Var("k")
    acc = Buffer("acc", FLOAT64, (), "local")
    product = mul(Load("y", add(mul(j, d), k), FLOAT64), Load(read, k, FLOAT64))
    row: tuple[Stmt, ...] = (
        Alloc(acc),
        Store("acc", const(0), Const(1.0, FLOAT64)),
        Loop(k, d, "serial", (Accumulate("acc", const(0), "add", product),)),
        Store("row", j, Load("acc", const(0), FLOAT64)),
    )
    body = (
        Alloc(Buffer("row", FLOAT64, (n,), "local")),
        Loop(Var("first"), n, "parallel", (Store("row", Var("first"), Const(0.0, FLOAT64)),)),
        Loop(j, n, "serial", row),
        Store("out", i, Load("row", const(9), FLOAT64)),
    )
    params = (Param("x", FLOAT64, False), Param("y", FLOAT64, False), Param("out", FLOAT64, True))
    kernel = Kernel("main", params, (m, n, d), (Loop(i, m, "parallel", body),))
    sizes = (
        Size(m, Length("out", 0)), Size(n, Length("y", 0)), Size(d, Length("y", 1)),
    )  # fmt: skip
    buffers = (
        Buffer("x", FLOAT64, (d,), "input"), Buffer("y", FLOAT64, (n, d), "input"),
        Buffer("out", FLOAT64, (m,), "shared"),
    )  # fmt: skip
    launch = Launch("main", ("x", "y", "out"), (m, n, d))
    return Program("folds", sizes, buffers, (kernel,), (launch,))


@pytest.mark.parametrize("read", ["x", "row"])
def test_a_fold_that_reads_what_those_before_it_made_waits_for_them(read: str) -> None:
    made = folds(read)
    assert (turn(made) is made) == (read == "row")
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=9), rng.normal(size=(20, 9))
    wanted = np.zeros(20)
    for j in range(20):
        wanted[j] = 1.0 + y[j] @ (x if read == "x" else wanted[:9])
    cell = [np.zeros(70)]
    caller(made, build(made), shared=(cell,))(x, y)
    np.testing.assert_allclose(cell[0], wanted[9], rtol=1e-12)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x, y = T.matrix("x"), T.matrix("y")
    f = symc.function([x, y], CASES["sums of exponentials"](T, x, y))
    a, b = (np.random.default_rng(6).normal(size=(n, 3)) for n in (1000, 500))
    results = []
    for threads in (1, 3):
        with symc.config.set(threads=threads):
            results.append(f(a, b))
    np.testing.assert_array_equal(results[0], results[1])
