"""Elementwise functions of concatenations: each part is computed, and the whole written once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import ShapeMismatch
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.rewrite.pipeline import optimize
from symc.tensor.shape import Concatenate


def stored(expr: Tensor) -> int:
    """The number of concatenations that are written for others to read."""
    root = optimize(expr)
    return sum(isinstance(node.op, Concatenate) for node in walk([root]) if node is not root)


def test_a_shift_by_one_is_written_once() -> None:
    x = T.vector("x")
    shifted = T.concatenate([T.full(1, 7.0), x[:-1]])
    f = symc.function([x], T.exp(x - shifted) * 2)
    assert stored(T.exp(x - shifted) * 2) == 0
    assert "workspace_bytes = bytes" not in f.source
    for n in (1, 2, 9, 1000):
        values = np.linspace(0.0, 1.0, n)
        before = np.concatenate([[7.0], values[:-1]])
        np.testing.assert_allclose(f(values), np.exp(values - before) * 2, rtol=1e-14)


def test_lengths_that_differ_are_refused_as_before() -> None:
    x = T.vector("x")
    f = symc.function([x], x - T.concatenate([[7.0], x[:-1]]))
    with pytest.raises(ShapeMismatch, match="axis 0 is 0 on the left and 1 on the right"):
        f(np.zeros(0))


def test_joins_of_the_same_parts_are_computed_part_by_part() -> None:
    x, y = T.vector("x"), T.vector("y")
    both = T.concatenate([x, y]) * T.concatenate([y, x])
    assert stored(both) == 1  # whose parts have other lengths: read as it is
    same = T.concatenate([x, y]) * T.concatenate([T.exp(x), T.exp(y)])
    assert stored(same) == 0
    f, g = symc.function([x, y], both), symc.function([x, y], same)
    a, b = np.arange(3.0), np.arange(5.0)
    np.testing.assert_array_equal(f(a, b), np.concatenate([a, b]) * np.concatenate([b, a]))
    exponentials = np.concatenate([np.exp(a), np.exp(b)])
    np.testing.assert_allclose(g(a, b), np.concatenate([a, b]) * exponentials, rtol=1e-14)


def test_what_others_read_too_and_many_parts_are_stored() -> None:
    x = T.vector("x")
    whole = T.concatenate([[0.0], x])
    assert stored(T.exp(whole) - T.max(whole)) == 1
    assert stored(T.concatenate([x * k for k in range(4)]) + 1) == 1
    assert stored(T.stack([x[0], x[1]]) * 2) == 1  # numbers: they are no loops


Module = Any


def arrays(rng: np.random.Generator, rows: int) -> list[np.ndarray[Any, Any]]:
    """Matrices of `rows` and 3, of one column, of one row, and a vector of 3."""
    shapes: list[tuple[int, ...]] = [(rows, 3), (rows, 3), (rows, 1), (1, 3), (3,)]
    return [rng.standard_normal(shape) for shape in shapes]


def random_value(rng: np.random.Generator, depth: int, given: Any, m: Module) -> Any:
    """A matrix of as many rows as the first given, made by random functions."""
    kind = rng.integers(0, 6) if depth else 0
    if kind == 0:
        return given[rng.integers(0, 2)]

    def value() -> Any:
        return random_value(rng, depth - 1, given, m)

    match int(kind):
        case 1:
            first, other = value(), value()
            cut = int(rng.integers(0, 3))
            return m.concatenate([first[:cut], other[cut:]])
        case 2:
            first, other, cut = value(), value(), int(rng.integers(1, 3))
            return m.concatenate([first[:, cut:], other[:, :cut]], axis=1)
        case 3:
            return value() * given[rng.integers(2, 5)] + value()
        case 4:
            return m.concatenate([value()[1:], value()[:1] * 2.0]) - value()
        case _:
            return m.where(value() > 0.5, m.concatenate([value()[-1:], value()[:-1]]), value())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed: int) -> None:
    columns = (None, 3) if seed % 2 else (None, None)
    known = [columns, columns, (None, 1), (1, 3), (3,)]
    inputs = [T.tensor("float64", shape, name) for shape, name in zip(known, "abcde", strict=True)]
    expr = random_value(np.random.default_rng(seed), 4, inputs, T)
    slope = symc.grad(T.sum(expr * inputs[1]), inputs[:2], disconnected="zero")
    f = symc.function(inputs, [expr, *slope], on_unused_input="ignore")
    plain = symc.function(inputs, [expr, *slope], on_unused_input="ignore", mode="python")
    for rows in (1, 2, 5, 33):
        values = arrays(np.random.default_rng(rows), rows)
        wanted = random_value(np.random.default_rng(seed), 4, values, np)
        got = f(*values)
        np.testing.assert_allclose(got[0], wanted, rtol=1e-12, atol=1e-12)
        for one, other in zip(got, plain(*values), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)


def test_a_step_with_a_shift_writes_its_state_once() -> None:
    """The length of the parts was another one than the state's, which was copied therefore."""
    x = T.matrix("x")

    def step(row: Any, state: Any) -> Any:
        before = T.concatenate([T.full(1, 9.0), state[:-1]])
        return row + T.minimum(state, before)

    f = symc.function([x], symc.scan(step, sequences=x[1:], outputs_info=x[0])[0][-1])
    steps = f.source[f.source.index("for (int64_t step = ") :]
    body = steps[: steps.index("}")]
    assert body.count("_kernel(") == 1
    assert "workspace + call->sizes" not in body
    values = np.random.default_rng(0).standard_normal((6, 7))
    state = values[0]
    for row in values[1:]:
        state = row + np.minimum(state, np.concatenate([[9.0], state[:-1]]))
    np.testing.assert_allclose(f(values), state, rtol=1e-15)
    with pytest.raises(ShapeMismatch):
        f(np.zeros((3, 0)))
