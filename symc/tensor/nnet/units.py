"""More activation functions, elementwise, with their derivatives where they have kinks."""

from __future__ import annotations

import math

from symc.graph.inputs import as_tensor
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.graph.types import promote
from symc.tensor.activations import relu, sigmoid, silu, softplus
from symc.tensor.elementwise import cast_to
from symc.tensor.exponentials import exp, expm1, log, log1p, sqrt
from symc.tensor.lengths import normal_axis, tensor_of
from symc.tensor.logic import where
from symc.tensor.math import abs as absolute
from symc.tensor.math import as_float, clip, minimum, sqr
from symc.tensor.reduce import Axis, axes_of, count_along
from symc.tensor.shape import split
from symc.tensor.softmaxes import logsumexp
from symc.tensor.statistics import mean as mean_of
from symc.tensor.statistics import var, wide
from symc.tensor.trigonometry import tanh

__all__ = [
    "celu", "glu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "leaky_relu",
    "log1mexp", "logmeanexp", "mish", "relu6", "soft_sign", "sparse_plus", "sparse_sigmoid",
    "squareplus", "standardize", "swish",
]  # fmt: skip

# --- bent lines -----------------------------------------------------------------------------------


def leaky_relu(x: TensorLike, negative_slope: float = 0.01) -> Tensor:
    """x where positive, `negative_slope` times x elsewhere, also for the derivative at 0.

    Elementwise; integers become floats (Maas et al., 2013).

    >>> import symc.tensor as T
    >>> T.nnet.leaky_relu([-2.0, 3.0]).eval()
    array([-0.02,  3.  ])
    """
    return relu(x, negative_slope)


def relu6(x: TensorLike) -> Tensor:
    """x from 0 to 6, and 0 or 6 beyond. Its derivative at 0 and 6 is taken as 0.

    Elementwise; integers become floats (Howard et al., 2017).

    >>> import symc.tensor as T
    >>> T.nnet.relu6([-1.0, 2.0, 9.0]).eval()
    array([0., 2., 6.])
    """
    return _limited(as_float(x), 0.0, 6.0)


def hard_tanh(x: TensorLike) -> Tensor:
    """x from -1 to 1, and -1 or 1 beyond. Its derivative at -1 and 1 is taken as 0.

    Elementwise; integers become floats.

    >>> import symc.tensor as T
    >>> T.nnet.hard_tanh([-4.0, 0.5]).eval()
    array([-1. ,  0.5])
    """
    return _limited(as_float(x), -1.0, 1.0)


def _limited(x: Tensor, low: float, high: float) -> Tensor:
    x = where(OPERATORS["le"](x, low), cast_to(low, x.dtype), x)
    return where(OPERATORS["ge"](x, high), cast_to(high, x.dtype), x)


def hard_sigmoid(x: TensorLike) -> Tensor:
    """``relu6(x + 3) / 6``. (Theano's has another slope: ``T.clip(0.2 * x + 0.5, 0, 1)``.)

    Elementwise; integers become floats (Howard et al., 2019).

    >>> import symc.tensor as T
    >>> T.nnet.hard_sigmoid([-4.0, 0.0, 1.5]).eval()
    array([0.  , 0.5 , 0.75])
    """
    return relu6(as_float(x) + 3) / 6


def hard_silu(x: TensorLike) -> Tensor:
    """``x * hard_sigmoid(x)`` (Howard et al., 2019). Elementwise; integers become floats.

    >>> import symc.tensor as T
    >>> T.nnet.hard_silu([-4.0, 1.5, 4.0]).eval()
    array([-0.   ,  1.125,  4.   ])
    """
    x = as_float(x)
    return x * hard_sigmoid(x)


hard_swish = hard_silu


def sparse_plus(x: TensorLike) -> Tensor:
    """0 up to -1, ``(x + 1)**2 / 4`` up to 1, then x. Elementwise; integers become floats.

    >>> import symc.tensor as T
    >>> T.nnet.sparse_plus([-2.0, 0.0, 3.0]).eval()
    array([0.  , 0.25, 3.  ])
    """
    x = as_float(x)
    curve = where(OPERATORS["le"](x, -1), cast_to(0, x.dtype), sqr(x + 1) / 4)
    return where(OPERATORS["ge"](x, 1), x, curve)


def sparse_sigmoid(x: TensorLike) -> Tensor:
    """The derivative of `sparse_plus`: ``(x + 1) / 2`` from 0 to 1.

    Elementwise; integers become floats.

    >>> import symc.tensor as T
    >>> T.nnet.sparse_sigmoid([-2.0, 0.0, 3.0]).eval()
    array([0. , 0.5, 1. ])
    """
    return clip((as_float(x) + 1) / 2, 0.0, 1.0)


# --- smooth ---------------------------------------------------------------------------------------

swish = silu


def celu(x: TensorLike, alpha: TensorLike = 1.0) -> Tensor:
    """x where positive, ``alpha * (exp(x / alpha) - 1)`` elsewhere (Barron, 2017).

    Elementwise; integers become floats.

    >>> import symc.tensor as T
    >>> T.nnet.celu([-1.0, 2.0], alpha=2.0).eval()
    array([-0.78693868,  2.        ])
    """
    x = as_float(x)
    positive = OPERATORS["gt"](x, 0)
    return where(positive, x, alpha * expm1(where(positive, 0, x) / alpha))


def mish(x: TensorLike) -> Tensor:
    """``x * tanh(softplus(x))`` (Misra, 2019). Elementwise; integers become floats.

    >>> import symc.tensor as T
    >>> T.nnet.mish([-1.0, 2.0]).eval()
    array([-0.30340146,  1.94395896])
    """
    x = as_float(x)
    return x * tanh(softplus(x))


def soft_sign(x: TensorLike) -> Tensor:
    """``x / (1 + abs(x))`` (Bergstra et al., 2009). Elementwise; integers become floats.

    >>> import symc.tensor as T
    >>> T.nnet.soft_sign([-1.0, 3.0]).eval()
    array([-0.5 ,  0.75])
    """
    x = as_float(x)
    return x / (1 + absolute(x))


def squareplus(x: TensorLike, b: float = 4.0) -> Tensor:
    """``(x + sqrt(x**2 + b)) / 2``, without cancellation where x is negative (Barron, 2021).

    Elementwise; integers become floats. `b` is how round the bend at 0 is.

    >>> import symc.tensor as T
    >>> T.nnet.squareplus([-1000.0, 0.0, 3.0]).eval()
    array([9.99999000e-04, 1.00000000e+00, 3.30277564e+00])
    """
    x = as_float(x)
    root = sqrt(sqr(x) + b)
    negative = OPERATORS["lt"](x, 0)
    return where(negative, 0.5 * b / (root - minimum(x, 0)), 0.5 * (x + root))


def glu(x: TensorLike, axis: int = -1) -> Tensor:
    """The first half along an axis times the sigmoid of the second (Dauphin et al., 2017).

    Raises `ShapeMismatch`, when it runs if need be, for an odd length.

    >>> import symc.tensor as T
    >>> T.nnet.glu([1.0, 2.0, 0.0, 100.0]).eval()
    array([0.5, 2. ])
    """
    x = as_float(x)
    left, right = split(x, 2, axis=normal_axis("glu", axis, x.ndim, x))
    return left * sigmoid(right)


def log1mexp(x: TensorLike) -> Tensor:
    """``log(1 - exp(-x))`` of x > 0, exact where x is small or large (Maechler, 2012).

    Elementwise; integers become floats.

    >>> import symc.tensor as T
    >>> T.nnet.log1mexp([1e-10, 1.0, 50.0]).eval()
    array([-2.30258509e+01, -4.58675145e-01, -1.92874985e-22])
    """
    x = as_float(x)
    near = OPERATORS["lt"](x, math.log(2))
    return where(near, log(-expm1(-x)), log1p(-exp(-x)))


# --- over axes ------------------------------------------------------------------------------------


def logmeanexp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """``log(mean(exp(x)))`` along axes, without overflow.

    Infinities and NaN are as for `logsumexp`; raises BadIndex for an axis that is not there.

    >>> import symc.tensor as T
    >>> T.nnet.logmeanexp([1000.0, 1000.0]).eval()
    array(1000.)
    """
    x = as_float(x)
    count = tensor_of(count_along(x, axes_of("logmeanexp", x, axis)))
    return logsumexp(x, axis, keepdims) - log(cast_to(count, x.dtype))


def standardize(
    x: TensorLike,
    axis: Axis = -1,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    epsilon: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(variance + epsilon)``, by default with the mean and variance along axes.

    >>> import symc.tensor as T
    >>> T.nnet.standardize([1.0, 3.0], epsilon=0.0).eval()
    array([-1.,  1.])
    """
    x = as_float(x)
    given = [as_tensor(number) for number in (mean, variance) if number is not None]
    y = wide(x)  # a variance of float16 overflows for numbers of some hundreds
    middle = mean_of(y, axis, keepdims=True) if mean is None else as_tensor(mean)
    spread = var(y, axis, keepdims=True) if variance is None else as_tensor(variance)
    found = (y - middle) / sqrt(wide(spread) + epsilon)
    return cast_to(found, promote(x.dtype, *[number.dtype for number in given]))
