"""Loops that gather and scatter, four iterations side by side, and their tables in pairs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.dtypes import FLOAT64, INT64
from symc.codegen.ir import (
    Accumulate,
    Const,
    Kernel,
    Let,
    Load,
    Loop,
    Param,
    Store,
    Var,
    add,
    binary,
    mul,
)
from symc.codegen.passes.vectors.packs import pack_form
from symc.codegen.passes.walk import statements
from symc.codegen.verify.expressions import Broken
from symc.codegen.verify.kernels import check_kernel

GROUPS = 7


def loops_in_packs(f: symc.Function) -> int:
    program = f.runner.compilation().optimised
    return sum(
        isinstance(stmt, Loop) and stmt.kind == "packs"
        for kernel in program.kernels
        for stmt in statements(kernel.body)
    )


def inputs(n: int | None, groups: int | None, dtype: str) -> list[Any]:
    k = T.tensor("int64", shape=(n,), name="k")
    rows = [T.tensor(dtype, shape=(n,), name=name) for name in ("x", "y")]
    tables = [T.tensor(dtype, shape=(groups,), name=name) for name in ("a", "b", "c")]
    return [k, *rows, *tables]


def added(table: Any, k: Any, values: Any) -> Any:
    result = np.array(table)
    np.add.at(result, k, values)
    return result


def one_table(k: Any, x: Any, y: Any, a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    rest = (y - a[k]) * x * 0.5
    return (rest * rest).sum(), rest


def two_tables(k: Any, x: Any, y: Any, a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    rest = y - (a[k] + b[k] * x)
    return (rest * rest).sum(), rest, rest * x


def three_tables(k: Any, x: Any, y: Any, a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    rest = y - (a[k] + b[k] * x + c[k] / 3.0)
    return (rest * rest).sum(), rest, rest * x, -rest


FORMS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "one table": one_table, "two tables": two_tables, "three tables": three_tables,
}  # fmt: skip


def compiled(form: Callable[..., tuple[Any, ...]], args: list[Any]) -> symc.Function:
    total, *parts = form(*args)
    k, tables = args[0], args[3:]
    changed = [table[k].inc(part) for table, part in zip(tables, parts, strict=False)]
    return symc.function(args, [total, *changed], on_unused_input="ignore")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("known", [True, False], ids=["known lengths", "unknown lengths"])
@pytest.mark.parametrize("name", FORMS)
def test_packs_mean_what_one_iteration_after_the_other_does(
    name: str, known: bool, dtype: str
) -> None:
    form = FORMS[name]
    f: symc.Function | None = None
    for n in (0, 1, 3, 4, 5, 27, 28, 29, 1000, 20003):
        if known or f is None:
            f = compiled(form, inputs(n if known else None, GROUPS if known else None, dtype))
        rng = np.random.default_rng(n)
        rows = rng.normal(size=(2, n)).astype(dtype)
        tables = rng.normal(size=(3, GROUPS)).astype(dtype)
        given = [rng.integers(-GROUPS, GROUPS, n), *rows, *tables]
        total, *parts = form(*given)
        wanted = [
            total, *[added(t, given[0], p) for t, p in zip(tables, parts, strict=False)]
        ]  # fmt: skip
        limit = 1e-10 if dtype == "float64" else 2e-3
        for found, right in zip(f(*given), wanted, strict=True):
            np.testing.assert_allclose(found, right, rtol=limit, atol=limit * max(1, n) ** 0.5)


@pytest.mark.parametrize("name", FORMS)
def test_tables_of_known_lengths_are_pairs(name: str) -> None:
    f = compiled(FORMS[name], inputs(1000, GROUPS, "float64"))
    assert loops_in_packs(f) == 1
    assert ("symc_scatter_pairs_f64" in f.source) == (name != "one table")


def test_tables_longer_than_the_loop_are_left_apart() -> None:
    f = compiled(two_tables, inputs(1000, 900, "float64"))
    assert "pairs" not in f.source
    assert loops_in_packs(f) == 0  # to take two packs apart takes longer than it saves


def test_short_tables_are_pairs_for_unknown_iterations() -> None:
    k, x, y, *_ = inputs(None, None, "float64")
    for groups, pairs in ((200, True), (2000, False)):
        tables = inputs(None, groups, "float64")[3:]
        f = compiled(two_tables, [k, x, y, *tables])
        assert ("symc_scatter_pairs_f64" in f.source) == pairs
        for n in (0, 3, 5000):
            rng = np.random.default_rng(n)
            given = [rng.integers(0, groups, n), *rng.normal(size=(2, n))]
            values = rng.normal(size=(3, groups))
            total, *parts = two_tables(*given, *values)
            wanted = [
                total, *[added(t, given[0], p) for t, p in zip(values, parts, strict=False)]
            ]  # fmt: skip
            for found, right in zip(f(*given, *values), wanted, strict=True):
                np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-10)


def test_numbers_that_are_not_finite_stay_in_their_lanes() -> None:
    f = compiled(two_tables, inputs(9, 2, "float64"))
    k = np.array([0, 1] * 4 + [0])
    x, y = np.ones(9), np.ones(9)
    y[3], y[4] = np.nan, np.inf
    total, a, b = f(k, x, y, np.zeros(2), np.zeros(2), np.zeros(2))
    assert np.isnan(total)
    assert np.isposinf(a[0])
    assert np.isnan(a[1])
    assert np.isposinf(b[0])
    assert np.isnan(b[1])


def test_a_sum_of_what_is_the_same_for_all_is_chosen_for_all() -> None:
    """The log density of a normal distribution is -inf for every row if its scale is below 0."""
    k, x, y, a, b, _ = inputs(1003, GROUPS, "float64")
    s = T.dscalar("s")
    rest = (y - (a[k] + b[k] * x)) / s
    total = T.where(T.gt(s, 0), -0.5 * rest * rest - T.log(s), -np.inf).sum()
    outputs = [total, a[k].inc(rest), b[k].inc(rest * x)]
    f = symc.function([k, x, y, a, b, s], outputs)
    rng = np.random.default_rng(1)
    given = [rng.integers(0, GROUPS, 1003), *rng.normal(size=(2, 1003))]
    tables = rng.normal(size=(2, GROUPS))
    for scale in (1.5, -1.5):
        found = f(*given, *tables, scale)
        rows = (given[2] - (tables[0][given[0]] + tables[1][given[0]] * given[1])) / scale
        wanted = (-0.5 * rows**2 - np.log(scale)).sum() if scale > 0 else -np.inf
        np.testing.assert_allclose(found[0], wanted, rtol=1e-12)
        np.testing.assert_allclose(found[1], added(tables[0], given[0], rows), rtol=1e-10)
    assert loops_in_packs(f) == 1


def scatter(*middle: Any, value: Any) -> Kernel:
    """A kernel that adds `value` at places that an array gives."""
    i, k = Var("i"), Var("k")
    body = (Let(k, Load("places", i, INT64)), *middle, Accumulate("table", k, "add", value))
    params = (
        Param("table", FLOAT64, written=True), Param("places", INT64, written=False),
        Param("x", FLOAT64, written=False), Param("row", FLOAT64, written=True),
    )  # fmt: skip
    return Kernel("scatter", params, (Var("n"),), (Loop(i, Var("n"), "packs", body),))


X = Load("x", Var("i"), FLOAT64)
CUBE = mul(mul(X, X), mul(X, Load("x", Var("k"), FLOAT64)))


def test_a_loop_that_reads_what_it_writes_is_no_pack() -> None:
    check_kernel(scatter(value=CUBE))
    read = mul(CUBE, Load("table", Var("i"), FLOAT64))
    with pytest.raises(Broken, match="more than gathers, arithmetic and scatters"):
        check_kernel(scatter(value=read))


@pytest.mark.parametrize(
    "middle",
    [
        Store("row", add(Var("i"), Var("i")), CUBE),  # not to neighbours
        Store("row", Var("k"), CUBE),  # perhaps twice to one place
        Accumulate("row", Var("i"), "add", CUBE),  # a map
        Accumulate("row", Var("k"), "mul", CUBE),  # no sum
    ],
)
def test_other_writes_are_no_packs(middle: Any) -> None:
    (loop,) = scatter(middle, value=CUBE).body
    assert isinstance(loop, Loop)
    assert pack_form(loop, frozenset()) is None


def test_an_element_that_a_pack_only_compares_is_no_pack() -> None:
    value = binary("max", CUBE, Const(0.0, FLOAT64))
    (loop,) = scatter(value=value).body
    assert isinstance(loop, Loop)
    assert pack_form(loop, frozenset()) is None


def test_floats_of_computed_integers_are_no_reason_for_packs() -> None:
    """They enter a register one by one: deposits of particles on a grid took 2.5 times as long."""
    x, w = T.dmatrix("x"), T.dvector("w")

    def weights(x: Any, w: Any, places: Any) -> Any:
        near = x - places
        return w * near[:, 0] * (1 - near[:, 1])

    places = T.cast(T.floor(x), "int64")
    table = T.zeros((9, 9))[places[:, 0], places[:, 1]].inc(weights(x, w, places))
    f = symc.function([x, w], table)
    assert loops_in_packs(f) == 0
    rng = np.random.default_rng(5)
    at, weight = rng.random((50, 2)) * 9, rng.random(50)
    by = np.floor(at).astype(np.int64)
    wanted = np.zeros((9, 9))
    np.add.at(wanted, (by[:, 0], by[:, 1]), weights(at, weight, by))
    np.testing.assert_allclose(f(at, weight), wanted, rtol=1e-13)
