"""Improved loops: fewer products inside, fewer rows kept, the same values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.improve import improve_loops
from symc.loops.outline import outline
from symc.loops.scan import Part, Scan
from symc.tensor.matrix_product import MatMul, MatVec

RNG = np.random.default_rng(11)


def r(*shape: int) -> Any:
    return RNG.standard_normal(shape) * 0.5


def improved(inputs: Sequence[Tensor], roots: Sequence[Tensor], *arrays: Any) -> list[Tensor]:
    """The improved roots, which have the same values."""
    values = dict(zip(inputs, arrays, strict=True))
    after = improve_loops(roots, exact=False)
    for old, new in zip(evaluate(roots, values), evaluate(after, values), strict=True):
        assert old.dtype == new.dtype
        np.testing.assert_allclose(new, old, rtol=1e-12, atol=1e-13)
    return after


def loops(roots: Sequence[Tensor]) -> list[Scan]:
    """One op for each loop of a graph."""
    found = {(node.op.common(), node.args): node.op for node in walk(roots) if is_scan(node)}
    return [op for op in found.values() if isinstance(op, Scan)]


def is_scan(node: Tensor) -> bool:
    return isinstance(node.op, Scan)


def parts(roots: Sequence[Tensor]) -> set[Part]:
    return {node.op.part for node in walk(roots) if isinstance(node.op, Scan)}


def products(op: Scan) -> int:
    return count(op.body.results)


def count(roots: Sequence[Tensor]) -> int:
    return sum(isinstance(node.op, MatMul | MatVec) for node in walk(roots))


def rnn(x: Tensor, w: Tensor, u: Tensor, **options: Any) -> Tensor:
    rows: Tensor
    start = T.zeros_like(T.dot(x[0], w))
    rows, _ = symc.scan(lambda x, h: T.tanh(T.dot(x, w) + T.dot(h, u)), x, start, **options)
    return rows


# --- products -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(6, 3), (6, 4, 3)])
@pytest.mark.parametrize("go_backwards", [False, True])
def test_products_of_inputs_and_of_gradients_leave_the_loop(
    shape: tuple[int, ...], go_backwards: bool
) -> None:
    x, w, u = T.tensor("float64", (None,) * len(shape), name="x"), T.matrix("w"), T.matrix("u")
    cost = (rnn(x, w, u, go_backwards=go_backwards) ** 2).sum()
    after = improved([x, w, u], symc.grad(cost, [x, w, u]), r(*shape), r(3, 2), r(2, 2))
    # Forwards there remains h @ u, backwards its gradient for h; x @ w is kept between them.
    assert sorted(map(products, loops(after))) == [1, 1]


def test_products_of_different_taps_and_directions() -> None:
    x, y, w = T.matrix("x"), T.matrix("y"), T.matrix("w")
    rows, _ = symc.scan(
        lambda x0, x2, y: T.dot(T.exp(x0 - x2), w) * T.dot(y, w),
        [{"input": x, "taps": [0, -2]}, y],
        n_steps=3,
        go_backwards=True,
    )
    after = improved([x, y, w], [rows], r(6, 2), r(4, 2), r(2, 2))
    assert [products(op) for op in loops(after)] == [0]


def test_a_product_that_no_step_reads_is_computed_after_the_loop() -> None:
    x, w = T.matrix("x"), T.matrix("w")
    (_, y, z), _ = symc.scan(
        lambda x, h: (h + x, T.dot(h * x, w), T.exp(T.dot(h, w))),
        x,
        [T.zeros_like(x[0]), None, None],
    )
    after = improved([x, w], [y, z], r(4, 2), r(2, 2))
    assert [products(op) for op in loops(after)] == [1]


def test_a_branch_that_leaves_a_loop_with_a_product_is_still_one() -> None:
    x, w, flag = T.matrix("x"), T.matrix("w"), T.scalar("flag")
    rows, _ = symc.map(lambda row: T.dot(symc.ifelse(flag > 0, row * 2, T.sin(row)), w), x)
    arrays = r(3, 2), r(2, 2), np.array(1.0)
    roots = improved([x, w, flag], outline([rows]), *arrays)
    assert not any(node.op.is_lazy for node in walk(roots))
    assert not any(map(is_scan, walk(roots)))
    found = symc.function([x, w, flag], rows)(*arrays)
    np.testing.assert_allclose(found, arrays[0] * 2 @ arrays[1], rtol=1e-12)


def test_a_product_that_may_fail_in_a_step_stays() -> None:
    """Its condition belongs to the step: outside, nothing would check the index."""
    x, w, i = T.matrix("x"), T.matrix("w"), T.lvector("i")
    rows, _ = symc.scan(lambda i: T.exp(T.dot(x[i], w)), i)
    after = improved([x, w, i], [rows], r(4, 2), r(2, 2), np.array([1, 3]))
    assert [products(op) for op in loops(after)] == [1]


def test_nothing_leaves_a_loop_that_may_end_early() -> None:
    x, w = T.matrix("x"), T.matrix("w")
    rows, _ = symc.scan(lambda x: (T.dot(x, w), symc.until(x[0] > 0)), x)
    given = np.array([[-1.0, 2.0], [1.0, 2.0], [1.0, 0.5]])
    after = improved([x, w], [rows], given, r(2, 2))
    assert [products(op) for op in loops(after)] == [1]


def test_truncated_gradients_stay_truncated() -> None:
    """Theano #4652: pushing the dot out of the loop ignored truncate_gradient."""
    x, w, u = T.matrix("x"), T.matrix("w"), T.matrix("u")
    cost = (rnn(x, w, u, truncate_gradient=2) ** 2).sum()
    improved([x, w, u], symc.grad(cost, [x, w, u]), r(5, 3), r(3, 2), r(2, 2))


def test_loops_within_loops_are_improved() -> None:
    x, w, u = T.tensor3("x"), T.matrix("w"), T.matrix("u")
    rows, _ = symc.map(lambda x: rnn(x, w, u)[-1], x)
    after = improved([x, w, u], [rows], r(2, 3, 3), r(3, 2), r(2, 2))
    inner = [op for outer in loops(after) for op in loops(outer.body.results)]
    assert list(map(products, inner)) == [1]


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_sums_that_a_user_writes(steps: int) -> None:
    x, y = T.tensor3("x"), T.tensor3("y")
    start = T.ones((2, 2))
    (total, other), _ = symc.reduce(
        lambda x, y, total, other: (
            total + T.dot(x, y) + T.dot(x.T, y.T) + T.exp(x),
            other * 0.5 + x,
        ),
        [x, y],
        [start, start],
    )
    after = improved([x, y], [total, other], r(steps, 2, 2), r(steps, 2, 2))
    assert [products(op) for op in loops(after)] == [0]


def test_a_sum_whose_course_is_wanted_stays() -> None:
    x, y = T.tensor3("x"), T.tensor3("y")
    totals, _ = symc.scan(lambda x, y, t: t + T.dot(x, y), [x, y], T.zeros((2, 2)))
    improved([x, y], [totals.sum(), totals[-1]], r(3, 2, 2), r(3, 2, 2))


# --- rows and loops -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "kinds"),
    [
        (lambda y: y[-1], {"final"}),
        (lambda y: y[-1, 1:], {"final"}),
        (lambda y: y[0], {"history"}),
        (lambda y: y[-2:], {"history"}),
        (lambda y: y[-1] + y[0], {"history", "final"}),
    ],
)
def test_only_the_last_row_is_kept(last: Callable[[Tensor], Tensor], kinds: set[str]) -> None:
    x = T.matrix("x")
    y, _ = symc.scan(lambda x, y: T.sin(x + y), x, T.zeros_like(x[0]))
    after = improved([x], [last(y)], r(4, 3))
    assert {part.kind for part in parts(after)} == kinds


@pytest.mark.parametrize("row", [-1, 6])
def test_only_the_last_row_of_a_known_number_of_steps_is_kept(row: int) -> None:
    x = T.vector("x")
    y, _ = symc.scan(lambda y: y * 2 + 1, outputs_info=x, n_steps=7)
    roots = [y[row], symc.grad(y[row].sum(), x)]
    after = improved([x], roots, r(3))
    assert {part.kind for part in parts(after)} == {"final"}
    assert {node.type.shape[0] for node in walk(after) if node.ndim == 2} == {1}


def test_only_the_last_row_of_a_loop_that_ends_early_is_kept() -> None:
    x = T.scalar("x")
    y, _ = symc.scan(lambda y: (y * x, symc.until(y > 50)), outputs_info=1.0, n_steps=100)
    after = improved([x], [y[-1]], np.array(2.0))
    assert {part.kind for part in parts(after)} == {"final"}


def test_states_and_sequences_that_nothing_needs_are_left_out() -> None:
    x, y = T.vector("x"), T.vector("y")
    (a, _, _), _ = symc.scan(
        lambda x, y, a, b: (a + x, b * y, x * y), [x, y], [T.zeros(()), T.ones(()), None]
    )
    (loop,) = loops(improved([x, y], [a], r(4), r(4)))
    layout = loop.layout
    assert (len(layout.sequences), len(layout.states), layout.collected) == (1, 1, 0)


def test_values_and_gradients_are_one_loop_forwards() -> None:
    x, u = T.matrix("x"), T.matrix("u")
    rows, _ = symc.scan(lambda x, h: x * T.sin(T.dot(h, u)), x, T.ones_like(x[0]))
    roots = [rows, symc.grad((rows**2).sum(), u)]
    after = improved([x, u], roots, r(4, 2), r(2, 2))
    assert len(loops(roots)) == 3
    assert len(loops(after)) == 2


def test_exact_improvements_move_no_product() -> None:
    x, w, u = T.matrix("x"), T.matrix("w"), T.matrix("u")
    before = rnn(x, w, u)[-1]
    (after,) = improve_loops([before], exact=True)
    assert Counter(map(products, loops([before]))) == Counter(map(products, loops([after])))
    assert {part.kind for part in parts([after])} == {"final"}


@pytest.mark.parametrize("outer", [False, True])
@pytest.mark.parametrize("inner", [False, True])
def test_a_map_of_maps_whose_product_left_both_is_not_a_loop_of_copies(
    outer: bool, inner: bool
) -> None:
    a, c = T.tensor3("a"), T.matrix("c")

    def rows(a: Tensor) -> Tensor:
        products: Tensor = symc.map(lambda row: row @ c, a, go_backwards=inner)[0]
        return products

    found, _ = symc.map(rows, a, go_backwards=outer)
    after = improved([a, c], [found], r(4, 5, 3), r(3, 2))
    assert inner or not loops(after)
    for n in (0, 1, 2):
        improved([a, c], [found], r(n, 5, 3), r(3, 2))
        improved([a, c], [found], r(4, n, 3), r(3, 2))


def test_a_loop_that_gives_whole_rows_is_its_sequence_as_far_as_it_goes() -> None:
    x, n = T.matrix("x"), T.scalar("n", dtype="int64")
    found, _ = symc.scan(lambda row: (row[:], row[:][:]), x, n_steps=n)
    given = r(5, 3)
    for steps in (1, 3, 5):
        assert not loops(improved([x, n], found, given, np.int64(steps)))
    f = symc.function([x, n], found)
    for steps in (0, 1, 3, 5):
        for each in f(given, steps):
            np.testing.assert_array_equal(each, given[:steps])
    with pytest.raises(ValueError, match="5"):
        f(given, 6)


def test_a_loop_that_may_stop_gives_the_rows_of_its_steps() -> None:
    x = T.matrix("x")
    found, _ = symc.scan(lambda row: (row[:], symc.until(row.sum() > 2)), x)
    assert loops(improved([x], [found], np.eye(4) * 3))
    np.testing.assert_array_equal(symc.function([x], found)(np.eye(4) * 3), np.eye(4)[:1] * 3)


@pytest.mark.parametrize("given", ["states", "rows"])
def test_a_matrix_of_each_step_is_not_kept_for_a_vector_made_of_it(given: str) -> None:
    """All states of a fast weight memory were stored and read again: 8 times the time, and steps
    times the memory. Rows of a sequence are there: one product of all comes after the loop."""
    q, k, matrices = T.dmatrix("q"), T.dmatrix("k"), T.dtensor3("m")

    def step(q: Any, k: Any, m: Any, s: Any) -> Any:
        s = s + k[:, None] * q[None, :]
        return q @ (s if given == "states" else m), s

    start = T.zeros((k.shape[1], k.shape[1]))
    (out, last), _ = symc.scan(step, sequences=[q, k, matrices], outputs_info=[None, start])
    f = symc.function([q, k, matrices], [out, last[-1]], on_unused_input="ignore")
    assert not re.search(r"temp \w+: float64\[\w+, \w+, \w+\]", f.program), f.program
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 3, 3))
    state, wanted = np.zeros((3, 3)), []
    for t in range(5):
        state = state + b[t][:, None] * a[t][None, :]
        wanted.append(a[t] @ (state if given == "states" else c[t]))
    found = f(a, b, c)
    np.testing.assert_allclose(found[0], wanted)
    np.testing.assert_allclose(found[1], state)
