"""Numbers of steps written with lengths that cancel out, as `n - (n - i)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.graph.node import Tensor

y = T.vector("y")


def _by_hand(x: float, rows: Any) -> tuple[float, float, float]:
    """The state of the loops below after their steps, and two derivatives of it by x."""
    value, first, second = x, 1.0, 0.0
    for number in range(len(rows) // 3):
        if number == 0:
            value, first, second = 0.5 * value, 0.5 * first, 0.5 * second
        else:
            second = 2 * rows[number] * (first * first + value * second)
            first = 2 * rows[number] * value * first
            value = rows[number] * value * value
    return value, first, second


@pytest.mark.parametrize("declared", [None, 8])
def test_second_derivatives_of_a_branch_in_a_third_of_the_steps(declared: int | None) -> None:
    # The branch of the loop backwards read y at n//3 - 1 - (n//3 - 1 - i), of which the lengths
    # cancel: it was taken as it stood, with a length of the loop's slot, which no block but the
    # loop's has: "groups form a cycle", or KeyError where two were fused.
    x, rows = T.scalar("x"), T.vector("rows", shape=(declared,))

    def step(i: Tensor, state: Tensor) -> Any:
        return symc.ifelse(i > 0, state * state * rows[i], state * 0.5)

    value = symc.fori_loop(0, rows.shape[0] // 3, step, x)
    first = symc.grad(value, x)
    f = symc.function([x, rows], [value, first, symc.grad(first, x)])
    given = np.linspace(0.4, 1.3, 8)
    np.testing.assert_allclose(f(0.7, given), _by_hand(0.7, given), rtol=1e-12)


def test_second_derivatives_of_a_branch_of_sums_in_a_third_of_the_steps() -> None:
    x, v = T.vector("x"), T.vector("v")

    def step(i: Tensor, state: Tensor) -> Any:
        return symc.ifelse(i > 0, T.sin(state) * (state * y[i]).sum(), state * 0.5)

    cost = symc.fori_loop(0, y.shape[0] // 3, step, x).sum()
    first = symc.grad(cost, x)
    gradient = symc.function([x, y], first)
    product = symc.function([x, y, v], symc.grad((first * v).sum(), x))
    at, along, rows = np.array([0.3, -0.4, 0.9]), np.array([1.0, 0.5, -2.0]), np.linspace(1, 2, 7)
    difference = (gradient(at + 1e-6 * along, rows) - gradient(at - 1e-6 * along, rows)) / 2e-6
    np.testing.assert_allclose(product(at, rows, along), difference, rtol=1e-6)
