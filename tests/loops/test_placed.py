"""Slopes of what steps read by their number: added to in place, not as arrays of zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Call
from symc.codegen.passes.walk import expressions, nodes, statements
from symc.graph.walks import walk
from symc.loops.scan import Scan

X, W = T.dvector("x"), T.dmatrix("w")
K = T.lvector("k")
SMALL = T.constant(0.1)


def over(step: Callable[..., Any], begin: Any = SMALL, start: int = 0, stop: int = 0) -> Any:
    return symc.fori_loop(start, X.shape[0] - stop, step, begin)


PROGRAMS: dict[str, Callable[[], Any]] = {
    "an element": lambda: over(lambda i, s: T.tanh(s * 0.5 + X[i])),
    "from the end": lambda: over(lambda i, s: T.tanh(s * 0.5 + X[-1 - i])),
    "neighbours": lambda: over(lambda i, s: s * 0.5 + T.sin(X[i] * X[i + 1]), stop=1),
    "an element twice": lambda: over(lambda i, s: s * X[i] + X[i] ** 2),
    "all and one": lambda: over(lambda i, s: s * 0.5 + T.sin(X * X[i]).sum()),
    "a slice": lambda: over(lambda i, s: s * 0.5 + T.sin(X[i:]).sum() + X[:i].sum() * s),
    "a row": lambda: symc.fori_loop(0, W.shape[0], lambda i, s: T.tanh(s + W[i]), T.ones(3)).sum(),
    "a cell": lambda: over(lambda i, s: s * 0.5 + W[i % 4, i % 3] * W[i % 4, 0]),
    "places of places": lambda: over(lambda i, s: s * 0.5 + T.sin(X[K[i]] * s)),
    "rows of places": lambda: over(lambda i, s: s * 0.5 + T.sin(W[K[:2]] * s).sum() * X[i]),
    "what is written": lambda: over(
        lambda i, y: y[i].set(T.tanh(y[i - 1] + X[i])), X, start=1
    ).sum(),
    "what is added to": lambda: over(lambda i, y: y[i].inc(y[i - 1] * X[i]), X, start=1).sum(),
    "a number of steps": lambda: symc.while_loop(
        lambda i, s: (i < X.shape[0]) & (s < 50), lambda i, s: [i + 1, s * 0.5 + X[i] ** 2],
        [T.constant(0, dtype="int64"), SMALL],
    )[1],
    "all of a scan": lambda: symc.scan(
        lambda i, s: s * 0.5 + X[i] * X[0], sequences=T.arange(X.shape[0]), outputs_info=SMALL
    )[0].sum(),
}  # fmt: skip
IN_PLACE = ("an element", "neighbours", "a row", "a cell", "places of places")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("mode", ["default", "compile"])
def test_slopes(name: str, mode: str) -> None:
    slopes = symc.grad(PROGRAMS[name](), [X, W], disconnected="zero")
    f, g = (symc.function([X, W, K], slopes, mode=m, on_unused_input="ignore")
            for m in (mode, "python"))  # fmt: skip
    rng = np.random.default_rng(4)
    given = rng.standard_normal(5), rng.standard_normal((4, 3)), np.array([1, 3, 3, 0, -1])
    for _ in range(2):
        for got, wanted in zip(f(*given), g(*given), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", IN_PLACE)
def test_no_array_is_written_in_each_step(name: str) -> None:
    """Slopes of a loop over 4,000 elements took a thousand times those of 100."""
    slope = symc.grad(PROGRAMS[name](), [X, W], disconnected="zero")
    f = symc.function([X, W, K], slope, on_unused_input="ignore")
    assert "symc_run" in f.source
    assert "zeros[" not in f.source


def after_writing(i: Any, y: Any) -> Any:
    new = y[i].set(T.tanh(y[i - 1] + X[i]))
    return new[i - 1].set(new[i] * new[i - 1])


TRAJECTORIES: dict[str, Callable[[], Any]] = {
    "elements": lambda: over(lambda i, y: y[i].set(T.tanh(y[i - 1] + X[i])), X, start=1).sum(),
    "two before": lambda: over(lambda i, y: y[i].set(y[i - 1] * y[i - 2] + X[i]), X, start=2).sum(),
    "rows": lambda: symc.fori_loop(
        1, W.shape[0], lambda i, y: y[i].set(T.sin(y[i - 1] * X[i]) + y[0] * y[i]), W
    ).sum(),
    "cells": lambda: symc.fori_loop(
        1, W.shape[0], lambda i, y: y[i, 1].inc(y[i - 1, 2] * y[i, 0]), W
    ).sum(),
    "after writing": lambda: over(after_writing, X, start=1).sum(),
    "places": lambda: over(lambda i, y: y[K[i]].inc(y[i] * y[K[i]]), X).sum(),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_what_steps_back_read_of_a_long_state_is_kept_and_not_all_of_it(name: str) -> None:
    """The states of all steps took gigabytes for 30,000 elements, and seconds."""
    slopes = symc.grad(TRAJECTORIES[name](), [X, W], disconnected="zero")
    parts = [(n.op.part.kind, n.ndim - 1) for n in walk(slopes) if isinstance(n.op, Scan)]
    assert parts
    assert not {("history", X.ndim), ("history", W.ndim)} & set(parts)
    f, g = (symc.function([X, W, K], slopes, mode=m, on_unused_input="ignore")
            for m in ("default", "python"))  # fmt: skip
    rng = np.random.default_rng(4)
    given = rng.standard_normal(5), rng.standard_normal((4, 3)), np.array([1, 3, 3, 0, -1])
    for _ in range(2):
        for got, wanted in zip(f(*given), g(*given), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-14)


def test_what_a_branch_alone_reads_is_not_kept() -> None:
    """Its index may be out of range where the branch is not taken."""
    step = lambda i, y: y[i].set(symc.ifelse(K[i] < 5, y[K[i]] * X[i], X[i]))  # noqa: E731
    slope = symc.grad(over(step, X).sum(), X)
    f = symc.function([X, K], slope)
    values, places = np.arange(1.0, 5.0), np.array([9, 0, 1, 7])
    x = values.copy()
    moved = []
    for k in range(4):
        ends = []
        for by in (-1e-6, 1e-6):
            start = x.copy()
            start[k] += by
            y = start.copy()
            for i in range(4):
                y[i] = y[places[i]] * start[i] if places[i] < 5 else start[i]
            ends.append(y.sum())
        moved.append((ends[1] - ends[0]) / 2e-6)
    np.testing.assert_allclose(f(values, places), moved, rtol=1e-6)


@pytest.mark.parametrize("of", [T.tanh, T.exp, T.sigmoid], ids=["tanh", "exp", "sigmoid"])
def test_a_bug_numbers_that_take_long_were_computed_again_for_the_step_back(of: Any) -> None:
    path = over(lambda i, y: y[i].set(of(y[i - 1] * -0.5 - X[i])), X, start=1)
    slope = symc.grad(path.sum(), X)
    f = symc.function([X], slope)
    called = [
        node
        for kernel in f.runner.compilation().optimised.kernels
        for stmt in statements(kernel.body)
        for expr in expressions(stmt)
        for node in nodes(expr)
        if isinstance(node, Call)
    ]
    assert len(called) == 1
    x, steps = np.random.default_rng(3).normal(size=40), 1e-6 * np.eye(40)
    total = symc.function([X], path.sum())
    wanted = [(total(x + step) - total(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(f(x), wanted, rtol=1e-6, atol=1e-8)
