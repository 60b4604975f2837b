"""Scheduling of deep graphs takes few rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import symc
from symc import tensor as T


def _gathers(count: int) -> tuple[list[Any], Any]:
    index, found = T.lvector("i"), T.lvector("v")
    inputs = [found, index]
    for _ in range(count):
        found = index[found % 2]
    return inputs, found


def _softmaxes(count: int) -> tuple[list[Any], Any]:
    x = T.matrix("x")
    made: Any = x
    for _ in range(count):
        made = T.softmax(made)
    return [x], made


@pytest.mark.parametrize("make", [_gathers, _softmaxes])
def test_a_deep_chain_takes_no_more_rounds_than_a_shallow_one(
    make: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round a layer: 120 gathers took 7 s to schedule, and twenty softmaxes 40 rounds."""
    from symc.schedule import dependencies, schedule

    rounds: list[int] = []

    class Counted(dependencies.Groups):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            rounds.append(len(self.members))

    monkeypatch.setattr(schedule, "Groups", Counted)
    inputs, result = make(12)
    symc.function(inputs, result).runner.compilation()
    assert 0 < len(rounds) <= 10
