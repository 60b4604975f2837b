"""Functions that SymPy and symc have, both ways, and inputs made from symbols."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest
import sympy
from sympy.codegen.numpy_nodes import logaddexp
from sympy.codegen.scipy_nodes import cosm1

import symc
import symc.tensor as T
from symc.sympy import inputs_of, lambdify, to_symc, to_sympy

x, y = sympy.symbols("x y")

CASES: list[Any] = [
    sympy.Ei(x), sympy.E1(x), sympy.LambertW(x), sympy.LambertW(-x / 9, -1), sympy.harmonic(x),
    sympy.zeta(x + 1),
    sympy.zeta(x + 1, y), sympy.besselj(y, x), sympy.bessely(2, x), sympy.besseli(y, x),
    sympy.besselk(sympy.Rational(1, 2), x), sympy.polygamma(3, x),
    sympy.betainc(x, y, 0, sympy.Rational(1, 3)),
    sympy.betainc_regularized(x, y, sympy.Rational(1, 4), sympy.Rational(1, 3)), cosm1(x),
    sympy.RisingFactorial(x, y), sympy.FallingFactorial(x, y), sympy.binomial(x, y),
]  # fmt: skip


@pytest.mark.parametrize("expr", CASES, ids=str)
def test_values_are_sympys(expr: Any) -> None:
    wanted = complex(expr.subs({x: 1.75, y: 2.5}).evalf(20)).real
    found = lambdify([x, y], expr, mode="python")(1.75, 2.5)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


BOTH_WAYS: list[Any] = [
    sympy.Ei(x), sympy.E1(x), sympy.LambertW(x), sympy.LambertW(-x / 9, -1), sympy.zeta(x + 1),
    sympy.zeta(x + 1, y), sympy.besselj(y, x), sympy.bessely(2, x), sympy.besseli(y, x),
    sympy.besselk(sympy.Rational(1, 2), x), sympy.polygamma(3, x), sympy.RisingFactorial(x, y),
    sympy.binomial(x, y), sympy.betainc_regularized(x, y, 0, sympy.Rational(1, 3)),
    sympy.arg(x + sympy.I * y), sympy.erfcinv(x),
]  # fmt: skip


@pytest.mark.parametrize("expr", BOTH_WAYS, ids=str)
def test_functions_that_come_from_sympy_go_back(expr: Any) -> None:
    """SymPy was said to have no word for those that it had been asked for."""
    tensor = to_symc(expr, {x: T.scalar("x"), y: T.scalar("y")})
    back = to_sympy(tensor)
    assert {symbol.name for symbol in back.free_symbols} <= {"x", "y"}
    values = {symbol: {"x": 1.75, "y": 2.5}[symbol.name] for symbol in back.free_symbols}
    if expr.has(sympy.erfcinv):  # which SymPy cannot evaluate
        assert back == sympy.erfcinv(*back.free_symbols)
        return
    wanted = complex(expr.subs({x: 1.75, y: 2.5}).evalf(20))
    np.testing.assert_allclose(complex(back.subs(values).evalf(20)), wanted, rtol=1e-12)


def test_scaled_functions_and_a_series_are_written_in_sympys_words() -> None:
    a, b, z = T.scalar("a"), T.scalar("b"), T.scalar("z")
    values = {"a": 0.7, "b": 1.3, "z": 0.4}
    for tensor in (T.ive(b, z), T.kve(b, z), T.i0e(a), T.hyp2f1(a, b, 2.5, z)):
        expr = to_sympy(tensor)
        number = expr.subs({symbol: values[symbol.name] for symbol in expr.free_symbols}).evalf(20)
        f = symc.function([a, b, z], tensor, mode="python", on_unused_input="ignore")
        np.testing.assert_allclose(float(number), f(*values.values()), rtol=1e-12)


def test_the_logarithm_of_a_sum_of_exponentials() -> None:
    assert lambdify([x, y], logaddexp(x, y), mode="python")(800.0, 800.0) == 800 + np.log(2)


def test_expressions_are_text_and_modules_are_modules() -> None:
    assert lambdify("x, y", "x - y", mode="python")(3.0, 1.0) == 2
    real = sympy.Symbol("x", real=True)
    assert lambdify([real], "x + 1", math, mode="python")(1.0) == 2
    for module in ("cmath", cmath):
        root = lambdify([x], sympy.sqrt(x), modules=module, mode="python")(-4.0)
        assert root == 2j


def test_harmonic_numbers_of_an_order() -> None:
    f = lambdify([x, y], sympy.harmonic(x, y), mode="python")
    np.testing.assert_allclose(f(3.0, 2.0), 1 + 1 / 4 + 1 / 9, rtol=1e-14)


def test_symbols_become_inputs() -> None:
    k = sympy.Symbol("k", integer=True)
    base: Any = sympy.IndexedBase("a")
    expr = base[k, 1] * x
    inputs = inputs_of(expr)
    assert {name: str(tensor.type) for name, tensor in inputs.items()} == {
        "a": "float64[a.shape[0], a.shape[1]]", "k": "int64[]", "x": "float64[]",
    }  # fmt: skip
    given = {inputs["a"]: np.eye(2), inputs["k"]: 1, inputs["x"]: 3.0}
    assert to_symc(expr, inputs).eval(given) == 3
    matrix = sympy.MatrixSymbol("M", 2, 2)
    assert to_symc(matrix * matrix).ndim == 2
    assert to_symc(x + 1).dtype.name == "float64"
