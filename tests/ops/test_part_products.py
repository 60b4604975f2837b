"""Products with parts of matrices, which BLAS reads where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Const, Pointer, Routine
from symc.tensor.part_products import MatVecPart

i, j = T.scalar("i", dtype="int64"), T.scalar("j", dtype="int64")


def parts_read(f: symc.Function) -> int:
    """How many arguments of routines are parts of arrays."""
    steps = every_step(f.runner.compilation().optimised.steps)
    args = [arg for step in steps if isinstance(step, Routine) for arg in step.args]
    return sum(isinstance(arg, Pointer) and not isinstance(arg.offset, Const) for arg in args)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_part_of_a_matrix_times_a_vector(dtype: str) -> None:
    """Rows and columns from anywhere, none of them, too."""
    m = T.matrix("m", dtype=dtype)
    x, y = T.vector("x", dtype=dtype), T.vector("y", dtype=dtype)
    f = symc.function([m, i, j, x, y], [m[i:, j:] @ x, y @ m[i:, j:]])
    rng = np.random.default_rng(1)
    given = rng.normal(size=(40, 30)).astype(dtype)
    for a, b in ((0, 0), (3, 7), (-5, -9), (39, 29), (40, 3), (3, 30), (50, 50)):
        part = given[a:, b:]
        x_, y_ = (rng.normal(size=(n,)).astype(dtype) for n in part.shape[::-1])
        for found, wanted in zip(f(given, a, b, x_, y_), (part @ x_, y_ @ part), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4 if dtype == "float32" else 1e-12)
    assert parts_read(f) == 2


def test_a_part_of_what_a_loop_changes() -> None:
    """Each step reads the matrix as the step before left it."""
    m = T.matrix("m")

    def step(k: Any, m: Any) -> Any:
        return m[k, k:].set(m[:, k] @ m[:, k:] / 10.0)

    f = symc.function([m], symc.fori_loop(0, m.shape[1], step, m))
    given = np.random.default_rng(2).normal(size=(12, 12))
    wanted = given.copy()
    for k in range(12):
        wanted[k, k:] = wanted[:, k] @ wanted[:, k:] / 10.0
    np.testing.assert_allclose(f(given), wanted, rtol=1e-10)


def test_parts_whose_neighbours_are_apart_are_copied() -> None:
    m, x = T.matrix("m"), T.vector("x")
    f = symc.function([m, i, x], m[i:, ::2] @ x)
    given = np.arange(60.0).reshape(6, 10)
    np.testing.assert_allclose(f(given, 2, np.arange(5.0)), given[2:, ::2] @ np.arange(5.0))
    assert parts_read(f) == 0


def test_its_meaning() -> None:
    m, x = T.matrix("m"), T.vector("x")
    part = m[i:, 1:]
    op = MatVecPart(trans=True, entries=part.op.entries)  # type: ignore[attr-defined]
    given, y = np.arange(60.0).reshape(6, 10), np.arange(4.0)
    found = symc.function([m, x, i], op(m, x, i), mode="python")(given, y, 2)
    np.testing.assert_allclose(found, y @ given[2:, 1:])
