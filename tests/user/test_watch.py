"""`symc.Print`, `symc.breakpoint` and `symc.Assert`: seen while a function runs, and no more."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import AssertionFailed, DTypeError

x = T.vector("x")
MODES = ("default", "python")


@pytest.mark.parametrize("mode", MODES)
def test_print_survives_and_lets_gradients_through(
    mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    y = symc.Print("y")(x * 2)
    z = symc.Print("z", attrs=("shape", "sum"))(y * 0 + y)
    f = symc.function([x], [z.sum(), symc.grad((z**2).sum(), x)], mode=mode)
    total, slope = f([1.0, 3.0])
    assert (float(total), slope.tolist()) == (8.0, [8.0, 24.0])
    assert capsys.readouterr().out.splitlines() == ["y = [2. 6.]", "z shape = (2,)", "z sum = 8.0"]


def test_printing_a_constant_happens_when_the_function_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    f = symc.function([], symc.Print("three")(T.constant(3.0)) + 1)
    assert capsys.readouterr().out == ""
    assert [float(f()), float(f())] == [4.0, 4.0]
    assert capsys.readouterr().out == "three = 3.0\n" * 2


def test_print_has_a_jacobian(capsys: pytest.CaptureFixture[str]) -> None:
    f = symc.function([x], symc.jacobian(symc.Print("y")(x) ** 2, x), mode="python")
    assert f([1.0, 2.0]).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert "y = " in capsys.readouterr().out


def test_print_refuses_what_arrays_do_not_have() -> None:
    with pytest.raises(AttributeError, match="colour"):
        symc.Print(attrs=("colour",))


@pytest.mark.parametrize("mode", MODES)
def test_breakpoint_stops_where_its_condition_holds(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def look() -> None:
        frame: Any = inspect.currentframe()
        seen.append(frame.f_back.f_locals["value"])

    monkeypatch.setattr(sys, "breakpointhook", look)
    y = symc.breakpoint(x * 2, T.isnan(x))
    f = symc.function([x], [symc.breakpoint(y) + 1, symc.grad(y.sum(), x)], mode=mode)
    f([1.0, 2.0])
    assert [value.tolist() for value in seen] == [[2.0, 4.0]]
    f([np.nan, 2.0])
    assert len(seen) == 3


def test_leaving_the_debugger_ends_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "breakpointhook", leave)
    f = symc.function([x], symc.breakpoint(x) + 1, mode="python")
    with pytest.raises(KeyboardInterrupt):
        f([1.0])


@pytest.mark.parametrize("mode", MODES)
def test_assert_raises_with_the_first_element(mode: str) -> None:
    checked = symc.Assert("x must be positive")(x, x > 0)
    f = symc.function([x], [checked * 2, symc.grad((checked**2).sum(), x)], mode=mode)
    doubled, slope = f([1.0, 2.0])
    assert (doubled.tolist(), slope.tolist()) == ([2.0, 4.0], [2.0, 4.0])
    with pytest.raises(
        AssertionFailed, match="x must be positive; first at \\(1,\\), of 2"
    ) as info:
        f([1.0, -2.0, -1.0])
    assert "test_watch.py" in str(info.value)
    assert isinstance(info.value, AssertionError)


def test_assert_costs_no_kernel_of_its_own() -> None:
    f = symc.function([x], symc.Assert()(x, x.sum() > 0) + 1)
    assert "Assert" not in f.graph


def test_assert_in_a_loop() -> None:
    steps, _ = symc.scan(
        lambda a: symc.Assert("each is small")(a, a < 10) * 2, sequences=x
    )  # fmt: skip
    f = symc.function([x], steps)
    assert f([1.0, 2.0]).tolist() == [2.0, 4.0]
    with pytest.raises(AssertionFailed, match="each is small"):
        f([1.0, 20.0])


def test_assert_has_a_jacobian() -> None:
    f = symc.function([x], symc.jacobian(symc.Assert()(x, x > 0) ** 2, x), mode="python")
    assert f([1.0, 2.0]).tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_conditions_must_be_bool() -> None:
    with pytest.raises(DTypeError, match="must be bool"):
        symc.Assert()(x, x)
    with pytest.raises(DTypeError, match="must be bool"):
        symc.breakpoint(x, x)


def test_one_attribute_need_not_be_a_tuple(capsys: pytest.CaptureFixture[str]) -> None:
    x = T.vector("x")
    symc.function([x], symc.Print("x", attrs="shape")(x), mode="python")([1.0, 2.0])
    assert capsys.readouterr().out == "x shape = (2,)\n"
