"""`symc.c_op` and `symc.c_function`: functions from C files as ops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.errors import CompileFailed
from symc.graph.node import Tensor
from tests.ops.harness import check

WAVES = Path(__file__).with_name("waves.c")


def backwards_sum(bars: list[Tensor], x: Tensor, step: Tensor) -> list[Tensor]:
    later = T.cumsum(bars[0][::-1])[::-1] + bars[1]
    return [later, later.sum()]


running = symc.c_op(
    WAVES, "running(x, n, step, y, total)",
    inputs={"x": "float64[n]", "step": "float64"},
    output={"y": "float64[n]", "total": "float64"},
    grad=backwards_sum,
)  # fmt: skip
outer = symc.c_op(
    WAVES, "outer(a, n, b, m, n*m, c)",
    inputs={"a": "float32[n]", "b": "float32[m]"}, output={"c": "float32[n, m]"},
)  # fmt: skip
wave = symc.c_function(
    WAVES, "wave", arguments=2,
    grad=[
        lambda bar, x, a: bar * a * T.cos(a * x) / 2, lambda bar, x, a: bar * x * T.cos(a * x) / 2,
    ],
)  # fmt: skip
tripled = symc.c_function(WAVES, "tripled", dtype="float32")


def test_arrays_lengths_and_numbers_are_passed() -> None:
    x = np.random.default_rng(0).standard_normal(4)
    check(
        lambda x, step: running(x, step), x, 0.5,
        oracle=lambda x, step: [np.cumsum(x + step), (x + step).sum()], saves=False)  # fmt: skip
    check(lambda x: running(2 * x, 1), x, compiled=False, saves=False)


def test_lengths_may_be_computed() -> None:
    a, b = np.arange(3, dtype=np.float32), np.arange(1, 3, dtype=np.float32)
    for given in ((a, b), (a[:0], b)):
        check(outer, *given, oracle=np.outer, compiled=len(given[0]) > 0, saves=False)


def test_elementwise_functions_become_part_of_loops() -> None:
    x, a = np.random.default_rng(0).standard_normal((2, 3)), np.array([0.5, 2.0, -1.0])
    check(wave, x, a, oracle=lambda x, a: np.sin(a * x) / 2, saves=False)
    t = T.vector("t")
    f = symc.function([t], (wave(t, 2) + 1).sum())
    assert f.facts["kernels"] == 1
    assert "wave_" in f.program
    np.testing.assert_allclose(f(a), (np.sin(2 * a) / 2 + 1).sum(), rtol=1e-14)


def test_float32_and_the_device() -> None:
    x = T.fvector("x")
    f = symc.function([x], tripled(x + 1), device="cuda:sim")
    assert f(np.arange(3, dtype=np.float32)).tolist() == [3.0, 6.0, 9.0]
    assert "python 0 tripled(" in f.program


def test_a_changed_file_is_compiled_again(tmp_path: Path) -> None:
    results: list[Any] = []
    for factor, header in ((2, 0), (3, 0), (3, 1)):
        (tmp_path / "k.h").write_text(f"#define PLUS {header}\n")
        (tmp_path / "k.c").write_text(
            f'#include "k.h"\ndouble k(double x) {{ return {factor} * x + PLUS; }}\n'
        )
        k = symc.c_function(tmp_path / "k.c", "k")
        x = T.scalar("x")
        f = symc.function([x], k(x))
        results.append((f(1.0).item(), f.hit))
    assert results == [(2.0, False), (3.0, False), (4.0, False)]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [("double f(double x) {\n  return y;\n}\n", 2, "y"), ("float f(double x) { return x; }\n", 1,
     "conflicting types")],
)  # fmt: skip
def test_errors_name_the_file_and_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    file = tmp_path / "wrong.c"
    file.write_text(text)
    x = T.scalar("x")
    with pytest.raises(CompileFailed) as caught:
        symc.function([x], symc.c_function(file, "f")(x))
    assert f"{file}:{line}:" in str(caught.value)
    assert message in str(caught.value)


def test_what_is_declared_must_fit() -> None:
    types: Any = {"inputs": {"x": "float64[n]"}, "output": {"y": "float64[n]"}}
    for call, message in [
        ("f(x, n)", "does not pass the result 'y'"), ("f(x, k, y)", r"\['k'\] .* is neither an"),
        ("f", "a call is written like"), ("f(x, y, z=1)", "a call is written like"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            symc.c_op(WAVES, call, **types)
    with pytest.raises(ValueError, match="'x' is an input and an output"):
        symc.c_op(WAVES, "f(x)", inputs={"x": "float64[n]"}, output={"x": "float64[n]"})
    with pytest.raises(ValueError, match="dtype must be float32 or float64, not int64"):
        symc.c_function(WAVES, "other", dtype="int64")
    with pytest.raises(ValueError, match="wave has 2 arguments, grad 1 rules"):
        symc.c_function(WAVES, "wave", arguments=2, grad=lambda bar, x, a: bar)
    with pytest.raises(TypeError, match="wave takes 2 arguments, not 1"):
        wave(1.0)
