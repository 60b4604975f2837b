"""Loops that write where shared variables lie: nothing ends them, or they work on copies.

Whatever fails or comes in between, a variable is as it was before the call, or as it is after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.cost.most import most
from symc.codegen.ir import Branch, Check, Repeat, Var, add, binary, const, mul, sub
from symc.codegen.passes.steps.varying import changed_variables
from symc.codegen.verify.program import verify
from symc.errors import BadIndex, SymcError
from symc.graph.node import Tensor

RNG = np.random.default_rng(8)
ROWS, COLUMNS = 6, 3
P, Q, G, N = T.lvector("p"), T.lvector("q"), T.matrix("g"), T.lscalar("n")

Updates = list[tuple[Any, Any]]


def shared(*shape: int, name: str = "w") -> Any:
    return symc.shared(np.random.default_rng(9).standard_normal(shape), name=name)


def rows(w: Any) -> Updates:
    """Rows at places that are given, as a sparse step of gradient descent has them."""
    return [(w, symc.fori_loop(0, P.shape[0], lambda i, t: t[P[i]].inc(G[i]), w))]


def everything(w: Any) -> Updates:
    return [(w, symc.fori_loop(0, N, lambda i, t: 0.5 * t + i, w))]


def decreasing(w: Any) -> Updates:
    def step(i: Tensor, t: Tensor) -> Any:
        return symc.fori_loop(0, ROWS - i, lambda j, t: t[j].inc(0.1 * t[i]), t)

    return [(w, symc.fori_loop(0, ROWS, step, w))]


def two_tables(w: Any) -> Updates:
    """Word vectors and those of their surroundings."""
    v = shared(ROWS, COLUMNS, name="v")

    def step(i: Tensor, a: Tensor, b: Tensor) -> Any:
        one, other = a[P[i]], b[Q[i]]
        error = T.sigmoid((one * other).sum()) - 1
        return a[P[i]].inc(-0.1 * error * other), b[Q[i]].inc(-0.1 * error * one)

    return [*zip((w, v), symc.fori_loop(0, P.shape[0], step, [w, v]), strict=True)]


def after_another(w: Any) -> Updates:
    """A loop over one variable, and one over another that reads it before."""
    v = shared(ROWS, COLUMNS, name="v")
    new = symc.fori_loop(0, Q.shape[0], lambda i, t: t[Q[i]].set(w[Q[i]]), v)
    return [(v, new), *rows(w)]


def by_a_matrix(w: Any) -> Updates:
    return [(w, symc.fori_loop(0, N, lambda _, t: t + 0.01 * (G.T @ (G @ t)), w))]


def some_and_another(w: Any) -> Updates:
    """A variable that no loop writes, which must not change either if the loop fails."""
    v = shared(4, name="v")
    return [(v, v + 1), *rows(w)]


PROGRAMS: dict[str, Callable[[Any], Updates]] = {
    "rows": rows, "everything": everything, "decreasing": decreasing, "two tables": two_tables,
    "after another": after_another, "by a matrix": by_a_matrix, "some": some_and_another,
}  # fmt: skip
GIVEN = {
    "fine": ([0, 5, 2, 2], [1, 1, 0, 5], RNG.standard_normal((4, COLUMNS)), 4),
    "from the end": ([-1, -6, 0, 3], [2, -2, -2, 1], RNG.standard_normal((4, COLUMNS)), 5),
    "none": ([], [], np.zeros((0, COLUMNS)), 0),
    "one": ([1], [4], np.ones((1, COLUMNS)), 1),
    "negative": ([1], [4], np.ones((1, COLUMNS)), -3),
    "bad at once": ([6, 0, 0], [6, 0, 0], np.ones((3, COLUMNS)), 7),
    "bad in the end": ([0, 0, -7], [0, 0, -7], np.ones((3, COLUMNS)), 7),
    "other lengths": ([0, 0, 1], [0], np.ones((2, COLUMNS)), 2),
    "other columns": ([0], [0], np.ones((1, COLUMNS + 1)), 1),
}


def function(build: Callable[[Any], Updates], mode: str) -> tuple[Any, list[Any]]:
    updates = build(shared(COLUMNS if build is by_a_matrix else ROWS, COLUMNS))
    f = symc.function([P, Q, G, N], updates=updates, mode=mode, on_unused_input="ignore")
    return f, [variable for variable, _ in updates]


def called(f: Any, variables: list[Any], given: Any) -> Any:
    before = [variable.get_value() for variable in variables]
    p, q, g, n = given
    try:
        f(np.array(p, int), np.array(q, int), g, n)
    except SymcError as error:
        for variable, old in zip(variables, before, strict=True):
            np.testing.assert_array_equal(variable.get_value(), old)
        return type(error), str(error).splitlines()[0]
    return [variable.get_value() for variable in variables]


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("name", PROGRAMS)
def test_variables_are_changed_as_a_whole_or_not_at_all(name: str, given: str) -> None:
    """Twice: the second call begins with what the first one left."""
    compiled, interpreted = (function(PROGRAMS[name], mode) for mode in ("compile", "python"))
    verify(compiled[0].runner.compilation().optimised)
    for _ in range(2):
        found, wanted = called(*compiled, GIVEN[given]), called(*interpreted, GIVEN[given])
        if isinstance(wanted, tuple):
            assert found == wanted
        else:
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_memory_stays_the_variables_own(name: str) -> None:
    f, variables = function(PROGRAMS[name], "compile")
    memory = [variable.get_value(borrow=True) for variable in variables]
    called(f, variables, GIVEN["fine"])
    kept = [v.get_value(borrow=True) is m for v, m in zip(variables, memory, strict=True)]
    # Of two loops one works on a copy, or a failure of the second would leave the first one's.
    assert kept == [True, name != "after another"][: len(kept)]
    made = f.runner.compilation().optimised
    for loop in every_step(made.steps):
        if isinstance(loop, Repeat) and changed_variables(made, loop):
            assert not any(isinstance(step, Check) for step in every_step([loop]))


@pytest.mark.parametrize("given", GIVEN)
def test_arguments_given_away_are_changed_as_a_whole_or_not_at_all(given: str) -> None:
    """They were copied where steps test indexes."""
    w = T.matrix("w")
    new = symc.fori_loop(0, P.shape[0], lambda i, t: t[P[i]].inc(G[i]), w)
    f = symc.function([symc.In(w, mutable=True), P, G], new, mode="compile")
    g = symc.function([w, P, G], new, mode="python")
    verify(f.runner.compilation().optimised)
    p, _, values, _ = GIVEN[given]
    array = np.arange(1.0, 1 + ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    before, where = array.copy(), np.array(p, int)
    try:
        wanted = g(before, where, values)
    except SymcError as error:
        with pytest.raises(type(error)):
            f(array, where, values)
        np.testing.assert_array_equal(array, before)
    else:
        assert f(array, where, values) is array
        np.testing.assert_array_equal(array, wanted)


@pytest.mark.parametrize("turned", [False, True])
def test_what_reads_a_variable_before_such_a_loop_changes_none(turned: bool) -> None:
    """``v + w.sum()`` comes before the loop over w; it was written over v, and the loop failed."""
    w, v = shared(ROWS, COLUMNS), shared(COLUMNS, name="v")
    updates = [(v, v + w.sum(axis=0)), *rows(w)]
    f = symc.function([P, G], updates=updates[::-1] if turned else updates, mode="compile")
    old = v.get_value()
    with pytest.raises(BadIndex):
        f([0, ROWS], np.ones((2, COLUMNS)))
    np.testing.assert_array_equal(v.get_value(), old)
    f([0], np.ones((1, COLUMNS)))
    assert (v.get_value() != old).all()


@pytest.mark.parametrize("is_swap", [False, True])
def test_a_loop_that_begins_with_another_variable_may_fail(is_swap: bool) -> None:
    """That variable was copied over the one that is updated before the steps were tested."""
    w, v = shared(ROWS, COLUMNS), shared(ROWS, COLUMNS, name="v")
    v.set_value(2 * v.get_value())
    new = symc.fori_loop(0, P.shape[0], lambda i, t: t[P[i]].inc(G[i]), w)
    other = symc.fori_loop(0, ROWS, lambda i, t: t[i].set(w[i]), v)
    updates = [(v, new), *([(w, other)] if is_swap else [])]
    f = symc.function([P, G], updates=updates, mode="compile")
    before = [w.get_value(), v.get_value()]
    with pytest.raises(BadIndex):
        f([0, ROWS], np.ones((2, COLUMNS)))
    np.testing.assert_array_equal([w.get_value(), v.get_value()], before)
    f([0], np.ones((1, COLUMNS)))
    np.testing.assert_allclose(v.get_value(), before[0] + np.eye(ROWS, 1), rtol=1e-13)


def test_loops_of_moments_need_no_copy_and_ask_nobody() -> None:
    w = shared(ROWS, COLUMNS)
    f = symc.function([], updates=[(w, symc.fori_loop(0, 20, lambda i, t: 0.5 * t + i, w))])
    text = f.source[f.source.index("symc_run(") :]
    assert "symc_copy_bytes" not in text
    assert "symc_stops" not in text
    assert "updated in place: w" in f.explain()


def test_long_loops_work_on_copies() -> None:
    w = shared(ROWS, COLUMNS)
    f = symc.function([], updates=[(w, symc.fori_loop(0, 10**9, lambda i, t: 0.5 * t + i, w))])
    text = f.source[f.source.index("symc_run(") :]
    assert text.count("symc_copy_bytes(") == 2
    assert "symc_stops" in text


def test_the_number_of_steps_decides() -> None:
    f, _ = function(everything, "compile")
    made = f.runner.compilation().optimised
    (branch,) = [step for step in made.steps if isinstance(step, Branch)]
    assert [type(step).__name__ for step in branch.then] == ["Repeat"]
    assert [type(step).__name__ for step in branch.otherwise] == ["Routine", "Repeat", "Routine"]


def test_loops_that_may_fail_by_their_states_change_copies() -> None:
    w = symc.shared(np.array([[2.0, 0], [0, 0], [1, 0]]), name="w")
    new = symc.fori_loop(0, N, lambda i, t: t[T.cast(t[i, 0], "int64"), 0].inc(1.0), w)
    f = symc.function([N], updates=[(w, new)], mode="compile")
    f(1)
    assert w.get_value()[:, 0].tolist() == [2, 0, 2]
    with pytest.raises(BadIndex):
        f(3)  # its first step writes row 2, and so its last one reads 3
    assert w.get_value()[:, 0].tolist() == [2, 0, 2]
    assert "needs its new value may fail" in f.explain()


@pytest.mark.parametrize("inner", ["while", "ragged"])
def test_loops_that_nobody_can_measure_change_copies(inner: str) -> None:
    w = shared(ROWS, COLUMNS)

    def step(i: Tensor, t: Tensor) -> Any:
        if inner == "while":
            return symc.while_loop(lambda u: u[0, 0] < i, lambda u: u + 1, t)
        return t + T.exp(t[i:].reshape((-1,))).reshape((-1, COLUMNS)).sum(axis=0)

    f = symc.function([], updates=[(w, symc.fori_loop(0, 3, step, w))], mode="compile")
    old = w.get_value()
    g = symc.function([], symc.fori_loop(0, 3, step, T.constant(old)), mode="python")
    f()
    np.testing.assert_allclose(w.get_value(), g(), rtol=1e-13)


def test_what_comes_after_and_may_fail_forbids_it() -> None:
    w = shared(ROWS, COLUMNS)
    new = symc.fori_loop(0, 5, lambda i, t: 0.5 * t + i, w)
    f = symc.function([N], new[N, 0], updates=[(w, new)], mode="compile")
    old = w.get_value()
    with pytest.raises(BadIndex):
        f(ROWS)
    np.testing.assert_array_equal(w.get_value(), old)
    assert f(0) == w.get_value()[0, 0] != old[0, 0]


def test_the_most_that_a_length_is() -> None:
    i, j, n, m = map(Var, "ijnm")
    counts = {"i": n, "j": add(m, const(2))}
    assert most(n, counts) == n
    assert most(i, counts) == sub(n, const(1))
    assert most(sub(n, i), counts) == sub(n, const(0)) or most(sub(n, i), counts) == n
    assert most(sub(i, j), counts) == sub(n, const(1))
    assert most(binary("mod", i, n), counts) is None
    bound = most(mul(sub(n, i), add(j, const(1))), counts)
    assert bound is not None
    for one in range(5):
        for other in range(4):
            value = (5 - one) * (other + 1)
            assert value <= _value(bound, {"n": 5, "m": 2})


def _value(expr: Any, sizes: dict[str, int]) -> int:
    from symc.codegen.cost.amounts import number_of

    found = number_of(expr, sizes)
    assert found is not None
    return found
