"""Rows that are set from each other are set by one loop, without arrays beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Launch, Repeat
from symc.codegen.targets import sim
from symc.codegen.verify.program import verify

RNG = np.random.default_rng(7)
AT = T.tensor("int64", (None, 3), "at")

Rows = Callable[[Sequence[Any]], Sequence[Any]]
"""The new values of rows, in the order in which they are written, from the old ones."""
Place = Callable[[Any], Any]
"""The index of a row, from its number."""


def swapped(rows: Sequence[Any]) -> Sequence[Any]:
    return rows[1], rows[0]


def rotated(rows: Sequence[Any]) -> Sequence[Any]:
    p, q, *_ = rows
    return 3 * p - 2 * q, 2 * p + 3 * q


def in_turn(rows: Sequence[Any]) -> Sequence[Any]:
    return rows[1], rows[2], rows[0]


def one_reads_more(rows: Sequence[Any]) -> Sequence[Any]:
    p, q, r = rows
    return q + r, p - r


CHANGES = [swapped, rotated, in_turn, one_reads_more]
PLACES: dict[str, Place] = {
    "rows": lambda k: k,
    "columns": lambda k: (slice(None), k),
    "parts of rows": lambda k: (k, slice(1, None)),
    "parts of columns": lambda k: (slice(1, None), k),
    "every second": lambda k: (k, slice(None, None, 2)),
    "backwards": lambda k: (k, slice(None, None, -1)),
}


def steps_of(change: Rows, place: Place, x: Any) -> Any:
    """The loop: in each step, the rows whose numbers `at` has."""

    def step(k: Any, x: Any) -> Any:
        numbers = [AT[k, n] for n in range(3)]
        new = change([x[place(number)] for number in numbers])
        for number, row in zip(numbers, new, strict=False):
            x = x[place(number)].set(T.cast(row, x.dtype))
        return x

    return symc.fori_loop(0, AT.shape[0], step, x)


def in_numpy(change: Rows, place: Place, at: Any, x: Any) -> Any:
    x = x.copy()
    for numbers in at:
        new = [row.copy() for row in change([x[place(number)].copy() for number in numbers])]
        for number, row in zip(numbers, new, strict=False):
            x[place(number)] = row
    return x


def temporaries(f: Any) -> list[str]:
    """The arrays beside the arguments and results that steps of loops use."""
    program = f.runner.compilation().optimised
    loops = [step for step in every_step(program.steps) if isinstance(step, Repeat)]
    used = {b for s in every_step(loops) if isinstance(s, Launch) for b in s.buffers}
    return [b.name for b in program.buffers if b.role == "temp" and b.shape and b.name in used]


def compiled(change: Rows, place: Place, dtype: str = "float64", ndim: int = 2) -> Any:
    x = T.tensor(dtype, (None,) * ndim, "x")
    f = symc.function([x, AT], steps_of(change, place, x))
    verify(f.runner.compilation().optimised)
    return f


def some(dtype: str, shape: tuple[int, ...]) -> Any:
    x = RNG.integers(-5, 6, shape).astype(dtype)
    return (x + 1j * RNG.integers(-5, 6, shape)).astype(dtype) if "complex" in dtype else x


def numbers_in(length: int, count: int = 12) -> Any:
    """Numbers of rows, counted from both ends; some of them equal."""
    at = RNG.integers(-length, length, (count, 3))
    at[1] = at[1, 0]
    at[2] = [length - 1, -1, 0]
    return at


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_rows_at_any_places(change: Rows, name: str, dtype: str) -> None:
    _compare(change, name, dtype)


@pytest.mark.parametrize("name", ["rows", "columns"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "int8"])
def test_rows_of_any_dtype(name: str, dtype: str) -> None:
    _compare(rotated, name, dtype)


def _compare(change: Rows, name: str, dtype: str) -> None:
    f = compiled(change, PLACES[name], dtype)
    for shape in [(1, 1), (2, 3), (5, 5), (9, 30), (40, 7), (33, 70)]:
        x, at = some(dtype, shape), numbers_in(shape["columns" in name])
        with np.errstate(over="ignore"):
            wanted = in_numpy(change, PLACES[name], at, x)
        np.testing.assert_array_equal(f(x, at), wanted)


@pytest.mark.parametrize("name", ["rows", "columns"])
@pytest.mark.parametrize("change", [swapped, rotated, in_turn])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_nothing_is_kept_beside_rows_and_columns(change: Rows, name: str, dtype: str) -> None:
    assert not temporaries(compiled(change, PLACES[name], dtype))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_slices_of_three_axes(change: Rows, axis: int, dtype: str) -> None:
    place: Place = lambda k: (slice(None),) * axis + (k,)  # noqa: E731
    f = compiled(change, place, dtype, ndim=3)
    assert change is one_reads_more or not temporaries(f)
    for shape in [(1, 1, 1), (3, 2, 4), (5, 5, 5), (4, 9, 20), (2, 30, 3)]:
        x, at = some(dtype, shape), numbers_in(shape[axis])
        np.testing.assert_array_equal(f(x, at), in_numpy(change, place, at, x))


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64"])
def test_elements_stay_in_registers(dtype: str) -> None:
    f = compiled(swapped, PLACES["rows"], dtype, ndim=1)
    assert not temporaries(f)
    x, at = some(dtype, (9,)), numbers_in(9)
    np.testing.assert_array_equal(f(x, at), in_numpy(swapped, PLACES["rows"], at, x))


def test_values_are_converted_to_the_dtype_of_the_array() -> None:
    def turned(rows: Sequence[Any]) -> Sequence[Any]:
        p, q, _ = (row.astype("float64") for row in rows)
        return 0.5 * p - 0.75 * q, 0.75 * p + 0.5 * q

    at = numbers_in(5)
    for dtype in ("float32", "int16"):
        f = compiled(turned, PLACES["rows"], dtype)
        assert not temporaries(f)
        x = some(dtype, (5, 19))
        np.testing.assert_array_equal(f(x, at), in_numpy(turned, PLACES["rows"], at, x))


@pytest.mark.parametrize("name", ["rows", "columns"])
@pytest.mark.parametrize("bad", [7, -8])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_numbers_out_of_range_change_no_shared_variable(name: str, bad: int, column: int) -> None:
    x, at = some("float64", (7, 7)), numbers_in(7)
    w = symc.shared(x, name="w")
    f = symc.function([AT], [], updates=[(w, steps_of(in_turn, PLACES[name], w))])
    verify(f.runner.compilation().optimised)
    assert temporaries(f) == ["w_kept"]  # in its place if a check fails
    broken = at.copy()
    broken[5, column] = bad
    with pytest.raises(IndexError, match="out of"):
        f(broken)
    np.testing.assert_array_equal(w.get_value(), x)
    f(at)
    np.testing.assert_array_equal(w.get_value(), in_numpy(in_turn, PLACES[name], at, x))


def test_neighbours_counted_from_either_end() -> None:
    """k and k + 1 are the last row and the first one where k is -1."""
    k0 = T.lscalar("k0")

    def step(k: Any, x: Any) -> Any:
        p, q = x[k0 + k], x[k0 + k + 1]
        return x[k0 + k].set(p - 2 * q)[k0 + k + 1].set(2 * p + q)

    x_ = T.matrix("x")
    f = symc.function([x_, k0], symc.fori_loop(0, 3, step, x_))
    assert not temporaries(f)
    verify(f.runner.compilation().optimised)
    for rows in (1, 2, 5):
        x = some("float64", (rows, 6))
        for start in range(-6, 5):
            wanted = x.copy()
            try:
                for k in range(start, start + 3):
                    p, q = wanted[k].copy(), wanted[k + 1].copy()
                    wanted[k], wanted[k + 1] = p - 2 * q, 2 * p + q
            except IndexError:
                with pytest.raises(IndexError):
                    f(x, start)
            else:
                wanted = x.copy()
                for k in range(start, start + 3):
                    p, q = wanted[k].copy(), wanted[k + 1].copy()
                    wanted[k] = p - 2 * q
                    wanted[k + 1] = 2 * p + q
                np.testing.assert_array_equal(f(x, start), wanted)


def test_rows_that_overlap_are_computed_beside_the_array() -> None:
    """Pieces of one row that begin anywhere: the program asks whether they overlap."""
    x_, m = T.vector("x"), T.lscalar("m")

    def step(k: Any, x: Any) -> Any:
        i, j = AT[k, 0], AT[k, 1]
        p, q = x[i : i + m], x[j : j + m]
        return x[i : i + m].set(q)[j : j + m].set(p)

    f = symc.function([x_, AT, m], symc.fori_loop(0, AT.shape[0], step, x_))
    verify(f.runner.compilation().optimised)
    at, x = RNG.integers(0, 20, (30, 3)), some("float64", (30,))
    for length in (0, 1, 5, 10):
        wanted = x.copy()
        for i, j, _ in at:
            p, q = wanted[i : i + length].copy(), wanted[j : j + length].copy()
            wanted[i : i + length] = q
            wanted[j : j + length] = p
        np.testing.assert_array_equal(f(x, at, length), wanted)


@pytest.mark.skipif(not sim.available(), reason="no C++ compiler")
@pytest.mark.parametrize(("name", "dtype"), [("rows", "float64"), ("columns", "complex128")])
def test_a_kernel_of_a_device_sets_both_rows(name: str, dtype: str) -> None:
    x_ = T.tensor(dtype, (None, None), "x")
    f = symc.function([x_, AT], steps_of(rotated, PLACES[name], x_), device="cuda:sim")
    assert not temporaries(f)
    for shape in [(1, 1), (5, 5), (9, 30), (40, 7)]:
        x, at = some(dtype, shape), numbers_in(shape[name == "columns"])
        np.testing.assert_array_equal(f(x, at), in_numpy(rotated, PLACES[name], at, x))


# --- programs -------------------------------------------------------------------------------------


def turned(x: Any, one: Any, other: Any, c: Any, s: Any) -> Any:
    p, q = x[one], x[other]
    return x[one].set(c * p - s * q)[other].set(s * p + c * q)


def test_eigenvalues_by_rotations() -> None:
    """Jacobi's method."""
    a_ = T.matrix("a")
    n = a_.shape[0]

    def pair(p: Any, q: Any, a: Any, v: Any) -> Any:
        angle = 0.5 * T.arctan2(2 * a[p, q], a[q, q] - a[p, p])
        c, s = T.cos(angle), T.sin(angle)
        a = turned(a, p, q, c, s)
        every = slice(None)
        return turned(a, (every, p), (every, q), c, s), turned(v, (every, p), (every, q), c, s)

    def row(p: Any, a: Any, v: Any) -> Any:
        return symc.fori_loop(p + 1, n, lambda q, a, v: pair(p, q, a, v), (a, v))

    def sweep(_: Any, a: Any, v: Any) -> Any:
        return symc.fori_loop(0, n - 1, row, (a, v))

    f = symc.function([a_], symc.fori_loop(0, 12, sweep, (a_, T.eye(n))))
    verify(f.runner.compilation().optimised)
    assert not temporaries(f)
    for size in (1, 2, 3, 12, 25):
        a = RNG.standard_normal((size, size))
        a = a + a.T
        values, vectors = f(a)
        values = np.diag(values)
        np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(a), atol=1e-12)
        np.testing.assert_allclose(a @ vectors, vectors * values, atol=1e-11)


def test_triangular_factors_by_rotations() -> None:
    """Givens' method: also of parts of rows, from a column on."""
    a_ = T.matrix("a")
    m, n = a_.shape

    def column(j: Any, a: Any) -> Any:
        def pair(k: Any, a: Any) -> Any:
            i = m - 1 - k
            r = T.hypot(a[i - 1, j], a[i, j])
            return turned(
                a, (i - 1, slice(j, None)), (i, slice(j, None)), a[i - 1, j] / r, -a[i, j] / r
            )

        return symc.fori_loop(0, m - 1 - j, pair, a)

    f = symc.function([a_], symc.fori_loop(0, n, column, a_))
    verify(f.runner.compilation().optimised)
    for rows, columns in ((2, 1), (5, 4), (30, 12)):
        a = RNG.standard_normal((rows, columns))
        r = np.linalg.qr(a)[1]
        np.testing.assert_allclose(np.abs(f(a)[:columns]), np.abs(r), atol=1e-12)


def test_triangular_factors_with_pivots() -> None:
    a_ = T.matrix("a")
    n = a_.shape[0]

    def step(k: Any, a: Any, order: Any) -> Any:
        p = k + T.argmax(abs(a[k:, k]))
        one, other, first, second = a[k], a[p], order[k], order[p]
        a, order = a[k].set(other)[p].set(one), order[k].set(second)[p].set(first)
        a = a[k + 1 :, k].set(a[k + 1 :, k] / a[k, k])
        return a[k + 1 :, k + 1 :].inc(-a[k + 1 :, k][:, None] * a[k, k + 1 :][None, :]), order

    f = symc.function([a_], symc.fori_loop(0, n, step, (a_, T.arange(n))))
    verify(f.runner.compilation().optimised)
    assert not temporaries(f)
    for size in (1, 2, 7, 30):
        a = RNG.standard_normal((size, size))
        both, order = f(a)
        lower = np.tril(both, -1) + np.eye(size)
        np.testing.assert_allclose(lower @ np.triu(both), a[order], atol=1e-12)


def test_an_element_that_all_iterations_need_is_read_before() -> None:
    """Elimination: the factor is an element of the row that is written."""
    a_ = T.lmatrix("a")
    n = a_.shape[0]

    def plain(k: Any, i: Any, a: Any) -> Any:
        return a[i].set(a[i] - a[i, k] * a[k])

    def both(k: Any, i: Any, a: Any) -> Any:
        p, q = a[i], a[k]
        return a[i].set(q - a[i, k] * p)[k].set(p + a[k, i] * q)

    def eliminated(row: Callable[[Any, Any, Any], Any]) -> Any:
        def column(k: Any, a: Any) -> Any:
            return symc.fori_loop(k + 1, n, lambda i, a: row(k, i, a), a)

        return symc.fori_loop(0, n, column, a_)

    for row in (plain, both):
        f = symc.function([a_], eliminated(row))
        assert not temporaries(f)
        verify(f.runner.compilation().optimised)
        for size in (0, 1, 2, 5, 12):
            a = wanted = RNG.integers(-3, 4, (size, size))
            for k in range(size):
                for i in range(k + 1, size):
                    wanted = wanted.copy()
                    p, q = wanted[i].copy(), wanted[k].copy()
                    if row is plain:
                        wanted[i] = p - p[k] * q
                    else:
                        wanted[i], wanted[k] = q - p[k] * p, p + q[i] * q
            np.testing.assert_array_equal(f(a), wanted)


@pytest.mark.parametrize("read", [T.argmax, T.sort, lambda row: row, lambda row: row[::-1] + row])
def test_a_bug_what_the_last_step_left_in_an_array_beside_the_rows_was_not_written(
    read: Callable[[Any], Any],
) -> None:
    """It is filled before the loop, too, and read after it: what the first value was came out."""
    x, n = T.matrix("x"), T.lscalar("n")

    def step(i: Any, rows: Any, last: Any) -> list[Any]:
        found = rows[n - i]
        return [rows[n - i].set(2 * found), found]

    _, last = symc.fori_loop(1, n, step, [x, x[3]])
    f = symc.function([x, n], read(last))
    rows = RNG.integers(-9, 9, (6, 5)).astype(float)
    wanted, now = rows[3], rows.copy()
    for i in range(1, 5):
        wanted = now[5 - i].copy()
        now[5 - i] *= 2
    np.testing.assert_array_equal(f(rows, 5), read(T.constant(wanted)).eval())
    np.testing.assert_array_equal(f(rows, 1), read(T.constant(rows[3])).eval())
