"""Views, joining, splitting, rearranging and padding: values, derivatives, lowerings, messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast, get_args

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.batch import batch
from symc.errors import BadIndex, DTypeError, NotBatchable, RankError, ShapeMismatch
from symc.evaluate import evaluate
from symc.graph import Tensor, substitute
from symc.tensor.pad import Mode
from tests.ops.harness import check
from tests.ops.reader_check import check_lowering, enforce

RNG = np.random.default_rng(20240611)


def draw(*shape: int, dtype: str = "float64") -> Any:
    """Numbers of a dtype, all different in value."""
    values = RNG.permutation(int(np.prod(shape))) - 3
    return (values.reshape(shape) * (0.37 if dtype.startswith("float") else 1)).astype(dtype)


def verify(build: Callable[..., Any], *arrays: Any, oracle: Callable[..., Any]) -> None:
    """Values, derivatives and lowerings, with unknown and with known lengths."""
    for static in (False, True):
        check(build, *arrays, oracle=oracle, static=static)
        check_lowering(build, *arrays, static=static)


One = Callable[[Any], Any]
Two = Callable[[Any, Any], Any]
Function = One | Two | Callable[[Any, Any, Any], Any]
Case = tuple[str, Function, tuple[Any, ...], Function]

VIEWS: list[Case] = [
    ("transpose", lambda x: x.T, (draw(2, 3),), lambda x: x.T),
    ("transpose 3", lambda x: T.transpose(x), (draw(2, 3, 4),), lambda x: x.T),
    ("transpose axes", lambda x: x.transpose(1, 0, 2), (draw(2, 3, 4),),
     lambda x: x.swapaxes(0, 1)),
    ("transpose tuple", lambda x: x.transpose((2, 0, -2)), (draw(2, 3, 4),),
     lambda x: x.transpose(2, 0, 1)),
    ("transpose empty", lambda x: x.T, (draw(0, 3),), lambda x: x.T),
    ("mT", lambda x: x.mT, (draw(2, 3, 4),), lambda x: x.swapaxes(-1, -2)),
    ("dimshuffle", lambda x: x.dimshuffle(1, "x", 0), (draw(2, 3),), lambda x: x.T[:, None]),
    ("dimshuffle drop", lambda x: x.dimshuffle("x", 1), (draw(1, 3),), lambda x: x),
    ("dimshuffle scalar", lambda x: x.dimshuffle("x", "x"), (np.float64(2.5),),
     lambda x: x[None, None]),
    ("swapaxes", lambda x: x.swapaxes(0, -1), (draw(2, 3, 4),), lambda x: x.swapaxes(0, -1)),
    ("moveaxis", lambda x: T.moveaxis(x, 0, -1), (draw(2, 3, 4),), lambda x: np.moveaxis(x, 0, -1)),
    ("moveaxis 2", lambda x: T.moveaxis(x, [0, 1], [-1, 0]), (draw(2, 3, 4),),
     lambda x: np.moveaxis(x, [0, 1], [-1, 0])),
    ("expand_dims", lambda x: x.expand_dims(-1), (draw(2, 3),), lambda x: x[..., None]),
    ("expand_dims 2", lambda x: T.expand_dims(x, (0, 2)), (draw(2, 3),),
     lambda x: x[None, :, None]),
    ("squeeze", lambda x: x.squeeze(), (draw(1, 3, 1),), lambda x: x.squeeze()),
    ("squeeze axis", lambda x: x.squeeze(axis=-1), (draw(1, 3, 1),), lambda x: x.squeeze(-1)),
    ("padleft", lambda x: T.shape_padleft(x, 2), (draw(3),), lambda x: x[None, None]),
    ("padright", lambda x: T.shape_padright(x), (draw(2, 3),), lambda x: x[..., None]),
    ("reshape", lambda x: x.reshape(3, 2), (draw(2, 3),), lambda x: x.reshape(3, 2)),
    ("reshape -1", lambda x: x.reshape((-1, 2)), (draw(4, 3),), lambda x: x.reshape(-1, 2)),
    ("reshape symbolic", lambda x: x.reshape((x.shape[1], x.shape[0])), (draw(2, 3),),
     lambda x: x.reshape(3, 2)),
    ("reshape of transpose", lambda x: x.T.reshape((x.size,)), (draw(2, 3),),
     lambda x: x.T.reshape(-1)),
    ("reshape to scalar", lambda x: x.reshape(()), (draw(1, 1),), lambda x: x.reshape(())),
    ("reshape scalar", lambda x: x.reshape((1, 1)), (np.float64(3.0),), lambda x: x.reshape(1, 1)),
    ("reshape adds ones", lambda x: x.reshape((1, x.shape[0], 1, x.shape[1])), (draw(2, 3),),
     lambda x: x[None, :, None]),
    ("reshape empty", lambda x: x.reshape((3, 0)), (draw(0, 3),), lambda x: x.reshape(3, 0)),
    ("reshape broadcasts", lambda x: x.reshape((1, -1)) + x.reshape((-1, 1)), (draw(3),),
     lambda x: x[None] + x[:, None]),
    ("flatten", lambda x: x.flatten(), (draw(2, 3, 2),), lambda x: x.ravel()),
    ("flatten 2", lambda x: x.flatten(2), (draw(2, 3, 2),), lambda x: x.reshape(2, 6)),
    ("ravel", lambda x: T.ravel(x), (draw(2, 3),), lambda x: x.ravel()),
    ("ravel scalar", lambda x: x.ravel(), (np.float64(1.5),), lambda x: x.ravel()),
    ("broadcast_to", lambda x: T.broadcast_to(x, (2, 3)), (draw(3),),
     lambda x: np.broadcast_to(x, (2, 3))),
    ("broadcast_to 1", lambda x: T.broadcast_to(x, (4, 2, 3)), (draw(2, 1),),
     lambda x: np.broadcast_to(x, (4, 2, 3))),
    ("broadcast_to like", lambda x, y: x.broadcast_to(y.shape), (draw(3, 1), draw(2, 3, 4)),
     lambda x, y: np.broadcast_to(x, y.shape)),
    ("broadcast scalar", lambda x: T.broadcast_to(x, (0, 2)), (np.float64(1.0),),
     lambda x: np.broadcast_to(x, (0, 2))),
    ("nonlinear after views", lambda x: (x.T.reshape((2, 3)) ** 2).expand_dims(1) * x.squeeze().T,
     (draw(3, 1, 2),), lambda x: (x.T.reshape(2, 3) ** 2)[:, None] * x.squeeze().T),
    ("masked through views",
     lambda x: T.broadcast_to(T.where(x > 0, T.sqrt(x), 0.0).T.reshape((-1, 1)), (6, 2)),
     (np.array([[0.0, 2.0, -1.0], [3.0, 0.0, 0.5]]) + 0.1,),
     lambda x: np.broadcast_to(np.where(x > 0, np.sqrt(np.abs(x)), 0).T.reshape(-1, 1), (6, 2))),
]  # fmt: skip

JOINS: list[Case] = [
    ("concatenate", lambda x, y: T.concatenate([x, y]), (draw(2, 3), draw(4, 3)),
     lambda x, y: np.concatenate([x, y])),
    ("concatenate 1", lambda x, y: T.concatenate([x, y, x * y], axis=-1), (draw(2, 3), draw(2, 3)),
     lambda x, y: np.concatenate([x, y, x * y], 1)),
    ("concatenate None", lambda x, y: T.concatenate([x, y], axis=None), (draw(2, 3), draw(4)),
     lambda x, y: np.concatenate([x, y], None)),
    ("concatenate empty", lambda x, y: T.concatenate([x, y]), (draw(0, 3), draw(2, 3)),
     lambda x, y: np.concatenate([x, y])),
    ("concatenate dtypes", lambda x, y: T.concatenate([x, y]), (draw(2, dtype="int8"), draw(2)),
     lambda x, y: np.concatenate([x, y])),
    ("concatenate ones", lambda x, y: T.concatenate([x, y], 1), (draw(3, 1), draw(3, 1)),
     lambda x, y: np.concatenate([x, y], 1)),
    ("concatenate bool", lambda x, y: T.concatenate([x > 0, y > 0]), (draw(3), draw(2)),
     lambda x, y: np.concatenate([x > 0, y > 0])),
    ("stack", lambda x, y: T.stack([x, y]), (draw(2, 3), draw(2, 3)),
     lambda x, y: np.stack([x, y])),
    ("stack -1", lambda x, y: T.stack([x, y], axis=-1), (draw(2, 3), draw(2, 3)),
     lambda x, y: np.stack([x, y], -1)),
    ("stack scalars", lambda x, y: T.stack([x, y, 1.0]), (np.float64(2.0), np.float64(3.0)),
     lambda x, y: np.stack([x, y, 1.0])),
    ("lists hold tensors", lambda x: T.as_tensor([[x, 2.0], [1.0, x * x]]), (np.float64(3.0),),
     lambda x: np.array([[x, 2.0], [1.0, x * x]])),
    ("hstack", lambda x, y: T.hstack([x, y]), (draw(2), draw(3)), lambda x, y: np.hstack([x, y])),
    ("hstack 2", lambda x, y: T.hstack([x, y]), (draw(2, 1), draw(2, 3)),
     lambda x, y: np.hstack([x, y])),
    ("hstack scalars", lambda x, y: T.hstack([x, y]), (np.float64(1.0), np.float64(2.0)),
     lambda x, y: np.hstack([x, y])),
    ("vstack", lambda x, y: T.vstack([x, y]), (draw(3), draw(2, 3)),
     lambda x, y: np.vstack([x, y])),
    ("dstack", lambda x, y: T.dstack([x, y]), (draw(2, 3), draw(2, 3)),
     lambda x, y: np.dstack([x, y])),
    ("dstack 1", lambda x, y: T.dstack([x, y]), (draw(3), draw(3)), lambda x, y: np.dstack([x, y])),
    ("atleast", lambda x: [T.atleast_1d(x), T.atleast_2d(x), T.atleast_2d(x[None])],
     (np.float64(4.0),), lambda x: [x[None], x[None, None], x[None, None]]),
    ("split", lambda x: T.split(x, [1, 3, 0]), (draw(4, 2),),
     lambda x: [x[:1], x[1:], x[:0]]),
    ("split axis", lambda x: T.split(x, 3, axis=1), (draw(2, 6),), lambda x: np.split(x, 3, 1)),
    ("split Theano", lambda x: T.split(x, [2, 1], 2, -1), (draw(2, 3),),
     lambda x: [x[:, :2], x[:, 2:]]),
    ("split vector", lambda x, n: T.split(x, n, n_splits=2), (draw(5), np.array([3, 2])),
     lambda x, n: [x[:3], x[3:]]),
    ("split symbolic", lambda x, n: T.split(x, [n, x.shape[0] - n]), (draw(5), np.array(3)),
     lambda x, n: [x[:3], x[3:]]),
    ("array_split", lambda x: T.array_split(x, 3), (draw(7, 2),), lambda x: np.array_split(x, 3)),
    ("array_split short", lambda x: T.array_split(x, 3), (draw(2),),
     lambda x: np.array_split(x, 3)),
    ("split and join", lambda x: T.concatenate(T.split(x * x, [1, 2])[::-1]), (draw(3),),
     lambda x: np.concatenate([(x * x)[1:], (x * x)[:1]])),
    ("kron", lambda x, y: T.kron(x, y), (draw(2, 3), draw(3, 2)), np.kron),
    ("kron ranks", lambda x, y: T.kron(x, y), (draw(2), draw(2, 2)), np.kron),
    ("specify", lambda x, y: T.specify_shape(x, (None, 1)) * y, (draw(2, 1), draw(2, 3)),
     lambda x, y: x * y),
]  # fmt: skip

REARRANGED: list[Case] = [
    ("flip", lambda x: T.flip(x), (draw(2, 3),), np.flip),
    ("flip axis", lambda x: T.flip(x, 1), (draw(2, 3),), lambda x: np.flip(x, 1)),
    ("flip axes", lambda x: x.flip((0, -1)), (draw(2, 3, 2),), lambda x: np.flip(x, (0, 2))),
    ("flip scalar", lambda x: T.flip(x), (np.float64(1.0),), np.flip),
    ("flip empty", lambda x: T.flip(x), (draw(0, 2),), np.flip),
    ("flipud", lambda x: T.flipud(x), (draw(3, 2),), np.flipud),
    ("fliplr", lambda x: T.fliplr(x), (draw(3, 2),), np.fliplr),
    ("roll", lambda x: T.roll(x, 2), (draw(5),), lambda x: np.roll(x, 2)),
    ("roll flat", lambda x: T.roll(x, -1), (draw(2, 3),), lambda x: np.roll(x, -1)),
    ("roll axis", lambda x: T.roll(x, 7, axis=1), (draw(2, 5),), lambda x: np.roll(x, 7, 1)),
    ("roll axes", lambda x: T.roll(x, (1, 2), axis=(0, 1)), (draw(3, 4),),
     lambda x: np.roll(x, (1, 2), (0, 1))),
    ("roll one axis", lambda x: T.roll(x, 1, axis=(0, 1)), (draw(3, 4),),
     lambda x: np.roll(x, 1, (0, 1))),
    ("roll symbolic", lambda x, n: T.roll(x, n, axis=0), (draw(3, 2), np.array(-4)),
     lambda x, n: np.roll(x, n, 0)),
    ("roll empty", lambda x: T.roll(x, 3), (draw(0),), lambda x: np.roll(x, 3)),
    ("tile", lambda x: T.tile(x, 3), (draw(2, 2),), lambda x: np.tile(x, 3)),
    ("tile axes", lambda x: T.tile(x, (2, 1, 3)), (draw(2, 2),), lambda x: np.tile(x, (2, 1, 3))),
    ("tile few", lambda x: T.tile(x, (2,)), (draw(2, 2, 1),), lambda x: np.tile(x, (2,))),
    ("tile none", lambda x: T.tile(x, (0, 2)), (draw(2, 2),), lambda x: np.tile(x, (0, 2))),
    ("tile symbolic", lambda x, n: T.tile(x, (n, 2)), (draw(2, 3), np.array(2)),
     lambda x, n: np.tile(x, (2, 2))),
    ("tile scalar", lambda x: T.tile(x, 2), (np.float64(2.0),), lambda x: np.tile(x, 2)),
    ("repeat", lambda x: T.repeat(x, 2), (draw(2, 3),), lambda x: np.repeat(x, 2)),
    ("repeat axis", lambda x: x.repeat(3, axis=-1), (draw(2, 3),), lambda x: np.repeat(x, 3, 1)),
    ("repeat one", lambda x: x.repeat(3, axis=0), (draw(1, 3),), lambda x: np.repeat(x, 3, 0)),
    ("repeat symbolic", lambda x, n: x.repeat(n, 0), (draw(2, 3), np.array(2, "int32")),
     lambda x, n: np.repeat(x, 2, 0)),
    ("repeat counts", lambda x: x.repeat([2, 0, 3], axis=0), (draw(3, 2),),
     lambda x: np.repeat(x, [2, 0, 3], 0)),
    ("repeat symbolic counts", lambda x, n: T.repeat(x * x, n, 0),
     (draw(3, 2), np.array([2, 0, 1])),
     lambda x, n: np.repeat(x * x, n, 0)),
    ("repeat zero counts", lambda x, n: T.repeat(x, n), (draw(2), np.array([0, 0], "int8")),
     lambda x, n: np.repeat(x, n)),
    ("diff", lambda x: T.diff(x), (draw(2, 4),), np.diff),
    ("diff 2", lambda x: T.diff(x, 2, axis=0), (draw(4, 2),), lambda x: np.diff(x, 2, 0)),
    ("diff too far", lambda x: T.diff(x, 3), (draw(2),), lambda x: np.diff(x, 3)),
    ("diff bool", lambda x: T.diff(x > 0), (draw(5),), lambda x: np.diff(x > 0)),
    ("copy and astype", lambda x: [x.copy(), x.astype("float32"), x.astype(int)], (draw(3),),
     lambda x: [x, x.astype("float32"), x.astype(int)]),
]  # fmt: skip

PADS: list[Case] = [
    ("zeros", lambda x: T.pad(x, 2), (draw(3),), lambda x: np.pad(x, 2)),
    ("pair", lambda x: T.pad(x, (1, 2)), (draw(2, 3),), lambda x: np.pad(x, (1, 2))),
    ("pairs", lambda x: T.pad(x, ((1, 0), (0, 2)), constant_values=1.5), (draw(2, 3),),
     lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=1.5)),
    ("values", lambda x: T.pad(x, ((1, 1), (0, 2)), constant_values=((1, 2), (3, 4))),
     (draw(2, 3),),
     lambda x: np.pad(x, ((1, 1), (0, 2)), constant_values=((1, 2), (3, 4)))),
    ("value tensor", lambda x, v: T.pad(x * v, 1, constant_values=v), (draw(2, 3), np.float64(0.7)),
     lambda x, v: np.pad(x * v, 1, constant_values=v)),
    ("empty", lambda x: T.pad(x, 1), (draw(0, 2),), lambda x: np.pad(x, 1)),
    ("none", lambda x: T.pad(x, 0), (draw(2),), lambda x: x),
    ("scalar", lambda x: T.pad(x, 1), (np.float64(2.0),), lambda x: x),
    ("symbolic", lambda x, n: T.pad(x, ((n, 1), (0, n))), (draw(2, 2), np.array(2)),
     lambda x, n: np.pad(x, ((2, 1), (0, 2)))),
    *[
        (f"{mode} {widths} {n}", partial(T.pad, pad_width=widths, mode=mode), (draw(n, 2),),
         partial(np.pad, pad_width=widths, mode=mode))
        for mode in get_args(Mode)
        if mode != "constant"
        for widths, n in ((1, 3), (((2, 1), (0, 3)), 3), (((9, 8), (0, 0)), 3), (((3, 2),
     (1, 1)), 1))
    ],
]  # fmt: skip

CASES = [*VIEWS, *JOINS, *REARRANGED, *PADS]


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
    assert T.concatenate([x, y]).shape[0] is (n + m)
    assert T.concatenate([x, y]).shape[1] == 3
    assert x.reshape((-1, 3, 1)).type.shape == (*x.type.shape, 1)
    assert x.size is (n * 3)
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
    (lambda x, v: x.swapaxes(0, "x"), TypeError, "swapaxes: an axis must be an integer, not 'x'"),
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
    (lambda x, v: T.pad(x, 1, mode=cast("Any", "mean")), ValueError,
     "pad: there is no mode 'mean'; there are constant, edge, reflect, symmetric, wrap"),
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
