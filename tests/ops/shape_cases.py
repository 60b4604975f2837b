"""Tables of cases for views, joining, splitting, rearranging and padding, with NumPy's answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import numpy as np

from symc import tensor as T
from symc.tensor.padding import Mode
from tests.ops.harness import check
from tests.ops.lowering_check import check_lowering

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
    ("array_split places", lambda x: T.array_split(x, [1, -2, 9], 1), (draw(2, 5),),
     lambda x: np.array_split(x, [1, -2, 9], 1)),
    ("array_split symbolic", lambda x, n: T.array_split(x, [n]), (draw(5), np.array(3)),
     lambda x, n: np.array_split(x, [n])),
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
    ("tile nothing", T.tile, (np.zeros(0), np.array(2**63 - 1)), lambda x, n: x),
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
        if mode != "empty"  # NumPy's has any numbers there: see test_pad_modes.py
        if mode != "constant"
        for widths, n in ((1, 3), (((2, 1), (0, 3)), 3), (((9, 8), (0, 0)), 3), (((3, 2),
     (1, 1)), 1), (((0, 0), (7, 6)), 2))
    ],
]  # fmt: skip

CASES = [*VIEWS, *JOINS, *REARRANGED, *PADS]
