"""What a step of a loop stores and the next one loads stays in a register; nothing else does."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify

N = T.lscalar("n")
A = np.random.default_rng(3).normal(size=(9, 7))


def _cells(set_cell: Callable[[Any, Any, Any], Any]) -> Any:
    """A loop over the rows and columns of a matrix, all but the outermost."""
    a = T.matrix("a")

    def row(i: Any, u: Any) -> Any:
        return symc.fori_loop(1, a.shape[1] - 1, lambda j, u: set_cell(i, j, u), u)

    return symc.function([a], symc.fori_loop(1, a.shape[0] - 1, row, a))


def _by_numpy(set_cell: Callable[[Any, Any, Any], Any]) -> Any:
    u = A.copy()
    for i in range(1, 8):
        for j in range(1, 6):
            place, value = set_cell(i, j, u)
            u[place] = value
    return u


CELLS: dict[str, tuple[Callable[[Any, Any, Any], Any], bool]] = {
    "left": (lambda i, j, u: ((i, j), 0.25 * (u[i - 1, j] + u[i, j - 1] + u[i, j + 1])), True),
    "left twice": (lambda i, j, u: ((i, j), u[i, j - 1] * u[i, j - 1] - u[i, j]), True),
    "left, one further on": (lambda i, j, u: ((i, j + 1), u[i, j] * 0.5 + u[i, j + 1]), True),
    "above": (lambda i, j, u: ((i, j), u[i - 1, j] + 1.0), False),
    "two to the left": (lambda i, j, u: ((i, j + 1), u[i, j - 1] * 0.5), False),
    "right": (lambda i, j, u: ((i, j), u[i, j + 1] * 0.5), False),
    "the diagonal": (lambda i, j, u: ((j, j), u[j - 1, j - 1] + i), True),
    "a sum": (lambda i, j, u: ((i, 0), u[i, 0] + u[i, j]), False),  # a number of its own
    "always the same": (lambda i, j, u: ((i, 0), u[i, 0] * 0.5 + u[i, j]), True),
}


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("mode", ["default", "compile"])
def test_cells_of_a_table(name: str, mode: str) -> None:
    cell, carries = CELLS[name]

    def set_cell(i: Any, j: Any, u: Any) -> Any:
        place, value = cell(i, j, u)
        return u[place].set(value)

    with symc.config.set(mode=mode):
        function = _cells(set_cell)
    verify(function.runner.compilation().optimised)
    if symc.config.device == "cpu":
        assert ("_before[1]" in function.source) == carries
    np.testing.assert_allclose(function(A), _by_numpy(cell), rtol=1e-14)


def test_two_states_that_are_written_in_one_step() -> None:
    """Each of two recurrences, and one that reads the other one's state."""
    x, y = T.vector("x"), T.vector("y")

    def step(i: Any, x: Any, y: Any) -> list[Any]:
        return [x[i + 1].set(x[i] * 0.5 + y[i]), y[i + 1].set(y[i] - x[i])]

    function = symc.function([x, y], symc.fori_loop(0, x.shape[0] - 1, step, [x, y]))
    a, b = np.arange(6.0), np.ones(6)
    found = function(a, b)
    for i in range(5):
        a[i + 1], b[i + 1] = a[i] * 0.5 + b[i], b[i] - a[i]
    np.testing.assert_allclose(found, [a, b], rtol=1e-14)


def test_a_loop_of_no_steps_and_of_one() -> None:
    x = T.vector("x")
    sums = symc.fori_loop(0, N, lambda i, s: s[i + 1].set(s[i] + s[i + 1]), x)
    function = symc.function([x, N], sums)
    for count in (0, 1, 2, 4):
        wanted = np.arange(5.0)
        wanted[: count + 1] = np.cumsum(wanted[: count + 1])
        np.testing.assert_array_equal(function(np.arange(5.0), count), wanted)


def test_a_number_is_a_float_from_before_the_first_step() -> None:
    """A copy of its bytes made gcc keep it among integers: two moves in every step."""
    x = T.vector("x")
    most, records = symc.scan(
        lambda now, most, count: [T.maximum(most, now), count + T.gt(now, most)],
        sequences=[x],
        outputs_info=[T.constant(-1.0), T.constant(0)],
    )[0]
    function = symc.function([x], [most[-1], records[-1]])
    if symc.config.device == "cpu":
        assert "copy_bytes(state" not in function.source
    assert [each.item() for each in function(np.array([0.5, 0.25, 3.0]))] == [3.0, 2]


def test_a_ragged_row_is_summed_without_memory() -> None:
    """Rows of a sparse matrix; a slice's length differs from step to step."""
    starts, columns = T.lvector("starts"), T.lvector("columns")
    values, x = T.vector("values"), T.vector("x")

    def row(i: Any, y: Any) -> Any:
        begin, end = starts[i], starts[i + 1]
        return y[i].set((values[begin:end] * x[columns[begin:end]]).sum())

    count = starts.shape[0] - 1
    product = symc.fori_loop(0, count, row, T.zeros(count))
    function = symc.function([starts, columns, values, x], product)
    if symc.config.device == "cpu":
        assert "malloc" not in function.source, "memory for partial results in each step"
    some = np.random.default_rng(1)
    lengths = some.integers(0, 30, 12)
    given = np.concatenate([[0], np.cumsum(lengths)])
    places, numbers = some.integers(-5, 5, given[-1]), some.normal(size=given[-1])
    vector = some.normal(size=5)
    wanted = [numbers[a:b] @ vector[places[a:b]] for a, b in pairwise(given)]
    np.testing.assert_allclose(function(given, places, numbers, vector), wanted, atol=1e-13)
    places[given[3]] = 5
    with pytest.raises(IndexError):
        function(given, places, numbers, vector)


def test_memory_of_a_ragged_slice_is_kept_over_steps() -> None:
    """A product reads a copy of rows below: its memory is asked for where it must be larger."""
    a, b = T.matrix("a"), T.matrix("b")

    def row(i: Any, b: Any) -> Any:
        return b[i].inc(a[: i + 1, i] @ b[: i + 1])

    function = symc.function([a, b], symc.fori_loop(0, b.shape[0], row, b))
    if symc.config.device == "cpu":
        assert "_room" in function.source
    left, wanted = A[:, :6], A[:6].copy()
    given = wanted.copy()
    for i in range(6):
        wanted[i] += left[: i + 1, i] @ wanted[: i + 1]
    for _ in range(2):
        np.testing.assert_allclose(function(left, given), wanted, rtol=1e-12)


def test_more_than_one_kernel_of_a_step_may_be_changed() -> None:
    x, picked = T.vector("x"), T.lvector("picked")
    t = T.lscalar("t")

    def body(i: Any, v: Any, t: Any) -> Any:
        t = picked[7 - i] - t
        v = v[::2].set(v[T.minimum(i, 6)] * 0.4)
        return [v[2 * i + 1].inc(v[t % 7] * 0.4), t]

    results = symc.fori_loop(1, 3, body, [x, t])
    f = symc.function([x, picked, t], results)
    v, number, places = np.arange(7.0), 3, np.arange(7)
    for i in (1, 2):
        number = places[7 - i] - number
        v[::2] = v[i] * 0.4
        v[2 * i + 1] += v[number % 7] * 0.4
    got = f(np.arange(7.0), places, 3)
    np.testing.assert_allclose(got[0], v)
    assert got[1] == number


def _edit_distance(a: Any, b: Any) -> Any:
    table = T.zeros((a.shape[0] + 1, b.shape[0] + 1), "int64")
    table = table[0, :].set(T.arange(b.shape[0] + 1))[:, 0].set(T.arange(a.shape[0] + 1))

    def row(i: Any, d: Any) -> Any:
        def cell(j: Any, d: Any) -> Any:
            least = T.minimum(T.minimum(d[i, j + 1], d[i + 1, j]) + 1, d[i, j] + T.neq(a[i], b[j]))
            return d[i + 1, j + 1].set(least)

        return symc.fori_loop(0, b.shape[0], cell, d)

    return symc.fori_loop(0, a.shape[0], row, table)


def test_the_number_of_the_first_step_is_loaded_before_the_loop() -> None:
    """A condition in each step made the edit distance of two words take 1.8 times numba's time."""
    a, b = T.lvector("a"), T.lvector("b")
    function = symc.function([a, b], _edit_distance(a, b))
    for n, m in ((0, 0), (0, 3), (3, 0), (1, 1), (7, 5)):
        one, other = np.arange(n) % 3, np.arange(m) % 2
        d = np.add.outer(np.arange(n + 1), np.arange(m + 1))
        for i in range(n):
            for j in range(m):
                least = min(d[i, j + 1], d[i + 1, j]) + 1
                d[i + 1, j + 1] = min(least, d[i, j] + (one[i] != other[j]))
        np.testing.assert_array_equal(function(one, other), d)
    if symc.config.device == "cpu":
        assert "if (step_2 > 0)" not in function.source


@pytest.mark.parametrize("least", [True, False])
def test_sums_of_extremes_wrap_as_they_did(least: bool) -> None:
    """The sum of the smaller one is the one or the other sum, also where that has no place."""
    x = T.lvector("x")
    extreme = T.minimum if least else T.maximum
    step = 1 if least else -1
    of = symc.fori_loop(
        0, x.shape[0] - 1, lambda i, x: x[i + 1].set(extreme(x[i], x[i + 1]) + step), x
    )
    function = symc.function([x], of)
    end = np.iinfo(np.int64).max if least else np.iinfo(np.int64).min
    given = np.array([end, end, 5, 3, end, end - step, 0])
    wanted = given.copy()
    with np.errstate(over="ignore"):
        for i in range(6):
            smaller = min(wanted[i], wanted[i + 1]) if least else max(wanted[i], wanted[i + 1])
            wanted[i + 1] = smaller + np.int64(step)
    np.testing.assert_array_equal(function(given), wanted)


def test_rows_that_take_turns_carry_numbers_too() -> None:
    """The longest common subsequence, of which each row is written beside the one before."""
    a, b = T.lvector("a"), T.lvector("b")

    def row(i: Any, before: Any) -> Any:
        def cell(j: Any, now: Any) -> Any:
            longer = T.where(T.eq(a[i], b[j]), before[j] + 1, T.maximum(before[j + 1], now[j]))
            return now[j + 1].set(longer)

        return symc.fori_loop(0, b.shape[0], cell, T.zeros_like(before))

    first = T.zeros(b.shape[0] + 1, "int64")
    function = symc.function([a, b], symc.fori_loop(0, a.shape[0], row, first))
    one, other = np.arange(9) % 4, np.arange(8) % 3
    before = np.zeros(9, np.int64)
    for letter in one:
        now = np.zeros(9, np.int64)
        for j in range(8):
            same = letter == other[j]
            now[j + 1] = before[j] + 1 if same else max(before[j + 1], now[j])
        before = now
    np.testing.assert_array_equal(function(one, other), before)
    verify(function.runner.compilation().optimised)
    if symc.config.device == "cpu":
        assert "_before[1]" in function.source


def test_a_cell_that_is_changed_twice_in_a_step_is_carried() -> None:
    a = T.vector("a")
    both = symc.fori_loop(
        1, a.shape[0], lambda j, a: (lambda b: b[j].set(b[j] / 9.0))(a[j].inc(a[j - 1])), a
    )
    function = symc.function([a], both)
    wanted = np.arange(6.0)
    for j in range(1, 6):
        wanted[j] = (wanted[j] + wanted[j - 1]) / 9.0
    np.testing.assert_allclose(function(np.arange(6.0)), wanted, rtol=1e-15)
    if symc.config.device == "cpu":
        assert "_before[1]" in function.source


def test_each_of_three_recurrences_is_carried() -> None:
    """Only the first of a kernel's recurrences was: a step waited for its own stores."""
    states = [T.vector(name) for name in "xyz"]

    def step(i: Any, x: Any, y: Any, z: Any) -> list[Any]:
        return [
            x[i + 1].set(x[i] * 0.5 + 1),
            y[i + 1].set(y[i] * 0.25 + x[i]),
            z[i + 1].set(z[i] - y[i] * z[i + 1]),
        ]

    function = symc.function([*states, N], symc.fori_loop(0, N, step, states))
    if symc.config.device == "cpu":
        assert len(set(re.findall(r"(\w+_before\w*)\[1\]", function.source))) >= 3
    for count in (0, 1, 2, 7):
        x, y, z = (np.linspace(-1, k, 9) for k in (1, 2, 3))
        found = function(x, y, z, count)
        for i in range(count):
            x[i + 1], y[i + 1], z[i + 1] = (
                x[i] * 0.5 + 1, y[i] * 0.25 + x[i], z[i] - y[i] * z[i + 1],
            )  # fmt: skip
        np.testing.assert_allclose(found, [x, y, z], rtol=1e-14)


def test_two_loops_that_run_the_same_kernel() -> None:
    """A number was handed on in the kernel of both, and to one of them alone."""
    x, y = T.vector("x"), T.vector("y")

    def decayed(x: Any) -> Any:
        n = x.shape[0]
        return symc.fori_loop(1, n, lambda i, out: out[i].set(out[i - 1] * 0.5 + out[i]), x)

    f = symc.function([x, y], [decayed(x), decayed(y)])
    for given, found in zip(
        ([1.0, 2.0, 3.0], [4.0, 0.0]), f([1.0, 2.0, 3.0], [4.0, 0.0]), strict=True
    ):
        expected = list(given)
        for i in range(1, len(given)):
            expected[i] += expected[i - 1] * 0.5
        np.testing.assert_allclose(found, expected)
