"""State in place: solvers, recurrences and tables written with `fori_loop`, `set` and `inc`.

In a loop of n steps that copied its state each time, the work would be n times too much.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, at_most, check, compared, module

N = 200
GOAL = 1.5  # times numba
ROWS = (100_000, 64)
PAIRS = 100
ROW = 10e-6  # seconds for an update of a row; a copy of the table takes some 20 ms


def plate() -> Any:
    """Temperatures."""
    return np.random.default_rng(0).random((N, N))


def definite() -> Any:
    """A symmetric matrix whose eigenvalues are far above 0."""
    a = plate()
    return a @ a.T + N * np.eye(N)


def words() -> Any:
    """Two texts, as numbers."""
    return np.random.default_rng(0).integers(0, 4, (2, N))


# --- in symc --------------------------------------------------------------------------------------


def gauss_seidel() -> Any:
    """One sweep."""
    import symc
    import symc.tensor as T

    a = T.matrix("a")

    def row(i: Any, u: Any) -> Any:
        def cell(j: Any, u: Any) -> Any:
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            return u[i, j].set(0.25 * around)

        return symc.fori_loop(1, N - 1, cell, u)

    return symc.function([a], symc.fori_loop(1, N - 1, row, a))


def lu() -> Any:
    """Both factors in one matrix, without pivots."""
    import symc
    import symc.tensor as T

    a = T.matrix("a")

    def step(k: Any, a: Any) -> Any:
        a = a[k + 1 :, k].set(a[k + 1 :, k] / a[k, k])
        return a[k + 1 :, k + 1 :].inc(-a[k + 1 :, k][:, None] * a[k, k + 1 :][None, :])

    return symc.function([a], symc.fori_loop(0, a.shape[0] - 1, step, a))


def cholesky() -> Any:
    """The lower factor, column by column."""
    import symc
    import symc.tensor as T

    a = T.matrix("a")
    n = a.shape[0]

    def column(j: Any, a: Any) -> Any:
        a = a[j, j].set(T.sqrt(a[j, j]))
        a = a[j + 1 :, j].set(a[j + 1 :, j] / a[j, j])
        return symc.fori_loop(j + 1, n, lambda k, a: a[k:, k].inc(-a[k:, j] * a[k, j]), a)

    return symc.function([a], T.tril(symc.fori_loop(0, n, column, a)))


def edit_distance() -> Any:
    """The table of dynamic programming."""
    import symc
    import symc.tensor as T

    w = T.lmatrix("w")
    table = T.zeros((N + 1, N + 1), "int64")
    table = table[0, :].set(T.arange(N + 1))[:, 0].set(T.arange(N + 1))

    def row(i: Any, d: Any) -> Any:
        def cell(j: Any, d: Any) -> Any:
            cost = T.cast(T.neq(w[0, i], w[1, j]), "int64")
            least = T.minimum(T.minimum(d[i, j + 1], d[i + 1, j]) + 1, d[i, j] + cost)
            return d[i + 1, j + 1].set(least)

        return symc.fori_loop(0, N, cell, d)

    return symc.function([w], symc.fori_loop(0, N, row, table))


# --- the same in loops, for numba and as the oracle -----------------------------------------------


def gauss_seidel_loops(a: Any) -> Any:
    """As above."""
    u = a.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def lu_loops(a: Any) -> Any:
    """As above."""
    a = a.copy()
    n = a.shape[0]
    for k in range(n - 1):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def cholesky_loops(a: Any) -> Any:
    """As above."""
    a = a.copy()
    n = a.shape[0]
    for j in range(n):
        a[j, j] = np.sqrt(a[j, j])
        for i in range(j + 1, n):
            a[i, j] /= a[j, j]
        for k in range(j + 1, n):
            for i in range(k, n):
                a[i, k] -= a[i, j] * a[k, j]
    return np.tril(a)


def edit_distance_loops(w: Any) -> Any:
    """As above."""
    n = w.shape[1]
    d = np.zeros((n + 1, n + 1), np.int64)
    for i in range(n + 1):
        d[0, i] = d[i, 0] = i
    for i in range(n):
        for j in range(n):
            cost = 1 if w[0, i] != w[1, j] else 0
            d[i + 1, j + 1] = min(min(d[i, j + 1], d[i + 1, j]) + 1, d[i, j] + cost)
    return d


# --- cases ----------------------------------------------------------------------------------------


def solver(
    name: str,
    title: str,
    ours: Callable[[], Any],
    loops: Callable[[Any], Any],
    given: Callable[[], Any],
) -> Case:
    """One program beside numba's."""

    def made(function: Callable[[Any], Any]) -> Repeated:
        value = given()
        check(function(value), loops(value), rtol=1e-9, atol=1e-12)
        return Repeated(function, (value,))

    def judge(results: Results) -> list[Line]:
        return compared(results, ("numba", GOAL))

    contestants = {
        "symc": Contestant(lambda: made(ours())),
        "numba": Contestant(lambda: made(module("numba").njit(loops)), "numba"),
    }
    return Case(name, title, contestants, judge)


SOLVERS = (
    solver("gauss_seidel", f"a sweep of {N} x {N}", gauss_seidel, gauss_seidel_loops, plate),
    solver("lu", f"LU of {N} x {N}, by set and inc", lu, lu_loops, definite),
    solver("cholesky", f"Cholesky of {N} x {N}", cholesky, cholesky_loops, definite),
    solver("edit_distance", f"edit distance, {N} x {N}", edit_distance, edit_distance_loops, words),
)  # fmt: skip


def rows() -> Repeated:
    """A row of a large table, read and changed twice."""
    import symc
    import symc.tensor as T

    table = symc.shared(np.ones(ROWS), name="table")
    i, j = T.lscalar("i"), T.lscalar("j")
    new = table[i].inc(table[i] * 2)[j].inc(1.0)
    function = symc.function([i, j], [], updates=[(table, new)])
    function(3, 4)
    wanted = np.ones(ROWS)
    wanted[3], wanted[4] = 3.0, 2.0
    check(table.get_value(), wanted, rtol=0)
    table.set_value(np.zeros(ROWS))
    return Repeated(function, (3, 4))


def chain() -> Repeated:
    """300 steps that each change one of 100,000 numbers."""
    import symc
    import symc.tensor as T

    x = T.vector("x")
    last = symc.fori_loop(1, 301, lambda i, x: x[i].set(x[i - 1] + 1), x)
    function = symc.function([x], last)
    given = np.zeros(ROWS[0])
    wanted = given.copy()
    wanted[:301] = np.arange(301)
    check(function(given), wanted, rtol=0)
    return Repeated(function, (given,))


def pairs() -> tuple[Any, Any]:
    """Places of words, and of those beside them."""
    rng = np.random.default_rng(3)
    return rng.integers(0, ROWS[0], PAIRS), rng.integers(0, ROWS[0], PAIRS)


def tables() -> tuple[Any, Any]:
    """Word vectors, and those of the words beside them."""
    rng = np.random.default_rng(4)
    return rng.standard_normal(ROWS) / 8, rng.standard_normal(ROWS) / 8


def word_vectors_loops(p: Any, q: Any, words: Any, others: Any) -> None:
    """A step of descent for each pair: Mikolov et al. 2013, without negative examples."""
    for k in range(len(p)):
        i, j, total = p[k], q[k], 0.0
        for c in range(words.shape[1]):
            total += words[i, c] * others[j, c]
        slope = 0.1 * (1 / (1 + np.exp(-total)) - 1)
        for c in range(words.shape[1]):
            one, other = words[i, c], others[j, c]
            words[i, c] -= slope * other
            others[j, c] -= slope * one


def word_vectors() -> Repeated:
    """As above, on two shared variables."""
    import symc
    import symc.tensor as T

    p, q = T.lvectors("p", "q")
    words, others = (symc.shared(table, name="words") for table in tables())

    def step(k: Any, a: Any, b: Any) -> Any:
        one, other = a[p[k]], b[q[k]]
        slope = 0.1 * (T.sigmoid((one * other).sum()) - 1)
        return a[p[k]].inc(-slope * other), b[q[k]].inc(-slope * one)

    last = symc.fori_loop(0, p.shape[0], step, [words, others])
    function = symc.function([p, q], updates=[*zip((words, others), last, strict=True)])
    function(*pairs())
    wanted = tables()
    word_vectors_loops(*pairs(), *wanted)
    check(words.get_value(), wanted[0], rtol=1e-12)
    check(others.get_value(), wanted[1], rtol=1e-12)
    return Repeated(function, pairs())


def word_vectors_in_numba() -> Repeated:
    """As above, on two arrays."""
    function, (words, others) = module("numba").njit(word_vectors_loops), tables()
    return Repeated(lambda p, q: function(p, q, words, others), pairs())


WORD_VECTORS = Case(
    "word_vectors",
    f"{PAIRS} steps on rows of two shared tables of {ROWS[0]:,} x {ROWS[1]}",
    {"symc": Contestant(word_vectors), "numba": Contestant(word_vectors_in_numba, "numba")},
    lambda results: compared(results, ("numba", GOAL)),
)
TABLE = Case(
    "row_update",
    f"two rows of a table of {ROWS[0]:,} x {ROWS[1]}, changed by themselves",
    {"symc": Contestant(rows)},
    lambda results: [at_most(results, ROW)],
)
CHAIN = Case(
    "chain",
    "300 steps that each set one of 100,000 numbers",
    {"symc": Contestant(chain)},
    lambda results: [at_most(results, 0.2e-3)],
)
CASES = (*SOLVERS, TABLE, WORD_VECTORS, CHAIN)
