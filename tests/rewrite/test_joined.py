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


def joins(expr: Tensor, mode: str = "default") -> bool:
    """Whether a concatenation is left."""
    return any(isinstance(node.op, Concatenate) for node in walk([optimize(expr, mode)]))


CASES = [
    *((kind, dtype, 0) for kind in KINDS for dtype in ("int8", "bool", "float64")),
    ("max", "float32", 1), ("sum", "int64", 1), ("min", "float32", None), ("sum", "int64", None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "dtype", "axis"), CASES)
def test_values_are_those_of_the_whole(kind: str, dtype: str, axis: int | None) -> None:
    x, y = (T.tensor(dtype, (None, 3), name) for name in "xy")
    one = T.ones((1, 3), dtype)
    whole = getattr(T, kind)(T.concatenate([one, x, y]), axis=axis)
    assert count_of_joins(whole) == (axis == 1)
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


def count_of_joins(expr: Tensor) -> int:
    """How many concatenations are left."""
    return sum(isinstance(node.op, Concatenate) for node in walk([optimize(expr)]))


def turned(module: Any, angle: Any, inner: int, outer: int) -> Any:
    """A matrix for each angle, of rows that are stacks."""
    c, s, zero = module.cos(angle), module.sin(angle), 0 * angle
    rows = [[c, -s, zero], [s, c, zero], [zero, zero, zero + 1]]
    return module.stack([module.stack(row, axis=inner) for row in rows], axis=outer)


@pytest.mark.parametrize("outer", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("inner", [0, 1, -1])
def test_stacks_of_stacks(inner: int, outer: int) -> None:
    x = T.vector("x")
    made = turned(T, x, inner, outer)
    beside = {(0, 0), (0, 1), (1, 1), (1, 2)}  # the outer axis is next to the inner one
    assert count_of_joins(made) == (1 if (inner % 2, outer % 3) in beside else 4)
    f = symc.function([x], [made, symc.grad((made * made[:, ::-1]).sum(), x)])
    for length in (0, 1, 7):
        angle = np.linspace(0.1, 2.0, length)
        got, slope = f(angle)
        np.testing.assert_allclose(got, turned(np, angle, inner, outer), rtol=1e-12, atol=1e-15)
        step = 1e-6
        ends = [f(angle + sign * step)[0] for sign in (1, -1)]
        sums = [(end * end[:, ::-1]).sum() for end in ends]
        assert abs((sums[0] - sums[1]) / (2 * step) - slope.sum()) < 1e-6


def test_matrices_of_numbers() -> None:
    a, b, c, d = (T.scalar(name) for name in "abcd")
    made = T.stack([T.stack([a, b]), T.stack([c, d])])
    assert count_of_joins(made) == 1
    assert np.array_equal(symc.function([a, b, c, d], made)(1, 2, 3, 4), [[1, 2], [3, 4]])


def test_stacks_with_constants() -> None:
    x = T.vector("x")
    made = T.stack([T.stack([x, x], axis=1), T.zeros((3, 2))], axis=1)
    want = [[[1, 1], [0, 0]], [[2, 2], [0, 0]], [[3, 3], [0, 0]]]
    assert np.array_equal(symc.function([x], made)([1, 2, 3]), want)
    assert np.array_equal(T.stack([T.constant(np.eye(2))] * 2).eval(), [np.eye(2)] * 2)


def test_stacks_that_others_read_stay() -> None:
    x, y = T.vector("x"), T.vector("y")
    row = T.stack([x * 2.0, y], axis=1)
    whole = T.stack([row, T.stack([y, x], axis=1)], axis=1)
    f = symc.function([x, y], [row, whole])
    row_of, whole_of = f([1, 2], [3, 4])
    assert np.array_equal(row_of, [[2, 3], [4, 4]])
    assert np.array_equal(whole_of, [[[2, 3], [3, 1]], [[4, 4], [4, 2]]])


def test_rows_of_unknown_lengths_are_compared() -> None:
    x, y = T.matrix("x"), T.matrix("y")
    rows = [T.concatenate(pair, axis=1) for pair in ([x, y], [y, x])]
    f = symc.function([x, y], T.stack(rows, axis=1))
    a, b = np.ones((2, 1)), np.full((2, 3), 2.0)
    want = np.stack([np.concatenate([a, b], 1), np.concatenate([b, a], 1)], 1)
    assert np.array_equal(f(a, b), want)
    x3 = T.tensor("float64", (None, 3), "x3")
    pieces = [x3, x3[:, :1]], [x3[:, 1:], x3[:, 1:]]
    made = T.stack([T.concatenate(pair, axis=1) for pair in pieces], axis=1)
    assert count_of_joins(made) == 1
    given = np.arange(6.0).reshape(2, 3)
    rows_of = [[[*row, row[0]], [*row[1:], *row[1:]]] for row in given]
    assert np.array_equal(symc.function([x3], made)(given), rows_of)


def test_joins_of_joins_of_rows() -> None:
    x, y, z = (T.matrix(name) for name in "xyz")
    made = T.concatenate([T.concatenate([x, y]), z, T.concatenate([z, x])])
    assert count_of_joins(made) == 1
    a, b, c = np.ones((1, 2)), np.zeros((0, 2)), np.full((3, 2), 3.0)
    assert np.array_equal(symc.function([x, y, z], made)(a, b, c), np.concatenate([a, b, c, c, a]))
    with pytest.raises(symc.errors.ShapeMismatch):
        symc.function([x, y, z], made)(a, np.zeros((1, 3)), c)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
@pytest.mark.parametrize("kind", ["sum", "prod", "mean", "max"])
def test_stacked_rows_are_combined_as_they_come(kind: str, dtype: str) -> None:
    """They were stored first, all of them: 16 windows of a signal took seven times JAX's time."""
    if kind == "max" and dtype.startswith("complex"):
        return
    x = T.vector("x", dtype=dtype)

    def windows(x: Any, m: Any) -> Any:
        return getattr(m, kind)(m.stack([x[k : x.shape[0] - 5 + k] for k in range(6)]), axis=0)

    assert not joins(windows(x, T))
    f = symc.function([x], windows(x, T))
    for n in (5, 6, 40):
        values = np.linspace(0.5, 3.0, n).astype(dtype)
        got, wanted = f(values), windows(values, np)
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_sums_of_stacked_float16_are_rounded_once() -> None:
    x = T.vector("x", dtype="float16")
    total = T.stack([x] * 9 + [x / 512]).sum(axis=0)
    assert joins(total)
    values = np.array([1.0, 333.0], "float16")
    wanted = np.stack([values] * 9 + [values / np.float16(512)]).astype("float64").sum(0)
    np.testing.assert_array_equal(symc.function([x], total)(values), wanted.astype("float16"))


def test_sums_of_floats_keep_their_order_where_results_are_exact() -> None:
    x, y = T.matrix("x"), T.matrix("y")
    for axis in (0, None):
        total = T.concatenate([x, y]).sum(axis=axis)
        assert not joins(total)
        assert joins(total, "compile")
        f = symc.function([x, y], total)
        for n in (0, 1, 300):
            a, b = np.random.default_rng(n).random((2, n, 30))
            got, wanted = f(a, b), np.concatenate([a, b]).sum(axis=axis)
            np.testing.assert_allclose(got, wanted, rtol=1e-13)
    assert not joins((T.concatenate([x, y], axis=1) ** 2).sum(axis=1))
    half = T.matrix("half", dtype="float16")
    assert joins(T.concatenate([half, half * 2]).sum())


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint8", "bool"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_of_stacked_rows_are_the_first(name: str, dtype: str) -> None:
    x = T.tensor(dtype, (None, None, None), "x")

    def place(x: Any, m: Any, axis: int) -> Any:
        return getattr(m, name)(m.stack([x[k] for k in range(5)], axis=axis), axis=axis)

    rng = np.random.default_rng(1)
    for axis in (0, 1, 2, -1):
        assert not joins(place(x, T, axis))
        f = symc.function([x], place(x, T, axis))
        for shape in ((5, 0, 3), (5, 1, 1), (5, 9, 31)):
            values = rng.integers(0, 3, shape).astype(dtype)
            got, wanted = f(values), place(values, np, axis)
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_nan_among_rows_is_the_place(name: str) -> None:
    rows = [T.vector(f"row{k}") for k in range(3)]
    f = symc.function(rows, getattr(T, name)(T.stack(rows), axis=0))
    numbers = [np.nan, -np.inf, np.inf, 1.0]
    given = np.array(np.meshgrid(numbers, numbers, numbers)).reshape(3, -1)
    np.testing.assert_array_equal(f(*given), getattr(np, name)(given, axis=0))


def test_places_that_are_chosen_among_many_or_long_parts_are_found_in_the_whole() -> None:
    x, y = T.vector("x"), T.vector("y")
    assert joins(T.argmax(T.concatenate([x, y])))
    assert joins(T.argmax(T.stack([x + k for k in range(40)]), axis=0))
    stacked = T.stack([x, y])
    assert joins(T.argmax(stacked, axis=1))
    f = symc.function([x, y], [T.argmax(stacked, axis=0), stacked.sum()])
    places, total = f([1.0, 2.0], [3.0, 1.0])
    assert places.tolist() == [1, 0]
    assert total == 7.0


def test_rows_of_a_stack_that_are_not_as_long_are_refused() -> None:
    x, y = T.matrix("x"), T.matrix("y")
    f = symc.function([x, y], T.argmax(T.stack([x[:, :1], y]), axis=0))
    with pytest.raises(symc.errors.ShapeMismatch, match="stack"):
        f(np.ones((3, 2)), np.ones((3, 2)))


@pytest.mark.parametrize("kind", ["sum", "max", "any"])
def test_along_another_axis_the_results_are_joined(kind: str) -> None:
    x, y = T.tensor("float32", (None, 3), "x"), T.tensor("float32", (None, 3), "y")
    f = symc.function([x, y], getattr(T, kind)(T.concatenate([x, y]), axis=1))
    found = optimize(getattr(T, kind)(T.concatenate([x, y]), axis=1))
    assert [node.ndim for node in walk([found]) if isinstance(node.op, Concatenate)] == [1]
    for rows, more in ((2, 3), (0, 2), (0, 0)):
        a, b = (np.random.default_rng(n).random((n, 3), np.float32) for n in (rows, more))
        wanted = getattr(np, kind)(np.concatenate([a, b]), axis=1)
        np.testing.assert_allclose(f(a, b), wanted, rtol=1e-6)
    whole = T.stack([x, x * x, -x], axis=1)
    g = symc.function([x], getattr(T, kind)(whole, axis=(0, 2)))
    a = np.random.default_rng(5).random((7, 3), np.float32)
    wanted = getattr(np, kind)(np.stack([a, a * a, -a], axis=1), axis=(0, 2))
    np.testing.assert_allclose(g(a), wanted, rtol=1e-5)


def test_an_element_of_joined_parts_is_that_of_a_part() -> None:
    x, y = (T.tensor("float64", (None, 5), name) for name in "xy")
    stacked = T.stack([x, T.exp(y), x + y], axis=1)
    joined = T.concatenate([x[:, :2], y[:, 1:3], T.exp(x)], axis=1)
    picked = [
        stacked[:, 0], stacked[:, -1, ::2], stacked[1:, 1, 2], joined[:, 1], joined[0, 3],
        T.stack([stacked[:, 1], stacked[:, 2]], axis=-1)[..., 1],
    ]  # fmt: skip
    arrays = np.random.default_rng(0).normal(size=(2, 4, 5))
    a, b = arrays
    pile = np.stack([a, np.exp(b), a + b], 1)
    row = np.concatenate([a[:, :2], b[:, 1:3], np.exp(a)], 1)
    wanted = [
        pile[:, 0], pile[:, -1, ::2], pile[1:, 1, 2], row[:, 1], row[0, 3], pile[:, 2],
    ]  # fmt: skip
    for expr, value in zip(picked, wanted, strict=True):
        assert not joins(expr)
        f = symc.function([x, y], expr, on_unused_input="ignore")
        np.testing.assert_allclose(f(a, b), value)
    of_unknown = T.concatenate([x, x[: y.shape[0]]])
    for expr in (of_unknown[3], stacked[:, 0] * stacked.prod(1)):
        assert joins(expr)


def test_elements_that_joined_parts_do_not_have_are_refused() -> None:
    x = T.dmatrix("x")
    with pytest.raises(IndexError):
        T.stack([x, x])[2]
    f = symc.function([x], T.concatenate([x[:1], x])[-3])
    assert f(np.ones((3, 2))).shape == (2,)
    with pytest.raises(IndexError):
        f(np.ones((1, 2)))
