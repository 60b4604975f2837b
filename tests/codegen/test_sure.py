"""Checks that follow from other checks are left out, and no others."""

from __future__ import annotations

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

K, P, Q = T.lscalar("k"), T.lvector("p"), T.lvector("q")
MODES = ["default", "python"]


def while_it_moves(p: Any, k: Any) -> Any:
    """From place to place, until one leads to itself."""
    return symc.while_loop(lambda k: T.neq(p[k], k), lambda k: [p[k]], [k])[0]


def repeated(step: Callable[..., Any], *states: Any, steps: int = 2, **given: Any) -> Any:
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
