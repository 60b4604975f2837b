"""Scan in all its forms, branches, and functions of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import ifelse
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.scan.utils import until

from tests.pytensor.compare import compare

X = np.random.default_rng(1).normal(size=6)


def scan(*args: Any, **options: Any) -> Any:
    return pytensor.scan(*args, **options, return_updates=False)


def test_sequences_states_and_taps() -> None:
    x, a = pt.dvector("x"), pt.dscalar("a")
    running = scan(lambda v, s: a * s + v, sequences=[x], outputs_info=[pt.zeros(())])
    taps = scan(
        lambda p, q: p + a * q,
        outputs_info=[{"initial": x[:2], "taps": [-2, -1]}],
        n_steps=5,
    )
    alone = scan(lambda v: pt.exp(v) * a, sequences=[x])
    pairs = scan(lambda p, q: p * q, sequences=[{"input": x, "taps": [-1, 0]}])
    outputs = [running, running[-1], taps, taps[-2:], alone, pairs]
    outputs += pytensor.grad(running[-1] + taps.sum(), [x, a])
    compare([x, a], outputs, [X, 0.7])


def test_gradients_through_the_last_steps_are_zero_before() -> None:
    u, start = pt.dmatrix("u"), pt.dvector("start")
    states = scan(lambda u, s: pt.tanh(u + s), [u], outputs_info=[start], truncate_gradient=2)
    gradients = pytensor.grad(states.sum(), [u, start])
    for steps in (5, 1):
        f = compare([u, start], gradients, [np.ones((steps, 2)), np.ones(2)])
    assert not f(np.ones((5, 2)), np.ones(2))[0][:3].any()


class Copied(Op):
    """An Op without a converter, so that a loop around it is repeated in Python."""

    __props__ = ()

    def make_node(self, x: Any) -> Any:
        x = pt.as_tensor(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        outputs[0][0] = inputs[0].copy()

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [Copied()(cotangents[0])]


def test_gradients_through_the_last_steps_of_a_loop_that_python_repeats() -> None:
    u = pt.dmatrix("u")
    states = scan(lambda u, s: u + Copied()(s), [u], outputs_info=[u[0]], truncate_gradient=2)
    f = compare([u], pytensor.grad(states.sum(), u), [np.ones((5, 2))], host=1)
    np.testing.assert_array_equal(f(np.ones((5, 2)))[0][:, 0], [0, 0, 0, 2, 1])


def test_a_loop_of_no_steps_leaves_its_states_as_they_are() -> None:
    u, start = pt.dmatrix("u"), pt.dvector("start")
    states = scan(lambda u, s: pt.tanh(u + s), [u], outputs_info=[start])
    gradient = pytensor.grad(states.sum(), start)
    for steps in (0, 2):
        compare([u, start], [states, gradient], [np.ones((steps, 2)), np.ones(2)])


def test_while() -> None:
    x = pt.dscalar("x")
    states = scan(lambda s: (s * 2, until(s > 20)), outputs_info=[x], n_steps=50)
    compare([x], [states, states[-1], states.shape[0]], [1.5])


def test_branches_of_different_lengths() -> None:
    c, x = pt.dscalar("c"), pt.dvector("x")
    value = ifelse(c > 0, x[:2], x[1:])
    for condition in (1.0, -1.0):
        compare([c, x], [value * 2], [condition, X])


def test_only_the_chosen_branch_is_checked() -> None:
    from pytensor.raise_op import Assert

    x = pt.dscalar("x")
    value = ifelse(x > 0, x, Assert("never")(x * 2, pt.eq(x, 7.0)))
    f = pytensor.function([x], value, mode="SYMC")
    assert f(3.0) == 3.0


def test_functions_of_graphs_are_inlined() -> None:
    x = pt.dvector("x")
    inner = OpFromGraph([x], [pt.exp(x).sum(), x * 2])
    a, b = inner(x + 1)
    compare([x], [a * b, pytensor.grad(a, x)], [X])


def test_a_loop_that_draws() -> None:
    """AR and its like: each step draws, and the generator's state goes on."""
    x = pt.dscalar("x")

    def step(s: Any, rng: Any) -> Any:
        rng, noise = pt.random.normal(s, 1.0, rng=rng, return_next_rng=True)
        return noise, rng

    def drawn(mode: str) -> list[float]:
        rng = pytensor.shared(np.random.default_rng(5))
        walk, last = scan(step, outputs_info=[x, rng], n_steps=4)
        f = pytensor.function([x], walk, updates={rng: last}, mode=mode)
        return [*f(0.0), *f(0.0)]

    found = drawn("SYMC")
    np.testing.assert_allclose(found, drawn("FAST_COMPILE"))
    assert len(set(found)) == 8
