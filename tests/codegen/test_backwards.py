"""Loops over parts of groups read nothing beyond the ends of arrays."""

from __future__ import annotations

import platform
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from tests.fenced import fenced

LENGTHS = (1, 2, 3, 5, 8, 9, 17, 33, 64)


def slices_of(kind: str, dtype: str, x: Any) -> list[Any]:
    """Slices of arrays that go backwards."""
    if kind == "vector":
        return [x[::-1], x[::-2], x[::-3] * 2, x[1::-2]]
    join = np.stack if isinstance(x, np.ndarray) else T.stack
    found = [part for step in (-1, -2) for part in (x[::step], x[::step, :2], x[::step, -2:])]
    return [*found, join([x[::-1, -2], x[::-1, -1]], 1), x[::-1, 0] + x[::-1, -1]]


def variable(kind: str, dtype: str) -> tuple[Any, tuple[int, ...]]:
    columns = () if kind == "vector" else (int(kind),)
    return T.tensor(dtype, (None, *columns), "x"), columns


CASES = [
    *(("vector", dtype) for dtype in ("complex128", "complex64", "float64", "int8")),
    *((columns, dtype) for columns in "2348" for dtype in ("float64", "float32", "int16")),
]  # fmt: skip


def check(kind: str, dtype: str) -> None:
    """All slices, of arrays that end where memory ends."""
    x, columns = variable(kind, dtype)
    f = symc.function([x], slices_of(kind, dtype, x))
    for length in LENGTHS:
        given = np.arange(length * int(np.prod(columns)), dtype=dtype).reshape(length, *columns)
        for front in (False, True):
            found = f(fenced(given, front=front))
            for one, other in zip(found, slices_of(kind, dtype, given), strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("kind", "dtype"), CASES)
def test_a_bug_the_first_group_was_read_to_its_end(kind: str, dtype: str) -> None:
    """``z[::-2]`` of complex numbers, and two columns of four from the last row on."""
    text = f"from tests.codegen.test_backwards import check; check({kind!r}, {dtype!r})"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


def test_whole_groups_stay_in_vector_registers() -> None:
    z, x = T.zvector("z"), T.tensor("float64", (None, 4), "x")
    for whole in (z[::-1], z[::2], x[::-1], x[:, :2]):
        source = symc.function([z, x], whole * 2.0, on_unused_input="ignore").source
        assert "#pragma omp simd" in source
    for part in (z[::-2], x[::-1, :2]):
        source = symc.function([z, x], part * 2.0, on_unused_input="ignore").source
        assert "#pragma omp simd" not in source


def repeated(columns: int, few: tuple[int, ...], many: int, x: Any, v: Any) -> list[Any]:
    """Some columns of a matrix, each several times, and times numbers that all rows share."""
    join = np.stack if isinstance(x, np.ndarray) else T.stack
    chosen = [x[:, few[k % len(few)]] for k in range(many)]
    return [join(chosen, 1), join([one * v[k % 2] for k, one in enumerate(chosen)], 1)]


def check_repeated(dtype: str) -> None:
    """Each of them, of arrays that end where memory ends."""
    v = T.tensor(dtype, (2,), "v")
    for columns, few, many in FEW:
        x = T.tensor(dtype, (None, columns), "x")
        f = symc.function([x, v], repeated(columns, few, many, x, v))
        for length in LENGTHS:
            given = np.arange(length * columns).astype(dtype).reshape(length, columns)
            numbers = np.array([1, 2], dtype)
            wanted = repeated(columns, few, many, given, numbers)
            for one, other in zip(f(fenced(given), numbers), wanted, strict=True):
                np.testing.assert_array_equal(one, other)


FEW = [(2, (1,), 4), (2, (1,), 8), (3, (2,), 4), (4, (1, 2, 3), 8), (4, (3,), 8), (5, (2, 3, 4), 6)]


@pytest.mark.parametrize("dtype", ["int64", "float64", "int32", "float32", "int16"])
@pytest.mark.parametrize("march", ["native", "x86-64-v2"])
def test_a_bug_columns_after_the_first_were_read_beyond_the_last_row(
    dtype: str, march: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``stack([x[:, 1] * v[i % 2] for i in range(4)], 1)`` of two columns."""
    if march != "native" and platform.machine() != "x86_64":
        pytest.skip("for x86-64 alone")
    monkeypatch.setenv("SYMC_MARCH", march)
    text = f"from tests.codegen.test_backwards import check_repeated; check_repeated({dtype!r})"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


def test_columns_that_begin_with_the_first_stay_in_vector_registers() -> None:
    x = T.tensor("float64", (None, 2), "x")
    few = [x[:, 0] * k for k in range(1, 5)]
    assert "#pragma omp simd" in symc.function([x], T.stack(few, 1)).source
    assert "#pragma omp simd" in symc.function([x], T.stack([x[:, 1], -x[:, 1]], 1)).source
