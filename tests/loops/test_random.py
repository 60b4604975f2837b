"""Random numbers within loops: streams, whose state the loop carries, and explicit keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.tensor import random

MODES = ("python", "default")


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_draws_anew_in_each_step_and_in_each_call(mode: str) -> None:
    stream = random.RandomStream(7)
    x = T.vector("x")
    noise, updates = symc.scan(lambda x: x + stream.normal(size=2), x)
    f = symc.function([x], noise, updates=updates, mode=mode)
    first, second = f(np.zeros(5)), f(np.zeros(5))
    assert len(np.unique(np.concatenate([first, second]))) == 20
    stream.seed(7)
    np.testing.assert_array_equal(f(np.zeros(5)), first)


def test_steps_draw_what_calls_draw() -> None:
    looped, called = random.RandomStream(3), random.RandomStream(3)
    draws, updates = symc.scan(lambda: looped.uniform(size=4), n_steps=3)
    one = symc.function([], called.uniform(size=4), mode="python")
    found = symc.function([], draws, updates=updates, mode="python")()
    np.testing.assert_array_equal(found, [one(), one(), one()])


@pytest.mark.parametrize("mode", MODES)
def test_keys_folded_with_the_step(mode: str) -> None:
    key = random.key(5)
    draws, _ = symc.map(lambda i: random.normal(random.fold_in(key, i), size=3), T.arange(4))
    found = symc.function([], draws, mode=mode)()
    for i in range(4):
        wanted = random.normal(random.fold_in(key, i), size=3).eval()
        np.testing.assert_allclose(found[i], wanted, rtol=1e-15)


def test_what_was_drawn_outside_is_the_same_in_all_steps() -> None:
    """Each step drew it anew (as in Aesara, #910)."""
    stream = random.RandomStream(7)
    noise = stream.normal(size=())
    captured, first = symc.scan(lambda: noise, n_steps=3)
    given, second = symc.scan(lambda noise: noise + stream.normal(), None, None, noise, 3)
    f = symc.function([], [noise, captured, given], updates=first + second, mode="python")
    once, rows, shifted = f()
    np.testing.assert_array_equal(rows, [once] * 3)
    assert len(np.unique(shifted)) == 3
    assert f()[0] != once


def test_draws_in_loops_within_loops() -> None:
    stream = random.RandomStream(7)

    def outer() -> Any:
        noise = stream.normal()
        rows, updates = symc.scan(lambda: (noise, stream.normal()), n_steps=3)
        return [*rows, stream.normal()], updates

    (same, inner, last), updates = symc.scan(outer, n_steps=4)
    same, inner, last = symc.function([], [same, inner, last], updates=updates, mode="python")()
    np.testing.assert_array_equal(same, np.repeat(same[:, :1], 3, axis=1))
    assert len(np.unique(np.concatenate([same[:, 0], inner.ravel(), last]))) == 20


def test_loops_that_return_no_updates_advance_a_stream() -> None:
    """Draws of one call came again in the next ones."""
    stream = random.RandomStream(3)
    walk = symc.fori_loop(0, 5, lambda _, y: y + stream.normal(), 0.0)
    other = symc.while_loop(lambda k, y: k < 3, lambda k, y: (k + 1, y + stream.normal()), [0, 0.0])
    both = symc.function([], [walk, other[1]], mode="python")
    both()
    np.testing.assert_array_equal(stream.get_state(), np.array([3, 5], np.uint64))
    symc.function([], other[1], mode="python")()
    np.testing.assert_array_equal(stream.get_state(), np.array([3, 8], np.uint64))
    symc.function([], walk, mode="python", no_default_updates=True)()
    np.testing.assert_array_equal(stream.get_state(), np.array([3, 8], np.uint64))


def test_an_inner_loop_that_returns_no_updates_advances_a_stream() -> None:
    """The draws of the inner loops overlapped."""
    stream = random.RandomStream(3)
    rows, updates = symc.scan(lambda: symc.scan(lambda: stream.normal(), n_steps=3)[0], n_steps=4)
    found = symc.function([], rows, updates=updates, mode="python")()
    assert len(np.unique(found)) == 12
    np.testing.assert_array_equal(stream.get_state(), np.array([3, 12], np.uint64))


def test_gradients_of_a_step_see_the_numbers_that_it_drew() -> None:
    stream = random.RandomStream(1)
    w = T.scalar("w")
    h, updates = symc.scan(
        lambda h: h * w + stream.normal(size=()), outputs_info=T.ones(()), n_steps=4
    )
    f = symc.function([w], [h[-1], symc.grad(h[-1], w)], updates=updates, mode="python")
    state = stream.get_state()
    above = f(0.5 + 1e-6)[0]
    stream.set_state(state)
    below = f(0.5 - 1e-6)[0]
    stream.set_state(state)
    np.testing.assert_allclose(f(0.5)[1], (above - below) / 2e-6, rtol=1e-6)
