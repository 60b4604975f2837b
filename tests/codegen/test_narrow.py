"""Indexes with 32 bits: the same as with 64, for all sizes that the host lets pass."""

from __future__ import annotations

import pytest

from symc.codegen.dtypes import INT32
from symc.codegen.ir import Expr, Kernel, Load, Loop, Store, Var, add, const, mul, sub
from symc.codegen.meaning.closures import ClosureCompiler
from symc.codegen.passes.gpu.limits import limits
from symc.codegen.passes.gpu.narrow import LONGEST, narrow
from symc.codegen.passes.strips import strip_mined
from symc.codegen.passes.walk import expressions, statements
from tests.codegen.programs import F64, N, buffer, load, loop, op, program

VI = Var("i")

INDEXES: dict[str, Expr] = {
    "a quotient of a product": op("floordiv", mul(VI, const(3)), const(7)),
    "a remainder of a product": op("mod", mul(VI, const(5)), const(11)),
    "the least of two products": op("min", mul(VI, const(3)), mul(const(2), N)),
    "a quotient of a sum": op("floordiv", add(mul(VI, const(2)), VI), const(4)),
    "the greatest of differences": op("max", sub(mul(VI, const(4)), N), const(0)),
    "a product of a quotient": mul(op("floordiv", VI, const(32)), const(31)),
}


def value(expr: Expr, known: dict[str, int], *, exact: bool = False) -> int:
    """An expression for these values of names; 32 bits wrap unless it is `exact`."""
    compiler = ClosureCompiler("", {}, exact=exact)
    compute = compiler.expr(expr)
    return int(compute([known[name] for name in compiler.registers]))


def load_of(kernel: Kernel) -> Load:
    """The load of a kernel."""
    found = [e.value for e in statements(kernel.body) if isinstance(e, Store)]
    (only,) = found
    assert isinstance(only, Load)
    return only


@pytest.mark.parametrize("name", INDEXES)
def test_narrow_indexes_are_right_up_to_the_limits(name: str) -> None:
    """``i*3 // 7`` was computed in 32 bits for any i below 2^30."""
    made = program(
        (buffer("x", "input", N), buffer("y", "output", N)),
        loop("grid", "i", N, Store("y", VI, load("x", INDEXES[name]))),
        sizes=(N,),
    )
    (kernel,) = narrow(made).kernels
    index = load_of(kernel).index
    assert index.dtype is INT32
    tested = limits(kernel)
    longest = max(
        n for n in (LONGEST >> shift for shift in range(8))
        if all(value(length, {"n": n}, exact=True) <= LONGEST for length in tested)
    )  # fmt: skip
    for i in (0, 1, longest // 3, longest // 2, longest - 1):
        known = {"n": longest, "i": i}
        assert value(index, known) == value(INDEXES[name], known), (name, known)


def test_products_that_are_divided_are_tested() -> None:
    body = loop("grid", "i", N, Store("y", VI, load("x", INDEXES["a quotient of a product"])))
    made = program((buffer("x", "input", N), buffer("y", "output", N)), body, sizes=(N,))
    assert limits(made.kernels[0]) == [N, mul(N, const(3))]


@pytest.mark.parametrize("length", [2, 4, 16384])
def test_strips_need_no_test_of_their_own(length: int) -> None:
    """That the last one ends with the loop is known from how it was cut."""
    copy = Loop(VI, N, "vector", (Store("y", VI, load("x", VI)),))
    strips = strip_mined(copy, length, "grid", str)
    made = program((buffer("x", "input", N), buffer("y", "output", N)), strips, sizes=(N,))
    (kernel,) = narrow(made).kernels
    assert all(value(limit, {"n": LONGEST}, exact=True) <= LONGEST for limit in limits(kernel))
    wide = [
        expr for stmt in statements(kernel.body) for expr in expressions(stmt)
        if expr.dtype not in (INT32, F64)
    ]  # fmt: skip
    assert wide == []
