"""Loops that go on while a counter is in bounds, at random, against the same in Python."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex

MOST = 12  # steps
SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le,
    "not lt": lambda a, b: T.logical_not(a < b) if isinstance(a, symc.Tensor) else not a < b,
}  # fmt: skip


def chosen(chance: random.Random) -> tuple[str, int, int, int, int, bool]:
    """A comparison, its bound, how a counter moves, where it reads and writes; which side it is."""
    return (
        chance.choice(list(SIGNS)), chance.randint(-2, 6), chance.choice([-2, -1, -1, 1, 1, 2]),
        chance.randint(-2, 2), chance.randint(-1, 1), chance.random() < 0.3,
    )  # fmt: skip


def in_python(x: Any, first: int, kind: tuple[Any, ...]) -> Any:
    """The state in the end, or None where an index is out of range."""
    sign, bound, by, read, write, turned = kind
    y, j, n = x.copy(), first, len(x)

    def goes_on() -> bool:
        within = SIGNS[sign](bound, j) if turned else SIGNS[sign](j, bound)
        return bool(within) and bool(y.sum() < 40)

    for _ in range(MOST):
        if not goes_on():
            break
        if not (-n <= j + read < n and -n <= j + write < n):
            return None
        y[j + write] += y[j + read] + 1
        j += by
    return j, y


def in_symc(x: Any, first: Any, kind: tuple[Any, ...]) -> Any:
    sign, bound, by, read, write, turned = kind

    def goes_on(j: Any, y: Any) -> Any:
        within = SIGNS[sign](T.constant(bound), j) if turned else SIGNS[sign](j, bound)
        return within & (y.sum() < 40)

    def step(j: Any, y: Any) -> list[Any]:
        return [j + by, y[j + write].inc(y[j + read] + 1)]

    return symc.while_loop(goes_on, step, [first, x], max_steps=MOST)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", range(12))
def test_counters_that_a_condition_bounds(seed: int, number: int) -> None:
    chance = random.Random(f"{seed} {number}")
    kind = chosen(chance)
    x, start = T.lvector("x"), T.lscalar("start")
    fixed = chance.randint(-2, 6)
    begins: list[tuple[Any, Callable[[int, int], int]]] = [
        (start, lambda first, n: first),
        (x.shape[0] - 1, lambda first, n: n - 1),
        (T.constant(fixed), lambda first, n: fixed),
    ]
    for begin, value in begins:
        f = symc.function([x, start], in_symc(x, begin, kind), on_unused_input="ignore")
        for n in range(1, 6):
            for first in range(-3, 8):
                given = np.arange(n) + 1
                wanted = in_python(given, value(first, n), kind)
                if wanted is None:
                    with pytest.raises(BadIndex):
                        f(given, first)
                else:
                    j, y = f(given, first)
                    assert (int(j), y.tolist()) == (wanted[0], wanted[1].tolist()), (kind, n, first)
