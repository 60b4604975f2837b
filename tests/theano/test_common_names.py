"""Names that programs import from any of Theano's modules; the samples that its tests read."""

from __future__ import annotations

import importlib
import math
from collections import deque
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.common_names import HOMES
from symc.theano.sandbox.rng_mrg import MRG_RandomStreams


def test_every_name_of_the_table_is_where_it_says() -> None:
    for home, names in HOMES.items():
        module = importlib.import_module(f"symc.theano.{home}")
        assert [name for name in names.split() if name not in vars(module)] == []


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("tensor.nnet.nnet", "sigmoid"), ("compile.io", "SharedVariable"), ("compile.pfunc", "In"),
        ("tensor.basic", "Apply"), ("tensor.basic", "Op"), ("tensor.nnet.conv", "Apply"),
        ("tensor", "DisconnectedType"), ("gof.graph", "config"), ("ifelse", "TensorType"),
        ("scan_module.scan_op", "DisconnectedType"), ("scalar.basic", "grad_undefined"),
        ("sparse.sharedvar", "SharedVariable"), ("typed_list.basic", "SliceType"),
    ],
)  # fmt: skip
def test_modules_answer_names_that_they_have_from_others(module: str, name: str) -> None:
    if module.startswith("sparse"):
        pytest.importorskip("scipy")
    importlib.import_module(f"symc.theano.{module}")
    assert getattr(importlib.import_module(f"symc.theano.{module}"), name) is not None


def test_names_that_are_nowhere_are_missing() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        theano.tensor.basic.no_such_name  # noqa: B018
    with pytest.raises(AttributeError, match=r"theano\.no_such_name"):
        theano.no_such_name  # noqa: B018


def test_the_samples_beside_the_random_streams_are_those_that_streams_draw() -> None:
    folder = Path(theano.sandbox.__file__ or "").parent
    samples = np.loadtxt(folder / "samples_MRG31k3p_12_7_5.txt").reshape(12, 7, 5)
    streams = MRG_RandomStreams(seed=12345)
    first = streams.uniform(size=(5,), nstreams=1, dtype="float64")
    second = streams.uniform(size=(14,), nstreams=7, dtype="float64")
    found = theano.function([], [first, second])()
    np.testing.assert_array_equal(found[0], samples[0, 0])
    np.testing.assert_array_equal(found[1].reshape(2, 7), samples[1, :, :2].T)


def test_names_that_bayesian_clients_import() -> None:
    from symc.theano.scalar import basic_scipy
    from symc.theano.version import version

    assert (version, theano.__version__, theano.theano) == ("1.0.5", "1.0.5", theano)
    assert theano.gradient.theano is theano
    x, scipy_ops = T.dvector("x"), cast("Any", basic_scipy)  # which fills itself with names
    logs = T.Elemwise(
        scipy_ops.GammaLn(theano.scalar.upgrade_to_float, name="my_gammaln"), name="gammaln"
    )
    slopes = T.Elemwise(scipy_ops.Psi(theano.scalar.upgrade_to_float, name="my_psi"), name="psi")
    values = np.array([0.5, 3.0, 10.0])
    found = theano.function([x], [logs(x), T.grad(logs(x).sum(), x), slopes(x)])(values)
    np.testing.assert_allclose(found[0], [math.lgamma(each) for each in values], rtol=1e-13)
    np.testing.assert_allclose(found[1], found[2], rtol=1e-13)


def test_settings_can_be_walked_over() -> None:
    known = {each.fullname: each for each in theano.configparser._config_var_list}
    policy = known["compute_test_value"]
    assert policy.__get__(True, None) == "off"
    policy.__set__(None, "ignore")
    assert theano.config.compute_test_value == "ignore"
    policy.__set__(None, "off")
    with pytest.raises(ValueError, match="Invalid value"):
        known["floatX"].__set__(None, "float8")


def test_searches_go_by_breadth_or_depth_and_know_the_way_back() -> None:
    follow = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": None}
    search = theano.gof.graph.stack_search
    assert search(deque(["a"]), follow.get) == ["a", "b", "c", "d"]
    assert search(deque(["a"]), follow.get, "dfs") == ["a", "c", "d", "b"]
    found, before = search(deque(["a", "a"]), follow.get, build_inv=True)
    assert (found, before["d"]) == (["a", "b", "c", "d"], ["b", "c"])
    with pytest.raises(ValueError, match="bfs or dfs"):
        search(deque(["a"]), follow.get, "best")
    x = T.scalar()
    y = T.exp(x) + 1
    assert theano.gof.graph.is_in_ancestors(y.owner, y.owner.inputs[0].owner)
    assert not theano.gof.graph.is_in_ancestors(y.owner.inputs[0].owner, y.owner)


def test_sets_with_an_order_and_dicts_that_do_not_change() -> None:
    from symc.theano.misc.frozendict import frozendict
    from symc.theano.misc.ordered_set import OrderedSet

    some = OrderedSet("abca")
    some.update(["d"])
    assert list(some) == ["a", "b", "c", "d"]
    assert (some.pop(), some.pop(last=False), list(reversed(some))) == ("d", "a", ["c", "b"])
    assert some.union(["x"]) == OrderedSet("bcx") != OrderedSet("cbx")
    assert some.difference_update(["b"]) == OrderedSet("c")
    with pytest.raises(TypeError, match="no order"):
        _ = some == {"c"}
    with pytest.raises(AssertionError):
        OrderedSet({"a", "b"})
    frozen = frozendict(a=1, b=2)
    assert {frozen: 3}[frozendict({"b": 2, "a": 1})] == 3
    assert dict(frozen.copy(a=5)) == {"a": 5, "b": 2}


def test_a_distribution_of_theano_has_a_version() -> None:
    from symc.theano import dropped

    assert dropped._distribution("Theano").version == "1.0.5"  # pyright: ignore[reportPrivateUsage]
