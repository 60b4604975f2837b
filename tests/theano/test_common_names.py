"""Names that programs import from any of Theano's modules; the samples that its tests read."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

import symc.theano as theano
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
