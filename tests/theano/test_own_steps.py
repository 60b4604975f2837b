"""Ops with a gradient of their own keep it inside loops and inside graphs that are one op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.gradient import disconnected_grad, grad_clip, grad_scale, zero_grad

X = np.array([3.0, -2.0, 0.5])
_A = T.dscalar("a")
STEPS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "clipped": (lambda v: grad_clip(v, -1, 1) ** 2, np.clip(2 * X, -1, 1)),
    "scaled": (lambda v: grad_scale(v, 3) ** 2, 6 * X),
    "disconnected": (lambda v: v * disconnected_grad(v), X),
    "zero": (lambda v: v * zero_grad(v), X),
    "graph as an op": (
        lambda v: theano.OpFromGraph([_A], [_A**2], lop_overrides=lambda i, o, g: [7 * g[0]])(v),
        np.full(3, 7.0),
    ),
}


@pytest.mark.parametrize("name", list(STEPS))
def test_gradient_inside_a_loop_is_the_ops_own(name: str) -> None:
    step, wanted = STEPS[name]
    x = T.dvector("x")
    results, _ = theano.scan(step, sequences=x)
    np.testing.assert_allclose(theano.function([x], T.grad(results.sum(), x))(X), wanted)


def test_gradient_by_a_constant() -> None:
    x, c = T.dscalar("x"), T.constant(np.float64(2))
    found = theano.function([x], T.grad((x * c) ** 2, [c, x]))(3.0)
    np.testing.assert_allclose(found, [36, 24])
