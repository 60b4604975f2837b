"""Scalar Ops as functions of tensors: Elemwise, and fused ones, are made of these.

A row of `FUNCTIONS` is a function of tensors, or `promoted` one whose arguments are first given the
dtype of the result, as PyTensor computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pytensor.scalar.basic as ps
import pytensor.scalar.math as pm

from symc import tensor as T
from symc.graph.inputs import constant, constant_value
from symc.graph.node import Tensor
from symc.pytensor.conversion import OnHost, as_bool, register
from symc.pytensor.convert.on_host import host_function
from symc.rewrite.match import number_of


def _nary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: reduce(function, args)


def _switch(condition: Tensor, then: Tensor, otherwise: Tensor) -> Tensor:
    return T.where(as_bool(condition), then, otherwise)


def _clip(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    return T.where(T.lt(x, low), low, T.where(T.gt(x, high), high, x))


def _divisible(function: Callable[..., Any]) -> Callable[..., Any]:
    """Integers divided by zero give 0, as in NumPy; symc's functions raise."""

    def divide(x: Tensor, y: Tensor) -> Any:
        if y.dtype.name == "bool":  # NumPy divides truth values as numbers
            x, y = T.cast(x, "int8"), T.cast(y, "int8")
        value = constant_value(y)
        if not y.dtype.is_integer or (value is not None and value.all()):
            return function(x, y)
        is_zero = T.eq(y, 0)
        safe = T.where(is_zero, T.ones_like(y), y)
        return T.where(is_zero, T.zeros_like(y), function(x, safe))

    return divide


def _power(x: Tensor, y: Tensor) -> Tensor:
    """x to the power y; of integers to a negative one, what is left of the fraction without a part.

    So do PyTensor's modes C and numba, as PyMC's densities compute powers of what a check refuses,
    or a condition leaves aside; symc's function raises, like NumPy's.
    """
    value = constant_value(y)
    if not y.dtype.is_integer or y.dtype.name.startswith("u"):
        return T.pow(x, y)
    if value is not None and (value >= 0).all():
        return T.pow(x, y)
    is_whole = T.bitwise_or(T.ge(y, 0), T.eq(T.abs(x), 1))
    return T.where(is_whole, T.pow(x, T.abs(y)), T.zeros_like(x))


def _quotient(x: Tensor, y: Tensor) -> Tensor:
    """x / y; many elements divided by one number are multiplied by its reciprocal.

    PyTensor's rewrites do the same with constants, and its numba mode leaves it to LLVM: the last
    digit may differ, and a loop that divides takes several times as long.
    """
    if y.dtype.is_float and constant_value(y) is None and _is_one(y) and not _is_one(x):
        largest = np.finfo(y.dtype.name).max
        inverse = T.reciprocal(y)
        # That of a denormal number overflows, and 0 times it must not be nan.
        return T.mul(x, T.where(T.eq(y, 0), inverse, T.clip(inverse, -largest, largest)))
    return T.div(x, y)


def _is_one(x: Tensor) -> bool:
    return all(length == 1 for length in x.type.shape)


def _log1mexp(x: Tensor) -> Tensor:
    """Log of ``1 - exp(x)``: Maechler (2012), "Accurately computing log(1 - exp(-|a|))"."""
    return T.where(T.lt(x, -0.6931471805599453), T.log1p(-T.exp(x)), T.log(-T.expm1(x)))


def _half_away(x: Tensor) -> Tensor:
    return T.sign(x) * T.floor(T.abs(x) + 0.5)


def _complex(x: Tensor, y: Tensor) -> Tensor:
    return T.complex(x, y)


_SAME: dict[type, Callable[..., Any]] = {
    ps.LT: T.lt, ps.GT: T.gt, ps.LE: T.le, ps.GE: T.ge, ps.EQ: T.eq, ps.NEQ: T.ne,
    ps.IsNan: T.isnan, ps.IsInf: T.isinf, ps.Switch: _switch, ps.Identity: lambda x: x,
    ps.Abs: T.abs, ps.Sign: T.sign, ps.Neg: T.neg, ps.Sqr: T.sqr, ps.Real: T.real,
    ps.Imag: T.imag, ps.Conj: T.conj, ps.Complex: _complex, ps.Second: T.fill,
    ps.Invert: T.invert,
}  # fmt: skip

_PROMOTED: dict[type, Callable[..., Any]] = {
    ps.Add: _nary(T.add), ps.Mul: _nary(T.mul), ps.Sub: T.sub, ps.TrueDiv: _quotient,
    ps.Pow: _power, ps.IntDiv: _divisible(T.floordiv), ps.Mod: _divisible(T.mod),
    ps.OR: _nary(T.bitwise_or), ps.AND: _nary(T.bitwise_and), ps.XOR: _nary(T.bitwise_xor),
    ps.Maximum: T.maximum, ps.Minimum: T.minimum, ps.Clip: _clip,
    ps.Ceil: T.ceil, ps.Floor: T.floor, ps.Trunc: T.trunc, ps.RoundHalfToEven: T.round,
    ps.RoundHalfAwayFromZero: _half_away, ps.Reciprocal: T.reciprocal,
    ps.Log: T.log, ps.Log2: T.log2, ps.Log10: T.log10, ps.Log1p: T.log1p,
    ps.Exp: T.exp, ps.Exp2: T.exp2, ps.Expm1: T.expm1, ps.Sqrt: T.sqrt,
    ps.Cos: T.cos, ps.Sin: T.sin, ps.Tan: T.tan, ps.ArcCos: T.arccos, ps.ArcSin: T.arcsin,
    ps.ArcTan: T.arctan, ps.ArcTan2: T.arctan2, ps.Cosh: T.cosh, ps.Sinh: T.sinh,
    ps.Tanh: T.tanh, ps.ArcSinh: T.arcsinh, ps.ArcCosh: T.arccosh, ps.ArcTanh: T.arctanh,
    pm.Erf: T.erf, pm.Erfc: T.erfc, pm.Erfcx: T.erfcx, pm.Erfinv: T.erfinv,
    pm.Gamma: T.gamma, pm.GammaLn: T.gammaln, pm.Psi: T.digamma, pm.TriGamma: T.trigamma,
    pm.GammaInc: T.gammainc, pm.GammaIncC: T.gammaincc, pm.Sigmoid: T.sigmoid,
    pm.Softplus: T.softplus, pm.Log1mexp: _log1mexp, pm.J0: T.j0, pm.J1: T.j1,
    pm.I0: T.i0, pm.I1: T.i1, pm.Erfcinv: T.erfcinv, pm.GammaIncInv: T.gammaincinv,
    pm.GammaIncCInv: T.gammainccinv, pm.BetaInc: T.betainc, pm.BetaIncInv: T.betaincinv,
    pm.PolyGamma: T.polygamma, pm.Owens_t: T.owens_t, pm.Jv: T.jv, pm.Ive: T.ive, pm.Kve: T.kve,
    pm.Hyp2F1: T.hyp2f1,
}  # fmt: skip

# These compare arguments of unlike integers by value, so they take one dtype only where it is one.
_UNCHANGED = (ps.Sqr, ps.Abs, ps.Sign, ps.Neg, ps.Switch)


def _function_of(op: Any) -> tuple[Callable[..., Any], bool]:
    """The function of tensors for a scalar Op, and whether its arguments are converted first."""
    for kind in type(op).__mro__:
        if kind in _SAME:
            return _SAME[kind], kind in _UNCHANGED
        if kind in _PROMOTED:
            return _PROMOTED[kind], True
    return host_function(op), False


def scalar(op: Any, args: Sequence[Tensor], dtypes: Sequence[str], conversion: Any) -> list[Tensor]:
    """The results of a scalar Op on tensors that broadcast; `dtypes` are those of the results."""
    if isinstance(op, ps.ScalarInnerGraphOp):
        if not isinstance(op, ps.Composite):
            raise OnHost("it is a loop over single numbers")
        return _inner(op, args, conversion)
    (dtype,) = dtypes
    if isinstance(op, ps.Cast):
        return [_cast(args[0], dtype)]
    function, converts = _function_of(op)
    if converts and not (isinstance(op, ps.Abs) and args[0].dtype.is_complex):
        first = args[:1] if isinstance(op, ps.Switch) else []
        args = [*first, *(_cast(a, dtype) for a in args[len(first) :])]
    return [_cast(function(*args), dtype)]


def _cast(x: Tensor, dtype: str) -> Tensor:
    if x.dtype.name == dtype:
        return x
    if np.dtype(dtype).kind == "f" and (number := number_of(x)) is not None:
        # A constant, no cast of one, so that rules see the number.
        return T.dimshuffle(constant(np.asarray(number, dtype)), *["x"] * x.ndim)
    return T.cast(x, dtype)


def _inner(op: Any, args: Sequence[Tensor], conversion: Any) -> list[Tensor]:
    graph = op.fgraph
    known: dict[Any, Any] = dict(zip(graph.inputs, args, strict=True))
    for node in graph.toposort():
        given = [conversion.value(v, known) for v in node.inputs]
        made = scalar(node.op, given, [v.type.dtype for v in node.outputs], conversion)
        known.update(zip(node.outputs, made, strict=True))
    return [conversion.value(v, known) for v in graph.outputs]


@register(ps.ScalarOp)
def _scalar_op(op: Any, node: Any, conversion: Any, **_: Any) -> Any:
    dtypes = [v.type.dtype for v in node.outputs]
    return lambda *args: scalar(op, args, dtypes, conversion)
