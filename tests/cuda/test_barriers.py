"""Barriers of teams of threads: between what all threads read and what one of them writes."""

from __future__ import annotations

from typing import Any

import numpy as np

import symc
import symc.tensor as T
from symc.codegen.dtypes import FLOAT64, INT64
from symc.codegen.ir import Accumulate, Alloc, Barrier, Buffer, Const, Load, Loop, Store, Var, const
from symc.codegen.passes.gpu.teams import for_team
from symc.codegen.passes.walk import Block

ACC = Alloc(Buffer("acc", FLOAT64, (), "local"), Const(0.0, FLOAT64))


def value(buffer: str, index: Any) -> Load:
    return Load(buffer, index, FLOAT64)


def summed(buffer: str) -> Loop:
    """A row of three that each thread sums for itself."""
    i = Var("i", INT64)
    added = Accumulate("acc", const(0), "add", value(buffer, i))
    return Loop(i, const(3), "serial", (added,))


def test_what_all_threads_have_read_is_overwritten_after_a_barrier() -> None:
    stores = [Store(name, const(0), value("acc", const(0))) for name in ("y", "x")]
    body: Block = (ACC, summed("x"), *stores)
    *_, barrier, write = for_team(body, set())
    assert barrier == Barrier()
    assert isinstance(write, Loop)
    assert [stmt.buffer for stmt in write.body if isinstance(stmt, Store)] == ["x"]


def test_what_the_next_iteration_overwrites_has_been_read_before_a_barrier() -> None:
    first = Store("x", const(0), value("acc", const(0)))
    again = Loop(Var("step", INT64), const(5), "serial", (first, summed("x")))
    body = (ACC, again, Store("y", const(0), value("acc", const(0))))
    loop = next(stmt for stmt in for_team(body, set()) if isinstance(stmt, Loop))
    assert isinstance(loop.body[-2], Loop)
    assert loop.body[-1] == Barrier()


def test_the_simulator_finds_no_race_where_a_row_is_summed_and_then_written_to() -> None:
    x, steps = T.tensor("float64", (3,), "x"), T.lscalar("steps")
    places = np.array([2, 2, 0])

    def step(i: Any, row: Any, total: Any) -> Any:
        at = (places + i) % 3
        return row[at].set(0.5), total + row[at].sum()

    loop = symc.fori_loop(0, steps, step, [x, 0.0])
    last, total = symc.function([x, steps], loop, device="cuda:sim")([1.0, 2.0, 3.0], 2)
    assert last.tolist() == [0.5] * 3
    assert total == 3 + 3 + 1 + 0.5 + 0.5 + 2
