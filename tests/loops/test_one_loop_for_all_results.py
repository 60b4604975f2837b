"""A loop or branch of several results runs once, though steps of another loop need some of them.

What only the steps of a loop need, and may fail, is computed if there is a step. If another result
of the same loop is needed anyway, so is the loop, which ran twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Branch, Repeat
from symc.graph.node import Tensor
from tests.loops.test_compiled import check, program


def viterbi(moves: Tensor, seen: Tensor, observed: Tensor) -> Any:
    """The best path: scores and choices from one loop, and a second one goes back along these."""
    states, count = moves.shape[0], observed.shape[0]

    def forward(t: Tensor, score: Tensor, choice: Tensor) -> Any:
        sums = score[t - 1][:, None] + moves
        best = T.max(sums, axis=0) + seen[:, observed[t]]
        return score[t].set(best), choice[t].set(T.argmax(sums, axis=0))

    first = T.zeros((count, states))[0].set(seen[:, observed[0]])
    score, choice = symc.fori_loop(1, count, forward, [first, T.zeros((count, states), "int64")])
    path = T.zeros((count,), "int64")[count - 1].set(T.argmax(score[count - 1]))

    def back(k: Tensor, path: Tensor) -> Any:
        t = count - 2 - k
        return path[t].set(choice[t + 1, path[t + 1]])

    return symc.fori_loop(0, count - 1, back, path)


def viterbi_in_numpy(moves: Any, seen: Any, observed: Any) -> Any:
    score, choices = seen[:, observed[0]], []
    for observation in observed[1:]:
        sums = score[:, None] + moves
        choices.append(sums.argmax(0))
        score = sums.max(0) + seen[:, observation]
    path = [int(score.argmax())]
    for choice in reversed(choices):
        path.append(int(choice[path[-1]]))
    return np.array(path[::-1])


RNG = np.random.default_rng(2)
MOVES, SEEN = RNG.standard_normal((4, 4)), RNG.standard_normal((4, 3))


@pytest.mark.parametrize("count", [1, 2, 9])
def test_results(count: int) -> None:
    inputs = [T.matrix("moves"), T.matrix("seen"), T.lvector("observed")]
    arrays = MOVES, SEEN, RNG.integers(0, 3, count)
    function = check(inputs, [viterbi(*inputs)], *arrays)
    np.testing.assert_array_equal(function(*arrays)[0], viterbi_in_numpy(*arrays))


def test_each_loop_runs_once() -> None:
    inputs = [T.matrix("moves"), T.matrix("seen"), T.lvector("observed")]
    steps = list(every_step(program(symc.function(inputs, viterbi(*inputs))).steps))
    assert len([step for step in steps if isinstance(step, Repeat)]) == 2
    branches = [step.condition for step in steps if isinstance(step, Branch)]
    assert all(condition.startswith("few") for condition in branches)  # whether a row is short


def test_an_index_out_of_bounds_in_such_a_loop() -> None:
    inputs = [T.matrix("moves"), T.matrix("seen"), T.lvector("observed")]
    function = symc.function(inputs, viterbi(*inputs))
    with pytest.raises(IndexError):
        function(MOVES, SEEN, [0, 1, 3])
    with pytest.raises(IndexError):
        function(MOVES, SEEN, [7])


def test_a_branch_of_which_another_loop_needs_one_result() -> None:
    """The sides may fail; the second result is needed by steps alone, the first one anyway."""
    x, k, n = T.vector("x"), T.lscalar("k"), T.lscalar("n")
    one, other = symc.ifelse(k > 2, (x[k] * 2, x[k - 1]), (x[k + 1], x[0] - 1))
    total = symc.fori_loop(0, n, lambda i, total: total + other * i, 0.0)
    function = check([x, k, n], [one, total], np.arange(5.0), np.int64(3), np.int64(4))
    np.testing.assert_allclose(function(np.arange(5.0), 1, 0), [2.0, 0.0])
    steps = every_step(program(function).steps)
    assert len([step for step in steps if isinstance(step, Branch)]) <= 1
    with pytest.raises(IndexError):
        function(np.arange(5.0), 5, 0)


def test_a_loop_of_which_a_result_is_an_index_is_done_once() -> None:
    """The rows were computed again for the index where the way back begins: other steps, rewritten.

    So was the place of the least number, in another array.
    """
    x = T.dmatrix("x")
    none = T.constant(np.array([np.inf]))

    def row(own: Any, before: Any) -> Any:
        left, right = T.concatenate([none, before[:-1]]), T.concatenate([before[1:], none])
        return own + T.minimum(before, T.minimum(left, right))

    sums = T.concatenate([x[:1], symc.scan(row, sequences=x[1:], outputs_info=x[0])[0]])
    last = T.argmin(sums[-1])

    def back(own: Any, k: Any) -> Any:
        return T.where(own[k] < 1, k, T.minimum(k + 1, own.shape[0] - 1))

    way, _ = symc.scan(back, sequences=sums[:-1], outputs_info=last, go_backwards=True)
    f = symc.function([x], [sums[-1].min(), way])
    optimised = f.runner.compilation().optimised
    assert sum("argmin" in kernel.name for kernel in optimised.kernels) == 1
    ranges = {step.var for step in every_step(optimised.steps) if isinstance(step, Repeat)}
    assert len(ranges) == 2, f.explain()
    given = np.random.default_rng(0).random((6, 5))
    plain = symc.function([x], [sums[-1].min(), way], mode="python")
    for found, wanted in zip(f(given), plain(given), strict=True):
        np.testing.assert_allclose(found, wanted)
