"""Sequences of counted numbers follow from the number of the step (`loops/counted.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Check, Repeat
from symc.errors import BadIndex, LoopError
from symc.graph.node import Tensor

X = T.dvector("x")
A, B = T.lscalar("a"), T.lscalar("b")


def checks(f: Any) -> int:
    steps = every_step(f.runner.compilation().program.steps)
    return sum(
        isinstance(step, Check)
        for loop in steps if isinstance(loop, Repeat)
        for step in every_step(loop.steps)
    )  # fmt: skip


def test_numbers_of_a_map_are_no_array_and_indexes_are_known_to_be_in_range() -> None:
    """It took three times as long as the same as a `fori_loop`: each step checked both indexes."""
    made, _ = symc.map(
        lambda i: T.where(X[i] > 0.5, X[i] * X[i + 1], X[i]), T.arange(X.shape[0] - 1)
    )
    f = symc.function([X], made)
    assert "arange" not in f.program, f.program
    assert checks(f) == 0
    for n in (0, 1, 2, 50):
        x = np.random.default_rng(n).random(n)
        wanted = np.where(x[:-1] > 0.5, x[:-1] * x[1:], x[:-1])
        np.testing.assert_array_equal(f(x), wanted)


def numbers(sequence: Any, **given: Any) -> Tensor:
    """Half of what was there and the numbers of each step."""
    made, _ = symc.scan(lambda *a: a[-1] * 0.5 + sum(a[:-1]), sequence, T.constant(0.0), **given)
    result: Tensor = made
    return result


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("by", [1, 3, -1, -4])
@pytest.mark.parametrize("taps", [[0], [2], [-1, 1], [0, -3]])
def test_rows_of_counted_numbers(by: int, taps: list[int], backwards: bool) -> None:
    sequence = {"input": T.arange(A, B, by), "taps": taps}
    made = numbers(sequence, go_backwards=backwards)
    f = symc.function([A, B], made)
    plain = symc.function([A, B], made, mode="python")
    for a, b in ((0, 0), (0, 1), (2, 20), (20, -3), (-5, 9), (9, -5), (7, 6)):
        np.testing.assert_array_equal(f(a, b), plain(a, b))
    if taps == [0]:
        assert "arange" not in f.program, f.program


def test_a_sequence_that_is_too_short_for_the_steps_is_still_an_error() -> None:
    f = symc.function([A, B], numbers(T.arange(A), n_steps=B))
    assert f(5, 4).shape == (4,)
    with pytest.raises(LoopError, match="5 steps, but a sequence has rows for 4"):
        f(4, 5)


def test_an_index_beyond_what_is_counted_is_still_an_error() -> None:
    f = symc.function([X, A], symc.map(lambda i: X[i], T.arange(A))[0])
    np.testing.assert_array_equal(f(np.arange(3.0), 2), [0, 1])
    with pytest.raises(BadIndex):
        f(np.arange(3.0), 4)
    f = symc.function([X, A], symc.map(lambda i: X[i], T.arange(A, X.shape[0]))[0])
    np.testing.assert_array_equal(f(np.arange(4.0), -2), [2, 3, 0, 1, 2, 3])
    with pytest.raises(BadIndex):
        f(np.arange(4.0), -5)


def test_numbers_of_another_dtype_wrap_as_they_did() -> None:
    made, _ = symc.scan(lambda i, s: s + i, T.arange(A, dtype="uint8"), T.constant(0))
    f = symc.function([A], made)
    np.testing.assert_array_equal(f(300), np.cumsum(np.arange(300).astype("uint8")))


def test_counted_numbers_beside_rows_the_shorter_of_both_ends() -> None:
    made, _ = symc.map(lambda i, row: X[i] * row, [T.arange(A), X])
    f = symc.function([X, A], made)
    x = np.arange(5.0)
    np.testing.assert_array_equal(f(x, 3), x[:3] ** 2)
    np.testing.assert_array_equal(f(x, 9), x**2)


def test_gradients_go_through_what_is_read_at_counted_places() -> None:
    made, _ = symc.map(lambda i: X[i] * X[i + 1], T.arange(X.shape[0] - 1))
    f = symc.function([X], symc.grad(made.sum(), X))
    x = np.array([1.0, 2.0, 4.0, 8.0])
    np.testing.assert_allclose(f(x), [2.0, 5.0, 10.0, 4.0])


def test_a_loop_that_stops_early_along_counted_numbers() -> None:
    made, _ = symc.scan(
        lambda i, s: (s + X[i], symc.until(s + X[i] > 3)), T.arange(X.shape[0]), T.constant(0.0)
    )
    f = symc.function([X], made[-1])
    assert f(np.ones(9)) == 4
    assert "arange" not in f.program, f.program


def test_numbers_that_steps_of_a_loop_around_get_from_outside() -> None:
    """The array was made before the outer loop, and its steps were given it as any other."""

    def outer(_: Tensor, x: Tensor) -> Any:
        def inner(i: Tensor) -> Any:
            pair = symc.map(lambda j: x[j] + x[i], T.arange(2))[0]
            return x[i] + pair.sum() + x[i + 1]

        return T.concatenate([symc.map(inner, T.arange(x.shape[0] - 1))[0], x[-1:]])

    f = symc.function([X], symc.fori_loop(0, 3, outer, T.specify_shape(X, (5,))))
    assert "arange" not in f.program, f.program
    x = np.arange(5.0)
    wanted = x
    for _ in range(3):
        most = wanted[:-1]
        pairs = wanted[0] + wanted[1] + 2 * most
        wanted = np.append(most + pairs + wanted[1:], wanted[-1])
    np.testing.assert_allclose(f(x), wanted)


def test_inner_loops_that_stop_and_of_which_rows_are_wanted() -> None:
    def outer(_: Tensor, x: Tensor) -> Any:
        rows = symc.scan(
            lambda i, s: (s + x[i], symc.until(s + x[i] > 3)), T.arange(X.shape[0]), T.constant(0.0)
        )[0]
        return x + rows.sum() + rows[-1]

    made = symc.fori_loop(0, 2, outer, X)
    given = np.array([1.0, 2.0, 0.5, 4.0])
    f, plain = symc.function([X], made), symc.function([X], made, mode="python")
    np.testing.assert_allclose(f(given), plain(given))
