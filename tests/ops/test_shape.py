"""Views, joining, splitting, rearranging and padding: values, derivatives, lowerings, messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.derivatives.batch import batch
from symc.errors import BadIndex, DTypeError, NotBatchable, RankError, ShapeMismatch
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from symc.graph.walks import substitute
from symc.tensor.lengths import dim_of
from tests.ops.lowering_check import enforce
from tests.ops.shape_cases import CASES, draw, verify


@pytest.mark.parametrize(("name", "build", "arrays", "oracle"), CASES, ids=[c[0] for c in CASES])
def test_values_and_derivatives(
    name: str, build: Callable[..., Any], arrays: tuple[Any, ...], oracle: Callable[..., Any]
) -> None:
    del name
    verify(build, *arrays, oracle=oracle)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float32"]
)
def test_every_dtype(dtype: str) -> None:
    x, y = draw(2, 3, dtype=dtype), draw(2, 3, dtype=dtype)

    def build(x: Tensor, y: Tensor) -> list[Tensor]:
        return [
            x.T.reshape((2, 3)), T.concatenate([x, y]), T.pad(x, 1), T.roll(x, 1, 1), T.tile(x, 2),
            x.repeat(2), T.broadcast_to(x, (2, 2, 3)), T.flip(x),
        ]  # fmt: skip

    def oracle(x: Any, y: Any) -> list[Any]:
        return [
            x.T.reshape((2, 3)), np.concatenate([x, y]), np.pad(x, 1), np.roll(x, 1, 1),
            np.tile(x, 2), x.repeat(2), np.broadcast_to(x, (2, 2, 3)), np.flip(x),
        ]  # fmt: skip

    verify(build, x, y, oracle=oracle)


def test_the_same_shape_is_the_same_tensor() -> None:
    x = T.matrix("x")
    n, m = x.shape
    assert x.T.T is x
    assert x.dimshuffle(0, 1) is x
    assert x.dimshuffle(0, "x", 1).squeeze(1) is x
    assert x.reshape((n, m)) is x
    assert x.reshape((-1, m)) is x
    assert x.ravel().reshape((n, m)) is x
    assert x.reshape((n, 1, m)).ravel() is x.ravel()
    assert x.reshape((-1,)) is x.reshape((n * m,)) is x.ravel()
    assert T.broadcast_to(x, (n, m)) is x
    assert T.specify_shape(x, (None, m)) is x
    assert T.concatenate([x]) is x
    assert T.tile(x, 1) is x
    assert T.repeat(x, 1, axis=0) is x
    assert T.roll(x, 0, axis=0) is x
    assert T.pad(x, 0) is x
    assert x.copy() is x


def test_adding_ones_is_no_reshape() -> None:
    x = T.matrix("x")
    assert x.reshape((1, *x.shape)).op.label == "dimshuffle"
    assert x.ravel().op.label == "reshape"


def test_lengths_are_known_as_far_as_can_be() -> None:
    x, y = T.matrix("x", shape=(None, 3)), T.tensor("float64", (None, 3), "y")
    n, m = x.shape[0], y.shape[0]
    assert x.shape[1] == 3
    assert dim_of(T.concatenate([x, y]).shape[0]) is dim_of(n + m)
    assert T.concatenate([x, y]).shape[1] == 3
    assert x.reshape((-1, 3, 1)).type.shape == (*x.type.shape, 1)
    assert dim_of(x.size) is dim_of(n * 3)
    assert [p.type.shape for p in T.split(T.concatenate([x, y]), [n, m])] == [
        x.type.shape, y.type.shape,
    ]  # fmt: skip
    assert T.pad(x, 1).shape[0] is (n + 2)
    assert T.tile(x, (2, 2)).shape[1] == 6


def test_shape_is_computed_without_the_tensor() -> None:
    x = T.matrix("x")
    y = T.exp(x).T
    assert y.shape[0] is x.shape[1]
    value = evaluate([T.stack([*y.shape])], {x: np.zeros((2, 5))})[0]
    np.testing.assert_array_equal(value, [5, 2])


def test_a_row_broadcasts_after_any_view() -> None:
    row, matrix = T.row("r"), T.matrix("m")
    for view in (row, row.T.T, row.reshape((1, -1)), row.ravel()[None], T.concatenate([row])):
        total = (view * matrix).sum()
        gradient = symc.grad(total, row)
        value = evaluate([gradient], {row: np.ones((1, 2)), matrix: np.arange(6.0).reshape(3, 2)})
        np.testing.assert_array_equal(value[0], [[6.0, 9.0]])


def test_givens_change_lengths() -> None:
    x, y = T.matrix("x"), T.tensor("float64", (2, 6), "y")
    flat = x.reshape((x.shape[1], -1))
    moved = substitute([flat, T.broadcast_to(1.0, x.shape), T.pad(x, 1)], {x: y})
    assert [node.type.shape for node in moved] == [(6, 2), (2, 6), (4, 8)]


ERRORS: list[tuple[Callable[[Tensor, Tensor], Any], type[Exception], str]] = [
    (lambda x, v: x.reshape(4, 2), ShapeMismatch,
     "reshape: 6 elements do not fit the shape (4, 2), which has 8"),
    (lambda x, v: x.reshape(-1, 4), ShapeMismatch,
     "reshape: 6 elements do not fit the shape (-1, 4)"),
    (lambda x, v: x.reshape(-1, -1), ShapeMismatch, "reshape: only one length can be -1"),
    (lambda x, v: x.reshape(-2, -3), ShapeMismatch, "reshape: a length cannot be -2"),
    (lambda x, v: x.reshape(2.0), DTypeError,
     "a length must be an integer or an integer scalar tensor, not 2.0"),
    (lambda x, v: x.reshape(v.sum()), DTypeError,
     "a length must be an integer scalar, not float64[]"),
    (lambda x, v: x.reshape((3, 2), ndim=3), RankError, "reshape: ndim=3, but the shape has 2"),
    (lambda x, v: x.reshape(T.lvector("s")), RankError, "the number of axes must be known now"),
    (lambda x, v: x.flatten(3), RankError, "flatten: ndim=3 for 2 axes"),
    (lambda x, v: x.dimshuffle(0), ShapeMismatch,
     "axis 1 cannot be dropped: its length is 3, not known to be 1"),
    (lambda x, v: v.squeeze(0), ShapeMismatch,
     "axis 0 cannot be dropped: its length is v.shape[0]"),
    (lambda x, v: x.dimshuffle(0, 0, 1), ValueError,
     "dimshuffle: an axis is repeated in (0, 0, 1)"),
    (lambda x, v: x.dimshuffle(0, 2), BadIndex, "dimshuffle: there is no axis 2; there are 2 axes"),
    (lambda x, v: x.transpose(0), RankError, "transpose: 1 axes for a tensor that has 2"),
    (lambda x, v: x.transpose(0, -2), ValueError, "transpose: an axis is repeated in (0, -2)"),
    (lambda x, v: v.mT, RankError, "mT needs at least 2 axes"),
    (lambda x, v: T.expand_dims(x, 3), BadIndex, "expand_dims: there is no axis 3"),
    (lambda x, v: cast("Any", x).swapaxes(0, "x"), TypeError,
     "swapaxes: an axis must be an integer, not 'x'"),
    (lambda x, v: T.broadcast_to(x, (3,)), RankError, "broadcast_to: 2 axes cannot become 1"),
    (lambda x, v: T.broadcast_to(x, (2, 4)), ShapeMismatch,
     "broadcast_to: axis 1 is 3 and cannot become 4"),
    (lambda x, v: T.broadcast_to(1.0, (2, -4)), ShapeMismatch,
     "broadcast_to: a length cannot be -4"),
    (lambda x, v: T.concatenate([]), ValueError, "concatenate: there is nothing to join"),
    (lambda x, v: T.concatenate([1.0, 2.0]), RankError, "concatenate: scalars have no axis"),
    (lambda x, v: T.concatenate([x, v]), RankError,
     "concatenate: all tensors need the same number"),
    (lambda x, v: T.concatenate([x, x], 2), BadIndex, "concatenate: there is no axis 2"),
    (lambda x, v: T.concatenate([x, x[:, :2]]), ShapeMismatch,
     "concatenate: axis 1 is 3 on the left and 2 on the right\n  left   x "),
    (lambda x, v: T.stack([x, x[:, :2]]), ShapeMismatch,
     "stack: axis 1 is 3 on the left and 2 on the right\n  left   x "),
    (lambda x, v: T.stack([x, v]), RankError, "stack: all tensors need the same number of axes"),
    (lambda x, v: T.split(x, [1, 2]), ShapeMismatch, "axis 0 has length 2, and must have 3"),
    (lambda x, v: T.split(x, 2, axis=1), ShapeMismatch,
     "split: axis 1 of length 3 cannot be split into 2 equal pieces"),
    (lambda x, v: T.split(x, [1, 1], n_splits=3), ValueError, "split: n_splits=3, but there are 2"),
    (lambda x, v: T.array_split(x, 0), ValueError, "array_split: 0 pieces"),
    (lambda x, v: T.specify_shape(x, (2,)), RankError, "specify_shape: 1 lengths"),
    (lambda x, v: T.specify_shape(x, (None, 4)), ShapeMismatch,
     "axis 1 has length 3, and must have 4"),
    (lambda x, v: T.roll(x, (1, 2), axis=(0, 1, 0)), ValueError, "roll: 2 shifts for 3 axes"),
    (lambda x, v: x.repeat(-1, 0), ShapeMismatch, "repeat: a length cannot be -2"),
    (lambda x, v: x.repeat([1, -1], 0), ValueError, "repeat: a count is negative"),
    (lambda x, v: x.repeat([1, 1], 1), ShapeMismatch, "axis 0 has length 2, and must have 3"),
    (lambda x, v: x.repeat(1.5), DTypeError, "repeat: counts must be integers"),
    (lambda x, v: x.repeat([[1]]), RankError, "repeat: counts must be a scalar or a vector"),
    (lambda x, v: T.diff(x, -1), ValueError, "diff: n=-1 is negative"),
    (lambda x, v: T.pad(x, -1), ShapeMismatch, "pad: a length cannot be -1"),
    (lambda x, v: T.pad(x, -1, mode="wrap"), ShapeMismatch, "pad: a length cannot be -1"),
    (lambda x, v: T.pad(x, ((1, 2),) * 3), RankError, "pad: pad_width needs a number, a pair"),
    (lambda x, v: T.pad(x, 1, mode=cast("Any", "average")), ValueError,
     "pad: there is no mode 'average'; there are constant, edge, empty, linear_ramp, maximum"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "error", "message"), ERRORS, ids=[e[2][:40] for e in ERRORS])
def test_errors(
    build: Callable[[Tensor, Tensor], Any], error: type[Exception], message: str
) -> None:
    x, v = T.tensor("float64", (2, 3), "x"), T.vector("v")
    with pytest.raises(error) as caught:
        build(x, v)
    assert message in str(caught.value)


LATE: list[tuple[Callable[[Tensor, Tensor], Any], type[Exception], str]] = [
    (lambda x, n: x.reshape((n, 2)), ShapeMismatch,
     "reshape: 6 elements do not fit the shape (4, 2), which has 8\n  given  x "),
    (lambda x, n: x.reshape((-1, 4)), ShapeMismatch,
     "reshape: 6 elements do not fit the shape (1, 4), which has 4"),
    (lambda x, n: x.reshape((n - 6, n - 7)), ShapeMismatch, "reshape: a length cannot be -2"),
    (lambda x, n: T.broadcast_to(x, (n, 3)), ShapeMismatch,
     "broadcast_to: axis 0 is 4 on the left"),
    (lambda x, n: T.broadcast_to(1.0, (n - 5,)), ShapeMismatch,
     "broadcast_to: a length cannot be -1"),
    (lambda x, n: T.concatenate([x, x.T]), ShapeMismatch,
     "concatenate: axis 1 is 3 on the left and 2 on the right\n  left   x "),
    (lambda x, n: T.stack([x, x[:, 1:]], 2), ShapeMismatch,
     "stack: axis 1 is 3 on the left and 2 on the right\n  left   x "),
    (lambda x, n: T.split(x, [n, 1])[0], ShapeMismatch, "axis 0 has length 2, and must have 5"),
    (lambda x, n: T.split(x, 2, axis=1)[0], ShapeMismatch, "axis 1 has length 3, and must have 2"),
    (lambda x, n: T.specify_shape(x, (1, None)), ShapeMismatch,
     "axis 0 has length 2, and must have 1"),
    (lambda x, n: T.repeat(x, n - 5), ShapeMismatch, "repeat: a length cannot be -1"),
    (lambda x, n: T.repeat(x, T.stack([n, n - 5]), 0), ValueError, "repeat: a count is negative"),
    (lambda x, n: T.repeat(x, T.stack([n, n]), 1), ShapeMismatch, "and must have 3"),
    (lambda x, n: T.tile(x, n - 5), ShapeMismatch, "tile: a length cannot be -1"),
    (lambda x, n: T.pad(x, n - 5), ShapeMismatch, "pad: a length cannot be -1"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "error", "message"), LATE, ids=[e[2][:40] for e in LATE])
def test_errors_at_run_time(
    build: Callable[[Tensor, Tensor], Any], error: type[Exception], message: str
) -> None:
    x, n = T.matrix("x"), T.lscalar("n")
    output, values = build(x, n), {x: np.zeros((2, 3)), n: np.array(4)}
    with pytest.raises(error) as caught:
        enforce([output], values)
    assert message in str(caught.value)
    with pytest.raises(error) as caught:
        symc.function([x, n], output, on_unused_input="ignore")(*values.values())
    assert message in str(caught.value)


def test_lengths_cannot_differ_within_a_batch() -> None:
    x = T.vector("x")
    count = T.cast(x.sum(), "int64")
    tiled = T.tile(T.arange(3), count)
    with pytest.raises(NotBatchable, match="its lengths would differ"):
        batch([tiled], {x: T.matrix("xs")}, T.lscalar("k"))


def test_no_store_of_a_loop_with_a_condition_is_lost() -> None:
    # gcc 12 wrote a part of the elements only, at -O1 with threaded jumps.
    x = T.tensor("float64", (3, 4), name="x")
    rows = np.arange(12.0).reshape(3, 4)
    for mode in ("compile", "default"):
        f = symc.function([x], T.roll(x, (1, 2), axis=(0, 1)), mode=mode)
        np.testing.assert_array_equal(f(rows), np.roll(rows, (1, 2), (0, 1)))


@pytest.mark.parametrize("shape", [(0, -1), (-1, 0), (0, 3, -1), (-1, 0, 0)])
@pytest.mark.parametrize("given", [(0,), (0, 3), (3,), (2, 3)])
def test_minus_one_beside_a_length_0_is_refused_as_in_numpy(
    shape: tuple[int, ...], given: tuple[int, ...]
) -> None:
    """It was a division by zero at the first call."""
    with pytest.raises(ValueError, match="cannot reshape"):
        np.zeros(given).reshape(shape)
    for x in (T.tensor("float64", (None,) * len(given)), T.constant(np.zeros(given))):
        with pytest.raises(ShapeMismatch, match="cannot reshape"):
            x.reshape(shape)


@pytest.mark.parametrize("by", [7, -7, 1_000_003, 2**40 + 1, 2**62 + 3, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("mode", ["default", "compile", "python"])
def test_far_rolls_by_known_numbers(by: int, mode: str) -> None:
    """As the remainder would be, also in an update in place and in a derivative."""
    start = np.arange(10.0).reshape(2, 5)
    x, state = T.matrix("x"), symc.shared(start)
    weights = np.cos(start)
    slope = symc.grad((T.roll(x, by, 1) * x * weights).sum(), x)
    f = symc.function(
        [x], [T.roll(x, by), T.roll(x, by, 1), slope], updates=[(state, T.roll(state, by))],
        mode=mode,
    )  # fmt: skip
    flat, rows, back = f(start)
    near = by % 5
    np.testing.assert_array_equal(flat, np.roll(start, by % 10))
    np.testing.assert_array_equal(rows, np.roll(start, near, 1))
    wanted = np.roll(start, near, 1) * weights + np.roll(start * weights, -near, 1)
    np.testing.assert_allclose(back, wanted, rtol=1e-13)
    np.testing.assert_array_equal(state.get_value(), np.roll(start, by % 10))


def test_a_length_that_is_1_by_a_broadcast_alone_is_stretched() -> None:
    x = T.vector("x")
    f = symc.function([x], T.broadcast_to(T.broadcast_to(x, (1,)), (3,)))
    np.testing.assert_array_equal(f(np.array([2.0])), [2.0, 2.0, 2.0])
