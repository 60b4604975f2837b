"""bfloat16, element by element: each op's bits are ml_dtypes' and NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import symc
import symc.tensor as T
from symc.errors import DTypeError

Array = npt.NDArray[Any]
B: Any = ml_dtypes.bfloat16


def every_bfloat16() -> Array:
    """All 65536 of them."""
    return np.arange(1 << 16, dtype=np.uint16).view(B)


def bits(array: Array) -> Array:
    """What is in memory, but for the bits of NaN, of which nothing is promised."""
    array = np.array(array)
    array[np.isnan(array)] = np.nan
    return array.view(np.uint16)


def pairs(seed: int) -> tuple[Array, Array]:
    """Two arrays of numbers of all sizes, with the special ones."""
    rng = np.random.default_rng(seed)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 3.3895e38, 1e-40], B)
    x, y = (rng.integers(0, 1 << 16, 4000, dtype=np.uint16).view(B) for _ in range(2))
    near = rng.standard_normal(2000).astype(B)
    return (
        np.concatenate([x, near, np.repeat(special, 9)]),
        np.concatenate([y, near[::-1], np.tile(special, 9)]),
    )


def ulps(found: Array, expected: Array) -> int:
    """How many numbers apart two arrays are at most."""
    ordered = [
        np.where(b < 0x8000, b.astype(np.int64), 0x8000 - b.astype(np.int64))
        for b in (bits(found), bits(expected))
    ]
    return int(np.abs(ordered[0] - ordered[1]).max(initial=0))


TWO: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y,
    lambda x, y: x % y, lambda x, y: x // y,
]  # fmt: skip
COMPARED: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x < y, lambda x, y: x >= y, lambda x, y: x > y, lambda x, y: x <= y,
]  # fmt: skip
ONE = ["abs", "ceil", "floor", "rint", "sign", "sqrt", "square", "trunc", "negative"]
NEAR = ["exp", "exp2", "expm1", "log", "log1p", "log2", "sin", "cos", "tanh", "arctan", "cbrt"]


@pytest.mark.parametrize("number", range(len(TWO)))
def test_arithmetic_has_the_bits_of_numpys(number: int) -> None:
    x, y = T.vector("x", dtype="bfloat16"), T.vector("y", dtype="bfloat16")
    a, b = pairs(number)
    f = symc.function([x, y], TWO[number](x, y))
    with np.errstate(all="ignore"):
        wide = TWO[number](a.astype(np.float32), b.astype(np.float32)).astype(B)
    assert f(a, b).dtype == B
    np.testing.assert_array_equal(bits(f(a, b)), bits(wide))
    if number < 4:  # its remainders lose digits
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(bits(wide), bits(TWO[number](a, b)))


def test_comparisons_are_numpys() -> None:
    x, y = T.vector("x", dtype="bfloat16"), T.vector("y", dtype="bfloat16")
    f = symc.function([x, y], [compare(x, y) for compare in COMPARED])
    a, b = pairs(0)
    for found, compare in zip(f(a, b), COMPARED, strict=True):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(found, compare(a, b))


@pytest.mark.parametrize("name", ONE)
def test_exact_functions_of_every_number(name: str) -> None:
    x = T.vector("x", dtype="bfloat16")
    a = every_bfloat16()
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a.astype(np.float32)).astype(B)
    found = symc.function([x], getattr(T, name)(x))(a)
    np.testing.assert_array_equal(bits(found), bits(expected))


def test_functions_of_every_number_are_near() -> None:
    x = T.vector("x", dtype="bfloat16")
    a = every_bfloat16()
    f = symc.function([x], [getattr(T, name)(x) for name in NEAR])
    for name, found in zip(NEAR, f(a), strict=True):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(a.astype(np.float64)).astype(B)
        assert np.array_equal(np.isnan(found), np.isnan(expected)), name
        assert ulps(found, expected) <= 1, name


def test_each_op_of_a_fused_loop_is_rounded() -> None:
    x = T.vector("x", dtype="bfloat16")
    a = np.random.default_rng(3).standard_normal(5000).astype(B)
    found = symc.function([x], (x * x + 1) / (x - 3))(a)
    one, three = np.ones((), B), np.array(3, B)
    np.testing.assert_array_equal(bits(found), bits((a * a + one) / (a - three)))


@pytest.mark.parametrize("mode", ["default", "python", "debug"])
def test_modes_agree(mode: str) -> None:
    x = T.vector("x", dtype="bfloat16")
    a = np.array([1.5, -2, 0.1, np.inf], B)
    found = symc.function([x], [x * 3 + 0.1, T.where(x > 1, x, -x)], mode=mode)(a)
    three, tenth = np.array(3, B), np.array(0.1, B)
    np.testing.assert_array_equal(bits(found[0]), bits(a * three + tenth))
    np.testing.assert_array_equal(bits(found[1]), bits(np.where(a > 1, a, -a)))


OTHERS = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128",
]  # fmt: skip


@pytest.mark.parametrize("dtype", OTHERS)
def test_conversions_to_and_from_every_dtype(dtype: str) -> None:
    x = T.vector("x", dtype="bfloat16")
    a = np.array([0, 1, -1, 2.5, 100, 3e38, np.inf, -np.inf, np.nan, 1e-40], B)
    if dtype in ("uint32", "uint64"):  # what NumPy makes of others depends on their number
        a = np.abs(a[:5])
    found = symc.function([x], x.astype(dtype))(a)
    with np.errstate(all="ignore"):
        expected = a.astype(np.float32).astype(dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)
    if "complex" in dtype:
        with pytest.raises(DTypeError, match="does not become a bfloat16 without loss"):
            T.vector("y", dtype=dtype).astype("bfloat16")
        return
    y = T.vector("y", dtype=dtype)
    rng = np.random.default_rng(1)
    if np.issubdtype(dtype, np.floating):
        with np.errstate(all="ignore"):
            values = rng.integers(0, 1 << 63, 3000, dtype=np.uint64).view(np.float64).astype(dtype)
    else:
        values = rng.integers(0, 256, 24000, dtype=np.uint8).view(dtype if dtype != "bool" else "?")
        values = values % 2 == 0 if dtype == "bool" else values
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            bits(symc.function([y], y.astype("bfloat16"))(values)), bits(values.astype(B))
        )


def test_the_next_number_of_each() -> None:
    """That of float32 is rounded to the number itself."""
    x, y = T.vector("x", dtype="bfloat16"), T.scalar("y", dtype="bfloat16")
    a = every_bfloat16()
    for mode in ("default", "python"):
        f = symc.function([x, y], T.nextafter(x, y), mode=mode)
        for end in (np.inf, -np.inf, 0.0, 1.0):
            to = np.array(end, B)
            with np.errstate(all="ignore"):
                expected = np.nextafter(a, to)
            np.testing.assert_array_equal(bits(f(a, to)), bits(expected))
    finite = np.array([1, -2, 1e-40, 0], B)
    np.testing.assert_array_equal(symc.function([x], T.spacing(x))(finite), np.spacing(finite))


def test_rounding_is_to_the_nearest_and_even() -> None:
    x = T.vector("x", dtype="float32")
    rng = np.random.default_rng(7)
    ties = (rng.integers(0, 1 << 16, 5000, dtype=np.uint32) << 16 | 0x8000).view(np.float32)
    any_ = rng.integers(0, 1 << 32, 50000, dtype=np.uint32).view(np.float32)
    for values in (ties, any_):
        with np.errstate(all="ignore"):
            expected = values.astype(B)
        found = symc.function([x], x.astype("bfloat16"))(values)
        np.testing.assert_array_equal(found.view(np.uint16)[~np.isnan(expected)],
                                      expected.view(np.uint16)[~np.isnan(expected)])  # fmt: skip
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))


@pytest.mark.parametrize(
    ("other", "result"),
    [
        ("bool", "bfloat16"), ("int8", "bfloat16"), ("int64", "bfloat16"), ("uint64", "bfloat16"),
        ("float16", "float32"), ("float32", "float32"), ("float64", "float64"),
        ("complex64", "complex64"), ("complex128", "complex128"), ("bfloat16", "bfloat16"),
    ],
)  # fmt: skip
def test_promotion_is_that_of_jax(other: str, result: str) -> None:
    x, y = T.scalar("x", dtype="bfloat16"), T.scalar("y", dtype=other)
    assert (x * y).dtype == result
    assert (y * x).dtype == result
    assert T.result_type("bfloat16", other) == T.result_type(other, "bfloat16") == result


def test_promotion_with_numbers_and_of_three() -> None:
    x = T.scalar("x", dtype="bfloat16")
    assert [(x + number).dtype for number in (True, 2, 2.5)] == ["bfloat16"] * 3
    assert (x + 1j).dtype == "complex64"
    assert (x * np.float32(2)).dtype == "float32"
    assert T.result_type("float16", "int64", "bfloat16") == "float32"
    assert T.arctan2(x, T.scalar("i", dtype="int64")).dtype == "bfloat16"
    assert T.where(T.scalar("c", dtype="bool"), x, 1.0).dtype == "bfloat16"


def test_questions_about_the_dtype() -> None:
    assert T.isdtype("bfloat16", "real floating")
    assert T.isdtype("bfloat16", "numeric")
    assert T.isdtype("bfloat16", "bfloat16")
    assert not T.isdtype("bfloat16", "integral")
    assert not T.isdtype("bfloat16", T.vector("x", dtype="float32").dtype)
    assert not T.isdtype("float32", T.vector("x", dtype="bfloat16").dtype)
    assert T.can_cast("bfloat16", "float32")
    assert not T.can_cast("float32", "bfloat16")
    assert not T.can_cast("float16", "bfloat16")
    assert float(T.finfo("bfloat16").eps) == 2.0**-7
    assert float(T.finfo(T.vector("x", dtype=B)).max) > 3.3e38
