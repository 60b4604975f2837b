"""Inverses, systems and determinants of one matrix: LU and Cholesky, 500 and 1500 rows, float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, check_all, compared, module
from numpy.typing import NDArray

Array = NDArray[Any]


def data(rows: int) -> tuple[Array, Array, Array]:
    """A matrix of normal numbers, a definite one, and right sides."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, rows, rows))
    return a, a @ a.T / rows + np.eye(rows), b


def reference(a: Array, k: Array, b: Array) -> tuple[Array, ...]:
    """By NumPy."""
    linalg = np.linalg
    return linalg.solve(a, b), linalg.inv(a), linalg.slogdet(a)[1], linalg.cholesky(k)


def verify(got: Any, rows: int) -> None:
    """Compares with NumPy, as far as the condition of the matrix allows."""
    check_all(tuple(map(np.asarray, got)), reference(*data(rows)), rtol=1e-6, atol=1e-8)


def symc(rows: int) -> Repeated:
    """One function: the factors of a are shared."""
    import symc as package
    import symc.tensor as T

    a, k, b = T.matrix("a"), T.matrix("k"), T.matrix("b")
    linalg = T.linalg
    asked = [linalg.solve(a, b), linalg.inv(a), linalg.slogdet(a)[1], linalg.cholesky(k)]
    function = package.function([a, k, b], asked)
    verify(function(*data(rows)), rows)
    return Repeated(function, data(rows))


def scipy(rows: int) -> Repeated:
    """SciPy, with one factorisation of a for all."""
    linalg, lapack = module("scipy.linalg"), module("scipy.linalg.lapack")

    def call(a: Array, k: Array, b: Array) -> tuple[Any, ...]:
        factors = linalg.lu_factor(a, check_finite=False)
        x = linalg.lu_solve(factors, b, check_finite=False)
        inverse = lapack.dgetri(*factors, lwork=64 * rows)[0]
        size = np.log(np.abs(np.diagonal(factors[0]))).sum()
        return x, inverse, size, linalg.cholesky(k, lower=True, check_finite=False)

    verify(call(*data(rows)), rows)
    return Repeated(call, data(rows))


def jax(rows: int) -> Repeated:
    """JAX in float64."""
    package = module("jax")
    package.config.update("jax_enable_x64", True)
    linalg = package.numpy.linalg

    def asked(a: Any, k: Any, b: Any) -> tuple[Any, ...]:
        return linalg.solve(a, b), linalg.inv(a), linalg.slogdet(a)[1], linalg.cholesky(k)

    compiled, given = package.jit(asked), tuple(map(package.numpy.asarray, data(rows)))
    verify(compiled(*given), rows)
    return Repeated(lambda a, k, b: package.block_until_ready(compiled(a, k, b)), given)


def judge(results: Results) -> list[Line]:
    """Against SciPy, whose OpenBLAS has as many threads."""
    return compared(results, ("SciPy", 1.0), ("JAX", None))


def _case(rows: int) -> Case:
    return Case(
        f"factorisations_{rows}",
        f"solve, inverse, determinant and Cholesky of {rows} rows, float64",
        {
            "symc": Contestant(lambda: symc(rows)),
            "SciPy": Contestant(lambda: scipy(rows), "scipy"),
            "JAX": Contestant(lambda: jax(rows), "jax"),
        },
        judge,
    )


CASES = (_case(500), _case(1500))
