"""Programs that several tests compile: Black-Scholes, softmax, and loops over vectors."""

from __future__ import annotations

import math

from symc.codegen.dtypes import (
    FLOAT32,
    FLOAT64,
    DType,
)  # fmt: skip
from symc.codegen.ir import (
    Accumulate,
    Binary,
    BinaryOp,
    Call,
    Const,
    Expr,
    Let,
    Load,
    Program,
    Stmt,
    Store,
    Unary,
    Var,
)
from tests.codegen.programs import (
    ZERO,
    C,
    N,
    buffer,
    load,
    local,
    loop,
    program,
    row,
)  # fmt: skip

INDEX, J = Var("i"), Var("j")


def var(name: str, dtype: DType = FLOAT64) -> Var:
    return Var(name, dtype)


def flat(*body: Stmt, inputs: tuple[DType, ...] = (FLOAT64,), output: DType = FLOAT64) -> Program:
    """A loop over vectors a, b ... that stores to y."""
    names = "abcdefgh"[: len(inputs)]
    buffers = [
        *(buffer(name, "input", N, dtype=dtype) for name, dtype in zip(names, inputs, strict=True)),
        buffer("y", "output", N, dtype=output),
    ]
    return program(buffers, loop("parallel", "i", N, *body), sizes=[N])


def black_scholes() -> Program:
    """The price of a call option, as lowering writes it."""

    def b(name: BinaryOp, left: Expr, right: Expr) -> Expr:
        return Binary(name, left, right, FLOAT64)

    def number(value: float) -> Const:
        return Const(value, FLOAT64)

    def below(x: Expr) -> Expr:
        turned = b("mul", Unary("neg", x, FLOAT64), number(0.5**0.5))
        return b("mul", number(0.5), Call("erfc", (turned,), FLOAT64))

    s, k, t, v = var("s"), var("k"), var("t"), var("v")
    first, second, root = var("d1"), var("d2"), var("root")
    growth = b("mul", b("add", number(0.05), b("mul", number(0.5), b("mul", v, v))), t)
    rate = Call("exp", (b("mul", number(-0.05), t),), FLOAT64)
    ratio = Call("log", (b("div", s, k),), FLOAT64)
    return flat(
        *(Let(name, load(array, INDEX)) for name, array in zip((s, k, t, v), "abcd", strict=True)),
        Let(root, b("mul", v, Call("sqrt", (t,), FLOAT64))),
        Let(first, b("div", b("add", ratio, growth), root)),
        Let(second, b("sub", first, root)),
        Store("y", INDEX, b(
            "sub", b("mul", s, below(first)), b("mul", b("mul", k, rate), below(second))
        )),
        inputs=(FLOAT64,) * 4,
    )  # fmt: skip


def row_softmax(dtype: DType = FLOAT32) -> Program:
    """Softmax in vector loops, as the passes leave it."""

    def at(j: str) -> Expr:
        return Load("x", row("i", j), dtype)

    def scalar(name: str) -> Expr:
        return Load(name, ZERO, dtype)

    e, scale = var("e", dtype), var("scale", dtype)
    return program(
        [buffer("x", "input", N, C, dtype=dtype), buffer("y", "output", N, C, dtype=dtype)],
        loop(
            "parallel", "i", N,
            local("largest", dtype=dtype),
            Store("largest", ZERO, Const(-math.inf, dtype)),
            loop("vector", "j", C, Accumulate("largest", ZERO, "max", at("j")),
                 note="x.max(axis=1)   demo.py:3"),
            local("total", dtype=dtype),
            Store("total", ZERO, Const(0.0, dtype)),
            loop("vector", "k", C,
                 Let(e, Call("exp", (Binary("sub", at("k"), scalar("largest"), dtype),), dtype)),
                 Store("y", row("i", "k"), e),
                 Accumulate("total", ZERO, "add", e)),
            Let(scale, Binary("div", Const(1.0, dtype), scalar("total"), dtype)),
            loop("vector", "l", C,
                 Store("y", row("i", "l"),
                       Binary("mul", Load("y", row("i", "l"), dtype), scale, dtype))),
            note="every row\nof x",
        ),
    )  # fmt: skip
