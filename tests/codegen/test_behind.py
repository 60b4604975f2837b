"""behind: folds beside a scatter run in vector registers after it, and mean the same."""

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
from tests.codegen.test_scatters import added

k = T.vector("k", dtype="int64")
x, y, a = T.vector("x"), T.vector("y"), T.vector("a")
residual = y - a[k]
counted = T.vector("counted", dtype="int64")


def misfits(k: Any, x: Any, y: Any, a: Any) -> list[Any]:
    """What a regression on groups computes: two sums and a gradient."""
    r = y - a[k]
    return [(r * r * x).sum(), (r * x).sum(), added(a, k, r)]


def bent(r: Any, library: Any) -> Any:
    """What `packs` have no form for: each lane chooses for itself."""
    return library.where(r > 0 if library is np else T.gt(r, 0), r, 2 * r)


# What is computed, what it is, and how many loops fold behind a scatter.
CASES: dict[str, tuple[list[Any], Callable[..., list[Any]], int]] = {
    "two sums": (
        [(residual * residual * x).sum(), bent(residual * x, T).sum(), a[k].inc(residual)],
        lambda k, x, y, a: [
            ((y - a[k]) ** 2 * x).sum(), bent((y - a[k]) * x, np).sum(), added(a, k, y - a[k])
        ], 1,
    ),
    "what is kept as well": (
        [residual * x, (bent(residual * x, T) * x + residual).sum(), a[k].inc(residual * x)],
        lambda k, x, y, a: [
            (y - a[k]) * x, (bent((y - a[k]) * x, np) * x + (y - a[k])).sum(),
            added(a, k, (y - a[k]) * x),
        ], 1,
    ),
    "the greatest": (
        [T.max(T.where(T.gt(residual, 0), residual * x, -residual)), a[k].inc(residual)],
        lambda k, x, y, a: [
            np.where(y > a[k], (y - a[k]) * x, a[k] - y).max(), added(a, k, y - a[k])
        ], 1,
    ),
    "nothing gathered": (
        [(bent(x * y, T) * x + y * y * x).sum(), a[k].inc(x * y)],
        lambda k, x, y, a: [(bent(x * y, np) * x + y * y * x).sum(), added(a, k, x * y)], 1,
    ),
    "a short sum": (
        [residual.sum(), a[k].inc(residual)],
        lambda k, x, y, a: [(y - a[k]).sum(), added(a, k, y - a[k])], 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_folds_behind_scatters_mean_the_same(name: str) -> None:
    outputs, numpy, loops = CASES[name]
    f = symc.function([k, x, y, a], outputs, on_unused_input="ignore")
    for n in (1, STRIP, 2 * STRIP + 3, 40 * STRIP + 1):
        rng = np.random.default_rng(n)
        given = [rng.integers(-7, 7, n), *rng.normal(size=(2, n)), rng.normal(size=7)]
        for found, wanted in zip(f(*given), numpy(*given), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-9)
    assert behind(f) == loops


def behind(f: symc.Function) -> int:
    """How many vector loops fold what a scatter has left in rows."""
    program = f.runner.compilation().optimised
    return sum(
        isinstance(stmt, Loop) and stmt.kind == "vector" and stmt.var.name.endswith("_behind")
        for kernel in program.kernels
        for stmt in statements(kernel.body)
    )


def test_rows_beside_folds_are_no_scatters() -> None:
    m = T.tensor("float64", shape=(500, 3), name="m")
    shares = T.exp(m * m * 2.0 - T.max(m * m * 2.0, axis=1, keepdims=True))
    f = symc.function([m], shares / shares.sum(axis=1, keepdims=True))
    assert behind(f) == 0
    n = T.matrix("n")
    assert behind(symc.function([n], T.nnet.softmax(n * 2.0 + 1.0))) == 0


def test_sums_over_chunks_of_the_same_arrays_join_a_scatter() -> None:
    n = 3 * 16384 + 5  # known, so that the sums go over chunks
    k = T.tensor("int64", shape=(n,), name="k")
    x, y = (T.tensor("float64", shape=(n,), name=name) for name in ("x", "y"))
    a = T.tensor("float64", shape=(7,), name="a")
    r = y - a[k]
    f = symc.function([k, x, y, a], [(r * r * x).sum(), (r * x).sum(), a[k].inc(r)])
    rng = np.random.default_rng(0)
    given = [rng.integers(-7, 7, n), *rng.normal(size=(2, n)), rng.normal(size=7)]
    for found, wanted in zip(f(*given), misfits(*given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-9)
    program = f.runner.compilation().optimised
    assert (
        sum(not {"x", "y"}.isdisjoint(p.name for p in kernel.params) for kernel in program.kernels)
        == 1
    )


@pytest.mark.parametrize("seed", range(8))
def test_random_folds_and_scatters_agree_with_the_interpreter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = [x, y, a[k], T.cast(counted, "float64"), residual]
    for _ in range(8):
        one, other = (values[number] for number in rng.integers(0, len(values), 2))
        values.append([
            one + other, one * other, T.maximum(one, -other), T.where(T.gt(one, other), one, 0.5),
            T.tanh(one),
        ][rng.integers(0, 5)])  # fmt: skip
    folds: list[Callable[..., Any]] = [
        T.sum, T.max, T.min, lambda v: T.sum(T.cast(T.gt(v, 0), "int64"))
    ]  # fmt: skip
    chosen = rng.integers(0, len(values), 3)
    outputs: list[Any] = [folds[rng.integers(0, 4)](values[number]) for number in chosen]
    for number in rng.integers(len(values) - 4, len(values), 2):
        base = a * float(rng.integers(0, 2))
        outputs.append(base[k].inc(values[number]))
    if seed % 2:
        outputs.append(values[-1])
    rng.shuffle(outputs)
    given = [k, x, y, a, counted]
    compiled, meant = (
        symc.function(given, outputs, mode=mode, on_unused_input="ignore")
        for mode in ("default", "python")
    )
    for n in (2, STRIP + 1, 20 * STRIP + 7):
        data = [
            rng.integers(-7, 7, n), *rng.normal(size=(2, n)), rng.normal(size=7),
            rng.integers(-3, 4, n),
        ]  # fmt: skip
        for found, wanted in zip(compiled(*data), meant(*data), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-8)
