"""beside: folds of the same arrays go over them together, and mean the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Launch, Loop
from symc.codegen.passes.kernels.beside import MOST

x, y, m = T.vector("x"), T.vector("y"), T.matrix("m")

CASES: dict[str, tuple[list[Any], list[Any], Callable[..., list[Any]], int]] = {
    "sums and extremes": (
        [x, y], [x.sum(), (x * x).sum(), (x * y).max(), x.min()],
        lambda x, y: [x.sum(), (x * x).sum(), (x * y).max(), x.min()], 1,
    ),
    "what does not need them stands between": (
        [x], [x.mean(), x.max(), T.exp(x).sum()],
        lambda x: [x.mean(), x.max(), np.exp(x).sum()], 1,
    ),
    "matrices": (
        [m], [m.sum(), T.sqr(m).sum(), m.max()],
        lambda m: [m.sum(), (m * m).sum(), m.max()], 1,
    ),
    "numbers and flags": (
        [x, y], [T.where(x > 0, y, 0).sum(), (x > 0).sum()],
        lambda x, y: [y[x > 0].sum(), (x > 0).sum()], 1,
    ),
    "one needs the other": (
        [x], [x.sum(), T.sqr(x - x.sum()).sum()],
        lambda x: [x.sum(), ((x - x.sum()) ** 2).sum()], 2,
    ),
    "of other arrays": (
        [x, y], [x.sum(), T.exp(y).sum()], lambda x, y: [x.sum(), np.exp(y).sum()], 2,
    ),
    "of another length": (
        [x], [x.sum(), x[1:].max()], lambda x: [x.sum(), x[1:].max()], 2,
    ),
}  # fmt: skip


def loops_over_chunks(f: symc.Function) -> int:
    """How many kernels that are launched go over an array in chunks."""
    program = f.runner.compilation().optimised
    launched = {step.kernel for step in program.steps if isinstance(step, Launch)}
    return sum(
        any(isinstance(s, Loop) and s.var.name.startswith("chunk") for s in kernel.body)
        for kernel in program.kernels
        if kernel.name in launched
    )


@pytest.mark.parametrize("n", [1, 100, 50_000])
@pytest.mark.parametrize("name", CASES)
def test_folds_together_mean_the_same(name: str, n: int) -> None:
    inputs, outputs, numpy, kernels = CASES[name]
    f = symc.function(inputs, outputs)
    rng = np.random.default_rng(n)
    arrays = [rng.normal(size=(n + 1,) if v.ndim == 1 else (7, n)) for v in inputs]
    for got, wanted in zip(f(*arrays), numpy(*arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-10)
    assert loops_over_chunks(f) == kernels


def test_many_folds_take_several_kernels() -> None:
    """Sixty sums of one array took sixty passes over it, and one kernel of all takes gcc long."""
    f = symc.function([x], [T.exp(-T.sqr(x - k)).sum() for k in range(40)])
    values = np.linspace(0, 40, 1001)
    wanted = [np.exp(-((values - k) ** 2)).sum() for k in range(40)]
    np.testing.assert_allclose(f(values), wanted, rtol=1e-12)
    assert loops_over_chunks(f) == -(-40 // MOST)


def test_a_bug_two_folds_of_one_loop_computed_what_both_need_twice() -> None:
    """The first was stored before the second began, so that their loops were no neighbours."""
    f = symc.function([x, y], [T.where(x > 0.5, y, 0).sum(), (x > 0.5).sum()])
    assert f.source.count("> 0.5 ?") == 1
    assert len(re.findall(r"reduction\(\+:\w+\) reduction\(\+:\w+\)", f.source)) == 1


@pytest.mark.parametrize("n", [5, 40_000])
def test_folds_of_steps_that_read_rows_are_together(n: int) -> None:
    def mean(low: Any, high: Any) -> Any:
        mask = (low <= x) & (x < high)
        return T.where(mask, y, 0).sum() / mask.sum()

    f = symc.function([x, y, m], symc.map(mean, [m[0], m[1]])[0])
    kernels = f.runner.compilation().optimised.kernels
    assert sum(kernel.name.startswith("folds") for kernel in kernels) == 1
    assert not any(kernel.name.startswith("sum") for kernel in kernels)
    places, values = np.linspace(0, 1, n), np.random.default_rng(n).normal(size=n)
    bounds = np.array([[0.0, 0.1, 0.5], [0.3, 0.9, 1.0]])
    wanted = [values[(lo <= places) & (places < hi)].mean() for lo, hi in bounds.T]
    np.testing.assert_allclose(f(places, values, bounds), wanted, rtol=1e-9)


def test_folds_that_write_a_part_of_what_others_read_stay_apart() -> None:
    """Each step folds the rows before its own, and a row of its own of which they are parts."""

    def step(i: Any, m: Any) -> Any:
        return m[i, 0].set(m[i - 1].sum() + m[i].max())

    f = symc.function([m], symc.fori_loop(1, m.shape[0], step, m))
    given = np.random.default_rng(1).normal(size=(5, 70_000))
    wanted = given.copy()
    for i in range(1, 5):
        wanted[i, 0] = wanted[i - 1].sum() + wanted[i].max()
    np.testing.assert_allclose(f(given), wanted, rtol=1e-9)
