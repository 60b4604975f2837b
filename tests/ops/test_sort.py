"""Sorting, searching, counting and quantiles against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex, DTypeError, RankError
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from symc.tensor.sorting.order import KINDS
from tests.ops.harness import check, inputs_for

RNG = np.random.default_rng(0)
NUMBERS = RNG.permutation(np.linspace(-2, 3, 24)).reshape(2, 3, 4)  # no two are close


def some(dtype: str, length: int) -> Any:
    """Numbers with ties, and with the special values of a dtype."""
    kind = np.dtype(dtype)
    values = (RNG.standard_normal(length) * 30).astype(dtype)
    special: list[float] = [0, 1]
    if kind.kind == "f":
        special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, np.finfo(kind).max]
    elif kind.kind != "b":
        special = [np.iinfo(kind).min, np.iinfo(kind).max]
    where = RNG.random(length) < 0.3
    values[where] = RNG.choice(np.array(special, kind), length)[where]
    return values


def run(build: Any, *arrays: Any, compiled: bool = True) -> list[Any]:
    """The values by the interpreter, which the compiled ones must equal."""
    symbols = inputs_for(arrays)
    made = build(*symbols)
    outputs = list(made) if isinstance(made, tuple | list) else [made]
    values = evaluate(outputs, dict(zip(symbols, arrays, strict=True)))
    if compiled:
        results = symc.function(symbols, outputs, mode="compile", on_unused_input="ignore")(*arrays)
        for result, value in zip(results, values, strict=True):
            assert result.dtype == value.dtype
            np.testing.assert_array_equal(result, value)
    return values


@pytest.mark.parametrize("dtype", KINDS)
def test_values_and_places_of_every_dtype(dtype: str) -> None:
    """Short rows, and one so long that ranges of ranges are needed."""
    symbol = T.tensor(dtype, (None, None))
    f = symc.function(
        [symbol],
        [op(symbol, descending=d) for op in (T.sort, T.argsort) for d in (False, True)],
        mode="compile",
    )
    for rows, length in ((3, 0), (2, 1), (5, 2), (3, 17), (2, 300), (1, 20_000)):
        x = some(dtype, rows * length).reshape(rows, length)
        up, down, places, backwards = f(x)
        np.testing.assert_array_equal(up, np.sort(x))
        np.testing.assert_array_equal(down, np.sort(x)[:, ::-1])
        np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))
        turned = length - 1 - np.argsort(x[:, ::-1], kind="stable")[:, ::-1]
        np.testing.assert_array_equal(backwards, turned)


def heavy(length: int) -> list[Any]:
    """Data that ranges of equal width cannot share out."""
    return [
        np.exp(RNG.standard_normal(length) * 50), RNG.standard_normal(length) ** 9,
        np.where(RNG.random(length) < 0.001, 1e300, RNG.standard_normal(length) * 1e-300),
        np.repeat(7.0, length), np.arange(length) % 5.0, np.arange(length)[::-1] * 1.0,
        np.arange(length) * 5e-324, np.where(np.arange(length) % 2, 1.7e308, -1.7e308),
    ]  # fmt: skip


def test_any_distribution_is_sorted_whatever_the_threads() -> None:
    x = T.vector("x")
    functions = []
    for threads in (1, 3):
        with symc.config.set(threads=threads):
            functions.append(symc.function([x], [T.sort(x), T.argsort(x)], mode="compile"))
    for values in heavy(70_000):
        for f in functions:
            up, places = f(values)
            np.testing.assert_array_equal(up, np.sort(values))
            np.testing.assert_array_equal(places, np.argsort(values, kind="stable"))
    integers = T.lvector("i")
    g = symc.function([integers], [T.argsort(integers)], mode="compile")
    for numbers in ((RNG.geometric(0.3, 5000) << 50), RNG.integers(-(2**62), 2**62, 5000)):
        np.testing.assert_array_equal(g(numbers)[0], np.argsort(numbers, kind="stable"))


def shapes_of_data(length: int) -> list[Any]:
    """Data on which a quicksort could go wrong: no key below the pivot, or all, or in order."""
    n = np.arange(length)
    return [
        n, n[::-1], n * 0 + 7, n % 2, n % 5, n % max(1, length // 8), np.minimum(n, n[::-1]),
        np.where(n == length // 2, -1, 1), RNG.permutation(n), RNG.geometric(0.3, length),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_values_of_every_length_up_to_300_and_of_many(dtype: str) -> None:
    x = T.tensor(dtype, (None,))
    f = symc.function([x], [T.sort(x), T.sort(x, descending=True)], mode="compile")
    for length in (*range(301), 5_000, 100_003):
        shapes = shapes_of_data(length) if length % 16 < 2 or length > 300 else []
        for data in [some(dtype, length), *shapes]:
            values = data.astype(dtype)
            up, down = f(values)
            np.testing.assert_array_equal(up, np.sort(values))
            np.testing.assert_array_equal(down, np.sort(values)[::-1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_negative_zeros_are_before_positive_ones_and_nan_is_last(dtype: str) -> None:
    """Whatever the length: in networks and in quicksort alike."""
    x = T.tensor(dtype, (None,))
    outputs = [T.sort(x), T.sort(x, descending=True)]
    f = symc.function([x], outputs, mode="compile", device="cpu")
    for length in (9, 33, 65, 1000):
        values = RNG.choice(np.array([0.0, -0.0, np.nan, -np.nan, 1, -1], dtype), length)
        up, down = f(values)
        zeros = up[up == 0]
        assert np.signbit(zeros).sum() == np.signbit(values[values == 0]).sum()
        assert (np.diff(np.signbit(zeros).astype(int)) <= 0).all()
        assert np.isnan(up[len(up) - np.isnan(values).sum() :]).all()
        np.testing.assert_array_equal(np.signbit(down[down == 0]), np.signbit(zeros)[::-1])


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_sort_along_axes(axis: int | None) -> None:
    check(lambda x: T.sort(x, axis), NUMBERS, oracle=lambda x: np.sort(x, axis),
          compiled=axis == 1)  # fmt: skip
    check(lambda x: [T.argsort(x, axis), x.argsort(axis), x.sort(axis)], NUMBERS, grad=False,
          oracle=lambda x: [*[np.argsort(x, axis, kind="stable")] * 2, np.sort(x, axis)],
          compiled=False)  # fmt: skip


def test_topk() -> None:
    def oracle(x: Any) -> Any:
        places = np.argsort(-x, axis=1, kind="stable")[:, :2]
        return [np.take_along_axis(x, places, 1), places]

    check(lambda x: list(T.topk(x, 2, axis=1)), NUMBERS, oracle=oracle)
    check(lambda x: T.topk(x, 2, axis=1, largest=False)[0], NUMBERS, compiled=False,
          oracle=lambda x: np.sort(x, axis=1)[:, :2])  # fmt: skip
    ties = np.array([2, 5, 5, 2, 5])
    values, places = run(lambda x: T.topk(x, 4), ties, compiled=False)
    assert values.tolist() == [5, 5, 5, 2]
    assert places.tolist() == [1, 2, 4, 0]
    with pytest.raises(BadIndex, match="topk: there are 3 elements, not 4"):
        T.topk(T.tensor("float64", (3,)), 4)
    x, k = T.vector("x"), T.lscalar("k")
    f = symc.function([x, k], T.topk(x, k)[0], mode="python")
    assert f(np.arange(3.0), 2).tolist() == [2, 1]
    for late in (4, -1):
        with pytest.raises(BadIndex, match="topk: k must be from 0 to the number of elements"):
            f(np.arange(3.0), late)


def test_partition() -> None:
    several: list[Any] = [0, 2, [1, -1], np.int64(1), np.array([0, 2])]
    for kth in several:
        (found, places) = run(
            lambda x, k=kth: [T.partition(x, k), T.argpartition(x, k)], NUMBERS, compiled=False
        )
        wanted = np.partition(NUMBERS, kth)
        np.testing.assert_array_equal(found[..., kth], wanted[..., kth])
        np.testing.assert_array_equal(np.take_along_axis(NUMBERS, places, -1), found)
    with pytest.raises(BadIndex, match="partition: kth=3, there are 3 elements"):
        T.partition(T.tensor("float64", (3,)), 3)


def test_what_cannot_be_sorted() -> None:
    with pytest.raises(DTypeError, match="sort: complex128 cannot be sorted"):
        T.sort(T.zvector("z"))
    with pytest.raises(BadIndex, match="there is no axis 1"):
        T.sort(T.vector("x"), axis=1)


# --- searching ------------------------------------------------------------------------------------

PAIRS = [
    ("float64", "float64"), ("float32", "float32"), ("float32", "float64"), ("int8", "int64"),
    ("uint8", "uint64"), ("int64", "uint64"), ("int64", "float32"), ("bool", "bool"),
    ("float16", "float32"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "v"), PAIRS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(a: str, v: str, side: Any) -> None:
    compiled = (a, v) in (PAIRS[0], PAIRS[1], PAIRS[5]) or a == "uint8"
    numbers = np.sort(some(a, 60))
    values = np.concatenate([some(v, 20), numbers[::7].astype(v)])
    (found,) = run(lambda n, x: T.searchsorted(n, x, side), numbers, values, compiled=compiled)
    np.testing.assert_array_equal(found, np.searchsorted(numbers, values, side))
    assert found.dtype == np.int64


@pytest.mark.parametrize("side", ["left", "right"])
def test_few_numbers_are_searched_inside_the_loop(side: Any) -> None:
    numbers = np.array([-np.inf, -1.0, 0.0, 0.0, 2.0, np.nan, np.nan])
    values = np.array([[-2.0, -1.0, 0.0, -0.0], [2.0, 3.0, np.inf, np.nan]])
    f = symc.function([x := T.matrix("x")], T.searchsorted(numbers, x, side) + 1, mode="compile")
    np.testing.assert_array_equal(f(values), np.searchsorted(numbers, values, side) + 1)
    assert f.facts["kernels"] == 1
    assert "routine" not in f.program


def test_searchsorted_of_nothing_and_with_a_sorter() -> None:
    numbers, nothing = np.array([3.0, 1.0, 2.0]), np.zeros(0)
    for given in ((nothing, numbers), (numbers, nothing), (np.sort(numbers), np.array(1.5))):
        (found,) = run(T.searchsorted, *given, compiled=False)
        np.testing.assert_array_equal(found, np.searchsorted(*given))
    (found,) = run(
        lambda n, x: T.searchsorted(n, x, sorter=T.argsort(n)), numbers, numbers, compiled=False
    )
    assert found.tolist() == [2, 0, 1]
    with pytest.raises(ValueError, match="side must be"):
        T.searchsorted(numbers, 1.0, "middle")  # type: ignore[arg-type]
    with pytest.raises(RankError, match="searchsorted needs one axis, not 2"):
        T.searchsorted(T.matrix(), 1.0)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("bins", [[0.0, 1.0, 2.5], [2.5, 1.0, 0.0], [1.0], [], [0.0, 0.0]])
def test_digitize(bins: list[float], right: bool) -> None:
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.5, 9.0])
    (found,) = run(lambda x: T.digitize(x, np.array(bins), right), x, compiled=False)
    np.testing.assert_array_equal(found, np.digitize(x, bins, right))
    with pytest.raises(ValueError, match="the bins must not both rise and fall"):
        T.digitize(x, [1.0, 3.0, 2.0])


# --- counting -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x",
    [
        np.array([[3, 1], [3, 7]]), np.array([2.0, np.nan, -0.0, 0.0, np.nan]), np.zeros(0),
        np.ones(1), np.array([True, False, True]),
    ],
)  # fmt: skip
def test_unique(x: Any) -> None:
    def build(x: Tensor) -> Any:
        return T.unique(x, return_index=True, return_inverse=True, return_counts=True)

    found = run(build, x, compiled=x.ndim == 2 or x.size == 5)
    wanted = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    for value, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(value, expected)
    apart = run(lambda x: T.unique(x, equal_nan=False), x, compiled=False)
    np.testing.assert_array_equal(apart[0], np.unique(x, equal_nan=False))


@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "uint64"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unique_parts_along_an_axis(axis: int, dtype: str) -> None:
    """Rows are compared element by element; where there are none, all are the same."""
    x = T.tensor(dtype, (None,) * 3, "x")
    wanted = T.unique(x, True, True, True, axis=axis)
    compiled = (axis, dtype) in ((0, "float64"), (1, "int8"))
    function = symc.function([x], list(wanted), mode="compile" if compiled else "python")
    for shape in ((5, 3, 2), (60, 2, 1), (1, 40, 2), (0, 2, 3), (2, 3, 0)):
        values = RNG.integers(0, 3 if dtype != "bool" else 2, shape) - (
            dtype in ("float64", "int8")
        )
        values = values.astype(dtype)
        if dtype == "float64":
            values[values == 0] *= RNG.choice(
                [1.0, -1.0], (values == 0).sum()
            )  # zeros of both signs
        for found, expected in zip(
            function(values), np.unique(values, True, True, True, axis=axis), strict=True
        ):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


def test_unique_parts_with_nan_all_differ_and_have_gradients() -> None:
    x = np.array([[np.nan, 1], [1, 2], [np.nan, 1], [1, 2]])
    (found,) = run(lambda x: T.unique(x, axis=0), x)
    np.testing.assert_array_equal(found, np.unique(x, axis=0))
    symbol = T.matrix("x")
    slopes = symc.grad((T.unique(symbol, axis=0) ** 2).sum(), symbol)
    given = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]])
    np.testing.assert_array_equal(slopes.eval({symbol: given}), [[2, 4], [0, 2], [0, 0]])
    with pytest.raises(BadIndex, match="unique: there is no axis 2"):
        T.unique(symbol, axis=2)


HISTOGRAMS: list[dict[str, Any]] = [
    {}, {"bins": 3}, {"bins": 40, "range": (-1.0, 1.5)}, {"bins": np.array([-1.0, 0.0, 0.5, 3.0])},
    {"bins": 4, "density": True}, {"bins": 5, "range": (2.0, 2.0)},
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(HISTOGRAMS)))
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_histogram(number: int, dtype: str) -> None:
    options = HISTOGRAMS[number]
    x = (NUMBERS * 3 if dtype[0] == "f" else np.arange(24) % 7).astype(dtype)
    compiled = dtype == "float64" and number in (1, 2)
    for values in (x, x.ravel()[:1], x.ravel()[:0]):
        if options.get("density") and not values.size:
            continue
        found = run(
            lambda x: T.histogram(x, **options), values, compiled=compiled and values.size > 1
        )
        for value, wanted in zip(found, np.histogram(values, **options), strict=True):
            assert value.dtype == wanted.dtype
            np.testing.assert_allclose(value, wanted, rtol=1e-6 if dtype == "float32" else 1e-14)


def test_edges_between_given_numbers_are_rounded_once() -> None:
    """They were rounded to float32 at each step, and 0.2 fell into the bin before."""
    x = np.array([0.2, -0.8, 1.1], "float32")
    found = run(lambda x: T.histogram(x, 10, (-1, 2)), x, compiled=False)
    for value, wanted in zip(found, np.histogram(x, 10, (-1, 2)), strict=True):
        np.testing.assert_array_equal(value, wanted)


def test_weights_of_histograms() -> None:
    values, weights = NUMBERS.ravel(), RNG.standard_normal(24)
    check(lambda w: T.histogram(values, 4, weights=w)[0], weights, compiled=False,
          oracle=lambda w: np.histogram(values, 4, weights=w)[0])  # fmt: skip
    check(lambda w: T.histogram(values, [0.0, 1.0, 2.0], weights=w)[0], weights, compiled=False,
          oracle=lambda w: np.histogram(values, [0.0, 1.0, 2.0], weights=w)[0])  # fmt: skip


def test_what_histogram_refuses() -> None:
    x = T.vector("x")
    f = symc.function([x], list(T.histogram(x)), mode="python")
    with pytest.raises(ValueError, match="the range of the elements is not finite"):
        f(np.array([1.0, np.nan]))
    for options, message in [
        ({"bins": 0}, "at least one bin"), ({"bins": [1.0, 0.0]}, "edges must not decrease"),
        ({"range": (1.0, 0.0)}, "range must not decrease"), ({"range": (0, np.inf)}, "be finite"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            T.histogram(x, **options)  # type: ignore[arg-type]


def test_edges_and_ranges_known_late_must_increase() -> None:
    """They were taken as they came."""
    x, edges = T.vector("x"), T.vector("edges")
    outputs = [T.histogram(x, edges)[0], T.histogram(x, 2, (edges[0], edges[-1]))[0],
               T.digitize(x, edges)]  # fmt: skip
    values, late = np.array([0.5, 3.0, 1.0]), np.array([0.0, 1.0, 4.0])
    wanted = [np.histogram(values, late)[0], np.histogram(values, 2, (0.0, 4.0))[0],
              np.digitize(values, late)]  # fmt: skip
    for output, expected in zip(outputs, wanted, strict=True):
        f = symc.function([x, edges], output, mode="python")
        np.testing.assert_array_equal(f(values, late), expected)
        with pytest.raises(ValueError, match="must not decrease"):
            f(values, late[::-1])


# --- quantiles ------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_median(axis: Any, keepdims: bool) -> None:
    check(lambda x: T.median(x, axis, keepdims), NUMBERS, compiled=axis == -1 and keepdims,
          oracle=lambda x: np.median(x, axis, keepdims=keepdims))  # fmt: skip


METHODS = [
    "linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull", "median_unbiased",
    "normal_unbiased", "interpolated_inverted_cdf", "inverted_cdf", "averaged_inverted_cdf",
    "closest_observation",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_quantiles(method: Any) -> None:
    q = np.array([0.0, 0.1, 0.25, 0.5, 0.625, 0.9, 1.0])
    for x in (NUMBERS, NUMBERS[:, :, :1]):
        for axis in (None, 2, 1):
            check(lambda x, a=axis: T.quantile(x, q, a, method), x, compiled=False, grad=False,
                  oracle=lambda x, a=axis: np.quantile(x, q, a, method=method))  # fmt: skip
    integers = RNG.integers(-9, 9, (2, 5))
    (found,) = run(lambda x: T.quantile(x, q, 1, method), integers, compiled=False)
    wanted = np.quantile(integers, q, 1, method=method)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("x", [[2.0, 1.0, 3.0, 2.0], [2.0, 1.0, 2.0, 2.0, 3.0, 2.0]])
def test_equal_elements_in_the_middle_share_the_gradient(x: list[float]) -> None:
    """One got all of it, though the median grows half as fast as it does."""
    symbol = T.vector("x")
    for middle in (T.median(symbol), T.quantile(symbol, 0.5)):
        found = symc.grad(middle, symbol).eval({symbol: x})
        assert sorted(found)[-3:] == [0, 0.5, 0.5]


def test_infinite_elements_in_the_middle() -> None:
    x = np.array([[np.inf, 1.0, np.inf, 2.0], [-np.inf, -np.inf, -np.inf, 1.0]])
    middles, quantiles = run(lambda x: [T.median(x, 1), T.quantile(x, 0.8, 1)], x, compiled=False)
    np.testing.assert_array_equal(middles, [np.inf, -np.inf])
    np.testing.assert_array_equal(quantiles[0], np.inf)


def test_quantiles_of_axes_and_their_derivatives() -> None:
    for axis in (None, 1, (0, 1)):
        for keepdims in (False, True):
            check(lambda x, a=axis, k=keepdims: T.percentile(x, 30, a, keepdims=k), NUMBERS,
                  oracle=lambda x, a=axis, k=keepdims: np.percentile(x, 30, a, keepdims=k),
                  compiled=False)  # fmt: skip
    check(lambda x, q: T.quantile(x, q, 1, keepdims=True), NUMBERS, np.array([[0.2], [0.7]]),
          oracle=lambda x, q: np.quantile(x, q, 1, keepdims=True))  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "bool"])
def test_dtypes_and_nan_of_quantiles(dtype: str) -> None:
    x = (NUMBERS * 10).astype(dtype)
    floats = x.dtype.kind == "f"
    if floats:
        x[0, 1, 2] = np.nan
    (middle,) = run(lambda x: T.median(x, 2), x, compiled=False)
    wanted = np.median(x, 2)
    assert middle.dtype == wanted.dtype
    np.testing.assert_array_equal(middle, wanted)
    (found,) = run(lambda x: T.quantile(x, 0.3, 2), x, compiled=False)
    np.testing.assert_allclose(
        found, np.quantile(x if floats else x.astype(float), 0.3, 2), rtol=2e-3 if floats else 1e-14
    )


def test_what_quantile_refuses() -> None:
    with pytest.raises(ValueError, match="q must be from 0 to 1"):
        T.quantile(T.vector(), 1.5)
    with pytest.raises(ValueError, match="q must be from 0 to 100"):
        T.percentile(T.vector(), -1)
    with pytest.raises(ValueError, match="there is no method 'best'"):
        T.quantile(T.vector(), 0.5, method="best")
    x, q = T.vector("x"), T.vector("q")
    f = symc.function([x, q], T.quantile(x, q), mode="python")
    for late in ([0.5, 1.5], [np.nan, 0.0]):
        with pytest.raises(ValueError, match="quantile: q must be from 0 to 1"):
            f(np.ones(3), late)


def test_a_device_sorts_on_the_host_and_searches_itself() -> None:
    x = T.vector("x")
    outputs = [T.sort(x), T.searchsorted([0.0, 1.0], x), T.median(x)]
    f = symc.function([x], outputs, device="cuda:sim")
    values = RNG.standard_normal(9)
    up, places, middle = f(values)
    np.testing.assert_array_equal(up, np.sort(values))
    np.testing.assert_array_equal(places, np.searchsorted([0.0, 1.0], values))
    assert middle == np.median(values)
    assert f.program.count("python ") == 1
