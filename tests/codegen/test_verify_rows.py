"""Rows of unknown lengths that are written and read: right programs pass, wrong ones do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.errors import IRError
from symc.codegen.ir import (
    Branch,
    Check,
    Const,
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Param,
    Program,
    Repeat,
    Select,
    Size,
    Step,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
    sub,
)
from symc.codegen.verify.program import verify
from tests.codegen.programs import F64, ZERO, C, N, buffer, load, loop, op, program

AT, J, STEP = Var("i"), Var("j"), Var("step")
BUFFERS = [
    buffer("x", "input", N, C), buffer("y", "output", N, C), buffer("k", "input", N, dtype=INT64),
    buffer("at", "temp", dtype=INT64), buffer("ok", "temp", dtype=BOOL),
    buffer("flag", "input", dtype=BOOL),
]  # fmt: skip
MAIN = program(BUFFERS).steps[0]
MEETS = "may read an element of y that another one writes"


def _copies(count: Expr, to: Expr, source: Expr) -> Loop:
    """``y[to] = y[source]`` for every i below a count."""
    return loop("parallel", "i", count, Store("y", to, load("y", source)))


def _moved(count: Expr, to: Expr, source: Expr, *first: Step) -> Program:
    """Such copies, after other steps."""
    made = program(BUFFERS, _copies(count, to, source))
    return replace(made, steps=(*first, *made.steps))


def _of_row(count: Expr, to: Expr, source: Expr) -> Program:
    """Copies of what a loop over a row reads: ``y[to] = sum(y[source] for every j)``."""
    read = loop("serial", "j", C, Let(Var("t", F64), load("y", source)))
    return program(BUFFERS, loop("parallel", "i", count, read, Store("y", to, Const(0.0, F64))))


def _is_below(left: Expr, right: Expr) -> Check:
    return Check(binary("lt", left, right), 1)


def _stepping(count: Expr, to: Expr, source: Expr) -> Program:
    """Copies in a loop around the kernel, which is given the number of the step."""
    made = program(BUFFERS, _copies(count, to, source))
    kernel = replace(made.kernels[0], sizes=(N, C, STEP))
    launch = Launch("main", tuple(b.name for b in BUFFERS), (N, C, STEP))
    return replace(
        made, sizes=(*made.sizes, Size(STEP, None)), kernels=(kernel,),
        steps=(Repeat("step", N, (launch,)),),
    )  # fmt: skip


FOUND = Load("at", ZERO, INT64)


def _found(*middle: Step, condition: Expr | None = None) -> Program:
    """``y[c + i] = y[at[0]]`` below c, where another kernel fills `at` and checks it."""
    step = Var("v")
    below = binary("lt", step, C) if condition is None else condition
    find = Kernel(
        "find", (Param("at", INT64, True), Param("ok", BOOL, True)), (N, C),
        (Let(step, binary("mod", N, const(7))), Store("at", ZERO, step), Store("ok", ZERO, below)),
    )  # fmt: skip
    made = program(BUFFERS, _copies(C, add(C, AT), FOUND))
    kernel = replace(
        made.kernels[0],
        params=tuple([replace(p, written=p.name == "y") for p in made.kernels[0].params]),
    )
    filled = Launch("find", ("at", "ok"), (N, C))
    return replace(made, kernels=(kernel, find, STAIN), steps=(filled, *middle, *made.steps))


STAIN = Kernel("stain", (Param("k", INT64, False), Param("at", INT64, True)), (),
               (Store("at", ZERO, Load("k", ZERO, INT64)),))  # fmt: skip
HOLDS = Check(Load("ok", ZERO, BOOL), 1)
WRAPPED = Select(binary("lt", sub(N, C), ZERO), N, sub(N, C), INT64)

RIGHT = {
    "row 0 from one of row 1": _moved(C, AT, add(C, const(0))),
    "row 0 from row 1": _of_row(C, AT, add(C, J)),
    "row 1 from row 0": _of_row(C, add(C, AT), J),
    "row 1 from row 0, backwards": _of_row(C, add(C, sub(sub(C, const(1)), AT)), J),
    "row 2 from row 1": _of_row(C, add(mul(C, const(2)), AT), add(C, J)),
    "a part of row 0 from row 1": _moved(op("min", C, N), AT, C),
    "every second element": _moved(op("floordiv", C, const(2)), mul(AT, const(2)), C),
    "row 0 from rows further down": _stepping(C, AT, mul(add(STEP, const(1)), C)),
    "one of row 0, in a checked column": _moved(
        N, add(mul(add(AT, const(1)), C), ZERO), const(1), _is_below(const(1), C)
    ),
    "column 0 from a choice": _moved(
        C, AT, Select(binary("lt", N, C), add(C, N), mul(C, const(2)), INT64)
    ),
    "row 1 from where a kernel says": _found(HOLDS),
}

WRONG = {
    "the whole array is no row": _moved(mul(N, C), AT, C),
    "rows are not as long as columns": _moved(N, AT, C),
    "one column too many": _moved(add(C, const(1)), AT, C),
    "the end of the own row": _moved(C, AT, sub(C, const(1))),
    "row 1 begins one too early": _of_row(C, AT, add(C, sub(J, const(1)))),
    "down to the beginning of row 1": _moved(C, sub(C, AT), C),
    "every second element of twice as many": _moved(C, mul(AT, const(2)), C),
    "no less than half": _moved(op("floordiv", add(C, const(2)), const(2)), mul(AT, const(2)), C),
    "as many as either": _moved(op("max", C, N), AT, C),
    "a row that may be the same": _stepping(C, AT, mul(STEP, C)),
    "a column that nothing was said of": _moved(N, mul(add(AT, const(1)), C), const(1)),
    "a check of something else": _moved(
        N, mul(add(AT, const(1)), C), const(1), _is_below(const(1), N)
    ),
    "a check of another launch": _moved(
        N, mul(add(AT, const(1)), C), const(1), MAIN, _is_below(const(1), C)
    ),
    "a check that may not be reached": _moved(
        N, mul(add(AT, const(1)), C), const(1), Branch("flag", (_is_below(const(1), C),), ())
    ),
    "an index that an array holds": _moved(C, Load("k", AT, INT64), add(C, AT)),
    "one of two choices": _moved(C, AT, Select(binary("lt", N, C), N, add(C, N), INT64)),
    "a choice that may wrap": _moved(C, add(C, AT), WRAPPED),
    "what a kernel found is not checked": _found(),
    "a check of something else that it found": _found(HOLDS, condition=binary("lt", Var("v"), N)),
    "found, checked, and changed": _found(HOLDS, Launch("stain", ("k", "at"), ())),
    "found, and changed in a branch": _found(
        HOLDS, Branch("flag", (Launch("stain", ("k", "at"), ()),), ())
    ),
}


@pytest.mark.parametrize("made", RIGHT.values(), ids=RIGHT)
def test_rows_that_never_meet(made: Program) -> None:
    verify(made)


@pytest.mark.parametrize("made", WRONG.values(), ids=WRONG)
def test_rows_that_may_meet(made: Program) -> None:
    with pytest.raises(IRError, match=MEETS):
        verify(made)


def test_a_length_that_differs_between_launches() -> None:
    """In the kernel c is 1 at the second launch, and what was checked is another c."""
    right = _moved(N, mul(add(AT, const(1)), C), const(1), _is_below(const(1), C))
    verify(right)
    names = tuple(b.name for b in BUFFERS)
    wrong = replace(right, steps=(*right.steps, Launch("main", names, (N, const(1)))))
    with pytest.raises(IRError, match=MEETS):
        verify(wrong)


def test_a_long_value_that_differs_between_iterations() -> None:
    """It is not written out, and one iteration may well write above where another one reads."""
    value: Expr = AT
    for _ in range(70):
        value = binary("band", add(value, const(3)), const(255))
    there = Var("t")
    wrong = program(
        BUFFERS,
        loop("parallel", "i", N, Let(there, value),
             Store("y", there, load("y", add(there, const(1))))),
    )  # fmt: skip
    with pytest.raises(IRError, match=MEETS):
        verify(wrong)


def test_an_index_that_the_kernel_itself_changes() -> None:
    """What stands in `at` when it is read is not what stands there when it is written."""
    wrong = program(
        BUFFERS,
        loop("parallel", "i", N,
             Let(Var("t", F64), load("y", add(FOUND, const(1)))),
             Store("at", ZERO, AT),
             Store("y", FOUND, Var("t", F64))),
    )  # fmt: skip
    with pytest.raises(IRError, match="may read an element of"):
        verify(wrong)
