"""What follows from numbers of steps: indexes that are in range, and lengths of slices.

And states that are single numbers, which are registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.blocks import every_step
from symc.codegen.ir import Check, const
from symc.codegen.verify.program import verify
from symc.errors import BadIndex
from symc.graph import dims
from symc.graph.dims import nonnegative
from symc.graph.node import Tensor
from symc.schedule.numbers import StepNumber
from symc.tensor.lengths import dim_of
from tests.loops.test_compiled import check, program

WORD = np.random.default_rng(5).integers(0, 4, 9)
A = np.random.default_rng(6).standard_normal((6, 6))


def pairing(word: Tensor) -> Any:
    """Rows from the last one upwards, each from its diagonal: two counters and a length."""
    n = word.shape[0]

    def row(r: Tensor, table: Tensor) -> Any:
        i = n - 1 - r

        def cell(j: Tensor, table: Tensor) -> Any:
            best = T.maximum(table[i, j - 1], table[i + 1, j])
            pair = T.cast(T.eq(word[i] + word[j], 3), "int64")
            best = T.maximum(best, table[i + 1, j - 1] + pair)
            best = symc.fori_loop(
                i + 1, j, lambda k, best: T.maximum(best, table[i, k] + table[k + 1, j]), best
            )
            return table[i, j].set(best)

        return symc.fori_loop(i + 1, n, cell, table)

    return symc.fori_loop(0, n, row, T.zeros((n, n), "int64"))


def pairing_in_numpy(word: Any) -> Any:
    n = len(word)
    table = np.zeros((n, n), np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(table[i, j - 1], table[i + 1, j])
            best = max(best, table[i + 1, j - 1] + int(word[i] + word[j] == 3))
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table


def checks_in(function: Any) -> list[Any]:
    made = program(function)
    verify(made)
    return [step for step in every_step(made.steps) if isinstance(step, Check)]


def test_indexes_from_lengths_and_counters_are_not_checked() -> None:
    word = T.lvector("word")
    f = check([word], [pairing(word)], WORD)
    np.testing.assert_array_equal(f(WORD)[0], pairing_in_numpy(WORD))
    assert not checks_in(f)
    for short in (WORD[:0], WORD[:1], WORD[:2]):
        np.testing.assert_array_equal(f(short)[0], pairing_in_numpy(short))


def test_lengths_of_ragged_slices_are_differences() -> None:
    """Rows solved from the last one upwards read ``x[i + 1:]`` where ``i = n - 1 - r``."""
    a, b = T.matrix("a"), T.vector("b")

    def row(r: Tensor, x: Tensor) -> Any:
        i = b.shape[0] - 1 - r
        return x[i].set((b[i] - (a[i, i + 1 :] * x[i + 1 :]).sum()) / a[i, i])

    upper = np.triu(A) + 6 * np.eye(6)
    f = check([a, b], [symc.fori_loop(0, b.shape[0], row, T.zeros_like(b))], upper, A[0])
    np.testing.assert_allclose(f(upper, A[0])[0], np.linalg.solve(upper, A[0]))
    bounds = [size for size in program(f).sizes if "max" in size.note and "min" in size.note]
    assert not bounds


def test_a_shorter_loop_of_another_function_says_nothing_of_a_longer_one() -> None:
    """Where the number of its steps was still alive, ``x[9 - i]`` was read before the first."""
    of_three = StepNumber("step", 3)()
    x = T.vector("x")
    f = check([x], [symc.fori_loop(0, 20, lambda i, s: s + x[9 - i], 0.0)], np.arange(10.0))
    assert "step" in [size.var.name for size in program(f).sizes]
    assert of_three is not StepNumber("step", 20)()


def test_a_number_of_two_branches_is_no_number_of_a_step() -> None:
    """How many results its branch has was taken for the number of the steps."""
    n = T.lscalar("n")
    chosen = dim_of(symc.ifelse(n > 3, n * n, n - 5))
    assert not nonnegative(chosen)
    assert not nonnegative(dims.sub(0, chosen))


@pytest.mark.parametrize("first", ["before", "after"])
def test_an_index_beyond_the_ends_is_still_refused(first: str) -> None:
    x = T.vector("x")
    n = x.shape[0]

    def step(i: Tensor, x: Tensor) -> Any:
        def inner(j: Tensor, x: Tensor) -> Any:
            return x[n - i + j if first == "after" else j - i - n].set(1.0)

        return symc.fori_loop(0, i + 1, inner, x)

    f = symc.function([x], symc.fori_loop(0, n, step, x))
    with pytest.raises(BadIndex, match="out of bounds for axis 0 with length 3"):
        f(np.zeros(3))


def test_indexes_below_zero_count_from_the_end() -> None:
    x = T.vector("x")
    n = x.shape[0]

    def step(r: Tensor, y: Tensor) -> Any:
        place = r - n  # -n to -1
        return symc.fori_loop(0, 2, lambda k, y: y[place].set(x[place] + k), y)

    f = symc.function([x], symc.fori_loop(0, n, step, T.zeros_like(x)))
    np.testing.assert_array_equal(f(A[0]), A[0] + 1)


# --- numbers as states ----------------------------------------------------------------------------


def test_numbers_that_need_each_other_are_not_in_turn() -> None:
    x, y = T.dscalar("x"), T.dscalar("y")

    def body(a: Tensor, b: Tensor, k: Tensor) -> Any:
        return a * a - b * b + x, 2 * a * b + y, k + 1

    states = symc.while_loop(
        lambda a, b, k: T.logical_and(a * a + b * b <= 4.0, k < 50),
        body, [T.constant(0.0), T.constant(0.0), T.constant(0)],
    )  # fmt: skip
    f = check([x, y], states, np.array(0.3), np.array(0.6))
    assert not [b for b in program(f).buffers if b.role == "temp" and b.shape[:1] == (const(2),)]
    z, count = 0j, 0
    while abs(z) <= 2 and count < 50:
        z, count = z * z + (0.3 + 0.6j), count + 1
    np.testing.assert_allclose(f(0.3, 0.6), [z.real, z.imag, count])


@pytest.mark.parametrize("device", ["cpu", "cuda:sim"])
@pytest.mark.parametrize("dtype", ["int64", "complex128", "float16", "bool"])
def test_numbers_that_change_places(dtype: str, device: str) -> None:
    a, b, n = T.scalar("a", dtype=dtype), T.scalar("b", dtype=dtype), T.lscalar("n")
    results = symc.fori_loop(0, n, lambda _, a, b: [b, a], [a, b])
    f = symc.function([a, b, n], results, device=device)
    one, two = np.array([0, 1]).astype(dtype)
    for steps in (0, 1, 4, 5):
        np.testing.assert_array_equal(
            f(one, two, steps), [one, two] if steps % 2 == 0 else [two, one]
        )


def test_numbers_inside_loops_and_their_histories() -> None:
    n = T.lscalar("n")

    def outer(i: Tensor, total: Tensor) -> Any:
        a, b = symc.fori_loop(0, i, lambda _, a, b: [b, a + b], [T.constant(0), T.constant(1)])
        return total + a * b

    rows, _ = symc.scan(lambda a, b: [b, a + b], outputs_info=[0, 1], n_steps=n)
    f = symc.function([n], [symc.fori_loop(0, n, outer, T.constant(0)), rows[0], rows[1][-1]])
    numbers = [0, 1]
    while len(numbers) < 12:
        numbers.append(numbers[-1] + numbers[-2])
    total, first, last = f(7)
    assert total == sum(numbers[i] * numbers[i + 1] for i in range(7))
    assert list(first) == numbers[1:8]
    assert last == numbers[8]


@pytest.mark.parametrize(
    ("dtype", "lower", "upper"),
    [
        ("int8", -100, 100), ("int8", 127, -128), ("uint8", 250, 3), ("int16", -32768, 32767),
        ("uint32", 3, 1), ("uint64", 3, 1), ("uint64", 0, 5),
    ],
)  # fmt: skip
def test_bounds_of_any_integers_are_numbers(dtype: str, lower: int, upper: int) -> None:
    """Their difference wrapped: from 250 to 3 there were 9 steps, from -100 to 100 none."""
    a, b = T.scalar("a", dtype=dtype), T.scalar("b", dtype=dtype)
    found = symc.fori_loop(a, b, lambda i, steps, total: [steps + 1, total + i], [0, 0])
    assert [each.dtype.name for each in found] == ["int64", "int64"]
    for mode in ("compile", "python"):
        steps, total = symc.function([a, b], found, mode=mode)(lower, upper)
        assert (steps, total) == (max(upper - lower, 0), sum(range(lower, upper)))
