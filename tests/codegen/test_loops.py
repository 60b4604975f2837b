"""collapse, vectorize and parallel: before and after, as text."""

from collections.abc import Callable

import pytest

from symc.codegen.cost.loops import work
from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Accumulate,
    AccumulateOp,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    If,
    Let,
    Loop,
    Program,
    Stmt,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
    sub,
)
from symc.codegen.passes.loops.collapse import collapse
from symc.codegen.passes.loops.parallel import parallel
from symc.codegen.passes.loops.tile import tile
from symc.codegen.passes.order import PASSES
from symc.codegen.passes.vectors.vectorize import vectorize
from symc.codegen.text import expression
from symc.codegen.verify.program import verify
from tests.codegen.programs import (
    F64,
    ZERO,
    C,
    N,
    body_of,
    buffer,
    load,
    local,
    loop,
    op,
    program,
    row,
    shown,
    softmax,
)

VI, VJ, VK = Var("i"), Var("j"), Var("k")
M = Var("m")
ONE = Const(1.0, F64)
BUFFERS = [
    buffer("x", "input", N, C, M), buffer("y", "output", N, C, M), buffer("w", "output", N),
]  # fmt: skip
FLAT = add(mul(add(mul(VI, C), VJ), M), VK)


def after(change: Callable[[Program], Program], *body: Stmt) -> str:
    made = program(BUFFERS, *body, sizes=(N, C, M))
    verify(made)
    result = change(made)
    verify(result)
    return shown(result)


# --- collapse -------------------------------------------------------------------------------------


def nest(*body: Stmt) -> Loop:
    inner = loop("parallel", "k", M, *body)
    return loop("parallel", "i", N, loop("parallel", "j", C, inner))


def test_three_axes_become_one() -> None:
    assert (
        after(collapse, nest(Store("y", FLAT, op("add", load("x", FLAT), ONE))))
        == """
for i in parallel(n*c*m):
  y[i] = x[i] + 1.0
"""
    )


def test_axes_collapse_as_far_as_their_indexes_do() -> None:
    value = op("add", load("x", FLAT), load("x", add(mul(VI, C), VJ)))
    assert (
        after(collapse, nest(Store("y", FLAT, value)))
        == """
for i in parallel(n*c):
  for k in parallel(m):
    y[i*m + k] = x[i*m + k] + x[i]
"""
    )
    value = op("add", load("x", FLAT), load("x", add(mul(VJ, M), VK)))
    assert (
        after(collapse, nest(Store("y", FLAT, value)))
        == """
for i in parallel(n):
  for j in parallel(c*m):
    y[i*(c*m) + j] = x[i*(c*m) + j] + x[j]
"""
    )


def test_rows_one_further_collapse() -> None:
    """``x[1:] - x[:-1]`` of five columns was computed by loops of five iterations."""
    here, next_row = (add(mul(row, M), VK) for row in (VI, add(VI, const(1))))
    body = Store("y", here, op("add", load("x", next_row), load("x", here)))
    inner = loop("parallel", "k", M, body)
    assert (
        after(collapse, loop("parallel", "i", sub(N, const(1)), inner))
        == """
for i in parallel((n - 1)*m):
  y[i] = x[m + i] + x[i]
"""
    )


def test_loops_collapse_behind_a_start() -> None:
    start = Var("start")
    flat = add(mul(add(start, VI), C), VJ)
    inner = loop("serial", "i", N, loop("serial", "j", C, Store("y", ZERO, load("x", flat))))
    text = after(collapse, Let(start, mul(N, C)), inner)
    assert "for i in serial(n*c):\n  y[0] = x[start*c + i]" in text


def test_loops_that_are_not_perfectly_nested_do_not_collapse() -> None:
    inner = loop("parallel", "j", C, Store("y", row("i", "j"), load("x", row("i", "j"))))
    assert after(collapse, loop("parallel", "i", N, Store("w", VI, ONE), inner)).count("for ") == 2
    assert after(collapse, loop("serial", "i", N, inner)).count("for ") == 2


def test_other_strides_do_not_collapse() -> None:
    flat = add(mul(VI, N), VJ)
    text = after(
        collapse, loop("parallel", "i", N, loop("parallel", "j", C, Store("y", flat, ONE)))
    )
    assert text.count("for ") == 2


def test_lengths_that_depend_on_the_outer_loop_do_not_collapse() -> None:
    flat = add(mul(VI, VI), VJ)
    text = after(
        collapse, loop("parallel", "i", N, loop("parallel", "j", VI, Store("y", flat, ONE)))
    )
    assert text.count("for ") == 2


def test_serial_nests_collapse_too() -> None:
    total = Accumulate("w", ZERO, "add", load("x", row("i", "j")))
    assert (
        after(collapse, loop("serial", "i", N, loop("serial", "j", C, total)))
        == """
for i in serial(n*c):
  w[0] add= x[i]
"""
    )


# --- vectorize ------------------------------------------------------------------------------------


def kinds(change: Callable[[Program], Program], *body: Stmt) -> list[str]:
    """The kinds of the loops after a pass, from the outside in."""
    text = after(change, *body)
    return [line.split(" in ")[1].split("(")[0] for line in text.splitlines() if "for " in line]


def call(name: str, *args: Expr) -> Call:
    return Call(name, args, F64)


def test_innermost_parallel_loops_become_vector_loops() -> None:
    assert kinds(vectorize, nest(Store("y", FLAT, ONE))) == ["parallel", "parallel", "vector"]


@pytest.mark.parametrize(
    ("name", "kind"), [("exp", "vector"), ("sigmoid", "vector"), ("gammaln", "parallel")]
)
def test_functions_decide(name: str, kind: str) -> None:
    assert kinds(
        vectorize, loop("parallel", "i", N, Store("w", VI, call(name, load("x", VI))))
    ) == [kind]


def test_branches_and_float_division_with_rest_stay() -> None:
    branch = If(binary("lt", VI, C), (Store("w", VI, ONE),))
    assert kinds(vectorize, loop("parallel", "i", N, branch)) == ["parallel"]
    rest = Store("w", VI, op("mod", load("x", VI), ONE))
    assert kinds(vectorize, loop("parallel", "i", N, rest)) == ["parallel"]
    whole = Store("w", Binary("mod", VI, N, INT64), ONE)
    assert kinds(vectorize, loop("parallel", "i", N, whole)) == ["vector"]


def reduction(*body: Stmt) -> list[Stmt]:
    return [local("s"), Store("s", ZERO, ONE), loop("serial", "i", N, *body)]


@pytest.mark.parametrize("name", ["add", "mul", "min", "max"])
def test_reductions_into_scalars_become_vector_loops(name: AccumulateOp) -> None:
    body = reduction(Accumulate("s", ZERO, name, load("x", VI)))
    assert kinds(vectorize, *body) == ["vector"]


def test_serial_loops_that_are_no_reductions_stay() -> None:
    add_x = Accumulate("s", ZERO, "add", load("x", VI))
    bodies: list[list[Stmt]] = [
        [add_x, Store("w", VI, load("s", ZERO))],  # every iteration needs the one before
        [add_x, Accumulate("s", ZERO, "max", ONE)],  # two operations
        [add_x, Store("w", ZERO, ONE)],  # the last one wins
        [Store("w", VI, load("w", add(VI, const(-1))))],
        [Accumulate("w", ZERO, "add", load("x", VI))],  # memory, not a register
    ]
    for body in bodies:
        assert kinds(vectorize, *reduction(*body)) == ["serial"]


def test_serial_loops_may_store_to_elements_of_their_own() -> None:
    add_x = Accumulate("s", ZERO, "add", load("x", VI))
    body: list[Stmt] = [add_x, Store("w", VI, load("w", VI))]
    assert kinds(vectorize, *reduction(*body)) == ["vector"]


def test_short_loops_inside_are_unrolled() -> None:
    def inner(length: Expr, *body: Stmt) -> Loop:
        return loop("parallel", "i", N, loop("serial", "j", length, *body))

    add_j = Accumulate("w", VI, "add", load("x", add(mul(VI, const(8)), VJ)))
    assert kinds(vectorize, inner(const(8), add_j)) == ["vector", "unroll"]
    assert kinds(vectorize, inner(const(9), add_j)) == ["parallel", "serial"]
    nested = loop("serial", "k", const(4), add_j)
    assert kinds(vectorize, inner(const(4), nested)) == ["vector", "unroll", "unroll"]
    nested = loop("serial", "k", const(8), add_j)
    assert kinds(vectorize, inner(const(8), nested)) == ["parallel", "serial", "unroll"]


@pytest.mark.parametrize(("length", "inside"), [(2, "unroll"), (4, "vector")])
def test_iterations_that_read_far_apart_are_not_gathered(length: int, inside: str) -> None:
    """The sum of each channel's pixels over images: gcc took seconds for 64 lanes of 4 copies."""

    def pixels(step: int) -> Loop:
        value = load("x", add(mul(VI, const(step)), VJ))
        return loop("serial", "j", const(length), Accumulate("s", ZERO, "add", value))

    assert kinds(vectorize, *reduction(pixels(length))) == ["vector", "unroll"]
    assert kinds(vectorize, *reduction(pixels(64 * length))) == ["serial", inside]


def test_a_short_outermost_loop_is_not_unrolled() -> None:
    assert kinds(vectorize, loop("parallel", "i", const(3), Store("w", VI, ONE))) == ["vector"]


# --- parallel -------------------------------------------------------------------------------------


def test_a_flat_loop_is_cut_into_blocks() -> None:
    assert (
        after(parallel, loop("vector", "i", N, Store("w", VI, load("x", VI)), note="copy"))
        == """
# copy
for block in parallel((n + 16383) // 16384) strips(n, 16384):
  let start: int64 = block*16384
  for i_in_block in vector(min(16384, n - start)) strip(block, n, 16384):
    let i: int64 = start + i_in_block
    w[i] = x[i]
"""
    )


def test_expensive_loops_have_shorter_blocks() -> None:
    value: Expr = load("x", VI)
    for _ in range(5):
        value = call("tanh", value)
    text = after(parallel, loop("vector", "i", N, Store("w", VI, value)))
    assert "for block in parallel((n + 1023) // 1024) strips(n, 1024):" in text


def test_the_names_of_blocks_are_new() -> None:
    outer = [Let(Var("start"), const(1)), Let(Var("block"), const(2))]
    text = after(parallel, *outer, loop("vector", "i", N, Store("w", VI, ONE)))
    assert "for block_2 in parallel((n + 16383) // 16384) strips(n, 16384):" in text
    assert "let start_2: int64 = block_2*16384" in text


def test_reductions_are_not_cut() -> None:
    total = loop("vector", "i", N, Accumulate("s", ZERO, "add", load("x", VI)))
    assert kinds(parallel, local("s"), Store("s", ZERO, ONE), total) == ["vector"]


def test_nested_parallel_loops_become_serial() -> None:
    assert kinds(parallel, nest(Store("y", FLAT, ONE))) == ["parallel", "serial", "serial"]
    deep = loop("serial", "i", N, nest_of("j", "k"))
    assert kinds(parallel, deep) == ["serial", "serial", "vector"]


def nest_of(outer: str, inner: str) -> Loop:
    store = Store("w", Var(inner), ONE)
    return loop("parallel", outer, C, loop("vector", inner, M, store))


def test_little_work_is_left_to_one_thread() -> None:
    few = loop("parallel", "i", const(10), loop("vector", "j", const(100), Store("w", VJ, ONE)))
    assert kinds(parallel, few) == ["serial", "vector"]
    many = loop("parallel", "i", const(1000), loop("vector", "j", const(1000), Store("w", VJ, ONE)))
    assert kinds(parallel, many) == ["parallel", "vector"]
    assert kinds(parallel, loop("vector", "i", const(1000), Store("w", VI, ONE))) == ["vector"]
    long = loop("vector", "i", const(10**6), Store("w", VI, ONE))
    assert kinds(parallel, long) == ["parallel", "vector"]


def test_loops_under_branches_are_outermost_too() -> None:
    inner = loop("vector", "i", N, Store("w", VI, ONE))
    assert kinds(parallel, If(binary("lt", N, C), (inner,))) == ["parallel", "vector"]


def _work(made: Program) -> str:
    (only,) = body_of(made)
    assert isinstance(only, Loop)
    return expression(work(only))


def test_work_is_in_sizes() -> None:
    made = softmax()
    for change in PASSES:
        if change.name != "short_rows":  # which makes a second kernel
            made = change(made)
    assert _work(made) == "n*(c*2 + (c*19 + 194) + c*9 + 4)"
    cut = parallel(
        program(BUFFERS, loop("vector", "i", mul(N, C), Store("w", VI, ONE)), sizes=(N, C, M))
    )
    assert _work(cut) == "n*c"


def test_work_of_lengths_that_are_values() -> None:
    triangle = loop("parallel", "i", N, loop("serial", "j", VI, Store("w", VJ, ONE)))
    assert _work(program(BUFFERS, triangle, sizes=(N, C, M))) == "n*n"
    gathered = loop(
        "parallel", "i", N, loop("serial", "j", Cast(load("x", VI), INT64), Store("w", VJ, ONE))
    )
    assert _work(program(BUFFERS, gathered, sizes=(N, C, M))) == "n*16"


def test_loops_that_transpose_go_in_squares() -> None:
    across = load("x", add(mul(VJ, N), VI))
    nest_ = loop("parallel", "i", N, loop("parallel", "j", C, Store("y", row("i", "j"), across)))
    text = after(tile, nest_)
    assert "for i_block in parallel((n + 15) // 16) strips(n, 16):" in text
    assert "let i: int64 = i_block*16 + i_in_block" in text
    assert text.count("for ") == 4


def test_loops_that_read_as_they_write_stay() -> None:
    along = load("x", row("i", "j"))
    nest_ = loop("parallel", "i", N, loop("parallel", "j", C, Store("y", row("i", "j"), along)))
    assert "block" not in after(tile, nest_)


def test_work_of_the_last_chunk_is_that_of_a_whole_one() -> None:
    start = Var("start")
    rest = binary("min", C, binary("sub", N, start))
    inner = loop("serial", "j", rest, Accumulate("y", ZERO, "add", load("x", VJ)))
    chunks = loop("parallel", "i", M, Let(start, mul(VI, C)), inner)
    assert "min" not in expression(work(chunks))
    # In strips it was taken for none: such sums were never shared out to threads.
    count = binary("floordiv", binary("add", mul(rest, const(500)), const(127)), const(128))
    strips = loop("serial", "j", count, Accumulate("y", ZERO, "add", load("x", VJ)))
    chunks = loop("parallel", "i", M, Let(start, mul(VI, C)), strips)
    assert expression(work(chunks)) == "m*((c*500 + 127) // 128*2 + 1)"
