"""States of loops take the dtype and the shape of what a step computes, or say why they cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadIndex, LoopError, ShapeMismatch
from tests.loops.test_scan_api import r, values


@pytest.mark.parametrize(
    ("initial", "wanted"),
    [
        (0, "float32"),
        (0.5, "float32"),
        (np.float32(0), "float32"),
        (np.int8(0), "float32"),
        (np.float64(0), "float64"),
        (np.zeros(1, np.float32), "float32"),
        (np.zeros(3, np.float64), "float64"),
    ],
)
def test_states_take_the_dtype_and_shape_of_the_result(initial: Any, wanted: str) -> None:
    x = T.tensor("float32", (None, 3), name="x")
    if isinstance(initial, np.generic):
        initial = np.full(3, initial)
    result, _ = symc.scan(lambda row, total: total + row, x, initial)
    given = r(4, 3).astype(np.float32)
    found = values([x], result, given)
    assert (found.dtype, found.shape) == (np.dtype(wanted), (4, 3))
    np.testing.assert_allclose(found, given.cumsum(axis=0) + np.asarray(initial), rtol=1e-5)


def test_a_state_is_not_narrowed() -> None:
    x, start = T.vector("x"), T.scalar("start")
    result, _ = symc.scan(lambda row, kept: T.cast(row > kept, "int8"), x, start)
    assert result.dtype.name == "float64"
    np.testing.assert_array_equal(values([x, start], result, [1.0, 3.0], 2.0), [0.0, 1.0])


def test_a_row_that_broadcasts_within_the_loop() -> None:
    """Theano: "Inconsistency in the inner graph of scan"."""
    x, start = T.matrix("x"), T.row("start")
    result, _ = symc.scan(lambda h: T.tanh(h + x), outputs_info=start, n_steps=2)
    given, first = r(3, 2), r(1, 2)
    expected = np.tanh(first + given)
    found = values([x, start], result, given, first)
    np.testing.assert_allclose(found, [expected, np.tanh(expected + given)])


def test_states_of_another_rank_name_both_lines() -> None:
    x = T.matrix("x")
    with pytest.raises(LoopError, match="a state has 0 axes and 1 after a step") as error:
        symc.scan(lambda row, total: total + row, x, T.scalar("start"))
    assert str(error.value).count("test_scan_states.py") == 3


def test_states_of_another_length_name_both_lines() -> None:
    start = T.tensor("float64", (3,), name="start")
    with pytest.raises(LoopError, match="has length 3 along axis 0 and 4 after a step") as error:
        symc.scan(lambda a: T.concatenate([a, [1.0]]), outputs_info=start, n_steps=2)
    assert isinstance(error.value, TypeError)
    w, v = T.matrix("w"), T.vector("v")
    result, _ = symc.scan(lambda a: T.dot(w, a), outputs_info=v, n_steps=2)
    with pytest.raises(LoopError, match="has length 2 along axis 0 and 3 after a step") as error:
        values([w, v], result, r(3, 2), r(2))
    assert "  initial v " in str(error.value)  # as it was given, without the axis of its rows


def test_lengths_that_differ_within_a_step_are_found_before_it() -> None:
    x, y = T.matrix("x"), T.vector("y")
    result, _ = symc.scan(lambda row: row + y, x)
    with pytest.raises(ShapeMismatch, match="axis 0 is 2 on the left and 3 on"):
        values([x, y], result, r(4, 2), r(3))


def test_an_index_out_of_range_within_a_step() -> None:
    x, i = T.vector("x"), T.lvector("i")
    result, _ = symc.scan(lambda i: x[i], i)
    np.testing.assert_array_equal(values([x, i], result, [1.0, 2.0], [1, -1]), [2.0, 2.0])
    with pytest.raises(BadIndex, match="index 2 is out of bounds for axis 0 with length 2"):
        values([x, i], result, [1.0, 2.0], [1, 2])
