"""States of rows that are made of themselves and of one row, column or number: in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

N, M = 7, 5

IN_PLACE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "closure": lambda m, k, b: m.where((b[:, k % M] > 0.5)[:, None], m.maximum(b, b[k]), b),
    "paths": lambda m, k, b: m.minimum(b, b[:, k % M][:, None] + b[k][None, :]),
    "a row": lambda m, k, b: b * 0.5 + b[k],
    "a column": lambda m, k, b: b * 0.5 + b[:, k % M][:, None],
    "a number": lambda m, k, b: b * 0.5 + b[0, 0],
    "the rows that are not chosen": lambda m, k, b: m.where(
        (b[:, 0] > 0.5)[:, None], b, b * 0.5 + b[k]
    ),
    "two columns": lambda m, k, b: m.where((b[:, 0] + b[:, M - 1] > 1)[:, None], b * b[k], b),
    "a sum": lambda m, k, b: m.where((b[:, k % M] > 0.5)[:, None], b.sum() * 0.01, b),
    "a function": lambda m, k, b: m.where((b[:, k % M] > 0.5)[:, None], m.exp(-b), b),
}
IN_TURN: dict[str, Callable[[Any, Any, Any], Any]] = {
    "conditions of other rows": lambda m, k, b: m.where(
        (b[::-1, k % M] > 0.5)[:, None], b * 0.5, b
    ),
    "other rows": lambda m, k, b: m.where((b[:, k % M] > 0.5)[:, None], b[::-1] * 0.5, b),
    "other columns": lambda m, k, b: m.where((b[:, k % M] > b[k, 0])[:, None], b + b[:, ::-1], b),
    "columns turned": lambda m, k, b: m.where((b[:, k % M] > 0.5)[:, None], b[:, ::-1], b),
}


@pytest.mark.parametrize("name", [*IN_PLACE, *IN_TURN])
def test_what_is_read_of_a_state_is_that_of_the_step_before(name: str) -> None:
    step = {**IN_PLACE, **IN_TURN}[name]
    x = T.matrix("x")
    last = symc.fori_loop(0, N, lambda k, b: step(T, k, b), x)

    def with_sum(k: Any, b: Any) -> Any:
        return [step(T, k, b), b[:, 0].sum()]

    states, sums = symc.scan(with_sum, T.arange(N), [x, None])[0]
    f = symc.function([x], [last, sums])
    given = np.random.default_rng(1).random((N, M))
    wanted, columns = given, []
    for k in range(N):
        columns.append(wanted[:, 0].sum())
        wanted = step(np, k, wanted)
    got = f(given)
    np.testing.assert_allclose(got[0], wanted, rtol=1e-12)
    np.testing.assert_allclose(got[1], columns, rtol=1e-12)
    assert states.type.shape[1:] == x.type.shape


@pytest.mark.parametrize("name", [*IN_PLACE, *IN_TURN])
def test_two_arrays_in_turn_are_for_what_reads_other_rows(name: str) -> None:
    step = {**IN_PLACE, **IN_TURN}[name]
    x = T.matrix("x")
    f = symc.function([x], symc.fori_loop(0, N, lambda k, b: step(T, k, b), x))
    assert ("% 2 *" in f.source) == (name in IN_TURN)


def test_rows_that_stay_as_they_are_are_not_written() -> None:
    x = T.tensor("uint64", (None, None), "x")

    def step(k: Any, b: Any) -> Any:
        return T.where(((b[:, 0] >> T.cast(k, "uint64")) & 1 > 0)[:, None], b | b[k], b)

    f = symc.function([x], symc.fori_loop(0, x.shape[0], step, x))
    kernel = f.source[f.source.index("where_kernel(") :]
    kernel = kernel[: kernel.index("\n}\n")]
    assert "if (" in kernel
    assert "else" not in kernel
    given = np.random.default_rng(2).integers(0, 2**12, (12, 3)).astype(np.uint64)
    wanted = given.copy()
    for k in range(12):
        chosen = (wanted[:, :1] >> np.uint64(k)) & np.uint64(1) > 0
        wanted = np.where(chosen, wanted | wanted[k], wanted)
    np.testing.assert_array_equal(f(given), wanted)


def test_stencils_keep_their_two_arrays() -> None:
    """They read elements beside: to keep these first would take as long as to copy."""
    x = T.matrix("x")

    def step(b: Any) -> Any:
        return b[1:-1].set(0.25 * b[:-2] + 0.5 * b[1:-1] + 0.25 * b[2:])

    f = symc.function([x], symc.fori_loop(0, x.shape[0], lambda k, b: step(b), x))
    assert "% 2 *" in f.source
