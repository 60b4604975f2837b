"""Branches in branches: the work of compiling them grows with their number, not by powers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.graph.request import Request
from symc.pipeline.identity import graph_text

LEVELS = 16


def _nested(level: int, k: Any, i: Any, a: Any, b: Any, c: Any) -> list[Any]:
    if not level:
        return [a[i % 3].set(T.sin(b[0])), b[1].inc(c), c * 0.5]
    inner = _nested(level - 1, k, i, b[i % 3].set(c), a, c + 1)
    chosen: list[Any] = symc.ifelse(
        T.eq((k + level + i) % 3, 0), inner, [a, b[0].set(c), c - level]
    )
    return chosen


def _in_python(level: int, k: int, i: int, a: Any, b: Any, c: float) -> list[Any]:
    if not level:
        a, b = a.copy(), b.copy()
        a[i % 3] = np.sin(b[0])
        b[1] += c
        return [a, b, c * 0.5]
    b = b.copy()
    if (k + level + i) % 3 == 0:
        b[i % 3] = c
        return _in_python(level - 1, k, i, b, a, c + 1)
    b[0] = c
    return [a, b, c - level]


def _looped() -> tuple[list[Any], list[Any]]:
    v, w, k = T.vector("v"), T.vector("w"), T.lscalar("k")
    states = symc.fori_loop(0, k, lambda i, *s: _nested(LEVELS, k, i, *s), [v, w, 0.5])
    return [v, w, k], states


@pytest.mark.parametrize("mode", ["python", "default"])
def test_branches_in_many_branches_compile_with_their_gradient(mode: str) -> None:
    """Their keys, lengths and uses were collected once for each way into them: in hours."""
    inputs, states = _looped()
    cost = (states[0] * states[1]).sum() + states[2]
    f = symc.function(
        inputs, [*states, *symc.grad(cost, inputs[:2])], mode=mode, on_unused_input="ignore"
    )
    v, w = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3])
    last: list[Any] = [v, w, 0.5]
    for i in range(3):
        last = _in_python(LEVELS, 3, i, *last)
    for value, wanted in zip(f(v, w, 3)[:3], last, strict=True):
        np.testing.assert_allclose(value, wanted)


def test_the_text_that_a_graph_is_known_by_does_not_double_with_each_level() -> None:
    inputs, states = _looped()
    f = symc.function(inputs, states, mode="python", on_unused_input="ignore")
    request = f.request
    assert isinstance(request, Request)
    assert len(graph_text(request)) < 100_000
