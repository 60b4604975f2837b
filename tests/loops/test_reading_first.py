"""Numbers of old elements are read and kept before these are overwritten, and nothing is copied.

Solvers that are written as in NumPy change an element, and read it again with others that a step
might have changed. Each program is compared with NumPy loops and the interpreters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Repeat
from symc.graph.node import Tensor
from tests.loops.test_compiled import check, program
from tests.loops.test_in_place import inputs_of, is_copy, is_ring

RNG = np.random.default_rng(11)
A = RNG.standard_normal((6, 6))
SPD = A @ A.T + 6 * np.eye(6)
V = RNG.standard_normal(6)
WHOLE = RNG.integers(-50, 50, (6, 6))
WITH_NAN = np.where(A > 1.2, np.nan, SPD)


def cholesky(a: Tensor) -> Any:
    def row(i: Tensor, a: Tensor) -> Any:
        def column(j: Tensor, a: Tensor) -> Any:
            a = a[i, j].inc(-T.dot(a[i, :j], a[j, :j]))
            return a[i, j].set(a[i, j] / a[j, j])

        a = symc.fori_loop(0, i, column, a)
        a = a[i, i].inc(-T.dot(a[i, :i], a[i, :i]))
        return a[i, i].set(T.sqrt(a[i, i]))

    return symc.fori_loop(0, a.shape[0], row, a)


def cholesky_in_numpy(a: Any) -> Any:
    a = a.copy()
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
            a[i, j] /= a[j, j]
        a[i, i] -= a[i, :i] @ a[i, :i]
        a[i, i] = np.sqrt(a[i, i])
    return a


def lu(a: Tensor) -> Any:
    def row(i: Tensor, a: Tensor) -> Any:
        def lower(j: Tensor, a: Tensor) -> Any:
            a = a[i, j].inc(-(a[i, :j] @ a[:j, j]))
            return a[i, j].set(a[i, j] / a[j, j])

        a = symc.fori_loop(0, i, lower, a)
        return symc.fori_loop(i, a.shape[0], lambda j, a: a[i, j].inc(-(a[i, :i] @ a[:i, j])), a)

    return symc.fori_loop(0, a.shape[0], row, a)


def lu_in_numpy(a: Any) -> Any:
    a = a.copy()
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, len(a)):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def mirrored(a: Tensor) -> Any:
    """The element that is read after the write is the written one in some steps only."""

    def step(k: Tensor, a: Tensor) -> Any:
        b = a[k, 2].inc(3)
        return b[k, 0].set(a[k, 2] * 2 + b[5 - k, -4])

    return symc.fori_loop(0, 6, step, a)


def mirrored_in_numpy(a: Any) -> Any:
    a = a.copy()
    for k in range(6):
        old = a[k, 2]
        a[k, 2] += 3
        a[k, 0] = old * 2 + a[5 - k, -4]
    return a


def rows(a: Tensor) -> Any:
    """Whole rows of the old array, and a sum of one, with elements of the new one."""

    def step(k: Tensor, a: Tensor) -> Any:
        b = a[k].set(a[k][::-1])
        c = b[5 - k].inc(2 * a[k] + b[k, 1])
        return c[0, k].set(T.dot(a[k], c[k]))

    return symc.fori_loop(0, 6, step, a)


def rows_in_numpy(a: Any) -> Any:
    a = a.copy()
    for k in range(6):
        old = a[k].copy()
        a[k] = a[k][::-1].copy()
        a[5 - k] += 2 * old + a[k, 1]
        a[0, k] = old @ a[k]
    return a


def crossed(x: Tensor, y: Tensor) -> Any:
    """Each of two states needs old elements of the other after that was written."""

    def step(k: Tensor, x: Tensor, y: Tensor) -> Any:
        new = x[k].set(y[5 - k] / 2)
        other = y[k].set(x[k] + new[0])
        return new[5 - k].inc(y[k] - other[1]), other

    return symc.fori_loop(0, 6, step, [x, y])[0]


def crossed_in_numpy(x: Any, y: Any) -> Any:
    x, y = x.copy(), y.copy()
    for k in range(6):
        before, was = x[k], y[k]
        x[k] = y[5 - k] / 2
        y[k] = before + x[0]
        x[5 - k] += was - y[1]
    return x


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "Cholesky": (cholesky, cholesky_in_numpy, (SPD,)),
    "Cholesky with NaN": (cholesky, cholesky_in_numpy, (WITH_NAN,)),
    "LU": (lu, lu_in_numpy, (SPD,)),
    "mirrored": (mirrored, mirrored_in_numpy, (SPD,)),
    "whole numbers": (mirrored, mirrored_in_numpy, (WHOLE,)),
    "rows": (rows, rows_in_numpy, (SPD,)),
    "crossed": (crossed, crossed_in_numpy, (V, A[0])),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str) -> None:
    build, oracle, arrays = PROGRAMS[name]
    inputs = inputs_of(arrays)
    function = check(inputs, [build(*inputs)], *arrays)
    with np.errstate(invalid="ignore"):
        wanted = oracle(*arrays)
    np.testing.assert_allclose(function(*arrays)[0], wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_step_copies_a_state(name: str) -> None:
    build, _, arrays = PROGRAMS[name]
    inputs = inputs_of(arrays)
    function = symc.function(inputs, build(*inputs))
    made = program(function)
    assert not [buffer for buffer in made.buffers if is_ring(buffer, len(arrays))]
    for loop in every_step(made.steps):
        if isinstance(loop, Repeat):
            assert not [step for step in every_step(loop.steps) if is_copy(step)]
    assert "is stored: it is read before memory is overwritten" in function.explain()


@pytest.mark.parametrize("n", [0, 1])
def test_matrices_of_hardly_any_rows(n: int) -> None:
    a = T.matrix("a")
    np.testing.assert_allclose(symc.function([a], lu(a))(SPD[:n, :n]), SPD[:n, :n])


def test_an_index_out_of_bounds_that_the_new_elements_decide() -> None:
    """The condition needs the array that is overwritten, and what is kept comes before both."""
    x, far = T.lvector("x"), T.lscalar("far")

    def step(k: Tensor, x: Tensor) -> Any:
        y = x[k].inc(far)
        return y[y[k]].set((x[k] + y[0]) % 3)

    function = symc.function([x, far], symc.fori_loop(0, 3, step, x))
    wanted = np.array([0, 1, 2, 0])
    for k in range(3):
        old = wanted[k]
        wanted[k] += 1
        wanted[wanted[k]] = (old + wanted[0]) % 3
    np.testing.assert_array_equal(function([0, 1, 2, 0], 1), wanted)
    with pytest.raises(IndexError):
        function([0, 1, 2, 0], 7)


def test_shared_variables_are_written_where_they_lie() -> None:
    table = symc.shared(np.arange(6.0), name="table")
    i, j = T.lscalar("i"), T.lscalar("j")
    once = table[i].inc(1.0)
    again = once[j].set(table[i] * 10 / once[j])
    function = symc.function([i, j], [], updates=[(table, again)])
    assert "updated in place: table" in function.explain()
    for first, second in ((1, 2), (3, 3), (-1, 5), (0, -6)):
        wanted = table.get_value()
        old = wanted[first]
        wanted[first] += 1
        wanted[second] = old * 10 / wanted[second]
        function(first, second)
        np.testing.assert_array_equal(table.get_value(), wanted)
