"""Functions of what rows are folded to, in a loop of their own (`vectors/after_folds.py`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify

# What rows become, and whether the function has a loop of its own.
ROWS: dict[str, tuple[Callable[[Any, Any, Any], Any], bool]] = {
    "an exponential of a sum": (lambda xp, x, b: xp.exp(-x.sum(1)), True),
    "with another vector": (lambda xp, x, b: xp.tanh(x.sum(1) + b) * b, True),
    "of a mean of squares": (lambda xp, x, b: 1 / (1 + xp.exp((x * x).mean(1))), True),
    "of the greatest": (lambda xp, x, b: xp.log(abs(x).max(1) + 1), True),
    "of two folds": (lambda xp, x, b: xp.exp(x.min(1) - x.max(1)), True),
    "of a fold and of another": (lambda xp, x, b: xp.exp(-x.sum(1)) + x.max(1), False),
    "a quotient": (lambda xp, x, b: x.sum(1) / b, False),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("length", [None, 20])
def test_rows_mean_the_same(name: str, length: int | None) -> None:
    """Of 5,000 rows of 16 numbers tanh took four times as long as the sums."""
    rows, is_apart = ROWS[name]
    x, b = T.tensor("float64", shape=(None, length)), T.dvector("b")
    f = symc.function([x, b], rows(T, x, b), on_unused_input="ignore")
    functions = "exp|tanh|log1p|sigmoid_f64"
    loop = r"omp simd\n[^\n]*for [^\n]*\{\n(?: *const int64_t [^\n]*\n)?"
    calls = loop + rf"[^\n]*(?:{functions})\("
    assert bool(re.search(calls, f.source)) == is_apart, f.source
    verify(f.runner.compilation().optimised)
    for count in (0, 1, 3, 17):
        rng = np.random.default_rng(count)
        given, beside = rng.normal(size=(count, 20)), rng.random(count) + 1
        np.testing.assert_allclose(f(given, beside), rows(np, given, beside), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_state_that_is_a_function_of_its_product(dtype: str) -> None:
    rng = np.random.default_rng(0)
    weights, begun = rng.normal(size=(16, 16)).astype(dtype) / 4, rng.normal(size=16).astype(dtype)
    a, state = T.tensor(dtype, shape=(16, 16)), symc.shared(begun.copy())
    f = symc.function([a], [], updates=[(state, T.tanh(T.specify_shape(state, (16,)) @ a))])
    steps = symc.fori_loop(0, 5, lambda _, y: T.tanh(a @ y), T.specify_shape(state, (16,)))
    g = symc.function([a], steps)
    f(weights)
    wanted = np.tanh(begun @ weights)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(np.asarray(state.get_value()), wanted, rtol=tolerance)
    found: Any = g(weights)
    for _ in range(5):
        wanted = np.tanh(weights @ wanted)
    np.testing.assert_allclose(found, wanted, rtol=100 * tolerance)
