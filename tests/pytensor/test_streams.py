"""symc's own random streams: NumPy's distributions, other numbers, and what seeds promise."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytensor.tensor.random.basic as ptr
import pytest

import symc.pytensor
from symc.pytensor.compiled import performed
from symc.pytensor.convert.draws import SAMPLERS
from symc.pytensor.streams import generator_of, key_of

ks_2samp: Any = importlib.import_module("scipy.stats").ks_2samp

STREAMS = symc.pytensor.mode("compile", random="symc")
COUNT = 2000

FAMILIES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "UniformRV": (ptr.uniform, (-1.0, 3.0)),
    "TriangularRV": (ptr.triangular, (0.0, 1.0, 3.0)),
    "BetaRV": (ptr.beta, (2.0, 3.0)),
    "NormalRV": (ptr.normal, (1, 2.0)),
    "HalfNormalRV": (ptr.halfnormal, (1.0, 2.0)),
    "LogNormalRV": (ptr.lognormal, (0.5, 0.3)),
    "GammaRV": (ptr._gamma, (2.0, 3.0)),
    "ParetoRV": (ptr.pareto, (3.0, 2.0)),
    "GumbelRV": (ptr.gumbel, (1.0, 2.0)),
    "ExponentialRV": (ptr.exponential, (2.0,)),
    "WeibullRV": (ptr.weibull, (1.5,)),
    "LogisticRV": (ptr.logistic, (1.0, 2.0)),
    "PoissonRV": (ptr.poisson, (3.5,)),
    "GeometricRV": (ptr.geometric, (0.3,)),
    "CauchyRV": (ptr.cauchy, (1.0, 2.0)),
    "HalfCauchyRV": (ptr.halfcauchy, (1.0, 2.0)),
    "InvGammaRV": (ptr.invgamma, (5.0, 2.0)),
    "WaldRV": (ptr.wald, (1.0, 2.0)),
    "TruncExponentialRV": (ptr.truncexpon, (2.0, 1.0, 3.0)),
    "StudentTRV": (ptr.t, (4.0, 1.0, 2.0)),
    "BernoulliRV": (ptr.bernoulli, (0.3,)),
    "LaplaceRV": (ptr.laplace, (1.0, 2.0)),
    "BinomialRV": (ptr.binomial, (10, 0.3)),
    "NegBinomialRV": (ptr.nbinom, (4, 0.3)),
    "BetaBinomialRV": (ptr.betabinom, (10, 2.0, 3.0)),
    "GenGammaRV": (ptr.gengamma, (2.0, 1.5, 3.0)),
    "CategoricalRV": (ptr.categorical, (np.array([0.2, 0.5, 0.3]),)),
    "IntegersRV": (ptr.integers, (-2, 5)),
    "MvNormalRV": (ptr.multivariate_normal, (np.ones(2), np.array([[2.0, 0.6], [0.6, 1.0]]))),
    "DirichletRV": (ptr.dirichlet, (np.array([1.0, 2.0, 3.0]),)),
    "MultinomialRV": (ptr.multinomial, (10, np.array([0.2, 0.5, 0.3]))),
}
OF_ONE: dict[str, Any] = {
    "PermutationRV": lambda **options: ptr.permutation(np.arange(7), **options),
    "ChoiceWithoutReplacement": lambda **options: ptr.choice(9, 4, replace=False, **options),
}


def _generator(seed: int = 1) -> Any:
    return pytensor.shared(np.random.default_rng(seed))


def _draws(mode: Any) -> list[Any]:
    made = [draw(*given, size=(COUNT,), rng=_generator(n), return_next_rng=True)[1]
            for n, (draw, given) in enumerate(FAMILIES.values())]  # fmt: skip
    f = pytensor.function([], made, mode=mode)
    assert not performed(f) or mode is not STREAMS
    drawn: list[Any] = f()
    return drawn


def test_draws_have_the_distributions_of_numpys() -> None:
    mine, theirs = _draws(STREAMS), _draws(symc.pytensor.mode("compile"))
    for name, own, other in zip(FAMILIES, mine, theirs, strict=True):
        assert own.dtype == other.dtype, name
        assert own.shape == other.shape, name
        assert not np.array_equal(own, other), name
        for column in range(own.reshape(COUNT, -1).shape[1]):
            a, b = (x.reshape(COUNT, -1)[:, column] for x in (own, other))
            assert ks_2samp(a, b).pvalue > 1e-4, name
    vectors = mine[list(FAMILIES).index("MvNormalRV")]
    np.testing.assert_allclose(np.cov(vectors.T), [[2.0, 0.6], [0.6, 1.0]], atol=0.2)


def test_every_sampler_of_pytensors_has_a_test() -> None:
    known = {n.rpartition(".")[2] for n in SAMPLERS if n.startswith("pytensor.")}
    assert known == {*FAMILIES, *OF_ONE}


def test_orders() -> None:
    made = [draw(rng=_generator(), return_next_rng=True)[1] for draw in OF_ONE.values()]
    f = pytensor.function([], made, mode=STREAMS)
    order, chosen = f()
    assert sorted(order) == list(range(7))
    assert len(set(chosen)) == 4
    assert not performed(f)


def test_samplers_of_pymcs_own_distributions() -> None:
    pm = pytest.importorskip("pymc")
    made = {
        "TruncatedNormalRV": pm.TruncatedNormal.dist(1.0, 2.0, lower=0.0, upper=2.0, size=COUNT),
        "WaldRV": pm.Wald.dist(1.0, 2.0, alpha=0.5, size=COUNT),
        "SkewNormalRV": pm.SkewNormal.dist(mu=1.0, sigma=2.0, alpha=-3.0, size=COUNT),
        "MoyalRV": pm.Moyal.dist(1.0, 2.0, size=COUNT),
        "DiscreteUniformRV": pm.DiscreteUniform.dist(-2, 3, size=COUNT),
    }
    known = {n.rpartition(".")[2] for n in SAMPLERS if n.startswith("pymc.")}
    assert known == {type(variable.owner.op).__name__ for variable in made.values()}
    f = pytensor.function([], list(made.values()), mode=STREAMS)
    assert not performed(f)
    numpys = pytensor.function([], list(made.values()), mode=symc.pytensor.mode("compile"))
    for name, own, other in zip(made, f(), numpys(), strict=True):
        assert ks_2samp(own, other).pvalue > 1e-4, name


def test_the_same_seed_gives_the_same_numbers_and_updates_go_on() -> None:
    def made() -> tuple[Any, Any]:
        rng = _generator(7)
        following, draw = pt.random.normal(size=(4,), rng=rng, return_next_rng=True)
        return pytensor.function([], draw, updates={rng: following}, mode=STREAMS), rng

    (f, rng), (g, _) = made(), made()
    first, second = f(), f()
    np.testing.assert_array_equal(g(), first)
    assert not np.array_equal(first, second)
    assert isinstance(rng.get_value(), np.random.Generator)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again(), f())


def test_without_an_update_numbers_stay_as_they_are() -> None:
    rng = _generator()
    f = pytensor.function([], pt.random.normal(rng=rng, return_next_rng=True)[1], mode=STREAMS)
    assert f() == f()


def test_what_symc_has_no_sampler_for_goes_on_with_the_same_stream() -> None:
    rng = _generator()
    following, angle = pt.random.vonmises(0.0, 1.0, size=(3,), rng=rng, return_next_rng=True)
    last, other = pt.random.normal(angle, 1.0, rng=following, return_next_rng=True)
    f = pytensor.function([], [angle, other], updates={rng: last}, mode=STREAMS)
    assert [op.split("_")[0] for op, _ in performed(f)] == ["vonmises"]
    first, second = f(), f()
    assert not np.array_equal(first, second)
    rng.set_value(np.random.default_rng(1))
    np.testing.assert_array_equal([f(), f()], [first, second])


def test_loops_that_draw_are_compiled_whole() -> None:
    rng = _generator()

    def step(before: Any, state: Any) -> Any:
        following, draw = pt.random.normal(before, 1.0, rng=state, return_next_rng=True)
        return draw, following

    walk, last = pytensor.scan(
        step, outputs_info=[pt.zeros(()), rng], n_steps=500, return_updates=False
    )
    f = pytensor.function([], walk, updates={rng: last}, mode=STREAMS)
    assert not performed(f)
    steps = np.diff(f())
    assert abs(steps.mean()) < 0.2
    assert abs(steps.std() - 1) < 0.2
    assert not np.array_equal(np.diff(f()), steps)


def test_predictions_of_a_model_in_symcs_streams() -> None:
    pm = pytest.importorskip("pymc")
    with pm.Model():
        mu = pm.Normal("mu", 0, 1)
        pm.Normal("y", mu, 1, shape=3)
        drawn = [
            pm.sample_prior_predictive(
                400, random_seed=5, compile_kwargs={"mode": "SYMC_STREAMS"}
            ).prior["y"].values
            for _ in range(2)
        ]  # fmt: skip
    np.testing.assert_array_equal(*drawn)
    assert abs(drawn[0].var() - 2) < 0.3


def test_a_generator_that_became_a_key_is_itself_again() -> None:
    key = np.array([3, 2**63 + 5], dtype=np.uint64)
    np.testing.assert_array_equal(key_of(generator_of(key)), key)
    assert not np.array_equal(key_of(np.random.default_rng(1)), key_of(np.random.default_rng(2)))


def test_other_bit_generators_are_refused() -> None:
    with pytest.raises(TypeError, match="not of MT19937"):
        key_of(np.random.Generator(np.random.MT19937(1)))


def test_streams_have_two_names() -> None:
    with pytest.raises(ValueError, match="not 'jax'"):
        symc.pytensor.mode(random="jax")
    before = pytensor.config.mode
    try:
        symc.pytensor.use(random="symc")
        rng = _generator()
        f = pytensor.function([], pt.random.normal(rng=rng, return_next_rng=True)[1])
        assert not performed(f)
    finally:
        pytensor.config.mode = before


def test_probabilities_below_zero_are_none() -> None:
    """PyMC draws cut points that are not in order; NumPy's way of drawing does not ask."""
    p = pt.dvector("p")
    _, drawn = ptr.categorical(p, size=50, rng=_generator(), return_next_rng=True)
    assert set(pytensor.function([p], drawn, mode=STREAMS)([0.5, -0.5, 1.0])) == {0, 2}
