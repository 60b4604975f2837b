"""What may fail, decides on a side, and is needed there: read where something needs it only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex, SymcError
from symc.graph.node import Tensor
from symc.graph.walks import walk_within
from symc.loops.anew import Anew
from symc.loops.outline import outline

A, B = T.scalar("a", dtype="bool"), T.scalar("b", dtype="bool")
Z, J, M = T.vector("z"), T.lscalar("j"), T.matrix("m")
VALUES = np.array([0.5, -1.0, 2.0])
MODES = ["compile", "python"]


def no() -> Tensor:
    return T.constant(value=False)


@pytest.mark.parametrize("mode", MODES)
def test_merging_reads_no_array_behind_its_end(mode: str) -> None:
    """It was read before both branches: IndexError for the first array that was at its end."""
    x, y = T.vector("x"), T.vector("y")
    n, m = x.shape[0], y.shape[0]

    def step(k: Tensor, i: Tensor, j: Tensor, out: Tensor) -> Any:
        is_less = symc.ifelse(j < m, x[i] <= y[j], T.constant(value=True))
        first, second = out[k].set(x[i]), out[k].set(y[j])
        return symc.ifelse(symc.ifelse(i < n, is_less, no()), [i + 1, j, first], [i, j + 1, second])

    zero = T.constant(0)
    merged = symc.fori_loop(0, n + m, step, [zero, zero, T.zeros((n + m,))])[2]
    f = symc.function([x, y], merged, mode=mode)
    rng = np.random.default_rng(0)
    for lengths in ((5, 7), (7, 5), (0, 3), (3, 0), (0, 0), (1, 1)):
        one, other = (np.sort(rng.normal(size=length)) for length in lengths)
        np.testing.assert_array_equal(f(one, other), np.sort(np.concatenate([one, other])))


@pytest.mark.parametrize("mode", MODES)
def test_it_fails_where_the_side_needs_it(mode: str) -> None:
    """The second condition holds without the value, too: then the side reads it by itself."""
    is_large = symc.ifelse(A, Z[J] > 0, B)
    f = symc.function([Z, J, A, B], symc.ifelse(is_large, T.exp(Z[J]), 1.0), mode=mode)
    assert f(VALUES, 0, True, False) == np.exp(0.5)
    assert f(VALUES, 1, True, True) == 1
    assert f(VALUES, 2, False, True) == np.exp(2.0)
    assert f(VALUES, 7, False, False) == 1
    for a, b in ((True, False), (False, True)):
        with pytest.raises(BadIndex, match="index 7"):
            f(VALUES, 7, a, b)


@pytest.mark.parametrize("mode", MODES)
def test_of_a_factor(mode: str) -> None:
    factor: Any = T.linalg.cholesky(M)
    is_large = symc.ifelse(A, factor.sum() > 3, B)
    f = symc.function([M, A, B], symc.ifelse(is_large, (factor**2).sum(), 0.0), mode=mode)
    good, bad = np.array([[2.0, 1], [1, 3]]), np.array([[1.0, 2], [2, 1]])
    wanted = (np.linalg.cholesky(good) ** 2).sum()
    np.testing.assert_allclose([f(good, True, False), f(good, False, True)], wanted)
    assert f(bad, False, False) == 0
    for a, b in ((True, False), (False, True)):
        with pytest.raises(SymcError):
            f(bad, a, b)


@pytest.mark.parametrize("mode", MODES)
def test_one_condition_after_the_other(mode: str) -> None:
    first = symc.ifelse(A, Z[J] > 0, B)
    second = symc.ifelse(first, Z[J] > 1, B)
    result = symc.ifelse(second, Z[J] * 2, symc.ifelse(first, Z[J], 7.0))
    f = symc.function([Z, J, A, B], result, mode=mode)
    assert [f(VALUES, j, True, False) for j in range(3)] == [0.5, 7.0, 4.0]
    assert [f(VALUES, j, False, True) for j in range(3)] == [0.5, -1.0, 4.0]
    assert f(VALUES, 7, False, False) == 7
    with pytest.raises(BadIndex):
        f(VALUES, 7, False, True)


@pytest.mark.parametrize("mode", MODES)
def test_its_gradient(mode: str) -> None:
    is_large = symc.ifelse(A, Z[J] > 0, B)
    slope = symc.grad(symc.ifelse(is_large, T.exp(Z[J]), 1.0), Z)
    f = symc.function([Z, J, A, B], slope, mode=mode)
    np.testing.assert_allclose(f(VALUES, 2, True, False), [0, 0, np.exp(2.0)])
    np.testing.assert_allclose(f(VALUES, 2, False, True), [0, 0, np.exp(2.0)])
    np.testing.assert_array_equal(f(VALUES, 7, False, False), np.zeros(3))


def test_nothing_is_computed_anew_that_both_ways_may_wait_for() -> None:
    """Nor is anything of it left in the graph: elsewhere than on sides it is one node again."""
    simple = symc.ifelse(A, Z[J], 0.0) + symc.ifelse(B, Z[J], 1.0)
    within = symc.ifelse(A, symc.ifelse(Z[J] > 0, Z[J], 1.0), 0.0)
    decides = symc.ifelse(symc.ifelse(A, Z[J] > 0, B), Z[J], 1.0)
    for result in (simple, within, decides):
        nodes = list(walk_within(outline([result])))
        assert not any(isinstance(node.op, Anew) for node in nodes)
    assert sum(node is Z[J] for node in walk_within(outline([simple]))) <= 1
