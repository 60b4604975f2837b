"""The input and the result of scheduling are data: they can be printed, and made again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import symc
import symc.pipeline.compile as pipeline
from symc import tensor as T
from symc.graph.formulas import Formula
from symc.graph.node import Op, Tensor
from symc.graph.walks import walk
from symc.schedule.plan import Inside, Plan, Problem
from symc.schedule.schedule import schedule
from tests.test_host_calls import apply, twice


def softmax() -> Any:
    x = T.matrix("x")
    return [x], T.softmax(x), ()


def chosen() -> Any:
    """Lengths become known while the function runs."""
    x, y = T.matrix("x"), T.vector("y")
    return [x, y], T.exp(x)[y > 0].sum(axis=0), ()


def updates() -> Any:
    x = T.vector("x")
    w, count = symc.shared(np.zeros(3), name="w"), symc.shared(0, name="count")
    return [x], (w * x).sum(), [(w, w - x * w.mean()), (count, count + 1)]


def scan() -> Any:
    x, w = T.matrix("x"), T.matrix("w")
    h, _ = symc.scan(lambda row, h: T.tanh(row + w @ h), x, T.zeros(x.shape[1]))
    return [x, w], h, ()


def scan_in_scan() -> Any:
    x = T.tensor3("x")

    def outer(rows: Any, total: Any) -> Any:
        inner, _ = symc.scan(lambda row, h: h * 0.5 + row[row > 0].sum(), rows, T.zeros(()))
        return total + inner.sum()

    h, _ = symc.scan(outer, x, T.zeros(()))
    return [x], h, ()


def branch() -> Any:
    c, x = T.scalar("c"), T.vector("x")
    return [c, x], symc.ifelse(c > 0, T.exp(x) / T.exp(x).sum(), x[::-1]), ()


def in_python() -> Any:
    x = T.vector("x")
    return [x], apply(twice, T.exp(x)) + 1, ()


EXAMPLES = [softmax, chosen, updates, scan, scan_in_scan, branch, in_python]


@pytest.fixture
def problems(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], tuple[Problem, Plan]]:
    """The problem and the plan of a function, built anew each time."""

    def build(example: Any) -> tuple[Problem, Plan]:
        inputs, outputs, changes = example
        found: list[Problem] = []

        def noted(problem: Problem) -> Plan:
            found.append(problem)
            return schedule(problem)

        request = symc.function(inputs, outputs, updates=changes, mode="python").request
        with monkeypatch.context() as context:
            context.setattr(pipeline, "schedule", noted)
            made = pipeline.build(request, mode="default", clock=pipeline.Clock())
        (problem,) = found
        return problem, made.plan

    return build


@pytest.mark.parametrize("example", EXAMPLES)
def test_problems_and_plans_can_be_printed(
    example: Callable[[], Any], problems: Callable[[Any], tuple[Problem, Plan]]
) -> None:
    """The text names no object by its address and no function: it is the same each time."""
    request = example()
    first, second = problems(request), problems(request)
    for one, other in zip(first, second, strict=True):
        text = repr(one)
        assert text == repr(other)
        assert not re.search(r"0x[0-9a-f]{6}|<function|<lambda>|<bound method|object at", text)


@pytest.mark.parametrize("example", [one for one in EXAMPLES if one is not scan_in_scan])
def test_problems_and_plans_can_be_compared(
    example: Callable[[], Any], problems: Callable[[Any], tuple[Problem, Plan]]
) -> None:
    """Those of one function are equal each time. (But loops in loops get new slots each time.)"""
    request = example()
    assert problems(request) == problems(request)


@pytest.mark.parametrize("example", EXAMPLES)
def test_problems_and_plans_hold_no_function(
    example: Callable[[], Any], problems: Callable[[Any], tuple[Problem, Plan]]
) -> None:
    """All that they refer to besides the graph itself is records, numbers, words and tables."""
    pending: list[Any] = list(problems(example()))
    seen: dict[int, Any] = {}
    while pending:
        value = pending.pop()
        if id(value) in seen or isinstance(value, Tensor | Op | type):
            continue
        seen[id(value)] = value
        assert not callable(value), value
        match value:
            case Mapping():
                pending += [*value.keys(), *value.values()]
            case tuple() | list() | set() | frozenset():
                pending += value
            case int() | float() | str() | None:
                pass
            case _:
                pending += [
                    getattr(value, name) for name in type(value).__slots__ if name[0] != "_"
                ]
    assert any(isinstance(value, Formula) for value in seen.values())


@pytest.mark.parametrize("example", EXAMPLES)
def test_scheduling_is_a_function_of_the_problem(
    example: Callable[[], Any], problems: Callable[[Any], tuple[Problem, Plan]]
) -> None:
    problem, plan = problems(example())
    before = repr(problem)
    assert schedule(problem) == plan
    assert repr(problem) == before


@pytest.mark.parametrize("example", [scan, scan_in_scan, branch])
def test_problems_inside_are_there_before_anything_is_scheduled(
    example: Callable[[], Any],
    problems: Callable[[Any], tuple[Problem, Plan]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, plan = problems(example())
    assert problem.blocks
    assert any(isinstance(unit, Inside) for unit in plan.units)

    def again(*_: object) -> None:
        raise AssertionError("scheduling goes back to rewriting")

    for module in ("symc.schedule.blocks", "symc.rewrite.pipeline"):
        monkeypatch.setattr(f"{module}.optimise", again)
    assert schedule(problem) == plan


def test_tables_have_every_node(problems: Callable[[Any], tuple[Problem, Plan]]) -> None:
    """Whatever roots need is in the tables of a problem, and of those inside it."""
    pending = [problems(scan_in_scan())[0]]
    while pending:
        problem = pending.pop()
        assert set(walk(problem.roots)) == set(problem.order) == set(problem.dims)
        assert problem.lowerings.keys() <= problem.dims.keys()
        pending += [block.problem for blocks in problem.blocks.values() for block in blocks]


def test_each_condition_of_a_branch_is_explained() -> None:
    """Those of a loop or branch have one code: the last of them was printed for all."""
    x = T.matrix("x")
    states, _ = symc.scan(
        lambda row, state, other: state * row + other[0],
        sequences=[x], outputs_info=[x[0]], non_sequences=[x[1]],
    )  # fmt: skip
    text = symc.function([x], states).explain()
    for condition in ("0 < x_0", "1 < x_0", "0 < x_1"):
        assert f": {condition}" in text, text
