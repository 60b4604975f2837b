"""Branches of several results, one after the other and in each other: arrays stay in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

A, B, N = T.lvector("a"), T.lvector("b"), T.lscalar("n")
State = list[Any]


def step_one(i: Any, a: Any, b: Any, t: Any) -> State:
    taken = [a[i].set(1), b[t].set(i), t + 1]
    return list(symc.ifelse(T.eq(a[i % 7], 0), taken, [a, b, t]))


def step_two(i: Any, a: Any, b: Any, t: Any) -> State:
    a, b, t = step_one(i, a, b, t)
    taken = [a[i].set(2), b[t].set(i), t + 1]
    return list(symc.ifelse(T.eq(b[i % 5], 3), taken, [a, b, t]))


def step_nested(i: Any, a: Any, b: Any, t: Any) -> State:
    def inner(a: Any, b: Any, t: Any) -> State:
        for least in (3, 5):
            taken = [a[i].inc(1), b[t].set(i), t + 1]
            a, b, t = symc.ifelse(i > least, taken, [a, b, t])
        return [a, b[t].set(i), t + 1]

    return list(symc.ifelse(T.eq(a[i % 7], 0), inner(a[i].inc(-4), b, t), [a, b, t]))


def step_pushing(i: Any, a: Any, b: Any, t: Any) -> State:
    """Numbers of what has been written before decide what is written next."""
    old = [a, b, t]
    for k in range(3):
        place = i + k
        more = a[place].inc(1)
        full = more[place] > 2
        pushed, top = symc.ifelse(full, b[t].set(place), b), symc.ifelse(full, t + 1, t)
        a, b, t = symc.ifelse(place < a.shape[0], [more, pushed, top], [a, b, t])
    return list(symc.ifelse(i > 2, [a, b, t], old))


def step_two_sides(i: Any, a: Any, b: Any, t: Any) -> State:
    """Both sides write, and compute a number of what they have written."""
    one, two = a[i].inc(i), a[i % 3].set(7)[i % 4].inc(1)
    then = [one, b, t + one[i] % 3 + one[0]]
    otherwise = [two, b[t % 50].set(two[i]), two[2] + one.shape[0]]
    return list(symc.ifelse(T.eq(a[i] % 2, 0), then, otherwise))


def step_branch_in_sides(i: Any, a: Any, b: Any, t: Any) -> State:
    """Each side may leave the number as it is: it was 0 then."""
    more, less = a[i % 2].inc(t % 5 + 1), a[i % 4].set(t % 3)
    one = symc.ifelse(T.eq(i % 3, 0), [more, (more[i % 2] + more[0]) % 20], [a, t])
    two = symc.ifelse(b[i] < 2, [less, (less[i % 4] + i) % 20], [a, t])
    a, t = symc.ifelse(i % 2 < 1, list(one), list(two))
    return [a, b[t].set(i), t]


def hand_one(i: int, a: Any, b: Any, t: int) -> int:
    if a[i % 7] == 0:
        a[i], b[t] = 1, i
        t += 1
    return t


def hand_two(i: int, a: Any, b: Any, t: int) -> int:
    t = hand_one(i, a, b, t)
    if b[i % 5] == 3:
        a[i], b[t] = 2, i
        t += 1
    return t


def hand_nested(i: int, a: Any, b: Any, t: int) -> int:
    if a[i % 7] == 0:
        a[i] -= 4
        for least in (3, 5):
            if i > least:
                a[i] += 1
                b[t] = i
                t += 1
        b[t] = i
        t += 1
    return t


def hand_pushing(i: int, a: Any, b: Any, t: int) -> int:
    for place in range(i, i + 3) if i > 2 else ():
        if place < len(a):
            a[place] += 1
            if a[place] > 2:
                b[t] = place
                t += 1
    return t


def hand_branch_in_sides(i: int, a: Any, b: Any, t: int) -> int:
    if i % 2 < 1:
        if i % 3 == 0:
            a[i % 2] += t % 5 + 1
            t = (a[i % 2] + a[0]) % 20
    elif b[i] < 2:
        a[i % 4] = t % 3
        t = (a[i % 4] + i) % 20
    b[t] = i
    return t


def hand_two_sides(i: int, a: Any, b: Any, t: int) -> int:
    if a[i] % 2 == 0:
        a[i] += i
        return int(t + a[i] % 3 + a[0])
    a[i % 3] = 7
    a[i % 4] += 1
    b[t % 50] = a[i]
    return int(a[2] + len(a))


STEPS: dict[str, tuple[Callable[..., State], Callable[..., int]]] = {
    "one": (step_one, hand_one), "two": (step_two, hand_two), "nested": (step_nested, hand_nested),
    "branch in sides": (step_branch_in_sides, hand_branch_in_sides),
    "pushing": (step_pushing, hand_pushing), "two sides": (step_two_sides, hand_two_sides),
}  # fmt: skip


def counted(step: Callable[..., State]) -> State:
    return list(symc.fori_loop(0, N, step, [A, B, 0]))


def while_below(step: Callable[..., State]) -> State:
    result = symc.while_loop(
        lambda i, *_: i < N, lambda i, *state: [i + 1, *step(i, *state)], [0, A, B, 0]
    )
    return list(result[1:])


@pytest.mark.parametrize("loop", [counted, while_below])
@pytest.mark.parametrize("name", STEPS)
def test_nothing_is_copied_in_a_step(name: str, loop: Callable[..., State]) -> None:
    step, by_hand = STEPS[name]
    f = symc.function([A, B, N], loop(step))
    assert "slot is copied" not in f.explain()
    assert "two values of 8*" not in f.explain()
    a, b, t = np.arange(20) % 3, np.zeros(60, int), 0
    found = f(a, b, 15)
    for i in range(15):
        t = by_hand(i, a, b, t)
    for one_found, wanted in zip(found, (a, b, t), strict=True):
        np.testing.assert_array_equal(one_found, wanted)


def test_a_pile_of_sand_with_a_stack() -> None:
    """Each step copied the stack and the pile, for every branch of the step."""
    pile = T.lmatrix("pile")
    n, m = pile.shape

    def topple(pile: Any, stack: Any, top: Any) -> State:
        place, top = stack[top - 1], top - 1
        i, j = place // m, place % m

        def spread(pile: Any, stack: Any, top: Any) -> State:
            pile = pile[i, j].inc(-4)
            for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                row, column = i + down, j + right
                inside = (row >= 0) & (row < n) & (column >= 0) & (column < m)
                taken = [pile[row, column].inc(1), stack[top].set(row * m + column), top + 1]
                pile, stack, top = symc.ifelse(inside, taken, [pile, stack, top])
            return [pile, stack[top].set(place), top + 1]

        is_high = T.ge(pile[i, j], 4)
        return list(symc.ifelse(is_high, spread(pile, stack, top), [pile, stack, top]))

    stack = T.zeros(1000, dtype="int64")[0].set((n // 2) * m + m // 2)
    last = symc.while_loop(lambda pile, stack, top: top > 0, topple, [pile, stack, 1])[0]
    f = symc.function([pile], last)
    assert "slot is copied" not in f.explain()
    given = np.full((5, 5), 2)
    given[2, 2] = 40
    found = f(given)
    assert found.max() < 4
    expected = given.copy()
    while expected.max() >= 4:
        high = expected >= 4
        expected -= 4 * high
        expected[1:] += high[:-1]
        expected[:-1] += high[1:]
        expected[:, 1:] += high[:, :-1]
        expected[:, :-1] += high[:, 1:]
    np.testing.assert_array_equal(found, expected)  # in whatever order places topple
