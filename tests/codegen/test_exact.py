"""Truth values that loops compute from bytes of the caller's: any that is not 0 is true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

BYTES = np.array([0, 0, 0, 1, 2, 4, 128, 255], np.uint8)
SIZES = (0, 1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, 100, 130)


def bools(*shape: int, seed: int = 0, exact: bool = False) -> tuple[Any, Any]:
    """An array of bools of which true ones are any bytes, and the one that NumPy would make."""
    found = np.random.default_rng(seed).choice(BYTES, shape)
    return (found != 0 if exact else found.view(np.bool_)), found != 0


def closure(k: Any, d: Any) -> Any:
    return d | (d[:, k][:, None] & d[k][None, :])


def reached(a: Any) -> Any:
    a = a.copy()
    for k in range(len(a)):
        a |= a[:, k][:, None] & a[k][None, :]
    return a


def assert_bytes(found: Any, wanted: Any) -> None:
    """The same truth values, each as the byte that NumPy makes of it."""
    np.testing.assert_array_equal(found.view(np.uint8), wanted.view(np.uint8))


@pytest.mark.parametrize("exact", [True, False])
def test_paths(exact: bool) -> None:
    a = T.matrix("a", dtype="bool")
    f = symc.function([a], symc.fori_loop(0, a.shape[0], closure, a))
    assert "symc_truth(getitem" not in f.source
    for n in SIZES:
        given, plain = bools(n, n, seed=n, exact=exact)
        given = given & bools(n, n, seed=n + 1)[0] if exact else given
        assert_bytes(f(given), reached(given if exact else plain))


def set_from_before(k: int, x: Any, y: Any) -> Any:
    return np.concatenate([x[:1], x[:-1] & y[k, 1:]])


STEPS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "and": (lambda k, x, y: x & y[k], lambda k, x, y: x & y[k]),
    "or": (lambda k, x, y: x[::-1] | (x & y[k]), lambda k, x, y: x[::-1] | (x & y[k])),
    "xor": (lambda k, x, y: (x ^ y[k]) & y[0], lambda k, x, y: (x ^ y[k]) & y[0]),
    "not": (lambda k, x, y: ~x & y[k] | x[k], lambda k, x, y: ~x & y[k] | x[k]),
    "chosen": (
        lambda k, x, y: T.where(x[k], y[k], x) ^ (x & y[0]),
        lambda k, x, y: np.where(x[k], y[k], x) ^ (x & y[0]),
    ),
    "chosen by a number": (
        lambda k, x, y: T.where(k > 1, y[k], x) & x | y[0],
        lambda k, x, y: np.where(k > 1, y[k], x) & x | y[0],
    ),
    "copied": (lambda k, x, y: T.where(k < 2, x, y[k]), lambda k, x, y: x if k < 2 else y[k]),
    "rows": (lambda k, x, y: x & y[k] & y.any(axis=0), lambda k, x, y: x & y[k] & y.any(0)),
    "set": (lambda k, x, y: x[1:].set(x[:-1] & y[k, 1:]), set_from_before),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("whose", ["argument", "shared", "computed", "shared, computed"])
def test_states_of_truth_values(name: str, whose: str) -> None:
    step, plain = STEPS[name]
    y, x = T.matrix("y", dtype="bool"), T.vector("x", dtype="bool")
    held = symc.shared(bools(2)[0], shape=(None,))
    start: Any = held if "shared" in whose else x
    begin = start | start if whose == "computed" else start
    table = y | y if "computed" in whose else y
    end = symc.fori_loop(0, 4, lambda k, x: step(k, x, table), begin)
    is_update = "shared" in whose
    f = symc.function([y], [], updates=[(held, end)]) if is_update else symc.function([x, y], end)
    for n in (4, 17, 64, 100):
        first, true = bools(n, seed=n)
        others, all_true = bools(4, n, seed=n + 1)
        held.set_value(first)
        found: Any = f(others) if is_update else f(first, others)
        found = held.get_value() if is_update else found
        for k in range(4):
            true = plain(k, true, all_true)
        np.testing.assert_array_equal(found.view(np.uint8) != 0, true)
    assert first.view(np.uint8).max() > 1


def test_histories_of_truth_values() -> None:
    """Each step's values are a row of a result."""
    y, x = T.matrix("y", dtype="bool"), T.vector("x", dtype="bool")
    history, _ = symc.scan(lambda row, state: (state & row) | (state ^ row), y, x)
    f = symc.function([x, y], history)
    for n in (1, 16, 70):
        (first, true), (rows, all_true) = bools(n, seed=n), bools(6, n, seed=n + 1)
        wanted = []
        for row in all_true:
            true = (true & row) | (true ^ row)
            wanted.append(true)
        np.testing.assert_array_equal(f(first, rows), wanted)


def test_a_copy_without_logic_stays_one() -> None:
    """Nothing is asked where nothing is gained."""
    x = T.vector("x", dtype="bool")
    f = symc.function([x], symc.fori_loop(0, 3, lambda k, s: s[k].set(~s[k]), x))
    assert "exact_kernel" not in f.source
    given, true = bools(9)
    true[:3] ^= True
    np.testing.assert_array_equal(f(given).view(np.uint8) != 0, true)


COMPARED: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "equal": (T.eq, np.equal),
    "unequal": (T.neq, np.not_equal),
    "less": (lambda x, y: x < y, np.less),
    "not greater": (lambda x, y: x <= y, np.less_equal),
    "where": (lambda x, y: T.where(T.eq(x, y), x, ~y), lambda x, y: np.where(x == y, x, ~y)),
    "least": (lambda x, y: T.min(x) & T.min(x | y), lambda x, y: x.min() & (x | y).min()),
    "largest": (lambda x, y: T.max(x & y), lambda x, y: (x & y).max()),
    "least of rows": (
        lambda x, y: T.stack([x, y]).min(axis=1), lambda x, y: np.stack([x, y]).min(1)
    ),
    "least so far": (lambda x, y: T.cummin(x), lambda x, y: np.minimum.accumulate(x)),
    "largest so far": (lambda x, y: T.cummax(x), lambda x, y: np.maximum.accumulate(x)),
    "all": (lambda x, y: x.all() | y.all(), lambda x, y: x.all() | y.all()),
    "unique": (lambda x, y: T.unique(x), lambda x, y: np.unique(x)),
    "differences": (lambda x, y: T.diff(x), lambda x, y: np.diff(x)),
    "in it": (lambda x, y: T.isin(x, y[:1]), lambda x, y: np.isin(x, y[:1])),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARED)
def test_comparisons_of_truth_values(name: str) -> None:
    """Two bytes that are true are equal, and the least of 1 and 2 is true."""
    symbolic, plain = COMPARED[name]
    x, y = T.vector("x", dtype="bool"), T.vector("y", dtype="bool")
    f = symc.function([x, y], symbolic(x, y), on_unused_input="ignore")
    for n in (1, 2, 3, 9, 17, 33, 64, 100):
        for seed in range(3):
            (first, true), (second, other) = bools(n, seed=seed), bools(n, seed=seed + 9)
            if seed == 2:
                first, true = np.full(n, 4, np.uint8).view(np.bool_), np.ones(n, np.bool_)
            found = np.asarray(f(first, second)).view(np.uint8) != 0
            np.testing.assert_array_equal(found, plain(true, other))
