"""Slices of one element stretch as NumPy's do, though their length is ``min(1, n)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import ShapeMismatch
from symc.graph.dims import at_most_one
from tests.ops.shape_cases import draw, verify

Build = Callable[[Any, Any], Any]
CASES: dict[str, Build] = {
    "a column": lambda x, xp: x[:, :1] * x,
    "the last row": lambda x, xp: x - x[-1:],
    "one in the middle": lambda x, xp: x[1:2] * x[:, 2:3] - x,
    "a row and a column": lambda x, xp: x[:, 1:2].T - x[:, 1:2],
    "the one before the last": lambda x, xp: x * x[-2:-1],
    "other ranks": lambda x, xp: x[0, :1] + x,
    "where": lambda x, xp: xp.where([True, False, True], x[:1], x),
    "a known length": lambda x, xp: x[:, :1] * np.ones((4, 7)),
    "broadcast_to": lambda x, xp: xp.broadcast_to(x[:, :1], (4, 6)),
    "broadcast_arrays": lambda x, xp: xp.broadcast_arrays(x[:1], x)[0],
    "choose": lambda x, xp: xp.choose(np.array([[0], [1], [1], [0]]), [x[:1], x]),
    "two of them": lambda x, xp: x[:1] * x[-1:],
}


@pytest.mark.parametrize("name", CASES)
def test_a_slice_of_one_element_stretches(name: str) -> None:
    build = CASES[name]
    verify(lambda x: build(x, T), draw(4, 3), oracle=lambda x: build(x, np))


def test_it_is_written_to_all_of_a_region() -> None:
    def oracle(x: Any) -> list[Any]:
        row, column = x.copy(), x.copy()
        row[1:] += x[:1]
        column[:, :] = x[:, 1:2]
        return [row, column]

    verify(lambda x: [x[1:].inc(x[:1]), x[:, :].set(x[:, 1:2])], draw(4, 3), oracle=oracle)


def test_in_loops_and_in_batches() -> None:
    x, value = T.matrix("x"), draw(4, 3)
    scanned, _ = symc.scan(lambda row: row[:1] * row, sequences=[x])
    mapped = symc.vmap(lambda row: row[1:2] - row)(x)
    got = symc.function([x], [scanned, mapped])(value)
    np.testing.assert_array_equal(got[0], value[:, :1] * value)
    np.testing.assert_array_equal(got[1], value[:, 1:2] - value)


def test_that_there_is_one_is_checked() -> None:
    x = T.matrix("x")
    f = symc.function([x], x[:, 5:6] * x)
    with pytest.raises(ShapeMismatch, match="axis 1 is 0 on the left and 3 on the right"):
        f(draw(4, 3))
    assert f(draw(2, 6)).shape == (2, 6)


def test_none_beside_none() -> None:
    """There may be none where the other has none: nothing is read, and gradients are empty."""
    x, y = T.matrix("x"), T.matrix("y")
    cost = (T.exp(x[:, :1]) * x).sum()
    f = symc.function([x], [x[:, :1] * x, symc.grad(cost, x)])
    assert [result.shape for result in f(np.ones((3, 0)))] == [(3, 0), (3, 0)]
    n = x.shape[0]
    written = symc.function([x, y], y[n - 1 : -2 : 3].set(x[n - 1 : -2 : 3]))
    np.testing.assert_array_equal(written(draw(4, 3), np.ones((4, 3))), np.ones((4, 3)))


def test_what_is_one_by_chance_does_not_stretch_and_the_error_says_what_to_do() -> None:
    x, y = T.matrix("x"), T.matrix("y")
    f = symc.function([x, y], x * y)
    with pytest.raises(ShapeMismatch, match=r"(?s)axis 1 is 1 on .*shape=\(None, 1\)"):
        f(draw(4, 1), draw(4, 3))
    with pytest.raises(ShapeMismatch) as caught:
        f(draw(4, 2), draw(4, 3))
    assert "declare" not in str(caught.value)


def test_which_lengths_are_at_most_one() -> None:
    x = T.vector("x")
    short = [x[:1], x[-1:], x[3:4], x[-3:-2]]
    assert all(at_most_one(part.type.shape[0]) for part in short)
    assert not any(at_most_one(part.type.shape[0]) for part in (x, x[:2], x[1:], x[:-1]))


def test_slices_of_one_at_a_computed_place_stretch() -> None:
    x, i = T.matrix("x"), T.lscalar("i")
    first, last = T.argmax(x[:, 0]), x.shape[0] // 2
    value = draw(4, 3)
    places = [i, first, last]
    f = symc.function([x, i], [x[k : k + 1] + x for k in places])
    for number in (0, 2, -2):
        found = [number, int(value[:, 0].argmax()), 2]
        for got, k in zip(f(value, number), found, strict=True):
            np.testing.assert_array_equal(got, value[k : k + 1] + value)
    for number in (-1, 4, 2**62):  # these slices are empty
        with pytest.raises(ShapeMismatch, match="axis 0 is 0 on the left and 4 on the right"):
            f(value, number)
    assert not at_most_one(x[i : i + 2].type.shape[0])
    assert not at_most_one(x[i:].type.shape[0])


def test_slices_of_one_at_the_place_of_a_step_stretch() -> None:
    x, value = T.matrix("x"), np.rint(draw(4, 3) * 8)  # sums are exact in any order
    scanned, _ = symc.scan(lambda i: x[i : i + 1] * x, sequences=T.arange(x.shape[0]))
    looped = symc.fori_loop(0, 3, lambda i, state: state[:].inc(x[i : i + 1]), x)
    got, summed = symc.function([x], [scanned, looped])(value)
    np.testing.assert_array_equal(got, value[:, None] * value)
    np.testing.assert_array_equal(summed, value + value[:3].sum(axis=0))


def test_the_error_of_a_length_that_a_number_decides_says_both_lengths() -> None:
    x, i = T.matrix("x"), T.lscalar("i")
    f = symc.function([x, i], x[abs(i) : abs(i) + 2] + x)
    with pytest.raises(ShapeMismatch, match="axis 0 is 2 on the left and 3 on the right"):
        f(np.zeros((3, 2)), 1)  # the number as Python has it


def test_a_stretched_slice_that_is_known_to_be_empty_has_a_gradient() -> None:
    """``x[:i]`` of one element, in the step in which i is 0: its length could not become 1."""
    one = (1,)
    x, y, w = (T.vector(name, shape=one) for name in "xyw")

    def row(i: Any, total: Any) -> Any:
        return symc.fori_loop(0, i + 1, lambda j, q: q[:i].inc(y[:i] * x[:i]), total)

    out = symc.fori_loop(0, 1, row, w).sum()
    along = T.Rop(out, [x, y, w], [T.ones_like(x)] * 3)
    f = symc.function([x, y, w], [along, *symc.grad(out, [x, y, w])], on_unused_input="ignore")
    assert [float(np.sum(v)) for v in f([2.0], [3.0], [4.0])] == [1.0, 0.0, 0.0, 1.0]
