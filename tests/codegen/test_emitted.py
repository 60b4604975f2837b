"""Results of emitted C, against NumPy and the interpreter."""

from __future__ import annotations

import math
import re
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from symc.codegen import dtypes
from symc.codegen.dtypes import (
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT32,
    UINT64,
    DType,
)  # fmt: skip
from symc.codegen.emit.program import emit
from symc.codegen.errors import IRError
from symc.codegen.ir import (
    Accumulate,
    AccumulateOp,
    BinaryOp,
    Call,
    Cast,
    Check,
    Const,
    If,
    Kernel,
    Launch,
    Length,
    Load,
    Param,
    Program,
    Select,
    Size,
    Store,
    Unary,
    Var,
    add,
    binary,
    const,
    mul,
)
from symc.codegen.targets.c import CTarget
from symc.codegen.targets.c_language import C as LANG
from symc.codegen.verify.program import verify
from tests.codegen.compiled import build, caller, run
from tests.codegen.examples import black_scholes, flat, row_softmax
from tests.codegen.programs import (
    ZERO,
    N,
    Random,
    buffer,
    load,
    local,
    loop,
    op,
    program,
)  # fmt: skip
from tests.codegen.programs import run as interpreted

if TYPE_CHECKING:
    from pathlib import Path


INDEX, J = Var("i"), Var("j")


def as_numpy(dtype: DType) -> Any:
    return np.dtype(dtype.name)


INTEGER_OPERATIONS: dict[BinaryOp, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "floordiv": np.floor_divide,
    "mod": np.remainder, "max": np.maximum, "min": np.minimum, "bxor": np.bitwise_xor,
}  # fmt: skip


@pytest.mark.parametrize("dtype", [INT8, INT16, INT32, INT64, UINT8, UINT32, UINT64], ids=str)
def test_integers_wrap_as_in_numpy(dtype: DType) -> None:
    info = np.iinfo(as_numpy(dtype))
    edges = [info.min, info.min + 1, 0, 1, 2, 3, 7, 100, info.max - 1, info.max]
    a, b = (grid.ravel() for grid in np.meshgrid(*[np.array(edges, as_numpy(dtype))] * 2))
    # the operation inside another shows whether it was cut back to its width
    x, y = Load("a", INDEX, dtype), Load("b", INDEX, dtype)
    stores = [
        Store(name, INDEX, op("floordiv", op(name, x, y), Const(3, dtype)))
        for name in INTEGER_OPERATIONS
    ]
    buffers = [buffer(name, "input", N, dtype=dtype) for name in "ab"]
    buffers += [buffer(name, "output", N, dtype=dtype) for name in INTEGER_OPERATIONS]
    made = program(buffers, loop("parallel", "i", N, *stores), sizes=[N])
    with np.errstate(all="ignore"):
        for (name, function), found in zip(
            INTEGER_OPERATIONS.items(), run(made, a, b), strict=True
        ):
            assert np.array_equal(found, function(a, b) // as_numpy(dtype).type(3)), name


def test_negation_and_inversion_of_narrow_integers() -> None:
    x = np.arange(256, dtype=np.uint8)
    for name, expected in (("neg", -x // 2), ("invert", ~x // 2)):
        value = Unary(name, Load("a", INDEX, UINT8), UINT8)  # type: ignore[arg-type]
        made = flat(Store("y", INDEX, op("floordiv", value, Const(2, UINT8))), inputs=(UINT8,),
                    output=UINT8)  # fmt: skip
        assert np.array_equal(run(made, x)[0], expected)


@pytest.mark.parametrize("target", dtypes.REAL, ids=str)
def test_casts(target: DType) -> None:
    buffers = [buffer(f"a_{t}", "input", N, dtype=t) for t in dtypes.REAL]
    buffers += [buffer(f"y_{t}", "output", N, dtype=target) for t in dtypes.REAL]
    stores = [Store(f"y_{t}", INDEX, Cast(Load(f"a_{t}", INDEX, t), target)) for t in dtypes.REAL]
    made = program(buffers, loop("parallel", "i", N, *stores), sizes=[N])
    inputs = [np.array([0, 1, 2, 3, 100, 127], as_numpy(t)) for t in dtypes.REAL]
    for values, found in zip(inputs, run(made, *inputs), strict=True):
        assert np.array_equal(found, values.astype(as_numpy(target))), values.dtype


def test_division_of_what_is_not_negative_is_plain() -> None:
    index = op("floordiv", INDEX, const(4))
    source = emit(flat(Store("y", INDEX, Load("a", index, FLOAT64))), LANG)
    assert "a[i / 4]" in source
    before, value = op("sub", INDEX, const(4)), FLOAT64

    def emitted(name: BinaryOp, divisor: int) -> str:
        number = op(name, before, const(divisor))
        return emit(flat(Store("y", INDEX, Cast(number, value))), LANG)

    assert "symc_floordiv_i64" in emitted("floordiv", 3)
    assert "symc_mod_i64" in emitted("mod", -4)
    assert "(i - 4) >> 2" in emitted("floordiv", 4)  # rounds down, as the division does
    assert "(i - 4) & 3" in emitted("mod", 4)


def test_a_zero_length_is_no_divisor() -> None:
    """Inside a loop over n, n is above zero; after it, it may be zero and C's ``/`` would trap."""
    made = program(
        [buffer("a", "input", N), buffer("y", "output", const(2))],
        loop("serial", "i", N, Store("y", ZERO, Cast(op("floordiv", INDEX, N), FLOAT64))),
        Store("y", const(1), Cast(op("floordiv", const(7), N), FLOAT64)),
        sizes=[N],
    )
    assert run(made, np.zeros(0))[0][1] == 0
    assert run(made, np.zeros(2))[0][1] == 3


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
@pytest.mark.parametrize("kind", ["max", "min"])
def test_vector_extremes_keep_nan_of_any_lane(dtype: DType, kind: AccumulateOp) -> None:
    start = Const(-math.inf if kind == "max" else math.inf, dtype)
    made = program(
        [buffer("a", "input", N, dtype=dtype), buffer("y", "output", dtype=dtype)],
        local("m", dtype=dtype),
        Store("m", ZERO, start),
        loop("vector", "i", N, Accumulate("m", ZERO, kind, Load("a", INDEX, dtype))),
        Store("y", ZERO, Load("m", ZERO, dtype)),
        sizes=[N],
    )
    assert "reduction(" in emit(made, LANG)
    f = caller(made, build(made, quick=False))
    x = np.random.default_rng(0).standard_normal(77).astype(as_numpy(dtype))
    expected = x.max() if kind == "max" else x.min()
    assert f(x)[0] == expected
    for place in range(len(x)):
        spoiled = x.copy()
        spoiled[place] = np.nan
        assert np.isnan(f(spoiled)[0]), place
    assert f(x[:0])[0] == start.value


def vectorised(source: str, folder: Path) -> set[int]:
    """The lines whose loops gcc says that it vectorised."""
    (folder / "f.c").write_text(source, encoding="utf-8")
    found = CTarget().compiler()
    if "gcc" not in found.path:
        pytest.skip(f"{found.path} reports otherwise than gcc")
    flags = CTarget().describe()["flags"].split()
    command = [*found.command, *flags, "-fopt-info-vec-optimized", "-c", "f.c"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    lines = result.stderr.split("\n")
    return {int(line.split(":")[1]) for line in lines if "loop vectorized" in line}


@pytest.mark.parametrize("kind", ["or", "and"])
def test_rows_of_bool_vectorise(kind: AccumulateOp, tmp_path: Path) -> None:
    """any and all along columns took four times NumPy's time: gcc keeps ``|=`` of bool scalar."""
    lane, row = Var("j"), Var("i")
    value = binary("gt", Load("a", add(mul(row, const(64)), lane), INT32), Const(1, INT32))
    made = program(
        [
            buffer("a", "input", N, const(64), dtype=INT32),
            buffer("y", "output", const(64), dtype=BOOL),
        ],
        local("m", const(64), dtype=BOOL),
        loop("vector", "j", const(64), Store("m", lane, Const(kind == "and", BOOL))),
        loop("serial", "i", N, loop("vector", "j", const(64), Accumulate("m", lane, kind, value))),
        loop("vector", "j", const(64), Store("y", lane, Load("m", lane, BOOL))),
        sizes=[N],
    )
    source = emit(made, LANG)
    (line,) = (n for n, line in enumerate(source.split("\n"), 1) if " ? " in line and "m[" in line)
    assert vectorised(source, tmp_path) & {line - 2, line - 1, line}
    x = np.random.default_rng(0).integers(0, 5, (4, 64), np.int32)
    wanted = {"or": np.any, "and": np.all}[kind](x > 1, axis=0)
    assert np.array_equal(caller(made, build(made, quick=False))(x)[0], wanted)


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_loops_vectorise(dtype: DType, tmp_path: Path) -> None:
    """gcc says that it vectorised all three loops of softmax, the maximum among them."""
    source = emit(row_softmax(dtype), LANG)
    heads = {
        n for n, line in enumerate(source.split("\n"), 1) if re.search("for .*; [jkl] <", line)
    }
    done = vectorised(source, tmp_path)
    assert len(heads) == 3
    for head in heads:  # gcc names the loop by its pragma, its head or its body
        assert done & {head - 1, head, head + 1}, head


@pytest.mark.parametrize("kind", ["add", "mul", "max", "min", "bor", "band", "bxor"])
def test_vector_reductions_of_integers(kind: AccumulateOp) -> None:
    made = program(
        [buffer("a", "input", N, dtype=INT32), buffer("y", "output", dtype=INT32)],
        local("m", dtype=INT32),
        Store("m", ZERO, Const(5, INT32)),
        loop("vector", "i", N, Accumulate("m", ZERO, kind, Load("a", INDEX, INT32))),
        Store("y", ZERO, Load("m", ZERO, INT32)),
        sizes=[N],
    )
    x = np.random.default_rng(0).integers(-9, 9, 100).astype(np.int32) * 2 + 1
    functions: dict[str, Any] = {
        "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
        "bor": np.bitwise_or, "band": np.bitwise_and, "bxor": np.bitwise_xor,
    }  # fmt: skip
    assert run(made, x)[0] == functions[kind].reduce(x, initial=np.int32(5), dtype=np.int32)


def test_vector_loops_that_must_stay_in_order() -> None:
    """No `omp simd` where an iteration reads the sum so far, nor for one element of an array."""
    running = program(
        [buffer("a", "input", N), buffer("y", "output", N)],
        local("s"),
        Store("s", ZERO, Const(0.0, FLOAT64)),
        loop("vector", "i", N, Accumulate("s", ZERO, "add", load("a", INDEX)),
             Store("y", INDEX, load("s", ZERO))),
        sizes=[N],
    )  # fmt: skip
    assert "omp simd" not in emit(running, LANG)
    x = np.random.default_rng(0).standard_normal(50)
    assert np.allclose(run(running, x)[0], np.cumsum(x))
    element = program(
        [buffer("a", "input", N), buffer("y", "output")],
        Store("y", ZERO, Const(0.0, FLOAT64)),
        loop("vector", "i", N, Accumulate("y", ZERO, "add", load("a", INDEX))),
        sizes=[N],
    )
    assert "omp simd" not in emit(element, LANG)
    assert np.allclose(run(element, x)[0], x.sum())


def test_selects_are_evaluated_before() -> None:
    a = load("a", INDEX)
    root = Call("exp", (a,), FLOAT64)
    nested = Select(binary("lt", a, Const(1.0, FLOAT64)), op("add", root, root), a, FLOAT64)
    value = Select(binary("lt", a, Const(0.0, FLOAT64)), op("mul", nested, a), a, FLOAT64)
    made = flat(Store("y", INDEX, value))
    assert "const double t = " in emit(made, LANG)
    x = np.linspace(-2, 2, 9)
    assert np.allclose(run(made, x)[0], np.where(x < 0, 2 * np.exp(x) * x, x))


def test_conditions_and_bools() -> None:
    a, b = Load("a", INDEX, BOOL), Load("b", INDEX, BOOL)
    exclusive = op("xor", a, b)
    made = flat(
        If(op("and", a, Unary("not", b, BOOL)), (Store("y", INDEX, Const(True, BOOL)),),
           (Store("y", INDEX, op("or", exclusive, op("mul", a, b))),)),
        inputs=(BOOL, BOOL), output=BOOL,
    )  # fmt: skip
    x, y = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    assert np.array_equal(run(made, x, y)[0], x | y)


def test_logical_operators_of_numbers() -> None:
    made = flat(Store("y", INDEX, binary("and", load("a", INDEX), load("b", INDEX))),
                inputs=(FLOAT64,) * 2, output=BOOL)  # fmt: skip
    x, y = np.array([0, 2, 2, np.nan, -0.0]), np.array([1, 4.0, 0, 1, 1])
    assert np.array_equal(run(made, x, y)[0], np.logical_and(x, y))


@pytest.mark.parametrize("length", [3, 1000])
def test_local_arrays(length: int) -> None:
    """A short one stands on the stack, a long one in scratch memory; each thread has its own."""
    made = program(
        [buffer("x", "input", N), buffer("y", "output", N)],
        loop(
            "parallel", "i", N,
            local("first", const(length)),
            local("second", N),
            loop("serial", "j", const(length), Store("first", J, load("x", INDEX))),
            loop("serial", "k", N, Store("second", Var("k"), load("first", const(length - 1)))),
            Store("y", INDEX, load("second", op("sub", N, const(1)))),
        ),
        sizes=[N],
    )  # fmt: skip
    f = caller(made, build(made))
    x = np.random.default_rng(0).standard_normal(700)
    for threads in (1, 2, 5):
        f.threads = threads
        assert np.array_equal(f(x)[0], x)


def test_parallel_loops_that_are_not_alone() -> None:
    """Two in one kernel, with scratch memory: these get a pragma each."""
    made = program(
        [buffer("x", "input", N), buffer("t", "temp", N), buffer("y", "output", N)],
        loop("parallel", "i", N, Store("t", INDEX, op("mul", load("x", INDEX), load("x", INDEX)))),
        loop(
            "parallel", "j", N,
            local("s", N),
            loop("parallel", "k", N, Store("s", Var("k"), load("t", Var("k")))),
            Store("y", J, load("s", op("sub", op("sub", N, const(1)), J))),
        ),
        sizes=[N],
    )  # fmt: skip
    source = emit(made, LANG)
    assert source.count("omp parallel for") == 2
    f = caller(made, build(made))
    x = np.random.default_rng(0).standard_normal(800)
    for threads in (1, 2, 3):
        f.threads = threads
        assert np.array_equal(f(x)[0], (x * x)[::-1])


def test_float16_is_storage() -> None:
    x = np.array([1, 0.5, 65504, 1e-7, np.inf, np.nan, -0.0], np.float16)
    wide = op("mul", Cast(Load("a", INDEX, FLOAT16), FLOAT32), Const(2.0, FLOAT32))
    made = flat(Store("y", INDEX, Cast(wide, FLOAT16)), inputs=(FLOAT16,), output=FLOAT16)
    with np.errstate(over="ignore"):
        expected = (x.astype(np.float32) * 2).astype(np.float16)
    assert np.array_equal(run(made, x)[0], expected, equal_nan=True)


def test_checks_come_in_order() -> None:
    made = Program(
        "check",
        (Size(N, Length("a", 0)), Size(Var("m"), Length("b", 0))),
        (buffer("a", "input", N), buffer("b", "input", Var("m")), buffer("y", "output")),
        (Kernel("k", (Param("y", FLOAT64, True),), (), (Store("y", ZERO, Const(1.0, FLOAT64)),)),),
        (
            Check(binary("eq", N, Var("m")), 7, "a and b"),
            Check(binary("gt", N, const(0)), 8),
            Launch("k", ("y",), ()),
        ),
    )
    from tests.codegen.compiled import Failed

    f = caller(made, build(made))
    assert f(np.ones(2), np.ones(2))[0] == 1
    for lengths, code in (((2, 3), 7), ((0, 0), 8)):
        with pytest.raises(Failed) as caught:
            f(*(np.ones(length) for length in lengths))
        assert caught.value.code == code


def test_one_buffer_for_two_parameters() -> None:
    """Kernels promise `restrict`: no program gives one buffer to read and to write."""
    body = (
        loop("serial", "i", N, Store("q", INDEX, op("add", load("p", INDEX), Const(1.0, FLOAT64)))),
    )
    made = Program(
        "alias",
        (Size(N, Length("a", 0)),),
        (buffer("a", "input", N), buffer("y", "output", N)),
        (Kernel("k", (Param("p", FLOAT64, False), Param("q", FLOAT64, True)), (N,), body),),
        (Launch("k", ("a", "y"), (N,)), Launch("k", ("y", "y"), (N,))),
    )
    assert "double *restrict q" in emit(made, LANG)
    with pytest.raises(IRError, match="y is written, and given more than once"):
        verify(made)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(25))
def test_random_programs_agree_with_the_interpreter(number: int, seed: int) -> None:
    source = Random(1000 * seed + number)
    made = source.program()
    arrays = source.arrays(made, 3 + number % 4, 1 + number % 5)
    expected = interpreted(made, arrays)
    inputs = [
        np.array(arrays[b.name].values, np.float64).reshape(arrays[b.name].shape)
        for b in made.buffers if b.role == "input"
    ]  # fmt: skip
    for variant in (made, passed(made)):
        f = caller(variant, build(variant), threads=2)
        outputs = [b.name for b in made.buffers if b.role == "output"]
        for name, found in zip(outputs, f(*inputs), strict=True):
            wanted = np.array(expected.arrays[name].values, np.float64).reshape(found.shape)
            # a cast to integer of a rounded value may differ by one
            close = np.isclose(found, wanted, rtol=1e-9, atol=1e-9, equal_nan=True)
            assert close.mean() > 0.9, f"seed {seed}, number {number}, {name}"


def passed(made: Program) -> Program:
    """A program after the passes of the target."""
    for change in CTarget().passes():
        made = change(made)
    return made


def test_black_scholes_and_softmax_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(0)
    made = black_scholes()
    f = caller(made, build(made, quick=False))
    args = [rng.uniform(a, b, 100_003) for a, b in ((50, 150), (50, 150), (0.1, 2), (0.1, 0.5))]
    s, k, t, v = args
    d1 = (np.log(s / k) + (0.05 + 0.5 * v * v) * t) / (v * np.sqrt(t))
    below = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))
    expected = s * below(d1) - k * np.exp(-0.05 * t) * below(d1 - v * np.sqrt(t))
    (once,) = f(*args)
    assert np.allclose(once, expected, rtol=1e-10, atol=1e-10)
    made = row_softmax()
    g = caller(made, build(made, quick=False))
    x = rng.standard_normal((301, 257)).astype(np.float32)
    (rows,) = g(x)
    for threads in (2, 3, 8):
        f.threads = g.threads = threads
        assert np.array_equal(f(*args)[0], once)
        assert np.array_equal(g(x)[0], rows)
