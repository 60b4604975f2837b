"""Formulas are data: printed, compared, and given elements at any index by open formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.codegen import ir
from symc.codegen.dtypes import BOOL, FLOAT64, INT64
from symc.graph.dims import Dim
from symc.graph.formulas import Apply, Formula, IndexFormula, Read, own_index
from symc.graph.lowering import At, Write, Written
from symc.graph.node import Tensor
from symc.graph.open_formulas import OpenFormula, replaced

x, m, k = T.vector("x"), T.tensor("float64", (3, 4), "m"), T.lvector("k")
i, j, e, e1 = ir.Var("i[0]"), ir.Var("i[1]"), ir.Var("e[0]", FLOAT64), ir.Var("e[1]", FLOAT64)


def size(dim: Dim) -> ir.Expr:
    return ir.const(dim) if isinstance(dim, int) else ir.Var(repr(dim))


def lowered(node: Tensor) -> Any:
    return node.op.lower(node, size)


def test_a_reversed_axis() -> None:
    found: At = lowered(m[::-1])
    backwards = ir.add(ir.mul(i, ir.const(-1)), ir.const(2))
    assert found == At(Formula((Read(0, (backwards, j)),), e))


def test_a_gather_reads_where_an_element_says() -> None:
    found: At = lowered(x[k])
    where = ir.Var("e[0]", INT64)
    from_the_front = ir.Select(
        ir.Binary("lt", where, ir.const(0), BOOL),
        ir.add(where, ir.Var("x.shape[0]")),
        where,
        INT64,
    )
    assert found == At(Formula((Read(1, (i,)), Read(0, (from_the_front,))), e1))


def test_what_is_joined_is_written() -> None:
    found: Write = lowered(T.concatenate([m, m + 1]))
    value = (Formula((Read(0, (i, j)),), e), Formula((Read(1, (i, j)),), e))
    assert found.parts == (
        Written((3, 4), IndexFormula((), (i, j)), value[0]),
        Written((3, 4), IndexFormula((), (ir.add(i, ir.const(3)), j)), value[1]),
    )


def test_elementwise_ops_share_their_formulas() -> None:
    y = T.vector("y")
    first, second = lowered(x + y), lowered(T.exp(x) + y * y)
    assert first is second
    assert first.element.reads == (Read(0, (i,)), Read(1, (i,)))
    assert isinstance(first.element.value, Apply)
    assert repr(first.element.value) == "Apply(op=Elementwise(add))"


def test_equal_ops_have_equal_lowerings() -> None:
    for build in (
        lambda a: T.roll(a, 1, axis=1), lambda a: a.sum(axis=1), lambda a: a.T, T.diag,
        lambda a: T.cumsum(a, axis=0), lambda a: T.pad(a, 1), lambda a: a[1:].set(0.0),
    ):  # fmt: skip
        one, other = lowered(build(m)), lowered(build(m))
        assert one == other
        assert repr(one) == repr(other)
        assert "<function" not in repr(one)


def test_open_formulas_ask_for_one_element_after_the_other() -> None:
    opened = OpenFormula(lowered(x[k]).element, (ir.const(2),))
    assert opened.next() == (1, (ir.const(2),))
    opened.elements.append(ir.const(-1))
    request = opened.next()
    assert request is not None
    assert request[0] == 0
    opened.elements.append(ir.Const(0.5, FLOAT64))
    assert opened.next() is None
    assert opened.value() == ir.Const(0.5, FLOAT64)


def test_the_own_index_is_one_object() -> None:
    """Open formulas recognise it: most elements are read where the result's stand."""
    assert own_index(2) is own_index(2)
    place = (ir.const(1), ir.Var("row"))
    request = OpenFormula(lowered(T.exp(m)).element, place).next()
    assert request is not None
    assert request[1] is place


def test_arithmetic_is_folded_within_64_bits_only() -> None:
    product = ir.Binary("mul", i, j, INT64)
    assert replaced(product, {"i[0]": ir.const(1)}) == j
    large = ir.const(2**40)
    assert replaced(product, {"i[0]": large, "i[1]": large}) == ir.Binary(
        "mul", large, large, INT64
    )
    less = ir.Binary("sub", i, j, INT64)
    least = ir.const(-(2**63))
    assert replaced(less, {"i[1]": least}) == ir.Binary("sub", i, least, INT64)


def test_inputs_may_be_named_like_loop_variables() -> None:
    """Formulas have variables that no program can name, whatever its inputs are called."""
    named = [T.matrix(name) for name in ("i", "r", "e", "i0", "e0")]
    total = named[0] @ named[1] + T.roll(named[2], 1, axis=1)[::-1] + named[3].T + named[4]
    arrays = np.random.default_rng(0).standard_normal((5, 3, 3))
    i0, r0, e0, i1, e1 = arrays
    expected = i0 @ r0 + np.roll(e0, 1, axis=1)[::-1] + i1.T + e1
    np.testing.assert_allclose(symc.function(named, total)(*arrays), expected)
