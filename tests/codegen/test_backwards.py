"""Loops that go backwards over parts of groups read nothing beyond the ends of arrays."""

from __future__ import annotations

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
