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
    """Pareto II (Lomax) of shape `a`, from 0 on: one less than the classical distribution.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.pareto(T.random.key(0), 3.0, size=3).eval()
    array([1.03033874, 0.36346608, 0.16166378])
    """
    (a,), waiting = _waiting("pareto", key, size, dtype, a=a)
    return expm1(waiting / a)


def power(key: Tensor, a: TensorLike, size: Any = None, dtype: Any = None) -> Tensor:
    """The power distribution, of density ``a * x ** (a - 1)``, from 0 to 1.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.power(T.random.key(0), 3.0, size=3).eval()
    array([0.95847276, 0.84599353, 0.71275339])
    """
    (a,), waiting = _waiting("power", key, size, dtype, a=a)
    return (-expm1(-waiting)) ** (1 / a)


def rayleigh(key: Tensor, scale: TensorLike = 1.0, size: Any = None, dtype: Any = None) -> Tensor:
    """Rayleigh: the length of a vector of two normal numbers with standard deviation `scale`.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.rayleigh(T.random.key(0), size=3).eval()
    array([2.06136263, 1.36388426, 0.94821919])
    """
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
    """Triangular: the density goes up from `left` to `mode` and down to `right`, in lines.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.triangular(T.random.key(0), 0.0, 1.0, 4.0, size=3).eval()
    array([2.80260381, 1.82417424, 1.23324981])
    """
    kind = float_dtype("triangular", dtype, (left, mode, right))
    shape, (low, top, high) = fit("triangular", size, kind, left, mode, right)
    u = raw("uniform", key, shape, kind, "triangular")
    width = high - low
    rises = u * width < top - low
    up = low + sqrt(where(rises, u * width * (top - low), 0.0))
    down = high - sqrt(where(rises, 0.0, (1 - u) * width * (high - top)))
    return where(rises, up, down)


def rademacher(key: Tensor, size: Any = None, dtype: Any = "int64") -> Tensor:
    """-1 or 1, each with probability 1/2: random signs. `size` is the shape; int64 unless given.

    >>> import symc.tensor as T
    >>> T.random.rademacher(T.random.key(0), size=5).eval()
    array([ 1,  1, -1, -1, -1])
    """
    u = raw("uniform", key, shape_for("rademacher", size, []), FLOAT64, "rademacher")
    return cast_to(where(u < 0.5, -1, 1), dtype)


# --- functions of normal and gamma numbers --------------------------------------------------------


def standard_normal(key: Tensor, size: Any = None, dtype: Any = None) -> Tensor:
    """Normal with mean 0 and standard deviation 1.

    `size` is the shape; `dtype` is `config.floatX` unless given.

    >>> import symc.tensor as T
    >>> T.random.standard_normal(T.random.key(0), size=3).eval()
    array([-1.62496344, -1.2683492 ,  0.92258139])
    """
    return normal(key, size=size, dtype=dtype)


def standard_exponential(key: Tensor, size: Any = None, dtype: Any = None) -> Tensor:
    """Exponential with mean 1. `size` is the shape; `dtype` is `config.floatX` unless given.

    >>> import symc.tensor as T
    >>> T.random.standard_exponential(T.random.key(0), size=3).eval()
    array([2.12460794, 0.93009014, 0.44955982])
    """
    return exponential(key, size=size, dtype=dtype)


def standard_gamma(key: Tensor, shape: TensorLike, size: Any = None, dtype: Any = None) -> Tensor:
    """Gamma of this shape and scale 1, as `gamma`.

    `size` is the shape of the result; `dtype` is `config.floatX` unless given.

    >>> import symc.tensor as T
    >>> T.random.standard_gamma(T.random.key(0), 2.0, size=3).eval()
    array([1.43648093, 0.52935208, 0.59190881])
    """
    return gamma(key, shape, size=size, dtype=dtype)


def maxwell(key: Tensor, size: Any = None, dtype: Any = None) -> Tensor:
    """Maxwell: the length of a vector of three standard normal numbers.

    `size` is the shape; `dtype` is `config.floatX` unless given.

    >>> import symc.tensor as T
    >>> T.random.maxwell(T.random.key(0), size=3).eval()
    array([1.39708273, 0.74618385, 0.80269799])
    """
    return sqrt(2 * gamma(key, 1.5, size=size, dtype=dtype))


def f(
    key: Tensor, dfnum: TensorLike, dfden: TensorLike, size: Any = None, dtype: Any = None
) -> Tensor:
    """Fisher's F: the ratio of two chi-square numbers, each by its degrees of freedom.

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.f(T.random.key(0), 3.0, 5.0, size=3).eval()
    array([0.35172118, 1.12191333, 0.50734107])
    """
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

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.noncentral_chisquare(T.random.key(0), 3.0, 1.0, size=3).eval()
    array([3.9504133 , 1.53028942, 5.36666802])
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

    `size` is the shape, that of the parameters unless given; `dtype` is `config.floatX` unless
    given.

    >>> import symc.tensor as T
    >>> T.random.wald(T.random.key(0), 1.0, 2.0, size=3).eval()
    array([0.47004101, 2.09153017, 1.59410245])
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

    `size` is the shape, that of the parameters unless given; `dtype` is int64 unless given.

    >>> import symc.tensor as T
    >>> T.random.negative_binomial(T.random.key(0), 5, 0.5, size=3).eval()
    array([3, 6, 2])
    """
    needed, chance = (cast_to(as_tensor(value, FLOAT64), FLOAT64) for value in (n, p))
    needed = demand("negative_binomial", "n", needed, lambda n: n > 0, "above 0")
    chance = demand("negative_binomial", "p", chance, lambda p: (p > 0) & (p <= 1), "above 0, to 1")
    shape = shape_for("negative_binomial", size, [needed, chance])
    mean = wide("gamma", fold_in(key, 0), shape, FLOAT64, needed) * ((1 - chance) / chance)
    return cast_to(cast_to(poisson(fold_in(key, 1), mean), INT64), dtype)
