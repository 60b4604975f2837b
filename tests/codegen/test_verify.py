"""Every rule of `verify.py`, broken once."""

from dataclasses import replace

import pytest

from symc.codegen.dtypes import BOOL, FLOAT16, FLOAT32, INT8, INT32, INT64, UINT8
from symc.codegen.errors import IRError
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Buffer,
    Call,
    Cast,
    Check,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Length,
    Let,
    Load,
    Loop,
    LoopKind,
    Measure,
    Param,
    Pointer,
    Program,
    PythonCall,
    Region,
    Repeat,
    Routine,
    Select,
    Size,
    Step,
    Stmt,
    Store,
    Unary,
    Var,
    add,
    binary,
    const,
    mul,
    sub,
)
from symc.codegen.verify.program import verify
from tests.codegen.programs import (
    F64,
    ZERO,
    C,
    N,
    buffer,
    elementwise,
    load,
    local,
    loop,
    program,
    row,
    softmax,
)

X = load("x", ZERO)
ONE = Const(1.0, F64)
HALF = Const(1.0, FLOAT16)
BUFFERS = [
    buffer("x", "input", N, C), buffer("y", "output", N, C), buffer("k", "input", dtype=INT64),
    buffer("h", "temp", dtype=FLOAT16), buffer("b", "temp", dtype=BOOL),
    buffer("q", "constant"), buffer("s", "shared"),
]  # fmt: skip


def _body(*body: Stmt) -> Program:
    return program(BUFFERS, *body)


def _value(value: Expr) -> Program:
    return _body(Store("y", ZERO, value))


def _let(value: Expr) -> Program:
    return _body(Let(Var("v", value.dtype), value))


def _steps(*steps: Step) -> Program:
    made = _body()
    return replace(made, steps=(*made.steps, *steps))


def _sizes(*sizes: Size, buffers: tuple[Buffer, ...] = (), steps: tuple[Step, ...] = ()) -> Program:
    made = _body()
    return replace(
        made, sizes=made.sizes + sizes, buffers=made.buffers + buffers, steps=made.steps + steps
    )


AT, J, K = Var("i"), Var("j"), load("k", Var("i"), INT64)


def _wrapped(column: str) -> Expr:
    """The element two columns further in row i, from the beginning where it ends."""
    return add(mul(AT, C), binary("mod", add(Var(column), const(2)), C))


def _moved(kind: LoopKind, to: Expr, source: Expr) -> Program:
    """``y[to] = y[source]`` for every i."""
    return _body(loop(kind, "i", N, Store("y", to, load("y", source))))


def _in_rows(*inside: Stmt) -> Program:
    """Two loops inside one over rows: the first fills a row of y."""
    first = loop("parallel", "j", C, Store("y", row("i", "j"), ONE))
    return _body(loop("parallel", "i", N, first, *inside))


def _rows(one: Expr, other: Expr, *names: str) -> Program:
    """A copy from row `other` of a buffer of three rows to row `one` of it, or as `names` say."""
    whole = buffer("whole", "temp", const(3), C)
    parts = [
        Buffer(name, F64, (C,), "row", Pointer("whole", mul(at, C)))
        for name, at in (("to", one), ("of", other))
    ]
    given = names or ("to", "of")
    params = (Param("a", F64, written=True), Param("b", F64, written=False))
    copy = Kernel("copy", params, (C,), (loop("parallel", "i", C, Store("a", AT, load("b", AT))),))
    made = _sizes(Size(Var("step"), None), buffers=(whole, *parts))
    steps = (Repeat("step", N, (Launch("copy", given, (C,)),)),)
    return replace(made, kernels=(*made.kernels, copy), steps=steps)


STEP = Var("step")


def _turn(shift: int) -> Expr:
    return binary("mod", add(STEP, const(shift)), const(3))


GOOD = [
    softmax(),
    elementwise(5),
    _body(),
    _value(Cast(Load("h", ZERO, FLOAT16), F64)),
    _body(Store("h", ZERO, Cast(X, FLOAT16)), Store("h", ZERO, HALF)),
    _body(loop("vector", "i", N, loop("unroll", "j", const(2), loop("unroll", "l", const(2))))),
    _steps(Check(Load("b", ZERO, BOOL), 1)),
    _steps(PythonCall(0, "f", (Region(Pointer("x", ZERO), (C, N)), ONE)), PythonCall(1, "g", ())),
    _sizes(Size(Var("k1"), None), Size(Var("k2"), Var("k1"))),  # of no use, but not wrong
    _moved("parallel", AT, AT),
    _moved("parallel", row("i", "c"), row("i", "c")),
    _moved("serial", add(AT, const(1)), AT),
    _body(loop("parallel", "i", N, Store("s", K, load("s", K)))),  # it says that no two are equal
    _body(loop("serial", "i", N, Store("s", K, load("s", K)))),
    _body(loop("serial", "i", N, Let(Var("t", F64), load("s", K)), Store("s", K, Var("t", F64)))),
    _in_rows(loop("serial", "l", C, Let(Var("t", F64), load("y", row("i", "l"))))),
    _in_rows(loop("parallel", "l", C, Let(Var("t", F64), load("y", _wrapped("l"))))),
    _rows(add(STEP, const(1)), STEP),
    _rows(_turn(1), _turn(0)),
    _rows(_turn(0), _turn(2)),
    _rows(const(0), const(2)),
]

EXPRESSIONS = [
    (_value(Var("z", F64)), "z is not bound here"),
    (_body(loop("serial", "i", N), Store("y", Var("i"), X)), "i is not bound here"),
    (_body(If(Const(True, BOOL), (Let(Var("v", F64), X),)), Store("y", ZERO, Var("v", F64))),
     "v is not bound here"),
    (_body(local("e"), If(Const(True, BOOL), (local("f"),)), Store("f", ZERO, X)),
     "there is no buffer f here"),
    (_value(Cast(Var("n", INT32), F64)), "n is int64, but used as int32"),
    (_value(Binary("add", X, Const(1.0, FLOAT32), F64)),
     "an operand of add is float32, not float64"),
    (_value(Binary("lt", X, X, F64)), "lt of float64 gives bool, not float64"),
    (_let(Binary("add", X, X, BOOL)), "add of float64 gives float64, not bool"),
    (_let(Binary("and", X, X, BOOL)), "and of float64"),
    (_value(Binary("bor", X, X, F64)), "bor of float64"),
    (_let(Binary("div", N, N, INT64)), "div of int64"),
    (_let(Binary("mul", Const(True, BOOL), Const(True, BOOL), BOOL)), "mul of bool"),
    (_let(Unary("not", N, INT64)), "not of int64"),
    (_let(Unary("invert", X, F64)), "invert of float64"),
    (_let(Unary("neg", Const(True, BOOL), BOOL)), "neg of bool"),
    (_value(Select(N, X, X, F64)), "a condition is int64, not bool"),
    (_value(Select(Const(True, BOOL), X, N, F64)), "an operand of select is int64, not float64"),
    (_value(load("x", Const(0, INT8))), "the index of x is int8, not int64"),
    (_value(load("z", ZERO)), "there is no buffer z here"),
    (_value(Cast(Load("x", ZERO, INT8), F64)), "x is float64, but used as int8"),
    (_value(Call("expp", (X,), F64)), "there is no function expp"),
    (_value(Call("exp", (X, X), F64)), "exp takes 1 arguments, not 2"),
    (_let(Call("exp", (N,), INT64)), "exp of int64"),
    (_let(Call("isnan", (X,), F64)), "isnan of float64 gives bool, not float64"),
    (_body(Store("h", ZERO, Binary("add", HALF, HALF, FLOAT16))), "add is computed in float16"),
    (_body(Store("h", ZERO, Call("exp", (HALF,), FLOAT16))), "exp is computed in float16"),
    (_let(Const(300, UINT8)), "the constant 300 is out of the range of uint8"),
    (_let(Const(-129, INT8)), "the constant -129 is out of the range of int8"),
    (_let(Const(0.5, INT64)), "the constant 0.5 is no int64"),
    (_let(Length("x", 0)), "there is no length 0 of x here"),
]  # fmt: skip

KERNELS = [
    (_body(Let(Var("v", F64), X), Let(Var("v", F64), X)), "v is bound twice"),
    (_body(loop("serial", "n", C)), "n is bound twice"),
    (_body(loop("serial", "i", C), loop("serial", "i", C)), "i is bound twice"),
    (_body(local("e"), local("e")), "e is bound twice"),
    (_body(local("y")), "y is bound twice"),
    (_body(Let(Var("v", F64), N)), "v is float64, its value int64"),
    (_body(Store("y", ZERO, N)), "y is float64, but used as int64"),
    (_body(Store("x", ZERO, X)), "parameter x is not declared as written"),
    (_body(Accumulate("y", ZERO, "bor", X)), "bor= on float64"),
    (_body(Accumulate("y", ZERO, "or", X)), "or= on float64"),
    (_body(Accumulate("h", ZERO, "add", HALF)), "add= on float16"),
    (_body(Accumulate("b", ZERO, "mul", Const(True, BOOL))), "mul= on bool"),
    (_body(Alloc(buffer("e", "temp"))), "e is allocated, but its role is temp"),
    (_body(local("e", X)), "a length is float64, not int64"),
    (_body(loop("serial", "i", X)), "the length of a loop is float64, not int64"),
    (_body(If(N, ())), "a condition is int64, not bool"),
    (_body(loop("vector", "i", N, loop("serial", "j", C))),
     "a serial loop inside a loop of kind vector"),
    (_body(loop("unroll", "i", const(2), If(Const(True, BOOL), (loop("vector", "j", C),)))),
     "a vector loop inside a loop of kind unroll"),
    (_body(loop("unroll", "i", N)), "an unroll loop whose length is not constant"),
]  # fmt: skip

# An iteration that reads another one's element; reads where an array says; rows that overlap.
ELSEWHERE = "an iteration of i may read an element of y that another one writes"
INNER = "an iteration of j may read an element of y that another one writes"
WHERE = "s is written where an array says, and read in the same loop"
OVERLAPS = "to is written, and of may overlap it"
READS = [
    (_moved("parallel", add(AT, const(1)), AT), ELSEWHERE),
    (_moved("parallel", AT, sub(sub(N, const(1)), AT)), ELSEWHERE),
    (_moved("vector", AT, binary("mod", add(AT, const(1)), N)), ELSEWHERE),
    (_moved("parallel", AT, mul(AT, const(2))), ELSEWHERE),
    (_moved("parallel", AT, K), ELSEWHERE),
    (_moved("parallel", AT, ZERO), ELSEWHERE),
    (_body(loop("parallel", "i", N, loop("parallel", "j", C,
                Store("y", row("i", "j"), load("y", add(mul(J, N), AT)))))), ELSEWHERE),
    (_body(loop("parallel", "i", N, loop("parallel", "j", C,
                Store("y", row("i", "j"), load("y", _wrapped("j")))))), INNER),
    (_body(loop("serial", "i", N, Accumulate("s", K, "add", load("s", K)))), WHERE),
    (_body(loop("serial", "i", N, Let(Var("t", F64), load("s", ZERO)),
                Store("s", K, Var("t", F64)))), WHERE),
    (_body(loop("serial", "i", N, Let(Var("t", F64), load("s", K)),
                Store("s", AT, ONE), Store("s", K, Var("t", F64)))), WHERE),
    (_body(loop("serial", "i", N, Let(Var("t", F64), load("s", K)),
                Store("s", K, add(load("s", K), Var("t", F64))))), WHERE),
    (_body(loop("serial", "i", N, Let(Var("t", F64), load("s", K)),
                Accumulate("s", K, "add", Var("t", F64)))), WHERE),
    (_rows(STEP, STEP), OVERLAPS),
    (_rows(_turn(0), _turn(3)), OVERLAPS),
    (_rows(STEP, _turn(0)), OVERLAPS),
    (_rows(ZERO, STEP), OVERLAPS),
    (_rows(STEP, STEP, "to", "whole"), "to is written, and whole may overlap it"),
    (_rows(STEP, STEP, "whole", "of"), "whole is written, and of may overlap it"),
]  # fmt: skip

PROGRAMS = [
    (replace(_body(), buffers=(*BUFFERS, BUFFERS[0])), "x is declared twice"),
    (_sizes(Size(N, const(1))), "n is declared twice"),
    (replace(_body(), kernels=_body().kernels * 2), "main is declared twice"),
    (_sizes(buffers=(buffer("e", "local"),)), "buffer e of the program is local"),
    (_sizes(Size(Var("k1"), Var("k2"))), "k2 is not bound here"),
    (_sizes(Size(Var("k1"), Length("y", 0))), "there is no length 0 of y here"),
    (_sizes(Size(Var("k1"), Length("x", 2))), "there is no length 2 of x here"),
    (_sizes(Size(Var("k1", INT32), Const(1, INT32))), "size k1 is int32, not int64"),
    (_sizes(Size(Var("k1"), ONE)), "size k1 is float64, not int64"),
    (_sizes(Size(Var("k1"), None), steps=(Check(binary("gt", Var("k1"), ZERO), 1),)),
     "k1 is not bound here"),
    (_sizes(Size(Var("k1"), None), steps=(Measure("k1", "k"), Measure("k1", "k"))),
     "size k1 is measured 2 times"),
    (_sizes(buffers=(buffer("e", "temp", Var("m")),)), "m is not bound here"),
    (_sizes(Size(Var("k1"), None), Size(Var("k2"), Var("k1")),
            steps=(Check(binary("gt", Var("k2"), ZERO), 1), Measure("k1", "k"))),
     "k2 is not bound here"),
    (_sizes(Size(Var("k1"), None), buffers=(buffer("e", "temp", Var("k1")),),
            steps=(Routine("r", (Pointer("e", ZERO),)), Measure("k1", "k"))),
     "e is used before k1 is measured"),
    (_steps(Launch("other", (), ())), "there is no kernel other"),
    (_steps(Launch("main", ("x",), (N, C))), "kernel main has 7 buffers, 1 are given"),
    (_steps(Launch("main", ("x", "y", "k", "h", "b", "q", "s"), (N,))),
     "kernel main has 2 sizes, 1 are given"),
    (_steps(Launch("main", ("x", "y", "x", "h", "b", "q", "s"), (N, C))),
     "x is float64, parameter k is int64"),
    (_steps(Launch("main", ("x", "q", "k", "h", "b", "q", "s"), (N, C))), "constant q is written"),
    (_steps(Launch("main", ("x", "y", "k", "h", "b", "y", "s"), (N, C))),
     "y is written, and given more than once"),
    (_steps(Launch("main", ("x", "y", "k", "h", "b", "q", "z"), (N, C))), "there is no buffer z"),
    (_steps(Launch("main", ("x", "y", "k", "h", "b", "q", "s"), (N, ONE))),
     "a size is float64, not int64"),
    (_steps(Check(N, 1)), "the condition of a Check is not bool"),
    (_steps(Check(Const(True, BOOL), 0)), "the code of a Check is 0, not above 0"),
    (_steps(Check(binary("gt", X, X), 1)), "there is no buffer x here"),
    (_steps(Measure("n", "k")), "Measure sets n, which is no size without a value"),
    (_sizes(Size(Var("k1"), None), steps=(Measure("k1", "x"),)),
     "Measure reads x, which is not int64"),
    (_steps(Routine("r", (Pointer("z", ZERO),))), "there is no buffer z"),
    (_steps(Routine("r", (Pointer("x", ONE),))), "an offset is float64, not int64"),
    (_steps(Routine("r", (Pointer("x", ZERO, True),))), "input x is written"),
    (_steps(PythonCall(0, "f", (Region(Pointer("x", ZERO, True), (N,)),))), "input x is written"),
    (_steps(PythonCall(0, "f", (Region(Pointer("y", ZERO, True), (ONE,)),))),
     "a length is float64, not int64"),
    (_steps(PythonCall(-1, "f", ())), "-1 is not a number of its own for a PythonCall"),
    (_steps(PythonCall(0, "f", ()), PythonCall(0, "g", ())),
     "0 is not a number of its own for a PythonCall"),
]  # fmt: skip


@pytest.mark.parametrize("made", GOOD)
def test_good_programs(made: Program) -> None:
    verify(made)


@pytest.mark.parametrize(("made", "message"), EXPRESSIONS + KERNELS + READS + PROGRAMS)
def test_broken_programs(made: Program, message: str) -> None:
    with pytest.raises(IRError) as caught:
        verify(made)
    lines = str(caught.value).splitlines()
    assert lines[0] == message
    assert sum(line.lstrip() == "^ " + message for line in lines) == 1


def test_parameters_of_a_kernel_are_bound_once() -> None:
    made = _body()
    twice = replace(made.kernels[0], params=(Param("x", F64, False),) * 2)
    with pytest.raises(IRError, match="x is bound twice"):
        verify(replace(made, kernels=(twice,)))


def test_the_message_stands_under_the_line() -> None:
    made = program(
        [buffer("x", "input", N, C), buffer("y", "output", N, C)],
        loop("parallel", "i", N, Store("y", Var("i"), N), Store("x", Var("i"), X)),
    )
    with pytest.raises(IRError) as caught:
        verify(made)
    assert (
        str(caught.value)
        == """\
y is float64, but used as int64

program test
  size n = length(x, 0)
  size c = length(x, 1)
  input x: float64[n, c]
  output y: float64[n, c]

kernel main(x: float64, y: write float64; n, c)
  for i in parallel(n):
    y[i] = n
    ^ y is float64, but used as int64
    x[i] = x[0]

run
  main(x, y; n, c)"""
    )


def test_a_long_listing_is_cut() -> None:
    made = elementwise(500)
    kernel = made.kernels[0]
    (only,) = kernel.body
    assert isinstance(only, Loop)
    broken = replace(only, body=(*only.body, Store("x", ZERO, X)))
    with pytest.raises(IRError) as caught:
        verify(replace(made, kernels=(replace(kernel, body=(broken,)),)))
    lines = str(caught.value).splitlines()
    assert len(lines) < 70
    assert lines[2] == "..."


def _square(reads: Expr) -> Program:
    """Rows of four that are written, and then read at one index, by each of three iterations."""
    of_row = add(mul(AT, const(4)), J)
    write = loop("parallel", "j", const(4), Store("y", of_row, X))
    read = Let(Var("t", F64), load("y", reads))
    return _body(loop("parallel", "i", const(3), write, read))


@pytest.mark.parametrize("step", [3, 4, 5])
def test_an_index_within_the_own_row_by_the_numbers_of_iterations(step: int) -> None:
    """Of a diagonal the iteration i reads 5 * i, which is in its row of 4 while i is below 4."""
    verify(_square(add(mul(AT, const(step)), const(max(0, 4 - step) * 2))))


@pytest.mark.parametrize("step", [1, 2, 7, -4])
def test_an_index_that_leaves_the_own_row(step: int) -> None:
    with pytest.raises(IRError, match=ELSEWHERE):
        verify(_square(mul(AT, const(step))))
