"""Fewer of PyTensor's rewrites: the same values, gradients where conditions leave nan aside too."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import symc.pytensor
from symc.pytensor.compiled import performed
from symc.pytensor.rewrites import KEPT, NOT_KEPT, forms
from tests.pytensor.compare import PYTHON, QUICK

FEW = symc.pytensor.mode("compile", rewrites="few")


def test_gradients_of_what_a_condition_leaves_aside_are_not_nan() -> None:
    x = pt.dvector("x")
    y = pt.switch(x > 0, pt.log(pt.switch(x > 0, x, 0.0)), x * 2).sum()
    values = np.array([-1.0, 2.0, 0.0])
    f, g = (pytensor.function([x], [y, pt.grad(y, x)], mode=mode) for mode in (FEW, QUICK))
    for few, whole in zip(f(values), g(values), strict=True):
        np.testing.assert_allclose(few, whole, rtol=1e-12)
    assert np.isfinite(f(values)[1]).all()


def test_an_ordered_probit_far_from_its_data() -> None:
    pm = pytest.importorskip("pymc")
    r = np.random.default_rng(3)
    x, y = r.normal(size=(80, 2)), r.integers(0, 4, 80)
    with pm.Model() as model:
        cuts = pm.Normal(
            "c", np.array([-1.0, 0, 1]), 1, transform=pm.distributions.transforms.ordered
        )
        b = pm.Normal("b", 0, 1, shape=2)
        pm.OrderedProbit("y", eta=x @ b, cutpoints=cuts, observed=y)
    at = np.random.default_rng(1).normal(size=5)
    found: list[Any] = []
    for mode in (FEW, QUICK):
        f = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
        f.set_extra_values({})
        found.append(f(at))
    assert np.isfinite(found[0][1]).all()
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-9)


def test_a_rice_density_far_from_its_scale() -> None:
    """Its gradient was nan: an exponential that underflows was divided by itself."""
    pm = pytest.importorskip("pymc")
    with pm.Model() as model:
        pm.Rice("r", nu=1.0, sigma=1.0)
    found: list[Any] = []
    for mode in (FEW, QUICK):
        f = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
        f.set_extra_values({})
        found.append(f(np.array([5.0])))
    assert np.isfinite(found[0][1]).all()
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-9)


def test_parameters_that_are_not_allowed_are_no_error_where_pymc_wants_none() -> None:
    """They raised, if PyMC was imported first: its rewrite was left out with PyTensor's forms."""
    pm = pytest.importorskip("pymc")
    with pm.Model() as model:
        pm.Normal("x", 0, pm.Normal("scale"), shape=3)
    found: list[Any] = []
    for mode in (symc.pytensor.mode("compile", rewrites="few"), QUICK):
        f = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
        f.set_extra_values({})
        found.append(f(np.array([-1.0, 0.5, 0.5, 0.5])))
    assert found[0][0] == found[1][0] == -np.inf
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-12)


def test_a_function_of_few_rewrites_can_be_pickled() -> None:
    x = pt.dvector("x")
    f = pickle.loads(pickle.dumps(pytensor.function([x], pt.exp(x) / pt.exp(x), mode=FEW)))
    np.testing.assert_array_equal(f(np.array([-800.0, 1.0])), [1.0, 1.0])


def test_a_softmax_is_not_looked_for_inside_of_one() -> None:
    x = pt.dmatrix("x")
    y = pt.log(pt.special.softmax(x, axis=1))
    f = pytensor.function([x], y, mode=FEW)
    values = np.array([[-800.0, 0.0], [1.0, 3.0]])
    want = values - np.logaddexp(values[:, :1], values[:, 1:])
    np.testing.assert_allclose(f(values), want, rtol=1e-12)


def test_loops_get_the_few_rewrites_too() -> None:
    x = pt.dvector("x")
    states = pytensor.scan(
        lambda a, s: pt.exp(s) / pt.exp(s) * a, x, [pt.zeros(())], return_updates=False
    )
    f = pytensor.function([x], states[-1], mode=FEW)
    np.testing.assert_array_equal(f(np.array([-800.0, -900.0, 4.0])), 4.0)


def test_ranges_for_rows_are_computed_before() -> None:
    x = pt.tensor("x", shape=(3, 2))
    lengths = pt.alloc(pt.shape(x)[1], 3) - 1
    ranges = pt.vectorize(lambda n: pt.arange(n), signature="()->(o)")(lengths)
    f = pytensor.function([x], x[:, :1] + ranges, mode=FEW)
    wanted = pytensor.function([x], x[:, :1] + ranges, mode=PYTHON)
    assert not performed(f)
    np.testing.assert_array_equal(f(np.ones((3, 2))), wanted(np.ones((3, 2))))


def test_rewrites_are_all_or_few() -> None:
    with pytest.raises(ValueError, match="not 'none'"):
        symc.pytensor.mode(rewrites="none")


def test_those_that_are_kept_are_pytensors() -> None:
    from pytensor.compile.mode import optdb

    known: set[str] = set()
    for group in ("canonicalize", "specialize"):
        (database,) = optdb.__db__[group]
        known.update(database.__db__)
    assert set(KEPT) | set(NOT_KEPT) <= known
    assert set(NOT_KEPT) <= set(forms(kept=False))
