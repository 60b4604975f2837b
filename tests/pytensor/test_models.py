"""Models of PyMC's: log densities, gradients, sampling, predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc.pytensor

pm = pytest.importorskip("pymc")
R = np.random.default_rng(0)


def schools() -> Any:
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    s = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        z = pm.Normal("z", 0, 1, shape=8)
        pm.Normal("y", mu + tau * z, s, observed=y)
    return model


def process() -> Any:
    x, y = np.linspace(0, 1, 20)[:, None], np.sin(np.arange(20.0))
    with pm.Model() as model:
        ell = pm.Gamma("ell", 2, 1)
        noise = pm.HalfNormal("noise", 1)
        gp = pm.gp.Marginal(cov_func=pm.gp.cov.ExpQuad(1, ell))
        gp.marginal_likelihood("y", X=x, y=y, sigma=noise)
    return model


def mixture() -> Any:
    y = np.concatenate([np.arange(10.0), -np.arange(10.0)]) / 5
    with pm.Model() as model:
        w = pm.Dirichlet("w", np.ones(3))
        mu = pm.Normal("mu", np.array([-1.0, 0, 1]), 1, shape=3)
        pm.NormalMixture("y", w, mu, 1.0, observed=y)
        pm.Beta("b", 2.0, 3.0)
        pm.GaussianRandomWalk("walk", sigma=0.3, init_dist=pm.Normal.dist(), steps=5)
    return model


@pytest.mark.parametrize("model", [schools, process, mixture])
def test_log_density_and_gradient(model: Any) -> None:
    made = model()
    ours = symc.pytensor.logp_dlogp(made)
    theirs = made.logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")._pytensor_function
    assert ours.function is not None
    for _ in range(3):
        x = ours.initial + R.normal(size=ours.size) * 0.3
        for got, want in zip(ours(x), theirs(x), strict=True):
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-8, atol=1e-8)


def _sampled(model: Any, backend: str, **options: Any) -> Any:
    with model:
        return pm.sample(
            30, tune=30, backend=backend, nuts_sampler="pymc", random_seed=1, progressbar=False,
            compute_convergence_checks=False, **options,
        )  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_sampling_and_predictions_are_those_of_pytensors_own_mode() -> None:
    model = schools()
    ours = _sampled(model, "SYMC", chains=1, cores=1)
    theirs = _sampled(model, "FAST_COMPILE", chains=1, cores=1)
    np.testing.assert_allclose(ours.posterior["mu"], theirs.posterior["mu"], rtol=1e-4)
    with model:
        predicted = [
            pm.sample_posterior_predictive(
                theirs, compile_kwargs={"mode": mode}, progressbar=False, random_seed=3
            ).posterior_predictive["y"]
            for mode in ("SYMC", "FAST_COMPILE")
        ]
    ours, theirs = predicted
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_a_density_of_another_mode() -> None:
    ours = symc.pytensor.logp_dlogp(schools())
    few = symc.pytensor.logp_dlogp(schools(), symc.pytensor.mode("compile", rewrites="few"))
    (value, gradient), (wanted, slope) = few(few.initial + 0.3), ours(ours.initial + 0.3)
    assert value == pytest.approx(wanted, rel=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-10)


def test_the_density_as_a_c_library(tmp_path: Path) -> None:
    ours = symc.pytensor.logp_dlogp(schools())
    folder = ours.export(tmp_path / "density")
    assert {".c", ".h"} <= {path.suffix for path in folder.rglob("*")}


@pytest.mark.filterwarnings("ignore")
def test_sampling_in_processes() -> None:
    trace = _sampled(schools(), "SYMC", chains=2, cores=2, mp_ctx="fork")
    assert trace.posterior["mu"].shape == (2, 30)
