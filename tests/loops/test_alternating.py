"""States in two arrays in turn: their steps write the same part of one from the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Repeat, Routine, const
from symc.codegen.verify.program import verify
from symc.graph.node import Tensor
from tests.loops.test_compiled import check, program

X = np.random.default_rng(1).standard_normal(9)
A = np.random.default_rng(2).standard_normal((6, 7))


def smoothed(u: Any) -> Any:
    return 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]


def around(u: Any) -> Any:
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]


def with_borders(u: Tensor) -> Any:
    u = u[1:-1, 1:-1].set(0.25 * around(u))
    u = u[0, :].set(u[1, :])
    return u[:, -1].set(0.5)


def with_borders_in_numpy(u: Any) -> Any:
    u = u.copy()
    u[1:-1, 1:-1] = 0.25 * around(u)
    u[0] = u[1]
    u[:, -1] = 0.5
    return u


def plate_in_numpy(u: Any) -> Any:
    u = u.copy()
    u[1:-1, 1:-1] = 0.25 * around(u)
    return u


def rod_in_numpy(u: Any) -> Any:
    u = u.copy()
    u[1:-1] = smoothed(u)
    return u


STEPS: dict[str, tuple[Callable[[Tensor], Any], Callable[[Any], Any], Any]] = {
    "rod": (lambda u: u[1:-1].set(smoothed(u)), rod_in_numpy, X),
    "plate": (lambda u: u[1:-1, 1:-1].set(0.25 * around(u)), plate_in_numpy, A),
    "borders": (with_borders, with_borders_in_numpy, A),
}


def repeated(step: Callable[[Any], Any], count: int, value: Any) -> Any:
    for _ in range(count):
        value = step(value)
    return value


@pytest.mark.parametrize("count", [0, 4, 5])
@pytest.mark.parametrize("name", STEPS)
def test_values_after_even_and_odd_numbers_of_steps(name: str, count: int) -> None:
    step, in_numpy, value = STEPS[name]
    u, steps = T.tensor("float64", (None,) * value.ndim, name="u"), T.lscalar("steps")
    for number in (count, steps):
        result = symc.fori_loop(0, number, lambda _, u: step(u), u)
        function = symc.function([u, steps], result, on_unused_input="ignore")
        np.testing.assert_allclose(function(value, count), repeated(in_numpy, count, value))


@pytest.mark.parametrize("name", ["rod", "plate"])
def test_a_step_writes_from_one_array_to_the_other(name: str) -> None:
    step, _, value = STEPS[name]
    u = T.tensor("float64", (None,) * value.ndim, name="u")
    f = check([u], [symc.fori_loop(0, 6, lambda _, u: step(u), u)], value)
    made = program(f)
    verify(made)
    (loop,) = [each for each in every_step(made.steps) if isinstance(each, Repeat)]
    assert not [each for each in loop.steps if isinstance(each, Routine)]
    rings = [each for each in made.buffers if each.role == "temp" and each.shape[:1] == (const(2),)]
    assert len(rings) == 1
    assert not [b for b in made.buffers if b.role == "temp" and b not in rings and b.shape]
    assert "the state slot lies in two arrays in turn" in f.explain()


ROD_WITH_ENDS = (lambda u: u[1:-1].set(smoothed(u))[0].set(u[1])[-1].set(0.5), X)


@pytest.mark.parametrize(("step", "value"), [(with_borders, A), ROD_WITH_ENDS])
def test_borders_are_set_in_the_array_that_a_sweep_is_written_into(step: Any, value: Any) -> None:
    """The sweep was computed into an array of its own, and copied from there into the state."""
    u = T.tensor("float64", (None,) * value.ndim, name="u")
    f = check([u], [symc.fori_loop(0, 6, lambda _, u: step(u), u)], value)
    made = program(f)
    verify(made)
    (ring,) = [each for each in made.buffers if each.role == "temp" and each.shape]
    assert ring.shape[0] == const(2)
    assert "the state slot has memory for two values" in f.explain()


def test_a_sweep_over_a_small_part_is_computed_first() -> None:
    """Else more would be copied around it than is written."""
    u = T.tensor("float64", (20, 20), name="u")

    def step(u: Any) -> Any:
        return u[5:12, 5:12].set(u[4:11, 5:12] + u[6:13, 5:12])[0].set(1.0)

    f = symc.function([u], symc.fori_loop(0, 6, lambda _, u: step(u), u))
    assert "memory for two values" not in f.explain()


def test_parts_of_one_step_that_differ_are_not_written_in_turn() -> None:
    """The first element that only one of two writes set was that of the step before."""
    u = T.vector("u")

    def step(u: Any) -> Any:
        u = u[1:].set(u[:-1] * 0.5)
        return u[2:-1].set(u[3:] - u[1:-2])

    wanted = X.copy()
    for _ in range(6):
        wanted[1:] = wanted[:-1] * 0.5
        wanted[2:-1] = wanted[3:] - wanted[1:-2]
    check([u], [symc.fori_loop(0, 6, lambda _, u: step(u), u)], X)
    np.testing.assert_allclose(symc.fori_loop(0, 6, lambda _, u: step(u), u).eval({u: X}), wanted)


def test_short_arrays_and_empty_parts() -> None:
    u = T.vector("u")
    f = symc.function([u], symc.fori_loop(0, 5, lambda _, u: u[1:-1].set(smoothed(u)), u))
    for length in (2, 3, 4):
        np.testing.assert_allclose(f(X[:length]), repeated(rod_in_numpy, 5, X[:length]))


def test_loops_that_end_early_and_rows_that_are_kept() -> None:
    u = T.vector("u")

    def step(u: Tensor) -> Any:
        new = u[1:-1].set(smoothed(u))
        return new, symc.until(T.abs(new - u).max() < 0.3)

    rows, _ = symc.scan(step, outputs_info=u, n_steps=50)
    last, every = symc.function([u], rows[-1])(X), symc.function([u], rows)(X)
    value = X
    for row in every:
        value = rod_in_numpy(value)
        np.testing.assert_allclose(row, value)
    np.testing.assert_allclose(last, value)


def test_loops_inside_loops_begin_anew() -> None:
    u = T.vector("u")

    def outer(i: Tensor, u: Tensor) -> Any:
        u = u[0].set(T.cast(i, "float64"))
        return symc.fori_loop(0, 5, lambda _, u: u[1:-1].set(smoothed(u)), u)

    value = X.copy()
    for i in range(3):
        value[0] = i
        value = repeated(rod_in_numpy, 5, value)
    check([u], [symc.fori_loop(0, 3, outer, u)], X)
    np.testing.assert_allclose(symc.fori_loop(0, 3, outer, T.constant(X)).eval(), value)


@pytest.mark.parametrize(
    "place", ["the number of the step", "a number of the step", "a small part"]
)
def test_other_parts_are_computed_first(place: str) -> None:
    """A part that moves, or is small, is computed before it is written where it lies."""
    u, order = T.vector("u"), T.lvector("order")

    def step(i: Tensor, u: Tensor) -> Any:
        match place:
            case "the number of the step":
                return u[i + 1 :].set(u[i:-1] + 1)
            case "a number of the step":
                return u[order[i] : order[i] + 3].set(u[order[i] + 1 : order[i] + 4])
            case _:
                return u[2:4].set(u[1:3] + u[3:5])

    f = symc.function([u, order], symc.fori_loop(0, 5, step, u), on_unused_input="ignore")
    value, places = X.copy(), np.array([3, 0, 2, 1, 4])
    for i in range(5):
        match place:
            case "the number of the step":
                value[i + 1 :] = value[i:-1] + 1
            case "a number of the step":
                value[places[i] : places[i] + 3] = value[places[i] + 1 : places[i] + 4].copy()
            case _:
                value[2:4] = value[1:3] + value[3:5]
    np.testing.assert_allclose(f(X, places), value)
    assert "in two arrays" not in f.explain()


def test_gradients_of_alternating_states() -> None:
    u = T.vector("u")
    result = symc.fori_loop(0, 6, lambda _, u: u[1:-1].set(smoothed(u)), u)
    slope = symc.function([u], symc.grad((result**2).sum(), u))(X)
    matrix = np.stack([repeated(rod_in_numpy, 6, row) for row in np.eye(len(X))], axis=1)
    np.testing.assert_allclose(slope, 2 * matrix.T @ (matrix @ X))
