"""Rows that are added to, or set, at places that are data: each row is one vector loop."""

from __future__ import annotations

import numpy as np
import pytest

import symc
import symc.tensor as T


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
@pytest.mark.parametrize("columns", [0, 1, 5, 40])
def test_rows_added_to_at_places_from_either_end(dtype: str, columns: int) -> None:
    rng = np.random.default_rng(0)
    x, rows = (np.rint(9 * rng.standard_normal((n, columns))).astype(dtype) for n in (6, 30))
    places = rng.integers(-6, 6, 30)
    a, i, b = T.matrix("a", dtype=dtype), T.lvector("i"), T.matrix("b", dtype=dtype)
    f = symc.function([a, i, b], [a[i].inc(b), a[i].inc(a[i] * b), a[i].set(b)])
    added, from_itself, put = f(x, places, rows)
    wanted, again, last = x.copy(), x.copy(), x.copy()
    np.add.at(wanted, places, rows)
    np.add.at(again, places, x[places] * rows)
    for place, row in zip(places, rows, strict=True):
        last[place] = row
    np.testing.assert_array_equal(added, wanted)
    np.testing.assert_array_equal(from_itself, again)
    np.testing.assert_array_equal(put, last)


def test_rows_are_vector_loops() -> None:
    a, i, b = T.matrix("a"), T.lvector("i"), T.matrix("b")
    lines = symc.function([a, i, b], a[i].inc(b)).source.split("\n")
    *_, row = (number for number, line in enumerate(lines) if "+= b[" in line)  # not of points
    assert "#pragma omp simd" in lines[row - 2]
