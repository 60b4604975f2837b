"""The Schur form: its definition, SciPy's forms, and derivatives where they exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import ShapeMismatch
from tests.linalg.cases import normal
from tests.ops.harness import check

L: Any = T.linalg
TOLERANCE = {"float32": 2e-5, "float64": 1e-13, "complex64": 2e-5, "complex128": 1e-13}


def of_order(a: Any, mode: str, output: str = "real") -> Any:
    x = T.tensor(a.dtype, (None,) * a.ndim, name="x")
    return symc.function([x], list(L.schur(x, output)), mode=mode)(a)


@pytest.mark.parametrize("mode", ["python", "compile"])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_form_and_basis(dtype: str, mode: str) -> None:
    limit = TOLERANCE[dtype]
    for n in (0, 1, 2, 5):
        a = normal(np.random.default_rng(n), (2, n, n), dtype)
        t, z = of_order(a, mode)
        assert t.dtype == z.dtype == a.dtype
        np.testing.assert_allclose(z @ t @ z.conj().mT, a, atol=10 * limit)
        np.testing.assert_allclose(z.conj().mT @ z, np.eye(n) + 0 * t, atol=limit)
        assert not np.tril(t, -1 if a.dtype.kind == "c" else -2).any()


def test_blocks_are_those_of_scipy() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    for n in (2, 4, 7):
        a = normal(np.random.default_rng(n), (n, n), "float64")
        for got, wanted in zip(of_order(a, "compile"), linalg.schur(a), strict=True):
            np.testing.assert_allclose(abs(got), abs(wanted), atol=1e-12)
        t = of_order(a, "python")[0]
        for k in np.flatnonzero(np.diagonal(t, -1)):
            assert t[k, k] == pytest.approx(t[k + 1, k + 1])
            assert t[k, k + 1] * t[k + 1, k] < 0


def test_a_matrix_with_one_eigenvector() -> None:
    q = np.linalg.qr(normal(np.random.default_rng(0), (4, 4), "float64"))[0]
    a = q @ (2 * np.eye(4) + np.eye(4, k=1)) @ q.T
    for mode in ("python", "compile"):
        t, z = of_order(a, mode)
        np.testing.assert_allclose(z @ t @ z.T, a, atol=1e-13)
        np.testing.assert_allclose(z.T @ z, np.eye(4), atol=1e-13)


def test_the_complex_form_of_a_real_matrix_is_triangular() -> None:
    t, z = of_order(np.array([[0.0, -1.0], [1.0, 0.0]]), "compile", "complex")
    assert t[1, 0] == 0
    np.testing.assert_allclose(sorted(t.diagonal().imag), [-1, 1])
    np.testing.assert_allclose(z @ t @ z.conj().T, [[0, -1], [1, 0]], atol=1e-15)


def sizes(a: Any) -> list[Any]:
    """What depends on no sign or phase."""
    t, z = L.schur(a)
    return [T.sqr(abs(t)), T.sqr(abs(z))]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives(dtype: str) -> None:
    rng = np.random.default_rng(7)
    for shape in [(1, 1), (3, 3), (2, 4, 4)]:
        n = shape[-1]
        upper = np.triu(normal(rng, shape, dtype), 1) + np.diag(np.arange(1.0, n + 1))
        q = np.linalg.qr(normal(rng, shape, dtype)).Q
        check(sizes, q @ upper @ q.conj().mT, compiled=False, rtol=1e-8)


def test_a_real_form_with_pairs_has_no_derivative() -> None:
    x = T.matrix("x")
    slope = symc.grad(L.schur(x).t.sum(), x)
    assert np.isnan(slope.eval({x: [[0.0, -1.0], [1.0, 0.0]]})).all()


def test_errors() -> None:
    with pytest.raises(ShapeMismatch, match="schur needs square matrices"):
        L.schur(np.ones((2, 3)))
    with pytest.raises(ValueError, match="output is 'real' or 'complex'"):
        L.schur(np.ones((2, 2)), "any")


@pytest.mark.parametrize("mode", ["python", "compile"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_have_no_form(value: float, mode: str) -> None:
    """LAPACK printed a complaint, or gave NaN, for some of these."""
    for shape in ((1, 1), (3, 3)):
        a = np.eye(*shape)
        a[0, -1] = value
        x = T.matrix("x")
        for made in (L.schur(x).t, L.eig(x).eigenvalues):
            with pytest.raises(np.linalg.LinAlgError):
                symc.function([x], made, mode=mode)(a)
