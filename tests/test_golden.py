"""Small functions in golden files: graph, program and source of each; and they are run.

Lines are counted from the model's ``def``, so that only a change of a model changes its file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import symc
from symc import tensor as T
from tests.conftest import Golden

F4 = np.float32
RNG = np.random.default_rng(0)


class Model(NamedTuple):
    """A request, arguments, and NumPy's results: outputs, then new values."""

    inputs: list[Any]
    outputs: list[Any]
    updates: list[Any]
    args: list[Any]
    wanted: list[Any]


def elementwise() -> Model:
    x, y, s = T.matrix("x"), T.vector("y"), T.scalar("s")
    z = T.exp(-x * y) + s / (1 + x**2)
    a, b = RNG.standard_normal((3, 4)), RNG.standard_normal(4)
    return Model([x, y, s], [z], [], [a, b, 2.0], [np.exp(-a * b) + 2 / (1 + a**2)])


def softmax() -> Model:
    x = T.fmatrix("x")
    p = T.softmax(x, axis=1)
    a = RNG.standard_normal((5, 7)).astype(F4)
    return Model([x], [p], [], [a], [np.exp(a) / np.exp(a).sum(axis=1, keepdims=True)])


def total() -> Model:
    x = T.fvector("x")
    a = RNG.standard_normal(100_000).astype(F4)
    return Model([x], [(x * x).sum()], [], [a], [(a.astype(float) ** 2).sum().astype(F4)])


def column_sums() -> Model:
    x = T.matrix("x")
    a = RNG.standard_normal((300, 70))
    return Model([x], [x.sum(axis=0)], [], [a], [a.sum(axis=0)])


def logistic_regression() -> Model:
    x, y = T.matrix("x"), T.lvector("y")
    w, b = symc.shared(np.zeros((4, 3)), name="w"), symc.shared(np.zeros(3), name="b")
    p = T.softmax(x @ w + b)
    loss = -T.log(p)[T.arange(y.shape[0]), y].mean()
    dw, db = symc.grad(loss, [w, b])
    updates = [(w, w - 0.5 * dw), (b, b - 0.5 * db)]
    a, k = RNG.standard_normal((6, 4)), np.array([0, 1, 2, 0, 1, 1])
    slope = (np.full((6, 3), 1 / 3) - np.eye(3)[k]) / 6
    wanted = [np.log(3.0), -0.5 * a.T @ slope, -0.5 * slope.sum(axis=0)]
    return Model([x, y], [loss], updates, [a, k], wanted)


def set_by_index() -> Model:
    x, k, v = T.matrix("x"), T.lvector("k"), T.matrix("v")
    a, c = RNG.standard_normal((5, 3)), RNG.standard_normal((2, 3))
    wanted = a.copy()
    wanted[[-1, 0]] = c
    wanted[1:3, ::2] += 1
    return Model([x, k, v], [x[k].set(v)[1:3, ::2].inc(1.0)], [], [a, [-1, 0], c], [wanted])


def cumulative_sum() -> Model:
    x = T.matrix("x")
    a = RNG.standard_normal((4, 6))
    return Model([x], [T.cumsum(x, axis=1)], [], [a], [a.cumsum(axis=1)])


def product() -> Model:
    a, b = T.matrix("a"), T.matrix("b")
    u, v = RNG.standard_normal((3, 5)), RNG.standard_normal((4, 3))
    return Model([a, b], [2 * (a.T @ b.T)], [], [u, v], [2 * u.T @ v.T])


def chosen_rows() -> Model:
    x, y = T.matrix("x"), T.vector("y")
    rows = x[y > 0]
    a, b = RNG.standard_normal((4, 2)), np.array([1.0, -1, 0, 2])
    return Model([x, y], [rows.sum(axis=0) / rows.shape[0]], [], [a, b], [a[b > 0].mean(axis=0)])


MODELS = [
    elementwise, softmax, total, column_sums, logistic_regression, set_by_index, cumulative_sum,
    product, chosen_rows,
]  # fmt: skip


@pytest.mark.parametrize("build", MODELS, ids=lambda build: build.__name__)
def test_golden(build: Callable[[], Model], golden: Golden) -> None:
    model = build()
    f = symc.function(model.inputs, model.outputs, updates=model.updates, name=build.__name__)
    start = build.__code__.co_firstlineno

    def line(found: re.Match[str]) -> str:
        return f"model.py:{int(found[1]) - start}"

    parts = {"graph": f.graph, "plan": f.explain(), "program": f.program, "source": f.source}
    text = "\n\n".join(f"=== {title} ===\n{body.rstrip()}" for title, body in parts.items())
    golden(f"functions/{build.__name__}.txt", re.sub(r"test_golden\.py:(\d+)", line, text) + "\n")
    results = [*f(*model.args), *(variable.get_value() for variable, _ in model.updates)]
    for value, wanted in zip(results, model.wanted, strict=True):
        assert value.shape == wanted.shape
        rtol = 1e-13 if value.dtype == np.float64 else 2e-6
        np.testing.assert_allclose(value, wanted, rtol=rtol, atol=rtol)
