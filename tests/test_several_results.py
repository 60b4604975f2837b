"""Routines that compute several nodes: called once for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.dtypes import INT64
from symc.codegen.ir import Check, Pointer, Program, Routine
from symc.codegen.meaning.interpret import Array as Flat
from symc.codegen.meaning.interpret import View, interpret
from symc.codegen.record import record
from symc.codegen.routines import ROUTINES, ArgumentKind, Signature
from symc.codegen.verify.program import verify
from symc.graph.dims import product
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.pipeline.compile import Compilation


@record
class Extremes(Op):
    """The smallest (part 0) and the largest (1) element, and whether there is a NaN (2)."""

    part: int

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64 if self.part == 2 else args[0].dtype, ())

    def evaluate(self, *args: Array) -> Array:
        (x,) = args
        return np.asarray((x.min(), x.max(), np.isnan(x).sum())[self.part])

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        count = size(product(node.args[0].type.shape))
        args = (count, Argument(0), Argument(-1), Argument(-2), Argument(-3))
        return LibCall("extremes", args, tuple(Extremes(part) for part in range(3)))

    def require(self, node: Tensor) -> list[Requirement]:
        if self.part == 2:
            return []
        ok = T.eq(Extremes(2)(*node.args), 0)
        return [Requirement(ok, ValueError, lambda _: "extremes: there is a NaN")]


def extremes(n: int, x: View, low: View, high: View, nans: View) -> None:
    """The routine, for the interpreter of programs."""
    values = x.values[x.offset : x.offset + n]
    low.values[low.offset], high.values[high.offset] = min(values), max(values)
    nans.values[nans.offset] = sum(value != value for value in values)


@pytest.fixture(autouse=True)
def routine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signature to print the call by; the printed text is not compiled here."""
    arguments: tuple[tuple[str, ArgumentKind], ...] = (
        ("n", "length"), ("x", "read"), ("low", "write"), ("high", "write"), ("nans", "write"),
    )  # fmt: skip
    signature = Signature("extremes", "symc_copy_bytes", arguments, threads=False)
    monkeypatch.setitem(ROUTINES, "extremes", signature)


def stages(inputs: Any, outputs: Any, updates: Any = ()) -> Compilation:
    function = symc.function(inputs, outputs, updates=updates, mode="python")
    made = function.runner.compilation()
    verify(made.program)
    verify(made.optimised)
    return made


def run(made: Compilation, **arrays: Any) -> tuple[int, dict[str, Any]]:
    """The status of a call, and its outputs and shared variables after it."""
    given = {k: Flat(np.ravel(v).tolist(), np.shape(v)) for k, v in arrays.items()}
    result = interpret(made.optimised, given, routines={"extremes": extremes})
    return result.status, {name: array.values for name, array in result.arrays.items()}


def calls(program: Program) -> list[Routine]:
    return [s for s in program.steps if isinstance(s, Routine) and s.name == "extremes"]


def test_one_call_computes_all_results() -> None:
    x = T.vector("x")
    low, high = Extremes(0)(x * 2), Extremes(1)(x * 2)
    made = stages([x], [high - low, low])
    assert len(calls(made.optimised)) == 1
    status, out = run(made, x=[3.0, -1.0, 2.0])
    assert status == 0
    assert out["out"] == [8.0]
    assert out["out_2"] == [-2.0]


@pytest.mark.parametrize("part", [0, 1])
def test_results_nobody_wants_go_to_memory_of_their_own(part: int) -> None:
    x = T.vector("x")
    made = stages([x], Extremes(part)(x))
    (call,) = calls(made.optimised)
    written = [arg.buffer for arg in call.args if isinstance(arg, Pointer) and arg.written]
    assert len(set(written)) == 3
    assert written[part] == "out"
    assert run(made, x=[3.0, -1.0])[1]["out"] == [(-1.0, 3.0)[part]]


def test_other_arguments_are_another_call() -> None:
    x = T.vector("x")
    made = stages([x], [Extremes(0)(x), Extremes(1)(x + 1)])
    assert len(calls(made.optimised)) == 2


def test_a_status_among_the_results_is_tested_before_anything_changes() -> None:
    x, total = T.vector("x"), symc.shared(np.float64(5), name="total")
    made = stages([x], Extremes(1)(x), [(total, total + Extremes(0)(x))])
    steps = made.optimised.steps
    assert len(calls(made.optimised)) == 1
    (check,) = (n for n, step in enumerate(steps) if isinstance(step, Check))
    writers = [n for n, step in enumerate(steps) if "total" in getattr(step, "buffers", ())]
    assert writers
    assert check < min(writers)
    status, out = run(made, x=[1.0, float("nan")], total=5.0)
    assert status > 0
    assert out["total"] == [5.0]


def test_a_result_wanted_twice_is_copied() -> None:
    x = T.vector("x")
    first, second = symc.shared(0.0, name="first"), symc.shared(0.0, name="second")
    low = Extremes(0)(x)
    made = stages([x], low, [(first, low), (second, Extremes(1)(x))])
    assert len(calls(made.optimised)) == 1
    _, out = run(made, x=[3.0, -1.0], first=0.0, second=0.0)
    assert [out[name] for name in ("out", "first", "second_new")] == [[-1.0], [-1.0], [3.0]]
