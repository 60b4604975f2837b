"""Writing through indexes: which values, which dtypes, which order; derivatives of all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen import ir
from symc.codegen.passes.walk import statements
from symc.codegen.verify.program import verify
from symc.errors import DTypeError, ShapeMismatch
from symc.graph.interpreter import evaluate
from symc.graph.lowering import At, Write
from symc.graph.node import Tensor
from tests.ops.harness import check, same
from tests.ops.index_cases import S, message, values_for, written
from tests.ops.lowering_check import check_lowering

ROWS = np.array([2, 0, 2, 1])
MASK = np.array([True, False, True])
DERIVATIVES: list[tuple[str, Callable[..., Any]]] = [
    ("slice", lambda x, v: T.exp(x)[1:, ::-2]),
    ("int", lambda x, v: T.exp(x)[-1] * x[0]),
    ("gather", lambda x, v: T.exp(x)[ROWS]),
    ("gather behind", lambda x, v: T.exp(x)[:, [3, 0, 3]]),
    ("pairs", lambda x, v: T.exp(x)[T.arange(x.shape[0]), [3, 0, 3]]),
    ("mixed", lambda x, v: T.exp(x)[1:, [3, 0, 3]]),
    ("mask", lambda x, v: T.exp(x)[MASK]),
    ("run-time mask", lambda x, v: T.exp(x)[x > 0]),
    ("set slice", lambda x, v: (T.exp(x)[1:, 0].set(v[0, :2] ** 2)) ** 2),
    ("inc slice", lambda x, v: (T.exp(x)[:, ::2].inc(v[:, :2] ** 2)) ** 2),
    ("set rows", lambda x, v: (T.exp(x)[[2, 0]].set(v[:2] ** 2)) ** 2),
    ("inc rows", lambda x, v: (T.exp(x)[ROWS].inc(v[ROWS] ** 2)) ** 2),
    ("inc with broadcasting", lambda x, v: (T.exp(x)[ROWS].inc(v[0] ** 2)) ** 2),
    ("set pairs", lambda x, v: (T.exp(x)[T.arange(x.shape[0]), [3, 0, 3]].set(v[:, 0] ** 2)) ** 2),
    ("set rows twice", lambda x, v: (T.exp(x)[ROWS].set(v[ROWS - 2] ** 2)) ** 2),
    ("set pairs twice", lambda x, v: (T.exp(x)[ROWS, [3, 0, -1, 0]].set(v[1] ** 2)) ** 2),
    ("set mask", lambda x, v: (T.exp(x)[MASK].set(v[0] ** 2)) ** 2),
    ("inc mask", lambda x, v: (T.exp(x)[x > 0].inc(v[0, 0] ** 2)) ** 2),
    ("guarded", lambda x, v: T.where(x[1:] > 0, T.sqrt(T.abs(x[1:])), 0.0)[ROWS % 2]),
]


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(("name", "build"), DERIVATIVES, ids=[name for name, _ in DERIVATIVES])
def test_derivatives(name: str, build: Callable[..., Any], static: bool) -> None:
    arrays = values_for((3, 4), 1), values_for((3, 4), 2)
    check(build, *arrays, static=static)
    check_lowering(build, *arrays, static=static)


def test_the_gradient_of_set_reaches_the_duplicate_that_stays() -> None:
    x, v = T.vector("x"), T.vector("v")
    y = x[[0, 0, 1]].set(v) * T.constant([10.0, 20.0, 30.0])
    gx, gv = symc.grad(y.sum(), [x, v])
    values = {x: np.ones(3), v: np.ones(3)}
    same(evaluate([gx], values)[0], np.array([0.0, 0.0, 30.0]), 0.0)
    same(evaluate([gv], values)[0], np.array([0.0, 10.0, 20.0]), 0.0)


def test_the_gradient_of_a_number_set_at_a_place_twice_counts_it_once() -> None:
    x, s, i = T.tensor3("x"), T.scalar("s"), T.lmatrix("i")
    y = T.exp(x)[:, i, 1].set(s**2)
    weights = values_for((2, 3, 2), 3)
    cost = (y * weights).sum()
    gs, vector = symc.grad(cost, s), T.constant(1.0)
    f = symc.function([x, s, i], [gs, symc.grad(gs, s), symc.Rop(cost, s, vector)])
    index = np.array([[0, -1, 0], [2, 0, 2]])  # not 1; 0 and 2 several times
    slope = 2 * weights[:, [0, 2], 1].sum()
    for found, wanted in zip(f(np.ones((2, 3, 2)), 1.5, index), (1.5, 1, 1.5), strict=True):
        same(found, np.array(wanted * slope), 1e-13)


def test_no_nan_leaks_through_an_index() -> None:
    x = T.vector("x")
    y = T.where(x > 0, T.log(x), 0.0)[[0, 1, 1, 2]][::-1]
    g = symc.grad(y[1:].set(y[1:] * 2).sum(), x)
    wanted = np.array([2.0, 2 * 2 / 2.0, 0.0])
    same(evaluate([g], {x: np.array([1.0, 2.0, 0.0])})[0], wanted, 1e-15)
    inner = symc.grad(T.where(x[::-1] > 0, T.sqrt(x[::-1]), 0.0)[[0, 0, 2]].sum(), x)
    same(evaluate([inner], {x: np.array([1.0, 2.0, 0.0])})[0], np.array([0.5, 0.0, 0.0]), 1e-15)
    z = T.sqrt(x)  # its derivative at 0 is infinite, and must meet a mask
    g = symc.grad(T.where(z[[0, 2]] > 0, T.log(z[[0, 2]]), 0.0).sum(), x)
    value = evaluate([g], {x: np.array([4.0, 2.0, 0.0])})[0]
    same(value, np.array([0.125, 0.0, 0.0]), 1e-15)


# --- writing: dtypes, shapes, order ---------------------------------------------------------------


def test_set_takes_the_last_of_duplicates_and_inc_all() -> None:
    x, i, v = T.vector("x"), T.lvector("i"), T.vector("v")
    f = symc.function([x, i, v], [x[i].set(v), x[i].inc(v), x[i].set(7.0)])
    rng = np.random.default_rng(0)
    index, new = rng.integers(0, 10, 1000), rng.standard_normal(1000)
    replaced, added, seven = f(np.zeros(10), index, new)
    same(replaced, written(np.zeros(10), index, new, "set"), 0.0)
    same(added, written(np.zeros(10), index, new, "inc"), 1e-14)
    assert (seven == 7).all()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32"])
@pytest.mark.parametrize("mode", ["set", "inc"])
def test_dtypes_are_kept(dtype: str, mode: str) -> None:
    array = (np.arange(12).reshape(3, 4) % 3).astype(dtype)
    given = np.array([1, 0, 2]).astype(dtype)

    def build(x: Tensor, v: Tensor) -> list[Tensor]:
        parts = [x[:, 1], x[[2, 0, 1], 0]]
        return [*(getattr(part, mode)(v) for part in parts), getattr(x[1:, [0, 1]], mode)(True)]

    def oracle(x: Any, v: Any) -> list[Any]:
        return [
            written(x, S[:, 1], v, mode),
            written(x, S[[2, 0, 1], 0], v, mode),
            written(x, S[1:, [0, 1]], np.asarray(1, x.dtype), mode),
        ]

    check(build, array, given, oracle=oracle)


def test_literal_numbers_of_the_same_kind_convert() -> None:
    x = T.vector("x", "float32")
    for given in (1, 1.5, np.float64(1.5), [1.0, 2.5], np.int64(3), True):
        assert x[:2].set(given).dtype == x.dtype
    i = T.vector("i", "uint8")
    assert i[0].set(255).dtype == i.dtype
    with pytest.raises(DTypeError):
        i[0].set(256)
    with pytest.raises(DTypeError):
        i[0].set(1.0)
    with pytest.raises(DTypeError):
        x[0].set(np.zeros(1))
    with pytest.raises(DTypeError):
        x[0].set(T.scalar("a", "float64"))


def test_a_mask_set_to_one_value_needs_no_positions() -> None:
    x, m = T.matrix("x"), T.matrix("m", "bool")
    assert x[m].set(0.0).op.label == "where"
    assert x[m.any(axis=1)].set(T.vector("v")).op.label == "where"
    assert x[m].set(T.vector("v")).op.label == "set_subtensor"
    values = {x: values_for((2, 3)), m: np.array([[True, False, True], [False, True, False]])}
    v = T.vector("v")
    (value,) = evaluate([x[m].set(v)], {**values, v: np.arange(3.0)})
    expected = values[x].copy()
    expected[values[m]] = np.arange(3.0)
    same(value, expected, 0.0)


def test_an_index_through_new_and_moved_axes_can_be_written() -> None:
    def build(x: Tensor, v: Tensor) -> list[Tensor]:
        new, moved, both = x[None, 1:], x[1:].T, x[:, None, [0, 1]]
        return [new.set(v[None, 1:]), moved.inc(v[1:].T), both.set(v[:, None, :2])]

    def oracle(x: Any, v: Any) -> list[Any]:
        first, second, third = x.copy(), x.copy(), x.copy()
        first[1:], third[:, :2] = v[1:], v[:, :2]
        second[1:] += v[1:]
        return [first, second, third]

    check(build, values_for((3, 4), 1), values_for((3, 4), 2), oracle=oracle)


def test_pairs_written_into_zeros_are_no_write() -> None:
    g, y = T.vector("g"), T.lvector("y")
    x = T.matrix("x")
    rows = T.arange(x.shape[0])
    spread = T.zeros_like(x)[rows, y].inc(g)
    assert isinstance(spread.op.lower(spread, lambda dim: ir.const(1)), At)
    onto = x[rows, y].inc(g)
    lowered = onto.op.lower(onto, lambda dim: ir.const(1))
    assert isinstance(lowered, Write)
    assert lowered.parts[0].parallel
    repeated = x[y, y].inc(g)
    lowered = repeated.op.lower(repeated, lambda dim: ir.const(1))
    assert isinstance(lowered, Write)
    assert not lowered.parts[0].parallel


def test_cross_entropy() -> None:
    labels = np.array([2, 0, 1, 1])

    def build(x: Tensor) -> Any:
        return -T.log_softmax(x, axis=1)[T.arange(x.shape[0]), labels].mean()

    def oracle(x: Any) -> Any:
        p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
        return -np.log(p[np.arange(4), labels]).mean()

    check(build, values_for((4, 3)), oracle=oracle)


def test_messages_of_writing() -> None:
    x = T.tensor("float64", (3, 4), "x")
    assert message(TypeError, lambda: x.set(0.0)) == (
        "set_subtensor: this is not the result of indexing, so there is nothing to write into"
    )
    assert message(TypeError, lambda: T.inc_subtensor(cast("Any", 3), 4)).startswith(
        "inc_subtensor needs an indexed tensor"
    )
    assert message(ShapeMismatch, lambda: x[1:].set(np.zeros((3, 4)))) == (
        "set_subtensor: values of shape [3, 4] do not fit the region [2, 4]"
    )
    assert message(ShapeMismatch, lambda: x[0].inc(np.zeros((2, 4)))) == (
        "inc_subtensor: values of shape [2, 4] do not fit the region [4]"
    )
    assert message(TypeError, lambda: x[np.True_].set(0.0)).startswith(
        "set_subtensor: a single bool"
    )
    assert message(DTypeError, lambda: T.vector("i", "int8")[0].set(1.5)) == (
        "set_subtensor: float64 values do not go into int8 without loss"
    )


def test_sums_of_float16_at_repeated_places_are_followed_by_the_verifier() -> None:
    """Seed 2100032 of the scripts: a sum that has a name before it is rounded and stored."""
    x = T.tensor("float16", (None, 1))
    clipped, rows = T.clip(x, -1, 1), np.array([0, -1, 0])
    outputs = clipped[rows].inc(clipped[rows])
    function = symc.function([x], outputs, mode="default", device="cpu")  # OpenCL has bits of them
    made = function.runner.compilation()
    assert any(
        isinstance(stmt, ir.Let) and stmt.value.dtype.name == "float32"
        for kernel in made.optimised.kernels
        for stmt in statements(kernel.body)
    )
    verify(made.optimised)
    value = np.array([[0.5], [-2.0]], "float16")
    np.testing.assert_array_equal(function(value), [[1.5], [-2.0]])


def test_lanes_have_arrays_of_their_own() -> None:
    """clang gave several rows the elements of one, for `simd` loops with an array in them."""
    x = T.tensor("float64", (3, 4), name="x")
    rows = T.exp(x)[:, [3, 0, 3]]
    outputs = [rows, symc.grad(rows.sum(), x)]
    function = symc.function([x], outputs, mode="compile", device="cpu")
    assert "omp SYMC_SIMD_WITH_ARRAYS" in function.source
    value = np.arange(12.0).reshape(3, 4) / 10
    np.testing.assert_allclose(function(value)[0], np.exp(value)[:, [3, 0, 3]], rtol=1e-13)


@pytest.mark.parametrize("index", [None, (S[:], None), (..., None), (None, S[1:]), (None, None)])
def test_new_axes_of_the_whole_are_written_through(index: Any) -> None:
    """``x[None]`` was not taken for the result of indexing."""
    x = T.vector("x")
    value = np.arange(1.0, 4.0)
    for mode, written_to in (("set", np.array(value)), ("inc", np.array(value))):
        part = np.array(value)[index]
        values = np.full(part.shape, 7.0)
        written_to[index] = values if mode == "set" else part + values
        got = getattr(x[index], mode)(values).eval({x: value})
        np.testing.assert_array_equal(got, written_to)
    with pytest.raises(TypeError, match="nothing to write into"):
        T.matrix("m").T.set(0.0)
