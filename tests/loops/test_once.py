"""What only some steps of a loop need, and is the same in all of them, is computed once."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from tests.fuzz.branching import Assign, Branch, Loop
from tests.fuzz.guarded import Guarded

RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(4, 4))
A = ROOT @ ROOT.T + 4 * np.eye(4)
B = RNG.uniform(size=(7, 4))
NEVER, BAD = B * 0.0, -A
MODES = ["default", "python"]


def run_of(f: Any) -> str:
    """The text of the host function."""
    text: str = f.source
    return text[text.index("int64_t symc_run(") :]


def is_kept(f: Any, call: str) -> bool:
    """Whether the only call of a function is in a branch on what is missing."""
    found: list[str] = re.findall(rf"if \(is_missing\w*\[0\]\) \{{[^{{}}]*{call}", run_of(f))
    return len(found) == run_of(f).count(call) == 1


def factor(**given: Any) -> Any:
    """A factor that rows of which the first number is large need."""
    a, b = T.matrix("a"), T.matrix("b")

    def step(i: Any, s: Any) -> Any:
        return symc.ifelse(b[i, 0] > 0.5, s + T.linalg.cholesky(a)[:, 0], s * b[i])

    return symc.function([a, b], symc.fori_loop(0, b.shape[0], step, T.ones(4)), **given)


def factor_numpy(a: Any, b: Any) -> Any:
    s = np.ones(4)
    for row in b:
        s = s + np.linalg.cholesky(a)[:, 0] if row[0] > 0.5 else s * row
    return s


@pytest.mark.parametrize("mode", MODES)
def test_a_factor_on_one_side(mode: str) -> None:
    f = factor(mode=mode)
    for b in (B, B[:0], B + 1.0, NEVER):
        np.testing.assert_allclose(f(A, b), factor_numpy(A, b))
    np.testing.assert_array_equal(f(BAD, NEVER), 0.0)
    with pytest.raises(ValueError, match="positive definite"):
        f(BAD, B)
    np.testing.assert_allclose(f(A, B), factor_numpy(A, B))


def test_its_call_is_made_once() -> None:
    assert is_kept(factor(device="cpu"), "symc_cholesky")


@pytest.mark.parametrize("mode", MODES)
def test_of_a_matrix_that_an_outer_loop_changes(mode: str) -> None:
    a, b = T.matrix("a"), T.matrix("b")

    def outer(k: Any, a: Any, s: Any) -> list[Any]:
        def inner(i: Any, s: Any) -> Any:
            return symc.ifelse(b[i, 0] > 0.5, s + T.linalg.cholesky(a)[:, 0], s * b[i])

        return [a[k, k].inc(1.0), symc.fori_loop(0, b.shape[0], inner, s)]

    f = symc.function([a, b], symc.fori_loop(0, 3, outer, [a, T.ones(4)])[1], mode=mode)
    wanted, matrix = np.ones(4), A.copy()
    for k in range(3):
        for row in B:
            is_large = row[0] > 0.5
            wanted = wanted + np.linalg.cholesky(matrix)[:, 0] if is_large else wanted * row
        matrix[k, k] += 1.0
    np.testing.assert_allclose(f(A, B), wanted)
    np.testing.assert_array_equal(f(BAD, NEVER), 0.0)


@pytest.mark.parametrize("mode", MODES)
def test_of_a_matrix_that_no_loop_around_changes(mode: str) -> None:
    a, b = T.matrix("a"), T.matrix("b")

    def outer(k: Any, s: Any) -> Any:
        def inner(i: Any, s: Any) -> Any:
            return symc.ifelse(b[i, k] > 0.5, s + T.linalg.cholesky(a)[:, k], s * b[i])

        return symc.fori_loop(0, b.shape[0], inner, s)

    f = symc.function([a, b], symc.fori_loop(0, 3, outer, T.ones(4)), mode=mode)
    wanted = np.ones(4)
    for k in range(3):
        for row in B:
            wanted = wanted + np.linalg.cholesky(A)[:, k] if row[k] > 0.5 else wanted * row
    np.testing.assert_allclose(f(A, B), wanted)
    np.testing.assert_array_equal(f(BAD, NEVER), 0.0)
    if mode == "default" and f.device == "cpu":
        assert is_kept(f, "symc_cholesky")


@pytest.mark.parametrize("mode", MODES)
def test_a_matrix_that_steps_change_is_factored_in_each(mode: str) -> None:
    a, b = T.matrix("a"), T.matrix("b")

    def step(i: Any, a: Any, s: Any) -> list[Any]:
        s = symc.ifelse(b[i, 0] > 0.5, s + T.linalg.cholesky(a)[:, 0], s * b[i])
        return [a[0, 0].inc(1.0), s]

    f = symc.function([a, b], symc.fori_loop(0, b.shape[0], step, [a, T.ones(4)])[1], mode=mode)
    wanted, matrix = np.ones(4), A.copy()
    for row in B:
        wanted = wanted + np.linalg.cholesky(matrix)[:, 0] if row[0] > 0.5 else wanted * row
        matrix[0, 0] += 1.0
    np.testing.assert_allclose(f(A, B), wanted)


@pytest.mark.parametrize("mode", MODES)
def test_on_both_sides_and_in_a_branch_inside(mode: str) -> None:
    a, b = T.matrix("a"), T.matrix("b")

    def step(i: Any, s: Any) -> Any:
        first = T.linalg.cholesky(a)
        other = symc.ifelse(b[i, 1] > 0.5, s + first[:, 1], s - T.linalg.inv(a)[1])
        return symc.ifelse(b[i, 0] > 0.5, s + first[:, 0], other)

    f = symc.function([a, b], symc.fori_loop(0, b.shape[0], step, T.ones(4)), mode=mode)
    wanted = np.ones(4)
    for row in B:
        first = np.linalg.cholesky(A)
        if row[0] > 0.5:
            wanted = wanted + first[:, 0]
        else:
            wanted = wanted + first[:, 1] if row[1] > 0.5 else wanted - np.linalg.inv(A)[1]
    np.testing.assert_allclose(f(A, B), wanted)
    with pytest.raises(ValueError, match=r"ingular|positive definite"):
        f(A * 0.0, NEVER)


@pytest.mark.parametrize("mode", MODES)
def test_a_branch_that_returns_to_the_steps_takes_what_its_other_side_may_raise(mode: str) -> None:
    """The condition of a branch is the same in all steps, and steps need a value of one side, too.

    That value returned to the steps and so did the branch, but what its other side alone needed
    stayed before the loop, on no side, and was computed there.
    """
    a, x, c, n = T.matrix("a"), T.vector("x"), T.scalar("c"), T.lscalar("n")
    solved = T.linalg.solve(a, x)

    def step(i: Any, s: Any) -> Any:
        branch = symc.ifelse(c > 3.0, T.linalg.cholesky(a)[0], solved)
        return branch + symc.ifelse(T.eq(i % 2, 0), solved, s)

    f = symc.function([a, x, c, n], symc.fori_loop(0, n, step, T.ones(4)), mode=mode)
    for steps, wanted in enumerate((np.ones(4), -2 * B[0] / 5, -3 * B[0] / 5, -2 * B[0] / 5)):
        np.testing.assert_allclose(f(np.eye(4) * -5.0, B[0], 0.0, steps), wanted)
    with pytest.raises(ValueError, match="positive definite"):
        f(np.eye(4) * -5.0, B[0], 4.0, 1)
    np.testing.assert_array_equal(f(np.eye(4) * -5.0, B[0], 4.0, 0), 1.0)
    np.testing.assert_allclose(f(np.eye(4), B[0], 4.0, 1), np.eye(4)[0] + B[0])


@pytest.mark.parametrize("mode", MODES)
def test_elements_at_places_that_one_side_needs(mode: str) -> None:
    x, places, b = T.vector("x"), T.lvector("places"), T.vector("b")

    def step(i: Any, s: Any) -> Any:
        return symc.ifelse(b[i] > 0.5, s + T.sort(x[places])[i], s * b[i])

    f = symc.function([x, places, b], symc.fori_loop(0, b.shape[0], step, T.ones(())), mode=mode)
    given, where = RNG.uniform(size=9), RNG.integers(-9, 9, 7)
    wanted = 1.0
    for i, one in enumerate(B[:, 0]):
        wanted = wanted + np.sort(given[where])[i] if one > 0.5 else wanted * one
    np.testing.assert_allclose(f(given, where, B[:, 0]), wanted)
    np.testing.assert_array_equal(f(given, where + 9, NEVER[:, 0]), 0.0)
    with pytest.raises(IndexError, match="out of bounds"):
        f(given, where + 9, B[:, 0])


@pytest.mark.parametrize("mode", MODES)
def test_in_a_gradient(mode: str) -> None:
    a, b = T.matrix("a"), T.matrix("b")

    def step(i: Any, s: Any) -> Any:
        return symc.ifelse(b[i, 0] > 0.5, s + T.linalg.inv(a)[:, 0] * s, s * b[i])

    loss = symc.fori_loop(0, b.shape[0], step, T.ones(4)).sum()
    f = symc.function([a, b], [loss, symc.grad(loss, a)], mode=mode)
    value, slope = f(A, B)
    h = 1e-6
    for i, j in ((0, 0), (1, 2), (3, 0)):
        more, less = A.copy(), A.copy()
        more[i, j] += h
        less[i, j] -= h
        np.testing.assert_allclose(
            slope[i, j], (f(more, B)[0] - f(less, B)[0]) / (2 * h), rtol=1e-5, atol=1e-7
        )
    assert np.isfinite(value)
    np.testing.assert_array_equal(f(A * 0.0, NEVER)[1], 0.0)


def test_what_is_as_long_as_a_loop_is_not_there_before_its_length_is_known() -> None:
    """A random program: it lived from where the condition of a branch was known, and so did not
    compile."""
    inner = Loop("j", "i + 1", (Assign("m2", "m2"),), "while_loop", None)
    branch = Branch("a9[0] > -1", (), (inner,), together=True)
    outer = Loop("i", "m.abs(a9[0]) % 4", (branch,), "fori_loop", None)
    states = ("s0", "v1", "m2")
    Guarded((outer,), states, height=3, width=2, seed=1795830944, known=True, kept=False).run(
        "default"
    )


@pytest.mark.parametrize("mode", MODES)
def test_gradients_of_what_returns_to_a_loop_in_a_loop_are_not_lost(mode: str) -> None:
    """Values that returned to the steps were told their lengths by an op without a derivative."""
    a, x, s, n = T.matrix("a"), T.vector("x"), T.vector("s"), T.lscalar("n")
    one, other = T.diagonal(T.linalg.cholesky(a)), T.linalg.inv(a) @ x

    def step(i: Any, k: Any, s: Any) -> Any:
        return symc.ifelse(k > i, one, other) + s

    def inner(i: Any, s: Any) -> Any:
        return symc.fori_loop(0, 2, lambda k, s: step(i, k, s), s)

    cost = (symc.fori_loop(0, n, inner, s) ** 2).sum()
    slopes = [symc.grad(cost, x), symc.Rop(cost, x, T.ones_like(x))]
    f = symc.function([a, x, s, n], [*slopes, symc.hessian(cost, x)], mode=mode)
    inverse = np.linalg.inv(A)
    for steps in range(4):
        others = max(2 * steps - 1, 0)  # of the steps of the inner loops, all but the second one
        end = B[1] + others * inverse @ B[0] + min(steps, 1) * np.diag(np.linalg.cholesky(A))
        wanted = 2 * others * inverse.T @ end
        by_x, along, curved = f(A, B[0], B[1], steps)
        np.testing.assert_allclose(by_x, wanted)
        np.testing.assert_allclose(along, wanted.sum())
        np.testing.assert_allclose(curved, 2 * others**2 * inverse.T @ inverse)
