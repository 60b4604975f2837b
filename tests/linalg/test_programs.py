"""Programs of linear algebra: which routines they call."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.codegen.ir import Launch, Routine
from symc.rewrite.pipeline import optimize

L: Any = T.linalg


def routines(inputs: Any, outputs: Any) -> Counter[str]:
    """How often each routine is called."""
    function = symc.function(inputs, outputs, mode="python")  # nothing is compiled
    steps = function.runner.compilation().optimised.steps
    return Counter(step.name for step in steps if isinstance(step, Routine))


def test_one_factorisation_serves_all_that_is_asked_of_a_matrix() -> None:
    a, b, c = T.matrix("a"), T.matrix("b"), T.vector("c")
    asked = [
        L.solve(a, b),
        L.solve(a.T, b),
        a.T @ L.inv(a),
        L.inv(a) @ c,
        L.det(a),
        L.slogdet(a)[1],
    ]
    assert routines([a, b, c], asked)["lu"] == 1
    gradient = symc.grad(L.solve(a, c).sum() + L.slogdet(a).logabsdet, a)
    assert routines([a, c], gradient)["lu"] == 1


def test_no_inverse_where_a_system_is_solved() -> None:
    a, b = T.matrix("a"), T.vector("b")
    called = routines([a, b], L.inv(a) @ b)
    assert called == {"lu": 1, "lu_solve": 1}
    called = routines([a, b], b @ L.inv(a.T @ a) @ b)
    assert "lu_inverse" not in called


def test_factors_of_cholesky_are_used_as_triangles() -> None:
    k, y = T.matrix("k"), T.vector("y")
    l = L.cholesky(k)  # noqa: E741
    called = routines([k, y], [L.solve(l, y), L.inv(l) @ y, T.log(L.det(l @ l.T)), L.solve(l.T, y)])
    assert called.keys() == {"cholesky", "solve_triangular"}
    assert called["cholesky"] == 1
    assert called["solve_triangular"] <= 3


def test_gradient_of_a_likelihood_needs_no_inverse() -> None:
    k, y = T.matrix("k"), T.vector("y")
    l = L.cholesky(k)  # noqa: E741
    loss = y @ L.cho_solve((l, True), y) + 2 * T.log(T.diagonal(l)).sum()
    called = routines([k, y], [loss, symc.grad(loss, k)])
    assert called["cholesky"] == called["cholesky_pullback"] == 1
    assert called["solve_triangular"] <= 4
    assert not {"lu", "lu_inverse"} & called.keys()


def test_trace_of_a_product_multiplies_only_what_is_on_the_diagonal() -> None:
    a, b = (T.tensor("float64", (50, 50), name) for name in "ab")
    assert not routines([a, b], T.trace(a @ b))
    function = symc.function([a, b], T.trace(a @ b), mode="python")
    steps = function.runner.compilation().optimised.steps
    assert sum(isinstance(step, Launch) for step in steps) == 1


def test_logarithms_of_determinants_do_not_overflow() -> None:
    a = T.matrix("a")
    value = np.eye(500) * 10.0
    wanted = 500 * np.log(10)
    for mode in ("python", "compile", "default"):
        outputs = [T.log(L.det(a)), T.log(abs(L.det(a))), symc.grad(T.log(L.det(a)), a)]
        one, two, gradient = symc.function([a], outputs, mode=mode)(value)
        assert np.isclose(one, wanted)
        assert np.isclose(two, wanted)
        np.testing.assert_allclose(gradient, np.eye(500) / 10)


def test_only_programs_that_factorise_have_the_table() -> None:
    a = T.matrix("a")
    assert "symc_lapack" in symc.function([a], L.cholesky(a), mode="compile").source
    assert "symc_lapack" not in symc.function([a], a @ a, mode="compile").source


def test_a_result_is_the_same_with_any_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((300, 300))
    a, b = a @ a.T + 300 * np.eye(300), rng.standard_normal((300, 200))
    x, y = T.matrix("x"), T.matrix("y")
    outputs = [L.cholesky(x), L.solve(x, y), L.inv(x), L.expm(x / 1e3),
               symc.grad(L.cholesky(x).sum(), x), L.solve_triangular(x, y)]  # fmt: skip
    results: list[Any] = []
    before = symc.config.threads
    for threads in (1, 2, 5):
        symc.config.threads = threads
        results.append(symc.function([x, y], outputs)(a, b))
    symc.config.threads = before
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            assert np.array_equal(one, two)


def test_rules_of_linear_algebra_are_loaded_with_it() -> None:
    code = (
        "import sys, symc, symc.tensor as T\n"
        "x = T.matrix('x')\n"
        "symc.function([x], T.exp(x) + 1, mode='python').runner.compilation()\n"
        "assert 'symc.tensor.linalg' not in sys.modules\n"
        "y = T.linalg.inv(x) @ x\n"
        "from symc.rewrite.pipeline import optimize\n"
        "assert optimize(y).op.label == 'lusolve', optimize(y)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_modules_are_imported_with_their_functions() -> None:
    code = (
        "import sys, symc.tensor as T\n"
        "x = T.linalg.cholesky(T.matrix('x'))\n"
        "assert 'symc.tensor.linalg.definite' in sys.modules\n"
        "assert 'symc.tensor.linalg.singular' not in sys.modules\n"
        "from symc.tensor.linalg import singular, svd\n"
        "assert T.linalg.singular is singular and T.linalg.svd is svd\n"
        "from symc.tensor.linalg import *\n"
        "assert eigh is T.linalg.eigh and eigh.__module__ == 'symc.tensor.linalg'\n"
        "assert 'svd' in dir(T.linalg) and dir(T.linalg) == T.linalg.__all__\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_adjoint_of_a_solution_needs_no_conjugate_of_the_matrix() -> None:
    a, b = T.matrix("a", "complex128"), T.vector("b", "complex128")
    gradient = optimize(symc.grad(abs(L.solve(a, b)).sum(), b))
    assert gradient is not None
    assert routines([a, b], gradient)["lu"] == 1


def test_an_inverse_by_cholesky_solves_no_system_with_an_identity() -> None:
    k = T.matrix("k")
    l, one = L.cholesky(k), T.eye(k.shape[0])  # noqa: E741
    inverses = [L.cho_solve((l, True), one), L.solve(k, one, assume_a="pos"), L.inv(l)]
    assert routines([k], inverses) == {
        "cholesky": 1, "triangle_inverse": 1, "triangle_square": 1,
    }  # fmt: skip
    upper = L.solve_triangular(k, one), L.solve_triangular(k, one, lower=True, trans=1)
    assert routines([k], upper).keys() == {"triangle_inverse"}
    fixed = T.tensor("float64", (5, 5), "k")
    constant = L.cho_solve((L.cholesky(fixed), True), np.eye(5))
    assert routines([fixed], constant)["triangle_square"] == 1
