"""`theano.sparse` against SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T

scipy_sparse: Any = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
S: Any = theano.sparse

A = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])
B = np.array([[5.0, 0.0], [0.0, 4.0], [6.0, 0.0]])
V = np.array([2.0, 3.0])
SQUARE = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.5, 0.25]])
ROWS = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]])

# What is made of a sparse matrix (its values are A), and the dense array that it is.
CASES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "dense": (S.dense_from_sparse, A),
    "transpose": (lambda x: S.dense_from_sparse(S.transpose(x)), A.T),
    "negative": (lambda x: S.dense_from_sparse(-x), -A),
    "sum": (lambda x: S.sp_sum(x, axis=0), A.sum(axis=0)),
    "sum of all": (S.sp_sum, A.sum()),
    "rows scaled": (lambda x: S.dense_from_sparse(S.row_scale(x, V)), A * V[:, None]),
    "added": (lambda x: S.dense_from_sparse(S.add(x, x)), 2 * A),
    "multiplied": (lambda x: S.dense_from_sparse(S.mul(x, x)), A * A),
    "by a dense matrix": (lambda x: S.structured_dot(x, B), A @ B),
    "dense first": (lambda x: S.dot(V, x), V @ A),
    "function of elements": (lambda x: S.dense_from_sparse(S.structured_exp(x)),
                             np.where(A == 0, 0, np.exp(A))),
    "rows": (lambda x: S.dense_from_sparse(x[1:]), A[1:]),
    "two beside each other": (lambda x: S.dense_from_sparse(S.hstack([x, x])), np.hstack([A, A])),
}  # fmt: skip


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_values(format: str) -> None:
    x = S.matrix(format, dtype="float64")
    f = theano.function([x], [make(x) for make, _ in CASES.values()])
    found = f(scipy_sparse.csr_matrix(A).asformat(format))
    for (name, (_, wanted)), value in zip(CASES.items(), found, strict=True):
        np.testing.assert_allclose(value, wanted, err_msg=name)


def test_gradients() -> None:
    """By the elements that are there, and by a dense factor."""
    x, y = S.csr_dmatrix("x"), T.dmatrix("y")
    of_x, of_y = T.grad((S.structured_dot(x, y) ** 2).sum(), [x, y])
    f = theano.function([x, y], [S.dense_from_sparse(of_x), of_y])
    by_x, by_y = f(scipy_sparse.csr_matrix(A), B)
    np.testing.assert_allclose(by_x, np.where(A == 0, 0, 2 * A @ B @ B.T))
    np.testing.assert_allclose(by_y, 2 * A.T @ A @ B)


def test_shared_matrices_are_updated() -> None:
    x = theano.shared(scipy_sparse.csr_matrix(A))
    f = theano.function([], S.sp_sum(x), updates=[(x, S.add(x, x))])
    assert [float(f()) for _ in range(3)] == [6.0, 12.0, 24.0]
    np.testing.assert_array_equal(x.get_value().toarray(), 8 * A)


def test_steps_of_loops_have_sparse_matrices() -> None:
    w, x = theano.shared(scipy_sparse.csr_matrix(SQUARE)), T.dmatrix("x")
    for backwards in (False, True):
        states, updates = theano.scan(
            lambda row, before: T.tanh(S.structured_dot(w, before.dimshuffle(0, "x"))[:, 0] + row),
            sequences=x, outputs_info=T.ones(3), go_backwards=backwards,
        )  # fmt: skip
        found = theano.function([x], states, updates=updates)(ROWS)
        state = np.ones(3)
        for row, value in zip(ROWS[::-1] if backwards else ROWS, found, strict=True):
            state = np.tanh(SQUARE @ state + row)
            np.testing.assert_allclose(value, state, rtol=1e-12)


def test_steps_with_taps_ends_and_shared_variables_beside_sparse_matrices() -> None:
    w, total, n = theano.shared(scipy_sparse.csr_matrix(SQUARE)), theano.shared(0.0), T.iscalar("n")

    def step(second: Any, first: Any, matrix: Any) -> Any:
        new = second + first + S.sp_sum(matrix)
        return new, {total: total + new}, theano.scan_module.until(new > 60)

    initial = {"initial": T.as_tensor_variable(np.array([1.0, 2.0, 9.0])), "taps": [-2, -1]}
    found, updates = theano.scan(step, outputs_info=initial, non_sequences=w, n_steps=n)
    f = theano.function([n], found, updates=updates)
    wanted = [1.0, 2.0]
    while wanted[-1] <= 60:
        wanted.append(wanted[-1] + wanted[-2] + SQUARE.sum())
    np.testing.assert_allclose(f(100), wanted[2:], rtol=1e-12)
    assert total.get_value() == pytest.approx(sum(wanted[2:]))
    assert f(0).shape == (0,)


def test_steps_of_loops_have_lists() -> None:
    many = theano.typed_list.TypedListType(T.fvector)("many")
    count = theano.typed_list.length(many)
    sums, _ = theano.scan(
        lambda position, rows: rows[position].sum(),
        sequences=T.arange(count, dtype="int64"), non_sequences=many,
    )  # fmt: skip
    f = theano.function([many], sums)
    np.testing.assert_array_equal(f([[1, 2, 3], [4, 5]]), [6.0, 9.0])
