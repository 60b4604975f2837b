"""SymPy's functions in symc's words: a row for each class, from tensors to a tensor.

Complex numbers are computed where symc's functions take them; real arguments give real results (or
NaN). Definitions without a source are SymPy's own (the docstring of the class).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import sympy
from sympy.codegen import cfunctions, numpy_nodes, scipy_nodes

from symc import tensor as T
from symc.graph.inputs import as_tensor
from symc.tensor.elementwise import ELEMENTWISE

Value: TypeAlias = Any  # a tensor, or a Python number, which takes the dtype of the other operand
Function: TypeAlias = Callable[..., Value]


def _binomial(n: Value, k: Value) -> Value:
    value = T.binom(n, k)
    both = as_tensor(n).dtype.is_integer and as_tensor(k).dtype.is_integer
    return T.round(value) if both else value


def _polygamma(order: Value, x: Value) -> Value:
    known: dict[int, Function] = {0: T.digamma, 1: T.trigamma, 2: ELEMENTWISE["tetragamma"]}
    return known[order](x) if isinstance(order, int) and order in known else T.polygamma(order, x)


def _expint(order: Value, x: Value) -> Value:
    """The exponential integral of orders 0 and 1; SymPy writes lower ones without it."""
    known: dict[int, Function] = {0: lambda x: T.exp(-x) / x, 1: T.exp1}
    if not isinstance(order, int) or order not in known:
        raise NotImplementedError(
            f"symc has exponential integrals of order 1, not of {order!r}\n"
            "  expand them in SymPy first, by sympy.expand_func"
        )
    return known[order](x)


def _bessel(general: Function, functions: Mapping[int, Function]) -> Function:
    """The Bessel function of any order, with those that some orders have for themselves."""

    def of(order: Value, x: Value) -> Value:
        known = functions.get(order) if isinstance(order, int) else None
        return known(x) if known else general(order, x)

    return of


def _harmonic(n: Value, m: Value = None) -> Value:
    if m is None:
        return T.digamma(n + 1.0) + np.euler_gamma
    return T.zeta(m) - T.zeta(m, n + 1.0)


def _betainc(a: Value, b: Value, low: Value, high: Value) -> Value:
    return T.betainc(a, b, high) - T.betainc(a, b, low)


def _heaviside(x: Value, at_zero: Value = 0.5) -> Value:
    return T.where(T.eq(x, 0), at_zero, T.where(x > 0, 1.0, x * 0.0))


def _uppergamma(a: Value, x: Value) -> Value:
    return T.gammaincc(a, x) * T.gamma(a)


def _many(function: Function) -> Function:
    """A function of two arguments for any number of them."""

    def of(*args: Value) -> Value:
        total = args[0]
        for each in args[1:]:
            total = function(total, each)
        return total

    return of


def _equivalent(first: Value, *others: Value) -> Value:
    return _many(T.logical_and)(*(T.eq(first, other) for other in others))


def _reciprocal(function: Function) -> Function:
    return lambda x: 1.0 / function(x)


def _of_reciprocal(function: Function) -> Function:
    return lambda x: function(1.0 / x)


FUNCTIONS: dict[type, Function] = {
    sympy.exp: T.exp,
    sympy.sin: T.sin, sympy.cos: T.cos, sympy.tan: T.tan,
    sympy.sec: _reciprocal(T.cos), sympy.csc: _reciprocal(T.sin), sympy.cot: _reciprocal(T.tan),
    sympy.asin: T.arcsin, sympy.acos: T.arccos, sympy.atan: T.arctan, sympy.atan2: T.arctan2,
    sympy.asec: _of_reciprocal(T.arccos), sympy.acsc: _of_reciprocal(T.arcsin),
    sympy.acot: _of_reciprocal(T.arctan),
    sympy.sinh: T.sinh, sympy.cosh: T.cosh, sympy.tanh: T.tanh,
    sympy.sech: _reciprocal(T.cosh), sympy.csch: _reciprocal(T.sinh),
    sympy.coth: _reciprocal(T.tanh),
    sympy.asinh: T.arcsinh, sympy.acosh: T.arccosh, sympy.atanh: T.arctanh,
    sympy.asech: _of_reciprocal(T.arccosh), sympy.acsch: _of_reciprocal(T.arcsinh),
    sympy.acoth: _of_reciprocal(T.arctanh),
    sympy.sinc: lambda x: T.where(T.eq(x, 0), 1.0, T.sin(x) / x),
    sympy.Abs: T.abs, sympy.sign: T.sign, sympy.floor: T.floor, sympy.ceiling: T.ceil,
    sympy.frac: lambda x: x - T.floor(x),
    sympy.Mod: T.mod, sympy.Max: _many(T.maximum), sympy.Min: _many(T.minimum),
    sympy.Heaviside: _heaviside,
    sympy.re: T.real, sympy.im: T.imag, sympy.conjugate: T.conj, sympy.arg: T.angle,
    sympy.erf: T.erf, sympy.erfc: T.erfc, sympy.erfinv: T.erfinv,
    sympy.erf2: lambda x, y: T.erf(y) - T.erf(x), sympy.erfcinv: T.erfcinv,
    sympy.gamma: T.gamma, sympy.loggamma: T.gammaln, sympy.digamma: T.digamma,
    sympy.trigamma: T.trigamma, sympy.polygamma: _polygamma, sympy.beta: T.beta,
    sympy.lowergamma: lambda a, x: T.gammainc(a, x) * T.gamma(a),
    sympy.uppergamma: _uppergamma,
    sympy.factorial: lambda n: T.gamma(n + 1.0), sympy.binomial: _binomial,
    sympy.RisingFactorial: T.poch,
    sympy.FallingFactorial: lambda x, k: T.poch(x - k + 1.0, k),
    sympy.besselj: _bessel(T.jv, {0: T.j0, 1: T.j1}), sympy.bessely: T.yv,
    sympy.besseli: _bessel(T.iv, {0: T.i0, 1: T.i1}), sympy.besselk: T.kv,
    sympy.Ei: T.expi, sympy.expint: _expint, sympy.LambertW: T.lambertw, sympy.zeta: T.zeta,
    sympy.harmonic: _harmonic,
    sympy.betainc: lambda a, b, low, high: _betainc(a, b, low, high) * T.beta(a, b),
    sympy.betainc_regularized: _betainc,
    scipy_nodes.cosm1: lambda x: -2 * T.sqr(T.sin(x / 2)),
    scipy_nodes.powm1: lambda x, y: T.expm1(y * T.log(x)),
    numpy_nodes.maximum: _many(T.maximum), numpy_nodes.minimum: _many(T.minimum),
    numpy_nodes.logaddexp: T.logaddexp, numpy_nodes.logaddexp2: T.logaddexp2,
    sympy.Not: T.logical_not, sympy.And: _many(T.logical_and), sympy.Or: _many(T.logical_or),
    sympy.Xor: _many(T.logical_xor),
    sympy.Implies: lambda x, y: T.logical_or(T.logical_not(x), y),
    sympy.Equivalent: _equivalent,
    sympy.Eq: T.eq, sympy.Ne: T.ne, sympy.Lt: T.lt, sympy.Le: T.le, sympy.Gt: T.gt, sympy.Ge: T.ge,
    sympy.ITE: T.where,
    cfunctions.expm1: T.expm1, cfunctions.log1p: T.log1p, cfunctions.exp2: T.exp2,
    cfunctions.log2: T.log2, cfunctions.log10: T.log10, cfunctions.hypot: T.hypot,
    cfunctions.isnan: T.isnan, cfunctions.isinf: T.isinf,
    cfunctions.Sqrt: T.sqrt, cfunctions.Cbrt: T.cbrt, cfunctions.fma: lambda a, b, c: a * b + c,
}  # fmt: skip
"""By class. `KroneckerDelta`, `Piecewise`, sums and matrices are converted in `to_symc.py`."""
