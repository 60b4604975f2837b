"""Checks of all steps before a loop: faster loops, and the same results and errors as before."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.passes.steps.foresee import foresee
from symc.errors import BadIndex, ShapeMismatch

PLACES, OTHERS = T.lvector("places"), T.lvector("others")
X, Y = T.vector("x"), T.vector("y")
MODES = ["default", "python"]


def loop_of(step: Any, count: Any, *states: Any) -> Any:
    return symc.fori_loop(0, count, step, *states)


def tally(inputs: Any = (PLACES, X), size: int = 5, **given: Any) -> Any:
    """Adds to a table at given places, one after the other."""
    table = loop_of(lambda i, t: t[PLACES[i]].inc(X[i]), PLACES.shape[0], T.zeros(size))
    return symc.function(list(inputs), table, **given)


def tallied(places: Any, x: Any, size: int = 5) -> Any:
    table = np.zeros(size)
    for place, value in zip(places, x, strict=False):
        table[place] += value
    return table


def loops_in(source: str) -> list[str]:
    """The texts of the innermost loops of the host function."""
    return re.findall(r"for \(int64_t step\w* = [^{}]*\{[^{}]*\}", source)


def test_the_loop_without_checks_has_no_branch() -> None:
    unchecked, checked = loops_in(tally().source)
    assert "return" not in unchecked
    assert checked.count("return") == 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("places", [[], [0], [4, 0, 4, 3, 1], [-1, 0, -5, 2, 2], [4] * 300])
def test_places_from_either_end(places: list[int], mode: str) -> None:
    x = np.arange(1.0, len(places) + 1)
    f = tally(mode=mode)
    assert np.array_equal(f(np.array(places, int), x), tallied(places, x))


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_all_that_is_tested_once_follows_from_known_lengths(steps: int) -> None:
    """There was nothing left to test before the elements, and the program did not compile."""
    places, x = T.lvector("places", shape=(5,)), T.vector("x", shape=(5,))
    loop = loop_of(lambda i, t: t[places[i]].inc(x[i]), steps, T.zeros(7))
    f = symc.function([places, x], loop)
    at, values = np.array([1, 6, -7, 6, 3]), np.arange(1.0, 6)
    np.testing.assert_array_equal(f(at, values), tallied(at[:steps], values, 7))
    if steps:
        with pytest.raises(BadIndex, match="index 8 is out of bounds for axis 0 with length 7"):
            f(at + 7, values)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", [0, 1, 299])
@pytest.mark.parametrize("bad", [5, -6, 2**62, -(2**63)])
def test_the_first_index_out_of_bounds_is_named(place: int, bad: int, mode: str) -> None:
    places = np.zeros(300, int)
    places[place:] = 77
    places[place] = bad
    with pytest.raises(BadIndex, match=f"index {bad} is out of bounds for axis 0 with length 5"):
        tally(mode=mode)(places, np.ones(300))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("bad", "error"), [(1, BadIndex), (2, BadIndex), (3, BadIndex)])
def test_the_error_of_the_earliest_step_comes_first(bad: int, error: Any, mode: str) -> None:
    """In step `bad` an index of the table is wrong, in step 2 `x` ends."""
    places = np.zeros(4, int)
    places[bad] = 9
    wanted = "index 9 is" if bad < 2 else "index 2 is"
    with pytest.raises(error, match=wanted):
        tally(mode=mode)(places, np.ones(2))


def test_a_shared_variable_is_as_it_was_after_an_error() -> None:
    table = symc.shared(np.full(5, 7.0), "table")
    new = loop_of(lambda i, t: t[PLACES[i]].inc(X[i]), PLACES.shape[0], table)
    f = symc.function([PLACES, X], [], updates={table: new})
    with pytest.raises(BadIndex):
        f(np.array([0, 1, 5]), np.ones(3))
    assert np.array_equal(table.get_value(), np.full(5, 7.0))
    f(np.array([0, 1, 4]), np.ones(3))
    assert np.array_equal(table.get_value(), [8.0, 8.0, 7.0, 7.0, 8.0])


def sweeps(count: Any = 3) -> Any:
    def relax(i: Any, far: Any) -> Any:
        return far[OTHERS[i]].set(T.minimum(far[OTHERS[i]], far[PLACES[i]] + X[i]))

    far = (T.zeros(6) + 1e9)[0].set(0.0)
    out = loop_of(lambda _, far: loop_of(relax, PLACES.shape[0], far), count, far)
    return symc.function([PLACES, OTHERS, X], out)


def test_all_elements_are_tested_before_the_outer_loop() -> None:
    f = sweeps()
    assert "whole" in f.source
    generator = np.random.default_rng(0)
    places, others = generator.integers(-6, 6, (2, 40))
    for given in (places, np.abs(places) % 6):
        far = np.full(6, 1e9)
        far[0] = 0
        x = generator.random(40)
        for _ in range(3):
            for tail, head, length in zip(given, others, x, strict=True):
                far[head] = min(far[head], far[tail] + length)
        assert np.array_equal(f(given, others, x), far)


def test_elements_that_no_step_reads_may_be_anything() -> None:
    """Of the columns, those after the last row are no indexes."""
    starts, columns = T.lvector("starts"), T.lvector("columns")

    def row(i: Any, y: Any) -> Any:
        return symc.fori_loop(starts[i], starts[i + 1], lambda k, y: y[i].inc(X[columns[k]]), y)

    count = starts.shape[0] - 1
    f = symc.function([starts, columns, X], loop_of(row, count, T.zeros(count)))
    x = np.array([1.0, 10.0, 100.0])
    got = f(np.array([0, 2, 2, 5]), np.array([0, 2, 1, 1, -3, 99, -99]), x)
    assert np.array_equal(got, [101.0, 0.0, 21.0])
    with pytest.raises(BadIndex, match="index 99 is"):
        f(np.array([0, 2, 2, 6]), np.array([0, 2, 1, 1, -3, 99, -99]), x)
    with pytest.raises(BadIndex, match="index 7 is"):
        f(np.array([5, 8]), np.array([0, 2, 1, 1, -3, 0, 0]), x)


def test_long_arrays_are_not_tested_for_few_steps() -> None:
    f = sweeps()
    places = np.zeros(1000, int)
    assert f(places, places, np.ones(1000))[0] == 0


@pytest.mark.parametrize("mode", MODES)
def test_an_index_that_grows_faster_than_the_steps(mode: str) -> None:
    f = symc.function([X, Y], loop_of(lambda i, t: t + X[3 * i + 1], Y.shape[0], 0.0), mode=mode)
    assert f(np.arange(8.0), np.ones(3)) == 1 + 4 + 7
    with pytest.raises(BadIndex, match="index 10 is"):
        f(np.arange(8.0), np.ones(4))


@pytest.mark.parametrize("mode", MODES)
def test_steps_that_read_around_the_beginning(mode: str) -> None:
    """``x[i - 1]`` is the last element in the first step."""
    f = symc.function([X], loop_of(lambda i, t: 2 * t + X[i - 1], X.shape[0], 0.0), mode=mode)
    total = 0.0
    for value in (4.0, 1.0, 2.0, 3.0):
        total = 2 * total + value
    assert f(np.array([1.0, 2.0, 3.0, 4.0])) == total


def test_indexes_that_a_step_computes_are_checked_in_it() -> None:
    def step(i: Any, table: Any) -> Any:
        return table[PLACES[i]].inc(1)[table[0]].inc(10)

    f = symc.function([PLACES], loop_of(step, PLACES.shape[0], T.zeros(4, "int64")))
    with pytest.raises(BadIndex, match="index 11 is"):
        f(np.array([0, 3, 2]))


def test_places_of_places() -> None:
    f = symc.function(
        [PLACES, OTHERS, X],
        loop_of(lambda i, t: t * 2 + X[OTHERS[PLACES[i]]], PLACES.shape[0], 0.0),
    )
    x, others = np.array([1.0, 2.0, 3.0]), np.array([2, -3, 1, 9])
    assert f(np.array([0, 1, -2]), others, x) == 4 * 3 + 2 * 1 + 2
    with pytest.raises(BadIndex, match="index 9 is"):
        f(np.array([0, 3, 1]), others, x)
    with pytest.raises(BadIndex, match="index 4 is"):
        f(np.array([0, 4, 3]), others, x)


@pytest.mark.parametrize("seed", range(25))
def test_random_tables_as_in_numpy(seed: int) -> None:
    draw = random.Random(seed)
    f = tally(size=7)
    for _ in range(20):
        count = draw.choice([0, 1, 2, 9, 255, 256, 257, 600])
        low, high = draw.choice([(0, 6), (-7, 6), (0, 7), (-8, 6)])
        places = np.array([draw.randint(low, high) for _ in range(count)], int)
        x = np.array([draw.random() for _ in range(max(0, count + draw.choice([0, 0, 3, -1])))])
        wrong = [i for i, place in enumerate(places) if not -7 <= place < 7]
        if len(x) < count or wrong:
            with pytest.raises((BadIndex, ShapeMismatch)):
                f(places, x)
        else:
            assert np.allclose(f(places, x), tallied(places, x, 7))


def test_programs_without_loops_stay_as_they_are() -> None:
    from tests.codegen.programs import softmax

    made = softmax()
    assert foresee(made) is made


def relaxed(**given: Any) -> Any:
    """The shorter of two ways: the place that is written is asked about before the branch."""

    def edge(e: Any, far: Any) -> Any:
        way = far[PLACES[e]] + X[e]
        return symc.ifelse(way < far[OTHERS[e]], far[OTHERS[e]].set(way), far)

    far = loop_of(edge, PLACES.shape[0], T.full((4,), 9.0)[0].set(0.0))
    return symc.function([PLACES, OTHERS, X], far, **given)


def test_what_a_branch_asks_again_is_known_before_the_loop() -> None:
    unchecked, checked = re.findall(r"for \(int64_t step = .*?symc_stops", relaxed().source, re.S)
    assert "return" not in unchecked.replace("return -1", "")
    assert checked.count("return 1") == 5


@pytest.mark.parametrize("mode", MODES)
def test_places_that_a_branch_writes(mode: str) -> None:
    f, x = relaxed(mode=mode), np.array([1.0, 2.0, 0.5, 3.0])
    np.testing.assert_array_equal(f([0, 1, 0, -2], [1, -1, 2, 1], x), [0.0, 1.0, 0.5, 3.0])
    for places, others, index in (
        ([0, 1, 4, 0], [1, 2, 3, 9], 4), ([0, 1, 0, 7], [1, 2, -5, 0], -5), ([0], [4], 4)
    ):  # fmt: skip
        with pytest.raises(BadIndex, match=f"index {index} is out of bounds"):
            f(places, others, x)
