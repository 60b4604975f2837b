"""`T.fmod` is NumPy's, of integers, too: `fmod(2**63 - 1, -2**63)` gave 0.0, in float64."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

import symc
import symc.tensor as T

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
KINDS = [*INTEGERS, "float32", "float64"]


def ends(kind: str, *, zero: bool) -> npt.NDArray[np.generic]:
    """The ends of a type, and numbers between."""
    if kind.startswith("float"):
        return np.array([1.5, -2.25, 7, -7, 0.5, 3], kind)
    info = np.iinfo(kind)
    low = info.min if zero or info.min else 5
    return np.array([low, info.max, 1, 3, info.max // 2, 7], kind)


@pytest.mark.parametrize("mode", ["default", "python"])
def test_every_pair_of_types(mode: str) -> None:
    pairs = list(itertools.product(KINDS, KINDS))
    for some in (pairs[:50], pairs[50:]):
        given = [np.meshgrid(ends(a, zero=True), ends(b, zero=False)) for a, b in some]
        inputs = [[T.tensor(array.dtype.name, array.shape) for array in two] for two in given]
        outputs = [T.fmod(x, y) for x, y in inputs]
        f = symc.function([v for two in inputs for v in two], outputs, mode=mode)
        results = f(*[array for two in given for array in two])
        for (x, y), result in zip(given, results, strict=True):
            wanted = np.fmod(x, y)
            assert result.dtype == wanted.dtype
            np.testing.assert_array_equal(result, wanted)


def test_zero_raises_and_floats_have_a_derivative() -> None:
    with pytest.raises(ZeroDivisionError):
        T.fmod(np.array([3]), np.array([0])).eval()
    x, y = T.dscalar("x"), T.dscalar("y")
    slopes = symc.function([x, y], [symc.grad(T.fmod(x, y), v) for v in (x, y)])
    assert slopes(-7.5, 2.0) == [1.0, 3.0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floor_division_is_numpys_to_the_bit(dtype: str) -> None:
    """Quotients below and above the limit of the short way, whole ones, zeros of either sign."""
    x, y = (T.vector(name, dtype=dtype) for name in "xy")
    f = symc.function([x, y], x // y)
    some, few = (
        np.random.default_rng(4),
        np.array([0, 0.1, 1, 3, 2.0**20, 2.0**50 + 1, 1e30, np.inf]),
    )
    ends = np.concatenate([few, -few, [np.nan]])
    cases = [
        np.meshgrid(ends, ends),
        [some.integers(-50, 50, 500) / 8, some.integers(-9, 9, 500) / 8],
    ]
    sizes = (1.0, 1e-9, 1e9, 1e16)
    cases += [[some.normal(size=500) * size, some.normal(size=500)] for size in sizes]
    for given in cases:
        a, b = (np.ravel(array).astype(dtype) for array in given)
        with np.errstate(all="ignore"):
            wanted = a // b
        np.testing.assert_array_equal(f(a, b), wanted)
        zero = wanted == 0
        np.testing.assert_array_equal(np.signbit(f(a, b))[zero], np.signbit(wanted)[zero])
