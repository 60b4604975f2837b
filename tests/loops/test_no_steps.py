"""Loops of no steps: what their steps alone need does not fail before them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import repeated_kernels
from symc.codegen.ir import Call, Stmt
from symc.codegen.passes.walk import expressions, nodes, statements
from symc.errors import BadIndex, ShapeMismatch

X, Y, A = T.vector("X"), T.vector("Y"), T.matrix("A")
K, N = T.lscalar("K"), T.lscalar("N")
THREE, FOUR, SQUARE = np.ones(3), np.ones(4), -np.eye(3)

INVARIANT: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "an index out of bounds": (lambda: X[K], BadIndex),
    "what follows from it": (lambda: T.exp(X[K]) * 2, BadIndex),
    "a row out of bounds": (lambda: A[K].sum(), BadIndex),
    "indexes out of bounds": (lambda: X[T.stack([K, K + 1])].sum(), BadIndex),
    "lengths that differ": (lambda: (X + Y).sum(), ShapeMismatch),
    "lengths of a slice": (lambda: (X[: K - 2] + Y[:2]).sum(), ShapeMismatch),
    "a shape of other size": (lambda: X.reshape((K, 2)).sum(), ShapeMismatch),
    "a negative length": (lambda: T.zeros(-K).sum(), ShapeMismatch),
    "a maximum of nothing": (lambda: X[5:].max(), ValueError),
    "a matrix that is not definite": (lambda: T.linalg.cholesky(A).sum(), np.linalg.LinAlgError),
    "a matrix that is singular": (
        lambda: T.linalg.solve(A + T.eye(3), X).sum(), np.linalg.LinAlgError
    ),
}  # fmt: skip
MODES = ("default", "python")


def compiled(out: Any, mode: str) -> Callable[[int], Any]:
    """A function of the number of steps."""
    f = symc.function([X, Y, A, K, N], out, mode=mode, on_unused_input="ignore")
    return lambda steps: f(THREE, FOUR, SQUARE, 5, steps)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", INVARIANT)
def test_errors_of_what_does_not_change_come_with_the_first_step(name: str, mode: str) -> None:
    value, error = INVARIANT[name]
    total = symc.fori_loop(0, N, lambda i, total: total + value() * i, 0.5)
    f = compiled(total, mode)
    assert f(0) == 0.5
    assert f(-1) == 0.5
    with pytest.raises(error) as wanted:
        compiled(value(), mode)(0)
    with pytest.raises(error) as raised:
        f(1)
    assert str(raised.value).splitlines()[0] == str(wanted.value).splitlines()[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["what follows from it", "a matrix that is not definite"])
def test_gradients_of_loops_of_no_steps_do_not_fail(name: str, mode: str) -> None:
    value, error = INVARIANT[name]
    total = symc.fori_loop(0, N, lambda i, total: total + value() * X[0], X[0])
    f = compiled(symc.grad(total, [X, A], disconnected="zero"), mode)
    gradient = f(0)
    assert np.array_equal(gradient[0], [1, 0, 0])
    assert not gradient[1].any()
    with pytest.raises(error):
        f(1)


@pytest.mark.parametrize("mode", MODES)
def test_inner_loops_of_no_steps_do_not_fail(mode: str) -> None:
    def row(i: Any, total: Any) -> Any:
        return symc.fori_loop(0, i, lambda j, t: t + X[K + i] * j, total)

    f = symc.function([X, K, N], symc.fori_loop(0, N, row, 0.0), mode=mode)
    assert f(THREE, 3, 1) == 0.0
    with pytest.raises(BadIndex, match="index 4 is out of bounds"):
        f(THREE, 3, 2)


@pytest.mark.parametrize("mode", MODES)
def test_a_hoisted_loop_of_no_steps_does_not_fail(mode: str) -> None:
    inner = symc.fori_loop(0, 4, lambda j, t: t + X[j], 0.0)
    f = compiled(symc.fori_loop(0, N, lambda i, t: t + inner, 0.0), mode)
    assert f(0) == 0.0
    with pytest.raises(BadIndex, match="index 3 is out of bounds"):
        f(2)


@pytest.mark.parametrize("mode", MODES)
def test_a_while_loop_that_does_not_begin_does_not_fail(mode: str) -> None:
    total = symc.while_loop(lambda i, t: T.lt(i, N), lambda i, t: [i + 1, t + X[K]], [0, 0.0])[1]
    for out in (total, symc.grad(total, X)):
        f = compiled(out, mode)
        assert not f(0).any()
        with pytest.raises(BadIndex):
            f(1)


@pytest.mark.parametrize("mode", MODES)
def test_a_scan_over_no_rows_does_not_fail(mode: str) -> None:
    rows, _ = symc.scan(lambda row, before: before + row * X[K], A, T.zeros(3))
    f = symc.function([X, A, K], rows, mode=mode)
    assert f(THREE, np.ones((0, 3)), 5).shape == (0, 3)
    with pytest.raises(BadIndex):
        f(THREE, SQUARE, 5)


@pytest.mark.parametrize("mode", MODES)
def test_numbers_that_follow_from_an_element_do_not_fail_before_the_first_step(mode: str) -> None:
    """As lengths they are known as ``-1 * P[K]``, which was computed before the loop."""
    places = T.lvector("places")
    last = symc.fori_loop(0, N, lambda _, x: x[-places[K]].set(2.0)[1 - places[K]].set(3.0), X)
    f = symc.function([X, places, K, N], last, mode=mode)
    assert f(THREE, [1, 2], 5, 0).tolist() == [1.0, 1.0, 1.0]
    assert f(THREE, [1, 2], 1, 1).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(BadIndex):
        f(THREE, [1, 2], 5, 1)


@pytest.mark.parametrize("mode", MODES)
def test_what_two_loops_need_does_not_fail_before_the_first_step_of_either(mode: str) -> None:
    """It was computed before both, in programs without branches."""
    one = symc.fori_loop(0, N, lambda _, x: x + X[K], X)
    other = symc.fori_loop(0, N - 1, lambda _, x: x * X[K], X)
    f = symc.function([X, K, N], [one, other], mode=mode)
    assert [found.tolist() for found in f(THREE, 5, 0)] == [[1.0] * 3] * 2
    assert [found.tolist() for found in f(THREE, 1, 2)] == [[3.0] * 3, [1.0] * 3]
    with pytest.raises(BadIndex):
        f(THREE, 5, 1)


@pytest.mark.parametrize("mode", MODES)
def test_what_others_need_as_well_fails(mode: str) -> None:
    element = X[K]
    total = symc.fori_loop(0, N, lambda i, t: t + element, 0.0)
    with pytest.raises(BadIndex):
        compiled([total, element], mode)(0)


def test_elements_of_the_steps_around_are_read_without_a_branch() -> None:
    def row(i: Any, total: Any) -> Any:
        return symc.fori_loop(0, Y.shape[0], lambda j, t: t + X[i] * Y[j], total)

    f = symc.function([X, Y], symc.fori_loop(0, X.shape[0], row, 0.0))
    assert f(THREE, FOUR) == 12.0
    assert not re.search(r"\bbranch\b", f.source)


@pytest.mark.parametrize("mode", MODES)
def test_a_length_that_an_element_says_is_known_before_the_loop(mode: str) -> None:
    rows, lengths = T.matrix("rows"), T.lvector("lengths")
    halves = T.ones(lengths[1]) / 2
    sums, _ = symc.scan(
        lambda row, half: row.sum() + half.sum(), sequences=rows, non_sequences=[halves]
    )
    f = symc.function([rows, lengths], sums, mode=mode)
    np.testing.assert_array_equal(f(np.ones((2, 3)), [9, 4]), [5.0, 5.0])
    assert f(np.ones((0, 3)), [9, 4]).shape == (0,)
    with pytest.raises(BadIndex):
        f(np.ones((2, 3)), [9])


@pytest.mark.parametrize("mode", MODES)
def test_lengths_of_both_sides_of_a_branch_that_elements_say(mode: str) -> None:
    first, lengths = T.iscalar("first"), T.lvector("lengths")
    y = symc.ifelse(first, T.zeros(lengths[0]), T.ones(lengths[1]))
    f = symc.function([first, lengths], y, mode=mode)
    np.testing.assert_array_equal(f(1, [2, 2]), [0.0, 0.0])
    np.testing.assert_array_equal(f(0, [2, 2]), [1.0, 1.0])
    with pytest.raises(ShapeMismatch, match="of the values of an ifelse is 2 and 3"):
        f(1, [2, 3])


TURNS: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "a branch": lambda step, t: symc.ifelse(T.gt(N, 0), step(t), t),
    "a loop": lambda step, t: symc.fori_loop(0, N, lambda j, t: step(t), t),
    "a while loop": lambda step, t: symc.while_loop(
        lambda j, t: T.lt(j, N), lambda j, t: [j + 1, step(t)], [0, t]
    )[1],
    "a branch on the state": lambda step, t: symc.ifelse(T.gt(t * N, 0), step(t), t),
    "a branch around a loop": lambda step, t: symc.ifelse(
        T.gt(N, 0), symc.fori_loop(0, 3, lambda j, t: step(t), t), t
    ),
    "a loop in a loop": lambda step, t: symc.fori_loop(
        0, 2, lambda j, t: symc.fori_loop(0, N, lambda j, t: step(t), t), t
    ),
    "a branch in a loop": lambda step, t: symc.fori_loop(
        0, T.where(N > 0, 1, 0), lambda j, t: symc.ifelse(T.gt(N, 0), step(t), t), t
    ),
    "the other side": lambda step, t: symc.ifelse(
        T.le(N, 0), t, symc.fori_loop(0, N, lambda j, t: step(t), t)
    ),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("steps", ["known", "not known"])
@pytest.mark.parametrize("name", ["what follows from it", "a matrix that is not definite"])
@pytest.mark.parametrize("turn", TURNS)
def test_what_no_step_needs_does_not_fail(turn: str, name: str, steps: str, mode: str) -> None:
    """It does not change, so it was computed before the outer loop."""
    value, error = INVARIANT[name]

    def step(i: Any, t: Any) -> Any:
        return TURNS[turn](lambda t: t + value(), t)

    count = 3 if steps == "known" else X.shape[0]
    total = symc.fori_loop(0, count, step, 0.5)
    f = compiled(total, mode)
    assert f(0) == 0.5
    assert f(-1) == 0.5
    with pytest.raises(error):
        f(1)


@pytest.mark.parametrize("mode", MODES)
def test_a_loop_of_no_steps_on_the_side_that_is_not_taken(mode: str) -> None:
    """That it has no steps was asked outside of the branch, and the element read there."""
    total = symc.ifelse(T.gt(K, 3), X, symc.fori_loop(0, N, lambda i, t: t * X[K - 9], X))
    f = compiled(total, mode)
    assert f(2).tolist() == [1, 1, 1]


@pytest.mark.parametrize("mode", MODES)
def test_results_of_a_loop_in_and_out_of_a_branch(mode: str) -> None:
    """The branch asks whether there are steps: what one result needed both did, it seemed."""
    (rows, last), _ = symc.scan(
        lambda row, before: [X[K], before], sequences=Y[:N], outputs_info=[None, X]
    )
    last = symc.ifelse(T.gt(rows.shape[0], 0), last[-1], X)
    f = compiled([rows, last], mode)
    assert [found.tolist() for found in f(0)] == [[], [1, 1, 1]]
    with pytest.raises(BadIndex):
        f(1)


@pytest.mark.parametrize("mode", MODES)
def test_branches_on_a_side_of_their_own_condition(mode: str) -> None:
    """Results of one branch, one of them needed on the side that is not the other's."""
    condition = T.gt(N, 0)
    changed, factor = symc.ifelse(condition, [X[K].inc(1.0), Y[0]], [X, Y[1]])
    scaled = symc.ifelse(condition, Y, Y * factor)
    f = compiled([changed, scaled], mode)
    assert [found.tolist() for found in f(0)] == [[1, 1, 1], [1, 1, 1, 1]]
    with pytest.raises(BadIndex):
        f(1)


@pytest.mark.parametrize("mode", MODES)
def test_loops_in_loops_in_a_loop_of_no_steps(mode: str) -> None:
    """What may fail stood in a branch in a branch, and so was not seen."""

    def loop(step: Callable[[Any], Any], count: Any) -> Callable[[Any], Any]:
        return lambda t: symc.fori_loop(0, count, lambda i, t: step(t), t)

    f = compiled(loop(loop(loop(lambda t: t + X[K], K), K), N)(0.5), mode)
    assert f(0) == 0.5
    with pytest.raises(BadIndex):
        f(1)


def test_what_some_steps_need_is_computed_once() -> None:
    """Outside of the loop, where the branches that need it do not depend on the step either."""
    total = symc.fori_loop(
        0, 3, lambda i, t: symc.fori_loop(0, N, lambda j, t: t + T.exp(X[K]), t), 0.5
    )
    f = symc.function([X, K, N], total)
    program = str(f.program)
    assert program.index("if ") < program.index("repeat ")
    assert f.source.count("exp(") == symc.function([X, K], T.exp(X[K])).source.count("exp(")


def test_a_bug_what_may_fail_was_computed_in_each_step_around_a_loop_that_needs_it() -> None:
    """Its zeros, for an inner loop of no steps, had lengths of a state, which the outer changes."""
    x = T.tensor3("x")
    y = T.exp(x * X[K])

    def row(i: Any, out: Any) -> Any:
        def cell(j: Any, out: Any) -> Any:
            return out[i, j].set(y[i : i + 2, j].sum(axis=0))

        return symc.fori_loop(0, x.shape[1] - 1, cell, out)

    start = T.zeros((x.shape[0] - 1, x.shape[1] - 1, x.shape[2]))
    f = symc.function([x, X, K], symc.fori_loop(0, x.shape[0] - 1, row, start))
    program = f.runner.compilation().optimised
    exp = {k.name for k in program.kernels if any(map(calls_exp, statements(k.body)))}
    assert exp
    assert not exp & repeated_kernels(program)
    given = np.random.default_rng(0).normal(size=(4, 5, 3))
    rows = np.exp(given * 2)
    np.testing.assert_allclose(f(given, [1.0, 2.0], 1), rows[:-1, :-1] + rows[1:, :-1])


def calls_exp(stmt: Stmt) -> bool:
    """Whether a statement computes exponentials."""
    found = (node for expr in expressions(stmt) for node in nodes(expr))
    return any(isinstance(node, Call) and node.function == "exp" for node in found)


def test_a_bug_numbers_that_wrap_were_taken_for_lengths() -> None:
    """An error in vain: no length has 64 bits, but an integer of a program may leave them."""
    number = -T.constant(-(2**63), dtype="int64") + 1
    x = T.lvector("x")
    f = symc.function([N, x, K], symc.fori_loop(0, N, lambda _, s: s + number + x[K], 0))
    assert f(3, [1], 0) == -(2**63) + 6
    assert f(0, [1], 5) == 0


LATE: dict[str, Callable[[Any, Any], Any]] = {
    "the first of an order": lambda rows, i: T.argsort(rows * i)[0],
    "a largest one": lambda rows, i: T.argmax(rows * i),
    "a place": lambda rows, i: T.searchsorted(rows, i + 0.5),
    "a loop": lambda rows, i: symc.fori_loop(0, i, lambda j, s: s + rows[j], 0.0),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", LATE)
def test_lengths_that_elements_are_do_not_fail_before_loops_of_no_steps(
    name: str, mode: str
) -> None:
    def step(i: Any, total: Any) -> Any:
        return total + T.cast(LATE[name](X[T.cast(X[K], "int64") :], i), "float64")

    f = symc.function([X, K, N], symc.fori_loop(0, N, step, 0.5), mode=mode)
    x = np.array([1.0, 0.0, 2.0])
    wanted = {"the first of an order": 0.5, "a largest one": 1.5, "a place": 2.5, "a loop": 0.5}
    assert f(x, 5, 0) == 0.5
    assert f(x, 0, 2) == wanted[name]
    with pytest.raises(BadIndex, match="index 5 is out of bounds"):
        f(x, 5, 1)


@pytest.mark.parametrize("mode", MODES)
def test_lengths_that_others_need_too_fail_in_loops_of_no_steps(mode: str) -> None:
    first = T.cast(X[K], "int64")
    places = symc.fori_loop(0, N, lambda i, total: total + T.argmax(X[first:] * i), 0)
    f = symc.function([X, K, N], [places, first], mode=mode)
    with pytest.raises(BadIndex, match="index 5 is out of bounds"):
        f(THREE, 5, 0)


PLACES: dict[str, Callable[[], Any]] = {
    "an element": lambda: T.cast(Y, "int64")[0],
    "a remainder": lambda: N % X.shape[0],
    "a quotient": lambda: 1 + N // (X.shape[0] + 7),
}
STEPS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[int, Any], Any]]] = {
    "an element set": (lambda i, c: c[i : i + 1].set(c[:1]), lambda i, c: put(c, i, i + 1, c[:1])),
    "all after it": (
        lambda i, c: c[i + 1 :].set(c[:-1][i:]),
        lambda i, c: put(c, i + 1, len(c), c[i:-1]),
    ),
    "a sum": (
        lambda i, c: c + T.sum(c[i + 1 :] * c[:-1][i:]),
        lambda i, c: c + c[i + 1 :] @ c[i:-1],
    ),
    "a product": (
        lambda i, c: c * T.dot(c[i:], c[: c.shape[0] - i]),
        lambda i, c: c * (c[i:] @ c[: len(c) - i]),
    ),
}


def put(c: Any, first: int, last: int, values: Any) -> Any:
    c = c.copy()
    c[first:last] = values
    return c


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("mode", MODES)
def test_lengths_that_follow_from_what_only_steps_compute(step: str, place: str, mode: str) -> None:
    """They had been compared before the loop as if each such number were 0."""
    i = PLACES[place]()
    once, plain = STEPS[step]
    counted = symc.fori_loop(0, K, lambda k, c: once(i, c), X)
    _, tested = symc.while_loop(lambda k, c: k < K, lambda k, c: [k + 1, once(i, c)], [0, X])
    f = symc.function([X, Y, K, N], [counted, tested], mode=mode, on_unused_input="ignore")
    x = np.array([1.0, 2.0, 3.0])
    for steps in (0, 1, 2):
        wanted = x
        for _ in range(steps):
            wanted = plain(1, wanted)
        for found in f(x, np.ones(1), steps, 1):
            np.testing.assert_allclose(found, wanted)


def test_lengths_that_differ_in_steps() -> None:
    """A loop of steps still asks whether they are equal."""
    i = T.cast(Y, "int64")[0]
    f = symc.function([X, Y, K], symc.fori_loop(0, K, lambda k, c: c[i : i + 2].set(X[:2]), X))
    assert f(THREE, np.full(1, 2.0), 0).tolist() == [1, 1, 1]
    with pytest.raises(ShapeMismatch, match=re.escape("values of shape [2] do not fit")):
        f(THREE, np.full(1, 2.0), 1)
