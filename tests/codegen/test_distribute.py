"""distribute: long bodies of loops in parts, with the same meaning as in one piece."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Loop, Program
from symc.codegen.passes import order
from symc.codegen.passes.vectors.distribute import LONG, distribute
from symc.codegen.passes.vectors.rows import STRIP
from symc.codegen.passes.walk import statements
from symc.codegen.text import text
from symc.codegen.verify.program import verify
from tests.codegen.arguments import arguments
from tests.codegen.programs import Random, run, same

SHORT = partial(distribute, longest=3, part=2)
CUT = tuple(SHORT if change.name == "distribute" else change for change in order.PASSES)
LENGTHS = [(0, 3), (3, 0), (1, 1), (2, 18), (33, 2)]

x, y = T.vector("x"), T.vector("y")
small, mask = T.fvector("small"), T.vector("mask", dtype="bool")
places, matrix = T.lvector("places"), T.matrix("matrix")
a = T.tanh(x) * y
b = T.where(a > 0.25, T.exp(-a * a), x - y)

CASES: dict[str, tuple[list[Any], Any, Callable[..., Any]]] = {
    "values, bools and sums": (
        [x, y, mask], [T.where(mask & (b > a), b, a * x), (a > b) & mask, (b * a).sum()],
        lambda x, y, m: _values(x, y, m),
    ),
    "elements at places that are computed": (
        [x, y, places], x[(places * 3 + 1) % x.shape[0]] * b + y[places % 2] * a,
        lambda x, y, p: (
            x[(p * 3 + 1) % len(x)] * _b(x, y) + y[p % 2] * (np.tanh(x) * y)
        ),
    ),
    "elements that are there on a condition": (
        [x, y], T.pad(b, 2) * T.concatenate([x, T.exp(y), a])[: x.shape[0] + 4],
        lambda x, y: np.pad(_b(x, y), 2)
        * np.concatenate([x, np.exp(y), np.tanh(x) * y])[: len(x) + 4],
    ),
    "floats of 32 bits and integers": (
        [small, places], T.cast(T.exp(small) * 8, "int32") // 3
        + places % (T.arange(places.shape[0]) - places.shape[0]),
        lambda s, p: (np.exp(s) * 8).astype(np.int32) // 3 + p % (np.arange(len(p)) - len(p)),
    ),
    "rows of a matrix": (
        [matrix], T.exp(T.tanh(matrix) * matrix.mean(axis=1, keepdims=True)).sum(axis=0),
        lambda m: np.exp(np.tanh(m) * m.mean(axis=1, keepdims=True)).sum(axis=0),
    ),
    "functions without a form for vectors": (
        [x, y], T.gammaln(T.exp(a)) * b + T.exp(x) % 0.7,
        lambda x, y: _gammaln(np.exp(np.tanh(x) * y)) * _b(x, y) + np.exp(x) % 0.7,
    ),
}  # fmt: skip


def _b(x: Any, y: Any) -> Any:
    a = np.tanh(x) * y
    return np.where(a > 0.25, np.exp(-a * a), x - y)


def _values(x: Any, y: Any, m: Any) -> list[Any]:
    a, b = np.tanh(x) * y, _b(x, y)
    return [np.where(m & (b > a), b, a * x), (a > b) & m, (b * a).sum()]


def _gammaln(x: Any) -> Any:
    import math

    return np.array([math.lgamma(value) for value in x])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(40))
def test_random_programs_mean_the_same_in_parts(seed: int) -> None:
    generator = Random(seed)
    made = generator.program()
    cases = [generator.arrays(made, n, c) for n, c in LENGTHS]
    wanted = [run(made, given) for given in cases]
    before = made
    for change in CUT:
        made = change(made)
    verify(made)
    for given, result in zip(cases, wanted, strict=True):
        got = run(made, given, backwards=True)
        assert same(result, got), f"seed {seed}\n{text(before)}\n{text(made)}"


@pytest.mark.parametrize("name", CASES)
def test_functions_mean_the_same_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, outputs, numpy = CASES[name]
    monkeypatch.setattr(order, "PASSES", CUT)
    f = symc.function(inputs, outputs, name="in_parts")
    assert "_in_strip" in f.source
    for n in (2, STRIP, 2 * STRIP + 3):
        given = arguments(inputs, n, below=9)
        got, wanted = f(*given), numpy(*given)
        for one, other in zip(
            *((r if isinstance(r, list) else [r]) for r in (got, wanted)), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-5 if small in inputs else 1e-12)


def test_updates_in_place_mean_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "PASSES", CUT)
    start = np.linspace(-1, 1, 2 * STRIP + 5)
    state = symc.shared(start)
    new = T.tanh(state) * x + T.exp(-state * state)
    f = symc.function([x], (new * state).sum(), updates={state: new}, name="in_parts")
    given = np.cos(start)
    wanted = np.tanh(start) * given + np.exp(-start * start)
    np.testing.assert_allclose(f(given), (wanted * start).sum(), rtol=1e-12)
    np.testing.assert_allclose(state.get_value(), wanted, rtol=1e-12)


def test_no_part_of_a_long_gradient_is_long() -> None:
    """4,000 operations in one loop took gcc eleven times as long as 1,000."""
    value = x
    for k in range(200):
        value = T.tanh(value * x + k) + y
    cost = value.sum()
    program = symc.function([x, y], [cost, *symc.grad(cost, [x, y])]).runner.compilation().optimised
    assert most(program) < LONG // 2


def most(program: Program) -> int:
    """The statements of the longest innermost loop."""
    loops = [
        stmt
        for kernel in program.kernels
        for stmt in statements(kernel.body)
        if isinstance(stmt, Loop) and not any(isinstance(inner, Loop) for inner in stmt.body)
    ]
    return max(len(loop.body) for loop in loops)
