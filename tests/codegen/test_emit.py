"""The text of emitted C. `test_emitted.py` runs it."""

from __future__ import annotations

import ast
import math
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from symc.codegen.dtypes import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT32,
    UINT64,
    DType,
)  # fmt: skip
from symc.codegen.emit.expressions import Printer, literal
from symc.codegen.emit.program import emit
from symc.codegen.ir import (
    Call,
    Cast,
    Const,
    Expr,
    Kernel,
    Let,
    Load,
    Program,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    add,
    binary,
    const,
)
from symc.codegen.passes.expressions.declare import declare
from symc.codegen.targets import compiler
from symc.codegen.targets.c import CTarget
from symc.codegen.targets.c_language import C as LANG
from tests.codegen.compiled import NESTING, STRICT, nesting, run
from tests.codegen.examples import black_scholes, flat, row_softmax, var
from tests.codegen.programs import (
    N,
    elementwise,
    op,
    softmax,
)  # fmt: skip

if TYPE_CHECKING:
    from tests.conftest import Golden

EMITTERS = Path(__file__).parents[2] / "codegen/emit"

INDEX, J = Var("i"), Var("j")


def text(expr: Expr) -> str:
    """An expression in C."""
    return Printer(LANG, {}, frozenset()).text(expr)


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("softmax", row_softmax()),
        ("softmax_with_scratch", softmax()),
        ("black_scholes", black_scholes()),
    ],
)
def test_golden(name: str, made: Program, golden: Golden, tmp_path: Path) -> None:
    source = emit(declare(made), LANG)
    golden(f"emit/{name}.c", source)
    assert emit(declare(made), LANG) == source
    strictly(source, tmp_path)


def strictly(source: str, folder: Path) -> None:
    """Compile with all warnings as errors."""
    (folder / "f.c").write_text(source, encoding="utf-8")
    found = CTarget().compiler()
    command = [
        *found.command,
        "-std=gnu11",
        "-O1",
        *compiler.processor(),
        "-fopenmp",
        "-fPIC",
        *STRICT,
        # clang's: of loops that it does not vectorise, of ``a | b ? c : d``
        "-Wno-pass-failed",
        "-Wno-bitwise-conditional-parentheses",
        "-c",
        "f.c",
    ]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_parentheses() -> None:
    x, y, z = var("x"), var("y"), var("z")
    cases: dict[str, Expr] = {
        "x + y + z": op("add", op("add", x, y), z),
        "x + (y + z)": op("add", x, op("add", y, z)),
        "x - (y - z)": op("sub", x, op("sub", y, z)),
        "x * (y + z)": op("mul", x, op("add", y, z)),
        "x * y / z": op("div", op("mul", x, y), z),
        "x * (y / z)": op("mul", x, op("div", y, z)),
        "-x * y": op("mul", Unary("neg", x, FLOAT64), y),
        "-(x * y)": Unary("neg", op("mul", x, y), FLOAT64),
        "-(-x)": Unary("neg", Unary("neg", x, FLOAT64), FLOAT64),
        "-(-1.0)": Unary("neg", Const(-1.0, FLOAT64), FLOAT64),
        "x - -1.0": op("sub", x, Const(-1.0, FLOAT64)),
        "x < y + z": binary("lt", x, op("add", y, z)),
        "(x < y) & (y < z)": binary("and", binary("lt", x, y), binary("lt", y, z)),
        "!(x < y)": Unary("not", binary("lt", x, y), BOOL),
        "x < y ? x : y + z": Select(binary("lt", x, y), x, op("add", y, z), FLOAT64),
        "(x < y ? x : y) * z": op("mul", Select(binary("lt", x, y), x, y, FLOAT64), z),
        "(int64_t)x": Cast(Var("x", INT32), INT64),
        "(double)(i + 1)": Cast(add(INDEX, const(1)), FLOAT64),
        "x != 0": Cast(x, BOOL),
        "a[i * n + j]": Load("a", add(binary("mul", INDEX, N), J), FLOAT64),
    }
    for expected, expr in cases.items():
        assert text(expr) == expected


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1.0, FLOAT64, "1.0"), (0.1, FLOAT64, "0.1"), (0.1, FLOAT32, "0.1f"),
        (1e300, FLOAT64, "1e+300"), (-0.0, FLOAT64, "-0.0"), (1e-45, FLOAT32, "1e-45f"),
        (0.1 + 0.2, FLOAT64, "0.30000000000000004"), (16777217, FLOAT32, "16777216.0f"),
        (math.inf, FLOAT64, "__builtin_inf()"), (-math.inf, FLOAT32, "-__builtin_inff()"),
        (1e39, FLOAT32, "__builtin_inff()"), (math.nan, FLOAT64, '__builtin_nan("")'),
        (True, BOOL, "1"), (7, UINT64, "7ull"), (7, UINT32, "7u"), (-5, INT8, "-5"),
        (-(2**63), INT64, "(-9223372036854775807 - 1)"), (2**40, INT64, "1099511627776"),
    ],
)  # fmt: skip
def test_literals(value: float, dtype: DType, expected: str) -> None:
    assert literal(value, dtype, LANG) == expected


def test_float32_literals_are_exact() -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, 2000, dtype=np.uint32)
    for value in bits.view(np.float32):
        if np.isfinite(value):
            shown = literal(float(value), FLOAT32, LANG)
            assert np.float32(shown.removesuffix("f")) == value, shown


def test_names_that_c_keeps_for_itself() -> None:
    """A user may call a variable `double`, `exp`, `linux`, `x y` or `begin`."""
    names = ["double", "exp", "linux", "x y", "begin", "größe", "symc_call", "2nd"]
    lets: list[Stmt] = []
    total: Expr = Load("a", INDEX, FLOAT64)
    for name in names:
        total = op("add", Call("exp", (total,), FLOAT64), Const(1.0, FLOAT64))
        lets.append(Let(var(name), total))
        total = var(name)
    (y,) = run(flat(*lets, Store("y", INDEX, total)), np.full(3, -50.0))
    expected = np.full(3, -50.0)
    for _ in names:
        expected = np.exp(np.minimum(expected, 700)) + 1
    assert np.array_equal(np.isinf(y), np.isinf(expected) | (expected > 1e300))


def test_notes_cannot_end_a_comment(tmp_path: Path) -> None:
    made = flat(Store("y", INDEX, Load("a", INDEX, FLOAT64)))
    kernel = made.kernels[0]
    kernel = Kernel(kernel.name, kernel.params, kernel.sizes, kernel.body, "evil */ #error /* x \\")
    source = emit(Program("t*/", made.sizes, made.buffers, (kernel,), made.steps), LANG)
    strictly(source, tmp_path)


def test_deep_expressions() -> None:
    value: Expr = Load("a", INDEX, FLOAT64)
    for _ in range(300):
        value = op("add", Const(1.0, FLOAT64), op("mul", value, Const(0.5, FLOAT64)))
    made = flat(Let(var("v"), value), Store("y", INDEX, var("v")))
    assert nesting(emit(made, LANG)) < NESTING
    (y,) = run(made, np.arange(5.0))
    assert np.allclose(y, 2.0)


def test_many_statements_take_linear_time() -> None:
    emit(elementwise(10), LANG)
    times = []
    for length in (5_000, 20_000):
        made = elementwise(length)
        start = time.process_time()
        emit(made, LANG)
        times.append(time.process_time() - start)
    assert times[1] < 8 * times[0] + 0.2, times


def test_emitters_print_and_decide_nothing() -> None:
    """What loops cost, what they reduce and what depends on what is settled before; and no emitter
    takes texts apart."""
    deciding = {"cost", "dependence", "walk.substitute", "reductions.reductions", "re"}
    for path in sorted(EMITTERS.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
        for node in imports:
            before = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for name in [f"{before}{alias.name}" for alias in node.names]:
                words = name.split(".")
                whole = {*words[:-1], ".".join(words[-2:]), name}
                assert not whole & deciding, f"{path.name}:{node.lineno} imports {name}"
