"""Programs as text."""

import math

import pytest

from symc.codegen.dtypes import BOOL, FLOAT32, INT64
from symc.codegen.ir import (
    Binary,
    BinaryOp,
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
    Loop,
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
    Unary,
    Var,
    add,
    binary,
    const,
)
from symc.codegen.text import expression, kernel_text, text
from tests.codegen.programs import F64, load, softmax

A, B, X = Var("a", F64), Var("b", F64), Var("c", F64)
P, Q, R = Var("p", BOOL), Var("q", BOOL), Var("r", BOOL)


def _op(op: BinaryOp, left: Expr, right: Expr) -> Binary:
    return binary(op, left, right)


@pytest.mark.parametrize(
    ("expr", "shown"),
    [
        (_op("add", _op("mul", A, B), X), "a*b + c"),
        (_op("mul", _op("add", A, B), X), "(a + b)*c"),
        (_op("add", A, _op("add", B, X)), "a + (b + c)"),
        (_op("add", _op("add", A, B), X), "a + b + c"),
        (_op("sub", A, _op("sub", B, X)), "a - (b - c)"),
        (_op("div", A, _op("mul", B, X)), "a/(b*c)"),
        (_op("floordiv", A, _op("mod", B, X)), "a // (b % c)"),
        (_op("max", A, _op("min", B, X)), "max(a, min(b, c))"),
        (Unary("neg", Unary("neg", A, F64), F64), "--a"),
        (Unary("neg", _op("add", A, B), F64), "-(a + b)"),
        (_op("mul", A, Const(-1.0, F64)), "a*-1.0"),
        (_op("mul", Unary("neg", A, F64), B), "-a*b"),
        (_op("or", P, _op("and", Q, R)), "p or q and r"),
        (_op("and", _op("or", P, Q), R), "(p or q) and r"),
        (_op("xor", P, Q), "p xor q"),
        (Unary("not", _op("lt", A, B), BOOL), "not a < b"),
        (_op("and", Unary("not", P, BOOL), Q), "not p and q"),
        (_op("eq", _op("lt", A, B), P), "(a < b) == p"),
        (_op("shl", add(Var("i"), const(1)), Var("j")), "i + 1 << j"),
        (
            _op("bor", Var("i"), _op("band", Var("j"), Unary("invert", Var("k"), INT64))),
            "i | j & ~k",
        ),
        (add(Var("i"), const(-3)), "i - 3"),
        (Select(P, A, B, F64), "select(p, a, b)"),
        (Cast(_op("add", A, B), FLOAT32), "float32(a + b)"),
        (Call("pow", (A, B), F64), "pow(a, b)"),
        (load("x", add(Var("i"), const(1))), "x[i + 1]"),
        (Length("x", 1), "length(x, 1)"),
        (Const(math.nan, F64), "nan"),
        (Const(-math.inf, F64), "-inf"),
        (Const(1, F64), "1.0"),
        (Const(True, BOOL), "True"),
    ],
)
def test_expressions_have_the_parentheses_they_need(expr: Expr, shown: str) -> None:
    assert expression(expr) == shown


def test_softmax() -> None:
    assert (
        text(softmax())
        == """\
program test
  size n = length(x, 0)
  size c = length(x, 1)
  input x: float64[n, c]
  output y: float64[n, c]

kernel main(x: float64, y: write float64; n, c)
  for i in parallel(n):
    alloc m: float64[]
    m[0] = -inf
    for j in serial(c):
      m[0] max= x[i*c + j]
    alloc e: float64[c]
    for k in parallel(c):
      let t: float64 = exp(x[i*c + k] - m[0])
      e[k] = t
    alloc s: float64[]
    s[0] = 0.0
    for l in serial(c):
      s[0] add= e[l]
    for o in parallel(c):
      y[i*c + o] = e[o]/s[0]

run
  main(x, y; n, c)
"""
    )


def test_steps_and_notes() -> None:
    n, k = Var("n"), Var("k")
    program = Program(
        "steps",
        (Size(n, Length("x", 0), "rows of x"), Size(k, None)),
        (Buffer("x", F64, (n,), "input"), Buffer("count", INT64, (), "temp")),
        (Kernel("nothing", (Param("count", INT64, True),), (), (), "counts\ntrain.py:3"),),
        (
            Check(binary("gt", n, const(0)), 1, "mean of nothing"),
            Launch("nothing", ("count",), ()),
            Measure("k", "count"),
            Routine("dot_f64", (n, Pointer("x", const(0)), Pointer("x", k, True)), "x @ x"),
            PythonCall(0, "f", (Region(Pointer("x", k), (n, k)), Const(0.5, F64)), "f(x)"),
        ),
    )
    assert (
        text(program)
        == """\
program steps
  size n = length(x, 0)  # rows of x
  size k = measured
  input x: float64[n]
  temp count: int64[]

kernel nothing(count: write int64)
  # counts
  # train.py:3
  pass

run
  check n > 0 else 1  # mean of nothing
  nothing(count)
  measure k = count[0]
  routine dot_f64(n, x, write x + k)  # x @ x
  python 0 f(x + k[n, k], 0.5)  # f(x)
"""
    )


def test_branches_and_loop_notes() -> None:
    store = Store("y", Var("i"), Const(0.0, F64))
    body = (Loop(Var("i"), const(3), "unroll", (If(P, (store,), (store,)),), "zero y"),)
    kernel = Kernel("k", (Param("y", F64, True),), (), body)
    assert (
        kernel_text(kernel)
        == """\
kernel k(y: write float64)
  # zero y
  for i in unroll(3):
    if p:
      y[i] = 0.0
    else:
      y[i] = 0.0
"""
    )


def test_deep_expressions_and_long_blocks_are_printed() -> None:
    deep: Expr = A
    for _ in range(300):
        deep = _op("add", deep, B)
    assert expression(deep).count("+") == 300
    body = tuple(Store("y", const(i), A) for i in range(20_000))
    assert kernel_text(Kernel("k", (), (), body)).count("\n") == 20_001
