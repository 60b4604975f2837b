"""Errors of linear algebra: when expressions are built, and when they are computed."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import DTypeError, GradientError, RankError, ShapeMismatch, SymcError

L: Any = T.linalg
SINGULAR = np.ones((3, 3))
NAN = np.full((3, 3), np.nan)

FAILURES: dict[str, tuple[Callable[[Any], Any], Any, str]] = {
    "cholesky": (L.cholesky, np.diag([1.0, -1.0, 1.0]),
                 "the matrix is not positive definite: its leading minor of order 2 "),
    "inv": (L.inv, SINGULAR, "the matrix is singular: pivot 2 is 0"),
    "solve": (lambda a: L.solve(a, np.ones(3)), SINGULAR, "the matrix is singular: pivot 2 is 0"),
    "definite": (lambda a: L.solve(a, np.ones(3), "pos"), -SINGULAR,
                 "the matrix is not positive definite: its leading minor of order 1 "),
    "triangle": (lambda a: L.solve_triangular(a, np.ones(3)), np.zeros((3, 3)),
                 "there is a 0 on the diagonal"),
    "gradient of slogdet": (lambda a: symc.grad(L.slogdet(a).logabsdet, a), SINGULAR,
                            "the matrix is singular"),
    "eigh": (lambda a: L.eigh(a).eigenvectors, NAN, "did not converge"),
    "eigvalsh": (L.eigvalsh, NAN, "did not converge"),
    "svd": (lambda a: L.svd(a).U, NAN, "the iteration did not converge"),
    "svdvals": (L.svdvals, NAN, "the iteration did not converge"),
    "pinv": (L.pinv, NAN, "the iteration did not converge"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_failures_say_what_and_where_in_the_interpreter(name: str) -> None:
    build, a, text = FAILURES[name]
    x = T.matrix("x")
    function = symc.function([x], build(x), mode="python")
    with pytest.raises(symc.LinAlgError, match=text) as caught:
        function(a)
    assert "test_errors.py:" in str(caught.value)
    assert isinstance(caught.value, np.linalg.LinAlgError)
    assert isinstance(caught.value, SymcError)


@pytest.mark.parametrize("name", ["cholesky", "inv", "definite", "triangle", "gradient of slogdet"])
def test_failures_of_compiled_code_are_the_same(name: str) -> None:
    build, a, text = FAILURES[name]
    x = T.matrix("x")
    function = symc.function([x], build(x), mode="compile")
    for _ in range(2):
        with pytest.raises(symc.LinAlgError, match=text) as caught:
            function(a)
        assert "test_errors.py:" in str(caught.value)
    function(np.diag([2.0, 3.0, 4.0]))  # the next call is not affected


def test_no_iteration_converges_on_nan() -> None:
    """Compiled code reports it like NumPy, or gives NaN: it depends on the LAPACK."""
    x = T.matrix("x")
    for build in (L.eigvalsh, L.svdvals):
        function = symc.function([x], build(x))
        with contextlib.suppress(symc.LinAlgError):
            assert np.isnan(function(NAN)).any()


def test_a_stack_says_which_matrix() -> None:
    x = T.tensor("float64", (None, None, None, None), name="x")
    function = symc.function([x], L.cholesky(x), mode="python")
    a = np.broadcast_to(np.eye(2), (2, 3, 2, 2)).copy()
    a[1, 2, 1, 1] = -1
    with pytest.raises(symc.LinAlgError, match=r"cholesky: matrix \[1, 2\] is not positive"):
        function(a)


def test_a_failure_leaves_everything_as_it_was() -> None:
    x, total = T.matrix("x"), symc.shared(np.zeros((2, 2)), name="total")
    function = symc.function([x], L.inv(x).sum(), updates=[(total, total + L.cholesky(x))])
    function(np.eye(2))
    for bad in (np.zeros((2, 2)), np.diag([1.0, -1.0])):
        with pytest.raises(symc.LinAlgError):
            function(bad)
    assert np.array_equal(total.get_value(), np.eye(2))


def test_det_of_a_singular_matrix_is_zero() -> None:
    x = T.matrix("x")
    for mode in ("python", "compile"):
        results = symc.function([x], [L.det(x), *L.slogdet(x)], mode=mode)(SINGULAR)
        assert results == [0.0, 0.0, -np.inf]


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "rank": (lambda: L.inv(T.vector("x")), RankError, "inv needs a matrix, or a stack of them"),
    "right": (lambda: L.solve(T.matrix(), T.scalar()), RankError, "vector or matrices"),
    "square": (lambda: L.det(np.ones((2, 3))), ShapeMismatch,
               "det needs square matrices, not 2 rows and 3 columns"),
    "lengths": (lambda: L.solve(np.eye(3), np.ones(2)), ShapeMismatch, "solve: axis 1 is 3 on the"),
    "half": (lambda: L.cholesky(np.eye(2, dtype="float16")), DTypeError, "cast to float32 first"),
    "assume": (lambda: L.solve(np.eye(2), np.ones(2), "odd"), ValueError, "'gen', 'sym' or 'pos'"),
    "trans": (lambda: L.solve_triangular(np.eye(2), np.ones(2), trans=5), ValueError, "trans is"),
    "UPLO": (lambda: L.eigh(np.eye(2), "X"), ValueError, "UPLO is 'L' or 'U'"),
    "mode": (lambda: L.qr(np.eye(2), "raw"), ValueError, "mode is 'reduced'"),
    "order": (lambda: L.norm(np.eye(2), 3), ValueError, "no order of a matrix norm"),
    "vector's order": (lambda: L.norm(np.ones(2), "fro"), ValueError, "a norm of matrices"),
    "axes": (lambda: L.norm(np.ones((2, 2, 2)), 1), RankError, "one axis or two, not 3"),
    "power": (lambda: L.matrix_power(np.eye(2), 0.5), TypeError, "integer"),
    "power's rank": (lambda: L.matrix_power(np.ones(2), 2), RankError, "matrix_power needs"),
    "dot": (lambda: L.multi_dot([np.eye(2)]), ValueError, "at least 2"),
    "dot's rank": (lambda: L.multi_dot([np.eye(2), np.ones(2), np.eye(2)]), RankError, "ends"),
    "tol": (lambda: L.matrix_rank(np.eye(2), 1.0, rtol=1.0), ValueError, "both"),
    "lstsq": (lambda: L.lstsq(np.ones((2, 2, 2)), np.ones((2, 2))), RankError, "one matrix"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    build, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        build()


def test_gradients_that_do_not_exist() -> None:
    x = T.tensor("float64", (2, 3), "x")
    for result in (L.qr(T.matrix(), "complete").R, L.qr(x.T, "complete").Q, L.svd(x).U):
        with pytest.raises(GradientError):
            symc.grad(result.sum(), x)


def test_lengths_of_a_system_that_are_known_late() -> None:
    """The message is about the user's argument, not about values made of it."""
    a, b = T.matrix("a"), T.vector("b")
    function = symc.function([a, b], L.solve(a, b), mode="python")
    with pytest.raises(ShapeMismatch, match=r"axis 1 is 3 on the left, but axis 0 is 4") as caught:
        function(np.eye(3), np.ones(4))
    assert re.search(r"left   a  .*\n  right  b  ", str(caught.value))


def test_lengths_that_are_known_late() -> None:
    x = T.matrix("x")
    for mode in ("python", "compile"):
        function = symc.function([x], L.inv(x), mode=mode)
        with pytest.raises(ShapeMismatch, match="inv needs square matrices, not 2 rows and 3"):
            function(np.ones((2, 3)))
