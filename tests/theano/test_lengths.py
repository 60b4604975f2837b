"""Lengths that are told only when a program runs, and shapes told without computing."""

from __future__ import annotations

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.ifelse import ifelse


def test_branches_of_different_lengths() -> None:
    c, x, y = T.iscalar(), T.dvector(), T.dvector()
    f = theano.function([c, x, y], [ifelse(c, x, y), *T.grad(ifelse(c, x, y).sum(), [x, y])])
    for flag, wanted in ((1, ([1, 2], [1, 1], [0])), (0, ([3], [0, 0], [1]))):
        for found, right in zip(f(flag, [1, 2], [3]), wanted, strict=True):
            np.testing.assert_array_equal(found, right)


def test_a_value_broadcasts_into_a_part_at_run_time() -> None:
    x, y = T.dmatrix(), T.dmatrix()
    f = theano.function([x, y], T.set_subtensor(x[:2], y))
    np.testing.assert_array_equal(f(np.zeros((3, 2)), [[1, 2]]), [[1, 2], [1, 2], [0, 0]])


def test_values_longer_than_a_part_are_refused_and_not_cut() -> None:
    x, y = T.dvector("x"), T.dvector("y")
    f = theano.function([x, y], T.inc_subtensor(x[:2], y))
    cut = r"shape \[3\] do not fit the region \[2\]"
    with pytest.raises(ValueError, match=f"{cut}(.|\n)*values y "):
        f(np.zeros(3), [1, 2, 3])
    for _ in range(2):  # a call that fails leaves a function that broadcasts where it can
        np.testing.assert_array_equal(f(np.zeros(3), [1]), [1, 1, 0])
        with pytest.raises(ValueError, match=cut):
            f(np.zeros(3), [1, 2, 3])


def test_vectors_of_one_index_are_stretched_and_not_cut() -> None:
    x, rows, columns = T.dmatrix(), T.lvector(), T.lvector()
    f = theano.function([x, rows, columns], x[rows, columns])
    value = np.arange(12.0).reshape(3, 4)
    for wrong in ([0, 1, 2, 3], [0, 1]):
        with pytest.raises(ValueError, match="axis 0 is 3 on the left"):
            f(value, [0, 1, 2], wrong)
    np.testing.assert_array_equal(f(value, [0], [1, 2, 3]), [1, 2, 3])
    masked = theano.function([x, rows, columns], x[T.gt(rows, 0), T.gt(columns, 0)])
    with pytest.raises(ValueError, match="axis 0 is 3 on the left and 4 on the right"):
        masked(value, [1, 1, 1], [1, 1, 1, 1])


def test_shape_of_a_result_is_told_from_the_inputs() -> None:
    x = T.dmatrix()
    f = theano.function([x], [T.cumsum(x, axis=0).shape, T.dot(x, x.T).shape])
    kinds = {type(node.op).__name__ for node in f.maker.fgraph.toposort()}
    assert kinds == {"InferredShape"}
    np.testing.assert_array_equal(f(np.zeros((3, 2))), [[3, 2], [3, 3]])


def test_two_masks_that_choose_different_numbers_of_elements() -> None:
    n = T.dmatrix()
    part = n[n[:, 0] > 2, n[0, :] > 2]
    f = theano.function([n], part)
    shape = theano.function([n], part.shape)
    for start, wanted in ((0.0, []), (1.0, [6.0]), (2.0, [6.0, 7.0])):
        value = np.arange(6.0).reshape(2, 3) + start
        assert (f(value).tolist(), shape(value).tolist()) == (wanted, [len(wanted)])
