"""PyMC models that `benchmarks/pymc.py` measures: twelve ordinary ones, and four larger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

Model = Any


def _numbers() -> np.random.Generator:
    return np.random.default_rng(0)


def eight_schools() -> Model:
    """Effects of coaching in eight schools, not centred."""
    effects = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    errors = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        offset = pm.Normal("offset", 0, 1, shape=8)
        pm.Normal("y", mu + tau * offset, errors, observed=effects)
    return model


def _levels(rows: int, groups: int) -> Model:
    r = _numbers()
    group, x, y = r.integers(0, groups, rows), r.normal(size=rows), r.normal(size=rows)
    with pm.Model() as model:
        mean = pm.Normal("mean", 0, 10, shape=2)
        spread = pm.HalfNormal("spread", 5, shape=2)
        a = pm.Normal("a", mean[0], spread[0], shape=groups)
        b = pm.Normal("b", mean[1], spread[1], shape=groups)
        noise = pm.HalfCauchy("noise", 5)
        pm.Normal("y", a[group] + b[group] * x, noise, observed=y)
    return model


def radon() -> Model:
    """Two levels: 919 rows in 85 counties."""
    return _levels(919, 85)


def hierarchical_50000() -> Model:
    """Two levels: 50,000 rows in 500 groups."""
    return _levels(50_000, 500)


def logistic() -> Model:
    """Logistic regression, 1000 x 20."""
    r = _numbers()
    x, y = r.normal(size=(1000, 20)), r.integers(0, 2, 1000)
    with pm.Model() as model:
        a, b = pm.Normal("a", 0, 2), pm.Normal("b", 0, 1, shape=20)
        pm.Bernoulli("y", logit_p=a + x @ b, observed=y)
    return model


def _process(count: int) -> Model:
    x, y = np.linspace(0, 1, count)[:, None], _numbers().normal(size=count)
    with pm.Model() as model:
        length, scale = pm.Gamma("length", 2, 1), pm.HalfNormal("scale", 1)
        noise = pm.HalfNormal("noise", 1)
        gp = pm.gp.Marginal(cov_func=scale**2 * pm.gp.cov.ExpQuad(1, length))
        gp.marginal_likelihood("y", X=x, y=y, sigma=noise)
    return model


def process_100() -> Model:
    """A Gaussian process of 100 points, marginal."""
    return _process(100)


def process_400() -> Model:
    """A Gaussian process of 400 points, marginal."""
    return _process(400)


def correlated() -> Model:
    """A multivariate normal with an LKJ prior of its correlations."""
    y = _numbers().normal(size=(200, 4))
    with pm.Model() as model:
        factor, _, _ = pm.LKJCholeskyCov(
            "factor", n=4, eta=2, sd_dist=pm.Exponential.dist(1.0), compute_corr=True
        )
        pm.MvNormal("y", pm.Normal("mu", 0, 1, shape=4), chol=factor, observed=y)
    return model


def ordered() -> Model:
    """Ordered logistic regression."""
    r = _numbers()
    x, y = r.normal(size=(300, 3)), r.integers(0, 5, 300)
    with pm.Model() as model:
        cuts = pm.Normal(
            "cuts", mu=np.linspace(-2, 2, 4), sigma=1, shape=4,
            transform=pm.distributions.transforms.ordered,
        )  # fmt: skip
        pm.OrderedLogistic("y", eta=x @ pm.Normal("b", 0, 1, shape=3), cutpoints=cuts, observed=y)
    return model


def mixture() -> Model:
    """A mixture of three normal distributions."""
    y = _numbers().normal(size=500)
    with pm.Model() as model:
        weights = pm.Dirichlet("weights", np.ones(3))
        mu = pm.Normal("mu", np.array([-1.0, 0, 1]), 1, shape=3)
        pm.NormalMixture("y", weights, mu, pm.HalfNormal("s", 1, shape=3), observed=y)
    return model


def random_walk() -> Model:
    """A random walk, and an autoregression, of 300 steps."""
    y = _numbers().normal(size=300)
    with pm.Model() as model:
        step = pm.HalfNormal("step", 0.2)
        walk = pm.GaussianRandomWalk(
            "walk", mu=0, sigma=step, init_dist=pm.Normal.dist(0, 1), steps=299
        )
        rho = pm.Normal("rho", 0, 0.5, shape=2)
        pm.AR("ar", rho=rho, sigma=1.0, init_dist=pm.Normal.dist(0, 1), observed=y)
        pm.StudentT("y", nu=4, mu=walk, sigma=1, observed=y)
    return model


def kalman() -> Model:
    """A Kalman filter by scan, 200 steps."""
    y = _numbers().normal(size=200)
    with pm.Model() as model:
        phi, q, r = pm.Uniform("phi", -1, 1), pm.HalfNormal("q", 1), pm.HalfNormal("r", 1)

        def step(seen: Any, mean: Any, var: Any, phi: Any, q: Any, r: Any) -> Any:
            mean, var = phi * mean, phi**2 * var + q**2
            total = var + r**2
            gain, miss = var / total, seen - mean
            density = -0.5 * (pt.log(2 * np.pi * total) + miss**2 / total)
            return mean + gain * miss, (1 - gain) * var, density

        start = [pt.as_tensor(np.float64(v)) for v in (0.0, 1.0)]
        _, _, densities = pytensor.scan(
            step, sequences=[pt.as_tensor(y)], outputs_info=[*start, None],
            non_sequences=[phi, q, r], return_updates=False,
        )  # fmt: skip
        pm.Potential("density", densities.sum())
    return model


def counts() -> Model:
    """Negative binomial and Poisson regression."""
    r = _numbers()
    x, y = r.normal(size=(500, 8)), r.poisson(2, 500)
    with pm.Model() as model:
        b, alpha = pm.Normal("b", 0, 1, shape=8), pm.Exponential("alpha", 1)
        rate = pt.exp(x @ b)
        pm.NegativeBinomial("n", mu=rate, alpha=alpha, observed=y)
        pm.Poisson("p", mu=rate, observed=y)
    return model


def horseshoe() -> Model:
    """A regularised horseshoe prior over 1000 coefficients."""
    r = _numbers()
    x, y = r.normal(size=(200, 1000)), r.normal(size=200)
    with pm.Model() as model:
        tau, lam = pm.HalfCauchy("tau", 0.1), pm.HalfCauchy("lam", 1, shape=1000)
        slab, z = pm.InverseGamma("slab", 2, 2), pm.Normal("z", 0, 1, shape=1000)
        scale = pt.sqrt(slab) * lam / pt.sqrt(slab + tau**2 * lam**2)
        pm.Normal("y", x @ (z * tau * scale), pm.HalfNormal("s", 1), observed=y)
    return model


def dirichlet() -> Model:
    """Dirichlet-multinomial counts."""
    y = _numbers().multinomial(50, [0.2, 0.3, 0.1, 0.4], size=60)
    with pm.Model() as model:
        parts, total = pm.Dirichlet("parts", np.ones(4)), pm.LogNormal("total", 1, 1)
        pm.DirichletMultinomial("y", n=50, a=parts * total, observed=y, shape=(60, 4))
    return model


def volatility_2000() -> Model:
    """Stochastic volatility of 2,000 steps."""
    y = _numbers().normal(size=2000)
    with pm.Model() as model:
        step = pm.Exponential("step", 10)
        volatility = pm.GaussianRandomWalk(
            "volatility", sigma=step, init_dist=pm.Normal.dist(0, 1), steps=1999
        )
        nu = pm.Exponential("nu", 0.1)
        pm.StudentT("y", nu=nu, lam=pt.exp(-2 * volatility), observed=y)
    return model


def items_300x500() -> Model:
    """Item response: 300 people, 500 questions, two parameters."""
    y = _numbers().integers(0, 2, size=(300, 500))
    with pm.Model() as model:
        skill = pm.Normal("skill", 0, 1, shape=300)
        hard = pm.Normal("hard", 0, 1, shape=500)
        sharp = pm.LogNormal("sharp", 0, 0.3, shape=500)
        pm.Bernoulli("y", logit_p=sharp * (skill[:, None] - hard), observed=y)
    return model


MODELS: tuple[Callable[[], Model], ...] = (
    eight_schools, radon, logistic, process_100, correlated, ordered, mixture, random_walk, kalman,
    counts, horseshoe, dirichlet, hierarchical_50000, process_400, volatility_2000, items_300x500,
)  # fmt: skip
