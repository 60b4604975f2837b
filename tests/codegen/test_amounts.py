"""Amounts: polynomials over sizes, and the bytes and operations of kernels."""

from __future__ import annotations

from symc.codegen.cost.amounts import NOTHING, Amount
from symc.codegen.cost.work import Works, sizes_of
from symc.codegen.dtypes import BOOL, FLOAT64, INT32, INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Buffer,
    Cast,
    Const,
    If,
    Kernel,
    Launch,
    Length,
    Let,
    Load,
    Loop,
    Param,
    Program,
    Size,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
    sub,
)
from symc.codegen.passes.strips import StripMining, strip_mined
from symc.codegen.passes.walk import substitute

N, M = Var("n"), Var("m")


def test_polynomials() -> None:
    n, m = Amount.of(N), Amount.of(M)
    assert str(NOTHING) == "0"
    assert str(n + n + m * n) == "m*n + 2*n"
    assert Amount.of(sub(N, N)) == NOTHING
    assert Amount.of(add(mul(N, const(3)), const(4))).value({"n": 5}) == 19
    assert (n * m).value({"n": 5}) is None
    odd = Amount.of(binary("max", N, M))
    assert str(odd + odd) == "2*max(n, m)"
    assert odd.value({"n": 5, "m": 7}) == 7
    assert str(n * n * m - 2 * n + 3) == "m*n**2 - 2*n + 3"
    assert str(n - m) == "n - m"
    half = Amount.of(binary("floordiv", add(N, const(1)), const(2)))
    assert str(half * n) == "((n + 1) // 2)*n"
    assert half.value({"n": 4}) == 2
    logs = Amount.log2(N) * n
    assert str(logs) == "log2(n)*n"
    assert logs.value({"n": 8}) == 24
    assert logs.value({"n": 0}) == 0


def row_sums() -> Program:
    """``y[i] = sum of x[i, :] * 2``, in blocks of 4 rows."""
    cut = StripMining(Var("block"), N, const(4))
    i = cut.at(Var("k"))
    x = Load("x", add(mul(i, M), Var("j")), FLOAT64)
    total = Buffer("total", FLOAT64, (), "local")
    inner = Loop(
        Var("j"), M, "serial",
        (Accumulate("total", const(0), "add", binary("mul", x, Const(2.0, FLOAT64))),),
    )  # fmt: skip
    rows = cut.inner(
        Var("k"), "serial",
        (Alloc(total), Store("total", const(0), Const(0.0, FLOAT64)), inner,
         Store("y", i, Load("total", const(0), FLOAT64))),
    )  # fmt: skip
    body = (cut.loop("parallel", (rows,)),)
    params = Param("x", FLOAT64, False), Param("y", FLOAT64, True)
    return Program(
        "sums",
        (Size(N, Length("x", 0)), Size(M, Length("x", 1))),
        (Buffer("x", FLOAT64, (N, M), "input"), Buffer("y", FLOAT64, (N,), "output")),
        (Kernel("sums", params, (N, M), body),),
        (Launch("sums", ("x", "y"), (N, M)),),
    )


def test_what_a_kernel_moves_and_computes() -> None:
    program = row_sums()
    launch = program.steps[0]
    assert isinstance(launch, Launch)
    work = Works(program).of(launch)
    assert str(work.read) == "8*m*n"
    assert str(work.written) == "8*n"
    assert str(work.operations) == "2*m*n"
    sizes = sizes_of(program, {("x", 0): 3, ("x", 1): 5})
    assert sizes == {"n": 3, "m": 5}
    assert work.read.value(sizes) == 120


def test_indexes_of_devices_are_no_operations() -> None:
    """``y[i] = x[i] * 2`` in packs of 2, with 32-bit indexes."""
    n, pack = Var("n", INT32), Var("pack", INT32)
    two = Const(2, INT32)
    start, i = Var("start", INT32), Var("i", INT32)
    cut = StripMining(pack, n, two, start)
    length = Cast(cut.count, INT64)
    index = cut.at(i)
    value = Binary("mul", Load("x", index, FLOAT64), Const(2.0, FLOAT64), FLOAT64)
    inside = If(Binary("lt", index, n, BOOL), (Store("y", index, value),))
    body = (
        cut.let,
        Loop(i, length, "vector", (inside,)),
    )
    params = Param("x", FLOAT64, False), Param("y", FLOAT64, True)
    program = Program(
        "twice",
        (Size(N, Length("x", 0)),),
        (Buffer("x", FLOAT64, (N,), "input"), Buffer("y", FLOAT64, (N,), "output")),
        (Kernel("twice", params, (n,), (cut.loop("grid", body),)),),
        (Launch("twice", ("x", "y"), (N,)),),
    )
    launch = program.steps[0]
    assert isinstance(launch, Launch)
    assert str(Works(program).of(launch).operations) == "n"


def test_the_lengths_of_strips_add_up() -> None:
    """Of strips that are cut again, and of parts of one: ``n``, whatever is left over in each."""
    x, y = Load("x", Var("i"), FLOAT64), Buffer("y", FLOAT64, (N,), "output")
    loop = Loop(Var("i"), N, "parallel", (Store("y", Var("i"), binary("mul", x, x)),))
    once = strip_mined(loop, 16, "parallel", str)
    (first, inner) = once.body
    assert isinstance(inner, Loop)
    again = strip_mined(inner, 4, "lane", lambda name: f"{name}_again")
    part = binary("floordiv", inner.extent, const(3))
    rest = sub(inner.extent, mul(part, const(3)))
    thirds = [
        Loop(Var(f"k{k}"), n, "serial", (substitute_in(inner, Var(f"k{k}")),))
        for k, n in enumerate((part, part, part, rest))
    ]
    for block in (once.body, (first, again), (first, *thirds)):
        params = Param("x", FLOAT64, False), Param("y", FLOAT64, True)
        body = (Loop(once.var, once.extent, "parallel", block, cut=once.cut),)
        program = Program(
            "squares", (Size(N, Length("x", 0)),),
            (Buffer("x", FLOAT64, (N,), "input"), y),
            (Kernel("squares", params, (N,), body),),
            (Launch("squares", ("x", "y"), (N,)),),
        )  # fmt: skip
        launch = program.steps[0]
        assert isinstance(launch, Launch)
        assert str(Works(program).of(launch).operations) == "n"


def substitute_in(loop: Loop, place: Var) -> Store:
    """The store in a loop over a strip, at another place of it."""
    let, store = loop.body
    assert isinstance(let, Let)
    assert isinstance(store, Store)
    at = {let.var.name: substitute(let.value, {loop.var.name: place})}
    return Store(store.buffer, substitute(store.index, at), substitute(store.value, at))
