"""Keywords of NumPy's functions that users missed, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import ShapeMismatch
from tests.ops.harness import check

ARRAYS = [
    np.array([[1.5, np.nan], [-0.0, np.inf]]),
    np.array([[1, 2], [3, 4]], "float32"),
    np.array([[True, False], [True, True]]),
    np.array([[3, -7], [5, 2]], "int8"),
    np.array([[1 + 2j, 3], [4, -1j]]),
    np.zeros((0, 2)),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
@pytest.mark.parametrize("shape", [3, (), (0, 4), (2, 3)])
@pytest.mark.parametrize("dtype", [None, "float32", "bool"])
@pytest.mark.parametrize("name", ["zeros_like", "ones_like"])
def test_filled_tensors_of_another_shape(name: str, dtype: Any, shape: Any, array: Any) -> None:
    got = getattr(T, name)(array, dtype, shape=shape).eval()
    want = getattr(np, name)(array, dtype, shape=shape)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
@pytest.mark.parametrize("shape", [3, (), (0, 4), (2, 3)])
def test_full_and_empty_tensors_of_another_shape(shape: Any, array: Any) -> None:
    got, want = T.full_like(array, 1, shape=shape).eval(), np.full_like(array, 1, shape=shape)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)
    bare = T.empty_like(array, shape=shape).eval()
    assert (bare.dtype, bare.shape) == (array.dtype, want.shape)


def test_a_filled_tensor_of_a_shape_that_is_computed() -> None:
    x, n = T.fvector("x"), T.lscalar("n")
    f = symc.function([x, n], T.ones_like(x, shape=(n, 2)), on_unused_input="ignore")
    got = f(np.zeros(5, "float32"), 3)
    assert (got.dtype, got.shape) == (np.dtype("float32"), (3, 2))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (1, -2)])
@pytest.mark.parametrize(
    "array", [np.array([[1.5, -2.0], [0.0, 7.0]]), *ARRAYS[1:5]], ids=lambda a: str(a.dtype)
)
@pytest.mark.parametrize("weighted", [False, True])
def test_average_returns_the_sum_of_weights(
    weighted: bool, array: Any, axis: Any, keepdims: bool
) -> None:
    weights = np.array([[1.0, 2.0], [0.5, 4.0]]) if weighted else None
    average: Any = np.average  # its types do not have `keepdims` as a variable
    for part in (0, 1):
        check(
            lambda a, part=part: T.average(a, axis, weights, keepdims, returned=True)[part],
            array,
            oracle=lambda a, part=part: average(a, axis, weights, returned=True, keepdims=keepdims)[
                part
            ],
        )


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_average_of_nan_and_infinity_returns_the_sum_of_weights(axis: Any) -> None:
    weights = np.array([[1.0, 2.0], [0.5, 4.0]])
    for given in (None, weights):
        got = T.average(ARRAYS[0], axis, given, returned=True)
        want = np.average(ARRAYS[0], axis, given, returned=True)
        for left, right in zip(got, want, strict=True):
            np.testing.assert_allclose(left.eval(), right)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_the_sum_of_a_vector_of_weights_has_the_shape_of_the_average(axis: int) -> None:
    array, weights = np.arange(6.0).reshape(2, 3), np.arange(1.0, 3 + axis % 2)
    value, total = T.average(array, axis, weights, returned=True)
    want, sums = np.average(array, axis, weights, returned=True)
    np.testing.assert_allclose(value.eval(), want)
    assert total.eval().shape == sums.shape
    np.testing.assert_array_equal(total.eval(), sums)


def test_average_that_returns_sums_refuses_weights_that_do_not_fit() -> None:
    with pytest.raises(ShapeMismatch, match="average: the weights need the shape of x"):
        T.average(np.ones((2, 3)), 1, np.ones((3, 2)), returned=True)
