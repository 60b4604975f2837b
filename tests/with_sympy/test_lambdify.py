"""`symc.sympy.lambdify` against SymPy's own with NumPy, and features that only one of them has."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from sympy.codegen import cfunctions
from sympy.utilities.lambdify import implemented_function

import symc
from symc import tensor as T
from symc.errors import BadArgument
from symc.sympy import lambdify, to_symc

x, y, z = sympy.symbols("x y z", real=True)
k, n = sympy.symbols("k n", integer=True)
POINTS = np.linspace(0.1, 0.92, 7)  # no ties: there are several derivatives then

# Functions of x in (0, 1) and y in (1, 2) that SymPy's printer for NumPy (or SciPy) knows as well.
ELEMENTWISE = [
    x + y - 1, x - 2 * y, -x, x * y / 3, 2 / x, x / y**2, x**3, x**-2, y ** sympy.Rational(2, 3),
    sympy.sqrt(x), 1 / sympy.sqrt(y), y**x, x**y, sympy.Rational(1, 3) * x, sympy.pi * x + sympy.E,
    sympy.exp(x), sympy.exp(-(x**2) / 2), sympy.log(x), sympy.log(y, 2),
    sympy.sin(x), sympy.cos(x), sympy.tan(x), sympy.sec(x), sympy.csc(x), sympy.cot(x),
    sympy.asin(x), sympy.acos(x), sympy.atan(x), sympy.atan2(x, y), sympy.asec(y), sympy.acsc(y),
    sympy.acot(y), sympy.sinh(x), sympy.cosh(x), sympy.tanh(x), sympy.sech(x), sympy.csch(x),
    sympy.coth(x), sympy.asinh(x), sympy.acosh(y), sympy.atanh(x), sympy.asech(x), sympy.acsch(x),
    sympy.acoth(y), sympy.sinc(x), sympy.Abs(x - 0.5), sympy.sign(x - 0.5), sympy.floor(3 * x),
    sympy.ceiling(3 * x), sympy.Mod(5 * x, y), sympy.Max(x, 0.5, y - 1), sympy.Min(x, 0.5),
    sympy.Heaviside(x - 0.5), sympy.Piecewise((x, x < 0.3), (x**2, x < 0.6), (y, True)),
    sympy.Piecewise((x, x < 0.3)), sympy.ITE(x < 0.5, y > 1.5, y < 1.2),
    sympy.And(x < 0.5, y > 1.2), sympy.Or(x < 0.5, y > 1.2), sympy.Not(x < 0.5),
    sympy.Eq(x, y), sympy.Ne(x, y), x <= y, x >= y, sympy.re(x), sympy.conjugate(x),
    cfunctions.expm1(x), cfunctions.log1p(x), cfunctions.exp2(x), cfunctions.log2(x),
    cfunctions.log10(x), cfunctions.hypot(x, y),
    sympy.UnevaluatedExpr(x + y) * 2, sympy.Derivative(sympy.sin(x * y), x),
]  # fmt: skip

# Beside exact values from SymPy, as NumPy has nothing for them.
SPECIAL = [
    sympy.erf(x), sympy.erfc(x), sympy.erfinv(x), sympy.gamma(x),
    sympy.loggamma(x), sympy.digamma(x), sympy.trigamma(x), sympy.polygamma(2, x),
    sympy.beta(x, y), sympy.lowergamma(x, y), sympy.uppergamma(x, y), sympy.besselj(0, x),
    sympy.besselj(1, x), sympy.besseli(0, x), sympy.besseli(1, x), sympy.factorial(x),
    sympy.binomial(y, x), sympy.rf(x, y), sympy.ff(y, x), sympy.frac(3 * x), sympy.arg(x - 0.5),
    sympy.im(x), sympy.KroneckerDelta(k, n),
]  # fmt: skip


@pytest.mark.parametrize("expr", ELEMENTWISE, ids=str)
def test_elementwise_as_sympy_with_numpy(expr: Any) -> None:
    ours = lambdify([x, y], expr, mode="python")(POINTS, POINTS + 1)
    with np.errstate(all="ignore"):
        theirs = sympy.lambdify([x, y], expr.doit(), "numpy")(POINTS, POINTS + 1)
    np.testing.assert_allclose(ours, theirs, rtol=1e-14)


@pytest.mark.parametrize("expr", SPECIAL, ids=str)
def test_special_functions_as_sympy_by_many_digits(expr: Any) -> None:
    point = {x: sympy.Rational(3, 10), y: sympy.Rational(13, 10), k: 2, n: 3}
    wanted = float(expr.subs(point).evalf(30))
    ours = lambdify([x, y, k, n], expr, mode="python")(0.3, 1.3, 2, 3)
    np.testing.assert_allclose(ours, wanted, rtol=1e-12)


def test_all_elementwise_functions_compiled() -> None:
    inputs = POINTS, POINTS + 1
    compiled = lambdify([x, y], ELEMENTWISE + SPECIAL[:-1])(*inputs)
    plain = lambdify([x, y], ELEMENTWISE + SPECIAL[:-1], mode="python")(*inputs)
    for expr, ours, theirs in zip(ELEMENTWISE + SPECIAL, compiled, plain, strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14, err_msg=str(expr))


def test_nested_arguments_and_results() -> None:
    f = lambdify((x, (y, z)), {"a": x * y - z, "b": (z, [x**3, 1 / sympy.sqrt(x)])}, mode="python")
    result = f(2.0, (3.0, np.arange(3.0)))
    np.testing.assert_array_equal(result["a"], [6, 5, 4])
    assert isinstance(result["b"], tuple)
    assert result["b"][1] == [8.0, 1 / np.sqrt(2)]


def test_functions_that_sympy_itself_cannot_evaluate() -> None:
    cube, fused = cfunctions.Cbrt(x), cfunctions.fma(x, y, 1)
    f = lambdify([x, y], [cube, fused, sympy.erfc(sympy.erfcinv(x))], mode="python")
    np.testing.assert_allclose(f(0.3, 2.0), [np.cbrt(0.3), 1.6, 0.3], rtol=1e-14)


def test_arguments_by_name() -> None:
    assert lambdify("x y", sympy.Symbol("x") - sympy.Symbol("y"), mode="python")(1, 2) == -1
    assert lambdify(["x", "y"], sympy.Symbol("x") + 1, mode="python")(1, 2) == 2


def test_arguments_as_sympy_takes_them() -> None:
    f = lambdify([x, y], x - 2 * y, ["scipy", "numpy"], mode="python")
    assert f(1, y=2) == f(y=2, x=1) == f(sympy.Integer(1), 2) == -3
    assert f(sympy.Rational(1, 2), 0) == 0.5
    assert f(Fraction(1, 2), sympy.I) == 0.5 - 2j
    with pytest.raises(BadArgument, match="no value was given for y"):
        f(x=1)
    with pytest.raises(BadArgument, match="no argument 'z'"):
        f(1, 2, z=3)
    column = lambdify([sympy.Matrix([x, y]), z], x * y + z, mode="python")
    assert column(np.array([2.0, 3.0]), 1.0) == column([[2.0], [3.0]], 1.0) == 7.0
    assert repr(column) == "<lambdified (Matrix([[x], [y]]), z) -> x*y + z>"


def test_numbers_without_an_integer_type() -> None:
    assert lambdify([x], x + 10**30, mode="python")(1) == 1e30
    assert np.isnan(lambdify([x], x + sympy.zoo, mode="python")(1.0))
    assert lambdify([k, n], sympy.binomial(n, k), mode="python")(2, 5) == 10


OTHER_WORDS = [
    sympy.harmonic(x), sympy.legendre(3, x), sympy.jn(1, x), sympy.fresnels(0), sympy.catalan(y),
]  # fmt: skip


@pytest.mark.parametrize("expr", OTHER_WORDS, ids=str)
def test_functions_in_other_words(expr: Any) -> None:
    point = {x: sympy.Rational(3, 10), y: sympy.Rational(13, 10)}
    ours = lambdify([x, y], expr, mode="python")(0.3, 1.3)
    np.testing.assert_allclose(ours, complex(expr.subs(point).evalf(30)), rtol=1e-12)


def test_implications() -> None:
    outputs = [
        sympy.Implies(x > 0.5, y > 1.5),
        sympy.Equivalent(x > 0.5, y > 1.5),
        sympy.erf2(x, y),
    ]
    implied, same, area = lambdify([x, y], outputs, mode="python")(POINTS, POINTS[::-1] + 1)
    first, second = POINTS > 0.5, POINTS[::-1] + 1 > 1.5
    np.testing.assert_array_equal(implied, ~first | second)
    np.testing.assert_array_equal(same, first == second)
    difference = lambdify([x, y], sympy.erf(y) - sympy.erf(x), mode="python")
    np.testing.assert_array_equal(area, difference(POINTS, POINTS[::-1] + 1))


def test_broadcasts_over_arrays_of_any_rank() -> None:
    f = lambdify([x, y], sympy.sin(x) * y, mode="python")
    column, row = np.ones((3, 1)), np.arange(4.0)
    np.testing.assert_array_equal(f(column, row), np.sin(column) * row)
    assert f(1.0, 2.0) == np.sin(1.0) * 2
    assert isinstance(f(1.0, 2.0), np.float64)
    assert len(f.functions) == 2


def test_keeps_integers_and_float32() -> None:
    f = lambdify([x], x**2 + 1, mode="python")
    assert f(np.arange(3)).dtype == np.int64
    assert f(np.arange(3, dtype=np.float32)).dtype == np.float32
    assert lambdify([x], x**-2, mode="python")(2) == 0.25
    assert lambdify([x], x + 1, dtype="float32", mode="python")([1, 2]).dtype == np.float32


def test_matrices_of_expressions() -> None:
    matrix = sympy.Matrix([[x, x**2], [1, y]])
    f = lambdify([x, y], matrix, mode="python")
    np.testing.assert_array_equal(f(2.0, 3.0), [[2, 4], [1, 3]])
    assert f(np.arange(5.0), 3.0).shape == (2, 2, 5)
    np.testing.assert_array_equal(f(np.arange(5.0), 3.0)[0, 1], np.arange(5.0) ** 2)
    array = sympy.Array([[x, y], [1, 2]])
    np.testing.assert_array_equal(lambdify([x, y], array, mode="python")(3, 4), [[3, 4], [1, 2]])


def test_elements_of_a_matrix_share_their_parts() -> None:
    matrix = sympy.Matrix([[sympy.exp(x) * y, 1], [sympy.exp(x) + y, sympy.exp(x)]])
    f = lambdify([x, y], [matrix, x], cse=sympy.cse)
    xs, ys = np.linspace(0, 1, 5, dtype="f4"), np.ones((3, 1), "f4")
    ours, _ = f(xs, ys)
    assert ours.shape == (2, 2, 3, 5)
    assert ours.dtype == np.float32
    np.testing.assert_array_equal(ours[0, 1], 1)
    np.testing.assert_allclose(ours[1, 0], np.exp(xs) + ys, rtol=1e-6)
    (compiled,) = f.functions.values()
    assert compiled.program.count("= exp(") == 1
    np.testing.assert_allclose(f(xs[2], 1.0)[0], ours[:, :, 0, 2], rtol=1e-6)


def test_matrix_arguments() -> None:
    symbols = sympy.Matrix([[x, y]])
    f = lambdify([symbols, z], x * y + z, mode="python")
    assert f(np.array([[2.0, 3.0]]), 1.0) == 7.0


A, B = sympy.MatrixSymbol("A", 3, 3), sympy.MatrixSymbol("B", 3, 3)
MATRICES = [
    A + B, A - 2 * B, A * B, A.T * B, 3 * A * B * A, A**3, A.I, A**-2,
    sympy.Determinant(A), sympy.HadamardProduct(A, B),
    sympy.Trace(A) * x, A[0, 1] + B[2, 2], A[0:2, 1:3], sympy.BlockMatrix([[A, B], [B, A]]),
    A + sympy.Identity(3), A * sympy.ZeroMatrix(3, 3) + B, sympy.OneMatrix(3, 3) * A,
    sympy.KroneckerProduct(A, B), A * sympy.Matrix([1, 2, 3]),
]  # fmt: skip


@pytest.mark.parametrize("expr", MATRICES, ids=str)
def test_matrix_expressions(expr: Any) -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 3, 3))
    ours = lambdify([A, B, x], expr, mode="python")(a, b, 2.0)
    explicit = expr.as_explicit() if hasattr(expr, "as_explicit") else expr.doit()
    values = {A: sympy.Matrix(a), B: sympy.Matrix(b), x: 2}
    wanted = np.array(sympy.sympify(explicit).subs(values).doit(), dtype=float)
    np.testing.assert_allclose(ours, wanted, rtol=1e-13)


def test_complex_numbers() -> None:
    w = sympy.Symbol("w")
    outputs = [sympy.re(w), sympy.im(w), sympy.conjugate(w), sympy.arg(w), sympy.Abs(w)]
    outputs += [sympy.exp(sympy.I * w), w**2 + sympy.I]
    points = np.array([1 + 2j, -0.5j, 3.0])
    ours = lambdify([w], outputs, mode="python")(points)
    theirs = sympy.lambdify([w], outputs, "numpy")(points)
    for expr, left, right in zip(outputs, ours, theirs, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-14, atol=1e-15, err_msg=str(expr))
    adjoint = lambdify([A], A.adjoint(), mode="python")
    np.testing.assert_array_equal(adjoint(1j * np.eye(3)), -1j * np.eye(3))


def test_sums_and_products() -> None:
    series = sympy.Sum(x**k / sympy.factorial(k), (k, 0, n))
    f = lambdify([x, n], series, mode="python")
    np.testing.assert_allclose(f(np.array([1.0, 2.0]), 30), np.exp([1.0, 2.0]), rtol=1e-14)
    assert lambdify([n], sympy.Product(k, (k, 1, n)), mode="python")(5) == 120
    assert lambdify([n], sympy.Sum(k * y, (k, 1, n)).subs(y, 2), mode="python")(3) == 12
    assert lambdify([n, x], sympy.Sum(x, (k, 1, n)), mode="python")(4, 2.5) == 10
    double = sympy.Sum(k * sympy.Symbol("m"), (k, 1, 3), (sympy.Symbol("m"), 1, 2))
    assert lambdify([x], double + x, mode="python")(0) == 18


def test_indexed_arrays() -> None:
    a: Any = sympy.IndexedBase("a")
    i = sympy.Symbol("i", integer=True)
    values = np.arange(4.0)
    assert lambdify([a, i], a[i] * 2, mode="python")(values, 2) == 4
    total = sympy.Sum(a[i] ** 2, (i, 0, n - 1))
    assert lambdify([a, n], total, mode="python")(values, 4) == 14
    with pytest.raises(IndexError):
        lambdify([a, i], a[i] * 2, mode="python")(values, 4)


def test_functions_and_derivatives_as_arguments() -> None:
    t, g = sympy.Symbol("t"), sympy.Function("g")
    f = lambdify([g(t), g(t).diff(t)], g(t) + 2 * g(t).diff(t), mode="python")
    assert f(1.0, 2.0) == 5.0


def test_user_functions() -> None:
    g = sympy.Function("g")
    assert lambdify(x, g(x), modules={"g": T.exp}, mode="python")(1.0) == np.e
    first = [{"g": T.exp}, {"g": T.sin}, "symc"]
    assert lambdify(x, g(x), modules=first, mode="python")(1.0) == np.e
    own = implemented_function("h", lambda u: u * u)
    assert lambdify(x, own(x) + 1, mode="python")(3.0) == 10.0
    with pytest.raises(NotImplementedError, match="no function was given for h"):
        lambdify(x, own(x) + 1, use_imps=False, mode="python")(3.0)


def test_cse_of_the_users() -> None:
    expr = sympy.sin(x + y) + sympy.cos(x + y)
    f = lambdify([x, y], [expr, x + y], cse=sympy.cse, mode="python")
    assert f(1.0, 2.0) == [np.sin(3.0) + np.cos(3.0), 3.0]
    assert lambdify([x, y], expr, cse=True, mode="python")(1.0, 2.0) == np.sin(3.0) + np.cos(3.0)


def test_shared_parts_are_computed_once() -> None:
    f = lambdify([x, y], [sympy.exp(x * y) + 1, sympy.exp(x * y) * 2])
    f(1.0, 2.0)
    (compiled,) = f.functions.values()
    assert compiled.program.count("= exp(") == 1


def test_errors_say_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match="no function was given for g"):
        lambdify(x, sympy.Function("g")(x), mode="python")(1.0)
    with pytest.raises(KeyError, match="no tensor was given for the symbol y"):
        lambdify(x, x + y, mode="python")(1.0)
    with pytest.raises(NotImplementedError, match="no closed form"):
        lambdify(x, sympy.diff(sympy.Mod(sympy.Min(x, 1), 2), x), mode="python")(1.0)
    with pytest.raises(NotImplementedError, match="Si"):
        lambdify(x, sympy.Si(x), mode="python")(1.0)
    with pytest.raises(NotImplementedError, match="only finite sums"):
        lambdify(x, sympy.Sum(x**k, (k, 0, sympy.oo)), mode="python")(0.5)
    with pytest.raises(BadArgument, match="takes 2 arguments, not 1"):
        lambdify([x, y], x + y, mode="python")(1.0)
    with pytest.raises(ValueError, match="mpmath"):
        lambdify(x, x, "mpmath")
    with pytest.raises(ValueError, match="printer="):
        lambdify(x, x, printer=sympy.StrPrinter)


# SymPy leaves derivatives of these unevaluated.
UNKNOWN = (sympy.floor, sympy.ceiling, sympy.Mod, sympy.conjugate, sympy.re)


def _is_partial(expr: Any) -> bool:
    """Whether there are cases, and they leave some numbers out."""
    return type(expr) is sympy.Piecewise and expr.args[-1].args[1] != sympy.true


def test_derivatives_by_sympy_and_by_symc_agree() -> None:
    expr: Any
    for expr in ELEMENTWISE:
        whole = not _is_partial(expr)
        number = not isinstance(expr, sympy.logic.boolalg.Boolean)
        if whole and number and not expr.has(*UNKNOWN):
            given = T.vector("x"), T.vector("y")
            ours = symc.grad(T.sum(to_symc(expr, given)), given[0], disconnected="zero")
            theirs = lambdify([x, y], sympy.diff(expr, x), mode="python")(POINTS, POINTS + 1)
            derivative = symc.function(given, ours, mode="python", on_unused_input="ignore")
            value = derivative(POINTS, POINTS + 1)
            theirs = np.broadcast_to(theirs, POINTS.shape)
            np.testing.assert_allclose(value, theirs, rtol=1e-12, atol=1e-14, err_msg=str(expr))


POLYNOMIALS = {
    "chebyshevt": ("eval_chebyt", ()), "chebyshevu": ("eval_chebyu", ()),
    "legendre": ("eval_legendre", ()), "hermite": ("eval_hermite", ()),
    "laguerre": ("eval_laguerre", ()), "assoc_laguerre": ("eval_genlaguerre", (0.7,)),
    "gegenbauer": ("eval_gegenbauer", (1.3,)), "jacobi": ("eval_jacobi", (0.4, 1.6)),
}  # fmt: skip


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_an_order_that_the_call_brings(name: str) -> None:
    special = pytest.importorskip("scipy.special")
    theirs, parameters = POLYNOMIALS[name]
    f = lambdify([n, x], getattr(sympy, name)(n, *parameters, x), mode="python")
    for order in (0, 1, 2, 7, 30):
        wanted = getattr(special, theirs)(order, *parameters, POINTS)
        np.testing.assert_allclose(f(order, POINTS), wanted, rtol=1e-12, atol=1e-13)
    with pytest.raises(BadArgument, match="the order of a polynomial"):
        f(1.5, POINTS)


def test_bernoulli_and_associated_legendre() -> None:
    f = lambdify([n, x], [sympy.bernoulli(n), sympy.bernoulli(n, x)], mode="python")
    for order in (0, 1, 2, 7, 12):
        exact = [float(sympy.bernoulli(order)), float(sympy.bernoulli(order, sympy.Rational(1, 3)))]
        np.testing.assert_allclose(f(order, 1 / 3), exact, rtol=1e-13)
    legendre = lambdify([n, k, x], sympy.assoc_legendre(n, k, x), mode="python")
    for degree, order in ((0, 0), (3, 0), (3, 2), (5, 5)):
        value = float(sympy.assoc_legendre(degree, order, sympy.Rational(1, 4)))
        np.testing.assert_allclose(legendre(degree, order, 0.25), value, rtol=1e-13)


def test_functions_of_numbers_and_constants_in_modules() -> None:
    g = sympy.Function("g")
    f = lambdify([x, y], g(x) + sympy.pi, modules=[{"g": math.sqrt, "pi": 3}, "math"])
    np.testing.assert_array_equal(f([4.0, 9.0], 1.0), [5.0, 6.0])
    assert lambdify(x, g(x), {"g": lambda u: 1 if u > 2 else u}, mode="python")(3.0) == 1.0


def test_results_that_need_no_computing() -> None:
    f = lambdify(x, [None, sympy.true, {x: x + 1, "a": ()}], mode="python")
    assert f(2.0) == [None, True, {2.0: 3.0, "a": ()}]


def test_matrices_as_classes_of_the_users() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    f = lambdify([x, y], sympy.SparseMatrix([[x, 0], [0, y]]), "scipy", mode="python")
    assert isinstance(f(1, 2), sparse.coo_matrix)
    np.testing.assert_array_equal(f(1, 2).toarray(), [[1, 0], [0, 2]])
    g = lambdify(x, sympy.Matrix([[x, 1]]), {"ImmutableDenseMatrix": list}, mode="python")
    assert isinstance(g(2.0), list)


def test_help_and_source_show_the_expression() -> None:
    f = lambdify([x, y], sympy.sin(x) ** 2 + y)
    assert "func(x, y)" in str(f.__doc__)
    assert "y + sin(x)**2" in str(f.__doc__)
    assert inspect.getsource(f) == "def _lambdifygenerated(x, y):\n    return y + sin(x)**2\n"
    assert list(inspect.signature(f).parameters) == ["x", "y"]
    assert "REDACTED" in str(lambdify(x, x + 1, docstring_limit=0).__doc__)


def test_sums_whose_bounds_are_indexes_of_others() -> None:
    total: Any = sympy.Sum(k * n * x, (k, n, 2 * n), (n, 0, 4))
    for point in (0.5, 2.0):
        exact = float(total.doit().subs(x, point))
        assert lambdify(x, total, mode="python")(point) == exact
