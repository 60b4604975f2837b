"""Run-time conditions: those checked, those proved instead, and their messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, DivisionByZero
from symc.graph.node import Tensor
from symc.tensor.checked import Checked
from symc.tensor.checks import bounds
from tests.near import assert_near
from tests.ops.harness import same
from tests.ops.lowering_check import enforce


def requirements(node: Tensor) -> int:
    """How many conditions a node has."""
    return len(list(node.op.require(node)))


# --- arithmetic -----------------------------------------------------------------------------------

DIVISIONS: list[tuple[str, Callable[..., Any]]] = [
    ("floordiv", lambda x, y: x // y),
    ("mod", lambda x, y: x % y),
]


@pytest.mark.parametrize(("name", "build"), DIVISIONS, ids=[name for name, _ in DIVISIONS])
@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64"])
def test_division_by_zero(name: str, build: Callable[..., Any], dtype: str) -> None:
    x, y = T.vector("x", dtype), T.vector("y", dtype)
    z = build(x, y)
    function = symc.function([x, y], z)
    left, right = np.array([7, 9], dtype), np.array([2, 4], dtype)
    same(function(left, right), build(left, right), 0.0)
    with pytest.raises(DivisionByZero) as caught:
        function(left, np.array([2, 0], dtype))
    assert str(caught.value).splitlines()[0] == f"{name}: integer division by zero"
    assert str(caught.value).splitlines()[-1] == f"  at     {z.where}"
    with pytest.raises(ZeroDivisionError):
        enforce([z], {x: left, y: right * 0})


@pytest.mark.parametrize(("name", "build"), DIVISIONS, ids=[name for name, _ in DIVISIONS])
def test_what_divides_nothing_may_be_zero(name: str, build: Callable[..., Any]) -> None:
    x, d = T.lvector("x"), T.lscalar("d")
    z = build(x, d)
    function = symc.function([x, d], z)
    assert function(np.zeros(0, np.int64), 0).shape == (0,)
    with pytest.raises(DivisionByZero):
        function(np.ones(1, np.int64), 0)
    assert requirements(build(T.tensor("int64", (0,)), d)) == 0
    assert requirements(build(T.tensor("int64", (2,)), d)) == 1


def test_divisors_that_are_never_zero_are_not_checked() -> None:
    x, n = T.lvector("x"), T.matrix("m").shape[1]
    for divisor in (2, -3, np.array([1, 2, -1]), T.maximum(n, 1), n + 1, -1 - n, T.arange(1, 4)):
        assert requirements(T.tensor("int64", (3,)) // divisor) == 0, divisor
    for divisor in (0, n, x, T.arange(3), T.maximum(x, -1)):
        assert requirements(T.tensor("int64", (3,)) % divisor) >= 1, divisor
    assert requirements(T.vector("f") // T.vector("g")) == 1  # only that lengths agree
    assert requirements(T.vector("f") // T.scalar("s")) == 0


def test_negative_exponents() -> None:
    x, y = T.lvector("x"), T.lvector("y")
    z = x**y
    function = symc.function([x, y], z)
    assert function([2, 3], [3, 0]).tolist() == [8, 1]
    with pytest.raises(ValueError, match="raised to the negative integer -2") as caught:
        function([2, 3], [3, -2])
    assert str(caught.value) == (
        "pow: an integer cannot be raised to the negative integer -2\n"
        f"  left   x        int64[x.shape[0]]    {x.where}\n"
        f"  right  y        int64[y.shape[0]]    {y.where}\n"
        f"  at     {z.where}"
    )
    assert requirements(x**3) == requirements(x ** T.scalar("u", "uint8")) == 0
    assert requirements(x ** T.arange(3)) == 1  # that lengths agree
    with pytest.raises(ValueError, match="negative integer -1"):
        enforce([x**-1], {x: np.array([1, 2])})
    enforce([x**-1], {x: np.zeros(0, np.int64)})


# --- ranges of integers ---------------------------------------------------------------------------


def test_bounds() -> None:
    x, i = T.matrix("x"), T.lvector("i")
    n = x.type.shape[0]
    rows, u = T.arange(x.shape[0]), T.vector("u", "uint8")
    table: list[tuple[Tensor, Any]] = [
        (T.constant(3), (3, 3)),
        (T.constant([4, -2, 1]), (-2, 4)),
        (T.constant(np.zeros(0, np.int64)), (0, -1)),
        (rows, (0, n - 1)),
        (rows[::-1], (0, n - 1)),
        (rows[:, None].T, (0, n - 1)),
        (rows[i], (0, n - 1)),
        (rows + 1, (1, n)),
        (2 * rows, (0, 2 * n - 2)),
        (-rows, (1 - n, 0)),
        (rows // 2, (0, (n - 1) // 2)),
        (rows - 3, (-3, n - 4)),
        (i, (None, None)),
        (i % 7, (0, 6)),
        (abs(i), (None, None)),  # -2**63 stays as it is
        (abs(T.maximum(i, -5)), (0, None)),
        (abs(T.constant([-(2**63), 3])), (None, None)),
        (T.clip(i, 0, 9), (0, 9)),
        (T.minimum(i, 5), (None, 5)),
        (T.maximum(i, 5), (5, None)),
        (T.where(i > 0, 3, rows), (0, T.maximum(x.shape[0] - 1, 3))),
        (u, (0, 255)),
        (T.cast(u, "int64") + 1, (1, 256)),
        (u + u, (0, 255)),  # it wraps
        (T.vector("b", "bool"), (0, 1)),
        (T.vector("s", "int8"), (-128, 127)),
        (T.cast(x, "int64"), (None, None)),
        (T.nonzero(x)[0], (0, n - 1)),
        (T.nonzero(x)[1], (0, x.type.shape[1] - 1)),
        (x.shape[0], (n, n)),
    ]
    for node, (low, high) in table:
        found = bounds(node)
        assert found[0] == low, node
        if not isinstance(high, Tensor):
            assert found[1] == high, node


def test_bounds_of_a_deep_graph() -> None:
    i = T.arange(4)
    for _ in range(3000):
        i = i + 1
    assert bounds(i) == (3000, 3003)


# --- indexes --------------------------------------------------------------------------------------


def test_what_is_provable_is_not_checked() -> None:
    x, y, i = T.matrix("x"), T.vector("y", "uint8"), T.lvector("i")
    static = T.tensor("float64", (256, 4), "s")
    rows = T.arange(x.shape[0])
    assert requirements(x[rows, T.zeros_like(rows)]) == 1  # the second axis may be empty
    assert requirements(x[rows]) == requirements(x[:, T.arange(x.shape[1])[::-1]]) == 0
    assert requirements(static[y]) == requirements(static[[0, 255, -256]]) == 0
    assert requirements(static[i % 256]) == requirements(static[T.clip(i, 0, 255)]) == 0
    assert requirements(x[x[:, 0] > 0]) == requirements(x[x > 0]) == 0
    assert requirements(x[i]) == requirements(x[i, 0]) - 1 == 1
    best = T.argmax(x, axis=1)
    assert requirements(x[rows, best]) == requirements(x[best.max()]) - 1 == 0
    assert requirements(x[1:, ::2]) == requirements(x[:0]) == 0
    assert requirements(x[0]) == requirements(x[-1, :]) == 1


def test_an_index_is_checked_before_anything_is_read() -> None:
    x, i = T.vector("x"), T.lscalar("i")
    function = symc.function([x, i], T.exp(x[i]) + x[1:].sum())
    with pytest.raises(BadIndex, match="index 1000000000 is out of bounds"):
        function(np.ones(3), 10**9)
    assert_near(function(np.ones(3), -3), np.e + 2, rtol=1e-15)


def test_numbers_that_count_up_are_compared_at_once() -> None:
    """The rows of ``x[arange(n), y]`` were compared one by one, in a kernel of their own."""
    x, y = T.matrix("x"), T.lvector("y")
    rows = T.arange(y.shape[0])
    for index in (rows, rows[:, None], T.arange(0, 2 * y.shape[0], 2)):
        node = T.take(x, index, axis=0)
        while not (found := list(node.op.require(node))):
            node = node.args[0]
        assert [r.holds.ndim for r in found if isinstance(r.holds, Tensor)] == [0]
    function = symc.function([x, y], x[rows, y], mode="python")
    for short in (np.zeros((0, 3)), np.ones((1, 3))):
        assert function(short, np.zeros(0, np.int64)).shape == (0,)
        with pytest.raises(BadIndex, match=f"index {len(short)} is out of bounds for axis 0"):
            function(short, np.zeros(2, np.int64))


def test_a_condition_for_each_of_a_batch() -> None:
    """The checked tensor had no axis for the batch, if only the condition had one."""
    x, holds = T.vector("x"), T.tensor("bool", (None, None), name="holds")
    found = Checked("does not hold").batch([x, holds], [False, True])
    values, flags = np.arange(2.0), np.ones((3, 2), bool)
    np.testing.assert_array_equal(found.eval({x: values, holds: flags}), [values] * 3)
    with pytest.raises(ValueError, match="does not hold"):
        found.eval({x: values, holds: ~flags})


def test_short_indexes_are_compared_at_once() -> None:
    """Of places as uint16 the largest is found, many at a time; each was compared as int64."""
    x, short = T.vector("x"), T.tensor("uint16", (70,), name="short")
    for at in (T.cast(short, "int64"), T.cast(short, "int64")[:, None]):
        node = T.take(x, at)
        while not (found := list(node.op.require(node))):
            node = node.args[0]
        assert [r.holds.ndim for r in found if isinstance(r.holds, Tensor)] == [0]
    function = symc.function([x, short], x[T.cast(short, "int64")], mode="python")
    places = np.arange(70, dtype=np.uint16)
    same(function(np.arange(70.0), places), np.arange(70.0), 0.0)
    with pytest.raises(BadIndex, match="index 69 is out of bounds for axis 0 with length 69"):
        function(np.arange(69.0), places)


def test_short_indexes_that_wrap_are_compared_as_they_are() -> None:
    x, short = T.tensor("float64", (100,)), T.tensor("uint16", (3,))
    at = T.cast(T.cast(short, "int8"), "int64")
    function = symc.function([x, short], x[at], mode="python")
    same(function(np.arange(100.0), np.array([255, 1, 257], np.uint16)), [99.0, 1.0, 1.0], 0.0)
