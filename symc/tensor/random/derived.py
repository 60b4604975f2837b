"""More distributions: elementwise functions of uniform, normal, exponential and gamma numbers.

Parameters and their meaning are those of NumPy's `Generator`; `size` and `dtype` are as in
`continuous.py`. Gradients reach the parameters.
"""

from __future__ import annotations

from typing import Any

from symc.codegen.dtypes import FLOAT64, INT64
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.tensor.elementwise import cast_to
from symc.tensor.exponentials import exp, expm1, log1p, sqrt
from symc.tensor.logic import where
from symc.tensor.math import sqr
from symc.tensor.random.continuous import exponential, normal
from symc.tensor.random.discrete import poisson
from symc.tensor.random.gammas import chisquare, gamma
from symc.tensor.random.keys import fold_in
from symc.tensor.random.parameters import demand, fit, float_dtype, raw, refuse, shape_for, wide

__all__ = [
    "f", "maxwell", "negative_binomial", "noncentral_chisquare", "pareto", "power", "rademacher",
    "rayleigh", "standard_exponential", "standard_gamma", "standard_normal", "triangular", "wald",
    "weibull",
]  # fmt: skip

# --- functions of one uniform number --------------------------------------------------------------


def weibull(key: Tensor, a: TensorLike, size: Any = None, dtype: Any = None) -> Tensor:
    """Weibull of shape `a` and scale 1: ``(-log(1 - u)) ** (1 / a)``.

    >>> import symc.tensor as T
    >>> T.random.weibull(T.random.key(0), 2.0, size=3).eval().shape
    (3,)
    """
    (a,), waiting = _waiting("weibull", key, size, dtype, a=a)
    return waiting ** (1 / a)


def pareto(key: Tensor, a: TensorLike, size: Any = None, dtype: Any = None) -> Tensor:
    """Pareto II (Lomax) of shape `a`, from 0 on: one less than the classical distribution."""
    (a,), waiting = _waiting("pareto", key, size, dtype, a=a)
    return expm1(waiting / a)


def power(key: Tensor, a: TensorLike, size: Any = None, dtype: Any = None) -> Tensor:
    """Of density ``a * x ** (a - 1)``, from 0 to 1."""
    (a,), waiting = _waiting("power", key, size, dtype, a=a)
    return (-expm1(-waiting)) ** (1 / a)


def rayleigh(key: Tensor, scale: TensorLike = 1.0, size: Any = None, dtype: Any = None) -> Tensor:
    """Rayleigh: the length of a vector of two normal numbers with standard deviation `scale`."""
    (scale,), waiting = _waiting("rayleigh", key, size, dtype, scale=scale)
    return scale * sqrt(2 * waiting)


def _waiting(
    label: str, key: Tensor, size: Any, dtype: Any, **parameters: TensorLike
) -> tuple[list[Tensor], Tensor]:
    """Standard exponential numbers in a shape, and parameters above 0."""
    kind = float_dtype(label, dtype, tuple(parameters.values()))
    shape, tensors = fit(label, size, kind, *parameters.values())
    for name, value in zip(parameters, tensors, strict=True):
        refuse(label, name, value, lambda a: a > 0, "above 0")
    return tensors, -log1p(-raw("uniform", key, shape, kind, label))


def triangular(
    key: Tensor, left: TensorLike, mode: TensorLike, right: TensorLike, size: Any = None,
    dtype: Any = None,
) -> Tensor:  # fmt: skip
    """Triangular: the density goes up from `left` to `mode` and down to `right`, in lines."""
    kind = float_dtype("triangular", dtype, (left, mode, right))
    shape, (low, top, high) = fit("triangular", size, kind, left, mode, right)
    u = raw("uniform", key, shape, kind, "triangular")
    width = high - low
    rises = u * width < top - low
    up = low + sqrt(where(rises, u * width * (top - low), 0.0))
    down = high - sqrt(where(rises, 0.0, (1 - u) * width * (high - top)))
    return where(rises, up, down)


def rademacher(key: Tensor, size: Any = None, dtype: Any = "int64") -> Tensor:
    """-1 or 1, each with probability 1/2."""
    u = raw("uniform", key, shape_for("rademacher", size, []), FLOAT64, "rademacher")
    return cast_to(where(u < 0.5, -1, 1), dtype)


# --- functions of normal and gamma numbers --------------------------------------------------------


def standard_normal(key: Tensor, size: Any = None, dtype: Any = None) -> Tensor:
    """Normal with mean 0 and standard deviation 1."""
    return normal(key, size=size, dtype=dtype)


def standard_exponential(key: Tensor, size: Any = None, dtype: Any = None) -> Tensor:
    """Exponential with mean 1."""
    return exponential(key, size=size, dtype=dtype)


def standard_gamma(key: Tensor, shape: TensorLike, size: Any = None, dtype: Any = None) -> Tensor:
    """Gamma of this shape and scale 1."""
    return gamma(key, shape, size=size, dtype=dtype)


def maxwell(key: Tensor, size: Any = None, dtype: Any = None) -> Tensor:
    """Maxwell: the length of a vector of three standard normal numbers."""
    return sqrt(2 * gamma(key, 1.5, size=size, dtype=dtype))


def f(
    key: Tensor, dfnum: TensorLike, dfden: TensorLike, size: Any = None, dtype: Any = None
) -> Tensor:
    """Fisher's F: the ratio of two chi-square numbers, each by its degrees of freedom."""
    kind = float_dtype("f", dtype, (dfnum, dfden))
    shape, degrees = fit("f", size, kind, dfnum, dfden)
    for name, value in zip(("dfnum", "dfden"), degrees, strict=True):
        refuse("f", name, value, lambda df: df > 0, "above 0")
    upper, lower = (
        wide("loggamma", fold_in(key, number), shape, FLOAT64, cast_to(value / 2, FLOAT64))
        for number, value in enumerate(degrees)
    )
    return cast_to(exp(upper - lower), kind) * (degrees[1] / degrees[0])


def noncentral_chisquare(
    key: Tensor, df: TensorLike, nonc: TensorLike, size: Any = None, dtype: Any = None
) -> Tensor:
    """Noncentral chi-square: of `df` squared normal numbers whose squared means sum up to `nonc`.

    It is a chi-square number with ``df + 2 i`` degrees of freedom, i being of a Poisson
    distribution with mean ``nonc / 2``. Gradients reach `df` only.
    """
    kind = float_dtype("noncentral_chisquare", dtype, (df, nonc))
    shape, (degrees, mean) = fit("noncentral_chisquare", size, kind, df, nonc)
    more = poisson(fold_in(key, 0), mean / 2, size=shape)
    return chisquare(fold_in(key, 1), degrees + 2 * cast_to(more, kind), dtype=kind)


def wald(
    key: Tensor, mean: TensorLike, scale: TensorLike, size: Any = None, dtype: Any = None
) -> Tensor:
    """Wald (inverse Gaussian), by the two roots of a quadratic equation (J. Michael et al., 1976).

    The root that is not subject to cancellation is computed, the other one is mean**2 by it.
    """
    kind = float_dtype("wald", dtype, (mean, scale))
    shape, (mu, width) = fit("wald", size, kind, mean, scale)
    refuse("wald", "the mean", mu, lambda value: value > 0, "above 0")
    refuse("wald", "the scale", width, lambda value: value > 0, "above 0")
    y = mu * sqr(raw("normal", fold_in(key, 0), shape, kind, "wald")) / (2 * width)
    large = mu * (1 + y + sqrt(y * (2 + y)))
    small = mu * mu / large
    u = raw("uniform", fold_in(key, 1), shape, kind, "wald")
    return where(u * (mu + small) <= mu, small, large)


def negative_binomial(
    key: Tensor, n: TensorLike, p: TensorLike, size: Any = None, dtype: Any = "int64"
) -> Tensor:
    """How many trials fail before `n` succeed, each with probability `p`.

    `n` need not be whole: it is a Poisson number whose mean is of a gamma distribution.
    """
    needed, chance = (cast_to(as_tensor(value, FLOAT64), FLOAT64) for value in (n, p))
    needed = demand("negative_binomial", "n", needed, lambda n: n > 0, "above 0")
    chance = demand("negative_binomial", "p", chance, lambda p: (p > 0) & (p <= 1), "above 0, to 1")
    shape = shape_for("negative_binomial", size, [needed, chance])
    mean = wide("gamma", fold_in(key, 0), shape, FLOAT64, needed) * ((1 - chance) / chance)
    return cast_to(cast_to(poisson(fold_in(key, 1), mean), INT64), dtype)
