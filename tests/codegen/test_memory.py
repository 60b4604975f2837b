"""The plan of the workspace: which arrays share memory, and that results stay right."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from symc.codegen.dtypes import BOOL, FLOAT32, FLOAT64, INT64, DType
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
    Measure,
    Param,
    Pointer,
    Program,
    Repeat,
    Size,
    Step,
    Store,
    Var,
    binary,
    const,
    mul,
)
from symc.codegen.passes.kernels.memory import (
    WorkspacePlan,
    best_slot,
    bytes_of,
    live_ranges,
    plan_workspace,
)
from tests.codegen.compiled import build, caller
from tests.codegen.programs import ZERO, C, N, buffer, load, local, loop, op

INDEX, M = Var("i"), Var("m")


def copy(name: str = "copy") -> Kernel:
    """``q = p + 1`` of a given length."""
    body = (
        loop("serial", "i", N, Store("q", INDEX, op("add", load("p", INDEX), Const(1.0, FLOAT64)))),
    )
    return Kernel(name, (Param("p", FLOAT64, False), Param("q", FLOAT64, True)), (N,), body)


def chain(lengths: list[Expr]) -> Program:
    """x -> t0 -> t1 ... -> y, of which the first element only matters."""
    temps = [Buffer(f"t{k}", FLOAT64, (length,), "temp") for k, length in enumerate(lengths)]
    names = ["x", *(temp.name for temp in temps), "y"]
    return Program(
        "chain",
        (Size(N, Length("x", 0)), Size(C, Length("x", 1))),
        (buffer("x", "input", N, C), *temps, buffer("y", "output", const(1))),
        (copy(),),
        tuple(Launch("copy", pair, (const(1),)) for pair in itertools.pairwise(names)),
    )


def tenants(found: WorkspacePlan) -> list[list[str]]:
    return [[tenant.name for tenant in slot.tenants] for slot in found.slots]


def test_two_slots_are_enough_for_a_chain() -> None:
    made = chain([N] * 6)
    assert tenants(plan_workspace(made)) == [["t0", "t2", "t4"], ["t1", "t3", "t5"]]
    f = caller(made, build(made))
    assert f(np.zeros((3, 2)))[0] == 7


def test_a_slot_of_the_same_size_is_preferred() -> None:
    """t3 finds the slots of t0 (N) and t1 (C) free and takes that of its own size."""
    made = chain([N, C, mul(N, C), C])
    assert tenants(plan_workspace(made)) == [["t0", "t2"], ["t1", "t3"]]
    made = chain([const(4), const(1000), const(5), const(900)])
    assert tenants(plan_workspace(made)) == [["t0", "t2"], ["t1", "t3"]]


@pytest.mark.parametrize("number", range(30))
def test_no_two_live_temporaries_share(number: int, seed: int) -> None:
    rng = random.Random(1000 * seed + number)
    lengths: tuple[Expr, ...] = (N, C, mul(N, C), const(7))
    temps = [
        Buffer(f"t{k}", rng.choice((FLOAT32, FLOAT64)), (rng.choice(lengths),), "temp")
        for k in range(12)
    ]
    steps: list[Step] = []
    written: list[str] = []
    for temp in temps:
        sources = [name for name in written if rng.random() < 0.3]
        steps.append(Launch("k", (*sources, temp.name), ()))
        written.append(temp.name)
    made = Program("random", (Size(N, const(3)), Size(C, const(4))), tuple(temps), (), tuple(steps))
    lives = live_ranges(made)
    found = plan_workspace(made)
    assert sorted(itertools.chain(*tenants(found))) == sorted(temp.name for temp in temps)
    for slot in found.slots:
        for first, second in itertools.pairwise(slot.tenants):
            assert lives[first.name][1] < lives[second.name][0], f"seed {seed}, number {number}"


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1)])
def test_lengths_of_zero(shape: tuple[int, int]) -> None:
    temps = [buffer("t", "temp", N), buffer("u", "temp", mul(N, C))]
    made = Program(
        "zero",
        (Size(N, Length("x", 0)), Size(C, Length("x", 1))),
        (buffer("x", "input", N, C), *temps, buffer("y", "output", N)),
        (copy(),),
        (
            Launch("copy", ("x", "t"), (binary("min", N, mul(N, C)),)),
            Launch("copy", ("t", "u"), (binary("min", N, mul(N, C)),)),
            Launch("copy", ("u", "y"), (binary("min", N, mul(N, C)),)),
        ),
    )
    (y,) = caller(made, build(made))(np.zeros(shape))
    assert y.shape == (shape[0],)
    if shape[1]:
        assert np.array_equal(y, np.full(shape[0], 3.0))


def test_rows_that_nothing_reads_later_have_memory_during_the_loop() -> None:
    """It was allocated within each round, after the rows: they began at a null pointer."""
    t = Var("t")
    place = Pointer("rows", mul(t, N))
    made = Program(
        "dead",
        (Size(N, Length("x", 0)), Size(M, None), Size(t, None)),
        (
            buffer("x", "input", N), Buffer("k", INT64, (), "input"),
            buffer("rows", "temp", mul(M, N)), Buffer("row", FLOAT64, (N,), "row", place),
            buffer("y", "output", N),
        ),
        (copy(),),
        (
            Measure("m", "k"),
            Repeat("t", M, (Launch("copy", ("x", "row"), (N,)),)),
            Launch("copy", ("x", "y"), (N,)),
        ),
    )  # fmt: skip
    assert live_ranges(made)["rows"] == (1, 3)  # from the loop's beginning to its end
    (y,) = caller(made, build(made))(np.zeros(3), np.array(4))
    assert np.array_equal(y, np.ones(3))


def test_rows_whose_number_follows_from_the_round_have_memory_in_the_round() -> None:
    """It was allocated before the loop, by a length that only a round has."""
    i, t = Var("i"), Var("t")
    place = Pointer("wide", mul(binary("sub", M, binary("add", t, const(1))), N))
    made = Program(
        "rounds",
        (
            Size(N, Length("x", 0)), Size(i, None), Size(M, binary("add", i, const(1))),
            Size(t, None),
        ),
        (
            buffer("x", "input", N), buffer("rows", "temp", mul(i, N)),
            Buffer("row", FLOAT64, (N,), "row", Pointer("rows", mul(binary("sub", i, t), N))),
            buffer("wide", "temp", mul(M, N)), Buffer("part", FLOAT64, (N,), "row", place),
            buffer("y", "output", N),
        ),
        (copy(),),
        (
            Repeat("i", const(3), (
                Repeat("t", i, (Launch("copy", ("x", "row"), (const(0),)),)),
                Repeat("t", M, (Launch("copy", ("x", "part"), (N,)),)),
            )),
            Launch("copy", ("x", "y"), (N,)),
        ),
    )  # fmt: skip
    late = {each.buffer.name: (each.first, each.last) for each in plan_workspace(made).late}
    assert late == {"rows": (1, 6), "wide": (1, 6)}


@pytest.mark.parametrize("taken", [True, False])
def test_what_both_sides_of_a_branch_write_has_memory_in_both(taken: bool) -> None:
    """Of what nothing reads later it was allocated in the first side alone."""
    write = (Launch("copy", ("x", "t"), (binary("min", N, M),)),)
    made = Program(
        "sides",
        (Size(N, Length("x", 0)), Size(M, None)),
        (
            buffer("x", "input", N), Buffer("k", INT64, (), "input"),
            Buffer("c", BOOL, (), "input"), Buffer("count", INT64, (), "temp"),
            buffer("t", "temp", M), buffer("y", "output", N),
        ),
        (copy(), Kernel("set", (Param("p", INT64, False), Param("q", INT64, True)), (), (
            Store("q", ZERO, Load("p", ZERO, INT64)),
        ))),
        (
            Launch("set", ("k", "count"), ()),
            Measure("m", "count"),
            Branch("c", write, write),
            Launch("copy", ("x", "y"), (N,)),
        ),
    )  # fmt: skip
    assert live_ranges(made)["t"] == (2, 5)  # from the branch's beginning to its end
    assert [late.buffer.name for late in plan_workspace(made).late] == ["t"]
    (y,) = caller(made, build(made))(np.zeros(3), np.array(4), np.array(taken))
    assert np.array_equal(y, np.ones(3))


def first_nonnegative(role_of_k: str) -> Program:
    """``y = zeros(k)`` where k is an input, through a temporary of that length."""
    body = (loop("serial", "i", N, Store("q", INDEX, Const(2.0, FLOAT64))),)
    return Program(
        "fill",
        (Size(M, None), Size(C, mul(M, const(2)))),
        (
            Buffer("k", INT64, (), "input"), buffer("t", "temp", M), buffer("y", "output", C),
        ),
        (Kernel("fill", (Param("q", FLOAT64, True),), (N,), body), copy()),
        (
            Measure("m", "k"),
            Check(binary("ge", M, const(0)), 4, role_of_k),
            Launch("fill", ("t",), (M,)),
            Launch("fill", ("y",), (C,)),
            Launch("copy", ("t", "y"), (M,)),
        ),
    )  # fmt: skip


def test_a_length_from_an_input_is_known_before() -> None:
    made = first_nonnegative("k")
    found = plan_workspace(made)
    assert found.leading == 2
    assert found.early == {"m", "c"}
    assert not found.late
    f = caller(made, build(made))
    assert np.array_equal(f(2)[0], [3, 3, 2, 2])
    assert np.array_equal(f(0)[0], [])
    from tests.codegen.compiled import Failed

    with pytest.raises(Failed) as caught:
        f(-1)
    assert caught.value.code == 4


def late_program(dtype: DType = INT64) -> Program:
    """A length that a kernel computes, for a temporary, scratch memory and an output."""
    count = (Store("c", ZERO, Load("k", ZERO, INT64)),)
    use = (
        loop(
            "parallel", "i", M,
            local("s", M),
            loop("serial", "j", M, Store("s", Var("j"), load("t", Var("j")))),
            Store("y", INDEX, load("s", INDEX)),
        ),
    )  # fmt: skip
    fill = (loop("serial", "i", M, Store("t", INDEX, op("add", op("add", Const(1.0, FLOAT64), Const(
        0.5, FLOAT64)), Const(0.0, FLOAT64)))),)  # fmt: skip
    return Program(
        "late",
        (Size(M, None),),
        (
            Buffer("k", INT64, (), "input"), Buffer("c", dtype, (), "temp"),
            buffer("t", "temp", M), buffer("y", "output", M),
        ),
        (
            Kernel("count", (Param("k", INT64, False), Param("c", INT64, True)), (), count),
            Kernel("fill", (Param("t", FLOAT64, True),), (M,), fill),
            Kernel("use", (Param("t", FLOAT64, False), Param("y", FLOAT64, True)), (M,), use),
        ),
        (
            Launch("count", ("k", "c"), ()),
            Measure("m", "c"),
            Launch("fill", ("t",), (M,)),
            Check(binary("ne", M, const(13)), 6),
            Launch("use", ("t", "y"), (M,)),
        ),
    )  # fmt: skip


def test_what_is_measured_late_is_allocated_late() -> None:
    made = late_program()
    found = plan_workspace(made)
    assert found.leading == 0
    assert [late.buffer.name for late in found.late] == ["t"]
    f = caller(made, build(made))
    from tests.codegen.compiled import Failed

    for threads in (1, 3):
        f.threads = threads
        for length in (0, 1, 700):
            assert np.array_equal(f(length)[0], np.full(length, 1.5))
        for _ in range(3):
            with pytest.raises(Failed):
                f(13)
    with pytest.raises(MemoryError):
        f(1 << 58)


def _best(free: list[list[Buffer]], buffer: Buffer) -> list[Buffer]:
    every = [buffer, *(tenant for slot in free for tenant in slot)]
    return best_slot(free, buffer, {each.name: bytes_of(each) for each in every})


def test_small_arrays_leave_large_slots_to_large_ones() -> None:
    """A transformer's step took 1.3 times the memory of what lived at once, as any would do."""
    large = [Buffer("large", FLOAT64, (N, M), "temp")]
    small = [Buffer("small", FLOAT64, (N,), "temp")]
    free = [small, large]
    assert _best(free, Buffer("x", FLOAT32, (N,), "temp")) is small
    assert _best(free, Buffer("x", FLOAT32, (N, M), "temp")) is large
    assert _best(free, Buffer("x", FLOAT64, (N, N, M), "temp")) is large
    assert _best([large, small], Buffer("x", FLOAT64, (const(3), M), "temp")) is large
