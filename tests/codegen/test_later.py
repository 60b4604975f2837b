"""Steps that read elements which only later ones write run side by side, with the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.verify.program import verify

X, W = T.vector("x"), T.lvector("w")
A = T.matrix("a")
K = T.lscalar("k")

Step = Callable[[Any, Any], Any]


def in_vectors(f: Any) -> bool:
    verify(f.runner.compilation().optimised)
    source: str = f.source
    return "#pragma omp simd" in source.partition("/* ---- kernels ---- */")[2]


def on_threads(f: Any) -> bool:
    return "omp parallel" in f.source


class Plain:
    """An array of NumPy with the functional updates of a tensor."""

    def __init__(self, values: Any) -> None:
        self.values = values.copy()
        self.shape = values.shape

    def __getitem__(self, at: Any) -> Any:
        return _Item(self, at)


class _Item:
    def __init__(self, of: Plain, at: Any) -> None:
        self.of, self.at = of, at
        self.value = of.values[at]

    def set(self, value: Any) -> Plain:
        self.of.values[self.at] = value
        return self.of


def value(x: Any) -> Any:
    return x.value if isinstance(x, _Item) else x


def in_order(n: int, step: Step, x: Any) -> Any:
    state = Plain(x)
    for i in range(n):
        state = step(i, state)
    return state.values


def pulled(at: Callable[[Any, Any], tuple[Any, Any, Any]]) -> Step:
    """A step that sets an element from itself and another one."""

    def step(i: Any, v: Any) -> Any:
        own, one, other = at(i, v.shape[0])
        return v[own].set(value(v[one]) * 3 - value(v[other]))

    return step


# How many steps there are of n elements, and what they write and read: own, one, other.
FORMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], tuple[Any, Any, Any]]]] = {
    "the next one": (lambda n: n - 1, lambda i, n: (i, i + 1, i)),
    "two after it": (lambda n: n - 7, lambda i, n: (i, i + 7, i + 3)),
    "only others": (lambda n: n - 3, lambda i, n: (i + 1, i + 3, i + 2)),
    "every second one": (lambda n: n // 2 - 1, lambda i, n: (2 * i, 2 * i + 2, 2 * i + 1)),
    "every third one": (lambda n: n // 3 - 1, lambda i, n: (3 * i + 1, 3 * i + 4, 3 * i)),
    "backwards": (lambda n: n - 2, lambda i, n: (n - 1 - i, n - 2 - i, n - 3 - i)),
    "backwards, every second one": (
        lambda n: n // 2 - 1, lambda i, n: (n - 1 - 2 * i, n - 3 - 2 * i, n - 2 - 2 * i)
    ),
}  # fmt: skip


def least(n: Any) -> Any:
    return T.maximum(n, 0) if isinstance(n, symc.Tensor) else max(n, 0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16", "uint8"])
@pytest.mark.parametrize("form", FORMS)
def test_a_bug_steps_that_read_what_only_later_ones_write_went_one_by_one(
    form: str, dtype: str
) -> None:
    """It took five times as long as the loop in vector registers."""
    count, at = FORMS[form]
    x = T.tensor(dtype, (None,), "x")
    f = symc.function([x], symc.fori_loop(0, count(x.shape[0]), pulled(at), x))
    assert in_vectors(f)
    assert not on_threads(f)
    for n in (0, 1, 2, 7, 8, 9, 15, 16, 17, 33, 64, 100, 1000):
        given = np.random.default_rng(n).integers(0, 3, n).astype(dtype)
        with np.errstate(all="ignore"):
            wanted = in_order(count(n), pulled(at), given)
        np.testing.assert_array_equal(f(given), wanted)


CARRIED: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], tuple[Any, Any, Any]]]] = {
    "the one before": (lambda n: n - 1, lambda i, n: (i + 1, i, i + 1)),
    "backwards": (lambda n: n - 1, lambda i, n: (n - 2 - i, n - 1 - i, n - 2 - i)),
    "every second one": (lambda n: n // 2 - 1, lambda i, n: (2 * i + 2, 2 * i, 2 * i + 1)),
    "both sides": (lambda n: n - 2, lambda i, n: (i + 1, i, i + 2)),
    "five before": (lambda n: n - 5, lambda i, n: (i + 5, i + 5, i)),
}


@pytest.mark.parametrize("form", CARRIED)
def test_steps_that_read_what_was_written_before_stay_in_order(form: str) -> None:
    count, at = CARRIED[form]
    f = symc.function([W], symc.fori_loop(0, count(W.shape[0]), pulled(at), W))
    assert not in_vectors(f)
    for n in (0, 1, 5, 6, 20, 40):
        given = np.random.default_rng(n).integers(0, 3, n)
        with np.errstate(all="ignore"):
            wanted = in_order(count(n), pulled(at), given)
        np.testing.assert_array_equal(f(given), wanted)


def test_distances_that_are_only_known_in_the_call() -> None:
    """As those of weights, of which each thing fills a knapsack once."""

    def upwards(i: Any, v: Any) -> Any:
        return v[i].set(v[i] + v[i + K])

    def downwards(i: Any, v: Any) -> Any:
        j = v.shape[0] - 1 - i
        return v[j].set(v[j] + 2 * v[j - K])

    n = X.shape[0]
    f = symc.function([X, K], symc.fori_loop(0, n - K, upwards, X))
    g = symc.function([X, K], symc.fori_loop(0, n - K, downwards, X))
    start = symc.function([X, K], symc.fori_loop(-K, n, upwards, X))
    assert in_vectors(f)
    assert in_vectors(g)
    verify(start.runner.compilation().optimised)
    for length in (1, 5, 16, 40, 100):
        given = np.random.default_rng(length).integers(0, 3, length).astype(float)
        for k in (0, 1, 2, 5, 9, 16, 39, 90):
            up, down = given.copy(), given.copy()
            for i in range(length - k):
                up[i] += up[i + k]
                j = length - 1 - i
                down[j] += 2 * down[j - k]
            np.testing.assert_array_equal(f(given, k), up)
            np.testing.assert_array_equal(g(given, k), down)
            before = given.copy()
            for i in range(k, length):
                before[i] += before[i - k]
            np.testing.assert_array_equal(start(given, -k), before)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_bug_what_is_read_stood_before_the_name_in_its_index(dtype: str) -> None:
    """An element was read twice, as a number of 16 bits is compared and kept: gcc failed."""
    n = X.shape[0]
    two, one = (np.dtype(dtype).type(number) for number in (2, 1))

    def inner(v: Any, by: Any) -> Any:
        def step(i: Any, v: Any) -> Any:
            return v[i].set(T.where(v[i + by] > one, two, v[i + by]))

        return symc.fori_loop(0, n - by, step, v)

    start = T.cast(X, dtype)
    f = symc.function([X, W], symc.fori_loop(0, W.shape[0], lambda k, v: inner(v, W[k]), start))
    given = np.random.default_rng(0).normal(size=40) * 2
    wanted = given.astype(dtype)
    for by in (1, 3):
        for i in range(40 - by):
            wanted[i] = 2 if wanted[i + by] > 1 else wanted[i + by]
    np.testing.assert_array_equal(f(given, [1, 3]), wanted)


def test_indexes_beyond_the_end_are_refused_as_before() -> None:
    f = symc.function([X, K], symc.fori_loop(0, X.shape[0], lambda i, v: v[i].set(v[i + K]), X))
    np.testing.assert_array_equal(f(np.arange(20.0), 0), np.arange(20.0))
    with pytest.raises(IndexError, match="index 20 is out of bounds"):
        f(np.arange(20.0), 1)


def test_things_in_a_knapsack() -> None:
    def thing(k: Any, best: Any) -> Any:
        n, w = best.shape[0], W[k]

        def filled(i: Any, best: Any) -> Any:
            j = n - 1 - i
            return best[j].set(T.maximum(best[j], best[j - w] + X[k]))

        return symc.fori_loop(0, n - w, filled, best)

    f = symc.function([X, W, K], symc.fori_loop(0, X.shape[0], thing, T.zeros(K)))
    rng = np.random.default_rng(0)
    worth, weights, most = rng.random(12), rng.integers(1, 30, 12), 80
    wanted = np.zeros(most)
    for value, w in zip(worth, weights, strict=True):
        wanted[w:] = np.maximum(wanted[w:], wanted[: most - w] + value)
    np.testing.assert_array_equal(f(worth, weights, most), wanted)


@pytest.mark.parametrize("inner", [0, 1])
def test_rows_that_follow_from_those_before(inner: int) -> None:
    """The heat of a rod, in rows of times, or of a row whose neighbours are in the next one."""

    def cell(t: Any, i: Any, u: Any) -> Any:
        t, i = t + 1 - inner, i + 1
        return u[t, i].set(0.5 * u[t - 1 + 2 * inner, i] + u[t - 1 + 2 * inner, i + 1] - u[t, i])

    def row(t: Any, u: Any) -> Any:
        return symc.fori_loop(0, A.shape[1] - 2, lambda i, u: cell(t, i, u), u)

    f = symc.function([A], symc.fori_loop(0, A.shape[0] - 1, row, A))
    assert in_vectors(f)
    for shape in ((1, 1), (2, 2), (2, 3), (3, 9), (5, 40)):
        u = np.random.default_rng(0).standard_normal(shape)
        wanted = u.copy()
        for t in range(shape[0] - 1):
            own, other = t + 1 - inner, t + inner
            wanted[own, 1:-1] = 0.5 * wanted[other, 1:-1] + wanted[other, 2:] - wanted[own, 1:-1]
        np.testing.assert_allclose(f(u), wanted, rtol=1e-13, atol=1e-14)


def test_binomial_trees() -> None:
    n = X.shape[0] - 1

    def level(t: Any, v: Any) -> Any:
        def node(i: Any, v: Any) -> Any:
            value = 0.49 * v[i + 1] + 0.5 * v[i]
            return v[i].set(T.maximum(value, X[i] - 0.1 * t))

        return symc.fori_loop(0, n - t, node, v)

    f = symc.function([X], symc.fori_loop(0, n, level, X)[0])
    assert in_vectors(f)
    for length in (2, 3, 20, 101):
        x = np.random.default_rng(length).standard_normal(length)
        v = x.copy()
        for t in range(length - 1):
            m = length - 1 - t
            v[:m] = np.maximum(0.49 * v[1 : m + 1] + 0.5 * v[:m], x[:m] - 0.1 * t)
        np.testing.assert_allclose(f(x), v[0], rtol=1e-13)


def test_two_arrays_and_narrow_numbers_beside_wide_ones() -> None:
    """Vectors of several widths: all of each is read before any is written."""
    b = T.tensor("int8", (None,), "b")

    def step(i: Any, v: Any, b: Any) -> Any:
        new = v[i + 1] + T.cast(b[i + 2], "float64") * v[i]
        return v[i].set(new), b[i].set(b[i + 1] - T.cast(v[i + 2] > 0, "int8"))

    f = symc.function([X, b], symc.fori_loop(0, X.shape[0] - 2, step, [X, b]))
    for n in (2, 3, 18, 67, 300):
        rng = np.random.default_rng(n)
        v, c = rng.integers(-2, 3, n).astype(float), rng.integers(-5, 5, n).astype(np.int8)
        got = f(v, c)
        for i in range(n - 2):
            new, last = v[i + 1] + c[i + 2] * v[i], c[i + 1] - (v[i + 2] > 0)
            v[i], c[i] = new, last
        np.testing.assert_array_equal(got[0], v)
        np.testing.assert_array_equal(got[1], c)


@pytest.mark.parametrize("seed", range(12))
def test_random_distances(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slope = int(rng.choice([1, 1, 2, 3, -1, -2]))
    far = [int(d) for d in rng.integers(-3 if seed % 3 == 0 else 0, 9, 3)]
    dtype = str(rng.choice(["float64", "float32", "int32", "int8"]))
    x = T.tensor(dtype, (None,), "x")
    up = 1 if slope > 0 else -1

    def at(i: Any, n: Any, by: int) -> Any:
        start = 4 if slope > 0 else n - 5
        return start + slope * i + up * by

    def step(i: Any, v: Any) -> Any:
        n = v.shape[0]
        total = sum((value(v[at(i, n, by)]) * (k + 1) for k, by in enumerate(far)), 0)
        clip = T.clip if isinstance(i, symc.Tensor) else np.clip
        return v[at(i, n, 0)].set(clip(total, -30, 30))

    def count(n: Any) -> Any:
        return least((n - 14) // abs(slope))

    f = symc.function([x], symc.fori_loop(0, count(x.shape[0]), step, x))
    verify(f.runner.compilation().optimised)
    for n in (14, 15, 20, 37, 80, 200):
        given = rng.integers(-1, 2, n).astype(dtype)
        with np.errstate(all="ignore"):
            wanted = in_order(count(n), step, given)
        np.testing.assert_array_equal(f(given), wanted)
