"""Host functions of many steps are compiled without optimisation, if each step runs once."""

from __future__ import annotations

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.targets.host import functions
from symc.codegen.targets.host.functions import MANY, PLAIN


def test_a_network_of_many_layers() -> None:
    """gcc took as long for the host functions as for the kernels."""
    rng = np.random.default_rng(0)
    x, weights = T.matrix("x"), [T.matrix(f"w{number}") for number in range(MANY // 2)]
    y = x
    for w in weights:
        y = T.tanh(y @ w)
    step = symc.function([x, *weights], y)
    assert f"{PLAIN} int64_t symc_run(" in step.source
    given = [rng.normal(size=(3, 3)) for _ in range(MANY // 2 + 1)]
    wanted, *factors = given
    for factor in factors:
        wanted = np.tanh(wanted @ factor)
    np.testing.assert_allclose(step(*given), wanted, rtol=1e-9)
    with pytest.raises(symc.errors.ShapeMismatch):
        step(*given[:-1], np.ones((4, 3)))


def test_few_steps_and_loops_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of a loop may be compiled into the host function, and runs again and again."""
    x = T.vector("x")
    assert PLAIN not in symc.function([x], x**2 + 1).source
    monkeypatch.setattr(functions, "MANY", 1)
    assert PLAIN in symc.function([x], x**2 + 2).source
    loop = symc.fori_loop(0, 1000, lambda i, s: s * 0.5 + i, x.sum())
    assert PLAIN not in symc.function([x], loop).source
