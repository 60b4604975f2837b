"""States that move evenly follow from the number of the step; conditions of loops bound steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Check, Repeat
from symc.errors import BadIndex
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.scan import Scan

MOST = 2**63 - 1


def loops(f: Any) -> list[Repeat]:
    steps = every_step(f.runner.compilation().program.steps)
    return [step for step in steps if isinstance(step, Repeat)]


def checks(f: Any) -> int:
    return sum(isinstance(s, Check) for loop in loops(f) for s in every_step(loop.steps))


def insertion(x: Tensor, last: int = 0) -> Tensor:
    """Sorts x, by a loop that looks at x[j - 1] as long as j is above `last`."""

    def insert(i: Tensor, x: Tensor) -> Any:
        value = x[i]

        def is_larger(j: Tensor, x: Tensor) -> Tensor:
            return (j > last) & (x[j - 1] > value)

        def move(j: Tensor, x: Tensor) -> list[Tensor]:
            return [j - 1, x[j].set(x[j - 1])]

        j, x = symc.while_loop(is_larger, move, [i, x])
        return x[j].set(value)

    result: Tensor = symc.fori_loop(1, x.shape[0], insert, x)
    return result


@pytest.mark.parametrize("n", [0, 1, 2, 40])
def test_insertion_sort_checks_no_index_where_its_condition_says_it_is_in_range(n: int) -> None:
    x = T.dvector("x")
    f = symc.function([x], insertion(x))
    given = np.random.default_rng(n).random(n)
    assert np.array_equal(f(given), np.sort(given))
    inner = loops(f)[-1]
    assert inner.done is not None
    assert not [step for step in every_step(inner.steps) if isinstance(step, Check)]


def test_indexes_that_the_condition_does_not_bound_are_checked() -> None:
    x = T.dvector("x")
    f = symc.function([x], insertion(x, -4))
    assert checks(f) > 0
    with pytest.raises(BadIndex):
        f(np.array([9.0, 1.0, 5.0]))


def test_the_first_step_of_a_loop_is_done_whatever_is_asked_after_it() -> None:
    x, start = T.dvector("x"), T.lscalar("start")

    def step(j: Tensor, x: Tensor) -> Any:
        return [j - 1, x[j].inc(1.0)], symc.until(T.logical_not(j - 1 > 0))

    (js, xs), _ = symc.scan(step, outputs_info=[start, x], n_steps=9)
    f = symc.function([x, start], [js[-1], xs[-1]])
    for first, ones in ((3, [0, 1, 1, 1]), (1, [0, 1, 0, 0]), (0, [1, 0, 0, 0])):
        last, counts = f(np.zeros(4), first)
        assert last == min(first - 1, 0)
        assert counts.tolist() == ones
    assert f(np.zeros(4), -2)[1].tolist() == [0, 0, 1, 0]
    with pytest.raises(BadIndex):
        f(np.zeros(4), -5)


@pytest.mark.parametrize("by", [-8, -3, -1, 0, 1, 5])
def test_states_that_move_evenly_wrap_as_integers_do(by: int) -> None:
    start, n = T.lscalar("start"), T.lscalar("n")
    f = symc.function(
        [start, n],
        symc.fori_loop(0, n, lambda i, j, other: [j + by, other ^ j], [start, T.constant(0)]),
    )
    for first in (MOST - 2, -MOST, 0):
        for count in (0, 1, 7):
            want, other = np.int64(first), np.int64(0)
            with np.errstate(over="ignore"):
                for _ in range(count):
                    other ^= want
                    want += np.int64(by)
            assert f(first, count) == [want, other]


def test_a_count_of_steps_is_no_state() -> None:
    n = T.lscalar("n")
    steps, _ = symc.while_loop(
        lambda steps, k: k > 1,
        lambda steps, k: [steps + 1, T.where(T.eq(k % 2, 0), k // 2, 3 * k + 1)],
        [0, n],
    )
    f = symc.function([n], steps)
    assert [int(f(k)) for k in (0, 1, 2, 27)] == [0, 0, 1, 111]
    nodes = walk(f.runner.compilation().rewritten)
    scans = [node.op for node in nodes if isinstance(node.op, Scan)]
    assert [len(op.layout.states) for op in scans] == [1]


def test_histories_of_such_states_are_kept() -> None:
    n = T.lscalar("n")
    (js, sums), _ = symc.scan(
        lambda j, total: [j + 2, total + j], outputs_info=[T.constant(1), T.constant(0)], n_steps=n
    )
    f = symc.function([n], [js, sums])
    got, total = f(5)
    assert got.tolist() == [3, 5, 7, 9, 11]
    assert total.tolist() == [1, 4, 9, 16, 25]
