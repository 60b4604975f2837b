"""``mode="debug"``: right functions pass, and each kind of fault is found and named."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.checked import Checker, difference, reported, sanitizers
from symc.codegen import ir
from symc.codegen.record import record
from symc.errors import FunctionError, Mismatch, ShapeMismatch
from symc.graph import Array, Op, Tensor
from symc.lowering import At, Index, Lowering, Read, Reader, SizeOf
from symc.modes import mode_named
from symc.types import TensorType

x = T.vector("x")


@record
class Faulty(Op):
    """Twice the argument in NumPy; compiled, `element` of it."""

    name: str
    element: Callable[[Index], Reader]

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return args[0] * 2

    def lower(self, node: Tensor, size: SizeOf) -> Lowering:
        return At(self.element)

    def key(self) -> str:
        return f"Faulty({self.name})"

    @property
    def label(self) -> str:
        return self.name


def test_what_is_right_passes_with_all_it_may_have() -> None:
    m, w = T.matrix("m"), symc.shared(np.ones((3, 2)), name="w")
    k = T.lvector("k")
    steps, _ = symc.scan(lambda a: T.tanh(a) + a, sequences=m)
    outputs = [
        T.softmax(m @ w, axis=1), steps, m[m > 0].sum(), T.log(1 + T.exp(m * 900)).sum(),
        m[k].inc(1.0), k // 2, m.argmax(axis=1), symc.grad((m @ w).sum() ** 2, m),
        symc.Assert()(m, m < 9),
    ]  # fmt: skip
    f = symc.function([m, k], outputs, updates=[(w, w * 0.5)], mode="debug", name="right")
    plain = symc.function([m, k], outputs)
    values = np.random.default_rng(0).standard_normal((4, 3)), np.array([0, 2])
    expected = plain(*values)
    for found, right in zip(f(*values), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-12)
    assert w.get_value().tolist() == [[0.5, 0.5]] * 3


def test_a_wrong_op_is_named_with_its_line() -> None:
    def thrice(index: Index) -> Reader:
        element = yield Read(0, index)
        return ir.binary("mul", element, ir.Const(3.0, element.dtype))

    w = symc.shared(np.ones(2), name="w")
    f = symc.function(
        [x], T.exp(Faulty("thrice", thrice)(x + 1)), updates=[(w, w + 1)], mode="debug"
    )
    with pytest.raises(Mismatch, match=r"thrice, compiled, .*: 9.0 instead of 6.0 at \(1,\)") as e:
        f([-1.0, 2.0])
    assert "test_debug_mode.py" in str(e.value)
    assert "2 of 2" not in str(e.value), "3 * 0 is 2 * 0"
    assert w.get_value().tolist() == [1.0, 1.0]


def test_an_access_out_of_range_is_found() -> None:
    """Element n is beside the array; multiplied by 0 it does not show in the result."""

    def beside(index: Index) -> Reader:
        element = yield Read(0, index)
        outside = yield Read(0, (ir.add(index[0], ir.const(1)),))
        safe = ir.Select(ir.binary("lt", outside, outside), outside, element, element.dtype)
        return ir.binary("add", element, safe)

    f = symc.function([x], Faulty("beside", beside)(x) + 1, mode="debug", name="reader")
    with pytest.raises(Mismatch, match="a loop of reader goes wrong"):
        f([1.0, 2.0])


def test_a_wrong_result_of_the_whole_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    f = symc.function([x], x * 2 + 1, mode="debug")
    checker = f.runner.call
    assert isinstance(checker, Checker)
    other = symc.function([x], x * 2 + 1.001)
    monkeypatch.setattr(checker, "plain", other.runner)
    with pytest.raises(Mismatch, match="rewritten and fused, the function gives something else"):
        f([1.0])


def test_conditions_and_arguments_are_as_in_other_modes() -> None:
    y = T.vector("y")
    f = symc.function([x, y], x + y, mode="DebugMode")
    assert f.mode == mode_named("DEBUG_MODE") == "debug"
    with pytest.raises(ShapeMismatch):
        f([1.0, 2.0], [1.0, 2.0, 3.0])


def test_prints_print_once(capsys: pytest.CaptureFixture[str]) -> None:
    f = symc.function([x], symc.Print("x")(x) + 1, mode="debug")
    assert f([1.0]).tolist() == [2.0]
    assert capsys.readouterr().out == "x = [1.]\n"


def test_only_on_the_processor() -> None:
    with pytest.raises(FunctionError, match="on the processor"):
        symc.function([x], x + 1, mode="debug", device="cuda:0")


def test_reports_of_sanitizers_are_kept_and_other_text_passes(
    capfd: pytest.CaptureFixture[str],
) -> None:
    reports: list[str] = []
    with reported(reports):
        os.write(2, b"function.c:7:3: runtime error: index 9 out of bounds\nsomething else\n")
    assert reports == ["function.c:7:3: runtime error: index 9 out of bounds"]
    assert capfd.readouterr().err == "something else\n"


def test_what_sanitizers_say_is_raised_again_and_again() -> None:
    f = symc.function([x], x - 1, mode="debug")
    checker: Any = f.runner.call
    checker.reports.append("function.c:7:3: runtime error: index 9 out of bounds")
    for _ in range(2):
        with pytest.raises(Mismatch, match="does what C forbids"):
            f([1.0])


def test_programs_are_compiled_with_the_sanitizers_there_are() -> None:
    f = symc.function([x], x + 3, mode="debug")
    binary = Path(str(f.folder), "function.so").read_bytes()
    assert (b"__ubsan_handle" in binary) == ("-fsanitize=undefined" in sanitizers())


@pytest.mark.parametrize(
    ("found", "right", "wrong"),
    [
        ([1.0, np.nan, np.inf], [1.0, np.nan, np.inf], ""),
        ([1.0 + 1e-12], [1.0], ""),
        ([1.0 + 1e-6], [1.0], "instead of"),
        ([np.inf], [1.0], "instead of"),
        ([1.0], [np.inf], "instead of"),
        ([np.nan], [1.0], "instead of"),
        ([1 + 1j, np.inf], [1 + 1j, np.inf], ""),
        ([1], [2], "1 instead of 2 at (0,); 1 of 1 elements differ"),
        ([1.0], [1], "float64(1,) instead of int64(1,)"),
        ([1.0, 2.0], [1.0], "float64(2,) instead of float64(1,)"),
        ([], [], ""),
    ],
)
def test_what_counts_as_different(found: list[Any], right: list[Any], wrong: str) -> None:
    said = difference(np.array(found), np.array(right), 0.0, together=False)
    assert wrong in said
    assert bool(said) == bool(wrong)
