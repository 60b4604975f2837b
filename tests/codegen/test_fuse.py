"""fuse: loops that merge and loops that must not, before and after as text."""

from symc.codegen.dtypes import FLOAT16, FLOAT32, INT8, INT64, DType
from symc.codegen.ir import (
    Accumulate,
    Cast,
    Const,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Select,
    Stmt,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
)
from symc.codegen.passes.loops.fuse import fuse
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
    shown,
)

VI, VJ, VK = Var("i"), Var("j"), Var("k")
ONE = Const(1.0, F64)
BUFFERS = [
    buffer("x", "input", N, C), buffer("y", "output", N, C), buffer("z", "output", N, C),
    buffer("w", "output", N),
]  # fmt: skip


def fused(*body: Stmt) -> str:
    made = program(BUFFERS, *body)
    verify(made)
    after = fuse(made)
    verify(after)
    return shown(after)


def inside(*body: Stmt) -> Loop:
    """In a loop over rows, where parallel loops may become serial."""
    return loop("parallel", "i", N, *body)


def write(target: str, var: str, value: str = "x", shift: int = 0) -> Loop:
    """``target[v] = value[v + shift] + 1`` for all v."""
    source = load(value, add(Var(var), const(shift)))
    return loop("parallel", var, N, Store(target, Var(var), op("add", source, ONE)))


def test_a_stored_value_is_used_by_name() -> None:
    assert (
        fused(write("y", "j"), write("z", "k", "y"))
        == """
for j in parallel(n):
  let y_value: float64 = x[j] + 1.0
  y[j] = y_value
  z[j] = y_value + 1.0
"""
    )


def test_loads_of_other_elements_keep_loops_apart() -> None:
    assert fused(write("y", "j"), write("z", "k", "y", 1)).count("for ") == 2


def test_stores_over_what_is_still_needed_keep_loops_apart() -> None:
    assert fused(write("y", "j", "z", 1), write("z", "k")).count("for ") == 2
    assert fused(write("y", "j", "z", 0), write("z", "k")).count("for ") == 1


def test_loops_over_other_lengths_stay_apart() -> None:
    other = loop("parallel", "k", C, Store("z", VK, load("y", VK)))
    assert fused(write("y", "j"), other).count("for ") == 2


def test_loops_without_a_common_buffer_stay_apart() -> None:
    clear = loop("parallel", "k", N, Store("z", VK, ONE))
    assert fused(write("y", "j"), clear).count("for ") == 2


def test_more_than_two_loops() -> None:
    assert fused(write("y", "j"), write("z", "k", "y"), write("w", "l", "z")).count("for ") == 1


def test_a_reduction_joins_a_parallel_loop_inside_a_loop() -> None:
    total = loop("serial", "k", C, Accumulate("s", ZERO, "add", load("e", VK)))
    fill = loop("parallel", "j", C, Store("e", VJ, load("x", row("i", "j"))))
    assert fused(
        inside(local("e", C), fill, local("s"), Store("s", ZERO, ONE), total,
               Store("w", VI, load("s", ZERO)))
    ) == """
for i in parallel(n):
  alloc s: float64[]
  s[0] = 1.0
  for j in serial(c):
    let e_value: float64 = x[i*c + j]
    s[0] add= e_value
  w[i] = s[0]
"""  # fmt: skip


def test_a_sum_that_only_converts_a_stored_row_stays_alone() -> None:
    def totalled(kind: DType) -> str:
        element: Expr = load("e", VK, kind)
        if kind is not F64:
            element = Cast(element, F64)
        value: Expr = load("x", row("i", "j"))
        if kind is not F64:
            value = Cast(value, kind)
        return fused(
            inside(
                local("e", C, dtype=kind), loop("parallel", "j", C, Store("e", VJ, value)),
                local("s"), Store("s", ZERO, ONE),
                loop("serial", "k", C, Accumulate("s", ZERO, "add", element)),
                Store("w", VI, load("s", ZERO)),
            )
        )  # fmt: skip

    assert totalled(FLOAT32).count("for ") == 3
    assert totalled(FLOAT16).count("for ") == 2
    assert totalled(F64).count("for ") == 2


def test_a_fold_of_a_row_computed_from_narrower_numbers_stays_alone() -> None:
    """gcc took 64 doubles at a time, as many as fit there of the bools, and folded them singly."""

    def folded(kind: DType) -> str:
        chosen = Select(
            binary("gt", load("b", ZERO, kind), Const(0, kind)), load("x", row("i", "j")), ONE, F64
        )
        return fused(
            inside(
                local("b", C, dtype=kind),
                loop("parallel", "l", C, Store("b", Var("l"), Const(1, kind))),
                local("e", C), loop("parallel", "j", C, Store("e", VJ, chosen)),
                local("s"), Store("s", ZERO, ONE),
                loop("serial", "k", C, Accumulate("s", ZERO, "min", load("e", VK))),
                Store("w", VI, load("s", ZERO)),
            )
        )  # fmt: skip

    assert folded(INT8).count("for ") == 4
    assert folded(INT64).count("for ") == 3


def test_a_reduction_does_not_cost_an_outermost_loop_its_threads() -> None:
    total = loop("serial", "k", N, Accumulate("s", ZERO, "add", load("y", VK)))
    text = fused(
        local("s"), Store("s", ZERO, ONE), write("y", "j"), total, Store("w", ZERO, load("s", ZERO))
    )
    assert "for j in parallel(n)" in text
    assert "for k in serial(n)" in text


def test_two_reductions_share_a_loop() -> None:
    body: list[Stmt] = []
    for name, var in (("s", "j"), ("t", "k")):
        value = load("x", Var(var))
        body += [
            local(name),
            Store(name, ZERO, ONE),
            loop("serial", var, N, Accumulate(name, ZERO, "add", value)),
        ]
    result = op("add", load("s", ZERO), load("t", ZERO))
    assert (
        fused(*body, Store("w", ZERO, result))
        == """
alloc s: float64[]
s[0] = 1.0
alloc t: float64[]
t[0] = 1.0
for j in serial(n):
  s[0] add= x[j]
  t[0] add= x[j]
w[0] = s[0] + t[0]
"""
    )


def test_a_reduction_that_is_needed_keeps_loops_apart() -> None:
    total = loop("serial", "j", C, Accumulate("s", ZERO, "add", load("x", VJ)))
    scale = loop("parallel", "k", C, Store("y", VK, op("div", load("x", VK), load("s", ZERO))))
    assert fused(inside(local("s"), Store("s", ZERO, ONE), total, scale)).count("for ") == 3


def test_statements_between_go_after_both_loops_if_they_need_the_first() -> None:
    needs = Store("w", ZERO, load("y", ZERO))
    after = Let(Var("after", F64), load("w", ZERO))
    uses = Store("w", const(1), Var("after", F64))
    before = Let(Var("before", F64), load("x", ZERO))
    assert (
        fused(write("y", "j"), needs, before, after, uses, write("z", "k", "y"))
        == """
let before: float64 = x[0]
for j in parallel(n):
  let y_value: float64 = x[j] + 1.0
  y[j] = y_value
  z[j] = y_value + 1.0
let w_value: float64 = y[0]
w[0] = w_value
let after: float64 = w_value
w[1] = after
"""
    )


def test_statements_between_that_both_loops_need_keep_loops_apart() -> None:
    needs = Store("w", ZERO, load("y", ZERO))
    reads = loop("parallel", "k", N, Store("z", VK, op("add", load("y", VK), load("w", ZERO))))
    assert fused(write("y", "j"), needs, reads).count("for ") == 2
    named = Let(Var("t", F64), load("y", ZERO))
    uses = loop("parallel", "k", N, Store("z", VK, op("add", load("y", VK), Var("t", F64))))
    assert fused(write("y", "j"), named, uses).count("for ") == 2
    over = loop("parallel", "k", N, Store("w", VK, load("y", VK)))
    assert fused(write("y", "j"), needs, over).count("for ") == 2
    asks = Let(Var("old", F64), load("z", ZERO))
    moved = Store("y", ZERO, Var("old", F64))
    assert fused(write("y", "j"), asks, moved, write("z", "k", "y")).count("for ") == 2
    spoils = Store("x_", ZERO, ONE)
    first = loop("parallel", "j", N, Store("y", VJ, load("x_", VJ)))
    both = loop("parallel", "k", N, Store("z", VK, op("add", load("y", VK), load("x_", VK))))
    text = fused(local("x_", N), write("x_", "q"), first, spoils, both)
    assert text.count("for ") == 2


def test_a_branch_between_keeps_loops_apart() -> None:
    branch = If(binary("lt", N, C), (Store("w", ZERO, ONE),))
    assert fused(write("y", "j"), branch, write("z", "k", "y")).count("for ") == 2


def test_a_recurrence_does_not_join() -> None:
    place = row("i", "k")
    value = op("add", load("y", add(place, const(-1))), load("x", place))
    recurrence = loop("serial", "k", C, Store("y", place, value))
    clear = loop("parallel", "j", C, Store("w", VJ, load("x", VJ)))
    assert fused(inside(clear, recurrence)).count("for ") == 3


def test_nested_loops_over_the_same_rows_merge_at_both_levels() -> None:
    def rows(target: str, source: str, i: str, j: str) -> Loop:
        value = op("add", load(source, row(i, j)), load("w", Var(i)))
        return loop("parallel", i, N, loop("parallel", j, C, Store(target, row(i, j), value)))

    assert (
        fused(rows("y", "x", "i", "j"), rows("z", "y", "k", "l"))
        == """
for i in parallel(n):
  for j in parallel(c):
    let y_value: float64 = x[i*c + j] + w[i]
    y[i*c + j] = y_value
    z[i*c + j] = y_value + w[i]
"""
    )


def piece(start: int, length: int, i: str, j: str, width: int = 8) -> Loop:
    """Writes some columns of rows of `width`."""
    at = add(mul(Var(i), const(width)), add(Var(j), const(start)))
    store = Store("y", at, op("add", load("x", at), ONE))
    return loop("parallel", i, N, loop("parallel", j, const(length), store))


def test_parts_of_a_row_are_written_by_one_loop() -> None:
    text = fused(piece(0, 4, "i", "j"), piece(4, 4, "k", "l"))
    assert text.count("for ") == 2
    # y[i*8 + j] and y[i*8 + (j + 4)] are of two halves
    assert text.count("y[") == 2


def test_parts_of_a_row_of_other_lengths_share_its_loop() -> None:
    assert fused(piece(0, 4, "i", "j"), piece(4, 3, "k", "l")).count("for ") == 3


def test_overlapping_parts_of_a_row_stay_apart() -> None:
    assert fused(piece(0, 4, "i", "j"), piece(3, 4, "k", "l")).count("for ") == 3


def test_parts_that_reach_into_the_next_row_stay_apart() -> None:
    assert fused(piece(0, 4, "i", "j"), piece(5, 4, "k", "l")).count("for ") == 4


def test_transposed_rows_do_not_merge() -> None:
    first = loop("parallel", "i", N, loop("parallel", "j", N, Store("y", add(mul(VI, N), VJ), ONE)))
    value = load("y", add(mul(Var("l"), N), VK))
    second = loop(
        "parallel", "k", N,
        loop("parallel", "l", N, Store("z", add(mul(VK, N), Var("l")), value)),
    )  # fmt: skip
    assert fused(first, second).count("for ") == 4


def test_indexes_by_name_are_seen_through() -> None:
    def named(target: str, source: str, var: str, name: str) -> Loop:
        at = Var(name)
        value = op("add", load(source, at), ONE)
        return loop(
            "parallel", var, N, Let(at, add(mul(Var(var), const(2)), const(1))),
            Store(target, at, value),
        )  # fmt: skip

    # i*2 + 1 is one column of rows of 2
    assert fused(named("y", "x", "j", "p"), named("z", "y", "k", "q")).count("for ") == 1


def test_gathered_elements_keep_loops_apart() -> None:
    at = Cast(load("x", VK), Var("i").dtype)
    gather = loop("parallel", "k", N, Store("z", VK, load("y", at)))
    assert fused(write("y", "j"), gather).count("for ") == 2


def test_half_precision_gives_back_the_rounded_value() -> None:
    value = Cast(op("add", load("x", VJ), ONE), FLOAT16)
    back = Cast(Load("h", VJ, FLOAT16), FLOAT32)
    text = fused(
        local("h", N, dtype=FLOAT16),
        loop("parallel", "j", N, Store("h", VJ, value), Store("y", VJ, Cast(back, F64))),
    )
    assert (
        text
        == """
for j in parallel(n):
  let h_value: float64 = x[j] + 1.0
  y[j] = float64(float32(float16(h_value)))
"""
    )


def test_a_store_at_another_index_ends_what_is_known() -> None:
    text = fused(
        local("e", N), Store("e", ZERO, load("x", ZERO)), Store("e", N, ONE),
        Store("y", ZERO, load("e", ZERO)),
    )  # fmt: skip
    assert text.endswith("y[0] = e[0]\n")


def test_an_index_that_is_loaded_is_not_trusted() -> None:
    at = Cast(load("y", ZERO), N.dtype)
    text = fused(Store("z", at, ONE), Store("y", ZERO, ONE), Store("w", ZERO, load("z", at)))
    assert text.endswith("w[0] = z[int64(1.0)]\n")


def test_what_a_loop_changes_is_not_known_in_it_or_after_it() -> None:
    text = fused(
        local("s"), Store("s", ZERO, ONE),
        loop("serial", "j", N, Store("w", VJ, load("s", ZERO)), Accumulate("s", ZERO, "add", ONE)),
        Store("y", ZERO, load("s", ZERO)),
    )  # fmt: skip
    assert (
        text
        == """
alloc s: float64[]
s[0] = 1.0
for j in serial(n):
  w[j] = s[0]
  s[0] add= 1.0
y[0] = s[0]
"""
    )


def test_what_is_known_outside_is_known_in_branches_but_not_the_reverse() -> None:
    text = fused(
        local("s"), Store("s", ZERO, ONE),
        If(
            binary("lt", N, C),
            (Store("y", ZERO, load("s", ZERO)), Store("s", ZERO, Const(2.0, F64))),
        ),
        Store("z", ZERO, load("s", ZERO)),
    )  # fmt: skip
    assert "  y[0] = 1.0\n" in text
    assert text.endswith("z[0] = s[0]\n")


def test_a_flat_loop_does_not_join_one_with_a_long_loop_in_it() -> None:
    """It could no longer run in vector registers."""
    for length, loops in ((C, 4), (const(3), 3)):
        inner = loop("serial", "l", length, Accumulate("z", VK, "add", load("y", VK)))
        nested = loop("parallel", "k", N, Store("z", VK, ONE), inner)
        outer = loop("serial", "i", C, write("y", "j"), nested)
        assert fused(outer).count("for ") == loops


def test_what_is_stored_over_unread_is_not_stored() -> None:
    """A cell of Gauss-Seidel's that is increased and then divided was written twice."""
    three = Store("y", VI, Const(3.0, F64))
    body = inside(Accumulate("y", VI, "add", ONE), Store("y", VI, ONE), Store("z", VI, ONE), three)
    assert fused(body) == "\nfor i in parallel(n):\n  z[i] = 1.0\n  y[i] = 3.0\n"


def test_what_is_read_before_it_is_stored_over_stays() -> None:
    again = Store("y", VI, op("add", load("y", add(VI, const(1))), ONE))
    for kept in (
        (Store("y", VI, ONE), again),
        (Store("y", VI, ONE), Store("z", VI, load("y", VK)), Store("y", VI, ONE)),
        (Store("y", VI, ONE), Accumulate("y", VI, "add", ONE)),
        (Store("y", VI, ONE), Store("y", add(VI, const(1)), ONE)),
    ):
        body = loop("serial", "k", N, loop("serial", "i", N, *kept))
        assert fused(body).count("y[i") == shown(program(BUFFERS, body)).count("y[i")
