"""Numbers and arrays of one `ifelse`: their sides are decided once, and stay lazy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import ShapeMismatch

ONE = T.constant(1, dtype="int64")


def kept(x: Any, places: Any, limit: Any) -> Any:
    """Elements below a limit, in a row, and their number; `places` says where each goes."""

    def step(i: Any, count: Any, out: Any) -> Any:
        return symc.ifelse(
            x[i] < limit,
            [count + 1, out[places[i]].set(x[i] + T.cast(count, "float64"))],
            [count, out],
        )

    start = [T.constant(0, dtype="int64"), T.zeros_like(x)]
    return symc.fori_loop(0, x.shape[0], step, start)


def kept_by_hand(x: Any, places: Any, limit: float) -> tuple[int, Any]:
    count, out = 0, np.zeros_like(x)
    for i in range(len(x)):
        if x[i] < limit:
            out[places[i]] = x[i] + count
            count += 1
    return count, out


def program() -> Any:
    x, places, limit = T.vector("x"), T.vector("places", dtype="int64"), T.scalar("limit")
    return symc.function([x, places, limit], kept(x, places, limit), device="cpu")


def test_one_condition_is_decided_once() -> None:
    f = program()
    run = f.source[f.source.index("int64_t symc_run(") :]
    with_checks = run[run.rindex("for (int64_t step = ") :]
    for loop in (run.replace(with_checks, ""), with_checks):  # the first one without checks
        assert loop.count("if (lt[0])") == 1
    assert run.count("for (int64_t step = ") == 2
    x = np.array([3.0, 0.5, 2.0, 0.25])
    count, out = f(x, [3, 2, -1, 0], 1.0)
    assert count == 2
    np.testing.assert_array_equal(out, [1.25, 0, 0.5, 0])


def test_the_side_that_is_not_taken_may_be_wrong() -> None:
    f = program()
    x = np.array([3.0, 0.5, 2.0, 0.25])
    np.testing.assert_array_equal(f(x, [99, 2, -99, 0], 1.0)[1], [1.25, 0, 0.5, 0])
    with pytest.raises(IndexError, match="index 99 is out of bounds"):
        f(x, [99, 2, -99, 0], 5.0)
    with pytest.raises(IndexError, match="index -99 is out of bounds"):
        f(x, [0, 2, -99, 0], 2.5)


def test_both_sides_write() -> None:
    x = T.vector("x")

    def step(i: Any, low: Any, high: Any, out: Any) -> Any:
        return symc.ifelse(
            x[i] < 0,
            [low + 1, high, out[low].set(x[i])],
            [low, high - 1, out[high - 1].set(x[i])],
        )

    start = [T.constant(0, dtype="int64"), T.cast(x.shape[0], "int64"), T.zeros_like(x)]
    f = symc.function([x], symc.fori_loop(0, x.shape[0], step, start))
    given = np.array([1.0, -1.0, 2.0, -2.0, 3.0])
    low, high, out = f(given)
    assert (low, high) == (2, 2)
    np.testing.assert_array_equal(out, [-1, -2, 3, 2, 1])


def test_a_condition_that_the_side_changes() -> None:
    """What decides is the flag of this step, though the side writes what it was computed from."""
    x = T.vector("x")

    def step(i: Any, count: Any, x: Any) -> Any:
        wanted = x[0] < 5
        count, x = symc.ifelse(wanted, [count + 1, x[0].inc(2.0)], [count, x])
        return [count, symc.ifelse(wanted, x[1].inc(1.0), x)]

    f = symc.function([x], symc.fori_loop(0, 6, step, [ONE, x]))
    count, out = f(np.array([0.0, 0.0]))
    assert count == 4
    np.testing.assert_array_equal(out, [6, 3])


def breadth_first(starts: Any, targets: Any) -> Any:
    n = starts.shape[0] - 1

    def visit(head: Any, tail: Any, far: Any, queue: Any) -> Any:
        u = queue[head]

        def edge(e: Any, tail: Any, far: Any, queue: Any) -> Any:
            v = targets[e]
            seen = [tail + 1, far[v].set(far[u] + 1), queue[tail].set(v)]
            return symc.ifelse(T.lt(far[v], 0), seen, [tail, far, queue])

        return [head + 1, *symc.fori_loop(starts[u], starts[u + 1], edge, [tail, far, queue])]

    far = T.full((n,), -1, dtype="int64")[0].set(0)
    start = [ONE * 0, ONE, far, T.zeros((n,), dtype="int64")]
    return symc.while_loop(lambda head, tail, *_: T.lt(head, tail), visit, start)[2]


def breadth_first_by_hand(starts: Any, targets: Any) -> Any:
    far = np.full(len(starts) - 1, -1)
    far[0] = 0
    queue = [0]
    for u in queue:
        for v in targets[starts[u] : starts[u + 1]]:
            if far[v] < 0:
                far[v] = far[u] + 1
                queue.append(v)
    return far


@pytest.mark.parametrize("seed", range(5))
def test_a_search_in_a_graph(seed: int) -> None:
    starts, targets = T.vector("starts", dtype="int64"), T.vector("targets", dtype="int64")
    f = symc.function([starts, targets], breadth_first(starts, targets))
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    begin = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n))])
    ends = rng.integers(0, n, begin[-1])
    np.testing.assert_array_equal(f(begin, ends), breadth_first_by_hand(begin, ends))


@pytest.mark.parametrize("seed", range(20))
def test_random_elements(seed: int) -> None:
    f, rng = program(), np.random.default_rng(seed)
    for _ in range(10):
        n = int(rng.integers(0, 8))
        x, places = rng.random(n), rng.integers(-n - 1, n + 1, n)
        limit = float(rng.choice([0.0, 0.3, 1.0]))
        wrong = (places < -n) | (places >= n)
        if (wrong & (x < limit)).any():
            with pytest.raises(IndexError):
                f(x, places, limit)
        else:
            count, out = f(x, places, limit)
            expected = kept_by_hand(x, places, limit)
            assert count == expected[0]
            np.testing.assert_array_equal(out, expected[1])


@pytest.mark.parametrize("mode", ["default", "python"])
def test_a_row_from_its_end(mode: str) -> None:
    """An element is set if a condition holds: its index is no more checked than the others."""
    weights, values, n = T.lvector("weights"), T.vector("values"), T.lscalar("n")

    def item(i: Any, best: Any) -> Any:
        def down(k: Any, best: Any) -> Any:
            c = n - k
            new = best[c - weights[i]] + values[i]
            return symc.ifelse(new > best[c], best[c].set(new), best)

        return symc.fori_loop(0, n + 1 - weights[i], down, best)

    best = symc.fori_loop(0, weights.shape[0], item, T.zeros(n + 1))
    f = symc.function([weights, values, n], best, mode=mode)
    generator = np.random.default_rng(0)
    for size in (0, 1, 25):
        w, v = generator.integers(0, 9, 12), generator.random(12)
        wanted = np.zeros(size + 1)
        for weight, value in zip(w, v, strict=True):
            for c in range(size, weight - 1, -1):
                wanted[c] = max(wanted[c], wanted[c - weight] + value)
        np.testing.assert_array_equal(f(w, v, size), wanted)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with length 4"):
        f([-2], [1.0], 3)


@pytest.mark.parametrize("mode", ["default", "python"])
def test_an_index_that_is_right_where_a_condition_holds(mode: str) -> None:
    """Elements elsewhere are left out, and may be anything; a table that is too short is named."""
    places, bound = T.lvector("places"), T.lscalar("bound")

    def count(i: Any, table: Any) -> Any:
        k = places[i]
        is_inside = T.logical_and(k >= 0, k < bound)
        return symc.ifelse(is_inside, table[k].inc(1), table)

    loop = symc.fori_loop(0, places.shape[0], count, T.zeros(5, "int64"))
    f = symc.function([places, bound], loop, mode=mode)
    given = np.array([0, 99, -1, 4, -(2**63), 2**63 - 1, 4, 5])
    np.testing.assert_array_equal(f(given, 5), [1, 0, 0, 0, 2])
    np.testing.assert_array_equal(f(given, 2), [1, 0, 0, 0, 0])
    np.testing.assert_array_equal(f(given[:0], 9), np.zeros(5))
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with length 5"):
        f(given, 6)


@pytest.mark.parametrize("mode", ["default", "python"])
def test_the_gradient_of_a_side_not_taken_is_not_compared_with_its_arguments(mode: str) -> None:
    """It was x as long as x, and zeros as long as w for the other side: refused, though the value
    was not."""
    x, w, taken = T.vector("x"), T.vector("w"), T.lscalar("taken")
    value = symc.ifelse(taken > 0, (x * w).sum(), x.sum())
    f = symc.function([x, w, taken], [value, *symc.grad(value, [x, w])], mode=mode)
    got = f([1.0, 2.0], [3.0, 4.0, 5.0], 0)
    assert [each.tolist() for each in got] == [3.0, [1.0, 1.0], [0.0, 0.0, 0.0]]
    got = f([1.0, 2.0], [3.0, 4.0], 1)
    assert [each.tolist() for each in got] == [11.0, [3.0, 4.0], [1.0, 2.0]]
    g = symc.function([x, w, taken], symc.grad(value, w), mode=mode)
    for function in (f, g):
        with pytest.raises(ShapeMismatch, match="axis 0 is 2"):
            function([1.0, 2.0], [3.0, 4.0, 5.0], 1)
