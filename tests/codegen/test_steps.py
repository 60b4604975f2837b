"""Steps with steps inside: loops and branches around kernels, and rows of buffers."""

from dataclasses import replace

import pytest

from symc.codegen.blocks import every_step, map_steps
from symc.codegen.dtypes import BOOL, FLOAT64, INT64
from symc.codegen.errors import IRError
from symc.codegen.ir import (
    Branch,
    Buffer,
    Check,
    Const,
    Expr,
    Kernel,
    Launch,
    Length,
    Load,
    Param,
    Pointer,
    Program,
    Repeat,
    Size,
    Step,
    Store,
    Var,
    add,
    binary,
    const,
)
from symc.codegen.meaning.interpret import Array, interpret
from symc.codegen.passes.kernels.join import join
from symc.codegen.passes.kernels.memory import live_ranges, plan_workspace
from symc.codegen.text import text
from symc.codegen.verify.program import verify

N, T, DONE, ZERO = Var("n"), Var("t"), Var("done"), const(0)


def load(name: str) -> Load:
    return Load(name, ZERO, FLOAT64)


def param(name: str, written: bool = False) -> Param:
    return Param(name, FLOAT64, written)


def buffer(name: str, role: str, *shape: Expr) -> Buffer:
    return Buffer(name, FLOAT64, shape, role)  # type: ignore[arg-type]


def row(name: str, of: str, offset: Expr) -> Buffer:
    return Buffer(name, FLOAT64, (), "row", Pointer(of, offset))


BUFFERS = (
    buffer("x", "input", N), buffer("y", "output", add(N, const(1))), buffer("part", "temp"),
    Buffer("big", BOOL, (), "temp"), row("x_t", "x", T), row("old", "y", T),
    row("new", "y", add(T, const(1))), Buffer("count", INT64, (), "output"),
)  # fmt: skip
KERNELS = (
    Kernel("zero", (param("a", True),), (), (Store("a", ZERO, Const(0.0, FLOAT64)),)),
    Kernel("half", (param("a"), param("b", True)), (),
           (Store("b", ZERO, binary("mul", load("a"), Const(0.5, FLOAT64))),)),
    Kernel("plus", (param("a"), param("b"), param("c", True)), (),
           (Store("c", ZERO, binary("add", load("a"), load("b"))),)),
    Kernel("test", (param("a"), Param("b", BOOL, True)), (),
           (Store("b", ZERO, binary("gt", load("a"), Const(9.0, FLOAT64))),)),
    Kernel("store", (Param("a", INT64, True),), (Var("v"),), (Store("a", ZERO, Var("v")),)),
)  # fmt: skip
BODY: tuple[Step, ...] = (
    Launch("half", ("old", "part"), ()),
    Launch("plus", ("part", "x_t", "new"), ()),
    Launch("test", ("new", "big"), ()),
)


def program(*steps: Step, buffers: tuple[Buffer, ...] = BUFFERS) -> Program:
    sizes = Size(N, Length("x", 0)), Size(T, None), Size(DONE, None)
    return Program("loop", sizes, buffers, KERNELS, steps)


SUM = program(
    Launch("zero", ("y",), ()),
    Repeat("t", N, BODY, "big", "done", "y[t + 1] = y[t]/2 + x[t]"),
    Launch("store", ("count",), (DONE,)),
)


def run(made: Program, x: list[float]) -> dict[str, list[float]]:
    verify(made)
    result = interpret(made, {"x": Array(x, (len(x),))})
    assert result.status == 0
    return {name: list(array.values) for name, array in result.arrays.items()}


def test_a_loop_as_text() -> None:
    assert text(SUM).endswith(
        """\
run
  zero(y)
  measure done by repeat t in n:  # y[t + 1] = y[t]/2 + x[t]
    half(old, part)
    plus(part, x_t, new)
    test(new, big)
    until big[0]
  store(count; done)
"""
    )
    assert "  row new: float64[] = y + (t + 1)\n" in text(SUM)


def test_a_loop_runs_until_it_stops() -> None:
    assert run(SUM, [1.0, 2.0, 3.0]) == {"y": [0.0, 1.0, 2.5, 4.25], "count": [3]}
    assert run(SUM, []) == {"y": [0.0], "count": [0]}
    assert run(SUM, [1.0, 20.0, 3.0]) == {"y": [0.0, 1.0, 20.5, None], "count": [2]}


def test_a_branch_runs_one_side() -> None:
    pick = Branch("big", (Launch("zero", ("new",), ()),), (Launch("half", ("new", "part"), ()),))
    whole = Launch("zero", ("y",), ())
    for x, wanted in ((20.0, [0.0, 0.0]), (4.0, [0.0, 4.0])):
        store = Launch("store", ("count",), (N,))
        made = program(whole, Repeat("t", const(1), (*BODY, pick)), store)
        assert run(made, [x])["y"] == wanted
    assert "    if big[0]:\n      zero(new)\n    else:\n      half(new, part)\n" in text(made)


def test_a_check_in_a_loop_ends_the_call() -> None:
    check = Check(Load("big", ZERO, BOOL), 7)
    made = program(Launch("zero", ("y",), ()), Repeat("t", N, (*BODY, check)))
    verify(made)
    assert interpret(made, {"x": Array([1.0], (1,))}).status == 7


def test_rows_that_overlap_are_found() -> None:
    twice = replace(BUFFERS[5], of=Pointer("y", add(T, const(1))))
    made = program(*SUM.steps, buffers=(*BUFFERS[:5], twice, *BUFFERS[6:]))
    both = Launch("half", ("old", "new"), ())
    made = replace(made, steps=(SUM.steps[0], Repeat("t", N, (both,))))
    with pytest.raises(IRError, match="new is written, and old may overlap it"):
        verify(made)
    with pytest.raises(IRError, match="rows that overlap"):
        interpret(made, {"x": Array([1.0], (1,))})
    beyond = replace(BUFFERS[4], of=Pointer("x", add(T, N)))
    made = program(*SUM.steps, buffers=(*BUFFERS[:4], beyond, *BUFFERS[5:]))
    with pytest.raises(IRError, match="not in 1 elements"):
        run(made, [1.0])


REPEAT = Repeat("t", N, BODY)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (program(*BODY), "old is used before t is measured"),
        (program(REPEAT, Launch("zero", ("new",), ())), "new is used before t is measured"),
        (program(Repeat("n", N, ())), "n is no size without a value"),
        (program(Repeat("t", DONE, ())), "done is not bound here"),
        (program(REPEAT, REPEAT), "size t is measured 2 times"),
        (program(Repeat("t", N, BODY, "part")), "the condition part is float64, not bool"),
        (program(Branch("x", (), ())), "the condition x is float64, not bool"),
        (program(Repeat("t", N, (Launch("zero", ("x_t",), ()),))), "input x is written"),
        (program(buffers=(*BUFFERS, row("z", "none", ZERO))), "there is no buffer none above z"),
        (program(buffers=(row("z", "x", ZERO), *BUFFERS)), "there is no buffer x above z"),
        (program(buffers=(*BUFFERS, row("z", "big", ZERO))), "big is bool, not float64"),
        (program(buffers=(*BUFFERS, buffer("z", "row"))), "z is a row"),
    ],
)
def test_what_is_wrong_is_found(made: Program, message: str) -> None:
    with pytest.raises(IRError, match=message.replace("(", r"\(")):
        verify(made)


def test_what_a_loop_carries_lives_throughout_it() -> None:
    lives = live_ranges(SUM)
    assert lives["y"] == (0, 5)  # written before the loop, which is 1 to 5
    assert lives["part"] == (2, 3)  # written anew by each round
    assert lives["big"] == (4, 5)
    found = plan_workspace(SUM)
    assert [[b.name for b in slot.tenants] for slot in found.slots] == [["part", "big"]]


def test_small_kernels_of_a_step_become_one() -> None:
    made = join(SUM)
    verify(made)
    (loop,) = [step for step in made.steps if isinstance(step, Repeat)]
    assert len(loop.steps) == 1
    assert run(made, [1.0, 20.0, 3.0]) == run(SUM, [1.0, 20.0, 3.0])
    assert join(program(*BODY[:1])) == program(*BODY[:1])  # outside of loops, they stay


def test_steps_inside_steps_are_seen_and_changed() -> None:
    branch = Branch("big", BODY, (REPEAT,))
    assert len(list(every_step((branch,)))) == 2 + 2 * len(BODY)
    names = {"zero", "half"}
    kept = map_steps(
        (branch,), lambda s: [s] if isinstance(s, Launch) and s.kernel in names else []
    )
    assert len(list(every_step(kept))) == 4
