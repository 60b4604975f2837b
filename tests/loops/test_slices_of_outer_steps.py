"""Slices whose bounds are those of the step of an outer loop, read and written in an inner one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import ShapeMismatch

A, C = np.random.default_rng(2).normal(size=(2, 6, 6))

# Of two matrices, the numbers of an outer and an inner step: where to write, and what.
WRITES: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "up to here": lambda a, c, i, k: ((i, slice(None, i + 1)), a[i, k] * a[: i + 1, k]),
    "from here": lambda a, c, i, k: ((slice(i, None), k), c[i:, k] * a[i, k]),
    "a block": lambda a, c, i, k: ((slice(i, i + 2), slice(None, i)), a[i, k] + c[i : i + 2, :i]),
    "backwards": lambda a, c, i, k: ((k, slice(i, None, -1)), a[k, i] * c[i, i::-1]),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("adds", [True, False])
def test_writes_into_slices_of_an_outer_step(name: str, adds: bool) -> None:
    write = WRITES[name]
    a, c = T.matrix("a"), T.matrix("c")

    def row(i: Any, c: Any) -> Any:
        def column(k: Any, c: Any) -> Any:
            place, value = write(a, c, i, k)
            return c[place].inc(value) if adds else c[place].set(value)

        return symc.fori_loop(0, a.shape[1], column, c)

    function = symc.function([a, c], symc.fori_loop(0, a.shape[0], row, c))
    wanted = C.copy()
    for i in range(6):
        for k in range(6):
            place, value = write(A, wanted.copy(), i, k)
            wanted[place] = wanted[place] + value if adds else value
    np.testing.assert_allclose(function(A, C), wanted, rtol=1e-10)


def test_the_positions_of_a_slice_are_counted_in_each_step() -> None:
    """Made before the inner loop, they were an array, which each step tested and read again: a
    product of a matrix and its transpose, row by row, took twice numba's time."""
    a, c = T.matrix("a"), T.matrix("c")

    def row(i: Any, c: Any) -> Any:
        def column(k: Any, c: Any) -> Any:
            return c[i, : i + 1].inc(a[i, k] * a[: i + 1, k])

        return symc.fori_loop(0, a.shape[1], column, c)

    function = symc.function([a, c], symc.fori_loop(0, a.shape[0], row, c))
    program = function.runner.compilation().optimised
    assert not [buffer for buffer in program.buffers if buffer.role == "temp"]
    np.testing.assert_allclose(function(A, C), C + np.tril(A @ A.T), rtol=1e-12)
    with pytest.raises(ShapeMismatch):
        function(A, C[:, :4])


def test_a_bug_positions_of_known_axes_were_arrays_that_each_step_tested() -> None:
    """With lengths declared, adding to a slice in each step took four times as long as without."""
    g = T.tensor("float64", shape=(4, 12, 3), name="g")

    def step(w: Any, s: Any) -> Any:
        return s[:, w:].inc(g[:, : 12 - w])

    function = symc.function([g], symc.fori_loop(0, 5, step, T.zeros_like(g)))
    program = function.runner.compilation().optimised
    assert not [buffer for buffer in program.buffers if buffer.role == "temp"]
    given = np.random.default_rng(1).normal(size=(4, 12, 3))
    wanted = np.zeros_like(given)
    for w in range(5):
        wanted[:, w:] += given[:, : 12 - w]
    np.testing.assert_allclose(function(given), wanted, rtol=1e-12)
