"""Loops that keep the most or the least of what their steps compute, as kernels of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

X, K = T.vector("x"), T.lvector("k")
START = T.scalar("start", dtype="int64")


def is_kernel(f: Any) -> bool:
    """Whether no loop is left around steps."""
    return (
        "for (int64_t step = 0" not in f.source and "SYMC_STEPS SYMC_JUMPS int64_t" not in f.source
    )


def over(step: Any, start: Any) -> Any:
    return symc.fori_loop(0, K.shape[0], step, start)


@pytest.mark.parametrize(
    ("step", "by_hand"),
    [
        (lambda i, m: T.where(K[i] > m, K[i], m), lambda k, m: max(k, m)),
        (lambda i, m: T.where(m >= K[i], m, K[i]), lambda k, m: max(k, m)),
        (lambda i, m: T.where(K[i] < m, K[i], m), lambda k, m: min(k, m)),
        (lambda i, m: T.maximum(m, K[i] * 2), lambda k, m: max(k * 2, m)),
        (lambda i, m: T.minimum(K[i] + 1, m), lambda k, m: min(k + 1, m)),
        (
            lambda i, m: T.where(T.logical_and(K[i] > 3, K[i] + 1 > m), K[i] + 1, m),
            lambda k, m: k + 1 if k > 3 and k + 1 > m else m,
        ),
        (
            lambda i, m: T.where(T.logical_and(K[i] <= m, T.lt(K[i], 0)), K[i], m),
            lambda k, m: k if k <= m and k < 0 else m,
        ),
        # these are no extremes
        (lambda i, m: T.where(K[i] > m, K[i] + 1, m), lambda k, m: k + 1 if k > m else m),
        (lambda i, m: T.where(K[i] > m, m, K[i]), lambda k, m: min(k, m)),
        (
            lambda i, m: T.where(T.logical_and(K[i] > m, m > 2), K[i], m),
            lambda k, m: k if k > m > 2 else m,
        ),
        (
            lambda i, m: T.where(T.logical_or(K[i] > m, K[i] > 3), K[i], m),
            lambda k, m: k if k > m or k > 3 else m,
        ),
    ],
)
def test_the_same_as_in_python(step: Any, by_hand: Any) -> None:
    f = symc.function([K, START], over(step, START))
    rng = np.random.default_rng(0)
    ends = np.iinfo(np.int64)
    for n in (0, 1, 2, 7, 40):
        for start in (-5, 0, 3, ends.min, ends.max):
            k = rng.integers(-9, 9, n)
            expected = start
            for each in k:
                expected = by_hand(int(each), expected)
            assert f(k, start) == expected


def test_chosen_extremes_are_vectors() -> None:
    """As in the longest rising part of a sequence, where each step waited for the one before."""
    f = symc.function(
        [K, START],
        over(lambda i, m: T.where(T.logical_and(K[i] < 5, K[i] > m), K[i], m), START),
        device="cpu",
    )
    assert is_kernel(f)
    assert "reduction(max:" in f.source


def test_extremes_of_floats_keep_nan_as_numpy_does() -> None:
    most = symc.fori_loop(0, X.shape[0], lambda i, m: T.maximum(m, X[i]), -1.0)
    chosen = symc.fori_loop(0, X.shape[0], lambda i, m: T.where(X[i] > m, X[i], m), -1.0)
    f = symc.function([X], [most, chosen])
    x = np.array([0.5, np.nan, 2.0, 1.0])
    found = f(x)
    assert np.isnan(found[0])
    assert found[1] == 2.0
    assert f(x[2:])[0] == 2.0


def test_a_number_that_others_see_in_each_step_stays_one_of_steps() -> None:
    def step(i: Any, m: Any, out: Any) -> Any:
        m = T.where(K[i] > m, K[i], m)
        return m, out[i].set(m)

    f = symc.function([K, START], over(step, [START, T.zeros_like(K)]))
    most, running = f([1, 5, 2, 7], 2)
    assert most == 7
    np.testing.assert_array_equal(running, [2, 5, 5, 7])
