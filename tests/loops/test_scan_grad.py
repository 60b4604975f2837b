"""Derivatives of loops: against differences, loops written out, and of every order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import DisconnectedInput
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.scan import Scan
from tests.ops.harness import check

RNG = np.random.default_rng(7)


def r(*shape: int) -> Any:
    return RNG.standard_normal(shape) * 0.5


def values(inputs: Sequence[Tensor], outputs: Any, *arrays: Any) -> Any:
    function = symc.function(list(inputs), outputs, mode="python", on_unused_input="ignore")
    return function(*arrays)


# --- against differences: reverse, forward, second order, Jacobians -------------------------------


def rnn(x: Tensor, w: Tensor, start: Tensor, **options: Any) -> Any:
    return symc.scan(lambda x, h: T.tanh(T.dot(h, w) + x), x, start, **options)[0]


def taps(x: Tensor, w: Tensor, start: Tensor) -> Any:
    return symc.scan(
        lambda x0, x2, y3, y1, w: T.sin(y3 * w + y1) * x0 + x2,
        {"input": x, "taps": [0, 2]},
        {"initial": start, "taps": [-3, -1]},
        w,
    )[0]


def ends(x: Tensor, w: Tensor, start: Tensor) -> Any:
    h = rnn(x, w, start)
    return (h[-1, 1:] ** 2).sum() + h[:-1].sum() * h[-1].sum()


def several(x: Tensor, h0: Tensor, c0: Tensor) -> Any:
    (h, c, o), _ = symc.scan(
        lambda x, h, c: (T.tanh(x * c + h), T.sin(c + h), x * h),
        x,
        [h0, c0, None],
        go_backwards=True,
        n_steps=3,
    )
    return [h, c[-1] * o.sum()]


def until(x: Tensor) -> Any:
    return symc.scan(
        lambda y, x: (y * x + x, symc.until(y * x > 1)),
        outputs_info=T.ones_like(x),
        non_sequences=x,
        n_steps=10,
    )[0]


def nested(x: Tensor, w: Tensor) -> Any:
    def row(row: Tensor, h: Tensor) -> Tensor:
        last: Tensor
        last, _ = symc.reduce(lambda a, h: T.tanh(T.dot(h, w) + a), row, h)
        return last

    return symc.scan(row, x, T.zeros((2,)))[0]


def unequal_kinds(x: Tensor) -> Any:
    (count, y), _ = symc.scan(
        lambda x, count, y: (count + T.gt(x, 0), y * x + count), x, [0, T.ones(())]
    )
    return y * count


def shift_register(x: Tensor) -> Any:
    (a, b, c), _ = symc.scan(lambda x, a, b, c: (x, a, b * c), x, [x[0], x[1], x[2]])
    return [a * b, c]


def newton(x: Tensor) -> Any:
    return symc.while_loop(lambda y: abs(y * y - x) > 1e-10, lambda y: (y + x / y) / 2, x + 1)


def newton_in_each_step(x: Tensor, start: Tensor) -> Any:
    def step(x: Tensor) -> Any:
        return symc.while_loop(
            lambda y: abs(y * y - x) > 1e-10, lambda y: (y + x / y) / 2, start.sum()
        )

    return symc.map(step, x)[0]


def growth_in_each_step(x: Tensor, w: Tensor) -> Any:
    """How many steps there are at most was known outside: the gradient wanted 2**63 rows."""
    return symc.map(lambda row: symc.while_loop(lambda y: y < 9, lambda y: y * w + row, 1.5), x)[0]


def counted(x: Tensor) -> Any:
    return symc.fori_loop(0, 4, lambda i, y: T.sin(y * x) + i * x, x)


@pytest.mark.parametrize(
    ("build", "arrays"),
    [
        (rnn, [r(4, 3), r(3, 3), r(3)]),
        (lambda x, w, s: rnn(x, w, s)[-1], [r(4, 3), r(3, 3), r(3)]),
        (lambda x, w, s: rnn(x, w, s, checkpoint=2), [r(5, 2), r(2, 2), r(2)]),
        (taps, [r(6), r(), r(3)]),
        (lambda x, w, s: taps(x, w, s)[-1], [r(6), r(), r(3)]),
        (ends, [r(4, 3), r(3, 3), r(3)]),
        (several, [r(4, 2), r(2), r(2)]),
        (until, [np.array(0.7)]),
        (until, [np.array(1.7)]),
        (nested, [r(3, 2), r(2, 2)]),
        (unequal_kinds, [r(5)]),
        (shift_register, [r(4)]),
        (newton, [np.array(2.7)]),
        (newton_in_each_step, [np.array([1.3, 2.7]), np.array([1.5])]),
        (growth_in_each_step, [np.array([1.3, 0.7]), np.array(1.4)]),
        (counted, [np.array(0.6)]),
    ],
)
def test_derivatives(build: Callable[..., Any], arrays: list[Any]) -> None:
    check(build, *arrays, compiled=False)


# --- against loops written out --------------------------------------------------------------------


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
@pytest.mark.parametrize("go_backwards", [False, True])
def test_as_written_out(steps: int, go_backwards: bool) -> None:
    n = T.lscalar("n")
    x, w, start = T.matrix("x"), T.matrix("w"), T.matrix("start")

    def step(x1: Tensor, x0: Tensor, a2: Tensor, a1: Tensor, w: Tensor) -> Any:
        return T.tanh(T.dot(a2, w) + x1 * a1), T.exp(x0 * a2)

    (a, b), _ = symc.scan(
        step,
        {"input": x, "taps": [1, 0]},
        [{"initial": start, "taps": [-2, -1]}, None],
        w,
        n_steps=n,
        go_backwards=go_backwards,
    )
    rows, others = [start[0], start[1]], []
    for t in range(steps):
        at = (-1 - t, -2 - t) if go_backwards else (t + 1, t)
        new, other = step(x[at[0]], x[at[1]], rows[-2], rows[-1], w)
        rows.append(new)
        others.append(other)
    weights = r(5)
    cost = (a.sum(axis=1) * weights[:steps]).sum() + (b.sum(axis=1) * weights[:steps]).sum()
    same = T.zeros(()) * x.sum() * w.sum() * start.sum()
    for t in range(steps):
        same = same + (rows[t + 2].sum() + others[t].sum()) * weights[t]
    inputs = [x, w, start]
    arrays = [r(6, 2), r(2, 2), r(2, 2)]
    found = values([*inputs, n], symc.grad(cost, inputs, disconnected="zero"), *arrays, steps)
    wanted = values(inputs, symc.grad(same, inputs), *arrays)
    for value, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, other, atol=1e-14)


@pytest.mark.parametrize("every", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("go_backwards", [False, True])
def test_checkpoints_change_no_value(every: int, go_backwards: bool) -> None:
    x, w, start = T.matrix("x"), T.matrix("w"), T.matrix("start")

    def gradients(**options: Any) -> list[Tensor]:
        (h, o), _ = symc.scan(
            lambda x, y, g, h: (T.tanh(T.dot(h, w) + x * y + g), h * x),
            {"input": x, "taps": [0, 1]},
            [{"initial": start, "taps": [-2, -1]}, None],
            go_backwards=go_backwards,
            **options,
        )
        cost = (h[-1] * h[1]).sum() + o.sum()
        return [h, o, *symc.grad(cost, [x, w, start])]

    arrays = [r(6, 2), r(2, 2), r(2, 2)]
    found = values([x, w, start], gradients(checkpoint=every), *arrays)
    wanted = values([x, w, start], gradients(), *arrays)
    for value, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, other, atol=1e-14)


@pytest.mark.parametrize("kept", [1, 2, 4, 9])
def test_truncated_gradients_go_through_the_last_steps(kept: int) -> None:
    """Theano #4652: rewriting moved a dot out of the loop, past the steps left out."""
    x, w, start = T.matrix("x"), T.matrix("w"), T.vector("start")
    h = rnn(x, w, start, truncate_gradient=kept)
    inputs, arrays = [x, w, start], [r(4, 2), r(2, 2), r(2)]
    found = values(inputs, symc.grad((h**2).sum(), inputs), *arrays)
    rows = [start]
    for t in range(4):
        before = (
            rows[-1] if t != max(4 - kept, 0) or kept >= 4 else symc.disconnected_grad(rows[-1])
        )
        rows.append(T.tanh(T.dot(before, w) + x[t]))
    last = [(row**2).sum() for row in rows[1:][-kept:]]
    gradients = symc.grad(reduce(add, last), inputs, disconnected="zero")
    wanted = values(inputs, gradients, *arrays)
    for value, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, other, atol=1e-14)


def test_inner_loops_of_different_lengths() -> None:
    """The gradient of their initial value had a length that only a step could know."""
    k, start, w = T.lvector("k"), T.vector("start"), T.scalar("w")

    def last(k: Tensor) -> Any:
        h, _ = symc.scan(lambda h: h * w + 1, outputs_info=start, n_steps=k)
        return T.concatenate([start[None], h])[-1]

    result, _ = symc.map(last, k)
    rows = [start, start * w + 1, (start * w + 1) * w + 1]
    first = [symc.grad((T.sqr(r)).sum(), [start, w]) for r in (result, T.stack(rows))]
    second = [symc.grad(T.sqr(a).sum() + T.sqr(b), [start, w]) for a, b in first]
    found = values([k, start, w], [*first[0], *second[0]], [0, 1, 2], [1.0, 2.0], 1.5)
    wanted = values([start, w], [*first[1], *second[1]], [1.0, 2.0], 1.5)
    for value, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-14)


# --- branches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("s", [0.0, 1.0])
@pytest.mark.parametrize("first", [-1.0, 0.5])
def test_what_several_branches_use_gets_its_gradient_once(first: float, s: float) -> None:
    """A value outside of branches and its own argument are both arguments of them."""
    x, threshold = T.vector("x"), T.scalar("threshold")

    def cost(choose: Callable[..., Any]) -> Any:
        half = x * 0.5
        one = choose(x.sum() > 0, T.sin(half), half + x[0])
        other = choose(threshold > 0.2, T.cos(half), half + x[2])
        return (one * one).sum() + other.sum()

    gradients = [symc.grad(cost(choose), x) for choose in (symc.ifelse, T.where)]
    found, wanted = values([x, threshold], gradients, [first, 0.3, 0.2], s)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


# --- values without a gradient ---
# ----------------------------------------------------------------------


def test_nothing_flows_through_integers_and_the_number_of_steps() -> None:
    n, x = T.scalar("n"), T.vector("x")
    count, _ = symc.scan(lambda count: count + 1, outputs_info=0, n_steps=T.cast(n, "int64"))
    with pytest.raises(DisconnectedInput):
        symc.grad((count * x.sum()).sum(), x * 2)
    gradient = symc.grad((count * x.sum()).sum(), n, disconnected="zero")
    assert values([n, x], gradient, 3.0, [1.0]) == 0.0


def test_a_sequence_that_only_decides_the_number_of_steps_has_a_gradient_of_zeros() -> None:
    x, y = T.vector("x"), T.vector("y")
    result, _ = symc.scan(lambda x, y: x * 2, [x, y])
    np.testing.assert_array_equal(values([x, y], symc.grad(result.sum(), y), r(3), r(4)), 4 * [0.0])
    with pytest.raises(DisconnectedInput):
        symc.grad(result.sum(), T.vector("z"))


def test_the_gradient_of_the_last_row_needs_no_row_of_zeros_for_each_step() -> None:
    x, w, start = T.matrix("x"), T.matrix("w"), T.vector("start")
    gradient = symc.grad((rnn(x, w, start)[-1] ** 2).sum(), w)
    assert not any(node.op.label == "set_subtensor" for node in walk([gradient]))


def test_one_loop_backwards_for_all_results() -> None:
    x, h0, c0 = T.matrix("x"), T.vector("h0"), T.vector("c0")
    outputs = several(x, h0, c0)
    cost = outputs[0].sum() + outputs[1].sum()
    nodes = walk(symc.grad(cost, [x, h0, c0]))
    loops = {(node.op.body, node.args) for node in nodes if isinstance(node.op, Scan)}
    assert len(loops) == 2


def test_hessian_of_a_loop() -> None:
    x = T.vector("x")
    result, _ = symc.reduce(lambda row, total: total * row + row**2, x, 1.0)
    found = values([x], symc.hessian(result, x), [2.0, 3.0, 5.0])
    # x0 x1 x2 + x0^2 x1 x2 + x1^2 x2 + x2^2
    np.testing.assert_allclose(found, [[30.0, 25.0, 15.0], [25.0, 10.0, 12.0], [15.0, 12.0, 2.0]])


# --- compiled -------------------------------------------------------------------------------------


def lstm(x: Tensor, w: Tensor, u: Tensor) -> Any:
    def step(x: Tensor, h: Tensor, c: Tensor) -> Any:
        z = T.dot(x, w) + T.dot(h, u)
        c = T.sigmoid(z[:, :2]) * c + T.tanh(z[:, 2:4])
        return T.sigmoid(z[:, 4:]) * T.tanh(c), c

    start = T.zeros((x.shape[1], 2))
    return symc.scan(step, x, [start, start])[0][0]


@pytest.mark.parametrize(
    ("build", "arrays"),
    [
        (lstm, [r(4, 3, 2), r(2, 6), r(2, 6)]),
        (lambda x, w, s: rnn(x, w, s, checkpoint=2), [r(5, 2), r(2, 2), r(2)]),
        (lambda x, w, s: rnn(x, w, s, truncate_gradient=2), [r(5, 2), r(2, 2), r(2)]),
        (taps, [r(6), r(), r(3)]),
        (nested, [r(3, 2), r(2, 2)]),
        (newton, [np.array(2.7)]),
    ],
)
def test_compiled_gradients(build: Callable[..., Any], arrays: list[Any]) -> None:
    inputs = [T.tensor("float64", (None,) * np.ndim(array)) for array in arrays]
    output = build(*inputs)
    gradients = symc.grad((output**2).sum(), inputs)
    wanted = values(inputs, [output, *gradients], *arrays)
    found = symc.function(inputs, [output, *gradients])(*arrays)
    for value, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-12, atol=1e-13)


def test_complex_states() -> None:
    z, w = T.tensor("complex128", (3,), name="z"), T.tensor("complex128", (), name="w")
    h, _ = symc.scan(lambda z, h: T.sin(h * w) + z * z, z, 1)
    rows = [T.ones((), dtype="complex128")]
    for t in range(3):
        rows.append(T.sin(rows[-1] * w) + z[t] * z[t])
    costs = [abs(last) ** 2 for last in (h[-1], rows[-1])]
    gradients = [bar for cost in costs for bar in symc.grad(cost, [z, w])]
    given = np.array([0.3 + 0.2j, 0.1 - 0.4j, 0.5j]), np.complex128(0.7 + 0.1j)
    found = values([z, w], gradients, *given)
    for value, other in zip(found[:2], found[2:], strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-14)


def test_nested_loops_of_declared_lengths_over_a_history_of_so_many_steps() -> None:
    """The length of a history follows from the steps; a loop around the inner one did not know."""
    v, k, s = T.vector("v", shape=(4,)), T.lscalar("k"), T.dscalar("s")

    def inner(j: Any, x: Any) -> Any:
        rows, _ = symc.scan(lambda i, x: x[k % 4].set(T.tanh(x[-1]) * 0.7 + s / 2), T.arange(k), x)
        return T.concatenate([x[None], rows])[-1]

    out = symc.fori_loop(0, 2, lambda i, x: symc.fori_loop(0, k + 1, inner, x), v)
    found = symc.grad(T.sin(out).sum(), [v, s])
    f = symc.function([v, k, s], found)
    eager = symc.function([v, k, s], found, mode="python")
    for count in (-1, 0, 1, 3):
        for got, want in zip(f(np.ones(4), count, 0.5), eager(np.ones(4), count, 0.5), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)
