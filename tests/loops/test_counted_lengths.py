"""Lengths inside loops that follow from the number of a step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.text import text
from symc.errors import ShapeMismatch
from symc.graph.node import Tensor

B = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def scanned(step: Callable[[Tensor], Tensor]) -> Tensor:
    """The results of a function of a step's number in five steps."""
    outputs: Tensor = symc.scan(step, T.arange(5))[0]
    return outputs


def loop(count: int, step: Callable[[Tensor, Tensor], Tensor], start: Tensor) -> Tensor:
    result: Tensor = symc.fori_loop(0, count, step, start)
    return result


CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "sums before": lambda b: loop(4, lambda i, x: x[i].set(b[:i].sum()), b),
    "sums behind": lambda b: loop(5, lambda i, x: x[i].set(b[i:].sum()), b),
    "window": lambda b: loop(5, lambda i, x: x[i].set(b[i : i + 2].max()), b),
    "of the state": lambda b: loop(5, lambda i, x: x[i].inc(x[:i].sum()), b),
    "written": lambda b: loop(5, lambda i, x: x[:i].inc(1), b),
    "reversed": lambda b: loop(5, lambda i, x: x[:i].set(x[:i][::-1]), b),
    "sorted": lambda b: loop(5, lambda i, x: x[i:].set(T.sort(x[i:])[::-1]), b),
    "cumulated": lambda b: loop(5, lambda i, x: x[:i].set(T.cumsum(x[:i])), b),
    "product": lambda b: scanned(lambda i: (T.outer(b[:i], b[:i]) @ b[:i]).sum()),
    "nested": lambda b: loop(
        4, lambda i, x: loop(3, lambda j, y: y[j].inc(b[j : i + 1].sum() + y[: i + j].sum()), x), b
    ),
    "length of a loop": lambda b: scanned(
        lambda i: symc.fori_loop(0, i, lambda j, y: y + b[j:i].sum(), b[0])
    ),
    "branch": lambda b: loop(
        5,
        lambda i, x: symc.ifelse(x[i] > 2, x[i].set(b[:i].sum()), x[i].set(b[i:].prod())),
        b,
    ),
    "made": lambda b: scanned(lambda i: (T.tile(b[:i], 2).sum() + T.ones((i, i)).sum()) * b[0]),
    "measured": lambda b: scanned(lambda i: b[:i][b[:i] > 1].sum() + T.argmax(b[: i + 1])),
    "gradient": lambda b: symc.grad(
        T.sqr(scanned(lambda i: T.sqr(b[:i]).sum() * b[i:].sum())).sum(), b
    ),
    "gradient of a state": lambda b: symc.grad(
        T.sqr(loop(4, lambda i, x: x[i].set(T.sqr(b[:i]).sum() + x[i:].sum()), b)).sum(), b
    ),
}


def test_a_bug_lengths_that_follow_from_a_counter_were_not_declared() -> None:
    b = T.vector("b")
    f = symc.function([b], CASES["sums before"](b))
    assert f(B).tolist() == [0, 1, 3, 6, 5]
    assert f(2 * B[:4]).tolist() == [0, 2, 6, 12]


def test_a_bug_slices_from_a_counter_to_a_number_of_the_call_did_not_compile() -> None:
    """The number was not measured before the loop, as the length as a whole is known inside."""
    b, k = T.vector("b"), T.lscalar("k")
    found = [
        scanned(lambda i: b[i:k].sum()),
        loop(5, lambda i, x: x[k:i].inc(1), b),
        scanned(lambda i: symc.fori_loop(i, k, lambda j, y: y + b[j : k + i].sum(), b[0])),
        scanned(lambda i: symc.ifelse(i > 1, b[i : b[b > 2].shape[0]].sum(), b[k:i].sum())),
    ]
    f = symc.function([b, k], [*found, symc.grad(T.sqr(found[0]).sum(), b)])
    again = symc.function([b, k], [*found, symc.grad(T.sqr(found[0]).sum(), b)], mode="python")
    for number in (-2, 0, 3, 9):
        for value, right in zip(f(B, number), again(B, number), strict=True):
            np.testing.assert_allclose(value, right, rtol=1e-12)
    assert f(B, 3)[0].tolist() == [6, 5, 3, 0, 0]


@pytest.mark.parametrize("length", [None, 5])
@pytest.mark.parametrize("mode", ["default", "fast", "compile"])
def test_slices_bounded_by_counters(mode: str, length: int | None) -> None:
    """All at once, as the interpreter of graphs has them."""
    b = T.tensor("float64", (length,), name="b")
    outputs = {name: build(b) for name, build in CASES.items()}
    wanted = symc.function([b], outputs, mode="python")(B)
    found = symc.function([b], outputs, mode=mode)(B)
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("lengths", [(6, 4), (7, 5), (1, 3), (0, 8)])
def test_pairs_of_a_row_are_two_long(lengths: tuple[int, int]) -> None:
    """Twice a half, rounded down, is no more than the whole: so no slice is cut short, and pooling
    two by two writes its four elements out."""
    x = T.matrix("x")

    def row(i: Tensor, out: Tensor) -> Tensor:
        def cell(j: Tensor, out: Tensor) -> Tensor:
            return out[i, j].set(x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].sum())

        pooled: Tensor = symc.fori_loop(0, x.shape[1] // 2, cell, out)
        return pooled

    start = T.zeros((x.shape[0] // 2, x.shape[1] // 2))
    function = symc.function([x], symc.fori_loop(0, x.shape[0] // 2, row, start))
    n, m = lengths
    given = np.arange(float(n * m)).reshape(n, m)
    wanted = given[: n // 2 * 2, : m // 2 * 2].reshape(n // 2, 2, m // 2, 2).sum(axis=(1, 3))
    np.testing.assert_allclose(function(given), wanted)
    assert "min(" not in text(function.runner.compilation().optimised).split("run\n")[1]


def test_lengths_that_a_step_measures_are_compared_as_lengths() -> None:
    """Not by a kernel that computes both again: rows of a sparse matrix, 1.6 times numba's time."""
    starts, columns = T.lvector("starts"), T.lvector("columns")
    values, x = T.vector("values"), T.vector("x")

    def row(i: Tensor, y: Tensor) -> Tensor:
        part = slice(starts[i], starts[i + 1])
        return y[i].set(values[part] @ x[columns[part]])

    count = starts.shape[0] - 1
    product = symc.fori_loop(0, count, row, T.zeros(count))
    function = symc.function([starts, columns, values, x], product)
    given = np.array([0, 2, 2, 5])
    places = np.array([1, 0, 2, 1, -1])
    np.testing.assert_allclose(function(given, places, B, B[:3]), [4.0, 0.0, 9.0 + 8.0 + 15.0])
    with pytest.raises(ShapeMismatch):
        function(given, places, B[:4], B[:3])
    if symc.config.device == "cpu":
        assert "eq_kernel" not in function.source


def test_a_length_computed_of_others_is_known_before_branches_and_loops_that_use_it() -> None:
    first, counts, rows = T.lscalar("first"), T.lvector("counts"), T.matrix("rows")
    x = T.ones(3 * counts.sum())
    y = symc.ifelse(first, T.stack([x.shape[0], first]), T.stack([first, first]))
    sums, _ = symc.scan(lambda row: row.sum() * x.shape[0], sequences=rows)
    branch = symc.function([first, counts], [y, x * 2])  # x is only computed after the branch
    loop = symc.function([counts, rows], [sums, x * 2])
    np.testing.assert_array_equal(branch(1, [1, 1])[0], [6, 1])
    np.testing.assert_array_equal(loop([1, 1], np.ones((2, 2)))[0], [12.0, 12.0])
