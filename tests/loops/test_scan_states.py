"""States of loops take the dtype and the shape of a step's result, or say why they cannot."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, LoopError, ShapeMismatch
from tests.loops.test_scan_api import r, values

ROW = T.vector("row")


@pytest.mark.parametrize(
    ("initial", "wanted"),
    [
        (0, "float64"),
        (0.5, "float64"),
        (np.float32(0), "float32"),
        (np.int8(0), "float32"),
        (np.float64(0), "float64"),
        (np.zeros(1, np.float32), "float32"),
        (np.zeros(3, np.float64), "float64"),
    ],
)
def test_states_take_the_dtype_and_shape_of_the_result(initial: Any, wanted: str) -> None:
    x = T.tensor("float32", (None, 3), name="x")
    if isinstance(initial, np.generic):
        initial = np.full(3, initial)
    result, _ = symc.scan(lambda row, total: total + row, x, initial)
    given = r(4, 3).astype(np.float32)
    found = values([x], result, given)
    assert (found.dtype, found.shape) == (np.dtype(wanted), (4, 3))
    np.testing.assert_allclose(found, given.cumsum(axis=0) + np.asarray(initial), rtol=1e-5)


def test_a_state_is_not_narrowed() -> None:
    x, start = T.vector("x"), T.scalar("start")
    result, _ = symc.scan(lambda row, kept: T.cast(row > kept, "int8"), x, start)
    assert result.dtype.name == "float64"
    np.testing.assert_array_equal(values([x, start], result, [1.0, 3.0], 2.0), [0.0, 1.0])


def test_a_row_that_broadcasts_within_the_loop() -> None:
    """Theano: "Inconsistency in the inner graph of scan"."""
    x, start = T.matrix("x"), T.row("start")
    result, _ = symc.scan(lambda h: T.tanh(h + x), outputs_info=start, n_steps=2)
    given, first = r(3, 2), r(1, 2)
    expected = np.tanh(first + given)
    found = values([x, start], result, given, first)
    np.testing.assert_allclose(found, [expected, np.tanh(expected + given)])


def test_states_of_another_rank_name_both_lines() -> None:
    x = T.matrix("x")
    with pytest.raises(LoopError, match="a state has 0 axes and 1 after a step") as error:
        symc.scan(lambda row, total: total + row, x, T.scalar("start"))
    assert str(error.value).count("test_scan_states.py") == 3


def test_states_of_another_length_name_both_lines() -> None:
    start = T.tensor("float64", (3,), name="start")
    with pytest.raises(LoopError, match="has length 3 along axis 0 and 4 after a step") as error:
        symc.scan(lambda a: T.concatenate([a, [1.0]]), outputs_info=start, n_steps=2)
    assert isinstance(error.value, TypeError)
    w, v = T.matrix("w"), T.vector("v")
    result, _ = symc.scan(lambda a: T.dot(w, a), outputs_info=v, n_steps=2)
    with pytest.raises(LoopError, match="has length 2 along axis 0 and 3 after a step") as error:
        values([w, v], result, r(3, 2), r(2))
    assert "  initial v " in str(error.value)  # as it was given, without the axis of its rows


def test_lengths_that_differ_within_a_step_are_found_before_it() -> None:
    x, y = T.matrix("x"), T.vector("y")
    result, _ = symc.scan(lambda row: row + y, x)
    with pytest.raises(ShapeMismatch, match="axis 0 is 2 on the left and 3 on"):
        values([x, y], result, r(4, 2), r(3))


def test_an_index_out_of_range_within_a_step() -> None:
    x, i = T.vector("x"), T.lvector("i")
    result, _ = symc.scan(lambda i: x[i], i)
    np.testing.assert_array_equal(values([x, i], result, [1.0, 2.0], [1, -1]), [2.0, 2.0])
    with pytest.raises(BadIndex, match="index 2 is out of bounds for axis 0 with length 2"):
        values([x, i], result, [1.0, 2.0], [1, 2])


def test_python_numbers_as_states_are_int64_and_float_x() -> None:
    """`while_loop(lambda i: i < 499, ..., 0)` raised "499 out of bounds for int8"."""
    for start, dtype in ((0, "int64"), (0.0, "float64"), ([0][0], "int64"), (0j, "complex128")):
        for last in (
            symc.while_loop(lambda s: abs(s) < 499, lambda s: s + 1, start),
            symc.fori_loop(0, 499, lambda _, s: s + 1, start),
            symc.scan(lambda s: s + 1, outputs_info=start, n_steps=499)[0][-1],
            symc.foldl(lambda _, s: s + 1, T.zeros((499,)), start)[0],
            symc.foldr(lambda _, s: s + 1, T.zeros((499,)), start)[0],
        ):
            assert last.dtype == dtype
            assert values([], last) == 499
    for narrow in (np.int8(0), np.uint8(0), np.float16(0), np.float32(0), np.array(0, "int16")):
        assert symc.fori_loop(0, 9, lambda _, s: s + 1, narrow).dtype == narrow.dtype


def test_python_numbers_as_states_beside_other_dtypes() -> None:
    rows = {dtype: T.vector(dtype=dtype) for dtype in ("int8", "int64", "float32", "float64")}

    def total(row: Any, start: Any) -> str:
        return str(symc.reduce(lambda x, total: total + x, rows[row], start)[0].dtype)

    assert [total(row, 0) for row in rows] == ["int64", "int64", "float64", "float64"]
    assert [total(row, 0.5) for row in rows] == ["float64"] * 4
    assert [total(row, True) for row in rows] == list(rows)
    with symc.config.set(floatX="float32"):
        assert total("float32", 0) == total("float32", 0.0) == "float32"
        assert total("float64", 0) == total("float64", 0.0) == "float64"
        pair = {"initial": [0.0, 1.0], "taps": [-2, -1]}
        assert symc.scan(lambda a, b: a + b, outputs_info=pair, n_steps=3)[0].dtype == "float32"


def test_states_of_several_dtypes() -> None:
    count, half, on = symc.while_loop(
        lambda i, s, on: on, lambda i, s, on: (i + 1, s + 0.5, i < 300), [0, 0, True]
    )
    assert [count.dtype, half.dtype, on.dtype] == ["int64", "float64", "bool"]
    assert values([], [count, half]) == [301, 150.5]


def test_numbers_that_a_step_gives_are_weak() -> None:
    """`lambda s: 0` made a float32 state float64."""
    start = T.fscalar("start")
    assert symc.fori_loop(0, 2, lambda _, s: 0, start).dtype == "float32"
    assert symc.while_loop(lambda s: s > 0, lambda s: 0, start).dtype == "float32"


def test_a_number_on_one_side_of_a_branch_takes_the_others_dtype() -> None:
    c, single = T.bscalar("c"), T.fscalar("single")
    for then, otherwise, dtype in (
        (single, 0, "float32"), (0.5, single, "float32"), (T.lscalar(), 0.5, "float64"),
        (1, 0.5, "float64"), (1, 2, "int64"), (True, False, "bool"), (np.int8(1), 2, "int8"),
    ):  # fmt: skip
        assert symc.ifelse(c, then, otherwise).dtype == dtype
    assert [r.dtype for r in symc.ifelse(c, [single, 1], [0, 2.0])] == ["float32", "float64"]


@pytest.mark.parametrize("mode", ["compile", "python"])
def test_states_beside_slices_are_compared_in_each_step(mode: str) -> None:
    """They were refused: only the step knows how long ``y[3 * i : 3 * i + 3]`` is."""
    x, y, n = T.vector("x"), T.vector("y"), T.lscalar("n")
    product = symc.fori_loop(0, n, lambda i, t: y[3 * i : 3 * i + 3] * t, x)
    last = symc.fori_loop(0, n, lambda i, t: y[3 * i : 3 * i + 3], x)
    rows, _ = symc.scan(lambda i, t: t + y[i : i + 3], sequences=T.arange(n), outputs_info=x)
    f = symc.function([x, y, n], [product, last, rows], mode=mode)
    start, numbers = np.array([1.0, 2.0, 3.0]), np.arange(1.0, 10)
    for steps in range(4):
        found = f(start, numbers, steps)
        triples = numbers.reshape(3, 3)
        np.testing.assert_allclose(found[0], start * triples[:steps].prod(axis=0))
        np.testing.assert_allclose(found[1], triples[steps - 1] if steps else start)
        sums = np.cumsum([numbers[i : i + 3] for i in range(steps)], axis=0)
        np.testing.assert_allclose(found[2], start + sums.reshape(-1, 3))
    for bad in ((start, numbers, 4), (start[:2], numbers, 1), (start, numbers[:2], 1)):
        with pytest.raises(ShapeMismatch):
            f(*bad)


def test_gradients_of_states_beside_slices() -> None:
    x, y = T.vector("x"), T.vector("y")
    product = symc.fori_loop(0, 2, lambda i, t: T.sin(y[3 * i : 3 * i + 3] * t), x)
    f = symc.function([x, y], symc.grad(product.sum(), [x, y]), mode="compile")
    start, numbers = np.array([0.3, -0.2, 0.9]), np.linspace(0.1, 1.0, 6)
    by_x, by_y = f(start, numbers)

    def total(x: Any, y: Any) -> Any:
        return np.sin(y[3:] * np.sin(y[:3] * x)).sum()

    step = 1e-6
    for at in range(3):
        move = step * np.eye(3)[at]
        wanted = (total(start + move, numbers) - total(start - move, numbers)) / (2 * step)
        np.testing.assert_allclose(by_x[at], wanted, rtol=1e-7)
    for at in range(6):
        move = step * np.eye(6)[at]
        wanted = (total(start, numbers + move) - total(start, numbers - move)) / (2 * step)
        np.testing.assert_allclose(by_y[at], wanted, rtol=1e-7)


@pytest.mark.parametrize("mode", ["compile", "python"])
def test_rows_of_lengths_that_only_steps_know(mode: str) -> None:
    """Windows were refused, though all are as long as the first one."""
    y, n, k = T.vector("y"), T.lscalar("n"), T.lscalar("k")
    windows, _ = symc.scan(lambda i: y[i : i + k], sequences=T.arange(n))
    f = symc.function([y, n, k], [windows, windows.sum(axis=1)], mode=mode)
    numbers = np.arange(9.0)
    for count, width in ((3, 2), (8, 2), (1, 4), (9, 1), (2, 0)):
        wanted = np.array([numbers[i : i + width] for i in range(count)])
        for found, expected in zip(f(numbers, count, width), (wanted, wanted.sum(1)), strict=True):
            np.testing.assert_array_equal(found, expected)
    assert f(numbers, 0, 2)[0].shape == (0, 0)
    with pytest.raises(ShapeMismatch, match="axis 0 has length 1, and must have 2"):
        f(numbers, 9, 2)  # the last one is shorter
    g = symc.function([y, n, k], symc.grad((windows**2).sum(), y), mode=mode)
    np.testing.assert_array_equal(g(numbers, 3, 2), [0, 4, 8, 6, 0, 0, 0, 0, 0])


def test_rows_that_masks_choose() -> None:
    a = T.matrix("a")
    f = symc.function([a], symc.scan(lambda row: row[row > 0], sequences=a)[0])
    found = f(np.array([[1.0, -1, 2], [-1, 3, 4]]))
    np.testing.assert_array_equal(found, [[1, 2], [3, 4]])
    with pytest.raises(ShapeMismatch):
        f(np.array([[1.0, -1, 2], [-1, -3, 4]]))
    assert f(np.zeros((0, 3))).shape == (0, 0)


def test_lengths_of_the_first_step_with_taps_states_and_variables() -> None:
    """What a step is given, as it is in the first one: rows from the end, states, variables."""
    y, w = T.vector("y"), symc.shared(2, name="w")
    x = T.constant(np.array([1, 2, 1, 2, 1, 2]))

    def step(now: Any, before: Any, state: Any) -> Any:
        return [y[now : now + before + w], state + 0], {w: w + 0}

    (rows, _), updates = symc.scan(
        step, sequences={"input": x, "taps": [0, -1]}, outputs_info=[None, 0], go_backwards=True
    )
    f = symc.function([y], rows, updates=updates)
    with pytest.raises(ShapeMismatch, match="axis 0 has length 4, and must have 3"):
        f(np.arange(9.0))
    same = T.constant(np.array([1, 1, 1]))
    rows, updates = symc.scan(
        lambda now, before: (y[now : now + before + w], {w: w + 0}),
        sequences={"input": same, "taps": [0, -1]},
    )
    g = symc.function([y], rows, updates=updates)
    np.testing.assert_array_equal(g(np.arange(9.0)), [[1, 2, 3]] * 2)


def test_the_interpreter_keeps_no_rows_that_nobody_wants() -> None:
    """An error in step 300 of a loop over 8 MB was explained in 2.4 GB."""
    places, w = T.lvector("places"), symc.shared(np.zeros(100_000), name="w")
    last = symc.fori_loop(0, places.shape[0], lambda i, w: w[places[i]].inc(1.0), w)
    f = symc.function([places], last[0], mode="python")
    tracemalloc.start()
    try:
        assert f(np.zeros(50, int)) == 50
        assert tracemalloc.get_traced_memory()[1] < 8e6
    finally:
        tracemalloc.stop()


def test_the_interpreter_keeps_the_rows_that_are_wanted() -> None:
    rows_of = T.vector("rows_of")
    taps = {"initial": T.constant(np.array([1.0, 2.0, 3.0])), "taps": [-3, -1]}

    def more(x: Any, a: Any, first: Any, last: Any) -> Any:
        return x + a, first + x * last, a - first

    (one, two, three), _ = symc.scan(more, rows_of, [0.5, taps, None])
    every = [one, two, three, two[-1], one[-1], three[-1]]
    f = symc.function([rows_of], every, mode="python")
    for wanted, found in zip(f([1.0, 2.0, 3.0, 4.0]), every, strict=True):
        alone = symc.function([rows_of], found, mode="python")
        np.testing.assert_array_equal(alone([1.0, 2.0, 3.0, 4.0]), wanted)
    a, rows = 0.5, [1.0, 2.0, 3.0]
    for x in (1.0, 2.0, 3.0, 4.0):
        a = x + a
        rows.append(rows[-3] + x * rows[-1])
    np.testing.assert_array_equal(f([1.0, 2.0, 3.0, 4.0])[1], rows[3:])
    assert f([1.0, 2.0, 3.0, 4.0])[4] == a


@pytest.mark.parametrize(
    ("step", "gradient"),
    [
        (lambda i: T.concatenate([T.arange(2) * 1.0, ROW[i : i + 2]]), [1.0, 1.0, 0.0]),
        (lambda i: T.concatenate([ROW[ROW > 0], ROW[ROW[i] < ROW]]), [1.0, 2.0, 1.0]),
    ],
)
def test_gradients_of_no_steps_with_lengths_that_only_steps_know(
    step: Any, gradient: list[float]
) -> None:
    """Their rows have no elements, and the parts of a concatenation had to fit into those."""
    n = T.lscalar("n")
    rows, _ = symc.scan(step, T.arange(n))
    f = symc.function([ROW, n], [rows, symc.grad(rows.sum(), ROW)])
    assert [found.tolist() for found in f([3.0, 4.0, 2.0], 0)] == [[], [0.0] * 3]
    assert f([3.0, 4.0, 2.0], 1)[1].tolist() == gradient


def test_a_gradient_names_the_lengths_that_differ() -> None:
    """It said that an index is out of bounds, of a permutation that nobody wrote."""
    n = T.lscalar("n")
    rows, _ = symc.scan(lambda i: T.sort(ROW[i - 1 : i + 1]), T.arange(n))
    gradient = symc.function([ROW, n], symc.grad((rows**2).sum(), ROW))
    with pytest.raises(ShapeMismatch):
        gradient([3.0, 4.0, 2.0], 2)


@pytest.mark.parametrize("mode", ["compile", "python"])
def test_a_bug_an_error_did_not_say_that_a_state_changed_its_length(mode: str) -> None:
    y = T.vector("y")
    left = symc.fori_loop(0, 2, lambda _, kept: kept[kept > 0], y)
    f = symc.function([y], left, mode=mode)
    np.testing.assert_array_equal(f([1.0, 2.0]), [1.0, 2.0])
    with pytest.raises(ShapeMismatch, match="a state has length 3 along axis 0 and 2 after a step"):
        f([1.0, -1.0, 2.0])
