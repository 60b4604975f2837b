"""Ops on sparse matrices by the names of their classes, with gradients and told shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano import sparse
from symc.theano.configparser import AddConfigVar, BoolParam, EnumStr, IntParam

scipy_sparse = pytest.importorskip("scipy.sparse")
GREATER: type = vars(sparse)["GreaterThanSD"]
VALUES = np.array([[1.0, 0, 2], [0, 0, 3]])


def matrix(format: str = "csr") -> tuple[Any, Any]:
    """A sparse variable and its value."""
    kind = getattr(scipy_sparse, f"{format}_matrix")
    return sparse.matrix(format, "x", "float64"), kind(VALUES)


def dense(value: Any) -> Any:
    return value.toarray() if hasattr(value, "toarray") else value


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize(
    ("make", "right", "of_class"),
    [
        (lambda x: sparse.Neg()(x), -VALUES, sparse.Neg),
        (lambda x: sparse.transpose(x), VALUES.T, sparse.Transpose),
        (lambda x: sparse.SpSum(axis=1)(x), [3, 3], sparse.SpSum),
        (lambda x: x + x, 2 * VALUES, sparse.AddSS),
        (lambda x: sparse.add_s_s_data(x, x), 2 * VALUES, sparse.AddSSData),
        (lambda x: x + T.ones((2, 3)), VALUES + 1, sparse.AddSD),
        (lambda x: x * x, VALUES**2, sparse.MulSS),
        (lambda x: x * 2.0, 2 * VALUES, sparse.MulSD),
        (lambda x: sparse.mul_s_v(x, T.constant([1.0, 2, 3])), VALUES * [1, 2, 3], sparse.MulSV),
        (
            lambda x: sparse.structured_add_s_v(x, T.constant([1.0, 2, 3])),
            [[2, 0, 5], [0, 0, 6]], sparse.StructuredAddSV,
        ),
        (lambda x: sparse.dot(x, x.T), VALUES @ VALUES.T, sparse.Dot),
        (lambda x: sparse.true_dot(x, x.T), VALUES @ VALUES.T, sparse.TrueDot),
        (lambda x: sparse.dot(x, T.constant([1.0, 2, 3])), [7, 9], sparse.Dot),
        (lambda x: theano.dot(x, x.T), VALUES @ VALUES.T, sparse.StructuredDot),
        (lambda x: x[[1, 0, 0]], VALUES[[1, 0, 0]], sparse.GetItemList),
        (lambda x: x[[1, 0], [2, 0]], [3, 1], sparse.GetItem2Lists),
        (lambda x: x[1, 2], 3, sparse.GetItemScalar),
        (lambda x: x[:, 1:], VALUES[:, 1:], sparse.GetItem2d),
        (lambda x: x > T.ones((2, 3)), VALUES > 1, GREATER),
        (lambda x: T.ones((2, 3)) * x, VALUES, sparse.MulSD),
        (lambda x: sparse.HStack(dtype="float64")(x, x), np.hstack([VALUES] * 2), sparse.HStack),
        (lambda x: sparse.Remove0()(x), VALUES, sparse.Remove0),
        (lambda x: sparse.Cast("float32")(x), VALUES, sparse.Cast),
    ],
)  # fmt: skip
def test_ops_have_scipys_values(make: Any, right: Any, of_class: type, format: str) -> None:
    x, value = matrix(format)
    found = make(x)
    assert isinstance(found.owner.op, of_class)
    result = theano.function([x], found)(value)
    np.testing.assert_allclose(dense(result), right)
    assert isinstance(found.type, sparse.SparseType) == scipy_sparse.issparse(result)


@pytest.mark.parametrize(
    "make",
    [
        lambda x, y: sparse.dot(x, y).sum(),
        lambda x, y: sparse.structured_dot(x, y).sum() * y[0, 0],
        lambda x, y: sparse.sp_sum(sparse.mul(x, y[:2].T[:2, :1].T.sum() * T.ones((2, 3)))),
        lambda x, y: sparse.sp_sum(sparse.mul_s_v(x, y[:, 0]), axis=0).sum(),
        lambda x, y: sparse.sp_sum(sparse.structured_add_s_v(x, y[:, 1]) * 2.0),
        lambda x, y: (sparse.col_scale(x, y[:, 0]).toarray() ** 2).sum(),
        lambda x, y: (sparse.true_dot(x, y).toarray() ** 2).sum(),
    ],
)
def test_gradients_by_dense_factors(make: Any) -> None:
    x, value = matrix()
    y = T.dmatrix("y")
    cost = make(x, y)
    f = theano.function([x, y], [cost, theano.grad(cost, y)], on_unused_input="ignore")
    at = np.array([[0.5, 1.0], [2.0, -1.0], [1.5, 0.25]])
    _, slope = f(value, at)
    for row, column in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[row, column] = 1e-6
        change = f(value, at + step)[0] - f(value, at - step)[0]
        np.testing.assert_allclose(slope[row, column], change / 2e-6, atol=1e-6)


def test_the_gradient_of_elements_is_at_their_places() -> None:
    data, indices, indptr = T.dvector(), T.ivector(), T.ivector()
    made = sparse.CSM("csr")(data, indices, indptr, T.constant(np.array([2, 3], "int32")))
    cost = (sparse.dense_from_sparse(made) * np.arange(6.0).reshape(2, 3)).sum()
    f = theano.function([data, indices, indptr], theano.grad(cost, data))
    unsorted = f([1.0, 2, 3], np.array([2, 0, 2], "int32"), np.array([0, 2, 3], "int32"))
    np.testing.assert_array_equal(unsorted, [2, 0, 5])


def test_shapes_are_told_without_the_product() -> None:
    x, value = matrix()
    f = theano.function([x], sparse.dot(x, x.T).shape)
    assert not any(isinstance(n.op, sparse.Dot) for n in f.maker.fgraph.toposort())
    assert f(value).tolist() == [2, 2]


def test_rows_taken_may_have_a_sparse_gradient() -> None:
    m, v = T.dmatrix(), T.ivector()
    slope = theano.grad((theano.sparse_grad(m[v]) ** 2).sum(), m)
    assert isinstance(slope.owner.op, sparse.ConstructSparseFromList)
    result = theano.function([m, v], slope)(np.arange(6.0).reshape(3, 2), [2, 0, 2])
    np.testing.assert_array_equal(result.toarray(), [[0, 2], [0, 0], [16, 20]])


def test_what_is_refused() -> None:
    x, _ = matrix()
    with pytest.raises(NotImplementedError, match="no sparse vector"):
        x[0]
    with pytest.raises(ValueError, match="Advanced indexing"):
        x[T.ivector(), 0:1]
    with pytest.raises(ValueError, match="whole numbers"):
        x[T.fscalar() :]
    with pytest.raises(TypeError, match="one of the matrices must be sparse"):
        sparse.dot(T.dmatrix(), T.dmatrix())
    with pytest.raises(TypeError, match="more than 2 dimensions"):
        sparse.csr_from_dense(T.dtensor3())


def test_programs_add_settings_of_their_own() -> None:
    AddConfigVar("test_settings.count", "A number.", IntParam(3, lambda n: n > 0))
    AddConfigVar("test_settings.kind", "One of two.", EnumStr("a", "b"))
    AddConfigVar("test_settings.on", "Whether.", BoolParam(False, allow_override=False))
    own = theano.config.test_settings
    assert (own.count, own.kind, own.on) == (3, "a", False)
    own.count = "5"
    assert theano.config.test_settings.count == 5
    with theano.change_flags(test_settings__kind="b"):
        assert own.kind == "b"
    with pytest.raises(ValueError, match="Invalid value"):
        own.kind = "c"
    with pytest.raises(ValueError, match="Invalid value"):
        own.count = -1
    with pytest.raises(Exception, match="after initialization"):
        own.on = True
    with pytest.raises(AttributeError, match="already taken"):
        AddConfigVar("test_settings.count", "Again.", IntParam(3))
