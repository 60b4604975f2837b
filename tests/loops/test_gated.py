"""What may fail and several branches need: computed once, and only where one of them does."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Repeat
from symc.errors import BadIndex, ShapeMismatch, SymcError
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.entered import Scope
from symc.loops.gated import behind_conditions
from symc.loops.outline import outline
from symc.loops.paths import places_of
from tests.near import assert_near

A, B, C = (T.scalar(name, dtype="bool") for name in "abc")
Z, J, M = T.vector("z"), T.lscalar("j"), T.matrix("m")
VALUES = np.array([0.5, -1.0, 2.0])
MODES = ["compile", "python"]


def picked() -> Tensor:
    return Z[J]


def two_sides() -> Any:
    return symc.ifelse(A, picked(), 0.0) + symc.ifelse(B, picked(), 1.0)


def other_sides() -> Any:
    return symc.ifelse(A, 0.0, picked()) * symc.ifelse(B, picked() + 1, 1.0)


def what_follows() -> Any:
    """The value itself is needed by nothing but what both sides compute from it."""
    both = T.exp(picked()) + 1
    return symc.ifelse(A, both, 0.0) + symc.ifelse(B, both * 2, 1.0)


def nested() -> Any:
    inner = symc.ifelse(B, picked(), 2.0)
    return symc.ifelse(A, inner, 0.0) + symc.ifelse(C, picked(), 1.0)


def three() -> Any:
    return symc.ifelse(A, picked(), 0.0) + symc.ifelse(B, picked(), 1.0) + symc.ifelse(C, Z[J], 2.0)


def in_a_loop() -> Any:
    def step(i: Tensor, s: Tensor) -> Any:
        value = Z[J + i]
        return s + symc.ifelse(A & (i > 0), value, 0.0) + symc.ifelse(B, value, 1.0)

    return symc.fori_loop(0, 2, step, T.constant(0.0))


def one_from_another() -> Any:
    """An index that may be out of range is what may fail, too."""
    value = Z[T.cast(Z[J], "int64")]
    return symc.ifelse(A, value, 0.0) + symc.ifelse(B, value, 1.0) + symc.ifelse(C, Z[J], 2.0)


PROGRAMS: dict[str, tuple[Callable[[], Any], Callable[[bool, bool, bool], bool]]] = {
    "two sides": (two_sides, lambda a, b, c: a or b),
    "other sides": (other_sides, lambda a, b, c: not a or b),
    "what follows": (what_follows, lambda a, b, c: a or b),
    "nested": (nested, lambda a, b, c: (a and b) or c),
    "three": (three, lambda a, b, c: a or b or c),
    "in a loop": (in_a_loop, lambda a, b, c: a or b),
    "one from another": (one_from_another, lambda a, b, c: a or b or c),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_fails_where_a_side_needs_it(name: str, mode: str) -> None:
    build, needs = PROGRAMS[name]
    f = symc.function([Z, J, A, B, C], build(), mode=mode, on_unused_input="ignore")
    g = symc.function([Z, J, A, B, C], symc.grad(build(), Z), mode=mode, on_unused_input="ignore")
    for a, b, c in product([False, True], repeat=3):
        assert np.isfinite(f(VALUES, 0, a, b, c))
        assert np.isfinite(g(VALUES, 0, a, b, c)).all()
        for function in (f, g):
            if needs(a, b, c):
                with pytest.raises(BadIndex):
                    function(VALUES, 7, a, b, c)
            else:
                assert np.isfinite(function(VALUES, 7, a, b, c)).all()


@pytest.mark.parametrize("mode", MODES)
def test_factors_of_a_matrix(mode: str) -> None:
    """Computed once where both sides are taken; not at all, and so right, where none is."""
    factor: Any = T.linalg.cholesky(M)
    result = symc.ifelse(A, factor.sum(), 0.0) + symc.ifelse(B, (factor**2).sum(), 0.0)
    f = symc.function([M, A, B], result, mode=mode)
    good, bad = np.array([[2.0, 1], [1, 3]]), np.array([[1.0, 2], [2, 1]])
    lower = np.linalg.cholesky(good)
    assert f(bad, False, False) == 0
    np.testing.assert_allclose(f(good, True, True), lower.sum() + (lower**2).sum())
    np.testing.assert_allclose(f(good, False, True), (lower**2).sum())
    for a, b in ((True, False), (False, True), (True, True)):
        with pytest.raises(SymcError):
            f(bad, a, b)


@pytest.mark.parametrize("mode", MODES)
def test_loops_with_several_results(mode: str) -> None:
    """Both results of one loop, each needed on another side: done if either is."""
    first, second = symc.fori_loop(0, 2, lambda i, s, t: [s + Z[J + i], t * Z[J + i]], [0.0, 1.0])
    result = symc.ifelse(A, first, 0.0) + symc.ifelse(B, second, 0.0)
    f = symc.function([Z, J, A, B], result, mode=mode)
    assert f(VALUES, 5, False, False) == 0
    assert f(VALUES, 0, True, False) == -0.5
    assert f(VALUES, 0, False, True) == -0.5
    with pytest.raises(BadIndex):
        f(VALUES, 5, False, True)


@pytest.mark.parametrize("mode", MODES)
def test_a_side_that_no_condition_leads_to_needs_nothing_of_the_other_side(mode: str) -> None:
    """A branch on the other side of its own condition, whose values have other lengths.

    It was kept as a branch, and took ``z[j]``, which no place was known for, from outside.
    """
    root, other = T.linalg.cholesky(M), T.matrix("other")
    for never in (root * picked(), root):
        result = symc.ifelse(A, root * picked(), symc.ifelse(A, never, T.linalg.cholesky(other)))
        f = symc.function([M, other, Z, J, A], result, mode=mode)
        four, bad = 4 * np.eye(2), -np.eye(2)
        np.testing.assert_array_equal(f(bad, four, VALUES, 7, False), 2 * np.eye(2))
        np.testing.assert_array_equal(f(four, bad, VALUES, 2, True), 4 * np.eye(2))
        for arguments in ((bad, four, VALUES, 2, True), (four, bad, VALUES, 7, False)):
            with pytest.raises(ValueError, match="positive definite"):
                f(*arguments)
        with pytest.raises(BadIndex):
            f(four, four, VALUES, 7, True)
        with pytest.raises(ShapeMismatch):
            f(four, 4 * np.eye(3), VALUES, 2, False)


def test_a_condition_that_follows_from_the_value_needs_it_anyway() -> None:
    value = picked()
    result = symc.ifelse(A, value, 0.0) + symc.ifelse(value > 0, value, 1.0)
    f = symc.function([Z, J, A], result, mode="compile")
    assert f(VALUES, 2, True) == 4
    assert f(VALUES, 1, False) == 1
    with pytest.raises(BadIndex):
        f(VALUES, 7, False)


def test_conditions_that_follow_from_each_others_values() -> None:
    """Whichever comes first: behind conditions, each would need the other."""
    one, other = Z[J], Z[J + 1]
    result = (
        symc.ifelse(A & (other > 0), one, 0.0) + symc.ifelse(B & (other > 0), one, 0.0)
        + symc.ifelse(A & (one > 0), other, 0.0) + symc.ifelse(B & (one > 0), other, 0.0)
    )  # fmt: skip
    f = symc.function([Z, J, A, B], result, mode="compile")
    assert f(np.array([1.0, 2.0]), 0, True, False) == 3
    assert f(np.array([1.0, 2.0]), 0, True, True) == 6


def test_what_cannot_fail_has_no_condition() -> None:
    both, index = T.exp(Z).sum(), T.clip(J, 0, 1)
    for value in (both, T.zeros(2)[index]):
        roots = [symc.ifelse(A, value, 0.0) + symc.ifelse(B, value, 1.0)]
        order = walk(roots)
        assert behind_conditions(roots, order, places_of(roots, order), Scope()) is None


def test_many_conditions() -> None:
    """Of more than a few it is asked in no case, and compiling stays linear."""
    result: Any = T.constant(0.0)
    for number in range(60):
        result = result + symc.ifelse(number < J, Z[J], 0.0)
    f = symc.function([Z, J], result, mode="python")
    assert f(VALUES, 2) == 2 * VALUES[2]


def test_conditions_are_asked_as_branches_ask_them() -> None:
    """What decides on a side may fail, too: it was asked where nobody gets there."""
    first, second = Z[J], Z[J + 1]
    result = symc.ifelse(A, symc.ifelse(first > 0, second, 0.0), symc.ifelse(B, second, 1.0))
    f = symc.function([Z, J, A, B], result, mode="compile")
    assert f(VALUES, 7, False, False) == 1
    assert f(VALUES, -4, False, True) == 0.5
    with pytest.raises(BadIndex):
        f(VALUES, -4, True, False)


def test_branches_that_several_sides_need_are_computed_where_one_does() -> None:
    """A branch that cannot fail by itself was computed, and what is inside of it failed."""
    inner = symc.ifelse(B, Z[J], 2.0)
    result = symc.ifelse(A, inner, 0.0) + symc.ifelse(C, inner * 2, 1.0)
    f = symc.function([Z, J, A, B, C], result, mode="compile")
    assert f(VALUES, 7, False, True, False) == 1
    assert f(VALUES, 7, True, False, True) == 6
    assert f(VALUES, 2, True, True, False) == 3
    with pytest.raises(BadIndex):
        f(VALUES, 7, False, True, True)


def test_what_waits_behind_a_condition_needs_what_others_need() -> None:
    """Its place is another then, and so is that of an element that both need: it was read."""
    changed = symc.ifelse(A, Z[J].inc(1.0), Z)
    first = symc.ifelse(A, T.sin(Z) * Z[J].inc(1.0)[0], Z)
    f = symc.function([Z, J, A, B], [symc.ifelse(B, first * changed[1], first), changed])
    for b in (False, True):
        wanted = [VALUES * (VALUES[1] if b else 1), VALUES]
        for result, right in zip(f(VALUES, 7, False, b), wanted, strict=True):
            np.testing.assert_array_equal(result, right)
    with pytest.raises(BadIndex):
        f(VALUES, 7, True, False)


def some_steps_and_a_side() -> Any:
    """Each step asks, and so does the branch after the loop: no condition was asked before it."""
    s = symc.fori_loop(0, 3, lambda i, s: s + symc.ifelse(A & (i > 0), Z[J], 1.0), T.constant(0.0))
    return s + symc.ifelse(B, Z[J], 0.0)


def some_steps_of_two_loops() -> Any:
    one = symc.fori_loop(0, 3, lambda i, s: s + symc.ifelse(A & (i > 0), Z[J], 1.0), Z[0])
    return symc.fori_loop(0, 2, lambda i, s: s * symc.ifelse(B & (i > 0), Z[J], 1.0), one)


def several_sides_in_a_loop() -> Any:
    """On several sides, so that none of them is its place: it was read before the loop."""

    def step(i: Tensor, s: Tensor, t: Tensor) -> Any:
        s = symc.ifelse(A, T.sin(s) * Z[J], s)
        return [s, symc.ifelse(B & (i > 0), s * Z[J], t)]

    return sum(symc.fori_loop(0, 2, step, [T.constant(1.0), T.constant(0.5)]))


SHARED: dict[str, tuple[Callable[[], Any], Callable[[bool, bool], bool]]] = {
    "some steps and a side": (some_steps_and_a_side, lambda a, b: a or b),
    "some steps of two loops": (some_steps_of_two_loops, lambda a, b: a or b),
    "several sides in a loop": (several_sides_in_a_loop, lambda a, b: a or b),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SHARED)
def test_what_steps_and_others_need_is_read_where_one_does(name: str, mode: str) -> None:
    build, needs = SHARED[name]
    for result in (build(), symc.grad(build(), Z)):
        f = symc.function([Z, J, A, B], result, mode=mode, on_unused_input="ignore")
        for a, b in product([False, True], repeat=2):
            assert np.isfinite(f(VALUES, 0, a, b)).all()
            if needs(a, b):
                with pytest.raises(BadIndex):
                    f(VALUES, 7, a, b)
            else:
                assert np.isfinite(f(VALUES, 7, a, b)).all()


def test_what_both_sides_in_a_loop_need_is_computed_before_it() -> None:
    """It is needed in any case, and no step computes it again."""

    def step(i: Tensor, s: Tensor) -> Any:
        return symc.ifelse(i > 1, s + Z[J], s * Z[J])

    (loop,) = [n for n in walk(outline([symc.fori_loop(0, 3, step, Z[0])])) if n.op.is_control]
    assert Z[J] in loop.args


def test_conditions_asked_in_any_case_are_asked_of_all_ways() -> None:
    """The second follows from the value: what was left of that way was computed in vain."""
    first = symc.ifelse(A, symc.ifelse(J > 0, Z[J], 2.0), 1.0)
    second = symc.ifelse(A, T.sin(Z[J]), 0.5)
    f = symc.function([Z, J, A], symc.ifelse(second > 0.2, second, first), mode="compile")
    assert f(VALUES, 7, False) == 0.5
    np.testing.assert_allclose(f(VALUES, 2, True), np.sin(2.0))


def test_what_loops_around_each_other_need_is_computed_before_both() -> None:
    """Lengths of what the outer loop changes kept the branch around it in every step."""
    x, w = T.tensor("float64", (None,) * 3, "x"), T.matrix("w")

    def moved(x: Tensor) -> Any:
        n, m = x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1

        def cell(i: Tensor, j: Tensor, o: Tensor) -> Any:
            window = x[:, i : i + w.shape[0], j : j + w.shape[1]]
            return o[:, i, j].set((window * w).sum((1, 2)))

        def row(i: Tensor, o: Tensor) -> Any:
            return symc.fori_loop(0, m, lambda j, o: cell(i, j, o), o)

        return symc.fori_loop(0, n, row, T.zeros((x.shape[0], n, m)))

    f = symc.function([x, w], moved(T.exp(moved(T.exp(moved(x))))))
    around = 0
    for step in every_step(f.runner.compilation().optimised.steps):
        if isinstance(step, Repeat):
            inner = [one for one in every_step(step.steps) if isinstance(one, Repeat)]
            assert len(inner) < 2, "a loop has another one's work in its steps"
            around += bool(inner)
    assert around == 3
    values = np.random.default_rng(0).normal(size=(2, 9, 8)) / 9
    weights = np.array([[0.5, -1.0, 0.25], [1.0, 0.0, -0.5]])
    wanted = values
    for number in range(3):
        wanted = np.exp(wanted) if number else wanted
        windows = np.lib.stride_tricks.sliding_window_view(wanted, (2, 3), axis=(1, 2))
        wanted = (windows * weights).sum((3, 4))
    assert_near(f(values, weights), wanted, 1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_a_value_and_its_gradient_on_a_condition_that_a_branch_computes(mode: str) -> None:
    """Its conditions were two, as the gradient's is outlined, and z[j] on no side of both."""
    index = symc.ifelse(M.sum() > 0, [J + 1], [J - 1])[0]
    value = symc.ifelse(index > 5, T.exp(Z[index]), 3.0)
    f = symc.function([M, J, Z], [value, symc.grad(value, Z)], mode=mode)
    got = f(np.ones((2, 2)), 4, VALUES)
    assert got[0] == 3.0
    np.testing.assert_array_equal(got[1], np.zeros(3))
    with pytest.raises(BadIndex):
        f(np.ones((2, 2)), 5, VALUES)


def test_zeros_that_may_fail_are_gated_once() -> None:
    """They waited behind a condition on whose other side they were again, and so on for ever."""
    x, rows = T.tensor("float64", (3, None), "x"), T.tensor("float64", (3, None), "rows")
    c, k = T.scalar("c"), T.argmax(rows)
    states, _ = symc.scan(lambda row, s: s * 0.5 + row[0], sequences=rows.T[:, :, None],
                          outputs_info=[x])  # fmt: skip
    turned = states[::-1]
    whole = T.repeat(turned[k % 3, -1, -3].set(1.0), k % 3 + 1, axis=0)
    part = whole[:, 1, k % 3].inc(whole[:, 1, k % 3] + 3.0)

    def step(i: Any, s: Any) -> Any:
        exchanged = part[-1 - i].set(part[i])[i].set(part[-1 - i])
        return i + 1, exchanged % 8.0

    count, _ = symc.while_loop(lambda i, s: i < 2, step, [T.constant(0), turned[-1, 2, 2].set(2.0)])
    begun = whole[: count % 3].set(3.0)[0, 0::2, 2].inc(-2.5)
    one, other = symc.ifelse(c > 1, [begun * 2, begun * 0.5], [part * part, part])
    inputs = [x, rows, c]
    f = symc.function(inputs, [one, other])
    plain = symc.function(inputs, [one, other], mode="python")
    rng = np.random.default_rng(0)
    for number in (0.0, 2.0):
        given = (rng.normal(size=(3, 4)), rng.normal(size=(3, 3)), number)
        given[1][0, 0] = 9  # the states of the second loop are as long as they were, then
        for found, wanted in zip(f(*given), plain(*given), strict=True):
            np.testing.assert_allclose(found, wanted)
