"""Checks that follow from other checks are left out, and no others."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.passes.steps.from_both_ends import from_both_ends
from symc.codegen.passes.steps.sure import sure
from symc.errors import BadIndex
from tests.codegen.programs import softmax
from tests.codegen.test_rejoin import pushed

K, P, Q = T.lscalar("k"), T.lvector("p"), T.lvector("q")
MODES = ["default", "python"]


def while_it_moves(p: Any, k: Any) -> Any:
    """From place to place, until one leads to itself."""
    return symc.while_loop(lambda k: T.neq(p[k], k), lambda k: [p[k]], [k])[0]


def repeated(step: Callable[..., Any], *states: Any, steps: Any = 2, **given: Any) -> Any:
    """A function of K, P and Q that changes the states in each of some steps."""
    found = symc.fori_loop(0, steps, step, list(states))
    return symc.function([K, P, Q], found, on_unused_input="ignore", **given)


def loops_in(source: str) -> list[str]:
    """The texts of the innermost loops of the host function."""
    return re.findall(r"(?:for|while) \([^{}]*\{(?:[^{}]|\{[^{}]*\})*?symc_stops", source)


def test_a_place_that_the_step_before_has_checked() -> None:
    f = symc.function([P, K], while_it_moves(P, K))
    assert f([1, 2, 3, 3], 0) == 3
    assert f([1, 2, 3, -1], -1) == -1
    (loop,) = loops_in(f.source)
    assert len(re.findall(r"return [1-9]", loop)) == 1
    assert "symc_is_place(" in f.source


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("p", "k"), [([0], 1), ([0], -2), ([1, 2, 5], 0), ([1, -4, 2], 0)])
def test_a_place_that_is_none_is_found_in_the_first_step_and_in_later_ones(
    p: list[int], k: int, mode: str
) -> None:
    f = symc.function([P, K], while_it_moves(P, K), mode=mode)
    with pytest.raises(BadIndex, match="out of bounds"):
        f(p, k)


@pytest.mark.parametrize("mode", MODES)
def test_a_place_that_no_step_asks_about_at_its_end(mode: str) -> None:
    """Of what a state begins with, all is asked; of what it becomes nothing, if no step is left."""
    f = repeated(lambda _, k: P[k], K, mode=mode)
    assert f(0, [1, 7], [])[0] == 7
    with pytest.raises(BadIndex):
        f(0, [7, 1], [])
    with pytest.raises(BadIndex):
        f(3, [0, 1], [])


@pytest.mark.parametrize("mode", MODES)
def test_an_element_that_has_been_written_since(mode: str) -> None:
    def step(_: Any, p: Any, total: Any) -> list[Any]:
        total += Q[p[0]]
        p = p[K].inc(1)
        return [p, total + Q[p[0]]]

    f = repeated(step, P, T.constant(0), mode=mode)
    assert f(0, [0], [3, 4, 5])[1] == 16
    for p, q in (([0], [3, 4]), ([-2], [3])):
        with pytest.raises(BadIndex, match=f"index {[-2, 2][p[0] == 0]} is out of bounds"):
            f(0, p, q)


@pytest.mark.parametrize("mode", MODES)
def test_what_one_side_of_a_branch_has_checked(mode: str) -> None:
    def step(_: Any, k: Any, total: Any) -> list[Any]:
        total += symc.ifelse(T.gt(total, 0), Q[k], T.constant(1))
        return [k, total + P[k]]

    f = repeated(step, K, T.constant(0), mode=mode)
    assert f(1, [5, 6], [1, 2])[1] == 15
    with pytest.raises(BadIndex):
        f(2, [5, 6], [1, 2, 3])


@pytest.mark.parametrize("mode", MODES)
def test_a_sum_of_what_has_been_checked(mode: str) -> None:
    f = repeated(lambda _, k, total: [k, total + P[k] + P[k + 1]], K, T.constant(0), mode=mode)
    assert f(0, [5, 6], [])[1] == 22
    assert f(-2, [5, 6], [])[1] == 22
    for k in (1, -3):
        with pytest.raises(BadIndex):
            f(k, [5, 6], [])


@pytest.mark.parametrize("mode", MODES)
def test_half_of_a_place_and_the_place_before_it(mode: str) -> None:
    """The half of a place is one, from either end. What is before the first one from the end is
    not."""
    f = repeated(lambda _, k, total: [k, total + P[k] + P[k // 2]], K, T.constant(0), mode=mode)
    assert f(3, [1, 2, 3, 4], [])[1] == 12
    assert f(-3, [1, 2, 3, 4], [])[1] == 10
    assert f(-4, [1, 2, 3, 4], [])[1] == 8
    g = repeated(lambda _, k, total: [k, total + P[k] + P[k - 1]], K, T.constant(0), mode=mode)
    assert g(0, [1, 2, 3, 4], [])[1] == 10
    for function, k in ((f, 4), (f, -5), (g, 4), (g, -4)):
        with pytest.raises(BadIndex):
            function(k, [1, 2, 3, 4], [])


def test_half_of_the_number_of_a_step_is_a_place() -> None:
    x = T.vector("x")
    assert not re.search(r"if \(n_?\d* >= ", symc.function([x], pushed(x)).source)


@pytest.mark.parametrize("mode", MODES)
def test_the_larger_of_two_places(mode: str) -> None:
    def step(_: Any, p: Any, total: Any) -> list[Any]:
        one, other = P[K], P[K + 1]
        total += Q[one] + Q[other]
        return [p[T.minimum(one, other)].set(0), total + Q[T.maximum(one, other)]]

    f = repeated(step, Q, T.constant(0), mode=mode)
    assert np.array_equal(f(0, [2, 0], [5, 6, 7])[0], [0, 6, 7])
    assert f(0, [2, 0], [5, 6, 7])[1] == 38
    with pytest.raises(BadIndex):
        f(0, [3, 0], [5, 6, 7])


def test_programs_without_loops_stay_as_they_were() -> None:
    made = softmax()
    assert sure(made) is made
    assert from_both_ends(made) is made


@pytest.mark.parametrize("length", [2, 3])
def test_places_of_a_length_that_is_computed(length: int) -> None:
    n = T.lscalar("n")

    def step(i: Any, k: Any, total: Any) -> list[Any]:
        x = T.zeros((n - 1,), dtype="int64") + Q[i]
        return [k - 1, total + x[k]]

    loop = symc.fori_loop(0, 2, step, [K, T.constant(0)])
    f = symc.function([K, Q, n], loop)
    for k in range(-length + 1, length):
        assert f(k, [3, 4], length + 1)[1] == 7
    for k in (length, -length):  # the second step is at ``k - 1``
        with pytest.raises(BadIndex):
            f(k, [3, 4], length + 1)


@pytest.mark.parametrize("mode", MODES)
def test_elements_that_are_places_from_the_beginning(mode: str) -> None:
    """Trees of pointers begin in order, and get places only: no step asks about one."""

    def join(i: Any, up: Any) -> Any:
        def climb(k: Any, up: Any) -> list[Any]:
            return [up[up[k]], up[k].set(up[up[k]])]

        k, up = symc.while_loop(lambda k, up: T.neq(up[k], k), climb, [P[i], up])
        return up[k].set(T.minimum(k, up[0]))

    trees = symc.fori_loop(0, P.shape[0], join, T.arange(Q.shape[0]))
    f = symc.function([P, Q], trees, mode=mode)
    assert np.array_equal(f([3, 1, 3, -1], [0] * 5), [0, 0, 2, 0, 0])
    for bad in (5, -6):
        with pytest.raises(BadIndex, match=f"index {bad} is out of bounds"):
            f([3, bad], [0] * 5)
    if mode == "default" and symc.config.device == "cpu":
        (loop,) = loops_in(f.source)
        assert "return 1" not in loop


@pytest.mark.parametrize("first", ["zeros", "counted", "given", "around"])
def test_indexes_from_the_end_are_not_asked_for_where_none_is(first: str) -> None:
    begin = {
        "zeros": T.zeros_like(Q), "counted": T.arange(Q.shape[0]), "given": P,
        "around": (T.arange(Q.shape[0]) + 1) % Q.shape[0],
    }[first]  # fmt: skip

    def step(i: Any, k: Any, order: Any, total: Any) -> list[Any]:
        k = order[k]
        return [k, order[i].set(T.constant(0)), total + Q[k]]

    state = [T.constant(0), begin, T.constant(0)]
    total = symc.fori_loop(0, Q.shape[0], step, state)[2]
    f = symc.function([P, Q], total, on_unused_input="ignore")
    wanted, k, order = (
        0,
        0,
        {"zeros": [0, 0, 0], "counted": [0, 1, 2], "around": [1, 2, 0]}.get(first, [2, -1, 1]),
    )
    for i in range(3):
        k = order[k]
        order[i], wanted = 0, wanted + [5, 6, 7][k]
    assert f([2, -1, 1], [5, 6, 7]) == wanted
    if symc.config.device == "cpu" and first in ("counted", "around"):
        assert "symc_place(" not in f.source
    with pytest.raises(BadIndex) if first == "given" else contextlib.nullcontext():
        f([1, 7, 1], [5, 6, 7])


@pytest.mark.parametrize("mode", MODES)
def test_a_place_that_is_one_only_in_the_first_step(mode: str) -> None:
    def step(_: Any, k: Any, total: Any) -> list[Any]:
        return [P[k] + 1, total + Q[k]]

    f = repeated(step, K, Q[K], steps=T.shape(P)[0], mode=mode)
    assert f(0, [0, 1, 9], [5, 6, 7, 8])[1] == 5 + 5 + 6 + 7
    with pytest.raises(BadIndex):
        f(0, [0, 3, 9], [5, 6, 7, 8])


@pytest.mark.parametrize("mode", MODES)
def test_elements_that_are_places_only_in_the_beginning(mode: str) -> None:
    def step(i: Any, order: Any, total: Any) -> list[Any]:
        total += Q[order[i]]
        return [order[P[i]].set(P[i] + 1), total]

    f = repeated(step, T.arange(Q.shape[0]), T.constant(0), steps=T.shape(P)[0], mode=mode)
    assert f(0, [1, 0, 1], [5, 6, 7])[1] == 5 + 7 + 7
    with pytest.raises(BadIndex):
        f(0, [2, 2, 0], [5, 6, 7])


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_what_a_loop_leaves_that_may_have_no_step(steps: int) -> None:
    """Zeros are places of an array that has elements: so far as the loop is run, it has some."""

    def step(i: Any, k: Any, total: Any) -> list[Any]:
        def inner(_: Any, k: Any, total: Any) -> list[Any]:
            return [k, total + Q[k]]

        k, total = symc.fori_loop(0, Q.shape[0], inner, [k, total])
        return [k, total + P[i] * Q[k]]

    f = symc.function([P, Q], symc.fori_loop(0, P.shape[0], step, [T.constant(0), T.constant(0)]))
    assert f([3] * steps, [5, 6])[1] == (10 + 15) * steps
    with pytest.raises(BadIndex) if steps else contextlib.nullcontext():
        assert f([3] * steps, [])[1] == 0
