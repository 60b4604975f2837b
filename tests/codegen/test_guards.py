"""Indexes of a step are checked by the loop that reads at them, and errors stay what they were."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex, ShapeMismatch

STARTS, COLUMNS, OTHERS = T.lvector("starts"), T.lvector("columns"), T.lvector("others")
VALUES, X = T.vector("values"), T.vector("x")
INPUTS = [STARTS, COLUMNS, VALUES, X]


def rows(i: Any, y: Any) -> Any:
    begin, end = STARTS[i], STARTS[i + 1]
    return y[i].set((VALUES[begin:end] * X[COLUMNS[begin:end]]).sum())


def product(start: Any = None) -> Any:
    count = STARTS.shape[0] - 1
    return symc.fori_loop(0, count, rows, T.zeros(count) if start is None else start)


def given(**changed: Any) -> list[Any]:
    arrays = {
        "starts": [0, 2, 2, 5, 6], "columns": [0, -3, 1, 2, -1, 0],
        "values": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "x": [10.0, 20.0, 30.0],
    }  # fmt: skip
    return [np.array(each) for each in (arrays | changed).values()]


def wanted(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    return np.array([values[a:b] @ x[columns[a:b]] for a, b in itertools.pairwise(starts)])


def test_one_loop_checks_and_reads() -> None:
    f = symc.function(INPUTS, product())
    assert np.array_equal(f(*given()), wanted(*given()))
    # One loop: four elements side by side, and those that are left; and one for short rows.
    assert len(re.findall(r"if \(symc_is_place\(", f.source)) == 6
    assert "all_kernel" not in f.source


@pytest.mark.parametrize("mode", ["default", "python"])
@pytest.mark.parametrize(
    ("columns", "bad"),
    [([3, 0, 0, 0, 0, 0], 3), ([0, 0, 0, 0, -4, 0], -4), ([0, 0, 0, 0, 0, 2**62], 2**62)],
)
def test_an_index_out_of_bounds_is_named(columns: Any, bad: int, mode: str) -> None:
    f = symc.function(INPUTS, product(), mode=mode)
    with pytest.raises(BadIndex, match=f"index {bad} is out of bounds for axis 0 with length 3"):
        f(*given(columns=columns))


def test_nothing_is_read_of_an_array_without_elements() -> None:
    f = symc.function(INPUTS, product())
    with pytest.raises(BadIndex, match="length 0"):
        f(*given(x=np.zeros(0)))
    assert not f(*given(x=np.zeros(0), starts=[0, 0, 0])).any()


@pytest.mark.parametrize("mode", ["default", "python"])
@pytest.mark.parametrize("length", [1, 5, 7])
def test_other_checks_of_a_step_come_as_before(length: int, mode: str) -> None:
    f = symc.function(INPUTS, product(), mode=mode)
    arrays = given(values=np.ones(length), starts=[0, 2, 2, 5, 7])
    with pytest.raises(ShapeMismatch):
        f(*arrays)


def test_the_index_that_fails_first_is_named() -> None:
    f = symc.function(INPUTS, product())
    with pytest.raises(BadIndex, match="index 7 is"):
        f(*given(columns=[0, 0, 0, 7, 8, 9]))


def test_two_arrays_of_indexes() -> None:
    def row(i: Any, y: Any) -> Any:
        begin, end = STARTS[i], STARTS[i + 1]
        return y[i].set((X[COLUMNS[begin:end]] * VALUES[OTHERS[begin:end]]).sum())

    count = STARTS.shape[0] - 1
    out = symc.fori_loop(0, count, row, T.zeros(count))
    f = symc.function([*INPUTS, OTHERS], out)
    others = np.array([5, 4, 3, 2, 1, 0])
    starts, columns, values, x = given()
    assert np.array_equal(f(*given(), others), wanted(starts, columns, values[others], x))
    for place, bad in ((0, 6), (5, -7)):
        with pytest.raises(BadIndex, match=f"index {bad} is"):
            f(*given(), np.where(np.arange(6) == place, bad, others))


def test_a_variable_in_place_is_as_it_was_after_an_error() -> None:
    start = symc.shared(np.full(4, 7.0), "start")
    f = symc.function(INPUTS, [], updates={start: product(start)})
    with pytest.raises(BadIndex):
        f(*given(columns=[0, 0, 0, 0, 0, 3]))
    assert np.array_equal(start.get_value(), np.full(4, 7.0))
    f(*given())
    assert np.array_equal(start.get_value(), wanted(*given()))


def test_values_at_computed_places_of_computed_places() -> None:
    def row(i: Any, total: Any) -> Any:
        begin, end = STARTS[i], STARTS[i + 1]
        return total + X[COLUMNS[COLUMNS[begin:end]]].sum()

    f = symc.function([STARTS, COLUMNS, X], symc.fori_loop(0, STARTS.shape[0] - 1, row, 0.0))
    starts, columns, _, x = given()
    places = np.concatenate([columns[columns[a:b]] for a, b in itertools.pairwise(starts)])
    assert f(starts, columns, x) == x[places].sum()
    with pytest.raises(BadIndex, match="index 9 is"):
        f(starts, np.array([0, 1, 2, 9, 0, 0]), x)
    with pytest.raises(BadIndex, match="index 3 is"):
        f(starts, np.array([0, 1, 2, 4, 3, 0]), x)


def test_writes_at_checked_places() -> None:
    def row(i: Any, y: Any) -> Any:
        begin, end = STARTS[i], STARTS[i + 1]
        return y[COLUMNS[begin:end]].inc(VALUES[begin:end])

    f = symc.function(INPUTS, symc.fori_loop(0, STARTS.shape[0] - 1, row, X))
    starts, columns, values, x = given()
    y = x.copy()
    for a, b in itertools.pairwise(starts):
        np.add.at(y, columns[a:b], values[a:b])
    assert np.array_equal(f(*given()), y)
    with pytest.raises(BadIndex, match="index 3 is"):
        f(*given(columns=[0, 0, 0, 0, 0, 3]))


def test_a_bug_an_index_that_an_inner_loop_leaves_was_turned_round_by_a_jump_in_each_step() -> None:
    """Arithmetic of it is computed once: longest common parts of a strand took twice as long."""
    a, n = T.matrix("a"), T.lscalar("n")

    def row(r: Any, a: Any) -> Any:
        i = n - r
        return symc.fori_loop(1, a.shape[1], lambda j, a: a[i, j].inc(a[i, j - 1]), a)

    f = symc.function([a, n], symc.fori_loop(0, a.shape[0], row, a))
    assert "symc_place(" not in f.source
    np.testing.assert_array_equal(f(np.ones((3, 4)), 2), np.cumsum(np.ones((3, 4)), axis=1))
