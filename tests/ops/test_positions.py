"""Where extremes are, in rows, columns and all of arrays in memory, and of what is computed.

The lengths are those around which loops and routines change: vectors, four of them, the numbers
that lanes hold, strips and blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.verify.program import verify
from tests.fuzz.opinions import interpreted
from tests.ops.lowering_check import check_lowering

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ALL = ["bool", *INTEGERS, *FLOATS]
NAN, INF = float("nan"), float("inf")
SHAPES = [
    (1, 1), (70, 1), (33, 5), (9, 8), (130, 16), (35, 17), (67, 33), (35, 64), (7, 65), (5, 129),
    (3, 256), (3, 257), (4, 513), (2, 1300), (2, 8192), (2, 8193), (3, 8500), (1, 20_000),
    (129, 3), (1000, 7), (300, 32), (513, 40),
]  # fmt: skip


def arrays(dtype: str, shape: tuple[int, int]) -> Iterator[Any]:
    """Arrays of few different numbers, with one extreme, and with what floats have besides."""
    some = np.random.default_rng(sum(shape))
    for most in (2, 100):
        yield some.integers(0, most, shape).astype(dtype)
    lone = np.ones(shape, dtype)
    lone[-1, -1] = 0
    yield lone
    yield np.ones(shape, dtype)
    if dtype.startswith("float"):
        given = some.integers(-9, 9, shape).astype(dtype)
        yield np.where(some.random(shape) < 1 / shape[1], NAN, given).astype(dtype)
        yield np.where(some.random(shape) < 0.1, some.choice([-INF, INF], shape), given)
        yield np.full(shape, some.choice([-INF, INF, NAN]), dtype)
        yield np.where(some.random(shape) < 0.5, 0.0, -0.0).astype(dtype)
    elif dtype != "bool":
        limits = np.iinfo(dtype)
        yield np.where(some.random(shape) < 2 / shape[1], limits.max, limits.min).astype(dtype)


def agree(f: Callable[[Any], Any], wanted: Callable[[Any], list[Any]], dtype: str) -> None:
    for shape in SHAPES:
        for array in arrays(dtype, shape):
            given = array.astype(dtype)
            for number, (found, right) in enumerate(zip(f(given), wanted(given), strict=True)):
                message = f"{shape}, result {number}"
                np.testing.assert_array_equal(found, right, err_msg=message)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_in_memory(name: str, dtype: str) -> None:
    x = T.matrix("x", dtype=dtype)
    here, there = getattr(T, name), getattr(np, name)
    f = symc.function([x], [here(x, 1), here(x), here(x, 0), here(x.T, 1)])
    agree(f, lambda a: [there(a, 1), there(a), there(a, 0), there(a, 0)], dtype)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "float32", "float64"])
def test_positions_in_long_rows(dtype: str) -> None:
    """Rows of several of the blocks that a routine takes one after the other."""
    x = T.vector("x", dtype=dtype)
    f = symc.function([x], [T.argmax(x), T.argmin(x)])
    block = 1 << 20
    for n in (block - 1, block, block + 1, block + 40, 2 * block, 2 * block + 3):
        given = np.ones(n, dtype)
        for place in (0, 5, 8191, block - 1, block, n - 1):
            if place < n:
                given[place] = 0
                assert f(given) == [given.argmax(), place]
                if dtype.startswith("float"):
                    given[n // 2 + 1 :: 7] = NAN
                    assert f(given) == [given.argmax(), given.argmin()]
                given[:] = 1


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", *FLOATS])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_of_what_is_computed(name: str, dtype: str) -> None:
    x = T.matrix("x", dtype=dtype)
    here, there = getattr(T, name), getattr(np, name)
    y = T.maximum(x, x[::-1])  # computed exactly, and ties remain
    f = symc.function([x], [here(y, 1), here(y), here(y, 0), here(y.T, 0), here(y.T)])

    def wanted(a: Any) -> list[Any]:
        b = np.maximum(a, a[::-1])
        return [there(b, 1), there(b), there(b, 0), there(b, 1), there(b.T)]

    agree(f, wanted, dtype)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float32", "float64"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_in_views(name: str, dtype: str) -> None:
    x = T.matrix("x", dtype=dtype)
    here, there = getattr(T, name), getattr(np, name)
    f = symc.function([x], [here(x[:, ::2], 1), here(x[::2], 0), here(x[0]), here(x[:, 0])])
    agree(
        f, lambda a: [there(a[:, ::2], 1), there(a[::2], 0), there(a[0]), there(a[:, 0])], dtype
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(40, 12), (3, 700), (1, 5), (300, 2), (5, 1)])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64"])
def test_positions_where_lengths_are_known(dtype: str, shape: tuple[int, int]) -> None:
    x = T.tensor(dtype, shape=shape, name="x")
    y = T.where(T.eq(x, x[0]), x[0], x)
    f = symc.function([x], [T.argmax(x, 0), T.argmin(x, 1), T.argmin(y, 0), T.argmax(y, 1)])
    for array in arrays(dtype, shape):
        a = array.astype(dtype)
        wanted = [a.argmax(0), a.argmin(1), a.argmin(0), a.argmax(1)]
        for found, right in zip(f(a), wanted, strict=True):
            np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("axis", [(0, 2), (0, 1), (1, 2), None, 1])
def test_positions_over_several_axes_of_what_is_computed(axis: Any) -> None:
    x = T.tensor("float32", shape=(None, None, None), name="x")
    f = symc.function([x], T.argmin(-abs(x), axis))
    axes = (0, 1, 2) if axis is None else (axis,) if isinstance(axis, int) else axis
    for shape in ((2, 3, 4), (5, 40, 33), (20, 2, 700), (1, 1, 1)):
        a = np.random.default_rng(0).integers(-5, 6, shape).astype("float32")
        kept = [number for number in range(3) if number not in axes]
        rows = (-abs(a)).transpose([*kept, *axes]).reshape([*(shape[k] for k in kept), -1])
        np.testing.assert_array_equal(f(a), rows.argmin(-1))


def test_bools_of_other_bytes_are_true() -> None:
    """NumPy takes any byte but 0 for True, where an array is viewed as bools."""
    x = T.matrix("x", dtype="bool")
    f = symc.function([x], [T.argmax(x, 1), T.argmin(x, 1), T.argmax(x), T.argmax(x, 0)])
    for n in (3, 70, 300, 9000):
        given = np.tile(np.array([[0, 2, 1], [2, 1, 0]], "uint8"), (9, n // 3)).view(bool)
        first, of_all, down = np.tile([1, 0], 9), 1, np.tile([1, 0, 0], n // 3)
        wanted = [first, np.tile([0, 2], 9), of_all, down]
        for found, right in zip(f(given), wanted, strict=True):
            np.testing.assert_array_equal(found, right)


def test_nearest_of_some_places() -> None:
    """The distances of a row are computed once, and searched where they are."""
    x, c = T.matrix("x"), T.matrix("c")
    f = symc.function([x, c], T.argmin(((x[:, None] - c[None]) ** 2).sum(2), 1))
    some = np.random.default_rng(1)
    for n, k, d in ((50, 3, 2), (20, 16, 3), (20, 17, 3), (9, 600, 2), (1, 1, 1)):
        a, b = some.integers(-4, 5, (n, d)) * 1.0, some.integers(-4, 5, (k, d)) * 1.0
        wanted = ((a[:, None] - b[None]) ** 2).sum(2).argmin(1)
        np.testing.assert_array_equal(f(a, b), wanted)
    assert "min_kernel" not in f.source.replace("argmin_kernel", "")


def test_positions_in_a_loop() -> None:
    """Chosen again and again of what is left: computed from bools, and from rows of a table."""
    x = T.vector("x")

    def step(i: Any, order: Any, done: Any) -> Any:
        place = T.argmin(T.where(done, INF, x))
        return order[i].set(place), done[place].set(True)

    first = [T.zeros(x.shape[0], "int64"), T.zeros(x.shape[0], "bool")]
    f = symc.function([x], symc.fori_loop(0, x.shape[0], step, first)[0])
    for n in (1, 5, 16, 17, 200, 600):
        given = np.random.default_rng(n).integers(0, n, n) * 1.0
        np.testing.assert_array_equal(f(given), np.argsort(given, kind="stable"))


@pytest.mark.parametrize("dtype", ["bool", "float16", "float32", "int64"])
def test_lowering_of_positions(dtype: str) -> None:
    x = np.random.default_rng(0).integers(0, 4, (3, 5)).astype(dtype)
    check_lowering(lambda a: [T.argmax(a[::-1], 0), T.argmin(a.T, 0), T.argmax(a[:, 1:])], x)


def test_no_elements_have_no_position() -> None:
    x = T.matrix("x")
    for axis in (0, 1, None):
        f = symc.function([x], T.argmax(x * 2, axis))
        with pytest.raises(ValueError, match="argmax"):
            f(np.zeros((0, 3)) if axis == 0 else np.zeros((3, 0)))
        if axis is not None:
            assert f(np.zeros((3, 0)) if axis == 0 else np.zeros((0, 3))).shape == (0,)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "float64"])
def test_loop_ir_of_positions(dtype: str) -> None:
    """It keeps to its rules before and after all passes, and its interpreter agrees."""
    x = T.matrix("x", dtype=dtype)
    y = x[::-1]
    f = symc.function([x], [T.argmax(y, 0), T.argmin(y, 1), T.argmax(y), T.argmin(x, 0)])
    made = f.runner.compilation()
    verify(made.program)
    verify(made.optimised)
    for shape in ((3, 2), (5, 40), (24, 18)):
        for array in arrays(dtype, shape):
            a = array.astype(dtype)
            b = a[::-1]
            wanted = [b.argmax(0), b.argmin(1), b.argmax(), a.argmin(0)]
            for optimised in (False, True):
                results = interpreted(f, [a], optimised=optimised, backwards=True)
                for found, right in zip(results, wanted, strict=True):
                    np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("name", [None, "acc", "best", "at", "again", "most"])
def test_an_array_whose_name_positions_have_for_a_number(name: str | None) -> None:
    """What a kernel stores for others got its name after the kernel had given it to a number."""
    x, c = T.matrix("x"), T.matrix("c")
    products = (x[:, None, :] * c).sum(2)  # by itself it is called "sum"
    products.name = name
    f = symc.function([x, c], [T.argmax(products, 1), T.exp(products).cumsum(1)])
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(33, 16)), rng.normal(size=(6, 16))
    wanted = a @ b.T
    places, sums = f(a, b)
    np.testing.assert_array_equal(places, wanted.argmax(1))
    np.testing.assert_allclose(sums, np.exp(wanted).cumsum(1), rtol=1e-10)
