"""Losses whose softmax or sigmoid saturates: values and gradients stay finite and right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T

X = np.array([[800.0, 0.0, -800.0], [1.0, 2.0, 3.0]])
CLASSES = np.array([2, 0])
ROWS = T.arange(2)


def _log_softmax(x: Any) -> Any:
    shifted = x - x.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _losses(x: Any) -> dict[str, Any]:
    softmax, exp = T.nnet.softmax(x), T.exp(x)
    share = T.exp(x) / T.exp(x).sum(axis=1, keepdims=True)
    return {
        "log before the index": -T.log(softmax)[ROWS, CLASSES].sum(),
        "log after the index": -T.log(softmax[ROWS, CLASSES]).sum(),
        "crossentropy": T.nnet.categorical_crossentropy(softmax, CLASSES).sum(),
        "through a shape": -T.log(softmax.flatten())[np.array([2, 3])].sum(),
        "written out": -T.log(share)[ROWS, CLASSES].sum(),
        "log of the sum": (T.log(exp.sum(axis=1)) - x[ROWS, CLASSES]).sum(),
    }


@pytest.mark.parametrize("name", list(_losses(T.matrix())))
def test_log_of_softmax_saturates_without_nan(name: str) -> None:
    x = T.matrix("x")
    loss = _losses(x)[name]
    value, slope = theano.function([x], [loss, T.grad(loss, x)])(X)
    rows = _log_softmax(X)
    one_hot = np.eye(3)[CLASSES]
    np.testing.assert_allclose(value, -(rows * one_hot).sum())
    np.testing.assert_allclose(slope, np.exp(rows) - one_hot, atol=1e-300)


def test_log_of_sigmoid_saturates_without_nan() -> None:
    x = T.matrix("x")
    p = T.nnet.sigmoid(x)
    forms = [T.log(p), T.log(1 - p), T.log1p(-p), T.log(1 + T.exp(x))]
    slopes = [T.grad(each.sum(), x) for each in forms]
    found = theano.function([x], [*forms, *slopes])(X)
    plus, sigmoid = np.logaddexp(0, X), 0.5 * (1 + np.tanh(X / 2))
    wanted = [X - plus, -plus, -plus, plus, 1 - sigmoid, -sigmoid, -sigmoid, sigmoid]
    for each, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(each, right, atol=1e-15)


def test_log_of_softmax_inside_a_loop() -> None:
    x = T.matrix("x")
    losses, _ = theano.scan(
        lambda row, k: -T.log(T.nnet.softmax(row)[0, k]),
        sequences=[x, T.as_tensor_variable(CLASSES)],
    )
    slope = theano.function([x], T.grad(losses.sum(), x))(X)
    one_hot = np.eye(3)[CLASSES]
    np.testing.assert_allclose(slope, np.exp(_log_softmax(X)) - one_hot, atol=1e-300)


def test_gradient_by_the_softmax_itself_is_of_the_logarithm() -> None:
    x = T.matrix("x")
    p = T.nnet.softmax(x)
    slope = theano.function([x], T.grad(T.log(p).sum(), p))(X[1:])
    np.testing.assert_allclose(slope, 1 / np.exp(_log_softmax(X[1:])))
