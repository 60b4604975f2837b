"""States of loops are written where they lie: solvers, recurrences and tables by `set` and `inc`.

Each program is compared with NumPy loops and the interpreters, its loop IR is verified, and the
report on its memory must hold: how many copies there are, and of which arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Buffer, Repeat, Routine, const
from symc.codegen.verify.program import verify
from symc.graph.node import Tensor
from tests.loops.test_compiled import check, program

RNG = np.random.default_rng(3)
A = RNG.standard_normal((7, 7))
SPD = A @ A.T + 7 * np.eye(7)
V = RNG.standard_normal(7)


# --- programs, and the same in NumPy --------------------------------------------------------------


def gauss_seidel(u: Tensor) -> Any:
    def row(i: Tensor, u: Tensor) -> Any:
        def cell(j: Tensor, u: Tensor) -> Any:
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            return u[i, j].set(0.25 * around)

        return symc.fori_loop(1, u.shape[1] - 1, cell, u)

    return symc.fori_loop(1, u.shape[0] - 1, row, u)


def gauss_seidel_in_numpy(u: Any) -> Any:
    u = u.copy()
    for i in range(1, len(u) - 1):
        for j in range(1, len(u) - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def lu(a: Tensor) -> Any:
    def step(k: Tensor, a: Tensor) -> Any:
        a = a[k + 1 :, k].set(a[k + 1 :, k] / a[k, k])
        return a[k + 1 :, k + 1 :].inc(-a[k + 1 :, k][:, None] * a[k, k + 1 :][None, :])

    return symc.fori_loop(0, a.shape[0] - 1, step, a)


def lu_in_numpy(a: Any) -> Any:
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def cholesky(a: Tensor) -> Any:
    n = a.shape[0]

    def column(j: Tensor, a: Tensor) -> Any:
        a = a[j, j].set(T.sqrt(a[j, j]))
        a = a[j + 1 :, j].set(a[j + 1 :, j] / a[j, j])
        return symc.fori_loop(j + 1, n, lambda k, a: a[k:, k].inc(-a[k:, j] * a[k, j]), a)

    return T.tril(symc.fori_loop(0, n, column, a))


def solve_lower(a: Tensor, b: Tensor) -> Any:
    def row(i: Tensor, x: Tensor) -> Any:
        return x[i].set((b[i] - (a[i, :i] * x[:i]).sum()) / a[i, i])

    return symc.fori_loop(0, b.shape[0], row, T.zeros_like(b))


def solve_lower_in_numpy(a: Any, b: Any) -> Any:
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


def shifted(x: Tensor) -> Any:
    return symc.fori_loop(0, 5, lambda i, x: x[1:].set(x[:-1] + i), x)


def shifted_in_numpy(x: Any) -> Any:
    for i in range(5):
        x = np.concatenate([x[:1], x[:-1] + i])
    return x


def edit_distance(a: Tensor, b: Tensor) -> Any:
    n, m = a.shape[0], b.shape[0]
    table = T.zeros((n + 1, m + 1), "int64")
    table = table[0, :].set(T.arange(m + 1))[:, 0].set(T.arange(n + 1))

    def cell(i: Tensor, j: Tensor, d: Tensor) -> Any:
        cost = T.cast(T.neq(a[i], b[j]), "int64")
        least = T.minimum(T.minimum(d[i, j + 1] + 1, d[i + 1, j] + 1), d[i, j] + cost)
        return d[i + 1, j + 1].set(least)

    def row(i: Tensor, d: Tensor) -> Any:
        return symc.fori_loop(0, m, lambda j, d: cell(i, j, d), d)

    return symc.fori_loop(0, n, row, table)


def edit_distance_in_numpy(a: Any, b: Any) -> Any:
    d = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    d[0], d[:, 0] = np.arange(len(b) + 1), np.arange(len(a) + 1)
    for i in range(len(a)):
        for j in range(len(b)):
            d[i + 1, j + 1] = min(
                d[i, j + 1] + 1, d[i + 1, j] + 1, d[i, j] + int(a[i] != b[j])
            )  # fmt: skip
    return d


def swapped(x: Tensor, y: Tensor) -> Any:
    states, _ = symc.scan(
        lambda x, y: [y[0].set(x[1]), x[1].inc(y[0])], outputs_info=[x, y], n_steps=4
    )
    return T.concatenate([states[0][-1], states[1][-1]])


def swapped_in_numpy(x: Any, y: Any) -> Any:
    for _ in range(4):
        new_x, new_y = y.copy(), x.copy()
        new_x[0] = x[1]
        new_y[1] += y[0]
        x, y = new_x, new_y
    return np.concatenate([x, y])


def reversed_rows(a: Tensor) -> Any:
    return symc.fori_loop(0, 3, lambda i, a: a[i:].set(a[i:][::-1]), a)


def reversed_rows_in_numpy(a: Any) -> Any:
    a = a.copy()
    for i in range(3):
        a[i:] = a[i:][::-1].copy()
    return a


WORD, OTHER = RNG.integers(0, 3, 6), RNG.integers(0, 3, 8)
PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...], int]] = {
    # the function, the same in NumPy, arguments, how many times a state is copied as a whole
    "Gauss-Seidel": (gauss_seidel, gauss_seidel_in_numpy, (A,), 1),
    "LU": (lu, lu_in_numpy, (SPD,), 1),
    "Cholesky": (cholesky, np.linalg.cholesky, (SPD,), 1),
    "triangular": (solve_lower, solve_lower_in_numpy, (SPD, V), 1),
    "shifted": (shifted, shifted_in_numpy, (V,), 3),
    "edit distance": (edit_distance, edit_distance_in_numpy, (WORD, OTHER), 1),
    "reversed rows": (reversed_rows, reversed_rows_in_numpy, (A,), 1),
    "swapped": (swapped, swapped_in_numpy, (V[:3], V[3:6]), 4),
}


def inputs_of(arrays: tuple[Any, ...]) -> list[Tensor]:
    return [
        T.tensor(array.dtype.name, (None,) * array.ndim, name=f"x{number}")
        for number, array in enumerate(arrays)
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str) -> None:
    build, oracle, arrays, _ = PROGRAMS[name]
    inputs = inputs_of(arrays)
    function = check(inputs, [build(*inputs)], *arrays)
    np.testing.assert_allclose(function(*arrays)[0], oracle(*arrays), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_the_simulator(name: str) -> None:
    build, oracle, arrays, _ = PROGRAMS[name]
    inputs = inputs_of(arrays)
    function = symc.function(inputs, build(*inputs), device="cuda:sim")
    np.testing.assert_allclose(function(*arrays), oracle(*arrays), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_copies(name: str) -> None:
    """Whole states are copied when a loop begins or ends, and nowhere else."""
    build, _, arrays, wanted = PROGRAMS[name]
    inputs = inputs_of(arrays)
    made = program(symc.function(inputs, build(*inputs)))
    verify(made)
    copies = [step for step in every_step(made.steps) if is_copy(step)]
    assert len(copies) <= wanted
    for loop in every_step(made.steps):
        if isinstance(loop, Repeat) and name != "swapped":
            assert not [step for step in every_step(loop.steps) if is_copy(step)]
    rings = [buffer for buffer in made.buffers if is_ring(buffer, len(arrays))]
    assert bool(rings) == (name in ("shifted", "swapped"))


def is_copy(step: Any) -> bool:
    return isinstance(step, Routine) and step.name == "copy_bytes"


def is_ring(buffer: Buffer, count: int) -> bool:
    """Whether a buffer has two values of a state in turn."""
    return buffer.role == "temp" and bool(buffer.shape) and buffer.shape[0] == const(2)


def test_updates_of_rows_touch_only_rows() -> None:
    table = symc.shared(np.zeros((1000, 4)), name="table")
    i, j = T.lscalar("i"), T.lscalar("j")
    for new in (
        table[i].inc(table[i] * 2), table[i].inc(1.0)[j].inc(1.0), table[2:10].inc(table[2:10]),
        table[i].set(table[j]), table[i].inc(1.0)[j].set(table[i]),
    ):  # fmt: skip
        function = symc.function([i, j], [], updates=[(table, new)], on_unused_input="ignore")
        assert "updated in place: table" in function.explain()


def test_a_state_that_is_read_when_it_is_overwritten_has_two_rows() -> None:
    x = T.vector("x")
    f = symc.function([x], symc.fori_loop(0, 3, lambda i, x: x[::-1] * 2 + x, x))
    said = f.explain()
    assert "the state slot has memory for two values of 8*slot.shape[0] bytes" in said
    value = np.array([1.0, 5.0, 7.0])
    expected = value
    for _ in range(3):
        expected = expected[::-1] * 2 + expected
    np.testing.assert_array_equal(f(value), expected)


def test_a_state_that_inner_loops_hand_on_whole_lies_in_one_place() -> None:
    """Of ``n - 1`` elements all are ``n - 1``, and not ``max(0, n - 1)``: the state kept two."""
    starts, x = T.lvector("starts"), T.vector("x")
    count = starts.shape[0] - 1

    def row(i: Tensor, y: Tensor) -> Any:
        return symc.fori_loop(starts[i], starts[i + 1], lambda k, y: y[i].inc(x[k]), y)

    f = symc.function([starts, x], symc.fori_loop(0, count, row, T.zeros((count,))))
    assert "memory for two values" not in f.explain()
    got = f(np.array([0, 2, 2, 5]), np.arange(5.0))
    np.testing.assert_array_equal(got, [1.0, 0.0, 9.0])


def test_all_of_an_axis_is_as_long_as_the_axis() -> None:
    x, y = T.vector("x"), T.vector("y")
    part = x[1:]
    assert part[:].type.shape == part.type.shape
    less = T.zeros((x.shape[0] - 1,)) + y
    assert less[:].type.shape == less.type.shape


def wave(u: Tensor, v: Tensor, steps: Tensor, at: str = "[1:-1, 1:-1]") -> Any:
    """The wave equation: a new state over the one before the last, of which it reads the same."""

    def step(_: Tensor, u: Tensor, v: Tensor) -> Any:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        old = eval(f"v{at}", {"v": v})
        return [u[1:-1, 1:-1].set(2 * u[1:-1, 1:-1] - old + 0.1 * around), u]

    return symc.fori_loop(0, steps, step, [u, v])


def wave_in_numpy(u: Any, v: Any, steps: int, at: str = "[1:-1, 1:-1]") -> Any:
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        new = u.copy()
        new[1:-1, 1:-1] = 2 * u[1:-1, 1:-1] - eval(f"v{at}", {"v": v}) + 0.1 * around
        u, v = new, u
    return u, v


@pytest.mark.parametrize("at", ["[1:-1, 1:-1]", "[:-2, 1:-1]", "[1:-1, 1:-1][::-1]"])
def test_a_box_lies_where_it_is_computed_from(at: str) -> None:
    """It was computed beside, and copied: another pass through memory in each step."""
    u, v, steps = T.matrix("u"), T.matrix("v"), T.lscalar("steps")
    f = symc.function([u, v, steps], wave(u, v, steps, at), mode="compile")
    made = program(f)
    verify(made)
    is_beside = "read before memory is overwritten" in f.explain()
    assert is_beside == (at != "[1:-1, 1:-1]")
    for lengths in ((2, 2), (3, 3), (3, 7), (2, 5), (9, 4), (17, 21)):
        one, other = RNG.standard_normal(lengths), RNG.standard_normal(lengths)
        for count in (0, 1, 2, 5):
            for found, wanted in zip(
                f(one, other, count), wave_in_numpy(one, other, count, at), strict=True
            ):
                np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("rows", ["k:k + 2", "2:", ":3", "4:9", "-2:", "3:1"])
def test_a_box_in_a_shared_variable(rows: str) -> None:
    """Places that only the call knows are no box in kernels, and are computed beside.

    The base was copied over what the box is computed from, where only the schedule saw a box.
    """
    base, box, k = T.matrix("base"), symc.shared(np.zeros((5, 6)), name="box"), T.lscalar("k")

    def changed(base: Any, box: Any, k: Any) -> Any:
        return eval(f"(base[{rows}, 1:4], box[{rows}, 1:4])", {"base": base, "box": box, "k": k})

    part, old_part = changed(base, box, k)
    new = part.set(old_part * 2 + 1)
    f = symc.function([base, k], [], updates=[(box, new)], mode="compile", on_unused_input="ignore")
    verify(program(f))
    assert "updated in place: box" in f.explain()
    given = RNG.standard_normal((5, 6))
    for start in (0, 1, 3, 4, 5, 9, -1, -2, -7):
        old = RNG.standard_normal((5, 6))
        box.set_value(old)
        wanted = given.copy()
        target, source = changed(wanted, old, start)
        target[...] = source * 2 + 1
        f(given, start)
        np.testing.assert_array_equal(box.get_value(), wanted)
