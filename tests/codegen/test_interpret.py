"""The interpreter: arithmetic by dtype, and errors."""

import array
import math
from dataclasses import replace

import numpy as np
import pytest

from symc.codegen.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, INT8, INT64, REAL, UINT8, DType
from symc.codegen.errors import IRError
from symc.codegen.ir import (
    Accumulate,
    BinaryOp,
    Buffer,
    Call,
    Cast,
    Check,
    Const,
    If,
    Kernel,
    Launch,
    Length,
    Load,
    Measure,
    Param,
    Pointer,
    Program,
    PythonCall,
    Region,
    Routine,
    Select,
    Size,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
)
from symc.codegen.meaning import arithmetic
from symc.codegen.meaning.interpret import Array, View, interpret
from symc.codegen.verify.program import verify
from tests.codegen.programs import F64, ZERO, C, N, buffer, load, local, loop, program, row, softmax

INTEGERS = [dtype for dtype in REAL if dtype.is_integer]
FLOATS = [FLOAT32, FLOAT64]


def test_softmax_matches_numpy() -> None:
    x = np.random.default_rng(0).normal(size=(4, 5))
    given = Array(array.array("d", x.ravel()), (4, 5))
    result = interpret(softmax(), {"x": given})
    e = np.exp(x - x.max(1, keepdims=True))
    assert result.status == 0
    assert result.sizes == {"n": 4, "c": 5}
    assert result.arrays["y"].shape == (4, 5)
    np.testing.assert_allclose(
        np.reshape(result.arrays["y"].values, (4, 5)), e / e.sum(1, keepdims=True), rtol=1e-13
    )


def test_memoryviews_are_arrays() -> None:
    x = memoryview(array.array("d", range(6)))
    result = interpret(softmax(), {"x": Array(x, (2, 3))})
    assert abs(sum(result.arrays["y"].values) - 2) < 1e-14


# --- arithmetic -----------------------------------------------------------------------------------

NUMPY: dict[BinaryOp, np.ufunc] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "max": np.maximum, "min": np.minimum,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
    "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor,
    "shl": np.left_shift, "shr": np.right_shift,
}  # fmt: skip


def _integers(dtype: DType) -> list[int]:
    info = np.iinfo(dtype.name)
    return sorted({int(info.min), int(info.max), 0, 1, 2, 3, 7, 100, -1 * (dtype.kind == "int")})


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("op", [op for op in NUMPY if op != "div"])
def test_integers_are_numpys(op: BinaryOp, dtype: DType) -> None:
    values = np.array(_integers(dtype), dtype.name)
    compute = arithmetic.binary(op, dtype)
    with np.errstate(all="ignore"):
        wanted = NUMPY[op](values[:, None], values[None, :])
    for i, a in enumerate(values.tolist()):
        for j, b in enumerate(values.tolist()):
            assert compute(a, b) == wanted[i, j], (op, a, b)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, 2.5, -7.3, 1e30, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", [op for op in NUMPY if op[0] != "b" and op[:2] != "sh"])
def test_floats_are_numpys(op: BinaryOp, dtype: DType) -> None:
    values = np.array(SPECIAL, dtype.name)
    compute = arithmetic.binary(op, dtype)
    with np.errstate(all="ignore"):
        wanted = NUMPY[op](values[:, None], values[None, :]).astype("float64")
    for i, a in enumerate(values.tolist()):
        for j, b in enumerate(values.tolist()):
            zero = 0.0 if op in ("max", "min") else -0.0  # which zero is larger is not defined
            got, expected = float(compute(a, b)) + zero, float(wanted[i, j]) + zero
            assert repr(got) == repr(expected), (op, a, b)


@pytest.mark.parametrize("target", REAL, ids=str)
@pytest.mark.parametrize("source", REAL, ids=str)
def test_casts_are_numpys(source: DType, target: DType) -> None:
    if source.is_float:
        values = np.array([0.0, -0.0, 1.5, -2.5, 100.9, -100.9, 3.1], source.name)
        values = values if target.kind != "uint" else np.abs(values)
    elif source is BOOL:
        values = np.array([True, False])
    else:
        values = np.array(
            [*_integers(source), min(np.iinfo(source.name).max, 2**53 + 1)], source.name
        )
    convert = arithmetic.cast(source, target)
    with np.errstate(all="ignore"):
        wanted = values.astype(target.name).tolist()
    assert list(map(repr, map(convert, values.tolist()))) == list(map(repr, wanted))


@pytest.mark.parametrize("bits", [32, 64])
def test_large_integers_round_once(bits: int) -> None:
    target = FLOAT32 if bits == 32 else FLOAT64
    convert = arithmetic.cast(INT64, target)
    for value in (2**62 + 2**38 + 1, -(2**62) - 2**38 - 1, 2**53 + 1, 2**24 + 1, 2**63 - 1):
        assert convert(value) == np.array([value]).astype(target.name)[0]


def test_half_precision_rounds_and_overflows() -> None:
    half = arithmetic.fit(FLOAT16)
    assert [half(0.1), half(1e6), half(-65519.9)] == [0.0999755859375, math.inf, -65504.0]


def test_integer_powers_wrap() -> None:
    power = arithmetic.call("pow", INT8, None)
    assert [power(3, 5), power(-1, -3), power(2, -1), power(1, -9)] == [-13, -1, 0, 1]
    assert arithmetic.call("pow", UINT8, None)(3, 200) == pow(3, 200, 256)


# --- refused programs ---
# ---------------------------------------------------------------------------

XY = [buffer("x", "input", N, C), buffer("y", "output", N, C)]
X = {"x": Array([1.0, 2.0], (2, 1))}


def test_loads_out_of_range() -> None:
    made = program(XY, loop("serial", "i", N, Store("y", ZERO, load("x", add(Var("i"), const(1))))))
    with pytest.raises(IRError, match=r"kernel main reads x\[2\] of 2 elements: x\[i \+ 1\]"):
        interpret(made, X)


def test_stores_out_of_range() -> None:
    made = program(XY, Store("y", const(-1), Const(0.0, F64)))
    with pytest.raises(IRError, match=r"writes y\[-1\] of 2 elements"):
        interpret(made, X)


def test_loads_of_what_was_not_written() -> None:
    made = program(XY, local("e", C), Store("y", ZERO, load("e", ZERO)))
    with pytest.raises(IRError, match=r"reads e\[0\], which has not been written"):
        interpret(made, X)


def test_updates_of_what_was_not_written() -> None:
    made = program(XY, Accumulate("y", ZERO, "add", Const(0.0, F64)))
    with pytest.raises(IRError, match=r"updates y\[0\], which has not been written"):
        interpret(made, X)


def test_select_is_strict() -> None:
    choice = Select(Const(True, BOOL), load("x", ZERO), load("x", const(9)), F64)
    with pytest.raises(IRError, match=r"reads x\[9\]"):
        interpret(program(XY, Store("y", ZERO, choice)), X)


def test_branches_are_not() -> None:
    bad, good = Store("y", ZERO, load("x", const(9))), Store("y", ZERO, load("x", ZERO))
    made = program(XY, If(binary("lt", N, const(0)), (bad,), (good,)))
    assert interpret(made, X).arrays["y"].values == [1.0, None]


def test_iterations_that_depend_on_each_other_show_backwards() -> None:
    made = program(
        XY,
        Store("y", ZERO, load("x", ZERO)),
        loop(
            "parallel",
            "i",
            add(N, const(-1)),
            Store("y", add(Var("i"), const(1)), load("y", Var("i"))),
        ),
    )
    x = {"x": Array([1.0, 2.0, 3.0], (3, 1))}
    assert interpret(made, x).arrays["y"].values == [1.0, 1.0, 1.0]
    with pytest.raises(IRError, match="has not been written"):
        interpret(made, x, backwards=True)


def test_functions_can_be_replaced() -> None:
    made = program(XY, Store("y", ZERO, Call("exp", (load("x", ZERO),), F64)))

    def other(x: float) -> float:
        return x + 41

    result = interpret(made, X, {"exp": other})
    assert result.arrays["y"].values[0] == 42


# --- programs -------------------------------------------------------------------------------------


def _steps() -> Program:
    """Keeps the positive elements: counts them, then checks the count, then calls a routine."""
    n, k = Var("n"), Var("k")
    positive = binary("gt", Load("x", Var("i"), INT64), const(0))
    count = Kernel(
        "count", (Param("x", INT64, False), Param("c", INT64, True)), (n,),
        (
            Store("c", ZERO, ZERO),
            loop("serial", "i", n, Accumulate("c", ZERO, "add", Cast(positive, INT64))),
        ),
    )  # fmt: skip
    fill = Kernel(
        "fill", (Param("y", FLOAT16, True),), (k,),
        (loop("parallel", "i", k, Store("y", Var("i"), Const(0.1, FLOAT16))),),
    )  # fmt: skip
    return Program(
        "keep",
        (Size(n, Length("x", 0)), Size(k, None), Size(Var("twice"), mul(k, const(2)))),
        (
            Buffer("x", INT64, (n,), "input"), Buffer("c", INT64, (), "temp"),
            Buffer("y", FLOAT16, (Var("twice"),), "output"), Buffer("s", F64, (), "shared"),
        ),
        (count, fill),
        (
            Launch("count", ("x", "c"), (n,)),
            Measure("k", "c"),
            Check(binary("gt", k, const(1)), 7),
            Launch("fill", ("y",), (Var("twice"),)),
            Routine("bump", (Pointer("s", const(0), True), k)),
        ),
    )  # fmt: skip


def _bump(at: View, by: int) -> None:
    at.values[at.offset] += by


def test_measured_sizes_routines_and_shared_variables() -> None:
    given = {"x": Array([3, -1, 4], (3,)), "s": Array([0.5], ())}
    result = interpret(_steps(), given, routines={"bump": _bump})
    assert result.sizes == {"n": 3, "k": 2, "twice": 4}
    assert result.arrays["y"] == Array([0.0999755859375] * 4, (4,))
    assert result.arrays["s"].values == [2.5]
    assert given["s"].values == [0.5]


def test_a_check_ends_the_call() -> None:
    result = interpret(_steps(), {"x": Array([3, -1], (2,)), "s": Array([0.5], ())})
    assert result.status == 7
    assert "y" not in result.arrays


def test_outputs_without_elements_are_there_though_no_step_needs_them() -> None:
    result = interpret(replace(program(XY), steps=()), {"x": Array([], (0, 3))})
    assert result.arrays["y"] == Array([], (0, 3))


def test_a_call_into_python() -> None:
    whole = Region(Pointer("x", ZERO), (N, C))
    row = Region(Pointer("y", C, written=True), (C,))
    made = replace(program(XY), steps=(PythonCall(0, "f", (whole, Const(0.5, F64), row)),))

    def function(x: View, factor: float, y: View) -> None:
        assert x.shape == (2, 3)
        y.values[y.offset : y.offset + 3] = [factor * value for value in x.values[:3]]

    verify(made)
    result = interpret(made, {"x": Array([2.0] * 6, (2, 3))}, hosts=[function])
    assert result.arrays["y"].values == [None] * 3 + [1.0] * 3


def test_rows_and_columns() -> None:
    made = program(
        XY,
        loop(
            "parallel", "i", N, loop("parallel", "j", C, Store("y", row("i", "j"), Const(1, F64)))
        ),
    )
    assert interpret(made, {"x": Array([0.0] * 6, (2, 3))}).arrays["y"].values == [1.0] * 6
