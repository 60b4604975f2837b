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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("power", [1.0, 256.0, 0.5, 2.0**-100, 2.0**100, -1.0, -0.25])
def test_remainders_by_a_power_of_two_are_numpys_to_the_bit(power: float, dtype: str) -> None:
    """They have functions without branches; `x % 1.0` took 14 times as long."""
    info, some = np.finfo(dtype), np.random.default_rng(5)
    ends = [0, 0.5, 1, 1.5, 256, 1e-20, 2.0**23 + 0.5, 2.0**52 + 0.5, 1e20, np.inf, np.nan]
    ends += [*map(float, (info.tiny, info.max, info.smallest_subnormal)), 3 * abs(power)]
    x = np.concatenate([ends, some.normal(size=600) * np.exp(some.uniform(-80, 60, 600))])
    x = np.concatenate([x, some.normal(size=600) * power]).astype(dtype)
    with np.errstate(all="ignore"):
        x = np.concatenate([x, -x, np.nextafter(x, np.array(np.inf, dtype))])
    v, divisor = T.vector("v", dtype=dtype), np.array(power, dtype)
    f = symc.function([v], [v % divisor, T.fmod(v, divisor)])
    assert "symc_mod_power_f" in f.source
    with np.errstate(all="ignore"):
        wanted = [np.remainder(x, divisor), np.fmod(x, divisor)]
    for got, want in zip(f(x), wanted, strict=True):
        np.testing.assert_array_equal(got, want)
        real = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[real], np.signbit(want)[real])


def test_other_divisors_keep_the_general_remainder() -> None:
    x = T.vector("x")
    for divisor in (0.0, 3.0, 0.1, 2.0**200, np.inf, np.nan):
        f = symc.function([x], x % divisor)
        assert "symc_mod_power" not in f.source
        given = np.array([-7.5, 0.0, 1e300, np.inf])
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(f(given), np.remainder(given, divisor))
