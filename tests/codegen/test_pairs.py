"""pairs: complex numbers as pairs of floats, with the same meaning."""

from __future__ import annotations

import cmath
from collections.abc import Sequence

import pytest

from symc.codegen.complex import FUNCTIONS
from symc.codegen.dtypes import BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64
from symc.codegen.ir import (
    Accumulate,
    Call,
    Cast,
    Const,
    Expr,
    If,
    Pointer,
    Program,
    Routine,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    binary,
    const,
    number,
)
from symc.codegen.meaning.interpret import Array
from symc.codegen.passes.expressions.pairs import pairs
from symc.codegen.passes.order import PASSES
from symc.codegen.verify.program import verify
from tests.codegen.programs import ZERO, N, buffer, load, local, loop, op, program, run, shown

Z = COMPLEX128
I = Var("i")  # noqa: E741 -- the loop variable
VALUES = [1 + 2j, -0.5 + 0.25j, 3 - 1j]


def made(*body: Stmt) -> Program:
    """A program from complex x[n] to complex y[n] and bool b[n]."""
    buffers = [
        buffer("x", "input", N, dtype=Z), buffer("y", "output", N, dtype=Z),
        buffer("b", "output", N, dtype=BOOL),
    ]  # fmt: skip
    return program(buffers, *body, sizes=[N])


def results(source: Program) -> tuple[list[complex], list[bool]]:
    """A program's results for `VALUES`, the same before and after the other passes."""
    parts = [part for z in VALUES for part in (z.real, z.imag)]
    split = pairs(source)
    verify(split)
    found = run(split, {"x": Array(parts, (3,))}).arrays
    better = split
    for improve in PASSES:
        better = improve(better)
    verify(better)
    assert repr(run(better, {"x": Array(parts, (3,))}).arrays) == repr(found)
    y: Sequence[float] = found["y"].values
    return [complex(*y[k : k + 2]) for k in range(0, len(y), 2)], list(found["b"].values)


def each(value: Expr, test: Expr) -> Program:
    """The program that stores these for each element."""
    return made(loop("parallel", "i", N, Store("y", I, value), Store("b", I, test)))


def test_text() -> None:
    x = load("x", I, Z)
    squares = made(loop("parallel", "i", N, Store("y", I, op("mul", x, x))))
    assert (
        shown(pairs(squares))
        == """
for i in parallel(n):
  let x_re: float64 = x[i*2]
  let x_im: float64 = x[i*2 + 1]
  let x_re_2: float64 = x[i*2]
  let x_im_2: float64 = x[i*2 + 1]
  let part: float64 = x_re*x_re_2
  let part_2: float64 = x_im*x_im_2
  let part_3: float64 = part - part_2
  let part_4: float64 = x_re*x_im_2
  let part_5: float64 = x_im*x_re_2
  let part_6: float64 = part_4 + part_5
  y[i*2] = part_3
  y[i*2 + 1] = part_6
"""
    )


def test_arithmetic_and_choices() -> None:
    x, two = load("x", I, Z), number(2 + 1j, Z)
    right = Call("real", (x,), FLOAT64)
    chosen = Select(binary("eq", x, number(1 + 2j, Z)), Unary("neg", x, Z), op("div", x, two), Z)
    y, b = results(each(op("add", chosen, Cast(right, Z)), Cast(op("sub", x, Const(1.0, Z)), BOOL)))
    wanted = [(-z if z == 1 + 2j else z / (2 + 1j)) + z.real for z in VALUES]
    assert y == pytest.approx(wanted, rel=1e-15)
    assert b == [True, True, True]


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "tan", "tanh"])
def test_functions(name: str) -> None:
    x = load("x", I, Z)
    y, b = results(each(Call(name, (x,), Z), Call("isfinite", (x,), BOOL)))
    assert y == pytest.approx([getattr(cmath, name)(z) for z in VALUES], rel=1e-14)
    assert all(b)


def test_every_function_has_a_meaning_for_floats_only() -> None:
    for name in FUNCTIONS:
        count = 2 if name == "pow" else 1
        dtype = BOOL if name.startswith("is") else Z
        dtype = FLOAT64 if name in ("abs", "angle", "real", "imag") else dtype
        value: Expr = Call(name, (load("x", I, Z),) * count, dtype)
        if dtype is BOOL:
            verify(pairs(made(loop("parallel", "i", N, Store("b", I, value)))))
        else:
            value = value if dtype is Z else Cast(value, Z)
            verify(pairs(made(loop("parallel", "i", N, Store("y", I, value)))))


def test_folds_have_two_scalars() -> None:
    x = load("x", I, Z)
    total, last = load("acc", ZERO, Z), load("prod", ZERO, Z)
    fold = made(
        local("acc", dtype=Z), Store("acc", ZERO, Const(0.0, Z)),
        local("prod", dtype=Z), Store("prod", ZERO, Const(1.0, Z)),
        local("row", N, dtype=Z),
        loop(
            "serial", "i", N,
            Accumulate("acc", ZERO, "add", x), Accumulate("prod", ZERO, "mul", x),
            Store("row", I, op("add", x, total)),
        ),
        loop(
            "parallel", "k", N,
            If(binary("ne", total, last), (Store("y", Var("k"), load("row", Var("k"), Z)),),
               (Store("y", Var("k"), total),)),
            Store("b", Var("k"), binary("eq", last, last)),
        ),
    )  # fmt: skip
    y, b = results(fold)
    sums = [sum(VALUES[: k + 1]) for k in range(3)]
    assert y == pytest.approx([z + s for z, s in zip(VALUES, sums, strict=True)], rel=1e-15)
    assert all(b)


def test_an_element_is_read_before_it_is_overwritten() -> None:
    y = load("y", I, Z)
    twice = made(
        loop(
            "parallel", "i", N,
            Store("y", I, load("x", I, Z)), Store("y", I, op("mul", y, y)),
            Store("b", I, Const(True, BOOL)),
        ),
    )  # fmt: skip
    assert results(twice)[0] == pytest.approx([z * z for z in VALUES])


def test_routines_are_given_places_of_components() -> None:
    step = Routine("copy_bytes", (Pointer("y", const(3), written=True), Pointer("b", N), N))
    split = pairs(Program("p", (), (buffer("y", "output", N, dtype=COMPLEX64),), (), (step,)))
    assert split.steps == (
        Routine("copy_bytes", (Pointer("y", const(6), written=True), Pointer("b", N), N)),
    )


def test_components() -> None:
    assert COMPLEX64.component is FLOAT32
    assert COMPLEX128.component is FLOAT64
    assert FLOAT32.component is FLOAT32
    assert COMPLEX64.is_complex
    assert COMPLEX64.is_inexact
    assert not COMPLEX64.is_float
    assert BOOL.component is BOOL
