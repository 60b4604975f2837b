"""place: which local arrays move into an output, and which must not."""

from dataclasses import replace

import pytest

from symc.codegen.dtypes import FLOAT32
from symc.codegen.ir import (
    Accumulate,
    Cast,
    Const,
    Expr,
    If,
    Launch,
    Let,
    Load,
    Loop,
    Program,
    Stmt,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
)
from symc.codegen.meaning.interpret import Array
from symc.codegen.passes.kernels.place import place
from symc.codegen.verify.program import verify
from tests.codegen.programs import (
    F64,
    ZERO,
    C,
    N,
    buffer,
    load,
    local,
    loop,
    op,
    program,
    row,
    run,
    same,
    shown,
)

VI, VJ, VK = Var("i"), Var("j"), Var("k")
ONE = Const(1.0, F64)
BUFFERS = [
    buffer("x", "input", N, C), buffer("y", "output", N, C), buffer("z", "output", N, C),
    buffer("w", "output", N),
]  # fmt: skip
FILL = loop("parallel", "j", C, Store("e", VJ, op("add", load("x", row("i", "j")), ONE)))
Y = row("i", "k")


def finish(*body: Stmt, extent: Expr = C) -> Loop:
    """The last loop over the row."""
    return loop("parallel", "k", extent, *body)


def over_rows(*body: Stmt) -> Program:
    return program(BUFFERS, loop("parallel", "i", N, local("e", C), *body))


def placed(before: Program) -> str:
    """The text afterwards; the program must still mean the same."""
    verify(before)
    after = place(before)
    verify(after)
    arrays = {"x": Array([float(v * v % 7) for v in range(12)], (3, 4))}
    assert same(run(before, arrays), run(after, arrays))
    return shown(after)


def test_a_row_that_becomes_one_of_the_output_stands_there() -> None:
    total = loop("serial", "l", C, Accumulate("s", ZERO, "add", load("e", Var("l"))))
    quotient = op("div", load("e", VK), load("s", ZERO))
    made = over_rows(
        FILL, local("s"), Store("s", ZERO, ONE), total, finish(Store("y", Y, quotient))
    )
    assert (
        placed(made)
        == """
for i in parallel(n):
  for j in parallel(c):
    y[i*c + j] = x[i*c + j] + 1.0
  alloc s: float64[]
  s[0] = 1.0
  for l in serial(c):
    s[0] add= y[i*c + l]
  for k in parallel(c):
    y[i*c + k] = y[i*c + k]/s[0]
"""
    )


def test_a_row_that_is_accumulated_in_moves_too() -> None:
    more = loop("parallel", "l", C, Accumulate("e", Var("l"), "mul", load("x", row("i", "l"))))
    text = placed(over_rows(FILL, more, finish(Store("y", Y, load("e", VK)))))
    assert "alloc" not in text
    assert "y[i*c + l] mul=" in text


def test_of_two_rows_one_moves() -> None:
    second = loop("parallel", "l", C, Store("f", Var("l"), load("e", Var("l"))))
    both = op("add", load("e", VK), load("f", VK))
    text = placed(over_rows(FILL, local("f", C), second, finish(Store("y", Y, both))))
    assert text.count("alloc") == 1


SUM = op("add", load("e", VK), ONE)
MUST_STAY: dict[str, tuple[Stmt, ...]] = {
    "the output is read": (
        FILL, finish(Store("y", Y, SUM)), Store("w", VI, load("y", mul(VI, C)))
    ),
    "the output is written before": (
        FILL, loop("parallel", "l", C, Store("y", row("i", "l"), ONE)), finish(Store("y", Y, SUM))
    ),
    "the row is needed afterwards": (
        FILL, finish(Store("y", Y, SUM)), Store("w", VI, load("e", ZERO))
    ),
    "the element is needed afterwards": (
        FILL, finish(Store("y", Y, SUM), Store("z", Y, load("e", VK)))
    ),
    "another element is needed": (
        FILL, finish(Store("y", Y, load("e", op("sub", op("sub", C, const(1)), VK))))
    ),
    "the last loop writes to the row": (
        FILL, finish(Store("e", VK, SUM), Store("y", Y, ONE))
    ),
    "the last loop does not go over all of it": (
        FILL, finish(Store("y", Y, SUM), extent=const(1))
    ),
    "the place depends on what is computed later": (
        FILL, Let(Var("there"), mul(VI, C)),
        finish(Store("y", add(Var("there"), VK), SUM)),
    ),
    "there is a branch": (
        FILL, finish(If(binary("gt", load("e", VK), ONE), (Store("y", Y, SUM),)))
    ),
    "the output is of another type": (
        FILL, finish(Store("y32", Y, Cast(load("e", VK), FLOAT32)))
    ),
}  # fmt: skip


@pytest.mark.parametrize("reason", MUST_STAY)
def test_a_row_stays_where_it_is(reason: str) -> None:
    narrow = buffer("y32", "output", N, C, dtype=FLOAT32)
    body = loop("parallel", "i", N, local("e", C), *MUST_STAY[reason])
    before = program([*BUFFERS, narrow], body)
    verify(before)
    assert place(before) == before


def test_a_row_stays_where_the_output_is_the_same_memory_as_an_input() -> None:
    before = over_rows(FILL, finish(Store("y", Y, SUM)))
    launch = before.steps[0]
    assert isinstance(launch, Launch)
    x, _, *others = launch.buffers
    shared = replace(before, steps=(replace(launch, buffers=(x, x, *others)),))
    assert place(shared) == shared
    assert place(before) != before


def test_a_short_row_stays_on_the_stack() -> None:
    short = const(8)
    fill = loop("parallel", "j", short, Store("e", VJ, ONE))
    index = add(mul(VI, short), VK)
    last = loop("parallel", "k", short, Store("y", index, Load("e", VK, F64)))
    before = program(
        [buffer("x", "input", N, C), buffer("y", "output", N, short)],
        loop("parallel", "i", N, local("e", short), fill, last),
    )
    assert place(before) == before
