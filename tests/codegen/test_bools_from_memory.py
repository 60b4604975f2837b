"""Loops that choose by bools of an array, or convert them, in vectors: gcc 12 did so one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from tests.codegen.test_emitted import vectorised

N = 203
RNG = np.random.default_rng(4)
MASK = RNG.random(N) < 0.4
SIGNED = RNG.standard_normal(N)
SIGNED[[3, 50, 51]] = np.nan, np.inf, -0.0
LOOPS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    # the expression of a mask and numbers, and the same in NumPy
    "where": (lambda m, x: T.where(m, x, x * 2), lambda m, x: np.where(m, x, x * 2)),
    "where not": (lambda m, x: T.where(~m, x, 0), lambda m, x: np.where(~m, x, x.dtype.type(0))),
    "masked": (lambda m, x: x[m].set(1), lambda m, x: np.where(m, x.dtype.type(1), x)),
    "product": (lambda m, x: m * x, lambda m, x: m * x),
    "converted": (lambda m, x: T.cast(m, x.dtype) - x, lambda m, x: m.astype(x.dtype) - x),
    "sum": (lambda m, x: T.sum(T.where(m, x, 0)), lambda m, x: x[m].sum()),
    "count": (lambda m, x: T.sum(T.cast(m, x.dtype)), lambda m, x: m.sum()),
    "least": (lambda m, x: T.min(T.where(m, x, 9)), lambda m, x: np.where(m, x, 9).min()),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "int8"])
@pytest.mark.parametrize("name", LOOPS)
def test_results(name: str, dtype: str) -> None:
    build, oracle = LOOPS[name]
    clean = np.nan_to_num(SIGNED, posinf=2.0) * 3
    x = (SIGNED if dtype.startswith("f") and "sum" not in name else clean).astype(dtype)
    mask, numbers = T.tensor("bool", (None,), "mask"), T.tensor(dtype, (None,), "numbers")
    function = symc.function([mask, numbers], build(mask, numbers), on_unused_input="ignore")
    for length in (0, 1, 7, N):
        if length or name != "least":
            with np.errstate(invalid="ignore"):
                wanted = oracle(MASK[:length], x[:length])
            got: Any = function(MASK[:length], x[:length])
            np.testing.assert_allclose(got, wanted, rtol=1e-5)
            if name in ("where", "product", "masked"):
                np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32"])
@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_vector_loops(name: str, dtype: str, tmp_path: Path) -> None:
    mask, numbers = T.tensor("bool", (None,), "mask"), T.tensor(dtype, (None,), "numbers")
    build, _ = LOOPS[name]
    function = symc.function([mask, numbers], build(mask, numbers), on_unused_input="ignore")
    lines = function.source.split("\n")
    reads = {n for n, line in enumerate(lines, 1) if "symc_truth(" in line and "[" in line}
    if name == "count":  # but for what is too short for a register (`byte_sums.py`)
        reads = {read for read in reads if "lanes" in lines[read - 1]}
    assert reads
    found = vectorised(function.source, tmp_path)
    assert all(found & set(range(read - 4, read + 1)) for read in reads)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["loaded", "not", "both", "bytes", "cast"])
def test_rows_choose_without_jumps(name: str, dtype: str) -> None:
    """What was left after the last whole vector, and all of a short row, took up to eight times as
    long as in numba: gcc takes 64 elements for a vector if something has a byte."""
    mask, small = T.tensor("bool", (None, None), "mask"), T.tensor("uint8", (None, None), "small")
    x = T.tensor(dtype, (None, None), "x")

    def chosen(mask: Any, small: Any, x: Any, where: Any) -> Any:
        test = {
            "loaded": mask, "not": ~mask, "both": mask & (small > 3), "bytes": small > 3,
            "cast": small.astype("bool"),
        }[name]  # fmt: skip
        return where(test[:, 1:-1], x[:, 2:] * x[:, :-2], x[:, 1:-1])

    f = symc.function([mask, small, x], chosen(mask, small, x, T.where), on_unused_input="ignore")
    assert "symc_choose_" in f.source
    for width in (2, 3, 9, 48, 66, 200):
        given = (
            RNG.random((5, width)) > 0.5, RNG.integers(0, 7, (5, width)).astype("uint8"),
            np.resize(SIGNED, (5, width)).astype(dtype),
        )  # fmt: skip
        with np.errstate(invalid="ignore", over="ignore"):
            wanted = chosen(*given, np.where)
        found = f(*given)
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize("name", ["loaded", "not", "named"])
def test_rows_that_are_chosen_whole_are_vectors(name: str, tmp_path: Path) -> None:
    """A bool for each row, the same at all of its elements, kept exponentials out of vectors."""
    rows, x = T.tensor("bool", (None,), "rows"), T.dmatrix("x")

    def chosen(rows: Any, x: Any, m: Any) -> Any:
        test = (~rows if name == "not" else rows)[:, None]
        low = m.where(test, x, 0.5) if name == "named" else x
        return m.where(test, m.exp(low) / (1.0 + low), x)

    f = symc.function([rows, x], chosen(rows, x, T))
    assert "symc_choose_" not in f.source
    lines = f.source.split("\n")
    reads = [n for n, line in enumerate(lines, 1) if "= exp(" in line]
    found = vectorised(f.source, tmp_path)
    assert reads
    assert all(found & set(range(read - 8, read + 1)) for read in reads)
    for width in (1, 7, 40):
        given = RNG.random(6) > 0.5, RNG.standard_normal((6, width))
        np.testing.assert_allclose(f(*given), chosen(*given, np), rtol=1e-14)


def test_a_long_test_of_bytes_in_rows() -> None:
    small, x = T.tensor("uint8", (None, None), "small"), T.dmatrix("x")
    test = small
    for number in range(1, 2000):
        test = (test ^ (number % 251)) + 1 if number % 2 else test | (number % 7)
    f = symc.function([small, x], T.where((test > 9)[:, 1:], x[:, 1:], x[:, :-1]))
    given, numbers = np.arange(21, dtype="uint8").reshape(3, 7), RNG.random((3, 7))
    wanted = given
    for number in range(1, 2000):
        last = np.uint8(number % 251), np.uint8(number % 7)
        wanted = (wanted ^ last[0]) + np.uint8(1) if number % 2 else wanted | last[1]
    np.testing.assert_array_equal(
        f(given, numbers), np.where((wanted > 9)[:, 1:], numbers[:, 1:], numbers[:, :-1])
    )


def test_long_loops_choose_as_vectors_do() -> None:
    mask, x = T.vector("mask", dtype="bool"), T.dvector("x")
    assert "symc_choose_" not in symc.function([mask, x], T.where(mask, x, 1.0)).source
    assert "symc_choose_" not in symc.function([mask, x], T.where(mask, x, 0.0).sum()).source


def test_whether_all_are_true_is_accumulated_in_bytes() -> None:
    mask, numbers = T.tensor("bool", (None, None), "mask"), T.dmatrix("numbers")
    for axis, wanted in ((0, "= symc_truth(mask["), (1, "uint8_t acc = 1;")):
        assert wanted in symc.function([mask], mask.all(axis)).source
    assert "int64_t acc = 1;" in symc.function([numbers], (numbers > 0).all(1)).source


def chosen_and_counted(x: Any, y: Any, dtype: str) -> list[Any]:
    """A comparison by which something is chosen, and that is a number too."""
    is_above = T.gt(x, 1)
    return [T.where(is_above, 0, x), y + T.cast(is_above, dtype)]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32"])
@pytest.mark.parametrize("of", ["float64", "float32", "int32"])
def test_a_bug_comparisons_that_were_numbers_too_went_one_by_one(
    dtype: str, of: str, tmp_path: Path
) -> None:
    """Neurons that fire, and are counted: five times the time of JAX's loop."""
    x, y = T.tensor(of, (None,), "x"), T.tensor(dtype, (None,), "y")
    function = symc.function([x, y], chosen_and_counted(x, y, dtype))
    numbers = (np.nan_to_num(SIGNED, posinf=2.0) * 3).astype(of)
    left, sums = function(numbers, np.ones(N, dtype))
    np.testing.assert_array_equal(left, np.where(numbers > 1, numbers.dtype.type(0), numbers))
    np.testing.assert_array_equal(sums, 1 + (numbers > 1))
    lines = function.source.split("\n")
    stores = {n for n, line in enumerate(lines, 1) if line.lstrip().startswith("out")}
    assert len(stores) == 2
    loops = vectorised(function.source, tmp_path)
    assert all(any(loop <= store <= loop + 8 for loop in loops) for store in stores)
