"""Sections: parts of a long kernel as functions of their own, with the same meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.emit import sections
from symc.codegen.passes import order
from symc.codegen.passes.vectors.rows import STRIP
from symc.codegen.targets.c_source import CSource
from tests.codegen.arguments import arguments
from tests.codegen.test_distribute import CASES, CUT, small

x, y = T.vector("x"), T.vector("y")


COMBINED: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a * b,
    lambda a, b: T.where(a > b, a, -b),
    lambda a, b: a - b.sum(axis=1, keepdims=True),
    lambda a, b: T.tanh(a) + b.max(axis=0),
    lambda a, b: T.exp(-a * a) * b.mean(),
)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies are cut, and loops become sections, from a few operations on."""
    monkeypatch.setattr(order, "PASSES", CUT)
    monkeypatch.setattr(sections, "LONG", 3)
    monkeypatch.setattr(sections, "SECTION", 2)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", CASES)
def test_functions_mean_the_same_in_sections(name: str) -> None:
    inputs, outputs, numpy = CASES[name]
    f = symc.function(inputs, outputs, name="in_sections")
    assert "_part_2(" in f.source
    for n in (2, STRIP, 2 * STRIP + 3):
        given = arguments(inputs, n, below=9)
        got, wanted = f(*given), numpy(*given)
        pairs = [(got, wanted)] if not isinstance(got, list) else zip(got, wanted, strict=True)
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-5 if small in inputs else 1e-12)


@pytest.mark.usefixtures("short")
def test_updates_in_place_mean_the_same_in_sections() -> None:
    start = np.linspace(-1, 1, 2 * STRIP + 5)
    state = symc.shared(start, name="state")
    new = T.tanh(state) * x + T.exp(-state * state)
    f = symc.function([x], (new * state).sum(), updates={state: new}, name="in_sections")
    given = np.cos(start)
    wanted = np.tanh(start) * given + np.exp(-start * start)
    np.testing.assert_allclose(f(given), (wanted * start).sum(), rtol=1e-12)
    np.testing.assert_allclose(state.get_value(), wanted, rtol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("seed", range(12))
def test_random_loops_mean_the_same_in_sections(seed: int) -> None:
    """Loops in loops, sums that loops share, and values that several of them need."""
    rng = np.random.default_rng(seed)
    matrix = T.matrix("matrix")
    pool: list[Any] = [matrix, x[:, None] * matrix, matrix + y]
    for _ in range(8):
        one, two = (pool[rng.integers(len(pool))] for _ in range(2))
        pool.append(COMBINED[rng.integers(len(COMBINED))](one, two))
    outputs = [pool[-1], pool[-2].sum(), *symc.grad(pool[-1].sum(), [x, y], disconnected="zero")]
    f = symc.function([matrix, x, y], outputs, on_unused_input="ignore", name=f"sections_{seed}")
    g = symc.function([matrix, x, y], outputs, on_unused_input="ignore", mode="python")
    for n in (1, STRIP + 3):
        given = rng.normal(size=(n, 5)), rng.normal(size=n), rng.normal(size=5)
        for one, other in zip(f(*given), g(*given), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_compilers_share_out_a_long_kernel() -> None:
    """A gradient of 1,000 operations was one function, which one gcc compiled for two seconds."""
    value = x
    for k in range(200):
        value = T.tanh(value * x + k) + y
    cost = value.sum()
    f = symc.function([x, y], [cost, *symc.grad(cost, [x, y])])
    assert "_part_3(" in f.source
    made = f.runner.compilation().source
    assert isinstance(made, CSource)
    first, second = made.parts.units(2)
    assert max(len(first), len(second)) < 0.65 * len(made.parts.text)
    n = 37
    given = np.linspace(0.5, 1, n), np.linspace(-1, 1, n)
    wanted = given[0]
    for k in range(200):
        wanted = np.tanh(wanted * given[0] + k) + given[1]
    np.testing.assert_allclose(f(*given)[0], wanted.sum(), rtol=1e-12)


def test_short_kernels_are_one_function() -> None:
    f = symc.function([x, y], T.tanh(x) * y + T.exp(x - y).sum())
    assert "_part_1(" not in f.source
