"""Products with logarithms and their limits, as statistics has them; and normal probabilities.

They have the names of `scipy.special`.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import BOOL
from symc.graph.node import Tensor, TensorLike
from symc.tensor.activations import sigmoid
from symc.tensor.elementwise import cast_to, common, elementwise
from symc.tensor.exponentials import log, log1p
from symc.tensor.logic import eq, ge, gt, isnan, logical_and, logical_or, lt, where
from symc.tensor.math import as_float, sqr
from symc.tensor.reference_values import Floats
from symc.tensor.rows import Expression2
from symc.tensor.special_functions import erfc, erfcx, gamma, gammaln

__all__ = [
    "entr", "expit", "factorial", "kl_div", "log_ndtr", "logit", "multigammaln", "ndtr",
    "rel_entr", "xlog1py", "xlogy",
]  # fmt: skip
_ALSO_ENTERED = ["log_ratio"]

# --- with the limit 0 * log(0) = 0 ----------------------------------------------------------------


def _times_log(name: str) -> Expression2:
    """``x * log(y)``, which is 0 where x is 0 and y is a number."""

    def expression(x: ir.Expr, y: ir.Expr) -> ir.Expr:
        zero = ir.Const(0.0, x.dtype)
        is_zero = ir.Binary("and", ir.binary("eq", x, zero), ir.binary("eq", y, y), BOOL)
        return ir.Select(is_zero, zero, ir.binary("mul", x, ir.Call(name, (y,), y.dtype)), x.dtype)

    return expression


def _ratio(x: Tensor, y: Tensor) -> Tensor:
    """``x / y``, 0 where both are."""
    return where(logical_and(eq(x, 0), eq(y, 0)), 0, x / y)


xlogy = elementwise(
    "xlogy", lambda x, y: np.where((x == 0) & (y == y), 0, x * np.log(y)), _times_log("log"),
    """``x * log(y)``, 0 where x is 0.

    >>> import symc.tensor as T
    >>> T.xlogy([0.0, 2.0], [0.0, 3.0]).eval()
    array([0.        , 2.19722458])
    """,
    lambda g, x, y, z: g * log(y), lambda g, x, y, z: g * _ratio(x, y), cost=14,
)  # fmt: skip
xlog1py = elementwise(
    "xlog1py", lambda x, y: np.where((x == 0) & (y == y), 0, x * np.log1p(y)), _times_log("log1p"),
    """``x * log(1 + y)``, 0 where x is 0.

    >>> import symc.tensor as T
    >>> T.xlog1py([0.0, 2.0], [-1.0, 1e-10]).eval()
    array([0.e+00, 2.e-10])
    """,
    lambda g, x, y, z: g * log1p(y), lambda g, x, y, z: g * _ratio(x, 1 + y), cost=18,
)  # fmt: skip


def entr(x: TensorLike) -> Tensor:
    """The summands of an entropy, ``-x * log(x)``: 0 at 0, minus infinity below. Elementwise.

    >>> import symc.tensor as T
    >>> T.entr([0.0, 1.0, -1.0]).eval()
    array([  0.,   0., -inf])
    """
    x = as_float(x)
    return where(lt(x, 0), -np.inf, 0 - xlogy(x, x))


def _log_of_ratio(x: Floats, y: Floats) -> Floats:
    ratio = x / y
    far = np.where((ratio > TINY) & (ratio < 1 / TINY), np.log(ratio), np.log(x) - np.log(y))
    return np.where(abs(x - y) < y / 2, np.log1p((x - y) / y), far)


def _log_of_ratio_expression(x: ir.Expr, y: ir.Expr) -> ir.Expr:
    def less(a: ir.Expr, b: ir.Expr) -> ir.Expr:
        return ir.Binary("lt", a, b, BOOL)

    def call(name: str, value: ir.Expr) -> ir.Expr:
        return ir.Call(name, (value,), x.dtype)

    ratio, apart = ir.binary("div", x, y), ir.binary("sub", x, y)
    half = ir.binary("mul", y, ir.Const(0.5, x.dtype))
    near = ir.Binary("and", less(apart, half), less(ir.Unary("neg", apart, x.dtype), half), BOOL)
    normal = ir.Binary(
        "and", less(ir.Const(TINY, x.dtype), ratio), less(ratio, ir.Const(1 / TINY, x.dtype)), BOOL
    )
    logs = ir.binary("sub", call("log", x), call("log", y))
    far = ir.Select(normal, call("log", ratio), logs, x.dtype)
    return ir.Select(near, call("log1p", ir.binary("div", apart, y)), far, x.dtype)


TINY = 2.0**-120
"""Quotients from here to its inverse are normal numbers, of float32 too."""
_log_ratio = elementwise(
    "log_ratio", _log_of_ratio, _log_of_ratio_expression,
    "``log(x / y)`` of positive x and y, where the quotient is near 1 or no normal number, too.",
    lambda g, x, y, z: g / x, lambda g, x, y, z: -g / y, cost=40,
)  # fmt: skip


def rel_entr(x: TensorLike, y: TensorLike) -> Tensor:
    """The summands of a relative entropy, ``x * log(x / y)``: 0 where x is 0, else infinite where
    x or y is not above 0. Elementwise.

    >>> import symc.tensor as T
    >>> T.rel_entr([0.5, 0.0], [0.25, 0.75]).eval()
    array([0.34657359, 0.        ])
    """
    x, y = common((x, y), "float", "rel_entr")
    inside = logical_and(gt(x, 0), gt(y, 0))
    limit = where(logical_and(eq(x, 0), ge(y, 0)), cast_to(0.0, x.dtype), np.inf)
    nan = logical_or(isnan(x), isnan(y))
    one = where(inside, x, 1.0), where(inside, y, 1.0)
    return where(nan, np.nan, where(inside, x * _log_ratio(*one), limit))


def kl_div(x: TensorLike, y: TensorLike) -> Tensor:
    """``x * log(x / y) - x + y``, as `rel_entr`: not negative, and convex. Elementwise.

    >>> import symc.tensor as T
    >>> T.kl_div([0.5, 0.0], [0.25, 0.75]).eval()
    array([0.09657359, 0.75      ])
    """
    x, y = common((x, y), "float", "kl_div")
    entropy = rel_entr(x, y)
    return where(eq(entropy, np.inf), np.inf, entropy - x + y)


# --- chances --------------------------------------------------------------------------------------


def logit(x: TensorLike) -> Tensor:
    """``log(x / (1 - x))``, the inverse of `sigmoid`. Elementwise.

    >>> import symc.tensor as T
    >>> T.logit([0.0, 0.5, 1.0]).eval()
    array([-inf,   0.,  inf])
    """
    x = as_float(x)
    return log(x) - log1p(-x)


def expit(x: TensorLike) -> Tensor:
    """SciPy's name for `sigmoid`, ``1 / (1 + exp(-x))``. Elementwise; integers become floats.

    >>> import symc.tensor as T
    >>> T.expit([-1.0, 0.0, 1.0]).eval()
    array([0.26894142, 0.5       , 0.73105858])
    """
    return sigmoid(x)


def ndtr(x: TensorLike) -> Tensor:
    """The normal distribution function: the chance of a number below x. Elementwise.

    >>> import symc.tensor as T
    >>> T.ndtr(0.0).eval()
    array(0.5)
    """
    return 0.5 * erfc(as_float(x) * -math.sqrt(0.5))


def log_ndtr(x: TensorLike) -> Tensor:
    """``log(ndtr(x))`` without underflow, exact for large x. Elementwise.

    >>> import symc.tensor as T
    >>> T.log_ndtr([0.0, -40.0]).eval()
    array([-6.93147181e-01, -8.04608442e+02])
    """
    x = as_float(x)
    z = x * -math.sqrt(0.5)
    low = lt(x, 0)
    # Where one side is not taken, it may overflow: `where` keeps that out of derivatives.
    below = log(erfcx(where(low, z, 0)) * 0.5) - sqr(z)
    return where(low, below, log1p(-0.5 * erfc(where(low, 0, -z))))


# --- products of gamma functions ------------------------------------------------------------------


def factorial(n: TensorLike) -> Tensor:
    """``gamma(n + 1)``, as a float; 0 where n is negative. Elementwise.

    >>> import symc.tensor as T
    >>> T.factorial([0, 3, -1]).eval()
    array([1., 6., 0.])
    """
    x = as_float(n)
    return where(lt(x, 0), 0.0, gamma(where(lt(x, 0), 0.0, x) + 1))


def multigammaln(a: TensorLike, d: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `d`, of a > (d - 1) / 2.

    Elementwise. Raises ValueError unless `d` is an integer from 1 on.

    >>> import symc.tensor as T
    >>> T.multigammaln([3.0, 10.0], 2).eval()
    array([ 1.55019499, 25.06352584])
    """
    if not isinstance(cast("object", d), int) or d < 1:
        raise ValueError(f"multigammaln: the dimension must be an integer from 1 on, not {d!r}")
    x = as_float(a)
    result = gammaln(x) + d * (d - 1) / 4 * math.log(math.pi)
    for j in range(1, d):
        result = result + gammaln(x - j / 2)
    return result
