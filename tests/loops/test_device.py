"""Loops and branches on the simulator: the host's side launches kernels on rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.targets import sim
from symc.errors import BadIndex

RNG = np.random.default_rng(12)

pytestmark = pytest.mark.skipif(not sim.available(), reason="no C++ compiler")


def compare(inputs: Any, outputs: Any, *calls: Any) -> symc.Function:
    function = symc.function(inputs, outputs, device="cuda:sim")
    oracle = symc.function(inputs, outputs, mode="python")
    for arrays in calls:
        for value, wanted in zip(function(*arrays), oracle(*arrays), strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-10)
    return function


def test_a_recurrent_layer_and_its_gradient() -> None:
    x, w, h0 = T.matrix("x"), T.matrix("w"), T.vector("h0")
    h, _ = symc.scan(lambda x, h, w: T.tanh(w @ h + x), x, h0, w)
    arrays = RNG.standard_normal((5, 3)), RNG.standard_normal((3, 3)), RNG.standard_normal(3)
    compare([x, w, h0], [h, symc.grad(h.sum(), w)], *[arrays] * 3)  # recorded, then replayed


def test_conditions_of_loops_and_branches_are_read_from_the_device() -> None:
    c, x, i = T.scalar("c"), T.vector("x"), T.lvector("i")
    h, _ = symc.scan(lambda h: (h * 2, symc.until(h * 2 > c)), outputs_info=T.ones(()), n_steps=9)
    y = symc.ifelse(c > 10, T.exp(x), x * 2)
    z, _ = symc.scan(lambda i, x: x[i], i, None, x)
    given = RNG.standard_normal(4)
    function = compare([c, x, i], [h, y, z], (3.0, given, [0, 2]), (100.0, given, [1, -1]))
    with pytest.raises(BadIndex, match="index 4 is out of bounds for axis 0 with length 4"):
        function(1.0, given, [0, 4])


def test_kernels_of_steps_have_short_indexes() -> None:
    x = T.matrix("x")
    first = T.zeros((x.shape[1],))
    h, _ = symc.scan(lambda t, x, h: h * t + x, [T.arange(x.shape[0]), x], first)
    function = compare([x], [h], [RNG.standard_normal((4, 3))])
    assert "const int32_t x_1" in function.source
