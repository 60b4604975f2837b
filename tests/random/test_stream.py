"""Streams: draws that are new at each call, states that are kept and shared."""

from __future__ import annotations

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.tensor.random import RandomStream


@pytest.mark.parametrize("mode", ["compile", "python"])
def test_each_call_draws_new_numbers(mode: str) -> None:
    stream = RandomStream(3)
    x, y = stream.normal(size=4), stream.normal(size=4)
    f = symc.function([], [x, y, x * 2], mode=mode)
    first, second = f(), f()
    assert len({*first[0], *first[1], *second[0], *second[1]}) == 16
    np.testing.assert_allclose(first[2], 2 * first[0])
    assert stream.get_state().tolist() == [3, 2]
    again = RandomStream(3)
    g = symc.function([], [again.normal(size=4), again.normal(size=4)], mode="python")
    np.testing.assert_allclose([first[:2], second[:2]], [g(), g()], rtol=1e-12)


def test_functions_share_a_state() -> None:
    stream = RandomStream(0)
    f = symc.function([], stream.uniform(size=3), mode="compile")
    g = symc.function([], stream.uniform(size=3), mode="compile")
    state = stream.get_state()
    values = [f(), g(), f()]
    assert stream.get_state().tolist() == [0, 3]
    assert len(np.unique(values)) == 9
    stream.set_state(state)
    np.testing.assert_array_equal(f(), values[0])
    stream.seed(0)
    np.testing.assert_array_equal([f(), g(), f()], values)
    stream.seed(1)
    assert not np.isin(f(), values).any()


def test_a_draw_is_a_function_of_the_state() -> None:
    """Draw number n uses ``fold_in(state, n)``: so keys can repeat a stream."""
    stream = RandomStream(9)
    stream.uniform()
    f = symc.function([], stream.uniform(size=3), mode="python")
    f()
    key = T.random.fold_in(T.constant(stream.get_state()), 1)
    np.testing.assert_array_equal(f(), T.random.uniform(key, size=3).eval())


def test_without_default_updates_nothing_advances() -> None:
    stream = RandomStream(0)
    f = symc.function([], stream.uniform(), mode="python", no_default_updates=True)
    assert f() == f()
    assert stream.get_state().tolist() == [0, 0]


def test_every_sampler_is_a_method() -> None:
    stream = RandomStream(0)
    samplers = set(T.random.__all__) - {"RandomStream", "fold_in", "key", "split"}
    for name in samplers:
        assert getattr(RandomStream, name).__doc__ == getattr(T.random, name).__doc__
    assert stream.normal(5.0, 0.0).type == T.random.normal(T.random.key(0), 5.0, 0.0).type


def test_symbolic_lengths() -> None:
    n, x = T.scalar("n", "int64"), T.matrix("x")
    stream = RandomStream(0)
    f = symc.function([n, x], [stream.normal(size=(n, 2)), stream.bernoulli(0.5, size=x.shape) * x])
    normal, mask = f(3, np.ones((2, 5)))
    assert normal.shape == (3, 2)
    assert mask.shape == (2, 5)
    assert f(0, np.ones((0, 5)))[0].shape == (0, 2)
    with pytest.raises(symc.errors.ShapeMismatch, match="a length cannot be -1"):
        f(-1, np.ones((2, 5)))


def test_bad_states() -> None:
    with pytest.raises(ValueError, match="a state is a uint64 vector of length 2, not int64"):
        RandomStream(0).set_state([1, 2])
    with pytest.raises(ValueError, match=r"the seed of a stream must be below 2\*\*64"):
        RandomStream(2**64)
