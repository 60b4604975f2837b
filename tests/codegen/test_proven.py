"""Indexes that are in bounds because of how they are computed: no step checks them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex

MODES = ["default", "python"]
X, N = T.vector("x"), T.lscalar("n")
PLACES = T.lvector("places")


def loops_in(source: str) -> list[str]:
    """The texts of the innermost loops of the host function."""
    return re.findall(r"for \(int64_t step\w* = [^{}]*\{[^{}]*\}", source)


def has_no_test_of_elements(source: str) -> bool:
    """Whether the loop without checks is chosen without looking at the steps' elements."""
    foreseen = re.findall(r"^static [^\n]*_foreseen\(.*?\n\}", source, re.S | re.M)
    return bool(foreseen) and "every" not in "".join(foreseen)


# --- indexes made of data -------------------------------------------------------------------------

OF_DATA: dict[str, tuple[Callable[[Any], Any], Callable[[int, int], int]]] = {
    "mod": (lambda k: k % N, lambda k, n: k % n),
    "clip": (lambda k: T.clip(k, 0, N - 1), lambda k, n: min(max(k, 0), n - 1)),
    "minimum": (lambda k: T.minimum(abs(k) % 99, N - 1), lambda k, n: min(abs(k) % 99, n - 1)),
    "where": (
        lambda k: T.where(k < 0, 0, T.where(k >= N, N - 1, k)),
        lambda k, n: 0 if k < 0 else n - 1 if k >= n else k,
    ),
    "half": (lambda k: (k % N) // 2, lambda k, n: (k % n) // 2),
    "before": (lambda k: k % N - 1, lambda k, n: k % n - 1),
    "from the end": (lambda k: -1 - k % N + N, lambda k, n: -1 - k % n + n),
    "bits": (lambda k: (k & 3) % N, lambda k, n: (k & 3) % n),
}


def tally(name: str, **given: Any) -> Any:
    made, _ = OF_DATA[name]
    table = symc.fori_loop(
        0, PLACES.shape[0], lambda i, t: t[made(PLACES[i])].inc(1), T.zeros(N, "int64")
    )
    return symc.function([PLACES, N], table, **given)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OF_DATA)
def test_tables_of_data(name: str, mode: str) -> None:
    _, meant = OF_DATA[name]
    f = tally(name, mode=mode)
    extreme = [2**63 - 1, -(2**63), -1, 0, 1]
    for places in ([], [3], extreme, list(range(-40, 40))):
        for n in (1, 2, 7):
            wanted = np.zeros(n, int)
            for k in places:
                wanted[meant(k, n)] += 1
            np.testing.assert_array_equal(f(np.array(places, int), n), wanted)


@pytest.mark.parametrize("name", sorted(OF_DATA.keys() - {"from the end"}))
def test_no_element_is_tested(name: str) -> None:
    assert has_no_test_of_elements(tally(name, device="cpu").source)


@pytest.mark.parametrize("mode", MODES)
def test_a_table_without_elements_has_no_places(mode: str) -> None:
    f = tally("clip", mode=mode)
    assert f(np.zeros(0, int), 0).shape == (0,)
    with pytest.raises(BadIndex, match="index -1 is out of bounds for axis 0 with length 0"):
        f(np.array([5]), 0)


@pytest.mark.parametrize("mode", MODES)
def test_a_bound_beyond_the_table_is_no_proof(mode: str) -> None:
    """Only elements that need the bound fail."""
    loop = symc.fori_loop(
        0, PLACES.shape[0], lambda i, t: t[T.clip(PLACES[i], 0, N)].inc(1), T.zeros(N, "int64")
    )
    f = symc.function([PLACES, N], loop, mode=mode)
    np.testing.assert_array_equal(f(np.array([-5, 2, 1]), 3), [1, 1, 1])
    with pytest.raises(BadIndex, match="index 3 is"):
        f(np.array([0, 7]), 3)


def test_a_shared_table_is_as_it_was_after_an_error() -> None:
    table = symc.shared(np.arange(3), "table")
    loop = symc.fori_loop(0, PLACES.shape[0], lambda i, t: t[T.minimum(PLACES[i], N)].inc(1), table)
    f = symc.function([PLACES, N], [], updates={table: loop})
    f(np.array([0, 9, -1]), 2)
    np.testing.assert_array_equal(table.get_value(), [1, 1, 4])
    with pytest.raises(BadIndex, match="index 3 is"):
        f(np.array([0, 1, 9]), 3)
    with pytest.raises(BadIndex, match="index -4 is"):
        f(np.array([0, 1, -4]), 2)
    np.testing.assert_array_equal(table.get_value(), [1, 1, 4])


def test_bytes_are_places_of_256() -> None:
    data = T.vector("data", dtype="uint8")
    loop = symc.fori_loop(
        0, data.shape[0], lambda i, t: t[T.cast(data[i], "int64")].inc(1), T.zeros(256, "int64")
    )
    f = symc.function([data], loop)
    given = np.random.default_rng(0).integers(0, 256, 500).astype("uint8")
    np.testing.assert_array_equal(f(given), np.bincount(given, minlength=256))


# --- indexes that go round ------------------------------------------------------------------------

GOES_ROUND: dict[str, tuple[Callable[[Any], Any], Callable[[int, int], int]]] = {
    "up by a remainder": (lambda p: (p + 1) % N, lambda p, n: (p + 1) % n),
    "down by a remainder": (lambda p: (p - 1) % N, lambda p, n: (p - 1) % n),
    "up if below": (
        lambda p: T.where(p + 1 < N, p + 1, 0), lambda p, n: p + 1 if p + 1 < n else 0
    ),
    "back at the end": (
        lambda p: T.where(p + 1 >= N, 0, p + 1), lambda p, n: 0 if p + 1 >= n else p + 1
    ),
    "back at one place": (
        lambda p: T.where(T.eq(p + 1, N), 0, p + 1), lambda p, n: 0 if p + 1 == n else p + 1
    ),
    "back after the last": (
        lambda p: T.where(T.eq(p, N - 1), 0, p + 1), lambda p, n: 0 if p == n - 1 else p + 1
    ),
    "down from zero": (
        lambda p: T.where(T.eq(p, 0), N - 1, p - 1), lambda p, n: n - 1 if p == 0 else p - 1
    ),
    "down below one": (
        lambda p: T.where(p > 0, p - 1, N - 1), lambda p, n: p - 1 if p > 0 else n - 1
    ),
    "down below zero": (
        lambda p: T.where(p - 1 < 0, N - 1, p - 1), lambda p, n: n - 1 if p - 1 < 0 else p - 1
    ),
    "up by three": (lambda p: (p + 3) % N, lambda p, n: (p + 3) % n),
    "by an element": (lambda p: (p + T.cast(X[0], "int64")) % N, lambda p, n: (p + 0) % n),
}  # fmt: skip


def delay(name: str, first: Any = 0, **given: Any) -> Any:
    """A delay line with feedback: a buffer of n numbers, and where the next one is written."""
    after, _ = GOES_ROUND[name]

    def step(i: Any, line: Any, place: Any, y: Any) -> list[Any]:
        old = line[place]
        return [line[place].set(X[i] + 0.5 * old), after(place), y[i].set(old)]

    start = T.as_tensor(first)
    line, last, y = symc.fori_loop(0, X.shape[0], step, [T.zeros(N), start, T.zeros_like(X)])
    inputs = [X, N, first] if isinstance(first, symc.Tensor) else [X, N]
    return symc.function(inputs, [line, last, y], **given)


def delayed(name: str, x: Any, n: int, place: int = 0) -> list[Any]:
    _, after = GOES_ROUND[name]
    line, y = np.zeros(n), np.zeros_like(x)
    for i, value in enumerate(x):
        y[i] = line[place]
        line[place] = value + 0.5 * line[place]
        place = after(place, n)
    return [line, place, y]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", GOES_ROUND)
def test_delay_lines(name: str, mode: str) -> None:
    f = delay(name, mode=mode)
    for length in (0, 1, 2, 50):
        x = np.arange(length) / 7
        for n in (1, 2, 3, 7, 60):
            got, wanted = f(x, n), delayed(name, x, n)
            for one, other in zip(got, wanted, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", GOES_ROUND)
def test_delay_lines_are_not_checked(name: str) -> None:
    source = delay(name, device="cpu").source
    assert has_no_test_of_elements(source)
    assert "return" not in loops_in(source)[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["up by a remainder", "back at the end", "down below one"])
def test_what_begins_elsewhere(name: str, mode: str) -> None:
    """From the end, in bounds or not: such a beginning is no proof."""
    first = T.lscalar("first")
    f = delay(name, first, mode=mode)
    x = np.arange(9.0)
    for n, place in ((4, 3), (4, -1), (4, -4), (1, -1)):
        for one, other in zip(f(x, n, place), delayed(name, x, n, place), strict=True):
            np.testing.assert_array_equal(one, other)
    for n, place in ((4, 4), (4, -5), (1, 2**62), (3, -(2**63))):
        with pytest.raises(BadIndex, match=f"index {place} is out of bounds"):
            f(x, n, place)
    with pytest.raises(BadIndex, match="index 0 is out of bounds for axis 0 with length 0"):
        f(x, 0, 0)


@pytest.mark.parametrize("mode", MODES)
def test_what_goes_round_too_late(mode: str) -> None:
    """The index reaches a place behind the table: in that step is the error."""
    line = symc.shared(np.zeros(3), "line")

    def step(i: Any, line: Any, place: Any) -> list[Any]:
        return [line[place].inc(X[i]), T.where(place + 1 > 3, 0, place + 1)]

    new, _ = symc.fori_loop(0, X.shape[0], step, [line, T.constant(0)])
    f = symc.function([X], [], updates={line: new}, mode=mode)
    f(np.ones(3))
    with pytest.raises(BadIndex, match="index 3 is out of bounds for axis 0 with length 3"):
        f(np.ones(4))
    np.testing.assert_array_equal(line.get_value(), np.ones(3))


@pytest.mark.parametrize("mode", MODES)
def test_an_index_that_data_moves(mode: str) -> None:
    def step(i: Any, table: Any, place: Any) -> list[Any]:
        moved = T.where(X[i] > 0, (place + 1) % N, place)
        return [table[place].inc(X[i]), moved]

    f = symc.function(
        [X, N], symc.fori_loop(0, X.shape[0], step, [T.zeros(N), T.constant(0)])[0], mode=mode
    )
    x = np.random.default_rng(3).normal(size=80)
    wanted, place = np.zeros(6), 0
    for value in x:
        wanted[place] += value
        place = (place + 1) % 6 if value > 0 else place
    np.testing.assert_array_equal(f(x, 6), wanted)


@pytest.mark.parametrize("mode", MODES)
def test_an_index_that_its_table_moves(mode: str) -> None:
    """What is compared is written in the loop: nothing is known of it."""
    table = T.lvector("table")

    def step(i: Any, table: Any, place: Any) -> list[Any]:
        there = table[place]
        new = table[place].inc(1)
        return [new, T.where(new[0] < 3, T.where(there < 3, there, 0), (place + 1) % 5)]

    loop = symc.fori_loop(0, N, step, [table, T.constant(0)])
    f = symc.function([table, N], loop, mode=mode)
    for start in ([1, 2, 0], [0, 0, 0, 0, 0], [9, 9, 9, 9, 9, 9]):
        held, place = np.array(start), 0
        try:
            for _ in range(20):
                there = held[place]
                held[place] += 1
                chosen = there if there < 3 else 0
                place = chosen if held[0] < 3 else (place + 1) % 5
        except IndexError:
            with pytest.raises(BadIndex):
                f(np.array(start), 20)
        else:
            got, last = f(np.array(start), 20)
            np.testing.assert_array_equal(got, held)
            assert last == place


def test_numbers_near_the_largest_do_not_wrap() -> None:
    """``k + 1`` of the largest integer is the least one: that is not in bounds."""
    loop = symc.fori_loop(
        0, PLACES.shape[0],
        lambda i, t: t[T.where(PLACES[i] + 1 < N, PLACES[i] + 1, 0)].inc(1), T.zeros(N, "int64"),
    )  # fmt: skip
    f = symc.function([PLACES, N], loop)
    np.testing.assert_array_equal(f(np.array([0, 5, -1, -2]), 3), [2, 1, 1])
    with pytest.raises(BadIndex, match=f"index {-(2**63)} is"):
        f(np.array([0, 2**63 - 1]), 3)


# --- indexes that count ---------------------------------------------------------------------------

COUNTS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[int, float], int]]] = {
    "added": (lambda k, x: k + T.cast(x > 0, "int64"), lambda k, x: k + (x > 0)),
    "chosen": (lambda k, x: T.where(x > 0, k + 1, k), lambda k, x: k + 1 if x > 0 else k),
    "begun anew": (lambda k, x: T.where(x > 0, k + 1, 0), lambda k, x: k + 1 if x > 0 else 0),
    "by two": (lambda k, x: T.where(x > 0, k + 2, k), lambda k, x: k + 2 if x > 0 else k),
    "back": (lambda k, x: T.where(x > 0, k + 1, k - 1), lambda k, x: k + 1 if x > 0 else k - 1),
}


def kept(name: str, size: Any, first: int = 0, **given: Any) -> Any:
    """Writes elements to where a count says."""
    after, _ = COUNTS[name]

    def step(i: Any, k: Any, y: Any) -> list[Any]:
        return [after(k, X[i]), y[k].inc(X[i])]

    loop = symc.fori_loop(0, X.shape[0], step, [T.constant(first), T.zeros(size)])
    return symc.function([X], loop, **given)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("first", [0, 2, -1])
@pytest.mark.parametrize("name", COUNTS)
def test_counts_as_places(name: str, first: int, mode: str) -> None:
    _, after = COUNTS[name]
    f = kept(name, X.shape[0] + 2, first, mode=mode)
    generator = np.random.default_rng(5)
    for length in (0, 1, 2, 40):
        for x in (generator.normal(size=length), np.ones(length), -np.ones(length)):
            y, k = np.zeros(length + 2), first
            try:
                for value in x:
                    y[k] += value
                    k = after(k, value)
            except IndexError:
                with pytest.raises(BadIndex, match=f"index {k} is out of bounds"):
                    f(x)
            else:
                got = f(x)
                assert got[0] == k
                np.testing.assert_array_equal(got[1], y)


def test_a_count_of_steps_needs_no_check() -> None:
    for name in ("added", "chosen", "begun anew"):
        source = kept(name, X.shape[0], device="cpu").source
        assert has_no_test_of_elements(source)
        assert "return" not in loops_in(source)[0]


@pytest.mark.parametrize("mode", MODES)
def test_a_count_beyond_the_table(mode: str) -> None:
    f = kept("added", 3, mode=mode)
    np.testing.assert_array_equal(f(np.array([1.0, -1, 2, -3, -4]))[1], [1, 1, -7])
    with pytest.raises(BadIndex, match="index 3 is out of bounds for axis 0 with length 3"):
        f(np.array([1.0, 1, 1, -1]))


@pytest.mark.parametrize("mode", MODES)
def test_merging_sorted_arrays(mode: str) -> None:
    a, b = T.vector("a"), T.vector("b")
    n, m = a.shape[0], b.shape[0]

    def step(k: Any, i: Any, j: Any, y: Any) -> list[Any]:
        one, other = a[T.minimum(i, n - 1)], b[T.minimum(j, m - 1)]
        left = T.logical_or(j >= m, T.logical_and(i < n, one <= other))
        moved = [i + T.cast(left, "int64"), T.where(left, j, j + 1)]
        return [*moved, y[k].set(T.where(left, one, other))]

    init = [T.constant(0), T.constant(0), T.zeros(n + m)]
    f = symc.function([a, b], symc.fori_loop(0, n + m, step, init), mode=mode)
    generator = np.random.default_rng(0)
    for sizes in ((1, 1), (5, 2), (3, 9), (20, 20)):
        given = [np.sort(generator.random(size)) for size in sizes]
        i, j, y = f(*given)
        assert (int(i), int(j)) == sizes
        np.testing.assert_array_equal(y, np.sort(np.concatenate(given)))
    assert f(np.zeros(0), np.zeros(0))[2].shape == (0,)
    with pytest.raises(BadIndex, match="index -1 is"):
        f(np.zeros(0), np.ones(2))


# --- indexes that move evenly, within bounds ------------------------------------------------------


def neighbours(**given: Any) -> Any:
    """Sums of an element and those beside it, of which the first and the last have one."""

    def step(i: Any, y: Any) -> Any:
        before, after = X[T.maximum(i - 1, 0)], X[T.minimum(i + 1, N - 1)]
        return y[i].set(before + X[i] + after)

    return symc.function([X, N], symc.fori_loop(0, N, step, T.zeros(N)), **given)


@pytest.mark.parametrize("mode", MODES)
def test_neighbours_within_an_array(mode: str) -> None:
    f = neighbours(mode=mode)
    for n in (0, 1, 2, 9):
        x = np.arange(9.0) ** 2
        wanted = [x[max(i - 1, 0)] + x[i] + x[min(i + 1, n - 1)] for i in range(n)]
        np.testing.assert_array_equal(f(x, n), wanted)
    with pytest.raises(BadIndex, match="index 3 is out of bounds for axis 0 with length 3"):
        f(np.ones(3), 4)


def test_neighbours_are_not_checked() -> None:
    source = neighbours(device="cpu").source
    assert has_no_test_of_elements(source) or "if (!" not in source[source.rindex("for (int64_t") :]


@pytest.mark.parametrize("mode", MODES)
def test_a_row_from_its_end_within_bounds(mode: str) -> None:
    weights, values = T.lvector("weights"), T.lvector("values")

    def item(i: Any, best: Any) -> Any:
        def down(k: Any, best: Any) -> Any:
            c = N - k
            with_it = best[T.maximum(c - weights[i], 0)] + values[i]
            return best[c].set(T.maximum(best[c], T.where(c >= weights[i], with_it, 0)))

        return symc.fori_loop(0, N + 1, down, best)

    best = symc.fori_loop(0, weights.shape[0], item, T.zeros(N + 1, "int64"))
    f = symc.function([weights, values, N], best, mode=mode)
    generator = np.random.default_rng(0)
    for n in (0, 1, 30):
        w, v = generator.integers(0, 40, 12), generator.integers(1, 9, 12)
        wanted = np.zeros(n + 1, int)
        for weight, value in zip(w, v, strict=True):
            for c in range(n, weight - 1, -1):
                wanted[c] = max(wanted[c], wanted[c - weight] + value)
        np.testing.assert_array_equal(f(w, v, n), wanted)
    with pytest.raises(BadIndex, match="index 5 is out of bounds for axis 0 with length 4"):
        f(np.array([-2]), np.array([1]), 3)
    extreme = np.array([2**63 - 1, -(2**63)])  # of the second one all differences wrap around
    np.testing.assert_array_equal(f(extreme, np.array([1, 1]), 3), [1, 1, 1, 1])
