"""Loops cut into strips: their meaning, their rules, and the loops that they stand for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symc.codegen.cost.amounts import number_of
from symc.codegen.dtypes import INT32
from symc.codegen.errors import IRError
from symc.codegen.ir import (
    Const,
    Expr,
    Let,
    Loop,
    LoopKind,
    Store,
    Strip,
    Strips,
    Var,
    add,
    binary,
    const,
)
from symc.codegen.meaning.interpret import Array
from symc.codegen.passes.strips import StripMining, cut_extent, strip_mined, written_out
from symc.codegen.passes.walk import map_block, statements, substitute
from symc.codegen.text import expression
from symc.codegen.verify.program import verify
from tests.codegen.programs import F64, N, buffer, load, loop, program, run

VI = Var("i")
COPY = loop("vector", "i", N, Store("y", VI, load("x", VI)))
STRIPS = strip_mined(COPY, 4, "parallel", str)
BUFFERS = (buffer("x", "input", N), buffer("y", "output", N))


@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("backwards", [False, True])
def test_strips_do_each_iteration_once(length: int, backwards: bool) -> None:
    made = program(BUFFERS, STRIPS, sizes=(N,))
    verify(made)
    x = Array([float(i) for i in range(length)], (length,))
    assert run(made, {"x": x}, backwards=backwards).arrays["y"].values == x.values


def test_the_loops_that_strips_stand_for() -> None:
    outer = written_out(STRIPS)
    first, inner = outer.body
    assert isinstance(first, Let)
    assert isinstance(inner, Loop)
    assert expression(outer.extent) == "(n + 3) // 4"
    assert expression(first.value) == "block*4"
    assert expression(inner.extent) == "min(4, n - start)"
    assert inner.body == (Let(VI, add(Var("start"), Var("i_in_block"))), *COPY.body)
    assert [type(stmt).__name__ for stmt in statements((STRIPS,))] == [
        "Loop", "Let", "Loop", "Let", "Store",
    ]  # fmt: skip


def test_walks_keep_strips() -> None:
    (same,) = map_block((STRIPS,), lambda expr: expr)
    assert same is STRIPS
    (other,) = map_block((STRIPS,), lambda e: Const(8) if e == N else e)
    assert isinstance(other, Strips)
    assert other.extent == Const(8)


WRONG: list[tuple[Strips, str]] = [
    (replace(STRIPS, length=1), "strips of 1"),
    (replace(STRIPS, body=COPY.body), "strips without a loop over the iterations of one"),
    (replace(STRIPS, kind="vector"), "strips in a loop of kind vector"),
    (replace(STRIPS, number=Var("block", INT32)), "block and the extent are of two types"),
    (replace(STRIPS, first=Var("start", F64)), "start is float64, not int64"),
    (replace(STRIPS, first=Var("n")), "n is bound twice"),
    (replace(STRIPS, kind="grid", body=STRIPS.body * 2),
     "a strip that threads of a device share out is one pack"),
]  # fmt: skip


@pytest.mark.parametrize(("strips", "message"), WRONG)
def test_broken_strips(strips: Strips, message: str) -> None:
    with pytest.raises(IRError) as caught:
        verify(program(BUFFERS, strips, sizes=(N,)))
    lines = str(caught.value).splitlines()
    assert lines[0] == message
    assert sum(line.lstrip() == "^ " + message for line in lines) == 1


@pytest.mark.parametrize("kind", ["parallel", "serial"])
def test_several_loops_over_a_strip(kind: LoopKind) -> None:
    """A value that one leaves in an array of the strip, the next one reads."""
    place, again = Var("k"), Var("m")
    body = (
        Strip(place, Var("j"), (Store("y", Var("j"), load("x", Var("j"))),)),
        Strip(again, VI, (Store("y", VI, add(load("y", VI), load("y", VI))),)),
    )
    strips = Strips(Var("strip"), Var("first"), N, 4, kind, body, Var("length"))
    made = program(BUFFERS, strips, sizes=(N,))
    verify(made)
    x = Array([float(i) for i in range(6)], (6,))
    assert run(made, {"x": x}).arrays["y"].values == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


# --- the arithmetic, for whoever writes the loops himself -----------------------------------------


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
        done += [_value(cut.at(Var("place")), {**known, "place": place}) for place in range(count)]
    assert done == [*range(extent)]


@pytest.mark.parametrize("length", [const(16), Var("step")])
def test_the_extent_is_told_by_the_iterations_of_a_strip(length: Expr) -> None:
    cut = StripMining(Var("number"), N, length, Var("first"))
    count = substitute(cut.count, {"first": cut.let.value})
    assert cut_extent(count, "number") == N
    assert cut_extent(count, "another") is None
    assert cut_extent(binary("min", length, N), "number") is None


def _value(expr: Expr, sizes: dict[str, int]) -> int:
    found = number_of(expr, sizes)
    assert found is not None
    return found
