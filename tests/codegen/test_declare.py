"""Pass `declare`: where local scalars are declared, and what the verifier refuses there."""

import pytest

from symc.codegen.errors import IRError
from symc.codegen.ir import Accumulate, Alloc, Const, Store, Var
from symc.codegen.meaning.interpret import Array
from symc.codegen.passes.expressions.declare import declare
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

BUFFERS = [buffer("x", "input", N, C), buffer("y", "output", N, C)]
ONE, TWO = Const(1.0, F64), Const(2.0, F64)


def test_a_scalar_is_declared_where_its_first_value_is() -> None:
    made = program(
        BUFFERS,
        loop(
            "serial", "i", N,
            local("early"), local("late"), local("inside"),
            Store("early", ZERO, load("x", row("i", "i"))),
            Accumulate("early", ZERO, "add", ONE),
            loop(
                "serial", "j", C,
                local("a"), local("b"),
                Store("b", ZERO, ONE),
                Store("a", ZERO, op("mul", load("b", ZERO), load("early", ZERO))),
                Store("inside", ZERO, load("a", ZERO)),
                Store("y", row("i", "j"), load("a", ZERO)),
            ),
            Store("late", ZERO, TWO),
        ),
    )  # fmt: skip
    after = declare(made)
    verify(after)
    assert (
        shown(after)
        == """
for i in serial(n):
  alloc late: float64[]
  alloc inside: float64[]
  alloc early: float64[] = x[i*c + i]
  early[0] add= 1.0
  for j in serial(c):
    alloc b: float64[] = 1.0
    alloc a: float64[] = b[0]*early[0]
    inside[0] = a[0]
    y[i*c + j] = a[0]
  late[0] = 2.0
"""
    )
    given = {"x": Array([1.0, 2.0, 3.0, 4.0], (2, 2))}
    assert same(run(made, given), run(after, given))
    assert declare(after) == after


@pytest.mark.parametrize(
    ("alloc", "message"),
    [
        (Alloc(buffer("a", "local", C), ONE), "a begins with a value, but is no scalar"),
        (Alloc(buffer("a", "local"), Const(1)), "a is float64, its value int64"),
        (Alloc(buffer("a", "local"), load("a", ZERO)), "a"),
        (Alloc(buffer("a", "local"), Var("nobody", F64)), "nobody"),
    ],
)
def test_first_values_that_are_wrong_are_refused(alloc: Alloc, message: str) -> None:
    with pytest.raises(IRError, match=message):
        verify(program(BUFFERS, loop("serial", "i", N, alloc)))
