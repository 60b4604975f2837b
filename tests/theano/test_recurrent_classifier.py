"""A whole program as libraries of layers write it: a normalised GRU with masks and dropout.

Its gradients are those of finite differences, training lowers the loss, and runs are repeatable:
from the same seeds, and from a pickle of all that is shared in the middle of a run.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from typing import Any

import numpy as np

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.sandbox.rng_mrg import MRG_RandomStreams

BATCH, STEPS, FEATURES, UNITS, CLASSES = 6, 5, 3, 4, 2


def adam(grads: Any, params: Any, rate: float = 0.02) -> Any:
    updates = OrderedDict[Any, Any]()
    before = theano.shared(np.float64(0.0), name="t")
    t = before + 1
    scaled = rate * T.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    for param, grad in zip(params, grads, strict=True):
        first = theano.shared(np.zeros_like(param.get_value()), broadcastable=param.broadcastable)
        second = theano.shared(np.zeros_like(param.get_value()), broadcastable=param.broadcastable)
        updates[first] = 0.9 * first + 0.1 * grad
        updates[second] = 0.999 * second + 0.001 * grad**2
        updates[param] = param - scaled * updates[first] / (T.sqrt(updates[second]) + 1e-8)
    updates[before] = t
    return updates


def rmsprop(grads: Any, params: Any, rate: float = 0.02) -> Any:
    updates = OrderedDict[Any, Any]()
    for param, grad in zip(params, grads, strict=True):
        kept = theano.shared(np.zeros_like(param.get_value()), broadcastable=param.broadcastable)
        updates[kept] = 0.9 * kept + 0.1 * grad**2
        updates[param] = param - rate * grad / T.sqrt(updates[kept] + 1e-6)
    return updates


class Network:
    """Batch normalisation of each feature, dropout, a GRU that masks stop, and a softmax."""

    def __init__(self, seed: int) -> None:
        rng = np.random.RandomState(seed)
        self.params: list[Any] = []
        self.streams = MRG_RandomStreams(seed)
        self.weights = self.shared(rng.normal(0, 0.4, (FEATURES, 3 * UNITS)), "W")
        self.recurrent = self.shared(rng.normal(0, 0.4, (UNITS, 3 * UNITS)), "U")
        self.bias = self.shared(rng.normal(0, 0.1, (3 * UNITS,)), "b")
        self.last = self.shared(rng.normal(0, 0.4, (UNITS, CLASSES)), "V")
        self.gamma = self.shared(np.ones(FEATURES), "gamma")
        self.beta = self.shared(np.zeros(FEATURES), "beta")
        self.mean = theano.shared(np.zeros(FEATURES), name="mean")

    def shared(self, value: Any, name: str) -> Any:
        self.params.append(theano.shared(value, name=name))
        return self.params[-1]

    def normalised(self, x: Any) -> Any:
        mean, variance = x.mean((0, 1)), x.var((0, 1))
        running = theano.clone(self.mean, share_inputs=False)
        running.default_update = 0.8 * running + 0.2 * mean
        mean += 0 * running  # the graph needs the running mean, whose update comes along with it
        shape = ["x", "x", 0]
        spread = T.sqrt(variance + 1e-4).dimshuffle(shape)
        found = (x - mean.dimshuffle(shape)) / spread
        return found * self.gamma.dimshuffle(shape) + self.beta.dimshuffle(shape)

    def states(self, x: Any, mask: Any) -> Any:
        def step(given: Any, going: Any, before: Any, recurrent: Any) -> Any:
            parts = T.dot(before, recurrent)
            cut = [slice(k * UNITS, (k + 1) * UNITS) for k in range(3)]
            reset = T.nnet.sigmoid(given[:, cut[0]] + parts[:, cut[0]])
            update = T.nnet.sigmoid(given[:, cut[1]] + parts[:, cut[1]])
            new = T.tanh(given[:, cut[2]] + reset * parts[:, cut[2]])
            found = (1 - update) * before + update * new
            return T.switch(going.dimshuffle(0, "x"), found, before)

        rows = (T.dot(x, self.weights) + self.bias).dimshuffle(1, 0, 2)
        found, _ = theano.scan(
            step,
            sequences=[rows, mask.dimshuffle(1, 0)],
            outputs_info=[T.zeros((x.shape[0], UNITS))],
            non_sequences=[self.recurrent],
            strict=True,
        )
        return found[-1]

    def loss(self, x: Any, mask: Any, y: Any, dropout: bool) -> Any:
        x = self.normalised(x)
        if dropout:
            x = x * self.streams.binomial(x.shape, p=0.8, dtype=x.dtype) / 0.8
        chances = T.nnet.softmax(T.dot(self.states(x, mask), self.last))
        penalty = 1e-3 * sum(T.sum(each**2) for each in self.params)
        return T.nnet.categorical_crossentropy(chances, y).mean() + penalty


def batch() -> tuple[Any, Any, Any]:
    rng = np.random.RandomState(7)
    x = rng.normal(size=(BATCH, STEPS, FEATURES))
    lengths = rng.randint(2, STEPS + 1, BATCH)
    mask = (np.arange(STEPS) < lengths[:, None]).astype("int8")
    y = ((x[..., 0] * mask).sum(1) > 0).astype("int32")
    return x, mask, y


def symbols() -> tuple[Any, Any, Any]:
    return T.dtensor3("x"), T.bmatrix("mask"), T.ivector("y")


def training() -> Any:
    network, given = Network(3), symbols()
    with theano.change_flags(floatX="float64"):
        loss = network.loss(*given, dropout=True)
    grads = theano.grad(loss, network.params)
    updates = adam(grads[:3], network.params[:3])
    updates.update(rmsprop(grads[3:], network.params[3:]))
    return network, theano.function(list(given), loss, updates=updates)


def test_gradients_are_those_of_finite_differences_and_masked_steps_change_no_state() -> None:
    network, given, values = Network(2), symbols(), batch()
    loss = network.loss(*given, dropout=False)
    states = network.states(given[0], given[1])
    f = theano.function(list(given), [loss, states, *theano.grad(loss, network.params)])
    _, reached, *grads = f(*values)
    x, mask, y = values
    masked = f(np.where(mask[..., None], x, 99.0), mask, y)[1]
    np.testing.assert_array_equal(reached, masked)
    direction = np.random.RandomState(1)
    for param, grad in zip(network.params, grads, strict=True):
        start, way = param.get_value(), direction.normal(size=grad.shape)
        ends = []
        for sign in (1, -1):
            param.set_value(start + sign * 1e-5 * way)
            ends.append(f(*values)[0])
        param.set_value(start)
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-5, (grad * way).sum(), rtol=1e-6)


def test_training_lowers_the_loss_the_same_way_each_time_and_goes_on_from_a_pickle() -> None:
    values = batch()
    network, f = training()
    costs = [float(f(*values)) for _ in range(20)]
    text = pickle.dumps(f)
    costs += [float(f(*values)) for _ in range(20)]
    assert np.mean(costs[-5:]) < 0.7 * np.mean(costs[:5])
    assert np.abs(network.mean.get_value()).max() > 0.01
    _, other = training()
    assert [float(other(*values)) for _ in range(40)] == costs
    continued = pickle.loads(text)
    assert [float(continued(*values)) for _ in range(20)] == costs[20:]
