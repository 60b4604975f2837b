"""Draws in compiled programs: beside each other, in loops, on a device."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.graph.interpreter import evaluate
from symc.tensor.random import RandomStream


def test_filled_arrays_have_the_numbers_made_one_by_one() -> None:
    """A few numbers are made in the loop of whoever reads them, more of them by a routine."""
    key = T.random.key(4)
    for dtype in ("float64", "float32"):
        few, many = (T.random.normal(key, size=n, dtype=dtype) for n in (40, 1000))
        f = symc.function([], [few, many], mode="compile")
        assert "symc_fill_normal" in f.source
        one_by_one, filled = f()
        rtol = 100 * float(np.finfo(dtype).eps)
        np.testing.assert_allclose(filled[:40], one_by_one, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_filled_arrays_of_uniform_numbers_have_the_numbers_made_one_by_one(dtype: str) -> None:
    key = T.random.key(4)
    few = [T.random.uniform(T.random.key(k), size=n, dtype=dtype) for k, n in ((4, 40), (5, 63))]
    many = [T.random.uniform(T.random.key(k), size=n, dtype=dtype) for k, n in ((4, 1001), (5, 64))]
    u = T.random.uniform(key, size=5000, dtype=dtype)
    f = symc.function([], [*few, *many, u < 0.25], mode="compile")
    assert "symc_fill_uniform" in f.source
    short, next_short, filled, next_filled, below = f()
    np.testing.assert_array_equal(filled[:40], short)
    np.testing.assert_array_equal(next_filled[:63], next_short)
    np.testing.assert_array_equal(filled, evaluate([many[0]], {})[0])
    np.testing.assert_array_equal(below, evaluate([u < 0.25], {})[0])


def test_sums_of_very_many_numbers_need_no_array() -> None:
    f = symc.function([], T.random.normal(T.random.key(0), size=1 << 24).sum(), mode="compile")
    assert "symc_fill_normal" not in f.source


def test_routines_and_kernels_share_functions() -> None:
    """The text of Philox stood in the program twice, and gcc refused it."""
    stream = RandomStream(0)
    f = symc.function(
        [], [stream.permutation(10), stream.integers(5, size=3), stream.normal(size=100)],
        mode="compile",
    )  # fmt: skip
    assert f.source.count("symc_philox_block symc_philox(") == 1
    assert sorted(f()[0]) == list(range(10))


def test_keys_are_made_before_loops() -> None:
    """Even before loops of unknown length: that a key has two numbers is known."""
    stream = RandomStream(0)
    f = symc.function([], stream.integers(9, size=100_000).sum(), mode="compile")
    before, _, loops = f.source.partition("/* ---- kernels ---- */")[2].partition("for (")
    assert before.count("symc_random_key_u64(") == 2
    assert "symc_random_key_u64(" not in loops


def test_draws_in_a_scan() -> None:
    """Keys folded with the step, and a stream, which is advanced at each step."""
    key = T.random.key(3)
    walk, _ = symc.scan(
        lambda i, x: x + T.random.normal(T.random.fold_in(key, i), size=2),
        sequences=[T.arange(5)], outputs_info=[T.zeros(2)],
    )  # fmt: skip
    steps = [T.random.normal(T.random.fold_in(key, i), size=2) for i in range(5)]
    wanted = np.cumsum(evaluate(steps, {}), axis=0)
    stream = RandomStream(1)
    values, updates = symc.scan(lambda: stream.uniform(size=2), outputs_info=[None], n_steps=3)
    f = symc.function([], [walk, values], updates=updates, mode="compile")
    first, second = f(), f()
    np.testing.assert_allclose(first[0], wanted, rtol=1e-12)
    assert len(np.unique([first[1], second[1]])) == 12
    assert stream.get_state().tolist() == [1, 6]


@pytest.mark.skipif(shutil.which("g++") is None, reason="the simulator needs g++")
def test_a_device_draws_the_same() -> None:
    key = T.random.key(12)
    draws = [
        T.random.normal(key, size=200), T.random.normal(key, size=100, dtype="float32"),
        T.random.bits(key, 9, "uint32"), T.random.gamma(key, [0.3, 4.0]),
        T.random.poisson(key, [2.0, 50.0]), T.random.binomial(key, 100, [0.02, 0.4]),
        T.random.integers(key, 10**12, size=5), T.random.truncated_normal(key, 1.0, 2.0, size=5),
        T.random.permutation(key, 7),
    ]  # fmt: skip
    got = symc.function([], draws, device="cuda:sim")()
    for value, wanted in zip(got, evaluate(draws, {}), strict=True):
        if wanted.dtype.kind == "f":
            rtol = 100 * float(np.finfo(wanted.dtype).eps)
            np.testing.assert_allclose(value, wanted, rtol=rtol, atol=rtol)
        else:
            np.testing.assert_array_equal(value, wanted)
