"""Floats: elementwise functions of uniform and normal numbers, so that gradients pass through them.

Each sampler takes a key; `size` is the shape of the result, by default that of the parameters,
which must broadcast to it; `dtype` is that of float parameters or `config.floatX` unless given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symc.codegen.dtypes import FLOAT64
from symc.graph.inputs import constant_value
from symc.graph.node import Tensor, TensorLike
from symc.tensor.exponentials import exp, log, log1p
from symc.tensor.logic import where
from symc.tensor.random.parameters import fit, float_dtype, raw, refuse
from symc.tensor.trigonometry import tan

__all__ = [
    "cauchy", "exponential", "gumbel", "laplace", "logistic", "lognormal", "normal", "uniform",
]  # fmt: skip


def uniform(
    key: Tensor, low: TensorLike = 0.0, high: TensorLike = 1.0, size: Any = None, dtype: Any = None
) -> Tensor:
    """Uniform in ``[low, high)``; rounding may give `high` itself where `low` is not 0.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.uniform(T.random.key(0), size=3).eval()
    array([0.8805202 , 0.60548185, 0.36209112])
    """
    kind = float_dtype("uniform", dtype, (low, high))
    shape, (start, stop) = fit("uniform", size, kind, low, high)
    u = raw("uniform", key, shape, kind, "uniform")
    return placed(u, start, stop if _is(start, 0) else stop - start)


def normal(
    key: Tensor, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, dtype: Any = None
) -> Tensor:
    """Normal with mean `loc` and standard deviation `scale`.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> mean = T.vector("mean")
    >>> T.random.normal(T.random.key(0), mean, 2.0).type
    float64[mean.shape[0]]
    """
    return _family("normal", key, loc, scale, size, dtype)


def lognormal(
    key: Tensor, mean: TensorLike = 0.0, sigma: TensorLike = 1.0, size: Any = None,
    dtype: Any = None,
) -> Tensor:  # fmt: skip
    """The exponential of a normal number with this mean and standard deviation.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.lognormal(T.random.key(0), sigma=0.5, size=3).eval()
    array([0.44375542, 0.53037308, 1.58611986])
    """
    return exp(_family("lognormal", key, mean, sigma, size, dtype))


def exponential(
    key: Tensor, scale: TensorLike = 1.0, size: Any = None, dtype: Any = None
) -> Tensor:
    """Exponential with mean `scale`: the density is ``exp(-x / scale) / scale`` from 0 on.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.exponential(T.random.key(0), scale=2.0, size=3).eval()
    array([4.24921588, 1.86018028, 0.89911964])
    """
    return _family("exponential", key, 0.0, scale, size, dtype)


def laplace(
    key: Tensor, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, dtype: Any = None
) -> Tensor:
    """Laplace (double exponential) around `loc`: of density ``exp(-abs(x - loc) / scale)``, scaled.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.laplace(T.random.key(0), size=3).eval()
    array([ 1.43146076,  0.23694296, -0.32271222])
    """
    return _family("laplace", key, loc, scale, size, dtype)


def logistic(
    key: Tensor, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, dtype: Any = None
) -> Tensor:
    """Logistic around `loc`: the chance to be below x is ``sigmoid((x - loc) / scale)``.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.logistic(T.random.key(0), size=3).eval()
    array([ 1.99736553,  0.42835946, -0.56629958])
    """
    return _family("logistic", key, loc, scale, size, dtype)


def gumbel(
    key: Tensor, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, dtype: Any = None
) -> Tensor:
    """Gumbel, the distribution of largest values, with mode `loc`.

    The chance to be below x is ``exp(-exp((loc - x) / scale))``.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.gumbel(T.random.key(0), size=3).eval()
    array([-0.75358729,  0.07247377,  0.79948635])
    """
    return _family("gumbel", key, loc, scale, size, dtype)


def cauchy(
    key: Tensor, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, dtype: Any = None
) -> Tensor:
    """Cauchy around `loc`: Student's t with one degree of freedom, times `scale`.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.cauchy(T.random.key(0), loc=5.0, size=3).eval()
    array([7.53782117, 5.34406864, 4.53743521])
    """
    return _family("cauchy", key, loc, scale, size, dtype)


def _family(
    label: str, key: Tensor, loc: TensorLike, scale: TensorLike, size: Any, dtype: Any
) -> Tensor:
    """``loc + scale * standard``."""
    kind = float_dtype(label, dtype, (loc, scale))
    shape, (middle, spread) = fit(label, size, kind, loc, scale)
    refuse(label, "the scale", spread, lambda value: value >= 0, "at least 0")
    if label in ("normal", "lognormal"):
        standard = raw("normal", key, shape, kind, label)
    else:
        standard = _INVERSES[label](raw("uniform", key, shape, kind, label))
    return placed(standard, middle, spread)


def placed(x: Tensor, loc: Tensor | None, scale: Tensor) -> Tensor:
    """``loc + scale * x``."""
    x = x if _is(scale, 1) else scale * x
    return x if loc is None or _is(loc, 0) else loc + x


def _is(x: Tensor, number: int) -> bool:
    value = constant_value(x)
    return value is not None and value.ndim == 0 and bool(value == number)


def _tiny(u: Tensor) -> float:
    """Half the step between uniform numbers: replaces 0 where its logarithm is taken."""
    return 2.0**-54 if u.dtype is FLOAT64 else 2.0**-25


# The inverses of the standard distribution functions, for a uniform number in [0, 1).
_INVERSES: dict[str, Callable[[Tensor], Tensor]] = {
    "exponential": lambda u: -log1p(-u),
    "laplace": lambda u: where(u < 0.5, log(2 * (u + _tiny(u))), -log(2 * (1 - u))),
    "logistic": lambda u: log(u + _tiny(u)) - log1p(-u),
    "gumbel": lambda u: -log(_tiny(u) - log1p(-u)),
    "cauchy": lambda u: tan(math.pi * (u - 0.5)),
}
