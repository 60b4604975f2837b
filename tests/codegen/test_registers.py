"""registers: rows that are added up in several registers have the same sums, and are found."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Loop
from symc.codegen.passes.vectors.registers import folds_lanes
from symc.codegen.passes.walk import statements

a, b = T.matrix("a"), T.vector("b")
small, k = T.fmatrix("small"), T.lmatrix("k")


def in_turn(a: Any, b: Any) -> Any:
    """Each step adds up a longer row than the one before."""

    def row(i: Any, x: Any) -> Any:
        return x[i].set(b[i] - (a[i, :i] * b[:i]).sum())

    return symc.fori_loop(0, b.shape[0], row, T.zeros_like(b))


def in_turn_numpy(a: Any, b: Any) -> Any:
    return np.array([b[i] - a[i, :i] @ b[:i] for i in range(len(b))])


def whole(a: Any, b: Any) -> Any:
    """Each step adds up a whole array, of more than one chunk if that is long."""
    return symc.fori_loop(0, 3, lambda i, x: x * (a[0] * b * x).sum(), 1.0)


def whole_numpy(a: Any, b: Any) -> Any:
    x = 1.0
    for _ in range(3):
        x = x * (a[0] * b * x).sum()
    return x


# What is computed, and in how many loops the lanes are folded.
CASES: dict[str, tuple[list[Any], Any, Callable[..., Any], int]] = {
    "rows": ([a], a.sum(axis=1), lambda a: a.sum(axis=1), 1),
    "products of rows": ([a, b], (a * b).sum(axis=1), lambda a, b: a @ b, 1),
    "two sums of rows": ([a], a.sum(axis=1) / (a * a).sum(axis=1),
                         lambda a: a.sum(axis=1) / (a * a).sum(axis=1), 1),
    "float32": ([small], (small * small).sum(axis=1, dtype="float32"),
                lambda a: (a.astype("float64") ** 2).sum(axis=1), 1),
    "in turn": ([a, b], in_turn(a, b), in_turn_numpy, 1),
    "backwards": ([a, b], (a * b[::-1]).sum(axis=1), lambda a, b: a @ b[::-1], 1),
    "everything": ([b], b.sum(), lambda b: b.sum(), 0),
    "exponentials": ([a], T.exp(a).sum(axis=1), lambda a: np.exp(a).sum(axis=1), 0),
    "columns": ([a], a.sum(axis=0), lambda a: a.sum(axis=0), 0),
    "integers": ([k], k.sum(axis=1), lambda k: k.sum(axis=1), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_sums_in_several_registers_mean_the_same(name: str) -> None:
    inputs, output, numpy, folds = CASES[name]
    f = symc.function(inputs, output)
    for n in (1, 7, 15, 16, 17, 31, 32, 33, 100, 200):
        rng = np.random.default_rng(n)
        square = rng.uniform(1, 2, (n, n))
        of = {a: square, b: square[0], small: square.astype("float32"), k: square.astype("int64")}
        given = [of[x] for x in inputs]
        np.testing.assert_allclose(
            f(*given), numpy(*given), rtol=1e-5 if small in inputs else 1e-12
        )
    assert folded(f) == folds


@pytest.mark.parametrize("n", [0, 1, 40, 40_000])
def test_arrays_that_each_step_adds_up(n: int) -> None:
    f = symc.function([a, b], whole(a, b))
    assert folded(f)
    rows, row = np.random.default_rng(n).uniform(0, 2 / (n + 1), (2, 1, n))
    np.testing.assert_allclose(f(rows, row[0]), whole_numpy(rows, row[0]), rtol=1e-12)


def folded(f: symc.Function) -> int:
    """How many loops fold lanes."""
    program = f.runner.compilation().optimised
    return sum(
        isinstance(stmt, Loop) and folds_lanes(stmt)
        for kernel in program.kernels
        for stmt in statements(kernel.body)
    )


def test_a_bug_registers_of_rows_were_folded_in_memory_where_threads_take_the_rows() -> None:
    """A softmax of four axes took 1.7 times as long as one of two, which the host shares out."""
    x = T.ftensor4("x")
    f = symc.function([x], T.softmax(x, axis=-1))
    (declared,) = re.findall(r"static [^\n]* share_kernel\(", f.source)
    assert "SYMC_FOLDED_CHOICES" in declared
    total = symc.function([x], x.sum())
    assert "SYMC_FOLDS" not in total.source
