"""Integers that wrap around are negative where sums and products of natural numbers are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, DivisionByZero
from tests.ops.harness import same

MODES = ["default", "python"]
X = np.arange(10.0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("by", [2.0, 11.0])
def test_a_remainder_of_floats_has_a_remainder(by: float, mode: str) -> None:
    """As the first is not negative, it was C's `%`, which floats do not have."""
    x = T.vector("x")
    values = np.array([-3.5, 0.0, 7.0, 8.25, 100.0, 6.999])
    outputs = [x % 7 % by, x % 7 // by, T.cast(x % 7 % by, "int64")]
    wanted = [values % 7 % by, values % 7 // by, (values % 7 % by).astype("int64")]
    for output, want in zip(outputs, wanted, strict=True):  # one alone, so that none has a name
        same(symc.function([x], output, mode=mode)(values), want, 1e-15)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_remainders_whose_sum_or_product_wraps_are_divided_as_by_numpy(
    dtype: str, mode: str
) -> None:
    most = np.iinfo(dtype).max
    by = np.array(most - 3, dtype)
    values = np.array([most - 4, most // 2 + 2, 5, most - 4, 0], dtype)
    x = T.vector("x", dtype)

    def results(a: Any, b: Any) -> list[Any]:
        r = a % b
        return [(r + r) // 3, (r + r + r) % 5, r * r % 7, (r % 9 + r % 7) // 4, r * r // 2]

    found = symc.function([x], results(x, T.constant(by)), mode=mode)(values)
    for result, want in zip(found, results(values, by), strict=True):
        same(result, want, 0.0)


INDEXES: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: T.maximum(a, 0) + T.maximum(b, 0),
    "product": lambda a, b: T.maximum(a, 1) * T.maximum(b % 3, 2),
    "absolute": lambda a, b: T.abs(T.minimum(a, b) * 2),
    "negative": lambda a, b: -T.minimum(-a - b, 0),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", INDEXES)
@pytest.mark.parametrize("ndim", [0, 1])
def test_an_index_that_wraps_is_out_of_range(name: str, ndim: int, mode: str) -> None:
    """It was taken for one that is not negative, and memory before the array was read."""
    x = T.vector("x")
    a, b = (T.tensor("int64", (None,) * ndim, name=letter) for letter in "ab")
    index = INDEXES[name](a, b)
    value = np.full((1,) * ndim, 2**62)
    for output in (x[index], x[index].set(7.0)):
        f = symc.function([x, a, b], output, mode=mode)
        with pytest.raises(BadIndex, match="index -9223372036854775808 is out of bounds"):
            f(X, value, value)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("ndim", [0, 1])
def test_an_index_that_wraps_counts_from_the_end(ndim: int, dtype: str, mode: str) -> None:
    bits = np.iinfo(dtype).bits // 2
    x = T.vector("x")
    a, b = (T.tensor(dtype, (None,) * ndim, name=letter) for letter in "ab")
    index = a % 2 ** (bits + 3) * (b % 2 ** (bits + 3))
    one, other = (np.full((1,) * ndim, 2**bits + k).astype(dtype) for k in (-1, 1))
    f = symc.function([x, a, b], [x[index], x[index].set(7.0)], mode=mode)
    taken, written = f(X, one, other)  # at 2**(2 * bits) - 1, which is -1
    same(taken, np.full((1,) * ndim, 9.0), 0.0)
    same(written, np.append(X[:-1], 7.0), 0.0)


@pytest.mark.parametrize("mode", MODES)
def test_a_divisor_that_wraps_to_zero_is_refused(mode: str) -> None:
    a = T.vector("a", "int64")
    f = symc.function([a], 5 // (T.maximum(a, 1) * T.maximum(a, 1)), mode=mode)
    same(f(np.array([1, 2, -7])), np.array([5, 1, 5]), 0.0)
    with pytest.raises(DivisionByZero):
        f(np.array([2**32]))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64"])
@pytest.mark.parametrize("power", [1, 2, 4, 64, 2**30, 2**62])
def test_divisors_that_are_powers_of_two(dtype: str, power: int) -> None:
    """By these, integers are divided by shifts and masks."""
    bounds = np.iinfo(dtype)
    if power > bounds.max:
        return
    x = T.tensor(dtype, (None,), "x")
    divisor = np.dtype(dtype).type(power)
    f = symc.function([x], [x // divisor, x % divisor, (x // divisor) * 2 + x % divisor])
    given = np.array(
        [0, 1, 3, 5, 64, bounds.max, bounds.max - 1, bounds.min, bounds.min // 2], dtype
    )
    quotient, rest, both = f(given)
    np.testing.assert_array_equal(quotient, given // divisor)
    np.testing.assert_array_equal(rest, given % divisor)
    np.testing.assert_array_equal(
        both, (given // divisor) * np.dtype(dtype).type(2) + given % divisor
    )
    assert quotient.dtype == rest.dtype == dtype


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 10, 1000, 2**31, 2**62 - 1, 2**63 - 1, -3, -8])
def test_divisions_by_constants_in_steps(divisor: int) -> None:
    """One at a time, what is not negative is divided without a correction, the others with one."""
    x = T.lvector("x")

    def step(i: Any, state: list[Any]) -> Any:
        quotients, rests = state
        return quotients[i].set(x[i] // divisor), rests[i].set(x[i] % divisor)

    def both(i: Any, quotients: Any, rests: Any) -> Any:
        return step(i, [quotients, rests])

    begun = [T.zeros_like(x), T.zeros_like(x)]
    f = symc.function([x], symc.fori_loop(0, x.shape[0], both, begun))
    low, high = -(2**63), 2**63 - 1
    given = np.array([low, low + 1, -10, -7, -3, -1, 0, 1, 2, 3, 7, 10, 2**31, high - 1, high])
    for found, wanted in zip(f(given), (given // divisor, given % divisor), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("base", [3, 10])
def test_digits_of_numbers_of_both_signs(base: int) -> None:
    x = T.lvector("x")

    def one(k: Any) -> Any:
        begun = [k, T.constant(0, dtype="int64")]
        return symc.while_loop(
            lambda k, s: T.neq(k, 0) & T.neq(k, -1), lambda k, s: (k // base, s + k % base), begun
        )[1]

    f = symc.function([x], symc.map(one, x)[0])
    assert "symc_floordiv_step_i64" in f.source
    given = np.array([-(2**63), 2**63 - 1, -123456789, 987654321, -1, 0, 1, 2, -9, 9])
    wanted: list[int] = []
    for k in given.tolist():
        s = 0
        while k not in (0, -1):
            k, s = k // base, s + k % base
        wanted.append(s)
    np.testing.assert_array_equal(f(given), wanted)
