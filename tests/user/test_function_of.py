"""`symc.function_of`: parts of graphs that are used again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import FunctionError
from symc.graph.node import Tensor
from tests.ops.harness import check

A, B = T.vector("a"), T.vector("b")


def test_uses_are_written_out() -> None:
    f = symc.function_of([A, B], [A * B, T.exp(A).sum()])
    x = np.random.default_rng(0).standard_normal(3)
    check(lambda x: f(x, 2 * x), x, oracle=lambda x: [2 * x * x, np.exp(x).sum()])
    assert f(A, B)[0] is A * B


def test_a_gradient_that_is_given() -> None:
    """A straight-through estimator: rounded forwards, the identity backwards."""
    straight = symc.function_of([A], T.round(A), grad=lambda bar, a: bar, name="straight")
    x = T.vector("x")
    cost = (straight(3 * x) ** 2).sum()
    value = np.array([0.4, -1.3])
    for mode in ("compile", "python"):
        total, pulled = symc.function([x], [cost, symc.grad(cost, x)], mode=mode)(value)
        assert total == 17.0
        np.testing.assert_array_equal(pulled, 6 * np.round(3 * value))


def test_a_given_gradient_holds_in_jacobians() -> None:
    doubled = symc.function_of([A, B], A * B, grad=lambda bar, a, b: [2 * bar * b, None])
    x, w = T.vector("x"), T.vector("w")
    rows = symc.jacobian(doubled(x, w), x)
    f = symc.function([x, w], [rows, symc.hessian(doubled(x, w).sum(), w, disconnected="zero")])
    whole, second = f([1.0, 2.0], [3.0, 4.0])
    np.testing.assert_array_equal(whole, np.diag([6.0, 8.0]))
    np.testing.assert_array_equal(second, np.zeros((2, 2)))


def test_batches_of_parts_with_a_gradient() -> None:
    cube = symc.function_of([A], A**3, grad=lambda bar, a: 3 * square(a) * bar)
    square = symc.function_of([A], A**2, grad=lambda bar, a: 2 * a * bar)
    check(cube, np.array([0.5, -2.0]), oracle=lambda a: a**3, saves=False)


def test_other_tensors_are_reached() -> None:
    w = symc.shared(np.array([2.0, 3.0]), name="w")

    def rule(bar: Tensor, a: Tensor) -> Any:
        return 100 * bar

    f = symc.function_of([A], [A * w, A + w], grad=lambda bars, a: rule(bars[0] + bars[1], a))
    x = T.vector("x")
    first, second = f(x)
    by_x, by_w = symc.grad((first + second).sum(), [x, w])
    assert by_x.eval({x: [1.0, 5.0]}).tolist() == [200.0, 200.0]
    assert by_w.eval({x: [1.0, 5.0]}).tolist() == [2.0, 6.0]


def test_equal_parts_are_found_in_the_cache() -> None:
    results = []
    for factor in (2.0, 2.0, 3.0):
        f = symc.function_of([A], factor * A, grad=lambda bar, a: bar)
        x = T.vector("cached_part")
        made = symc.function([x], f(x) + 1)
        results.append((made([1.0]).tolist(), made.hit))
    assert results == [([3.0], False), ([3.0], True), ([4.0], False)]


def test_arguments_must_fit() -> None:
    f = symc.function_of([A], A + 1, name="plus")
    with pytest.raises(TypeError, match="plus takes 1 arguments, not 2"):
        f(A, B)
    with pytest.raises(FunctionError, match=r"(?s)plus: an argument must have the dtype.*float32"):
        f(T.fvector("x"))
    with pytest.raises(FunctionError, match="an input is listed twice"):
        symc.function_of([A, A], A)


@pytest.mark.parametrize("outputs", [3, None, "x", [None], {"a": 1}, [1.5]])
def test_outputs_that_are_no_tensors(outputs: Any) -> None:
    """It was an AttributeError: a number has no attribute `args`."""
    with pytest.raises(TypeError, match="function_of: outputs"):
        symc.function_of([T.scalar("x")], outputs)


def test_gradient_by_a_shared_variable_that_arguments_depend_on() -> None:
    """What the argument passes on was counted again in the variable's own part: 12, not 8."""
    a, w = T.scalar("a"), symc.shared(2.0, "w")
    times = symc.function_of([a], a * w, grad=lambda bar, _: bar * w)
    assert symc.grad(times(2 * w), w).eval() == 8
    assert symc.grad(times(w), w).eval() == 4
