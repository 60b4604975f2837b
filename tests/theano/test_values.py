"""Values of `theano.tensor`'s functions against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T

RNG = np.random.RandomState(1)
X = RNG.uniform(0.1, 0.9, size=(3, 4))
N = RNG.randint(-5, 6, size=(3, 4))
ROWS = np.array([2, 0, 2])

CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "exp": (T.exp, np.exp, (X,)),
    "arcsin": (T.arcsin, np.arcsin, (X,)),
    "int_div": (lambda n: n // 3, lambda n: n // 3, (N,)),
    "mod": (lambda n: n % -3, lambda n: n % -3, (N,)),
    "clip": (lambda x: T.clip(x, 0.3, 0.6), lambda x: np.clip(x, 0.3, 0.6), (X,)),
    "switch": (lambda n, x: T.switch(n > 0, x, 0), lambda n, x: np.where(n > 0, x, 0), (N, X)),
    "round": (lambda n: T.round(n / 2), lambda n: np.round(n / 2), (N,)),
    "sum": (lambda x: x.sum(axis=(0, -1)), lambda x: x.sum(axis=(0, -1)), (X,)),
    "mean": (lambda n: n.mean(axis=1, keepdims=True), lambda n: n.mean(1, keepdims=True), (N,)),
    "std": (lambda x: T.std(x, axis=0, ddof=1), lambda x: x.std(axis=0, ddof=1), (X,)),
    "argmax": (lambda x: x.argmax(axis=0), lambda x: x.argmax(axis=0), (X,)),
    "argmax of all": (T.argmax, np.argmax, (X,)),
    "min": (lambda n: n.min(axis=1), lambda n: n.min(axis=1), (N,)),
    "slice": (lambda x: x[::-1, 1:], lambda x: x[::-1, 1:], (X,)),
    "new axis": (lambda x: x[None, ..., 0], lambda x: x[None, ..., 0], (X,)),
    "gather": (lambda x: x[ROWS], lambda x: x[ROWS], (X,)),
    "gather pairs": (lambda x: x[ROWS, [0, 1, 3]], lambda x: x[ROWS, [0, 1, 3]], (X,)),
    "mask": (lambda x: x[x > 0.5], lambda x: x[x > 0.5], (X,)),
    "take": (lambda x: x.take(ROWS, axis=0), lambda x: x.take(ROWS, axis=0), (X,)),
    "reshape": (lambda x: x.reshape((2, -1)), lambda x: x.reshape((2, -1)), (X,)),
    "flatten": (lambda x: T.flatten(x, 1), np.ravel, (X,)),
    "transpose": (lambda x: x.T, lambda x: x.T, (X,)),
    "tile": (lambda x: T.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3)), (X,)),
    "repeat": (lambda x: T.repeat(x, 2, axis=1), lambda x: np.repeat(x, 2, axis=1), (X,)),
    "roll": (lambda x: T.roll(x, -1, axis=1), lambda x: np.roll(x, -1, axis=1), (X,)),
    "stack": (lambda x: T.stack([x, x], axis=1), lambda x: np.stack([x, x], axis=1), (X,)),
    "split": (lambda x: T.split(x, [1, 3], 2, axis=1)[1], lambda x: x[:, 1:], (X,)),
    "eye": (lambda x: T.eye(x.shape[0], 4, 1), lambda x: np.eye(3, 4, 1), (X,)),
    "tril": (T.tril, np.tril, (X,)),
    "diag": (T.diag, np.diag, (X,)),
    "arange": (lambda x: T.arange(x.shape[1]), lambda x: np.arange(4), (X,)),
    "dot": (lambda x: T.dot(x, x.T), lambda x: x @ x.T, (X,)),
    "tensordot": (lambda x: T.tensordot(x, x, [[0], [0]]), lambda x: x.T @ x, (X,)),
    "outer": (T.outer, np.outer, (X[0], X[1])),
    "cumsum": (lambda x: T.cumsum(x, axis=1), lambda x: np.cumsum(x, axis=1), (X,)),
    "sort": (lambda n: T.sort(n, axis=0), lambda n: np.sort(n, axis=0), (N,)),
    "bincount": (
        lambda n: T.bincount(abs(n).flatten()), lambda n: np.bincount(abs(n).ravel()), (N,),
    ),
    "nonzero": (lambda n: T.nonzero(n)[1], lambda n: np.nonzero(n)[1], (N,)),
    "set": (
        lambda x: T.set_subtensor(x[1, :2], 7.0),
        lambda x: np.vstack([x[0], [7.0, 7.0, *x[1, 2:]], x[2]]), (X,),
    ),
    "inc adds where an index is there twice": (
        lambda x: T.inc_subtensor(x[ROWS], 1.0), lambda x: x + np.array([[1.0], [0.0], [2.0]]),
        (X,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_value(name: str) -> None:
    ours, numpys, args = CASES[name]
    inputs = [T.TensorType(arg.dtype, (False,) * arg.ndim)() for arg in args]
    output = ours(*inputs)
    value = theano.function(inputs, output)(*args)
    expected = np.asarray(numpys(*args))
    assert value.dtype == output.dtype
    np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_softmax_of_a_vector_is_a_row() -> None:
    row = T.nnet.softmax(T.constant([0.0, np.log(3.0)]))
    assert row.broadcastable == (True, False)
    np.testing.assert_allclose(row.eval(), [[0.25, 0.75]])


def test_losses_of_classes_and_of_distributions_agree() -> None:
    probabilities = T.constant(X / X.sum(axis=1, keepdims=True))
    classes = T.nnet.categorical_crossentropy(probabilities, T.constant(ROWS))
    rows = T.nnet.categorical_crossentropy(probabilities, T.constant(np.eye(4)[ROWS]))
    np.testing.assert_allclose(classes.eval(), rows.eval())


def test_test_values_are_computed_while_the_graph_is_made() -> None:
    with theano.change_flags(compute_test_value="raise"):
        x = T.vector("x")
        x.tag.test_value = np.arange(3.0)
        assert (x * 2).sum().tag.test_value == 6.0
        with pytest.raises(ValueError, match="Cannot compute test value"):
            T.exp(T.vector("y"))
