"""Values that a step writes into a region, and reads again with the rest of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

A, B = np.random.default_rng(0).normal(size=(2, 9))


def smooth(x: Any) -> Any:
    """The middle of three means."""
    return 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]


def both(a: Any, b: Any, put: Callable[[Any, Any], Any]) -> Sequence[Any]:
    """Each from the other one."""
    b = put(b, smooth(a))
    return [put(a, smooth(b)), b]


def twice(a: Any, b: Any, put: Callable[[Any, Any], Any]) -> Sequence[Any]:
    """What is written is needed for something else before."""
    value = smooth(a)
    return [put(a, value * value), put(b, value)]


def summed(a: Any, b: Any, put: Callable[[Any, Any], Any]) -> Sequence[Any]:
    """What is written is read in two ways by what follows, and its sum by what does not."""
    value = smooth(a)
    b = put(b, value)
    return [put(a, b[:-2] * value.sum() - 2.0 * value), b]


def chained(a: Any, b: Any, put: Callable[[Any, Any], Any]) -> Sequence[Any]:
    """What is written is read to be written elsewhere, and read there."""
    b = put(b, smooth(a) * 0.5)
    a = put(a, b[1:-1] + b[2:])
    return [a, put(b, a[1:-1] - a[:-2])]


STEPS = {step.__name__: step for step in (both, twice, summed, chained)}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("mode", ["default", "compile"])
def test_steps_that_read_what_they_write(name: str, mode: str) -> None:
    step = STEPS[name]
    a, b = T.vector("a"), T.vector("b")
    with symc.config.set(mode=mode):
        loop = symc.fori_loop(
            0, 5, lambda _, a, b: list(step(a, b, lambda x, v: x[1:-1].set(v))), [a, b]
        )
        function = symc.function([a, b], loop)

    def put(x: Any, value: Any) -> Any:
        x = x.copy()
        x[1:-1] = value
        return x

    wanted: Sequence[Any] = [A, B]
    for _ in range(5):
        wanted = step(wanted[0], wanted[1], put)
    for found, right in zip(function(A, B), wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-12)


def test_what_two_arrays_are_made_of_in_turn_is_stored_once() -> None:
    """Jacobi's iteration from one array to the other and back: each value was stored beside the
    array and copied there, 1.4 times numba's time."""
    a, b = T.vector("a"), T.vector("b")
    loop = symc.fori_loop(
        0, 5, lambda _, a, b: list(both(a, b, lambda x, v: x[1:-1].set(v))), [a, b]
    )
    function = symc.function([a, b], loop)
    program = function.runner.compilation().optimised
    assert not [buffer for buffer in program.buffers if buffer.role == "temp"]


def test_a_reader_that_came_before_the_write() -> None:
    """It was not to be found: the compiler ended with a KeyError."""
    a, b = T.vector("a"), T.vector("b")

    def step(a: Any, b: Any, put: Any, add: Any) -> Any:
        value = 0.0 + b[1:-2] * 0.18
        b = put(b, slice(1, -2), value)
        a = add(a, slice(1, -2), b[1:-2] * 0.5)
        return [add(a, slice(None, -1), b[1:] - 1.0), b]

    def set_(x: Any, place: Any, value: Any) -> Any:
        return x[place].set(value)

    def inc(x: Any, place: Any, value: Any) -> Any:
        return x[place].inc(value)

    f = symc.function([a, b], symc.fori_loop(0, 3, lambda _, a, b: step(a, b, set_, inc), [a, b]))

    def put(x: Any, place: Any, value: Any) -> Any:
        x = x.copy()
        x[place] = value
        return x

    wanted: Sequence[Any] = [A, B]
    for _ in range(3):
        wanted = step(wanted[0], wanted[1], put, lambda x, at, value: put(x, at, x[at] + value))
    for found, right in zip(f(A, B), wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-12)
