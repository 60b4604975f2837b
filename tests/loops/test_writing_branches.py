"""Branches that write parts of an array: they leave the rest where it lies, and stay lazy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.errors import BadIndex, ShapeMismatch
from symc.graph.node import Tensor
from tests.loops.test_compiled import check, program
from tests.loops.test_in_place import is_copy

X = np.array([3.0, 1.0, 2.0, 5.0, 4.0])


def bubbles(x: Tensor) -> Any:
    def pair(j: Tensor, x: Tensor) -> Any:
        return symc.ifelse(x[j] > x[j + 1], x[j].set(x[j + 1])[j + 1].set(x[j]), x)

    n = x.shape[0]
    return symc.fori_loop(0, n, lambda i, x: symc.fori_loop(0, n - 1 - i, pair, x), x)


def sieve(x: Tensor) -> Any:
    def number(i: Tensor, x: Tensor) -> Any:
        return symc.ifelse(T.eq(x[i], 0), x[2 * i :: i].set(1.0), x)

    return symc.fori_loop(2, x.shape[0], number, x * 0)


def both_write(x: Tensor) -> Any:
    def step(i: Tensor, x: Tensor) -> Any:
        return symc.ifelse(T.gt(x[i], 2), x[i].inc(-1), x[i - 1].set(x[i] + x[0]))

    return symc.fori_loop(1, x.shape[0], step, x)


def loop_inside(x: Tensor) -> Any:
    def step(i: Tensor, x: Tensor) -> Any:
        moved = symc.fori_loop(0, i, lambda k, x: x[k + 1].inc(x[k]), x)
        return symc.ifelse(T.eq(i % 2, 0), moved, x)

    return symc.fori_loop(0, x.shape[0], step, x)


def branch_inside(x: Tensor) -> Any:
    def step(i: Tensor, x: Tensor) -> Any:
        inner = symc.ifelse(x[i] > 2, x[i].set(0), x)
        return symc.ifelse(x[i] > 1, inner, x[0].inc(1))

    return symc.fori_loop(0, x.shape[0], step, x)


def two_arrays(x: Tensor) -> Any:
    def step(i: Tensor, x: Tensor, y: Tensor, n: Tensor) -> Any:
        written = [x[i].set(y[i]), y[i].set(x[i]), n + 1]
        return symc.ifelse(x[i] > y[i], written, [x, y, n])

    return symc.fori_loop(0, x.shape[0], step, [x, x[::-1] * 1, 0])


PROGRAMS: list[Callable[[Tensor], Any]] = [
    bubbles, sieve, both_write, loop_inside, branch_inside, two_arrays,
]  # fmt: skip


@pytest.mark.parametrize("made", PROGRAMS, ids=lambda made: str(made.__name__))
def test_programs(made: Callable[[Tensor], Any]) -> None:
    x = T.vector("x")
    results = made(x)
    check([x], results if isinstance(results, list) else [results], X)


@pytest.mark.parametrize("made", PROGRAMS[:5], ids=lambda made: str(made.__name__))
def test_only_the_argument_is_copied(made: Callable[[Tensor], Any]) -> None:
    """A branch had memory of its own: of a side that wrote one element the rest was copied."""
    x = T.vector("x")
    f = symc.function([x], made(x))
    assert "memory for two values" not in f.explain()
    assert "copy" not in "".join(kernel.name for kernel in program(f).kernels)
    assert sum(map(is_copy, every_step(program(f).steps))) <= 1


def test_a_side_that_is_not_taken_checks_nothing() -> None:
    x, y = T.vector("x"), T.vector("y")
    yes, i = T.lscalar("yes"), T.lscalar("i")
    f = symc.function([x, y, yes, i], symc.ifelse(yes, x[1:3].set(y)[i].inc(1), x))
    np.testing.assert_array_equal(f(X, [7.0, 8.0], 1, 0), [4.0, 7.0, 8.0, 5.0, 4.0])
    np.testing.assert_array_equal(f(X, X, 0, 99), X)
    with pytest.raises(ShapeMismatch):
        f(X, X, 1, 0)
    with pytest.raises(BadIndex):
        f(X, [7.0, 8.0], 1, 99)


def test_a_side_that_is_not_taken_computes_nothing() -> None:
    """What a side writes stays inside, though it is the same in all steps."""
    calls: list[int] = []

    def noted(x: Any) -> Any:
        calls.append(1)
        return x + 1

    x, yes = T.vector("x"), T.lscalar("yes")
    value = symc.op(noted, inputs=["float64[n]"], output="float64[n]")(x)[0]
    f = symc.function([x, yes], symc.ifelse(yes, x[2].set(value), x))
    np.testing.assert_array_equal(f(X, 0), X)
    assert not calls
    np.testing.assert_array_equal(f(X, 1), [3.0, 1.0, 4.0, 5.0, 4.0])
    assert calls


def test_gradients() -> None:
    x, yes = T.vector("x"), T.lscalar("yes")
    y = symc.ifelse(yes, x[1].set(x[0] ** 2), x)
    f = symc.function([x, yes], symc.grad(y.sum(), x))
    np.testing.assert_array_equal(f(X, 1), [7.0, 0.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(f(X, 0), np.ones(5))


def test_shared_variables() -> None:
    w, yes = symc.shared(X.copy(), name="w"), T.lscalar("yes")
    f = symc.function([yes], [], updates=[(w, symc.ifelse(yes, w[1:2].set(9.0), w))])
    f(0)
    np.testing.assert_array_equal(w.get_value(), X)
    f(1)
    np.testing.assert_array_equal(w.get_value(), [3.0, 9.0, 2.0, 5.0, 4.0])


@pytest.mark.parametrize("mode", ["default", "compile", "python"])
@pytest.mark.parametrize("both", [False, True])
def test_a_branch_in_a_loop_whose_condition_becomes_a_constant(both: bool, mode: str) -> None:
    """Its steps became a length that no step measured, so that the text did not compile."""
    v0 = T.vector("v0")
    given = np.array([0.0, 1.0, 2.0, 3.0])
    conditions = [
        lambda k, v: T.gt(T.as_tensor(2.5), 0.3),
        lambda k, v: T.gt(symc.ifelse(T.as_tensor(True), 2.5, v[k % 4] * 1.0), 0.3),
        lambda k, v: T.gt(symc.ifelse(T.eq(k - k, 0), T.as_tensor(2.5), v[k % 4] * 1.0), 0.3),
        lambda k, v: T.eq(k - k, 0),
    ]
    for condition in conditions:

        def step(k: Any, v: Any, condition: Any = condition) -> Any:
            other = v[1].set(2.0) if both else v
            return symc.ifelse(condition(k, v), v[k % 4].set(-1.0), other)

        f = symc.function([v0], symc.fori_loop(0, 3, step, v0), mode=mode)
        np.testing.assert_array_equal(f(given), [-1.0, -1.0, -1.0, 3.0])


@pytest.mark.parametrize("mode", ["default", "compile", "python"])
def test_a_branch_in_a_loop_whose_condition_becomes_a_constant_outside(mode: str) -> None:
    """The loop's argument becomes True, and the steps made of it were measured nowhere."""
    v, a = T.vector("v", shape=(4,)), T.lvector("a")

    def step(i: Any, v: Any) -> Any:
        condition = T.logical_or(T.constant(True), a[0] < 2)
        return symc.ifelse(condition, v, v[i:].set(v[i:] * 0.5))

    f = symc.function([v, a], symc.fori_loop(0, 3, step, v), mode=mode, on_unused_input="ignore")
    np.testing.assert_array_equal(f(np.arange(4.0), [1, 2]), np.arange(4.0))


@pytest.mark.parametrize("mode", ["default", "compile", "python"])
def test_a_branch_in_a_loop_of_one_step_in_a_branch(mode: str) -> None:
    """Its condition compares the first element of a range, which no rule of the body folded."""
    m, row, a, k = T.matrix("m"), T.vector("row"), T.lvector("a"), T.lscalar("k")

    def inner(j: Any, m: Any) -> Any:
        return symc.ifelse(T.eq(j % 2, 1), m[k % 3].inc(row), m)

    def step(i: Any, m: Any) -> Any:
        rows, _ = symc.scan(inner, sequences=T.arange(1), outputs_info=m)
        taken = T.logical_or(a.sum() > -1, k < a[i % 3])
        return symc.ifelse(taken, T.concatenate([m[None], rows])[-1], m)

    f = symc.function([m, row, a, k], symc.fori_loop(0, 1, step, m), mode=mode)
    given = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(f(given, [1.0, 2.0], [1, 2, 3], 1), given)


@pytest.mark.parametrize("first", [0, 1, -1])
def test_a_part_that_a_constant_ends_before_it_begins(first: int) -> None:
    """Its length is known to be 0, and so where it begins was not asked for, and not declared."""
    x, y, k, z = T.vector("x"), T.vector("y"), T.lscalar("k"), T.scalar("z")

    def step(i: Any, x: Any, y: Any) -> Any:
        y = symc.fori_loop(
            0, 4, lambda j, w: symc.ifelse(T.eq(i, 0), w[j % 2].set(0.5), w), y
        )  # fmt: skip
        return symc.ifelse(z > 0.5, x[k:i].set(2.0), x), y

    f = symc.function([x, y, k, z], symc.fori_loop(0, 1, step, [x, y]))
    for one in (0.0, 1.0):
        found = f(np.ones(3), np.ones(3), first, one)
        np.testing.assert_array_equal(found, [np.ones(3), [0.5, 0.5, 1.0]])
