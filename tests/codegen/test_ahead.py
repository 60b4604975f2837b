"""ahead: what scatters add is computed before them in strips, and means the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Loop
from symc.codegen.passes.vectors.ahead import STRIP
from symc.codegen.passes.walk import statements
from tests.codegen.test_scatters import added, last

k = T.vector("k", dtype="int64")
x, y, a = T.vector("x"), T.vector("y"), T.vector("a")


def weighted(k: Any, x: Any, y: Any, a: Any) -> Any:
    """What counts, at its places."""
    return added(a, k, np.where((x > -0.5) & (x < 0.5), y, 0.0))


# What is computed, what it is, and how many rows wait for scatters.
CASES: dict[str, tuple[Any, Callable[..., Any], int]] = {
    "a value": (a[k].inc(T.where(T.gt(x, -0.5) & T.lt(x, 0.5), y, 0.0)), weighted, 1),
    "a function": (a[k].inc(T.exp(x)), lambda k, x, y, a: added(a, k, np.exp(x)), 1),
    "a place": (
        a[T.cast(T.clip(x * 2.0 + y, -3.0, 3.0), "int64")].inc(y),
        lambda k, x, y, a: added(a, np.clip(x * 2.0 + y, -3.0, 3.0).astype(int), y), 1,
    ),
    "values that are set": (
        a[k].set(x * y + T.exp(y)), lambda k, x, y, a: last(a, k, x * y + np.exp(y)), 1,
    ),
    "little to compute": (a[k].inc(x * y), lambda k, x, y, a: added(a, k, x * y), 0),
    "arithmetic of a row": (  # whose place needs an addition for each of its elements
        T.set_subtensor(T.outer(a, y)[k[:7] % 7], T.outer(x[:7], y)),
        lambda k, x, y, a: last(np.outer(a, y), k[:7] % 7, np.outer(x[:7], y)), 0,
    ),
    "gathered": (
        a[k].inc(T.exp(y[k % 7]) * x), lambda k, x, y, a: added(a, k, np.exp(y[k % 7]) * x), 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_computed_ahead_means_the_same(name: str) -> None:
    output, numpy, rows = CASES[name]
    f = symc.function([k, x, y, a], output, on_unused_input="ignore")
    for n in (7, STRIP, 2 * STRIP + 3):
        rng = np.random.default_rng(n)
        given = [rng.integers(-7, 7, n), *rng.normal(size=(2, n)), rng.normal(size=7)]
        np.testing.assert_allclose(f(*given), numpy(*given), rtol=1e-12, atol=1e-12)
    assert strips(f) == rows


def strips(f: symc.Function) -> int:
    """How many loops compute rows for a scatter."""
    program = f.runner.compilation().optimised
    return sum(
        isinstance(stmt, Loop) and stmt.kind == "vector" and stmt.var.name.endswith("_ahead")
        for kernel in program.kernels
        for stmt in statements(kernel.body)
    )


def test_folds_and_rows_stay_one_loop() -> None:
    m, n = T.matrix("m"), T.matrix("n")
    rows = m[k].inc(T.exp(n * n + n))
    f = symc.function([m, n, k], [T.exp(m * m + m).sum(), T.exp(m * m + m).sum(1), rows])
    assert strips(f) == 0
