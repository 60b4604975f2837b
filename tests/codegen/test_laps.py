"""Loops that took a remainder of their variable for each element: they go in laps."""

from __future__ import annotations

import numpy as np
import pytest

import symc
import symc.tensor as T


def _loops(source: str) -> str:
    """The innermost loops of the kernels."""
    kernels = source.partition("/* ---- kernels ---- */")[2].partition("/* ---- host ---- */")[0]
    return "".join(part.partition("}")[0] for part in kernels.split("for (")[1:] if "[" in part)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (1, 5), (4, 1), (3, 7)])
@pytest.mark.parametrize("times", [(1, 1), (2, 3), (5, 2), (0, 2)])
def test_tiles_take_no_remainder_for_each_element(
    shape: tuple[int, int], times: tuple[int, int]
) -> None:
    values = np.random.default_rng(0).standard_normal(shape)
    x, y = T.matrix("x"), T.vector("y")
    tiled = T.tile(x, times)
    f = symc.function([x, y], [tiled, tiled.sum(1), tiled.sum(0), T.exp(T.tile(y, times[0]))])
    got, rows, columns, flat = f(values, values.ravel())
    wanted = np.tile(values, times)
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_allclose(rows, wanted.sum(1), atol=1e-13)
    np.testing.assert_allclose(columns, wanted.sum(0), atol=1e-13)
    np.testing.assert_allclose(flat, np.exp(np.tile(values.ravel(), times[0])), rtol=1e-13)


def test_no_innermost_loop_divides() -> None:
    x, y = T.matrix("x"), T.vector("y")
    f = symc.function([x, y], [T.tile(x, (2, 3)), T.tile(x, (2, 3)).sum(1), T.tile(y, 5) * 2])
    inner = _loops(f.source)
    assert "_in_lap" in inner
    assert "symc_mod_i64(" not in inner


@pytest.mark.parametrize("length", [0, 1, 3, 8, 20])
@pytest.mark.parametrize("less", [0, 5])
def test_remainders_by_sizes_that_may_be_zero_or_negative(length: int, less: int) -> None:
    x, n = T.vector("x"), T.lscalar("n")
    by = x.shape[0] - less
    f = symc.function([x, n], T.arange(n) % by)
    if length == less:
        with pytest.raises(ZeroDivisionError):
            f(np.ones(length), 10)
    else:
        wanted = np.arange(10) % (length - less)
        np.testing.assert_array_equal(f(np.ones(length), 10), wanted)
