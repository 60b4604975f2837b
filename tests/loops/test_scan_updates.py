"""Shared variables that loops change: their updates, and values that stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadUpdate
from symc.graph.node import Tensor
from tests.loops.test_scan_api import values


def test_updates_as_a_list_of_pairs() -> None:
    a, b = symc.shared(1.0, "a"), symc.shared(0.0, "b")
    _, updates = symc.scan(lambda: [(a, a * 2), (b, a)], n_steps=3)
    values([], [], updates=updates)
    assert (a.get_value(), b.get_value()) == (8.0, 4.0)


def test_updates_without_steps_change_nothing() -> None:
    a, n = symc.shared(1.0, "a"), T.lscalar("n")
    _, updates = symc.scan(lambda: {a: a * 2}, n_steps=n)
    values([n], [], 0, updates=updates)
    assert a.get_value() == 1.0


def test_default_updates_of_what_a_step_uses() -> None:
    counter = symc.shared(0, "counter")
    counter.default_update = counter + 1
    counts, updates = symc.scan(lambda: counter * 10, n_steps=3)
    np.testing.assert_array_equal(values([], counts, updates=updates), [0, 10, 20])
    assert counter.get_value() == 3


def test_updates_of_loops_are_added() -> None:
    a, b = symc.shared(1.0, "a"), symc.shared(1.0, "b")
    first = symc.scan(lambda: {a: a + 1}, n_steps=2)[1]
    second = symc.scan(lambda: {b: b + 1}, n_steps=3)[1]
    values([], [], updates=first + second)
    assert (a.get_value(), b.get_value()) == (3.0, 4.0)


def test_updates_that_are_forgotten() -> None:
    """Theano left the variable as it was, without a word."""
    count = symc.shared(0, "count")
    x = T.vector("x")
    totals, updates = symc.scan(lambda x: (x * count, {count: count + 1}), x)
    with pytest.warns(UserWarning, match="a loop changes <count .*pass on the updates"):
        symc.function([x], totals, mode="python")
    symc.function([x], totals, updates=updates, mode="python")([1.0, 2.0])
    assert count.get_value() == 2
    kept = symc.shared(1.0, "kept")
    rows, _ = symc.scan(lambda x, kept: x * kept, x, kept)
    symc.function([x], rows, mode="python")


def test_updates_within_nested_loops() -> None:
    count = symc.shared(0, "count")

    def outer() -> Any:
        _, updates = symc.scan(lambda: {count: count + 1}, n_steps=3)
        return updates

    _, updates = symc.scan(outer, n_steps=4)
    values([], [], updates=updates)
    assert count.get_value() == 12


@pytest.mark.parametrize(
    ("new", "text"),
    [(lambda a: a + 0.5, "would lose precision"), (lambda a: T.stack([a, a]), "1 axes")],
)
def test_updates_that_do_not_fit(new: Callable[[Tensor], Tensor], text: str) -> None:
    a = symc.shared(1, "a")
    with pytest.raises(BadUpdate, match=text):
        symc.scan(lambda: {a: new(a)}, n_steps=3)


def test_inner_updates_that_the_outer_function_forgets() -> None:
    """The inner loop began with the same state in each outer step, or nearly so."""
    count = symc.shared(0, "count")

    def outer() -> Any:
        counts, _ = symc.scan(lambda: (count, {count: count + 1}), n_steps=3)
        return counts

    with pytest.warns(UserWarning, match="let the function of the outer loop return the updates"):
        symc.scan(outer, n_steps=2)


def test_a_non_sequence_does_not_change_with_the_variable_it_was_computed_from() -> None:
    """It was computed anew in each step, from the loop's own value of the variable."""
    count = symc.shared(1.0, "count")
    totals, updates = symc.scan(
        lambda total, twice: (total + twice * count, {count: count + 1}),
        outputs_info=0.0,
        non_sequences=count * 2,
        n_steps=3,
    )
    np.testing.assert_array_equal(values([], totals, updates=updates), [2.0, 6.0, 12.0])
