"""Random numbers, bit for bit as Theano draws them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.gradient import NullTypeGradError
from symc.theano.sandbox import rng_mrg
from symc.theano.sandbox.mrg31k3p import M1, M2, jumped, streams
from symc.theano.sandbox.rng_mrg import MRG_RandomStreams
from symc.theano.tensor import raw_random
from symc.theano.tensor.shared_randomstreams import RandomStreams


def mrg_numbers(state: list[int], count: int) -> list[int]:
    """MRG31k3p by its definition, with whole numbers."""
    a, b = list(state[:3]), list(state[3:])
    found: list[int] = []
    for _ in range(count):
        y = (4194304 * a[1] + 129 * a[2]) % M1
        z = (32768 * b[0] + 32769 * b[2]) % M2
        a, b = [y, a[0], a[1]], [z, b[0], b[1]]
        found.append(y - z + M1 if y <= z else y - z)
    return found


def test_mrg_follows_the_definition_along_each_stream() -> None:
    drawn = MRG_RandomStreams(seed=12345).uniform((4, 5), nstreams=3, dtype="float64")
    values = theano.function([], drawn)().ravel()
    starts = streams(np.array([12345] * 6, dtype="int32"), 3)
    expected = np.zeros(20)
    for stream in range(3):
        numbers = mrg_numbers([int(n) for n in starts[stream]], len(expected[stream::3]))
        expected[stream::3] = np.array(numbers) * 4.656612873077392578125e-10
    np.testing.assert_array_equal(values, expected)


def test_the_first_number_of_the_usual_seed_is_that_of_theano() -> None:
    with theano.change_flags(floatX="float64"):
        drawn = theano.function([], MRG_RandomStreams(12345).uniform((1,)))()
    assert drawn[0] == 0.7353244530968368


def test_calls_continue_where_the_last_one_ended() -> None:
    pair = theano.function([], MRG_RandomStreams(5).uniform((2,), nstreams=1))
    four = theano.function([], MRG_RandomStreams(5).uniform((4,), nstreams=1))
    np.testing.assert_array_equal(np.concatenate([pair(), pair()]), four())


def test_streams_lie_2_to_the_72_apart() -> None:
    start = np.array([1, 2, 3, 4, 5, 6], dtype="int32")
    rows = streams(start, 3)
    np.testing.assert_array_equal(rows[1], jumped(start, 72))
    np.testing.assert_array_equal(rows[2], jumped(rows[1], 72))


def test_seeds_that_are_refused() -> None:
    with pytest.raises(ValueError, match="should not be 0"):
        MRG_RandomStreams(0)
    with pytest.raises(ValueError, match="less than"):
        MRG_RandomStreams(M2)


def test_distributions_have_their_moments() -> None:
    source = MRG_RandomStreams(42)
    draws = [
        source.normal((20000,), avg=1.0, std=2.0), source.binomial((20000,), p=0.3),
        source.truncated_normal((20000,)),
        source.multinomial(pvals=T.constant(np.tile([0.2, 0.8], (20000, 1)))),
    ]  # fmt: skip
    normal, binomial, truncated, classes = theano.function([], draws)()
    assert abs(normal.mean() - 1) < 0.05
    assert abs(normal.std() - 2) < 0.05
    assert abs(binomial.mean() - 0.3) < 0.02
    assert abs(truncated).max() <= 2.5
    np.testing.assert_array_equal(classes.sum(axis=1), 1)
    assert abs(classes[:, 1].mean() - 0.8) < 0.02


def test_random_state_draws_numpys_numbers() -> None:
    source = RandomStreams(234)
    uniform, normal = source.uniform((2, 2)), source.normal((3,), avg=1.0)
    f = theano.function([], [uniform, normal])
    seeds = np.random.RandomState(234)
    first, second = (np.random.RandomState(int(seeds.randint(2**30))) for _ in range(2))
    for _ in range(2):
        drawn = f()
        np.testing.assert_array_equal(drawn[0], first.uniform(size=(2, 2)))
        np.testing.assert_array_equal(drawn[1], second.normal(1.0, 1.0, size=3))


def test_default_updates_can_be_left_out() -> None:
    drawn = RandomStreams(1).uniform((3,))
    f = theano.function([], drawn, no_default_updates=True)
    np.testing.assert_array_equal(f(), f())


def test_a_state_goes_through_a_loop_and_is_a_default() -> None:
    """RandomState's words have a length that is known, and come back as a RandomState."""
    source = RandomStreams(3)
    draws, updates = theano.scan(lambda: source.uniform((2,)), n_steps=3)
    f = theano.function([], draws, updates=updates)
    first = f()
    assert first.shape == (3, 2)
    assert not np.array_equal(first, f())
    state = raw_random.random_state_type()
    after, drawn = raw_random.choice(state, (4, 3), 10, 1, 0)
    given = theano.In(state, value=np.random.RandomState(5), update=after, mutable=True)
    g = theano.function([given], drawn)
    numpys = np.random.RandomState(5)
    for _ in range(2):
        np.testing.assert_array_equal(g(), numpys.choice(10, (4, 3)))


def test_shapes_of_draws_are_checked_and_left_open() -> None:
    source = RandomStreams(3)
    size, low = T.lvector(), T.dvector()
    with pytest.raises(ValueError, match="2 axes"):
        theano.function([size], source.uniform(size=size, ndim=2))([4])
    f = theano.function([low], source.uniform(size=(2, -1), low=low, high=9.0))
    assert f([1, 2, 3]).shape == (2, 3)
    with pytest.raises(ValueError, match="at least as big"):
        source.uniform(size=(2,), low=T.dmatrix())


def test_a_draw_has_no_gradient() -> None:
    mean = T.dscalar()
    with pytest.raises(NullTypeGradError):
        theano.grad(RandomStreams(3).normal((2,), avg=mean).sum(), mean)


def test_streams_of_ones_own_from_the_ops_below() -> None:
    start = np.array([12345] * 6, dtype="int32")
    state = theano.shared(np.array([start, rng_mrg.ff_2p72(start)]))
    new, drawn = rng_mrg.mrg_uniform.new(state, ndim=None, dtype="float64", size=(2,))
    state.default_update = new
    f = theano.function([], drawn)
    rows = [np.array(mrg_numbers(row.tolist(), 2)) for row in streams(start, 2)]
    expected = np.stack(rows, axis=1) * 4.656612873077392578125e-10
    np.testing.assert_array_equal([f(), f()], expected)


def test_products_modulo_two_numbers() -> None:
    names = (T.lmatrix, T.ivector, T.iscalar)
    given = [kind() for kind in (*names, *names)]
    f = theano.function(given, rng_mrg.DotModulo()(*given))
    rng = np.random.default_rng(3)
    values: list[Any] = []
    for modulus in (M1, M2):
        values += [rng.integers(0, modulus, (3, 3)), rng.integers(0, modulus, 3).astype("int32"),
                   np.array(modulus, dtype="int32")]  # fmt: skip
    wanted = [values[n].astype(object).dot(values[n + 1].astype(object)) % int(values[n + 2])
              for n in (0, 3)]  # fmt: skip
    np.testing.assert_array_equal(f(*values), np.concatenate(wanted).astype("int32"))
    state = np.concatenate([values[1], values[4]])
    jumps = rng_mrg.multMatVect(state, values[0], M1, values[3], M2)
    np.testing.assert_array_equal(jumps, f(*values))


def test_draws_whose_shape_their_arguments_do_not_say() -> None:
    state = raw_random.random_state_type()
    with pytest.raises(TypeError, match="give a size"):
        raw_random.poisson(state, size=None, ndim=2)
    with pytest.raises(TypeError, match="just one permutation"):
        raw_random.permutation(state, size=None, n=4, ndim=2)
