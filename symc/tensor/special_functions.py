"""Special functions, elementwise: error functions, gamma functions, Bessel functions.

Their derivatives are from the NIST Digital Library of Mathematical Functions (DLMF).
"""

from __future__ import annotations

import math

from symc.graph.node import Tensor
from symc.tensor import beta_values
from symc.tensor import reference_values as special
from symc.tensor.elementwise import call, elementwise
from symc.tensor.exponentials import exp, log
from symc.tensor.math import sqr, where_zero
from symc.tensor.signatures import FunctionOfOne, FunctionOfTwo
from symc.tensor.unknown import unknown

__all__ = [
    "beta", "betaln", "digamma", "erf", "erfc", "erfcx", "erfinv", "gamma", "gammainc",
    "gammaincc", "gammaln", "i0", "i1", "j0", "j1", "trigamma",
]  # fmt: skip
_ALSO_ENTERED = ["gammainc_da", "tetragamma"]

_ROOT_PI = math.sqrt(math.pi)


def gamma_density(a: Tensor, x: Tensor) -> Tensor:
    """The derivative of gammainc by x, also at x = 0: ``x ** (a - 1) * exp(-x) / gamma(a)``."""
    from symc.tensor.logarithmic import xlogy  # which needs functions of this module

    return exp(xlogy(a - 1, x) - x - gammaln(a))


def _gamma_density_da(a: Tensor, x: Tensor) -> Tensor:
    density = gamma_density(a, x)
    return where_zero(density, 0, (log(x) - digamma(a)) * density)


def _of_order_2(name: str, x: Tensor) -> Tensor:
    """A Bessel function of order 2: ``j1(x) / x`` would lose all digits of its derivatives at 0."""
    from symc.tensor.special import bessel  # which few programs need

    function: FunctionOfTwo = getattr(bessel, name)
    return function(2, x)


erf = elementwise(
    "erf", special.erf, call("erf"),
    """The error function, 2/sqrt(pi) times the integral of exp(-t*t) from 0 to x (DLMF 7.2.1).

    >>> import symc.tensor as T
    >>> T.erf([0.0, 0.5, 3.0]).eval()
    array([0.        , 0.52049988, 0.99997791])
    """,
    lambda g, x, y: g * (2 / _ROOT_PI * exp(-sqr(x))), cost=25,
)  # fmt: skip
erfc = elementwise(
    "erfc", special.erfc, call("erfc"),
    """``1 - erf(x)``, exact for large x (DLMF 7.2.2).

    >>> import symc.tensor as T
    >>> T.erfc([0.5, 20.0]).eval()
    array([4.79500122e-001, 5.39586561e-176])
    """,
    lambda g, x, y: -g * (2 / _ROOT_PI * exp(-sqr(x))), cost=30, sign_bit="never",
)  # fmt: skip
erfinv = elementwise(
    "erfinv", special.erfinv, call("erfinv"),
    """The inverse of erf, of -1 <= x <= 1; NaN beyond (DLMF 7.17).

    >>> import symc.tensor as T
    >>> T.erfinv([0.5, 1.0]).eval()
    array([0.47693628,        inf])
    """,
    lambda g, x, y: g * (_ROOT_PI / 2 * exp(sqr(y))), cost=60,
)  # fmt: skip
erfcx = elementwise(
    "erfcx", special.erfcx, call("erfcx"),
    """``exp(x*x) * erfc(x)`` without underflow: w(ix) of DLMF 7.2.3.

    >>> import symc.tensor as T
    >>> T.erfcx([1.0, 100.0]).eval()
    array([0.42758358, 0.00564161])
    """,
    lambda g, x, y: g * (2 * x * y - 2 / _ROOT_PI), cost=60, sign_bit="never",
)  # fmt: skip
gamma = elementwise(
    "gamma", special.gamma, call("gamma"),
    """The gamma function, ``(x - 1)!`` of whole x > 0 (DLMF 5.2); NaN at negative whole numbers.

    >>> import symc.tensor as T
    >>> T.gamma([5.0, 0.5]).eval()
    array([24.        ,  1.77245385])
    """,
    lambda g, x, y: g * y * digamma(x), cost=60,
)  # fmt: skip
gammaln = elementwise(
    "gammaln", special.gammaln, call("gammaln"),
    """``log(abs(gamma(x)))``, the logarithm of the gamma function without overflow (DLMF 5.2).

    >>> import symc.tensor as T
    >>> T.gammaln([10.0, 1000.0]).eval()
    array([  12.80182748, 5905.22042321])
    """,
    lambda g, x, y: g * digamma(x), cost=60,
)  # fmt: skip
digamma: FunctionOfOne = elementwise(
    "digamma", special.digamma, call("digamma"),
    """The derivative of gammaln (DLMF 5.2.2).

    >>> import symc.tensor as T
    >>> T.digamma([1.0, 10.0]).eval()
    array([-0.57721566,  2.25175259])
    """,
    lambda g, x, y: g * trigamma(x), cost=60,
)  # fmt: skip
trigamma: FunctionOfOne = elementwise(
    "trigamma", special.trigamma, call("trigamma"),
    """The derivative of digamma (DLMF 5.15).

    >>> import symc.tensor as T
    >>> T.trigamma([1.0, 10.0]).eval()
    array([1.64493407, 0.10516634])
    """,
    lambda g, x, y: g * _tetragamma(x), cost=60,
)  # fmt: skip
_tetragamma: FunctionOfOne = elementwise(
    "tetragamma", special.tetragamma, call("tetragamma"), "The derivative of trigamma.",
    lambda g, x, y: unknown("the third derivative of digamma", g),
    cost=60,
)  # fmt: skip
gammainc = elementwise(
    "gammainc", special.gammainc, call("gammainc"),
    """The regularised lower incomplete gamma function P(a, x) of a > 0, x >= 0 (DLMF 8.2.4).

    >>> import symc.tensor as T
    >>> T.gammainc(2.0, [1.0, 5.0]).eval()
    array([0.26424112, 0.95957232])
    """,
    lambda g, a, x, y: g * gammainc_da(a, x),
    lambda g, a, x, y: g * gamma_density(a, x), cost=150,
)  # fmt: skip
gammaincc = elementwise(
    "gammaincc", special.gammaincc, call("gammaincc"),
    """The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x) (DLMF 8.2.4).

    >>> import symc.tensor as T
    >>> T.gammaincc(2.0, [1.0, 5.0]).eval()
    array([0.73575888, 0.04042768])
    """,
    lambda g, a, x, y: -g * gammainc_da(a, x),
    lambda g, a, x, y: -g * gamma_density(a, x), cost=150,
)  # fmt: skip
gammainc_da: FunctionOfTwo = elementwise(
    "gammainc_da", special.gammainc_da, call("gammainc_da"),
    "The derivative of gammainc with respect to a.",
    lambda g, a, x, y: unknown("the derivative of gammainc by its first argument twice", g),
    lambda g, a, x, y: g * _gamma_density_da(a, x), cost=300,
)  # fmt: skip
beta = elementwise(
    "beta", beta_values.beta, call("beta"),
    """The beta function, ``gamma(a) * gamma(b) / gamma(a + b)`` (DLMF 5.12).

    >>> import symc.tensor as T
    >>> T.beta(2.0, [3.0, 0.5]).eval()
    array([0.08333333, 1.33333333])
    """,
    lambda g, a, b, y: g * y * (digamma(a) - digamma(a + b)),
    lambda g, a, b, y: g * y * (digamma(b) - digamma(a + b)), cost=150,
)  # fmt: skip
betaln = elementwise(
    "betaln", beta_values.betaln, call("betaln"),
    """``log(abs(beta(a, b)))``, without the overflow of the gamma functions in it (DLMF 5.12).

    >>> import symc.tensor as T
    >>> T.betaln(1000.0, 2000.0).eval()
    array(-1911.87461421)
    """,
    lambda g, a, b, y: g * (digamma(a) - digamma(a + b)),
    lambda g, a, b, y: g * (digamma(b) - digamma(a + b)), cost=150,
)  # fmt: skip
j0 = elementwise(
    "j0", special.j0, call("j0"),
    """The Bessel function J of order 0 (DLMF 10.2).

    >>> import symc.tensor as T
    >>> T.j0([0.0, 2.5]).eval()
    array([ 1.        , -0.04838378])
    """,
    lambda g, x, y: -g * j1(x), cost=60,
)  # fmt: skip
j1: FunctionOfOne = elementwise(
    "j1", special.j1, call("j1"),
    """The Bessel function J of order 1 (DLMF 10.2, 10.6).

    >>> import symc.tensor as T
    >>> T.j1([0.0, 2.5]).eval()
    array([0.       , 0.4970941])
    """,
    lambda g, x, y: g * ((j0(x) - _of_order_2("jv", x)) / 2), cost=60,
)  # fmt: skip
i0 = elementwise(
    "i0", special.i0, call("i0"),
    """The modified Bessel function I of order 0 (DLMF 10.25).

    >>> import symc.tensor as T
    >>> T.i0([0.0, 2.5]).eval()
    array([1.        , 3.28983914])
    """,
    lambda g, x, y: g * i1(x), domain="divide", cost=60,
)  # fmt: skip
i1: FunctionOfOne = elementwise(
    "i1", special.i1, call("i1"),
    """The modified Bessel function I of order 1 (DLMF 10.25, 10.29).

    >>> import symc.tensor as T
    >>> T.i1([0.0, 2.5]).eval()
    array([0.        , 2.51671625])
    """,
    lambda g, x, y: g * ((i0(x) + _of_order_2("iv", x)) / 2), cost=60,
)  # fmt: skip
