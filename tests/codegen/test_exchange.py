"""Rows that are set from each other are set by one loop, without arrays beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Launch, Repeat
from symc.codegen.verify.program import verify

RNG = np.random.default_rng(7)
AT = T.tensor("int64", (None, 3), "at")

Rows = Callable[[Sequence[Any]], Sequence[Any]]
"""The new values of rows, in the order in which they are written, from the old ones."""
Place = Callable[[Any], Any]
"""The index of a row, from its number."""


def swapped(rows: Sequence[Any]) -> Sequence[Any]:
    return rows[1], rows[0]


def rotated(rows: Sequence[Any]) -> Sequence[Any]:
    p, q, *_ = rows
    return 3 * p - 2 * q, 2 * p + 3 * q


def in_turn(rows: Sequence[Any]) -> Sequence[Any]:
    return rows[1], rows[2], rows[0]


def one_reads_more(rows: Sequence[Any]) -> Sequence[Any]:
    p, q, r = rows
    return q + r, p - r


CHANGES = [swapped, rotated, in_turn, one_reads_more]
PLACES: dict[str, Place] = {
    "rows": lambda k: k,
    "columns": lambda k: (slice(None), k),
    "parts of rows": lambda k: (k, slice(1, None)),
    "parts of columns": lambda k: (slice(1, None), k),
    "every second": lambda k: (k, slice(None, None, 2)),
    "backwards": lambda k: (k, slice(None, None, -1)),
}


def steps_of(change: Rows, place: Place, x: Any) -> Any:
    """The loop: in each step, the rows whose numbers `at` has."""

    def step(k: Any, x: Any) -> Any:
        numbers = [AT[k, n] for n in range(3)]
        new = change([x[place(number)] for number in numbers])
        for number, row in zip(numbers, new, strict=False):
            x = x[place(number)].set(T.cast(row, x.dtype))
        return x

    return symc.fori_loop(0, AT.shape[0], step, x)


def in_numpy(change: Rows, place: Place, at: Any, x: Any) -> Any:
    x = x.copy()
    for numbers in at:
        new = [row.copy() for row in change([x[place(number)].copy() for number in numbers])]
        for number, row in zip(numbers, new, strict=False):
            x[place(number)] = row
    return x


def temporaries(f: Any) -> list[str]:
    """The arrays beside the arguments and results that steps of loops use."""
    program = f.runner.compilation().optimised
    loops = [step for step in every_step(program.steps) if isinstance(step, Repeat)]
    used = {b for s in every_step(loops) if isinstance(s, Launch) for b in s.buffers}
    return [b.name for b in program.buffers if b.role == "temp" and b.shape and b.name in used]


def compiled(change: Rows, place: Place, dtype: str = "float64", ndim: int = 2) -> Any:
    x = T.tensor(dtype, (None,) * ndim, "x")
    f = symc.function([x, AT], steps_of(change, place, x))
    verify(f.runner.compilation().optimised)
    return f


def some(dtype: str, shape: tuple[int, ...]) -> Any:
    x = RNG.integers(-5, 6, shape).astype(dtype)
    return x + 1j * RNG.integers(-5, 6, shape) if "complex" in dtype else x


def numbers_in(length: int, count: int = 12) -> Any:
    """Numbers of rows, counted from both ends; some of them equal."""
    at = RNG.integers(-length, length, (count, 3))
    at[1] = at[1, 0]
    at[2] = [length - 1, -1, 0]
    return at


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "complex128"])
def test_rows_at_any_places(change: Rows, name: str, dtype: str) -> None:
    f = compiled(change, PLACES[name], dtype)
    for shape in [(1, 1), (2, 3), (5, 5), (9, 30), (40, 7), (33, 70)]:
        x, at = some(dtype, shape), numbers_in(shape["columns" in name])
        with np.errstate(over="ignore"):
            wanted = in_numpy(change, PLACES[name], at, x)
        np.testing.assert_array_equal(f(x, at), wanted)


@pytest.mark.parametrize("name", ["rows", "columns"])
@pytest.mark.parametrize("change", [swapped, rotated, in_turn])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_nothing_is_kept_beside_rows_and_columns(change: Rows, name: str, dtype: str) -> None:
    assert not temporaries(compiled(change, PLACES[name], dtype))
