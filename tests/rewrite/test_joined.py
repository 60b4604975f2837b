"""Reductions of concatenations: those of the parts, where nothing else reads the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.rewrite.pipeline import optimize
from symc.tensor.shape import Concatenate

KINDS = ["max", "min", "sum", "prod", "any", "all"]


def joins(expr: Tensor) -> bool:
    """Whether a concatenation is left."""
    return any(isinstance(node.op, Concatenate) for node in walk([optimize(expr)]))


CASES = [
    *((kind, dtype, 0) for kind in KINDS for dtype in ("int8", "bool", "float64")),
    ("max", "float32", 1), ("sum", "int64", 1), ("min", "float32", None), ("sum", "int64", None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "dtype", "axis"), CASES)
def test_values_are_those_of_the_whole(kind: str, dtype: str, axis: int | None) -> None:
    x, y = (T.tensor(dtype, (None, 3), name) for name in "xy")
    one = T.ones((1, 3), dtype)
    whole = getattr(T, kind)(T.concatenate([one, x, y]), axis=axis)
    rounds = kind in ("sum", "prod") and dtype == "float64"
    assert joins(whole) == (rounds or axis == 1)
    f = symc.function([x, y], whole)
    rng = np.random.default_rng(0)
    for rows, more in ((2, 3), (0, 2), (2, 0), (0, 0)):
        a, b = (rng.integers(-3, 4, (n, 3)).astype(dtype) for n in (rows, more))
        oracle = getattr(np, kind)(np.concatenate([np.ones((1, 3), dtype), a, b]), axis=axis)
        got = f(a, b)
        assert got.dtype == oracle.dtype
        np.testing.assert_allclose(got, oracle, rtol=1e-6)


@pytest.mark.parametrize("kind", ["max", "min"])
def test_nan_in_a_part_is_the_extreme(kind: str) -> None:
    x, y = T.vector("x"), T.vector("y")
    f = symc.function([x, y], getattr(T, kind)(T.concatenate([x, y])))
    for a, b in (([1.0], [np.nan, 2.0]), ([np.nan], [1.0]), ([], [np.nan])):
        assert np.isnan(f(np.asarray(a), np.asarray(b)))
    assert f(np.asarray([-np.inf]), np.asarray([])) == -np.inf


def test_an_extreme_of_nothing_is_refused_as_before() -> None:
    x, y = T.vector("x"), T.vector("y")
    f = symc.function([x, y], T.max(T.concatenate([x, y])))
    assert f(np.ones(2), np.zeros(0)) == 1.0
    with pytest.raises(ValueError, match="no elements"):
        f(np.zeros(0), np.zeros(0))


def test_a_whole_that_others_read_is_made_once() -> None:
    x = T.vector("x")
    whole = T.concatenate([[0.0], x])
    assert joins(whole - T.max(whole))
    assert joins(T.max(whole) + T.min(whole))


def test_many_parts_are_joined() -> None:
    x = T.vector("x")
    assert joins(T.max(T.concatenate([x + k for k in range(20)])))
    assert not joins(T.max(T.stack([x + k for k in range(4)]), axis=0))


def test_a_loop_whose_step_reads_nothing_before_its_first_element() -> None:
    """A table filled by the largest of a row so far: the row is empty in the first step."""

    def step(k: Any, table: Any) -> Any:
        before = T.concatenate([T.zeros((1,), "int64"), table[:k] + k])
        return table[k].set(T.max(before) % 7)

    f = symc.function([], symc.fori_loop(0, 6, step, T.zeros(6, "int64")))
    wanted = np.zeros(6, np.int64)
    for k in range(6):
        wanted[k] = max([0, *(wanted[:k] + k)]) % 7
    np.testing.assert_array_equal(f(), wanted)
