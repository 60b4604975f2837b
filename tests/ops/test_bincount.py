"""How often integers occur."""

from __future__ import annotations

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import DTypeError, RankError, ShapeMismatch
from tests.ops.harness import check
from tests.ops.test_sort import run

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("x", [[1, 3, 1, 0], [], [5]])
@pytest.mark.parametrize("minlength", [0, 3, 8])
def test_bincount(x: list[int], minlength: int) -> None:
    values = np.array(x, np.int32)
    weights = RNG.standard_normal(len(x))
    (plain,) = run(lambda x: T.bincount(x, minlength=minlength), values, compiled=minlength == 3)
    np.testing.assert_array_equal(plain, np.bincount(values, minlength=minlength))
    check(lambda w: T.bincount(values, w, minlength), weights, compiled=False,
          oracle=lambda w: np.bincount(values, w, minlength).astype(float))  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32"])
@pytest.mark.parametrize("minlength", [0, 2, 255, 256, 70_000])
def test_bincount_of_short_integers(dtype: str, minlength: int) -> None:
    """Each number that a picture may have is below 256: the largest one is not sought."""
    x, w = T.vector("x", dtype=dtype), T.dvector("w")
    f = symc.function([x, w], [T.bincount(x, None, minlength), T.bincount(x, w, minlength)])
    assert ("max_kernel" in f.source) == (
        {"bool": 2, "uint8": 256, "uint16": 65536}.get(dtype, 1 << 40) > minlength
    )
    for length in (0, 1, 50):
        values = RNG.integers(0, 2 if dtype == "bool" else 128, length).astype(dtype)
        if length > 1 and dtype == "uint8":
            values[7] = 255
        weights = RNG.standard_normal(length)
        found = f(values, weights)
        np.testing.assert_array_equal(found[0], np.bincount(values, None, minlength))
        np.testing.assert_allclose(found[1], np.bincount(values, weights, minlength))
    if dtype.startswith("int"):
        for least in (-1, np.iinfo(dtype).min):
            with pytest.raises(ValueError, match="bincount: the elements must not be negative"):
                f(np.array([3, least, 1], dtype), np.ones(3))


def test_a_bug_integers_that_a_cast_had_made_negative_were_counted() -> None:
    """They were taken for those that the cast was given, and written beyond the result."""
    for dtype in ("uint64", "int64", "uint32"):
        x = T.vector("x", dtype=dtype)
        for to in ("int64", "int8", "int16"):
            f = symc.function([x], T.bincount(T.cast(x, to), minlength=3))
            np.testing.assert_array_equal(f([1, 2]), [0, 1, 1])
            given = np.array([1, -1], to).astype(dtype)
            if to != "int64" or dtype != "uint32":
                with pytest.raises(ValueError, match="the elements must not be negative"):
                    f(given)


def test_a_bug_a_negative_minlength_was_none() -> None:
    x, least = T.lvector("x"), T.lscalar("least")
    f = symc.function([x, least], T.bincount(x, minlength=least))
    np.testing.assert_array_equal(f([1, 2], 5), [0, 1, 1, 0, 0])
    np.testing.assert_array_equal(f([1, 2], 0), [0, 1, 1])
    with pytest.raises(ValueError, match="minlength must not be negative"):
        f([1, 2], -1)


def test_what_bincount_refuses() -> None:
    x = T.lvector("x")
    for mode in ("compile", "python"):
        with pytest.raises(ValueError, match="bincount: the elements must not be negative"):
            symc.function([x], T.bincount(x), mode=mode)(np.array([1, -1]))
    with pytest.raises(ValueError, match="minlength must not be negative"):
        T.bincount(x, minlength=-1)
    with pytest.raises(DTypeError, match="bincount needs integers"):
        T.bincount(T.vector())
    with pytest.raises(RankError, match="bincount needs one axis"):
        T.bincount(T.lmatrix())
    with pytest.raises(ShapeMismatch, match="the weights must have the shape"):
        T.bincount(x, T.matrix())
    with pytest.raises(ShapeMismatch, match="the weights must have the shape"):
        T.bincount([1, 2, 3], np.ones(1))
    w = T.vector("w")
    with pytest.raises(ShapeMismatch, match="axis 0 has length 1, and must have 3"):
        symc.function([w], T.bincount([1, 2, 3], w), mode="python")(np.ones(1))
