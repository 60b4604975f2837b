"""settle: parts that have kernels or routines of their own are made in the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

# Of a vector x and two matrices a and b, and how many parts are rows of the whole.
CASES: dict[str, tuple[Callable[[Any, Any, Any, Any], Any], int]] = {
    "a sum after a number": (
        lambda n, x, a, b: n.concatenate([n.zeros(1), n.cumsum(x)])[::-1] * 2.0, 1,
    ),
    "a result": (lambda n, x, a, b: n.concatenate([n.zeros(1), n.cumsum(x)]), 1),
    "several": (
        lambda n, x, a, b: n.concatenate([n.cumsum(x), x + 1, n.cumprod(x), n.sort(x)]), 2,
    ),
    "nothing else": (lambda n, x, a, b: n.concatenate([n.cumsum(x), n.sort(x)]), 2),
    "products of matrices": (lambda n, x, a, b: n.concatenate([a @ b, b @ a, a]), 2),
    "columns": (lambda n, x, a, b: n.concatenate([a @ b, a], axis=1), 0),
    "a part that is read, too": (
        lambda n, x, a, b: n.concatenate([n.zeros(1), n.cumsum(x)])[1:] + n.cumsum(x), 0,
    ),
    "a part twice": (
        lambda n, x, a, b: (lambda s: n.concatenate([s, s + 1.0]))(n.cumsum(x)), 0,
    ),
    "one made of another": (
        lambda n, x, a, b: (lambda s: n.concatenate([s[:1], n.cumsum(s), s]))(n.cumsum(x)), 1,
    ),
}  # fmt: skip


def rows(f: symc.Function) -> int:
    """How many arrays are parts of others."""
    return sum(buffer.role == "row" for buffer in f.runner.compilation().optimised.buffers)


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_copies(name: str) -> None:
    formula, count = CASES[name]
    x, a, b = T.vector("x"), T.matrix("a"), T.matrix("b")
    f = symc.function([x, a, b], formula(T, x, a, b), on_unused_input="ignore")
    assert rows(f) == count
    rng = np.random.default_rng(0)
    for length, side in ((5, 3), (0, 2), (1, 1), (1000, 80), (40_000, 4)):
        given = rng.normal(size=length) / 10 + 1, *rng.normal(size=(2, side, side))
        np.testing.assert_allclose(f(*given), formula(np, *given), rtol=1e-10, atol=1e-10)


def test_a_shared_variable_is_written_when_its_old_value_is_not_needed() -> None:
    """The sum of what it was is not made where it stands."""
    w = symc.shared(np.arange(6.0), name="w")
    step = symc.function([], w.sum(), updates=[(w, T.concatenate([w[:1], T.cumsum(w[1:])]))])
    now = w.get_value()
    for _ in range(3):
        np.testing.assert_allclose(step(), now.sum())
        now = np.concatenate([now[:1], np.cumsum(now[1:])])
        np.testing.assert_allclose(w.get_value(), now)


def test_lengths_that_are_measured_have_arrays_of_their_own() -> None:
    x = T.lvector("x")
    f = symc.function([x], T.concatenate([[0], T.cumsum(T.nonzero(x)[0])]))
    for values in ([0, 3, 1, 0, 2], [0, 0], []):
        given = np.asarray(values, np.int64)
        wanted = np.concatenate([[0], np.cumsum(np.nonzero(given)[0])])
        np.testing.assert_array_equal(f(given), wanted)


def test_in_a_loop() -> None:
    x = T.vector("x")
    f = symc.function(
        [x], symc.fori_loop(0, 4, lambda k, y: T.concatenate([y[:1], T.cumsum(y[1:])]), x)
    )
    given = np.arange(1.0, 6.0)
    wanted = given
    for _ in range(4):
        wanted = np.concatenate([wanted[:1], np.cumsum(wanted[1:])])
    np.testing.assert_allclose(f(given), wanted)


@pytest.mark.parametrize("looped", [False, True])
def test_a_bug_rows_that_begin_where_a_measured_number_says_were_not_declared(looped: bool) -> None:
    """The whole is as long as is known before the call, its second part begins at an element."""
    x, k = T.tensor("float64", (2, 5, 3), "x"), T.lscalar("k")

    def sums(k: Any) -> Any:
        k = k % 3
        return (T.concatenate([x[:k], 2 * x[k:]]) - x).sum(axis=-1)

    made = (
        symc.fori_loop(0, 3, lambda i, s: s + sums(k + i), T.zeros((2, 5))) if looped else sums(k)
    )
    f = symc.function([x, k], made)
    given = np.arange(30.0).reshape(2, 5, 3)
    for first in range(4):
        wanted = np.zeros((2, 5))
        for step in range(3 if looped else 1):
            wanted[(first + step) % 3 :] += given[(first + step) % 3 :].sum(axis=-1)
        np.testing.assert_array_equal(f(given, first), wanted)
