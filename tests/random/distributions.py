"""Samplers with the distributions that they must have, and tests of one against the other.

The tests have a fixed significance: with the seeds that are here the same samples come every time,
so they fail only when something changes. `CRITICAL` is the quantile of Kolmogorov's distribution
for a significance of 1e-3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from symc import tensor as T
from symc.graph.node import Tensor
from symc.tensor import reference_values as special

Array = npt.NDArray[Any]
COUNT = 20_000
CRITICAL = 1.9495


@dataclass(frozen=True)
class Continuous:
    """A sampler with arguments, and its distribution function."""

    sampler: str
    args: tuple[Any, ...]
    cdf: Callable[[Array], Array]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Discrete:
    """A sampler with arguments, and the logarithm of its chances (that of 0, 1, 2 ...)."""

    sampler: str
    args: tuple[Any, ...]
    log_chance: Callable[[Array], Array]


def _normal(x: Array) -> Array:
    return special.erfc(-x / math.sqrt(2)) / 2


def _within(low: float, high: float) -> Callable[[Array], Array]:
    """The normal distribution function between bounds, from the side where it keeps digits."""
    if low + high < 0:
        mirrored = _within(-high, -low)
        return lambda x: 1 - mirrored(-x)
    start, end = _normal(np.array([-low, -high]))
    return lambda x: (start - _normal(-x)) / (start - end)


def _integral(
    density: Callable[[Array], Array], low: float, high: float
) -> Callable[[Array], Array]:
    """The distribution function of a density known up to a factor, by the trapezoidal rule.

    After the substitution x = middle + half * tanh(t), which smooths singular ends.
    """
    t = np.linspace(-18, 18, 20_001)
    width = high - low
    x = low + width / (1 + np.exp(-2 * t))
    weight = density(x) * width / (2 * np.cosh(t) ** 2)
    sums = np.concatenate([[0], np.cumsum(weight[1:] + weight[:-1])])
    return lambda values: np.interp(values, x, sums / sums[-1])


def _gamma(a: float) -> Callable[[Array], Array]:
    return lambda x: special.gammainc(np.full_like(x, a), x)


def _wald(mean: float, scale: float) -> Callable[[Array], Array]:
    def cdf(x: Array) -> Array:
        root = np.sqrt(scale / x)
        above = math.exp(2 * scale / mean) * _normal(-root * (x / mean + 1))
        return _normal(root * (x / mean - 1)) + above

    return cdf


def _noncentral(df: float, nonc: float) -> Callable[[Array], Array]:
    """A mixture of chi-square distributions, by a Poisson distribution."""
    chances = [math.exp(i * math.log(nonc / 2) - nonc / 2 - math.lgamma(i + 1)) for i in range(22)]
    parts = [(p, _gamma(df / 2 + i)) for i, p in enumerate(chances)]
    return lambda x: np.sum([p * cdf(x / 2) for p, cdf in parts], axis=0)


_SHAPES = (0.05, 0.7, 1.0, 3.5, 80.0)
_BOUNDS = (
    (1.0, 3.0),
    (5.0, 9.0),
    (5.0, 5.1),
    (-0.5, 0.6),
    (-2.0, 8.0),
    (-9.0, -4.0),
    (2.0, math.inf),
)

CONTINUOUS = {
    "uniform": Continuous("uniform", (-1.0, 3.0), lambda x: (x + 1) / 4),
    "normal": Continuous("normal", (2.0, 3.0), lambda x: _normal((x - 2) / 3)),
    "lognormal": Continuous("lognormal", (0.5, 0.4), lambda x: _normal((np.log(x) - 0.5) / 0.4)),
    "exponential": Continuous("exponential", (2.0,), lambda x: -np.expm1(-x / 2)),
    "laplace": Continuous(
        "laplace", (1.0, 2.0),
        lambda x: np.where(x < 1, np.exp((x - 1) / 2) / 2, 1 - np.exp((1 - x) / 2) / 2),
    ),
    "logistic": Continuous("logistic", (1.0, 2.0), lambda x: special.sigmoid((x - 1) / 2)),
    "gumbel": Continuous("gumbel", (1.0, 2.0), lambda x: np.exp(-np.exp((1 - x) / 2))),
    "cauchy": Continuous("cauchy", (1.0, 2.0), lambda x: 0.5 + np.arctan((x - 1) / 2) / math.pi),
    "chisquare": Continuous("chisquare", (3.0,), lambda x: _gamma(1.5)(x / 2)),
    "student_t": Continuous(
        "student_t", (3.0, 1.0, 2.0),
        lambda x: 0.5 + (np.arctan((x - 1) / 2 / math.sqrt(3))
                         + math.sqrt(3) * (x - 1) / 2 / (3 + ((x - 1) / 2) ** 2)) / math.pi,
    ),
    "beta": Continuous("beta", (2.5, 4.0), _integral(lambda x: x**1.5 * (1 - x) ** 3, 0, 1)),
    "beta small": Continuous(
        "beta", (0.5, 0.5), lambda x: 2 / math.pi * np.arcsin(np.sqrt(np.clip(x, 0, 1)))
    ),
    **{f"gamma {a}": Continuous("gamma", (a,), _gamma(a)) for a in _SHAPES},
    **{f"truncated_normal {b}": Continuous("truncated_normal", b, _within(*b)) for b in _BOUNDS},
    **{
        f"{name} float32": Continuous(name, (), cdf, {"dtype": "float32"})
        for name, cdf in {
            "uniform": lambda x: x, "normal": _normal, "exponential": lambda x: -np.expm1(-x),
        }.items()
    },
    "weibull": Continuous("weibull", (1.7,), lambda x: -np.expm1(-(x**1.7))),
    "pareto": Continuous("pareto", (2.5,), lambda x: 1 - (1 + x) ** -2.5),
    "power": Continuous("power", (0.4,), lambda x: x**0.4),
    "rayleigh": Continuous("rayleigh", (2.0,), lambda x: -np.expm1(-((x / 2) ** 2) / 2)),
    "triangular": Continuous(
        "triangular", (-1.0, 0.5, 4.0),
        lambda x: np.where(x < 0.5, (x + 1) ** 2 / 7.5, 1 - (4 - x) ** 2 / 17.5),
    ),
    "triangular steep": Continuous("triangular", (0.0, 0.0, 2.0), lambda x: 1 - (2 - x) ** 2 / 4),
    "maxwell": Continuous("maxwell", (), lambda x: _gamma(1.5)(x**2 / 2)),
    "f": Continuous("f", (4.0, 2.0), lambda x: (2 * x / (2 * x + 1)) ** 2),
    "wald": Continuous("wald", (2.0, 3.0), _wald(2.0, 3.0)),
    "noncentral_chisquare": Continuous("noncentral_chisquare", (2.5, 3.0), _noncentral(2.5, 3.0)),
    "standard_normal": Continuous("standard_normal", (), _normal),
    "standard_exponential": Continuous("standard_exponential", (), lambda x: -np.expm1(-x)),
    "standard_gamma": Continuous("standard_gamma", (0.7,), _gamma(0.7)),
    "weibull float32": Continuous(
        "weibull", (2.0,), lambda x: -np.expm1(-(x**2)), {"dtype": "float32"}
    ),
}  # fmt: skip


def _log_factorial(k: Array) -> Array:
    return special.gammaln(k + 1.0)


def _poisson(lam: float) -> Callable[[Array], Array]:
    return lambda k: k * math.log(lam) - lam - _log_factorial(k)


def _binomial(n: int, p: float) -> Callable[[Array], Array]:
    def log_chance(k: Array) -> Array:
        inside = np.minimum(k, n)
        ways = (
            _log_factorial(np.array(float(n))) - _log_factorial(inside) - _log_factorial(n - inside)
        )
        value = ways + inside * math.log(p) + (n - inside) * math.log1p(-p)
        return np.where(k <= n, value, -np.inf)

    return log_chance


def _listed(*chances: float) -> Callable[[Array], Array]:
    known = np.log(np.array(chances) / sum(chances) + 1e-300)
    return lambda k: np.where(
        k < len(known), known[np.minimum(k, len(known) - 1).astype(int)], -np.inf
    )


DISCRETE = {
    **{
        f"poisson {lam}": Discrete("poisson", (lam,), _poisson(lam))
        for lam in (0.3, 9.5, 10.0, 250.0)
    },
    **{
        f"binomial {args}": Discrete("binomial", args, _binomial(*args))
        for args in ((7, 0.3), (40, 0.9), (60, 0.5), (5000, 0.01), (3, 0.999))
    },
    "bernoulli": Discrete("bernoulli", (0.3,), _listed(0.7, 0.3)),
    "geometric": Discrete(
        "geometric",
        (0.2,),
        lambda k: np.where(k > 0, math.log(0.2) + (k - 1) * math.log(0.8), -np.inf),
    ),
    "integers": Discrete("integers", (2, 9), _listed(0, 0, *[1] * 7)),
    "categorical": Discrete("categorical", ([1.0, 0.0, 3.0, 4.0],), _listed(1, 0, 3, 4)),
    "negative_binomial": Discrete(
        "negative_binomial",
        (2.5, 0.3),
        lambda k: (
            special.gammaln(k + 2.5) - special.gammaln(np.array(2.5)) - _log_factorial(k)
            + 2.5 * math.log(0.3) + k * math.log(0.7)
        ),
    ),
}  # fmt: skip


def draws(count: int = COUNT) -> dict[str, Tensor]:
    """So many numbers of each."""
    cases: dict[str, Continuous | Discrete] = {**CONTINUOUS, **DISCRETE}
    made: dict[str, Tensor] = {}
    for number, (name, case) in enumerate(cases.items()):
        key = T.random.fold_in(T.random.key(2026), number)
        options = case.options if isinstance(case, Continuous) else {}
        made[name] = getattr(T.random, case.sampler)(key, *case.args, size=count, **options)
    return made


def kolmogorov(sample: Array, cdf: Callable[[Array], Array]) -> float:
    """The largest distance of the sample's distribution function, in units of 1 / sqrt(n)."""
    n = len(sample)
    wanted = cdf(np.sort(sample.astype(np.float64)))
    steps = np.arange(n + 1) / n
    return float(math.sqrt(n) * max(np.max(steps[1:] - wanted), np.max(wanted - steps[:-1])))


def chi_square(sample: Array, log_chance: Callable[[Array], Array]) -> float:
    """How far the sample's counts are from those expected: a normal number if all is well.

    Values expected less than 10 times are counted together. (The cube root of chi-square is almost
    normal: Wilson and Hilferty, 1931.)
    """
    values = np.arange(int(sample.max()) + 200, dtype=np.float64)
    expected = len(sample) * np.exp(log_chance(values))
    counts = np.bincount(sample.astype(np.int64), minlength=len(values))
    assert not counts[expected < 1e-200].any(), "an impossible value"
    common = expected >= 10
    rest = max(len(sample) - expected[common].sum(), 1e-9)
    found = counts[~common].sum()
    total = np.sum((counts[common] - expected[common]) ** 2 / expected[common])
    degrees = int(common.sum()) - 1
    if rest >= 10:
        total, degrees = total + (found - rest) ** 2 / rest, degrees + 1
    else:
        assert found < 10 + 10 * rest, "too many rare values"
    spread = 2 / (9 * degrees)
    return float(((total / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread))
