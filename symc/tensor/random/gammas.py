"""The gamma distribution and those made of it: beta, Dirichlet, chi-square and Student's t.

How a number of the gamma distribution depends on its shape does not show in a sampler that rejects.
But it is the inverse distribution function of some uniform number, so its derivative
follows from ``F(shape, number) = const`` (Figurnov, Mohamed, Mnih: Implicit reparameterization
gradients, 2018). The others are elementwise functions of gamma numbers, or of their logarithms
where small shapes make the numbers underflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.codegen.dtypes import FLOAT64
from symc.errors import RankError
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.tensor.activations import sigmoid
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to, masked, peel, sum_to
from symc.tensor.exponentials import exp, log
from symc.tensor.logic import where
from symc.tensor.random.continuous import placed
from symc.tensor.random.draw import GRADIENTS
from symc.tensor.random.keys import fold_in
from symc.tensor.random.parameters import fit, float_dtype, raw, refuse, shape_for, wide
from symc.tensor.softmaxes import softmax
from symc.tensor.special_functions import digamma, gammainc_da, gammaln
from symc.tensor.views import broadcast_to

__all__ = ["beta", "chisquare", "dirichlet", "gamma", "student_t"]


def gamma(
    key: Tensor, shape: TensorLike, scale: TensorLike = 1.0, size: Any = None, dtype: Any = None
) -> Tensor:
    """Gamma of this shape, times `scale`. The shape is at least 0, else the numbers are NaN.

    Gradients reach the shape by implicit differentiation.

    `size` is the shape of the result, `dtype` is `config.floatX` unless given.

    >>> import symc.tensor as T
    >>> T.random.gamma(T.random.key(0), 2.0, size=3).eval()
    array([1.43648093, 0.52935208, 0.59190881])
    """
    kind = float_dtype("gamma", dtype, (shape, scale))
    lengths, (a, spread) = fit("gamma", size, kind, shape, scale)
    refuse("gamma", "the shape", a, lambda value: value >= 0, "at least 0")
    refuse("gamma", "the scale", spread, lambda value: value >= 0, "at least 0")
    return placed(wide("gamma", key, lengths, kind, a), None, spread)


def chisquare(key: Tensor, df: TensorLike, size: Any = None, dtype: Any = None) -> Tensor:
    """Chi-square with `df` degrees of freedom: the sum of that many squared normal numbers.

    `size` is the shape, that of `df` unless given; `dtype` is `config.floatX` unless given.

    >>> import symc.tensor as T
    >>> T.random.chisquare(T.random.key(0), 3.0, size=3).eval()
    array([1.95184015, 0.55679034, 0.64432406])
    """
    kind = float_dtype("chisquare", dtype, (df,))
    lengths, (degrees,) = fit("chisquare", size, kind, df)
    refuse("chisquare", "df", degrees, lambda value: value > 0, "above 0")
    return 2 * wide("gamma", key, lengths, kind, degrees / 2)


def beta(key: Tensor, a: TensorLike, b: TensorLike, size: Any = None, dtype: Any = None) -> Tensor:
    """Beta: a number in [0, 1], of density proportional to ``x ** (a - 1) * (1 - x) ** (b - 1)``.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.beta(T.random.key(0), 2.0, 3.0, size=3).eval()
    array([0.22761541, 0.43417871, 0.27713146])
    """
    kind = float_dtype("beta", dtype, (a, b))
    lengths, shapes = fit("beta", size, kind, a, b)
    for name, shape in zip("ab", shapes, strict=True):
        refuse("beta", name, shape, lambda value: value > 0, "above 0")
    first, second = (
        wide("loggamma", fold_in(key, number), lengths, FLOAT64, cast_to(shape, FLOAT64))
        for number, shape in enumerate(shapes)
    )
    return cast_to(sigmoid(first - second), kind)


def dirichlet(key: Tensor, alpha: TensorLike, size: Any = None, dtype: Any = None) -> Tensor:
    """Dirichlet: numbers in [0, 1] along the last axis, whose sum is 1.

    `size` is the shape without that axis.

    `dtype` is `config.floatX` unless given.

    >>> import symc.tensor as T
    >>> T.random.dirichlet(T.random.key(0), [1.0, 2.0, 3.0]).eval()
    array([0.23150959, 0.23334008, 0.53515033])
    """
    kind = float_dtype("dirichlet", dtype, (alpha,))
    shapes = cast_to(as_tensor(alpha, kind), FLOAT64)
    if not shapes.ndim:
        raise RankError(f"dirichlet: alpha needs an axis\n  given  {describe(shapes)}")
    refuse("dirichlet", "alpha", shapes, lambda value: value > 0, "above 0")
    leading = shape_for("dirichlet", size, [shapes[..., 0]])
    lengths = (*leading, shapes.type.shape[-1])
    logs = wide("loggamma", key, lengths, FLOAT64, broadcast_to(shapes, lengths))
    return cast_to(softmax(logs, axis=-1), kind)


def student_t(
    key: Tensor,
    df: TensorLike,
    loc: TensorLike = 0.0,
    scale: TensorLike = 1.0,
    size: Any = None,
    dtype: Any = None,
) -> Tensor:
    """Student's t with `df` degrees of freedom, times `scale`, around `loc`.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.student_t(T.random.key(0), 4.0, size=3).eval()
    array([ 1.26251357,  1.39200425, -0.64567555])
    """
    kind = float_dtype("student_t", dtype, (df, loc, scale))
    lengths, (degrees, middle, spread) = fit("student_t", size, kind, df, loc, scale)
    refuse("student_t", "df", degrees, lambda value: value > 0, "above 0")
    half = cast_to(degrees, FLOAT64) / 2
    logs = wide("loggamma", fold_in(key, 1), lengths, FLOAT64, half)
    standard = raw("normal", fold_in(key, 0), lengths, FLOAT64, "student_t")
    return placed(cast_to(standard * exp((log(half) - logs) / 2), kind), middle, spread)


# --- implicit derivatives -------------------------------------------------------------------------


def _log_slope(a: Tensor, logs: Tensor) -> Tensor:
    """The derivative of a gamma number's logarithm by the shape ``a``.

    It is ``-dP/da / (x p)``, x p being the density of the logarithm. Where x is tiny,
    ``P = x**a / gamma(a + 1)``.
    """
    x = exp(logs)
    density = exp(a * logs - x - gammaln(a))
    tiny = logs < -35.0
    series = (digamma(a + 1) - logs) / a
    return where(tiny, series, -gammainc_da(a, where(tiny, 1.0, x)) / where(tiny, 1.0, density))


def _loggamma_rule(node: Tensor, bar: Tensor, given: Sequence[Tensor]) -> Sequence[Tensor | None]:
    (a,) = given
    mask, inner = peel(bar)
    return [sum_to(masked(mask, inner * _log_slope(a, node)), a)]


def _gamma_rule(node: Tensor, bar: Tensor, given: Sequence[Tensor]) -> Sequence[Tensor | None]:
    (a,) = given
    mask, inner = peel(bar)
    slope = where(node > 0, node * _log_slope(a, log(where(node > 0, node, 1.0))), 0.0)
    return [sum_to(masked(mask, inner * slope), a)]


GRADIENTS["random_gamma"] = _gamma_rule
GRADIENTS["random_loggamma"] = _loggamma_rule
