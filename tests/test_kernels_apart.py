"""Why kernels are not one, and variables not updated in place: as `explain()` says it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.graph import conditions
from symc.schedule.plan import Lone, Nest, Plan
from symc.schedule.reasons import (
    Apart,
    Between,
    FewerLoops,
    MayFail,
    NoLoops,
    OtherIterations,
    OtherLengths,
    OwnKernel,
    ReadAfter,
    ReadWhileWritten,
    TooMany,
)
from tests.test_host_calls import apply, twice


def plan_of(inputs: Any, outputs: Any, updates: Any = ()) -> Plan:
    return symc.function(inputs, outputs, updates=updates).runner.compilation().plan


def explained(inputs: Any, outputs: Any, updates: Any = ()) -> list[str]:
    text = symc.function(inputs, outputs, updates=updates).explain()
    return [line for line in text.split("\n") if "stay apart" in line or "not updated" in line]


def reasons(plan: Plan) -> list[type[object]]:
    for pair in plan.apart:
        assert pair.first < pair.second
        for number in (pair.first, pair.second):
            assert isinstance(plan.units[number], Nest | Lone)
    return [type(pair.reason) for pair in plan.apart]


def test_a_total_between() -> None:
    x = T.vector("x")
    made = plan_of([x], x / x.sum())
    ((total,), (quotient,)) = [unit.stages for unit in made.units if isinstance(unit, Nest)]
    assert made.apart == [Apart(0, 1, NoLoops(total.node))]
    assert quotient.reads.keys() >= {total.node}
    line = "kernels 1 and 2 stay apart: sum(x) is complete only when all its loops have ended"
    assert explained([x], x / x.sum()) == [line]


def test_rows_that_are_folded_in_another_order() -> None:
    x = T.matrix("x")
    rows = x.sum(axis=1)
    made = plan_of([x], [rows, rows[::-1] + 1])
    (pair,) = made.apart
    assert isinstance(pair.reason, OtherIterations)
    (line,) = explained([x], [rows, rows[::-1] + 1])
    assert line == (
        "kernels 1 and 2 stay apart: an iteration of sum(x, axis=1)[::-1] + 1.0 reads what other "
        "iterations of sum(x, axis=1) compute"
    )


def test_other_lengths() -> None:
    x = T.tensor3("x")
    middle = T.exp(x).sum(axis=2)
    outputs = [middle, T.exp(middle.T) * 2]
    (pair,) = plan_of([x], outputs).apart
    assert pair.reason == OtherLengths(x.type.shape[0], x.type.shape[1])
    (line,) = explained([x], outputs)
    assert line.endswith("their outermost loops have the lengths x.shape[0] and x.shape[1]")


def test_folds_over_different_axes() -> None:
    x = T.matrix("x")
    made = plan_of([x], [x.sum(axis=0), x.sum(axis=1)])
    assert reasons(made) == [NoLoops]


def test_fewer_loops() -> None:
    v, w = T.vectors("v", "w")
    made = plan_of([v, w], [T.exp(v), T.outer(v, w)])
    assert [pair.reason for pair in made.apart] == [FewerLoops(1, 2)]
    line = "kernels 1 and 2 stay apart: they read one array, but would share only 1 of 2 loops"
    assert explained([v, w], [T.exp(v), T.outer(v, w)]) == [line]


def test_a_running_sum_is_a_kernel_of_its_own() -> None:
    v = T.vector("v")
    made = plan_of([v], T.cumsum(v) * 2)
    assert reasons(made) == [OwnKernel]
    line = "kernels 1 and 2 stay apart: cumsum(v) shares loops with nothing"
    assert explained([v], T.cumsum(v) * 2) == [line]


def test_a_call_into_python_between() -> None:
    v = T.vector("v")
    before = T.exp(v)
    outputs = [before, apply(twice, before) + before]
    (pair,) = plan_of([v], outputs).apart
    assert isinstance(pair.reason, Between)
    assert explained([v], outputs) == [
        "kernels 1 and 3 stay apart: twice(exp(v)) must come between them"
    ]


def test_a_check_between() -> None:
    v, i = T.vector("v"), T.lvector("i")
    doubled = 2 * i
    outputs = [doubled, v[doubled] * doubled]
    between = [p.reason for p in plan_of([v, i], outputs).apart if isinstance(p.reason, Between)]
    assert [type(reason.unit) for reason in between] == [conditions.Test]
    (line,) = [line for line in explained([v, i], outputs) if line.endswith("between them")]
    assert line.startswith("kernels 1 and 4 stay apart: check all(")


def test_more_stages_than_a_kernel_may_have() -> None:
    v = T.vector("v")
    made = plan_of([v], [T.exp(v * number) for number in range(1, 70)])
    assert TooMany in reasons(made)


def test_one_kernel_needs_no_reason() -> None:
    v = T.vector("v")
    made = plan_of([v], [T.exp(v), T.exp(v) + 1, T.sin(v)])
    assert len(made.units) == 1
    assert made.apart == []


def test_kernels_in_a_step_have_reasons() -> None:
    x = T.matrix("x")
    h, _ = symc.scan(lambda row, h: (h + row) / (h + row).sum(), x, T.zeros(x.shape[1]))
    assert any(line.startswith("     kernels ") for line in explained([x], h))


# --- updates --------------------------------------------------------------------------------------


def test_updated_in_place() -> None:
    s = symc.shared(np.arange(4.0), name="s")
    made = plan_of([], [], [(s, s * 2)])
    assert set(made.in_place) == {s}
    assert made.copied == []


@pytest.mark.parametrize(
    ("new", "reason", "words"),
    [
        (lambda s: s[::-1] + 1, ReadWhileWritten, "old elements are read that would"),
        (lambda s: apply(twice, s + 1), MayFail, "what needs its new value may fail"),
        (lambda s: T.zeros(4) + s[:1], ReadWhileWritten, "old elements are read"),
    ],
)  # fmt: skip
def test_copied(new: Any, reason: type[object], words: str) -> None:
    s = symc.shared(np.arange(4.0), name="s")
    (copied,) = plan_of([], [], [(s, new(s))]).copied
    assert copied.node is s
    assert type(copied.reason) is reason
    (line,) = explained([], [], [(s, new(s))])
    assert line.startswith(f"s is not updated in place, 32 bytes: {words}")


def test_a_swap_needs_memory() -> None:
    s, t = (symc.shared(np.arange(4.0), name=name) for name in "st")
    made = plan_of([], [], [(s, t), (t, s)])
    assert len(made.copied) + len(made.in_place) == 2
    assert made.copied


def test_the_old_value_is_read_later() -> None:
    s = symc.shared(np.arange(4.0), name="s")
    new = T.exp(s)
    later = (s[::-1] * new.sum()).sum()
    made = plan_of([], [later], [(s, new)])
    (copied,) = made.copied
    assert isinstance(copied.reason, ReadAfter)


def test_gathers_that_two_kernels_need_are_stored() -> None:
    a, b, x = T.vector("a"), T.vector("b"), T.vector("x")
    at = T.vector("at", dtype="int64")
    residual = x - (a[at] + b[at] * x)
    f = symc.function([a, b, x, at], [residual.sum(), T.grad((residual**2).sum(), a)])
    assert any("x - " in line and "is stored" in line for line in f.explain().splitlines())
