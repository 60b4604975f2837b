"""A library that was written for Theano, as the package index has it: Lasagne 0.1."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import lasagne
import numpy as np
import theano
import theano.tensor as T
from lasagne import layers

images, classes = T.tensor4(), T.ivector()
lasagne.random.set_rng(np.random.RandomState(0))
net = layers.InputLayer((None, 1, 8, 8), images)
net = layers.MaxPool2DLayer(layers.Conv2DLayer(net, 4, 3), 2)
net = layers.DenseLayer(layers.DropoutLayer(net, 0.2), 16)
net = layers.DenseLayer(net, 2, nonlinearity=lasagne.nonlinearities.softmax)
cost = lasagne.objectives.categorical_crossentropy(layers.get_output(net), classes).mean()
params = layers.get_all_params(net, trainable=True)
step = theano.function([images, classes], cost, updates=lasagne.updates.adam(cost, params, 0.01))
rng = np.random.RandomState(1)
y = rng.randint(0, 2, 64).astype("int32")
x = (rng.rand(64, 1, 8, 8) + y[:, None, None, None]).astype(theano.config.floatX)
costs = [float(step(x, y)) for _ in range(30)]
print("learns" if costs[-1] < costs[0] / 3 else costs)
"""
INSTALL = ("-q", "--no-deps", "--no-build-isolation", "--disable-pip-version-check",
           "--retries", "0", "--timeout", "5")  # fmt: skip


def test_lasagne_from_the_package_index_learns(tmp_path: Path) -> None:
    target = str(tmp_path / "packages")
    pip = [sys.executable, "-m", "pip", "install", *INSTALL, "--target", target, "Lasagne==0.1"]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("Lasagne 0.1 could not be installed from the package index")
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "symc", "theano", "--compat", str(script)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": target},
    )  # fmt: skip
    assert done.stdout.strip() == "learns", done.stderr
