"""Loops and branches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.ifelse import ifelse
from symc.theano.sandbox.rng_mrg import MRG_RandomStreams
from symc.theano.scan_module import until


def test_sequences_outputs_and_non_sequences_come_in_this_order() -> None:
    x, a = T.vector("x"), T.scalar("a")
    found, updates = theano.scan(
        lambda row, before, factor: before * factor + row,
        sequences=x, outputs_info=T.zeros(()), non_sequences=a,
    )  # fmt: skip
    assert not updates
    np.testing.assert_array_equal(found.eval({x: [1.0, 2.0, 3.0], a: 2.0}), [1.0, 4.0, 11.0])


def test_taps_of_sequences_and_outputs() -> None:
    x = T.vector("x")
    found, _ = theano.scan(
        lambda older, newer, two, one: newer - older + two + one,
        sequences={"input": x, "taps": [-1, 0]},
        outputs_info={"initial": T.constant([1.0, 1.0]), "taps": [-2, -1]},
    )
    np.testing.assert_array_equal(found.eval({x: [0.0, 1.0, 3.0]}), [3.0, 6.0])


def test_backwards_with_a_number_of_steps() -> None:
    x = T.vector("x")
    found, _ = theano.scan(lambda row: row, sequences=x, n_steps=2, go_backwards=True)
    np.testing.assert_array_equal(found.eval({x: [1.0, 2.0, 3.0]}), [3.0, 2.0])


def test_the_step_that_meets_the_condition_counts() -> None:
    found, _ = theano.scan(
        lambda before: (before * 2, until(before * 2 > 10)),
        outputs_info=T.constant(1.0), n_steps=100,
    )  # fmt: skip
    np.testing.assert_array_equal(found.eval(), [2.0, 4.0, 8.0, 16.0])


def test_shared_variables_that_steps_update() -> None:
    total = theano.shared(0)
    found, updates = theano.scan(lambda: (total, {total: total + 1}), n_steps=4)
    f = theano.function([], found, updates=updates)
    np.testing.assert_array_equal(f(), [0, 1, 2, 3])
    assert total.get_value() == 4


def test_each_step_draws_new_numbers() -> None:
    source = MRG_RandomStreams(3)
    found, updates = theano.scan(lambda: source.uniform((2,)), n_steps=3)
    f = theano.function([], found, updates=updates)
    drawn = np.concatenate([f(), f()])
    assert len(np.unique(drawn)) == drawn.size


def test_gradients_through_a_loop() -> None:
    x, h0 = T.matrix("x"), T.vector("h0")
    found, _ = theano.scan(lambda row, h: T.tanh(row + h), sequences=x, outputs_info=h0)
    rng = np.random.RandomState(4)

    def last(rows: Any, start: Any) -> Any:
        return theano.clone(found, {x: rows, h0: start})[-1]

    theano.gradient.verify_grad(last, [rng.rand(3, 2), rng.rand(2)], rng=rng)


def test_the_gradient_of_a_masked_loop_begins_where_lengths_are_measured_later() -> None:
    x, mask = T.dtensor3("x"), T.bmatrix("mask")
    rng = np.random.RandomState(0)
    w, u = rng.rand(4, 3), rng.rand(3, 3) * 0.3
    w_in, u_in = T.dmatrix("w"), T.dmatrix("u")
    start = T.tile(x.sum(axis=(0, 2)).dimshuffle(0, "x") * 0, (1, 3))

    def repeated(flags: Any, like: Any) -> Any:
        return T.tile(flags.dimshuffle(0, "x"), T.concatenate([[1], like.shape[1:]]), ndim=2)

    def step(row: Any, flags: Any, out: Any, h: Any) -> Any:
        new = T.tanh(T.dot(row, w_in) + T.dot(h, u_in))
        return T.switch(repeated(flags, new), new, out), T.switch(repeated(flags, h), new, h)

    first = T.unbroadcast(T.tanh(T.dot(x[0], w_in) + T.dot(start, u_in)) * 0, 0, 1)
    outs, _ = theano.scan(step, [x, mask], [first, T.unbroadcast(start, 0, 1)])
    slope = theano.function([x, mask, w_in, u_in], T.grad(outs[0][-1].sum(), u_in))
    rows, flags = rng.rand(3, 2, 4), np.array([[1, 1], [0, 1], [1, 0]], "int8")

    def last(u: Any) -> Any:
        h = np.zeros((2, 3))
        for row, flag in zip(rows, flags, strict=True):
            h = np.where(flag[:, None], np.tanh(row @ w + h @ u), h)
        return h.sum()

    change = np.zeros((3, 3))
    change[1, 2] = 1e-5
    expected = (last(u + change) - last(u - change)) / 2e-5
    np.testing.assert_allclose(slope(rows, flags, w, u)[1, 2], expected, rtol=1e-6)


def test_gradients_reach_no_further_than_truncate_gradient() -> None:
    x = T.vector("x")
    found, _ = theano.scan(
        lambda row, h: row + h, sequences=x, outputs_info=T.zeros(()), truncate_gradient=2
    )
    slope = theano.grad(found[-1], x)
    np.testing.assert_array_equal(slope.eval({x: np.ones(4)}), [0.0, 0.0, 1.0, 1.0])


def test_initial_values_of_another_type_are_refused() -> None:
    x = T.fmatrix("x")
    with pytest.raises(ValueError, match="has dtype float64, while the result of the inner"):
        theano.scan(lambda row, h: row, sequences=x, outputs_info=T.dvector())
    start = T.TensorType("float32", (True,))()
    found, _ = theano.scan(lambda row, h: row, sequences=x, outputs_info=start)
    assert found.broadcastable == (False, False)
    with pytest.raises(TypeError, match="Inconsistency in the inner graph of scan"):
        theano.function([x, start], found)
    with pytest.raises(TypeError, match="Inconsistency in the inner graph of scan"):
        theano.grad(found.sum(), x)
    with pytest.raises(ValueError, match="n_steps is not given"):
        theano.scan(lambda: T.constant(1.0))


def test_map_reduce_and_folds() -> None:
    x = T.vector("x")
    assert theano.foldl(lambda row, h: h * 2 + row, x, T.zeros(()))[0].eval({x: [1, 2]}) == 4.0
    assert theano.foldr(lambda row, h: h * 2 + row, x, T.zeros(()))[0].eval({x: [1, 2]}) == 5.0
    np.testing.assert_array_equal(theano.map(lambda row: -row, x)[0].eval({x: [1.0]}), [-1.0])


def test_ifelse_computes_one_branch() -> None:
    c, x = T.iscalar("c"), T.vector("x")
    y = ifelse(c, x[0], x.sum())
    f = theano.function([c, x], [y, theano.grad(y, x)])
    assert f(1, [2.0, 3.0])[0] == 2.0
    np.testing.assert_array_equal(f(0, [2.0, 3.0])[1], [1.0, 1.0])
    with pytest.raises(TypeError, match="two branches should have identical types"):
        ifelse(c, x, x.sum())


def test_lengths_of_draws_that_an_element_says() -> None:
    x, w, b = T.matrix("x"), T.matrix("w"), T.vector("b")
    kept = T.shared_randomstreams.RandomStreams(1234).binomial(size=w[1].shape)
    found, updates = theano.scan(lambda row: T.tanh(T.dot(row, w) + b) * kept, sequences=x)
    f = theano.function([x, w, b], found, updates=updates)
    values = f(np.eye(10, 2), np.ones((2, 2)), np.ones(2))
    drawn = np.array(
        [[1, 0], [0, 1], [0, 0], [1, 1], [1, 0], [0, 1], [0, 1], [0, 1], [0, 0], [1, 1]]
    )
    wanted = np.tanh(np.where(np.arange(10) < 2, 2, 1))[:, None] * drawn
    np.testing.assert_allclose(values, wanted, rtol=1e-12)  # the draws that Theano's tutorial shows
