"""Loops cut into strips: what they mean, their rules, and the one place where they are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from symc.codegen.cost.amounts import number_of
from symc.codegen.dtypes import INT32, INT64
from symc.codegen.errors import IRError
from symc.codegen.ir import (
    Const,
    Cut,
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    LoopKind,
    Param,
    Program,
    Store,
    Strip,
    Strips,
    Var,
    add,
    binary,
    const,
)
from symc.codegen.meaning.interpret import Array
from symc.codegen.passes.order import PASSES
from symc.codegen.passes.strips import StripMining, extent_of, strip_loop, strip_mined
from symc.codegen.passes.walk import map_block, statements, substitute
from symc.codegen.text import expression, text
from symc.codegen.verify.program import verify
from tests.codegen.programs import F64, N, buffer, load, loop, program, run

ROOT = Path(__file__).parents[2]
VI = Var("i")
COPY = loop("vector", "i", N, Store("y", VI, load("x", VI)))
STRIPS = strip_mined(COPY, 4, "parallel", str)
BUFFERS = (buffer("x", "input", N), buffer("y", "output", N))
OF_FOUR = Strips(N, const(4))


def over_strip(outer: Loop = STRIPS) -> Loop:
    """The loop over a strip in a loop over strips."""
    inner = outer.body[-1]
    assert isinstance(inner, Loop)
    return inner


def strips_around(inner: Loop) -> Loop:
    """The strips with another loop inside."""
    return replace(STRIPS, body=(STRIPS.body[0], inner))


@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("backwards", [False, True])
def test_strips_do_each_iteration_once(length: int, backwards: bool) -> None:
    made = program(BUFFERS, STRIPS, sizes=(N,))
    verify(made)
    x = Array([float(i) for i in range(length)], (length,))
    assert run(made, {"x": x}, backwards=backwards).arrays["y"].values == x.values


def test_the_loops_of_strips() -> None:
    first, inner = STRIPS.body
    assert isinstance(first, Let)
    assert isinstance(inner, Loop)
    assert STRIPS.cut == OF_FOUR
    assert inner.cut == Strip(STRIPS.var, OF_FOUR)
    assert expression(STRIPS.extent) == "(n + 3) // 4"
    assert expression(first.value) == "block*4"
    assert expression(inner.extent) == "min(4, n - start)"
    assert inner.body == (Let(VI, add(Var("start"), Var("i_in_block"))), *COPY.body)
    found = strip_loop(STRIPS)
    assert found is not None
    assert (found.start, found.loop, found.body) == (first, inner, COPY.body)
    assert strip_loop(inner) is None
    assert strip_loop(replace(STRIPS, body=STRIPS.body * 2)) is None


def test_walks_keep_cuts_and_see_into_them() -> None:
    (same,) = map_block((STRIPS,), lambda expr: expr)
    assert same is STRIPS

    def longer(expr: Expr) -> Expr:
        return substitute(expr, {"n": Const(8)})

    (other,) = map_block((STRIPS,), longer)
    assert isinstance(other, Loop)
    assert other.cut == Strips(const(8), const(4))
    assert over_strip(other).cut == Strip(STRIPS.var, Strips(const(8), const(4)))


@pytest.mark.parametrize("kind", ["parallel", "serial"])
def test_passes_keep_cuts(kind: LoopKind) -> None:
    """And the extents that go with them: the verifier compares the two."""
    cut = StripMining(Var("block"), N, const(4), Var("start"))
    loops = [
        cut.inner(Var(name), "serial", (Store("y", cut.at(Var(name)), value),))
        for name, value in (("j", load("x", cut.at(Var("j")))), ("k", Const(1.0, F64)))
    ]
    made = program(BUFFERS, cut.loop(kind, (cut.let, *loops)), sizes=(N,))
    for change in PASSES:
        made = change(made)
        verify(made)
    cuts = {type(s.cut) for s in statements(made.kernels[0].body) if isinstance(s, Loop)}
    assert cuts == {Strips, Strip}, text(made)


# --- rules ----------------------------------------------------------------------------------------

INNER = over_strip()
WRONG: list[tuple[Loop, str]] = [
    (replace(STRIPS, cut=Strips(N, const(0))), "strips of 0"),
    (replace(STRIPS, cut=Strips(N, Const(4, INT32))),
     "the extent and what it follows from are of two types"),
    (replace(STRIPS, cut=Strips(Const(4.0, F64), const(4))),
     "a number of iterations is float64, not int64"),
    (replace(STRIPS, cut=Strips(Var("m"), const(4))), "m is not bound here"),
    (replace(STRIPS, kind="grid", body=(*STRIPS.body, Store("y", const(0), Const(1.0, F64)))),
     "a strip that threads of a device share out is one pack"),
    (replace(STRIPS, extent=N), "block has 7 iterations, by its cut 2, for n = 7"),
    (replace(STRIPS, cut=Strips(N, const(8))), "block has 2 iterations, by its cut 1, for n = 7"),
    (replace(STRIPS, cut=Strips(const(9), const(2)), extent=const(4)),
     "block has 4 iterations, by its cut 5"),
    (strips_around(replace(INNER, extent=const(4))),
     "i_in_block has 4 iterations, by its cut 1, for block = 0, n = 1"),
    (strips_around(replace(INNER, cut=Strip(const(0), OF_FOUR))),
     "i_in_block has -3 iterations, by its cut 1, for block = 1, n = 1"),
    (strips_around(replace(INNER, cut=Strip(Var("i_in_block"), OF_FOUR))),
     "i_in_block is not bound here"),
]  # fmt: skip


@pytest.mark.parametrize(("strips", "message"), WRONG)
def test_broken_strips(strips: Loop, message: str) -> None:
    with pytest.raises(IRError) as caught:
        verify(program(BUFFERS, strips, sizes=(N,)))
    lines = str(caught.value).splitlines()
    assert lines[0] == message
    assert sum(line.lstrip() == "^ " + message for line in lines) == 1


RIGHT: list[Loop] = [
    STRIPS,
    replace(STRIPS, kind="serial"),
    replace(STRIPS, cut=None),
    strips_around(replace(INNER, cut=None)),
    replace(STRIPS, extent=binary("floordiv", add(const(3), N), const(4))),
    strips_around(replace(INNER, extent=binary("min", binary("sub", N, Var("start")), const(4)))),
    strip_mined(replace(COPY, extent=const(10)), 4, "parallel", str),
    strip_mined(COPY, 4, "grid", str),
]


@pytest.mark.parametrize("strips", RIGHT)
def test_right_strips(strips: Loop) -> None:
    verify(program(BUFFERS, strips, sizes=(N,)))


def launched(count: Expr) -> Program:
    """The strips of a kernel that is given their number, whatever that is."""
    strips = replace(STRIPS, extent=Var("count"))
    params = Param("x", F64, False), Param("y", F64, True)
    kernel = Kernel("main", params, (N, Var("count")), (strips,))
    made = program(BUFFERS, STRIPS, sizes=(N,))
    return replace(made, kernels=(kernel,), steps=(Launch("main", ("x", "y"), (N, count)),))


def test_the_number_of_strips_may_be_a_size_of_the_program() -> None:
    verify(launched(STRIPS.extent))
    with pytest.raises(IRError, match="block has 7 iterations, by its cut 2"):
        verify(launched(N))


# --- meaning --------------------------------------------------------------------------------------


def test_running_strips_checks_their_number() -> None:
    x = {"x": Array([1.0, 2.0, 3.0, 4.0, 5.0], (5,))}
    assert run(launched(STRIPS.extent), x).arrays["y"].values == x["x"].values
    with pytest.raises(IRError, match="kernel main: block has 1 iterations, by its cut 2"):
        run(launched(const(1)), x)


def test_running_a_loop_over_a_strip_checks_its_length() -> None:
    """Of a length that is read from memory the verifier knows nothing."""
    lengths = buffer("lengths", "input", const(2), dtype=INT64)
    inner = replace(INNER, extent=Load("lengths", Var("block"), INT64))
    made = program((*BUFFERS, lengths), strips_around(inner), sizes=(N,))
    verify(made)
    x = Array([1.0, 2.0, 3.0, 4.0, 5.0], (5,))
    right, wrong = (Array(values, (2,)) for values in ([4, 1], [3, 2]))
    assert run(made, {"x": x, "lengths": right}).arrays["y"].values == x.values
    with pytest.raises(IRError, match="kernel main: i_in_block has 3 iterations, by its cut 4"):
        run(made, {"x": x, "lengths": wrong})


@pytest.mark.parametrize("kind", ["parallel", "serial"])
def test_several_loops_over_a_strip(kind: LoopKind) -> None:
    """A value that one leaves in an array of the strip, the next one reads."""
    cut = StripMining(Var("strip"), N, const(4), Var("first"))
    j, k = Var("j"), Var("k")
    one = cut.inner(j, "vector", (Store("y", cut.at(j), load("x", cut.at(j))),))
    two = load("y", cut.at(k))
    other = cut.inner(k, "vector", (Store("y", cut.at(k), binary("add", two, two)),))
    made = program(BUFFERS, cut.loop(kind, (cut.let, one, other)), sizes=(N,))
    verify(made)
    x = Array([float(i) for i in range(6)], (6,))
    assert run(made, {"x": x}).arrays["y"].values == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


@pytest.mark.parametrize("extent", [0, 1, 6, 7, 8, 29])
@pytest.mark.parametrize("length", [1, 4, 7, 40])
@pytest.mark.parametrize("named", [False, True])
def test_strips_share_out_the_iterations(extent: int, length: int, named: bool) -> None:
    """Over any lengths, as they are in programs: the sizes of a kernel."""
    first = Var("first") if named else None
    cut = StripMining(Var("number"), Var("n"), Var("step"), first)
    sizes = {"n": extent, "step": length}
    done: list[int] = []
    for number in range(_value(cut.strips, sizes)):
        known = {**sizes, "number": number}
        if named:
            known["first"] = _value(cut.let.value, known)
        count = _value(cut.count, known)
        assert 1 <= count <= length
        assert count == _value(extent_of(cut.within), known)
        done += [_value(cut.at(Var("place")), {**known, "place": place}) for place in range(count)]
    assert done == [*range(extent)]


def _value(expr: Expr, sizes: dict[str, int]) -> int:
    found = number_of(expr, sizes)
    assert found is not None
    return found


# --- one place ------------------------------------------------------------------------------------


def calls(path: Path) -> Iterator[ast.Call]:
    """The calls in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield node


def named(call: ast.Call) -> str:
    """The last word of what is called."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_strips_are_made_in_one_place() -> None:
    """Nobody else says of a loop that it is a part, or counts the strips of one by hand."""
    for folder in ("codegen", "symc/lower", "symc/schedule"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path == ROOT / "codegen/passes/strips.py":
                continue
            for call in calls(path):
                where = f"{path.relative_to(ROOT)}:{call.lineno}"
                assert named(call) not in {kind.__name__ for kind in (Strips, Strip)}, where
                if named(call) == "Loop":
                    inner = {named(c) for c in ast.walk(call) if isinstance(c, ast.Call)}
                    assert "ceiling" not in inner, f"{where}: a loop over strips made by hand"


def test_cuts_are_a_closed_set() -> None:
    assert Cut == Strips | Strip
