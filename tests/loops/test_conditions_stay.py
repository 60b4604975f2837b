"""What is computed in loops and branches may fail there, whatever rewriting makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import AssertionFailed, BadIndex, LinAlgError, ShapeMismatch

X, V, M = T.vector("x"), T.vector("v"), T.matrix("m")
J, N, C = T.lscalar("j"), T.lscalar("n"), T.lscalar("c")
THREE = np.arange(3.0)


def _three_times(value: Any) -> Any:
    """Its first condition is known to hold."""
    return symc.while_loop(
        lambda total, k: k < 3, lambda total, k: [total * 0.5 + value, k + 1], [0.0, 0]
    )[0]


@pytest.mark.parametrize(
    ("value", "arguments", "error"),
    [
        (lambda: X[J], (THREE, 7), BadIndex),
        (lambda: X[7] + J, (THREE, 0), BadIndex),
        (lambda: (X + V).sum(), (THREE, np.ones(9)), ShapeMismatch),
        (lambda: symc.Assert("no")(X.sum(), X.sum() > 99), (THREE,), AssertionFailed),
        (lambda: T.linalg.cholesky(M).sum(), (-np.eye(3),), LinAlgError),
    ],
)
@pytest.mark.parametrize("mode", ["default", "compile", "python"])
def test_what_stays_in_a_loop_that_is_known_to_begin(
    value: Callable[[], Any], arguments: tuple[Any, ...], error: type[Exception], mode: str
) -> None:
    """It was computed before the loop, and conditions of it were not tested: garbage was read."""
    built = value()
    inputs = [x for x in (X, V, M, J) if x in _inputs_of(built)]
    f = symc.function(inputs, _three_times(built), mode=mode)
    with pytest.raises(error):
        f(*arguments)


def _inputs_of(expression: Any) -> set[Any]:
    from symc.graph.walks import walk

    return {node for node in walk([expression]) if not node.args}


def _last(x: Any) -> dict[str, Any]:
    """Loops with a state that stays as it is, by which they read."""

    def step(i: Any, j: Any, total: Any) -> list[Any]:
        return [j, total + x[j]]

    kept = symc.fori_loop(0, N, step, [J, 0.0])[1]
    states, _ = symc.scan(lambda j, t: (j, t + x[j]), outputs_info=[J, 0.0], n_steps=N)
    nested = symc.fori_loop(
        0, N, lambda k, b: symc.fori_loop(0, N, lambda i, j, t: (j, t + x[j]), [J, b])[1], 0.0
    )
    added = symc.fori_loop(0, N, lambda i, j, t: (j + 0, t + x[j + 2]), [J - 2, 0.0])[1]
    return {"fori_loop": kept, "scan": states[1][-1], "nested": nested, "plus 0": added}


@pytest.mark.parametrize("name", ["fori_loop", "scan", "nested", "plus 0"])
@pytest.mark.parametrize("mode", ["default", "compile", "python"])
def test_an_index_that_is_a_state_which_stays(name: str, mode: str) -> None:
    f = symc.function([X, J, N], _last(X)[name], mode=mode)
    assert f(THREE, 2, 2) == (8.0 if name == "nested" else 4.0)
    for index in (3, 7, -4):
        with pytest.raises(BadIndex, match=f"index {index} is out of bounds"):
            f(THREE, index, 2)


def test_a_branch_whose_condition_becomes_known() -> None:
    taken = symc.ifelse(T.ge(C * 0, 0), X[J], 0.0)
    f = symc.function([X, J, C], taken)
    assert f(THREE, 1, 5) == 1.0
    with pytest.raises(BadIndex, match="index 7 is out of bounds"):
        f(THREE, 7, 5)


@pytest.mark.parametrize("rows", [2, 3, 5, 3000])
def test_lengths_of_a_result_are_those_it_has_where_no_condition_holds(rows: int) -> None:
    """A product with an inverse has as many rows as the inverse; rules gave it the other's."""
    y = T.matrix("y")
    other = M @ T.ones((M.shape[1], y.shape[1]))
    f = symc.function([M, y, C], symc.ifelse(T.gt(C, 0), T.linalg.inv(M) @ y, other))
    np.testing.assert_array_equal(f(np.ones((3, 3)), np.ones((rows, 4)), 0), np.full((3, 4), 3.0))
    if rows != 3:
        with pytest.raises(ShapeMismatch):
            f(np.eye(3), np.ones((rows, 4)), 1)
    v = symc.function([M, V, C], symc.ifelse(T.gt(C, 0), T.linalg.inv(M) @ V, M.sum(axis=1)))
    assert v(np.ones((3, 3)), np.ones(rows), 0).tolist() == [3.0] * 3
