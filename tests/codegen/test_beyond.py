"""libmvec's exponentials and logarithms where it leaves for scalar code: `included/beyond.h`."""

from __future__ import annotations

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.graph.node import Array

DTYPES = ("float32", "float64")
EXPONENTIALS, LOGARITHMS = ("exp", "exp2"), ("log", "log2", "log10")


def _edges(dtype: str) -> Array:
    """Where results stop to be normal, to be numbers, and to be more than 0, and what is there."""
    info = np.finfo(dtype)
    least, most = float(info.minexp), float(info.maxexp)
    bits = [least, least - 0.5, least - info.nmant, least - info.nmant - 1, most - 0.25, most]
    near = np.array([*bits, least - 2, least - 7.3, 3 * least, 3 * most])
    points = np.concatenate([near, near * np.log(2), [0, 0.5, 1, 1e9, 1e30, np.inf, np.nan]])
    small = np.array([info.tiny, info.smallest_subnormal, 3e5 * info.smallest_subnormal, info.max])
    around = points.astype(dtype)
    around = np.concatenate([around, np.nextafter(around, -np.inf), np.nextafter(around, np.inf)])
    positive = np.concatenate([around, small.astype(dtype)])
    return np.concatenate([positive, -positive])


def _compiled(name: str, dtype: str) -> symc.Function:
    x = T.vector("x", dtype=dtype)
    return symc.function([x], getattr(T, name)(x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXPONENTIALS + LOGARITHMS)
def test_results_at_the_ends_of_the_range(name: str, dtype: str) -> None:
    x = np.resize(_edges(dtype), 1001)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x.astype(np.longdouble)).astype(dtype)
    got = np.asarray(_compiled(name, dtype)(x))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(want))
    np.testing.assert_array_equal(got == 0, want == 0)
    real = np.isfinite(want)
    unit = np.spacing(np.maximum(np.abs(want[real]), np.finfo(dtype).tiny))
    assert np.max(np.abs(got[real] - want[real]) / unit) <= 4  # as libmvec's


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXPONENTIALS + LOGARITHMS)
@pytest.mark.parametrize("length", [1, 2, 3, 5, 8, 13, 31])
def test_ends_of_loops_in_shorter_vectors(name: str, dtype: str, length: int) -> None:
    x = _edges(dtype)
    compiled = _compiled(name, dtype)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x.astype(np.longdouble)).astype(dtype)
    for start in range(0, len(x), length):
        part = want[start : start + length]
        got = np.asarray(compiled(x[start : start + length]))
        np.testing.assert_allclose(got, part, rtol=4 * float(np.finfo(dtype).eps), atol=2e-323)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "far"), [("exp", -1e9), ("exp2", np.nan), ("log", 0.0)])
def test_a_number_has_the_same_bits_beside_one_that_is_beyond(
    name: str, far: float, dtype: str
) -> None:
    x = np.linspace(0.5, 40, 256, dtype=dtype)
    beside = x.copy()
    beside[::5] = far
    compiled = _compiled(name, dtype)
    kept = np.arange(256) % 5 != 0
    got, want = np.asarray(compiled(beside)), np.asarray(compiled(x))
    np.testing.assert_array_equal(got[kept], want[kept])


def test_a_masked_softmax() -> None:
    x, m = T.matrix("x"), T.matrix("m", dtype="bool")
    compiled = symc.function([x, m], T.softmax(T.where(m, x, -1e9), axis=1))
    scores = np.random.default_rng(3).normal(size=(40, 64))
    mask = np.tril(np.ones((40, 64), bool))
    powers = np.where(mask, np.exp(scores), 0)
    want = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.asarray(compiled(scores, mask)), want, rtol=1e-13, atol=0)
