"""Positions are looked for in axes whose lengths are known at a call only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex

V = np.arange(4.0)


@pytest.mark.parametrize("mode", ["default", "python"])
@pytest.mark.parametrize("place", [-4, -1, 0, 3])
def test_insert_delete_and_partition_take_each_place_there_is(place: int, mode: str) -> None:
    x, at = T.vector("x"), T.iscalar("at")
    outputs = [T.insert(x, place, 7.0), T.delete(x, place), T.delete(x, at), T.partition(x, place)]
    results = symc.function([x, at], outputs, mode=mode)(V, np.int32(place))
    wanted = [np.insert(V, place, 7.0), *[np.delete(V, place)] * 2, V]
    for result, want in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(result, want)


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "insert": lambda x, at: T.insert(x, at, 7.0),
    "delete": T.delete,
    "partition": T.partition,
    "argpartition": T.argpartition,
}


@pytest.mark.parametrize("mode", ["default", "python"])
@pytest.mark.parametrize("place", [-5, 5])
@pytest.mark.parametrize("name", REFUSED)
def test_places_that_the_axis_lacks_are_refused_at_the_call(
    name: str, place: int, mode: str
) -> None:
    """They were taken for the nearest end: a deletion at 9 of four left all four."""
    x = T.vector("x")
    f = symc.function([x], REFUSED[name](x, place), mode=mode)
    with pytest.raises(BadIndex, match=name):
        f(V)
    np.testing.assert_equal(len(f(np.arange(6.0))), {"insert": 7, "delete": 5}.get(name, 6))


@pytest.mark.parametrize("name", ["insert", "delete"])
@pytest.mark.parametrize("place", [-(2**63), -5, 5, 2**63 - 1])
def test_places_that_are_data_are_refused_as_well(name: str, place: int) -> None:
    x, at = T.vector("x"), T.lscalar("at")
    f = symc.function([x, at], REFUSED[name](x, at))
    with pytest.raises(BadIndex, match=name):
        f(V, np.int64(place))
