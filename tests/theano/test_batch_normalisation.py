"""`theano.tensor.nnet.bn`: statistics with the axes that the parameters have."""

from __future__ import annotations

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.tensor.nnet import bn

rng = np.random.RandomState(0)
X = rng.rand(4, 3, 5, 2)


def test_statistics_have_the_axes_of_the_parameters() -> None:
    x, vector = T.dtensor4(), T.dvector()
    out, mean, invstd, new_mean, new_var = bn.batch_normalization_train(
        x, vector, vector, "spatial", running_mean=vector, running_var=vector
    )
    assert [each.ndim for each in (mean, invstd, new_mean, new_var)] == [1, 1, 1, 1]
    assert [each.type == vector.type for each in (mean, new_mean, new_var)] == [True] * 3
    f = theano.function([x, vector], [out, mean, invstd, new_mean, new_var])
    given = np.array([1.0, 2.0, 3.0])
    found = f(X, given)
    mu, var, m = X.mean((0, 2, 3)), X.var((0, 2, 3)), 40.0
    inv = 1 / np.sqrt(var + 1e-4)
    spread = (slice(None), None, None)
    np.testing.assert_allclose(
        found[0], (X - mu[spread]) * (given * inv)[spread] + given[spread], rtol=1e-10
    )
    expected = [mu, inv, given * 0.9 + mu * 0.1, given * 0.9 + var * m / (m - 1) * 0.1]
    for one, other in zip(found[1:], expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_parameters_of_length_one_where_statistics_are_taken() -> None:
    x, parameter = T.dtensor4(), T.TensorType("float64", (True, False, True, True))()
    _, mean, invstd = bn.batch_normalization_train(x, parameter, parameter, (0, 2, 3))
    assert mean.type == invstd.type == parameter.type


def test_parameters_that_do_not_fit_are_refused() -> None:
    x, vector, matrix = T.dtensor4(), T.dvector(), T.dmatrix()
    with pytest.raises(ValueError, match="dimensionality must match"):
        bn.batch_normalization_train(x, vector, matrix, "spatial")
    with pytest.raises(ValueError, match="both be given or both be None"):
        bn.batch_normalization_train(x, vector, vector, "spatial", running_mean=vector)
    with pytest.raises(ValueError, match="running_var must be of the same dimensionality"):
        bn.batch_normalization_train(
            x, vector, vector, "spatial", running_mean=vector, running_var=matrix
        )
    with pytest.raises(ValueError, match="epsilon must be at least 1e-5"):
        bn.batch_normalization_train(x, vector, vector, "spatial", epsilon=1e-6)
    with pytest.raises(ValueError, match="mean and var must be of the same"):
        bn.batch_normalization_test(x, vector, vector, matrix, vector, "spatial")
