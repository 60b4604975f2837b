"""Bools on a device: the bytes that are true for NumPy are all of those but 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.cuda import asarray
from symc.cuda.devices import Device

X, Y, C = T.vector("x", dtype="bool"), T.vector("y", dtype="bool"), T.scalar("c", dtype="bool")
FIRST = np.array([1, 2, 255, 0, 4, 0, 8, 1], np.uint8).view(np.bool_)
SECOND = np.array([2, 2, 1, 0, 0, 16, 3, 1], np.uint8).view(np.bool_)
FOUR = np.array(4, np.uint8).view(np.bool_)

CASES: dict[str, tuple[Any, Callable[..., Any]]] = {
    "equal": (T.eq(X, Y), lambda x, y, c: x == y),
    "and": (X & Y, lambda x, y, c: x & y),
    "xor": (X ^ Y, lambda x, y, c: x ^ y),
    "not": (~X, lambda x, y, c: ~x),
    "a sum": (X.sum(), lambda x, y, c: x.sum()),
    "all": (X[:3].all(), lambda x, y, c: x[:3].all()),
    "chosen": (T.where(X, Y, X) & Y, lambda x, y, c: np.where(x, y, x) & y),
    "one alone": (T.eq(X, C) & C, lambda x, y, c: (x == c) & c),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("there", [False, True])
def test_a_bug_bytes_that_are_true_were_compared_and_added_up(
    device: Device, name: str, there: bool
) -> None:
    symbolic, plain = CASES[name]
    f = symc.function([X, Y, C], symbolic, device=device.name, on_unused_input="ignore")
    given = [asarray(x, device=device) if there else x for x in (FIRST, SECOND)]
    found: Any = f(*given, FOUR)
    exact = [x.view(np.uint8) != 0 for x in (FIRST, SECOND)]
    np.testing.assert_array_equal(np.asarray(found), plain(*exact, np.bool_(True)))


def test_a_shared_variable_of_such_bytes(device: Device) -> None:
    held = symc.shared(FIRST)
    f = symc.function([Y], T.eq(held, Y).sum(), updates=[(held, held ^ Y)], device=device.name)
    first, second = (x.view(np.uint8) != 0 for x in (FIRST, SECOND))
    assert int(f(SECOND)) == (first == second).sum()
    np.testing.assert_array_equal(np.asarray(held.get_value()), first ^ second)


def test_what_is_exact_stays_as_it_is(device: Device) -> None:
    values = np.array([True, False, True])
    array = asarray(values, device=device)
    array.assign(~values)
    assert array.to_numpy().tolist() == [False, True, False]
