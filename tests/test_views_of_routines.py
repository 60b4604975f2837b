"""What only adds or drops axes of length 1 around a routine is no copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import ShapeMismatch

RNG = np.random.default_rng(3)
PICTURE, FILTER = RNG.random((9, 8)), RNG.random((3, 3))
MATRIX = RNG.random((4, 4)) + 4 * np.eye(4)


def blurred(x: Any, w: Any) -> Any:
    return T.nnet.conv2d(x[None, None], w[None, None], flip_filters=False)[0, 0]


def blurred_by_hand(x: Any, w: Any) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape)
    return np.einsum("ijab,ab->ij", windows, w)


SPECIFIED: dict[str, tuple[Callable[[Any, Any], Any], bool]] = {
    "a product": (lambda m, x: x @ x.T, False),
    "products": (lambda m, x: (x[None] * m.ones((3, 1, 1))) @ x, False),
    "a factor": (lambda m, x: m.linalg.cholesky(x @ x.T), False),
    "sorted": (lambda m, x: m.sort(x, axis=1), False),
    "a result": (lambda m, x: x, True),
    "computed before": (lambda m, x: (x + 1) @ x, False),
}


@pytest.mark.parametrize("name", SPECIFIED)
def test_lengths_that_are_said_take_no_copy(name: str) -> None:
    """specify_shape before a routine was a loop that copied: products took twice as long."""
    formula, copies = SPECIFIED[name]
    x = T.matrix("x")
    f = symc.function([x], formula(T, T.specify_shape(x, (4, None))))
    if symc.config.device == "cpu":
        assert ("specifyshape_kernel(" in f.source) == copies
    np.testing.assert_allclose(f(MATRIX), formula(np, MATRIX), rtol=1e-12)
    with pytest.raises(ShapeMismatch, match="axis 0 has length 3, and must have 4"):
        f(MATRIX[:3])


def test_a_state_whose_lengths_are_said() -> None:
    x, n = T.matrix("x"), T.lscalar("n")
    first = T.specify_shape(x, (None, 4))
    last = symc.fori_loop(0, n, lambda i, s: T.specify_shape(s @ first, (None, 4)), first)
    f = symc.function([x, n], last)
    for steps in (0, 1, 3):
        wanted = np.linalg.matrix_power(MATRIX, steps + 1)
        np.testing.assert_allclose(f(MATRIX, steps), wanted, rtol=1e-12)
        np.testing.assert_array_equal(MATRIX, MATRIX.copy())


def test_a_picture_as_a_batch_of_one() -> None:
    x, w = T.matrix("x"), T.matrix("w")
    f = symc.function([x, w], blurred(x, w))
    assert symc.config.device != "cpu" or "_kernel" not in f.source
    np.testing.assert_allclose(f(PICTURE, FILTER), blurred_by_hand(PICTURE, FILTER))


def test_results_that_others_read_too() -> None:
    x, w = T.matrix("x"), T.matrix("w")
    y = blurred(x, w)
    f = symc.function([x, w], [y, y[None] + 1, T.maximum(y, 5.0), x[None], y.sum()])
    found, expected = f(PICTURE, FILTER), blurred_by_hand(PICTURE, FILTER)
    for one, other in zip(
        found,
        [expected, expected[None] + 1, np.maximum(expected, 5), PICTURE[None], expected.sum()],
        strict=True,
    ):
        np.testing.assert_allclose(one, other)
    assert not any(
        np.shares_memory(one, other) for k, one in enumerate(found) for other in found[:k]
    )
    assert not np.shares_memory(found[3], PICTURE)


def test_twice_the_same_result() -> None:
    x, w = T.matrix("x"), T.matrix("w")
    y = T.nnet.conv2d(x[None, None], w[None, None])
    first, second, whole = symc.function([x, w], [y[0, 0], y[0], y])(PICTURE, FILTER)
    first[:] = 0
    assert second.any()
    np.testing.assert_array_equal(second, whole[0])


def test_what_is_written_after_a_view_was_taken() -> None:
    """The solution is of the old matrix, though the variable is overwritten in the same call."""
    a = symc.shared(MATRIX, "a")
    b = T.vector("b")
    solution = T.linalg.inv(a[None])[0] @ b
    f = symc.function([b], solution, updates={a: a * 2})
    for times in (1, 2, 4):
        np.testing.assert_allclose(f(MATRIX[0]), np.linalg.solve(times * MATRIX, MATRIX[0]))


def test_arguments_given_away() -> None:
    x = T.matrix("x")
    inverse = T.linalg.inv(x[None])[0]
    f = symc.function([symc.In(x, mutable=True)], [x * 2, inverse])
    doubled, found = f(MATRIX.copy())
    np.testing.assert_allclose(doubled, 2 * MATRIX)
    np.testing.assert_allclose(found, np.linalg.inv(MATRIX))


def test_in_loops() -> None:
    x, w = T.matrix("x"), T.matrix("w")
    f = symc.function([x, w], symc.fori_loop(0, 3, lambda _, y: blurred(T.pad(y, 1), w), x + 0))
    expected = PICTURE
    for _ in range(3):
        expected = blurred_by_hand(np.pad(expected, 1), FILTER)
    np.testing.assert_allclose(f(PICTURE, FILTER), expected)


@pytest.mark.parametrize("seed", range(20))
def test_random_axes_around_products_and_inverses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = T.matrix("x")

    def around(y: Any) -> Any:
        """The array with axes of length 1 put in and taken out in some ways."""
        for _ in range(rng.integers(3)):
            match int(rng.integers(4)):
                case 0:
                    y = y[None]
                case 1:
                    y = T.expand_dims(y, 1)[:, 0] if rng.random() < 0.5 else y[..., :, :]
                case 2:
                    y = T.reshape(y, (1, *y.shape)) if y.ndim < 4 else y
                case _:
                    y = y[None][0]
        while y.ndim > 3 or (y.ndim == 3 and rng.random() < 0.3):
            y = y[0]
        return y

    y = x
    expected: Any = MATRIX
    for _ in range(3):
        match int(rng.integers(3)):
            case 0:
                y, expected = T.linalg.inv(around(y)), np.linalg.inv(expected)
            case 1:
                y, expected = around(y) @ x, expected @ MATRIX
            case _:
                y, expected = around(y) * 2 + 1, expected * 2 + 1
    f = symc.function([x], [around(y), y.sum()])
    found, total = f(MATRIX)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-6)
    np.testing.assert_allclose(total, expected.sum(), rtol=1e-6)
