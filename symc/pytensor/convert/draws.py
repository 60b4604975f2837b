"""Random variables by symc's samplers, where a mode asks for them: `random="symc"`.

Other modes leave draws to NumPy's Generators, whose numbers they are to be. A sampler takes a key,
the shape of the result (None: that of the parameters), and the parameters that PyTensor's Op has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.tensor.random.basic import MvNormalRV
from pytensor.tensor.random.op import RandomVariable

from symc import tensor as T
from symc.graph.node import Tensor
from symc.pytensor.conversion import OnHost, items, register

R = T.random
Sampler = Callable[..., Tensor]


@register(RandomVariable)
def _random_variable(op: Any, node: Any, conversion: Any, **_: Any) -> Callable[..., Any]:
    if conversion.random != "symc":
        raise OnHost("draws are those of NumPy's Generator, exactly")
    name = f"{type(op).__module__}.{type(op).__qualname__}"
    sampler = SAMPLERS.get(name)
    if sampler is None:
        raise OnHost(f"symc has no sampler for {op.name}")
    if name in _ONE_AT_A_TIME and op.batch_ndim(node):
        raise OnHost(f"symc draws one {op.name} at a time")
    if isinstance(op, MvNormalRV) and op.method != "cholesky":
        raise OnHost(f"symc draws normal vectors by Cholesky's factors, not by {op.method}")
    out = node.outputs[1]

    def compute(key: Tensor, size: Any, *parameters: Tensor) -> list[Tensor]:
        batch = op.batch_ndim(node)
        lengths = None if size is None else _lengths(size, batch, out)
        here, following = R.fold_in(key, 0), R.fold_in(key, 1)
        # PyMC gives small constants as float32: numbers drawn from these would be of that dtype.
        dtype = out.type.dtype if out.type.dtype.startswith("float") else "float64"
        given = parameters if name in _WHOLE else [T.cast(p, dtype) for p in parameters]
        return [following, sampler(here, lengths, *given)]

    return compute


def _lengths(size: Tensor, count: int, out: Any) -> tuple[Any, ...]:
    """The lengths of a draw: those that are known to PyTensor as numbers."""
    pairs = zip(out.type.shape, items(size, count), strict=False)
    return tuple(given if static is None else static for static, given in pairs)


# --- samplers that symc has under another form ----------------------------------------------------


def _shape(size: Any, *parameters: Tensor) -> Any:
    """The shape of a draw: the one asked for, else that of the parameters together."""
    return T.shape(T.broadcast_arrays(*parameters)[0]) if size is None else size


def _half(standard: Sampler) -> Sampler:
    """The upper half of a distribution around 0, moved to begin at `loc`."""
    return lambda key, size, loc, scale: (
        loc + scale * T.abs(standard(key, size=_shape(size, loc, scale)))
    )


def _pareto(key: Tensor, size: Any, b: Tensor, scale: Tensor) -> Tensor:
    """The classical distribution, from `scale` on; symc's begins at 0."""
    return scale * (1 + R.pareto(key, b, _shape(size, b, scale)))


def _inverse_gamma(key: Tensor, size: Any, shape: Tensor, scale: Tensor) -> Tensor:
    return scale / R.gamma(key, shape, size=_shape(size, shape, scale))


def _truncated_exponential(key: Tensor, size: Any, b: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
    u = R.uniform(key, size=_shape(size, b, loc, scale))
    return loc - scale * T.log1p(u * T.expm1(-b))


def _generalised_gamma(key: Tensor, size: Any, alpha: Tensor, p: Tensor, scale: Tensor) -> Tensor:
    return scale * R.gamma(key, alpha / p, size=_shape(size, alpha, p, scale)) ** (1 / p)


def _beta_binomial(key: Tensor, size: Any, n: Tensor, a: Tensor, b: Tensor) -> Tensor:
    chance = R.beta(R.fold_in(key, 0), a, b, _shape(size, n, a, b))
    return R.binomial(R.fold_in(key, 1), n, chance)


def _skew_normal(key: Tensor, size: Any, mu: Tensor, sigma: Tensor, alpha: Tensor) -> Tensor:
    """Of two normal numbers with this correlation, one given that the other is above 0.

    A. Azzalini and A. Capitanio, "The Skew-Normal and Related Families", 2014, 2.1.3.
    """
    shape = _shape(size, mu, sigma, alpha)
    first, second = (R.normal(R.fold_in(key, number), size=shape) for number in range(2))
    return mu + sigma * (alpha * T.abs(first) + second) / T.sqrt(1 + alpha * alpha)


def _moyal(key: Tensor, size: Any, mu: Tensor, sigma: Tensor) -> Tensor:
    """The negative logarithm of a square of a normal number."""
    return mu - 2 * sigma * T.log(T.abs(R.normal(key, size=_shape(size, mu, sigma))))


def _multinomial(key: Tensor, size: Any, n: Tensor, p: Tensor) -> Tensor:
    if not isinstance(p.type.shape[-1], int):
        raise OnHost("symc draws multinomial numbers of as many categories as are known")
    return R.multinomial(key, n, p, size)


def _permutation(key: Tensor, size: Any, x: Tensor) -> Tensor:
    return R.permutation(key, x)


def _without_replacement(key: Tensor, size: Any, a: Tensor, *rest: Tensor) -> Tensor:
    *p, shape = rest
    (count,) = shape.type.shape
    assert isinstance(count, int)  # PyTensor's Op says how many axes there are
    lengths = tuple(items(shape, count))
    return R.choice(key, a, lengths, replace=False, p=p[0] if p else None)


_PYTENSOR: dict[str, Sampler] = {
    "UniformRV": lambda key, size, low, high: R.uniform(key, low, high, size),
    "TriangularRV": lambda key, size, left, mode, right: R.triangular(key, left, mode, right, size),
    "BetaRV": lambda key, size, a, b: R.beta(key, a, b, size),
    "NormalRV": lambda key, size, loc, scale: R.normal(key, loc, scale, size),
    "HalfNormalRV": _half(R.normal),
    "LogNormalRV": lambda key, size, mean, sigma: R.lognormal(key, mean, sigma, size),
    "GammaRV": lambda key, size, shape, scale: R.gamma(key, shape, scale, size),
    "ParetoRV": _pareto,
    "GumbelRV": lambda key, size, loc, scale: R.gumbel(key, loc, scale, size),
    "ExponentialRV": lambda key, size, scale: R.exponential(key, scale, size),
    "WeibullRV": lambda key, size, shape: R.weibull(key, shape, size),
    "LogisticRV": lambda key, size, loc, scale: R.logistic(key, loc, scale, size),
    "MvNormalRV": lambda key, size, mean, cov: R.multivariate_normal(key, mean, cov, size),
    "DirichletRV": lambda key, size, alpha: R.dirichlet(key, alpha, size),
    "PoissonRV": lambda key, size, rate: R.poisson(key, rate, size),
    "GeometricRV": lambda key, size, p: R.geometric(key, p, size),
    "CauchyRV": lambda key, size, loc, scale: R.cauchy(key, loc, scale, size),
    "HalfCauchyRV": _half(R.cauchy),
    "InvGammaRV": _inverse_gamma,
    "WaldRV": lambda key, size, mean, scale: R.wald(key, mean, scale, size),
    "TruncExponentialRV": _truncated_exponential,
    "StudentTRV": lambda key, size, df, loc, scale: R.student_t(key, df, loc, scale, size),
    "BernoulliRV": lambda key, size, p: R.bernoulli(key, p, size),
    "LaplaceRV": lambda key, size, loc, scale: R.laplace(key, loc, scale, size),
    "BinomialRV": lambda key, size, n, p: R.binomial(key, n, p, size),
    "NegBinomialRV": lambda key, size, n, p: R.negative_binomial(key, n, p, size),
    "BetaBinomialRV": _beta_binomial,
    "GenGammaRV": _generalised_gamma,
    "MultinomialRV": _multinomial,
    # Below 0 where cut points are not in order, as PyMC draws those that a transform would order.
    "CategoricalRV": lambda key, size, p: R.categorical(key, T.maximum(p, 0), size),
    "IntegersRV": lambda key, size, low, high: R.integers(key, low, high, size),
    "PermutationRV": _permutation,
    "ChoiceWithoutReplacement": _without_replacement,
}  # fmt: skip

# PyMC need not be installed, so its Ops stand here by their names.
_PYMC: dict[str, Sampler] = {
    "continuous.TruncatedNormalRV": lambda key, size, mu, sigma, lower, upper: (
        R.truncated_normal(key, lower, upper, mu, sigma, size)
    ),
    "continuous.WaldRV": lambda key, size, mu, lam, alpha: (
        alpha + R.wald(key, mu, lam, _shape(size, mu, lam, alpha))
    ),
    "continuous.SkewNormalRV": _skew_normal,
    "continuous.MoyalRV": _moyal,
    "discrete.DiscreteUniformRV": lambda key, size, lower, upper: (
        R.integers(key, T.cast(lower, "int64"), T.cast(upper, "int64"), size, endpoint=True)
    ),
}  # fmt: skip

SAMPLERS: dict[str, Sampler] = {
    **{f"pytensor.tensor.random.basic.{name}": sampler for name, sampler in _PYTENSOR.items()},
    **{f"pymc.distributions.{name}": sampler for name, sampler in _PYMC.items()},
}

_ONE_AT_A_TIME = tuple(
    n for n in SAMPLERS if n.endswith((".PermutationRV", ".ChoiceWithoutReplacement"))
)
# Of whose parameters integers are integers.
_WHOLE = tuple(
    n for n in SAMPLERS
    if n.endswith((
        ".PermutationRV", ".ChoiceWithoutReplacement", ".IntegersRV", ".DiscreteUniformRV",
        ".BinomialRV", ".BetaBinomialRV", ".MultinomialRV",
    ))
)  # fmt: skip
