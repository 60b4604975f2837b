"""Branches that read and write single elements are selections, if the indexes are known in range.

Those whose indexes are out of range on a side that is not taken stay branches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Branch, Repeat
from symc.graph.node import Tensor
from tests.loops.test_compiled import check, program
from tests.loops.test_in_place import inputs_of

RNG = np.random.default_rng(5)
V = RNG.standard_normal(9)
WITH_NAN = np.where(V > 0.8, np.nan, V)
SMALL = RNG.integers(-9, 9, 8).astype(np.int64)
WORD, OTHER = RNG.integers(0, 3, 7), RNG.integers(0, 3, 9)


def bubble(x: Tensor) -> Any:
    n = x.shape[0]

    def swap(j: Tensor, x: Tensor) -> Any:
        one, other = x[j], x[j + 1]
        return symc.ifelse(one > other, x[j].set(other)[j + 1].set(one), x)

    return symc.fori_loop(0, n, lambda i, x: symc.fori_loop(0, n - 1 - i, swap, x), x)


def bubble_in_numpy(x: Any) -> Any:
    x = x.copy()
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def common(a: Tensor, b: Tensor) -> Any:
    """The longest common subsequence: a number from either side."""
    n, m = a.shape[0], b.shape[0]

    def cell(i: Tensor, j: Tensor, t: Tensor) -> Any:
        longer = T.maximum(t[i - 1, j], t[i, j - 1])
        return t[i, j].set(symc.ifelse(T.eq(a[i - 1], b[j - 1]), t[i - 1, j - 1] + 1, longer))

    def row(i: Tensor, t: Tensor) -> Any:
        return symc.fori_loop(1, m + 1, lambda j, t: cell(i, j, t), t)

    return symc.fori_loop(1, n + 1, row, T.zeros((n + 1, m + 1), "int64"))


def common_by_writes(a: Tensor, b: Tensor) -> Any:
    """The same with an element set on either side."""
    n, m = a.shape[0], b.shape[0]

    def cell(i: Tensor, j: Tensor, t: Tensor) -> Any:
        longer = t[i, j].set(T.maximum(t[i - 1, j], t[i, j - 1]))
        return symc.ifelse(T.eq(a[i - 1], b[j - 1]), t[i, j].set(t[i - 1, j - 1] + 1), longer)

    def row(i: Tensor, t: Tensor) -> Any:
        return symc.fori_loop(1, m + 1, lambda j, t: cell(i, j, t), t)

    return symc.fori_loop(1, n + 1, row, T.zeros((n + 1, m + 1), "int64"))


def common_in_numpy(a: Any, b: Any) -> Any:
    t = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            same = a[i - 1] == b[j - 1]
            t[i, j] = t[i - 1, j - 1] + 1 if same else max(t[i - 1, j], t[i, j - 1])
    return t


def nested(x: Tensor) -> Any:
    """A branch in a branch, elements counted from the end, added to, and read after a write."""

    def step(k: Tensor, x: Tensor) -> Any:
        written = x[k].inc(3)
        inner = symc.ifelse(x[-1] > x[k], written[-2].set(written[k] + 1), written)
        return symc.ifelse(x[k] < 0, inner, x)

    return symc.fori_loop(0, x.shape[0], step, x)


def nested_in_numpy(x: Any) -> Any:
    x = x.copy()
    for k in range(len(x)):
        if x[k] < 0:
            is_less = x[-1] > x[k]
            x[k] += 3
            if is_less:
                x[-2] = x[k] + 1
    return x


def two_arrays(x: Tensor) -> Any:
    def step(k: Tensor, x: Tensor, y: Tensor) -> Any:
        return symc.ifelse(x[k] > y[k], (x[k].set(y[k]), y[k].set(x[k])), (x, y))

    return symc.fori_loop(0, x.shape[0], step, [x, x[::-1]])[1]


def two_arrays_in_numpy(x: Any) -> Any:
    x, y = x.copy(), x[::-1].copy()
    for k in range(len(x)):
        if x[k] > y[k]:
            x[k], y[k] = y[k], x[k]
    return y


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "bubble sort": (bubble, bubble_in_numpy, (V,)),
    "bubble sort with NaN": (bubble, bubble_in_numpy, (WITH_NAN,)),
    "bubble sort of int64": (bubble, bubble_in_numpy, (SMALL,)),
    "common": (common, common_in_numpy, (WORD, OTHER)),
    "common by writes": (common_by_writes, common_in_numpy, (WORD, OTHER)),
    "nested": (nested, nested_in_numpy, (V,)),
    "nested with NaN": (nested, nested_in_numpy, (WITH_NAN,)),
    "nested in int64": (nested, nested_in_numpy, (SMALL,)),
    "two arrays": (two_arrays, two_arrays_in_numpy, (V,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str) -> None:
    build, oracle, arrays = PROGRAMS[name]
    inputs = inputs_of(arrays)
    function = check(inputs, [build(*inputs)], *arrays)
    np.testing.assert_array_equal(function(*arrays)[0], oracle(*arrays))
    shorter = tuple(array[:2] for array in arrays)
    np.testing.assert_array_equal(function(*shorter)[0], oracle(*shorter))


@pytest.mark.parametrize("name", ["bubble sort", "common", "common by writes"])
def test_no_branch_is_left(name: str) -> None:
    build, _, arrays = PROGRAMS[name]
    inputs = inputs_of(arrays)
    made = program(symc.function(inputs, build(*inputs)))
    loops = [step for step in every_step(made.steps) if isinstance(step, Repeat)]
    assert len(loops) == 2
    assert not [step for step in every_step(made.steps) if isinstance(step, Branch)]


def test_no_steps() -> None:
    x = T.vector("x")
    assert symc.function([x], bubble(x))(np.zeros(0)).shape == (0,)


def test_a_side_that_is_not_taken_may_be_out_of_bounds() -> None:
    x, far = T.vector("x"), T.lscalar("far")

    def step(k: Tensor, x: Tensor) -> Any:
        inside = k + far < x.shape[0]
        x = symc.ifelse(inside, x[k].set(x[k + far]), x)
        return symc.ifelse(k > 0, x[k].inc(x[k - 1]), x)

    function = symc.function([x, far], symc.fori_loop(0, x.shape[0], step, x))
    for distance in (0, 3, 100):
        wanted = V.copy()
        for k in range(len(V)):
            if k + distance < len(V):
                wanted[k] = wanted[k + distance]
            if k > 0:
                wanted[k] += wanted[k - 1]
        np.testing.assert_allclose(function(V, distance), wanted)
    with pytest.raises(IndexError):
        function(V, -100)


def test_a_side_that_fails_when_it_is_taken() -> None:
    x, place = T.vector("x"), T.lscalar("place")
    write = lambda k, x: symc.ifelse(x[k] > 0, x[place].set(k + 1.0), x)  # noqa: E731
    function = symc.function([x, place], symc.fori_loop(0, x.shape[0], write, x))
    np.testing.assert_array_equal(function(-abs(V), 99), -abs(V))
    with pytest.raises(IndexError):
        function(abs(V), 99)


def test_an_element_that_only_the_side_not_taken_has() -> None:
    """The index is the same in all steps, and the array may be too short for it."""
    x, flag = T.vector("x"), T.vector("flag")

    def step(k: Tensor, x: Tensor) -> Any:
        x = symc.ifelse(flag[k] > 0, x[3].set(k + 1.0), x)
        return symc.ifelse(flag[k] > 0, x[k].set(x[-4]), x)

    function = symc.function([x, flag], symc.fori_loop(0, flag.shape[0], step, x))
    np.testing.assert_array_equal(function(V[:2], [0.0] * 9), V[:2])
    with pytest.raises(IndexError):
        function(V[:2], [0.0, 1.0])
    np.testing.assert_array_equal(function(V[:4], [0.0, 1.0]), [V[0], V[0], V[2], 2.0])


@pytest.mark.parametrize("turns", [0, 1, 2])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_side_that_gives_another_array_is_given_if_it_is_taken(count: int, turns: int) -> None:
    """``x[:].set(y)`` is y where both have three elements: x was y in any case."""
    x, y = T.vector("x", shape=(3,)), T.vector("y", shape=(3,))
    k, n = T.lscalar("k"), T.lscalar("n")
    sides: list[Callable[..., Any]] = [
        lambda i, s, t: symc.ifelse(k > i, [s[:].set(y), t], [s, t]),
        lambda i, s, t: [symc.ifelse(k > i, s[:].set(t), s), t[1].inc(1.0)],
        lambda i, s, t: symc.ifelse(k > i, [t, s], [s, t]),
        lambda i, s, t: symc.ifelse(k > i, [y[0].set(s[1]), t], [s, t]),
    ]
    for step in sides:
        last = symc.fori_loop(0, n, step, [x, y])
        given = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], turns, count
        f, g = (symc.function([x, y, k, n], last, mode=mode) for mode in ("compile", "python"))
        np.testing.assert_array_equal(f(*given), g(*given))
