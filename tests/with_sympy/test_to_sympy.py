"""Tensors as SymPy's expressions: text for people, and values that agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

import symc
from symc import tensor as T
from symc.sympy import to_symc, to_sympy

s = T.scalar("s")
v, w = T.vector("v"), T.vector("w")
x = T.matrix("x")
a = T.tensor("float64", (3, 4), name="a")

WRITTEN = [
    (s**2 * T.exp(-s) + 0.5, "s**2*exp(-s) + 1/2"),
    (T.sigmoid(s), "1/(1 + exp(-s))"),
    (T.tanh(x @ w), "tanh(Sum(w[j]*x[i, j], (j, 0, w_0 - 1)))"),
    (x.T @ x, "Sum(x[k, i]*x[k, j], (k, 0, x_0 - 1))"),
    (T.softmax(v), "exp(v[i])/Sum(exp(v[j]), (j, 0, v_0 - 1))"),
    (T.log_softmax(v), "v[i] - log(Sum(exp(v[j]), (j, 0, v_0 - 1)))"),
    (T.logsumexp(v), "log(Sum(exp(v[i]), (i, 0, v_0 - 1)))"),
    (v.mean(), "Sum(v[i], (i, 0, v_0 - 1))/v_0"),
    (T.where(v > 0, v, 2 * v), "Piecewise((v[i], v[i] > 0), (2*v[i], True))"),
    (v[::-1], "v[-i + v_0 - 1]"),
    (v[1:] - v[:-1], "v[i + 1] - v[i]"),
    (w[2], "w[2]"),
    (a.max(axis=1), "Max(a[i, 0], a[i, 1], a[i, 2], a[i, 3])"),
    (a.reshape((4, 3))[1], "a[floor(i/4 + 3/4), Mod(i + 3, 4)]"),
    (T.cumsum(v), "Sum(v[j], (j, 0, i))"),
    (T.prod(v), "Product(v[i], (i, 0, v_0 - 1))"),
    (T.eye(3), "Piecewise((1, Eq(i, j)), (0, True))"),
    (T.cast(s, "int32"), "floor(Abs(s))*sign(s)"),
    (v // 2, "floor(v[i]/2)"),
    (symc.grad((T.sin(v) * v).sum(), v), "sin(v[i]) + cos(v[i])*v[i]"),
]


@pytest.mark.parametrize(("tensor", "text"), WRITTEN, ids=[text for _, text in WRITTEN])
def test_as_written(tensor: Any, text: str) -> None:
    written = to_sympy(tensor)
    sympify: Any = sympy.sympify
    wanted = sympify(text, _symbols(written))
    assert sympy.simplify(written - wanted) == 0


def _symbols(expr: Any) -> dict[str, Any]:
    """The symbols of an expression by name, so that text with them means the same ones."""
    found = {str(each): each for each in expr.atoms(sympy.Symbol)}
    return found | {str(each.base): each.base for each in expr.atoms(sympy.Indexed)}


def test_the_element_that_is_asked_for() -> None:
    assert str(to_sympy(x * 2, 0, sympy.Symbol("m"))) == "2*x[0, m]"
    row = T.tensor("float64", (1, None), name="row")
    assert str(to_sympy(row + x)) == "row[0, j] + x[i, j]"
    with pytest.raises(ValueError, match="2 indices"):
        to_sympy(v, 0, 1)


FUNCTIONS = [
    T.exp, T.log, T.sqrt, T.sin, T.cos, T.tan, T.arcsin, T.arccos, T.arctan, T.sinh, T.cosh, T.tanh,
    T.arcsinh, T.arctanh, T.erf, T.erfc, T.erfinv, T.erfcx, T.gamma, T.gammaln, T.digamma,
    T.trigamma, T.j0, T.j1, T.i0, T.i1, T.sigmoid, T.softplus, T.log1p, T.expm1, T.exp2, T.log2,
    T.log10, T.cbrt, T.abs, T.sign, T.floor, T.ceil, T.trunc, T.relu, T.sqr, T.reciprocal,
    lambda u: T.maximum(u, 0.3), lambda u: T.minimum(u, 0.3), lambda u: T.arctan2(u, 0.5),
    lambda u: T.hypot(u, 0.5), lambda u: T.logaddexp(u, 0.5), lambda u: T.mod(7 * u, 0.5),
    lambda u: T.fmod(7 * u, 0.5), lambda u: T.copysign(u, -1.0), lambda u: T.beta(u, 0.5),
    lambda u: T.gammainc(u, 0.5), lambda u: T.gammaincc(u, 0.5), lambda u: T.clip(u, 0.2, 0.25),
    lambda u: u**2.5, lambda u: T.where((u > 0.1) & ~(u > 0.5), u, 0.0),
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_mean_the_same(function: Any) -> None:
    expression = to_sympy(function(s))
    (symbol,) = expression.free_symbols
    wanted = float(expression.subs(symbol, sympy.Rational(3, 8)).evalf(30))
    ours = symc.function([s], function(s), mode="python")(0.375)
    np.testing.assert_allclose(ours, wanted, rtol=1e-12)


def test_complex_numbers() -> None:
    z = T.zscalar("z")
    (symbol,) = to_sympy(z).free_symbols
    assert not symbol.is_real
    assert to_sympy(z * (1 + 2j)) == symbol * (1 + 2 * sympy.I)
    assert to_sympy(T.real(z) + T.imag(z)) == sympy.re(symbol) + sympy.im(symbol)
    assert to_sympy(T.conj(z)) == sympy.conjugate(symbol)
    assert to_sympy(T.complex(s, 1.0)) == to_sympy(s) + sympy.I


def test_there_and_back() -> None:
    expression = to_sympy(T.sin(s) ** 2 + T.exp(-s) * T.where(s > 1, s, 1 / s))
    (symbol,) = expression.free_symbols
    again = to_symc(expression, {symbol: s})
    assert sympy.simplify(to_sympy(again) - expression) == 0


def test_sums_there_and_back() -> None:
    expression = to_sympy((v**2).sum())
    n = next(iter(each for each in expression.free_symbols if str(each) == "v_0"))
    again = to_symc(expression, {"v": v, n: v.shape[0]})
    assert symc.function([v], again, mode="python")([1.0, 2.0, 3.0]) == 14.0


def test_what_has_no_index_notation() -> None:
    with pytest.raises(NotImplementedError, match=r"no index notation .*test_to_sympy\.py"):
        to_sympy(T.concatenate([v, w]))
    with pytest.raises(NotImplementedError, match="SymPy has no max"):
        to_sympy(v.max())
    with pytest.raises(NotImplementedError, match="nextafter"):
        to_sympy(T.nextafter(s, 1.0))
