"""Exponential integrals (DLMF 6), Owen's T and Lambert's W."""

from __future__ import annotations

import math

import numpy as np

from symc.graph.node import Tensor, TensorLike
from symc.tensor.elementwise import common, elementwise
from symc.tensor.exponentials import exp
from symc.tensor.libm import each
from symc.tensor.math import sqr
from symc.tensor.reference_values import Floats, integrals, vectorised
from symc.tensor.rows import IN_HEADER
from symc.tensor.signatures import FunctionOfOne, FunctionOfTwo
from symc.tensor.special_functions import erf
from symc.tensor.unknown import unknown

__all__ = ["exp1", "expi", "lambertw", "owens_t"]
_ALSO_ENTERED = ["lambertw_branch"]

# --- exponential integrals ------------------------------------------------------------------------


@vectorised
def _exp1(x: Floats) -> Floats:
    """The integral of exp(-x exp(s)) over s > 0."""
    inside = (x > 0) & (x < 800)
    at = np.where(inside, x, 1.0)
    value = np.exp(-at) * integrals(np.log1p(40 / at), lambda s: -at * np.expm1(s))[0]
    near = _ein(-at) - np.euler_gamma - np.log(at)
    value = np.where(at < 1, near, value)
    ends = np.where(x == 0, np.inf, np.where(x >= 800, 0.0, np.nan))
    return np.where(inside, value, ends)


def _ein(x: Floats) -> Floats:
    """-(x + x^2 / (2 2!) + x^3 / (3 3!) + ...) with the sign that 6.6.2 has for -x."""
    term, total = np.ones_like(x), np.zeros_like(x)
    for k in range(1, 250):
        term = term * x / k
        total = total - term / k
    return total


@vectorised
def _expi(x: Floats) -> Floats:
    """6.6.1 up to 40, from there on the asymptotic series 6.12.2."""
    near = np.euler_gamma + np.log(np.abs(x)) - _ein(np.clip(x, 1e-300, 40))
    term, total = np.ones_like(x), np.ones_like(x)
    for k in range(1, 40):
        term = term * k / np.maximum(x, 40)
        total = total + term
    half = np.exp(np.abs(x) / 2)
    far = np.where(np.isinf(half), np.inf, half / np.maximum(x, 40) * total * half)
    result = np.where(x < 0, -_exp1(-x), np.where(x > 40, far, near))
    return np.where(x == 0, -np.inf, result)


expi: FunctionOfOne = elementwise(
    "expi", _expi, IN_HEADER,
    """The exponential integral Ei (DLMF 6.2.5), a principal value for x > 0; -inf at 0.

    >>> import symc.tensor as T
    >>> T.expi([1.0, -1.0]).eval()
    array([ 1.89511782, -0.21938393])
    """,
    lambda g, x, y: g * exp(x) / x, cost=150,
)  # fmt: skip
exp1: FunctionOfOne = elementwise(
    "exp1", _exp1, IN_HEADER,
    """The exponential integral E1 of x >= 0 (DLMF 6.2.1): inf at 0, NaN below.

    >>> import symc.tensor as T
    >>> T.exp1([0.5, 1.0]).eval()
    array([0.55977359, 0.21938393])
    """,
    lambda g, x, y: -g * exp(-x) / x, cost=100, sign_bit="never",
)  # fmt: skip

# --- Owen's T -------------------------------------------------------------------------------------


@vectorised
def _owens_t(h: Floats, a: Floats) -> Floats:
    """Owen's integral by Gauss' rule, for |a| > 1 after his symmetry."""
    nodes, weights = np.polynomial.legendre.leggauss(100)
    size, x, root = np.abs(a), np.abs(h), math.sqrt(0.5)
    swapped = size > 1
    product = np.where(x == 0, 0.0, x * size)
    near, far = each(math.erfc, x * root) / 2, each(math.erfc, product * root) / 2
    outer = np.where(swapped, np.where(x == 0, 0.25, (near + far) / 2 - near * far), 0.0)
    x, size = np.where(swapped, product, x), np.where(swapped, 1 / size, size)
    total = np.zeros_like(x)
    end = np.minimum(size, 9 / np.maximum(x, 1e-300))
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        t = end * node
        total = total + weight * np.exp(-(x * t) * (x * t) / 2) / (1 + t * t)
    inner = np.where(np.isinf(x), 0.0, end * total * np.exp(-x * x / 2) / math.tau)
    inner = np.where(np.isinf(a) & (h == 0), 0.0, inner)
    result = np.copysign(np.where(swapped, outer - inner, inner), a)
    return np.where(np.isnan(h) | np.isnan(a), np.nan, result)


owens_t: FunctionOfTwo = elementwise(
    "owens_t", _owens_t, IN_HEADER,
    """Owen's T function: the probability of X > h and 0 < Y < a X for independent standard normal
    X and Y (D. B. Owen, Ann. Math. Stat. 27 (1956) 1075).

    >>> import symc.tensor as T
    >>> T.owens_t(1.0, 0.5).eval()
    array(0.04306469)
    """,
    lambda g, h, a, y: g * exp(sqr(h) / -2) * erf(a * h * math.sqrt(0.5)) / -math.sqrt(8 * math.pi),
    lambda g, h, a, y: g * exp(sqr(h) * (1 + sqr(a)) / -2) / (2 * math.pi * (1 + sqr(a))), cost=400,
)  # fmt: skip

# --- Lambert's W ----------------------------------------------------------------------------------


@vectorised
def _lambertw(x: Floats, k: Floats) -> Floats:
    """Halley's method; next to the branch point, where it is singular, its series there."""
    lower = k == -1
    near = (x + 0.36787944117144233 - 1.2428753672788363e-17) * math.e
    p = np.sqrt(np.maximum(2 * near, 0)) * np.where(lower, -1, 1)
    log = np.log(np.maximum(np.abs(x), 1e-320))
    far = np.where(lower, log - np.log(np.maximum(-log, 1)), log - np.log(np.maximum(log, 1)))
    turn = p - p * p / 3 + 11 / 72 * p**3 - 43 / 540 * p**4 + 769 / 17280 * p**5
    turn = turn - 221 / 8505 * p**6 + 680863 / 43545600 * p**7 - 1963 / 204120 * p**8
    start = -1 + p - p * p / 3 + 11 / 72 * p**3
    w = np.where(np.abs(p) < 1, start, np.where(lower, far, np.where(x < 3, np.log1p(x), far)))
    for _ in range(40):
        miss = w - x * np.exp(-w)
        step = miss / (w + 1 - (w + 2) * miss / (2 * w + 2))
        w = np.where(np.isfinite(step), w - step, w)
    w = np.where(np.abs(p) < 0.02, turn - 1, w)
    w = np.where(x == 0, np.where(lower, -np.inf, x), np.where((x == np.inf) & ~lower, x, w))
    wrong = (near < -1e-16) | np.isnan(x) | ((k != 0) & ~lower) | (lower & (x > 0))
    return np.where(wrong, np.nan, w)


_branch: FunctionOfTwo = elementwise(
    "lambertw_branch", _lambertw, IN_HEADER,
    "Lambert's W on branch k.",
    lambda g, x, k, y: g / (x + exp(y)), lambda g, x, k, y: unknown("the branch's", g), cost=120,
)  # fmt: skip


def lambertw(x: TensorLike, k: TensorLike = 0) -> Tensor:
    """The real w with ``w * exp(w) == x`` of x >= -1/e, Lambert's function (DLMF 4.13). By element.

    Branch `k` is 0 (w >= -1) or -1 (w <= -1, for x < 0); elsewhere it is NaN, where
    `scipy.special.lambertw`, which gives complex numbers, has an imaginary part.

    >>> import symc.tensor as T
    >>> T.lambertw([0.0, 1.0]).eval(), T.lambertw(-0.1, k=-1).eval()
    (array([0.        , 0.56714329]), array(-3.57715206))
    """
    x, k = common((x, k), "float", "lambertw")
    return _branch(x, k)
