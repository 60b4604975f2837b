"""simplify: before and after, as text."""

import pytest

from symc.codegen.dtypes import BOOL, FLOAT64, INT64
from symc.codegen.ir import (
    Accumulate,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    If,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    add,
    binary,
    const,
    mul,
)
from symc.codegen.passes.expressions.simplify import simplify
from symc.codegen.verify.program import verify
from tests.codegen.programs import (
    F64,
    ZERO,
    C,
    N,
    buffer,
    let,
    load,
    local,
    loop,
    op,
    program,
    row,
    shown,
)

VI, VJ = Var("i"), Var("j")
X = load("x", row("i", "j"))
ONE = Const(1.0, F64)
BUFFERS = [
    buffer("x", "input", N, C), buffer("b", "input", N), buffer("one", "input", const(1)),
    buffer("y", "output", N, C), buffer("z", "output", N, C),
]  # fmt: skip


def simplified(*body: Stmt) -> str:
    made = program(BUFFERS, *body)
    verify(made)
    after = simplify(made)
    verify(after)
    assert simplify(after) == after
    return shown(after)


def exp(x: Expr) -> Call:
    return Call("exp", (x,), F64)


def nest(*body: Stmt) -> Stmt:
    return loop("parallel", "i", N, loop("parallel", "j", C, *body))


def test_a_value_used_once_is_written_where_it_is_used() -> None:
    a, let_a = let("a", X)
    b, let_b = let("b_", exp(a))
    assert (
        simplified(nest(let_a, let_b, Store("y", row("i", "j"), op("add", b, ONE))))
        == """
for i in parallel(n):
  for j in parallel(c):
    y[i*c + j] = exp(x[i*c + j]) + 1.0
"""
    )


def test_a_value_used_twice_keeps_its_name() -> None:
    a, let_a = let("a", exp(X))
    assert (
        simplified(nest(let_a, Store("y", row("i", "j"), op("add", a, a))))
        == """
for i in parallel(n):
  for j in parallel(c):
    let a: float64 = exp(x[i*c + j])
    y[i*c + j] = a + a
"""
    )


def test_expressions_stay_small() -> None:
    value: Expr = X
    body: list[Stmt] = []
    for number in range(20):
        value, stmt = let(f"t{number}", op("add", value, ONE))
        body.append(stmt)
    assert (
        simplified(nest(*body, Store("y", row("i", "j"), value)))
        == """
for i in parallel(n):
  for j in parallel(c):
    let t6: float64 = x[i*c + j] + 1.0 + 1.0 + 1.0 + 1.0 + 1.0 + 1.0 + 1.0
    let t14: float64 = t6 + 1.0 + 1.0 + 1.0 + 1.0 + 1.0 + 1.0 + 1.0 + 1.0
    y[i*c + j] = t14 + 1.0 + 1.0 + 1.0 + 1.0 + 1.0
"""
    )


def test_unused_values_loops_without_effect_and_unused_buffers_go() -> None:
    a, let_a = let("a", X)
    _, let_b = let("b_", op("add", a, ONE))
    assert (
        simplified(
            local("e", C),
            nest(let_a, let_b),
            If(binary("lt", N, C), (let("d", N)[1],)),
            Store("y", ZERO, ONE),
        )
        == """
y[0] = 1.0
"""
    )


def test_equal_values_share_a_name() -> None:
    a, let_a = let("a", exp(X))
    b, let_b = let("b_", exp(X))
    assert (
        simplified(nest(let_a, let_b, Store("y", row("i", "j"), op("sub", a, b))))
        == """
for i in parallel(n):
  for j in parallel(c):
    let a: float64 = exp(x[i*c + j])
    y[i*c + j] = a - a
"""
    )


def test_zeros_of_different_sign_do_not_share_a_name() -> None:
    a, let_a = let("a", op("add", X, Const(0.0, F64)))
    b, let_b = let("b_", op("add", X, Const(-0.0, F64)))
    text = simplified(nest(let_a, let_b, Store("y", row("i", "j"), op("sub", a, b))))
    assert "x[i*c + j] + 0.0 - (x[i*c + j] + -0.0)" in text


def test_loads_are_not_merged_over_a_store() -> None:
    a, let_a = let("a", load("y", ZERO))
    b, let_b = let("b_", load("y", ZERO))
    text = simplified(let_a, Store("y", ZERO, ONE), let_b, Store("z", ZERO, op("sub", a, b)))
    assert (
        text
        == """
let a: float64 = y[0]
y[0] = 1.0
z[0] = a - y[0]
"""
    )


def test_loads_are_not_merged_over_a_loop_or_branch_that_stores() -> None:
    for inner in (
        loop("serial", "i", N, Store("y", ZERO, ONE)),
        If(binary("lt", N, C), (Store("y", ZERO, ONE),)),
        If(binary("lt", N, C), (), (Store("y", ZERO, ONE),)),
    ):
        a, let_a = let("a", load("y", ZERO))
        b, let_b = let("b_", load("y", ZERO))
        text = simplified(let_a, inner, let_b, Store("z", ZERO, op("sub", a, b)))
        assert text.endswith("\nz[0] = a - y[0]\n")


def test_loads_do_not_move_over_a_store() -> None:
    a, let_a = let("a", load("y", ZERO))
    b, let_b = let("b_", op("add", a, ONE))
    text = simplified(let_a, let_b, Store("y", ZERO, ONE), Store("z", ZERO, b))
    assert (
        text
        == """
let a: float64 = y[0]
y[0] = 1.0
z[0] = a + 1.0
"""
    )


def test_values_move_out_of_loops() -> None:
    a, let_a = let("a", exp(load("b", VI)))
    b, let_b = let("b_", exp(load("one", ZERO)))
    value = op("add", op("add", a, b), X)
    assert (
        simplified(nest(let_a, let_b, Store("y", row("i", "j"), value)))
        == """
let b_: float64 = exp(one[0])
for i in parallel(n):
  let a: float64 = exp(b[i])
  for j in parallel(c):
    y[i*c + j] = a + b_ + x[i*c + j]
"""
    )


def test_values_do_not_move_into_loops() -> None:
    a, let_a = let("a", exp(load("b", VI)))
    text = simplified(
        loop("parallel", "i", N, let_a, loop("parallel", "j", C, Store("y", row("i", "j"), a)))
    )
    assert "  let a: float64 = exp(b[i])\n  for j" in text


def test_values_stay_in_their_branch() -> None:
    a, let_a = let("a", exp(load("one", ZERO)))
    body = If(binary("lt", VI, C), (let_a, Store("y", VI, op("add", a, a))))
    assert (
        simplified(loop("parallel", "i", N, body))
        == """
for i in parallel(n):
  if i < c:
    let a: float64 = exp(one[0])
    y[i] = a + a
"""
    )


def test_a_load_stays_in_a_loop_that_writes_the_buffer() -> None:
    a, let_a = let("a", load("s", ZERO))
    text = simplified(
        local("s"),
        Store("s", ZERO, ONE),
        loop("serial", "i", N, let_a, Accumulate("s", ZERO, "add", op("mul", a, a))),
        Store("y", ZERO, load("s", ZERO)),
    )
    assert "  let a: float64 = s[0]\n  s[0] add= a*a" in text


def test_a_load_stays_in_a_loop_that_may_not_run() -> None:
    """x is empty where c is 0: x[0] must not be read then."""
    a, let_a = let("a", load("x", ZERO))
    body = loop("parallel", "j", C, let_a, Store("y", VJ, op("mul", a, a)))
    assert (
        simplified(body)
        == """
for j in parallel(c):
  let a: float64 = x[0]
  y[j] = a*a
"""
    )


def test_a_load_leaves_a_loop_that_surely_runs() -> None:
    a, let_a = let("a", load("x", mul(VI, C)))
    inner = loop("parallel", "j", const(9), let_a, Store("y", VJ, op("mul", a, a)))
    text = simplified(loop("serial", "i", N, inner))
    assert "  let a: float64 = x[i*c]\n  for j in parallel(9):" in text


def test_a_scalar_leaves_any_loop() -> None:
    a, let_a = let("a", exp(load("s", ZERO)))
    text = simplified(
        local("s"),
        Store("s", ZERO, ONE),
        loop("parallel", "j", C, let_a, Store("y", VJ, op("add", a, a))),
    )
    assert "let a: float64 = exp(s[0])\nfor j in" in text


FOLDED = [
    (add(mul(VI, const(3)), const(0)), "i*3"),
    (Binary("mul", VI, const(1), INT64), "i"),
    (Binary("add", const(0), VI, INT64), "i"),
    (Binary("sub", VI, VI, INT64), "0"),
    (Binary("add", Binary("add", VI, const(2), INT64), const(3), INT64), "i + 5"),
    (Binary("floordiv", const(7), const(-2), INT64), "-4"),
    (Binary("mod", const(7), const(0), INT64), "0"),
    (Binary("min", const(7), const(3), INT64), "3"),
    (Binary("max", VI, VI, INT64), "i"),
    (Binary("floordiv", VI, const(1), INT64), "i"),
    (Binary("mod", VI, const(1), INT64), "0"),
    (Binary("floordiv", row("i", "j"), C, INT64), "i"),
    (Binary("mod", row("i", "j"), C, INT64), "j"),
    (Binary("mod", VJ, C, INT64), "j"),
    (Binary("floordiv", VJ, C, INT64), "0"),
    (Binary("floordiv", mul(VI, const(4)), const(4), INT64), "i"),
    (Binary("mod", row("i", "j"), N, INT64), "(i*c + j) % n"),
    (Binary("floordiv", add(mul(N, C), VJ), C, INT64), "(n*c + j) // c"),
    (Binary("add", const(2**63 - 1), const(1), INT64), "9223372036854775807 + 1"),
    (Cast(VI, INT64), "i"),
    (Select(binary("lt", const(1), const(2)), VI, VJ, INT64), "i"),
    (Select(Unary("not", binary("eq", VI, VI), BOOL), VI, VJ, INT64), "j"),
    (Select(binary("or", binary("lt", VI, VJ), Const(True, BOOL)), VI, VJ, INT64), "i"),
    (Select(binary("and", binary("lt", VI, VJ), Const(True, BOOL)), VI, VJ, INT64),
     "select(i < j, i, j)"),
]  # fmt: skip


@pytest.mark.parametrize(("expr", "text"), FOLDED)
def test_integers_fold(expr: Expr, text: str) -> None:
    made = simplified(nest(Store("y", row("i", "j"), Cast(expr, FLOAT64))))
    assert f"y[i*c + j] = float64({text})\n" in made


def test_floats_do_not_fold() -> None:
    value = op("add", op("mul", X, Const(1.0, F64)), Const(0.0, F64))
    assert "= x[i*c + j]*1.0 + 0.0\n" in simplified(nest(Store("y", row("i", "j"), value)))


def test_known_branches_and_loops_of_length_one_or_none() -> None:
    assert (
        simplified(
            loop("parallel", "i", const(1), Store("y", add(VI, const(2)), Cast(VI, F64))),
            loop("parallel", "k", const(0), Store("y", Var("k"), ONE)),
            If(
                binary("lt", const(1), const(2)), (Store("z", ZERO, ONE),), (Store("y", ZERO, ONE),)
            ),
        )
        == """
y[2] = float64(0)
z[0] = 1.0
"""
    )


def test_a_value_may_not_move_into_the_length_of_a_loop() -> None:
    k, let_k = let("k", Cast(load("one", ZERO), INT64))
    text = simplified(let_k, loop("serial", "i", k, Store("y", VI, ONE)))
    assert text.startswith("\nlet k: int64 = int64(one[0])\nfor i in serial(k):")
