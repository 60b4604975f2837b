"""Expressions on which each rule that is a function fires, and numbers for their inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from symc import tensor as T
from symc.codegen.dtypes import INT64
from symc.derivatives.grad import grad
from symc.graph.node import Tensor
from symc.tensor.elementwise import cast_to
from symc.tensor.fold import Reduce
from symc.tensor.lengths import Length
from symc.tensor.matrix_product import MatMul, MatVec
from symc.tensor.positions import Fitted, flat_nonzero
from symc.tensor.reshape import Reshape
from symc.tensor.shape import Concatenate
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.spans import WHOLE, Span
from symc.tensor.views import BroadcastTo, DimShuffle
from tests.rewrite.linalg_examples import LINALG_EXAMPLES

Example: TypeAlias = tuple[Callable[..., Tensor], Sequence[Any]]

RNG = np.random.default_rng(20)
A = RNG.standard_normal((3, 4))
B = RNG.standard_normal((4, 3))
LARGE = np.random.default_rng(3).standard_normal((30, 25))
CUBE = RNG.standard_normal((2, 3, 4))
V = RNG.standard_normal(4)
ROWS = np.array([0, 1, 2])
LABELS = np.array([3, 0, 2])
BACK = Span(None, None, -1)


def _written(like: Tensor, column: Span | int, row: int) -> Tensor:
    """Zeros, with a row of a tensor in one or more of its columns."""
    value = like[row, :1] if isinstance(column, Span) else like[row, 0]
    return SliceWrite((WHOLE, column), "set")(T.zeros_like(like), value)


def _rows_set(x: Tensor, rows: Sequence[Tensor]) -> Tensor:
    for number, row in enumerate(rows):
        x = T.set_subtensor(x[number], row)
    return x


# Nodes are made by their ops where the user's function would not make them.

EXAMPLES: dict[str, list[Example]] = {
    "one shuffle of axes, not two": [
        (lambda a: DimShuffle((1, 0))(DimShuffle((1, 0))(a)), [A]),
        (lambda a: DimShuffle((0, 1))(a) * 2, [A]),
        (lambda a: DimShuffle((2, None, 0))(DimShuffle((1, None, 0))(a)), [A]),
    ],
    "one reshape, not two": [
        (lambda a: Reshape((2, 6))(Reshape((12,))(a)), [A]),
        (lambda a: Reshape((3, 4))(Reshape((12,))(a)), [A]),
    ],
    "one stretch, not two": [
        (lambda v: BroadcastTo((2, 3, 4))(BroadcastTo((3, 4))(v)), [V]),
        (lambda v: BroadcastTo((3, 4))(DimShuffle((None, 0))(v)), [V]),
    ],
    "a number with axes is a stretched number": [
        (lambda: T.constant(2.5).dimshuffle("x", "x"), [])
    ],
    "a view of a stretched number": [
        (lambda x: Slice((Span(1, None, 1), 0))(BroadcastTo((3, 4))(x)), [2.0]),
        (lambda x: Reshape((12,))(BroadcastTo((3, 4))(x)), [2.0]),
        (lambda x: DimShuffle((1, 0))(BroadcastTo((3, 4))(x)), [2.0]),
        (lambda x, i: BroadcastTo((3, 4))(x)[i], [2.0, ROWS]),
    ],
    "one cast, not two": [
        (lambda x: cast_to(cast_to(x, "float64"), "float32"), [A.astype("float32")]),
        (lambda x: cast_to(cast_to(x, "float64"), "float16"), [A.astype("float32")]),
        (lambda x: cast_to(cast_to(x, "int16"), "int8"), [np.array([1, -1, 70000, 255, 2**40])]),
        (lambda x: cast_to(cast_to(x, "int64"), "int32"), [np.array([1, -7], "int32")]),
    ],
    "a length that is known": [(lambda a: Length(0)(cast_to(a, "float32")), [A])],
    "regions of zeros, added: writes one after the other": [
        (lambda a: grad((a[:, 0] * T.exp(a[:, 2])).sum(), a), [A]),
        (lambda a: grad(T.exp(a[0]).sum(), a) + grad(T.exp(a[1] * 2.0).sum(), a), [A]),
        (lambda a: a * 2.0 + _written(a, 2, 0) + _written(a, 3, 1), [A]),
        (lambda a: _written(a, Span(None, 1), 0) + _written(a, Span(1, 3), 1), [A]),
    ],
    "a whole, written in pieces": [
        (lambda a: T.set_subtensor(a[:], a * 2.0), [A]),
        (lambda v: T.set_subtensor(T.set_subtensor(v[2:], 1.5)[:2], v[:2] * 3.0), [V]),
        (lambda a: _rows_set(a, [a[1] * 2.0, 3.0 * a[2], a[0]]), [A]),
    ],
    "one part, joined with nothing": [(lambda a: Concatenate(0)(a) * 2, [A])],
    "elementwise of what is not stretched": [
        (lambda a, v: a + BroadcastTo((3, 4))(v), [A, V]),
        (lambda v: T.exp(BroadcastTo((3, 4))(v)), [V]),
        (lambda a, v: a * DimShuffle((None, 0))(v), [A, V]),
        (lambda a, v: T.where(BroadcastTo((3, 4))(v > 0), a, BroadcastTo((3, 4))(v)), [A, V]),
    ],
    "no axes of length 1": [(lambda a: Reduce("add", (0, 1))(DimShuffle((None, 0, 1))(a)), [A])],
    "one extreme, not two": [
        (lambda a: Reduce("max", (0,))(Reduce("max", (1,))(a)), [CUBE]),
        (lambda a: Reduce("add", (0,))(Reduce("add", (1,))(cast_to(a * 9, "int64"))), [CUBE]),
    ],
    "one sum, not two": [(lambda a: Reduce("add", (1,))(Reduce("add", (0,))(a)), [CUBE])],
    "an extreme of shuffled axes": [
        (lambda a: Reduce("max", (0, 2))(DimShuffle((1, None, 2, 0))(a)), [CUBE]),
        (lambda a: Reduce("min", (0,))(DimShuffle((1, None, 2, 0))(a)), [CUBE]),
    ],
    "a sum of shuffled axes": [
        (lambda a: Reduce("add", (0, 1))(DimShuffle((1, None, 2, 0))(a)), [CUBE]),
        (lambda a: Reduce("mul", (3,))(DimShuffle((1, None, 2, 0))(a)), [CUBE]),
    ],
    "an extreme of a stretched tensor": [
        (lambda v: Reduce("max", (0,))(BroadcastTo((3, 4))(v)), [V]),
        (lambda v: Reduce("or", (0, 1))(BroadcastTo((3, 4))(v > 1)), [V]),
    ],
    "a sum of a stretched tensor": [
        (lambda v: Reduce("add", (0,))(BroadcastTo((3, 4))(v)), [V]),
        (lambda a: Reduce("add", (0, 2))(BroadcastTo((5, 3, 4))(a)), [A]),
        (lambda v: Reduce("add", (1,))(BroadcastTo((3, 4))(DimShuffle((0, None))(v))), [V[:3]]),
    ],
    "a sum of a tensor stretched by a length": [
        (lambda v, a: T.broadcast_to(v, a.shape).sum(axis=0), [V, A]),
    ],
    "computed now": [
        (lambda v: v + T.exp(T.constant([1.0, 2.0, 3.0, 4.0])), [V]),
        (lambda v: v * T.sum(T.constant(A), axis=0), [V]),
    ],
    "nothing added to what is never -0.0": [
        (lambda v: T.exp(v) + 0, [V]),
        (lambda v: 0 + (T.sqr(v) - 1.5), [V]),
        (lambda v: T.log(v) + 0.0, [abs(V)]),
        (lambda v: T.where(v > 0, v + 1.0, T.abs(v)) + 0, [V]),
        (lambda a: a.sum(axis=0) * 1.5 - a[0] + a.sum(axis=0) + 0, [A]),
    ],
    "half powers of what is at least 0": [
        (lambda v: (T.sqr(v) + 0.25) ** 1.5, [V]),
        (lambda v: T.pow(T.exp(v), -0.5), [V]),
        (lambda a: (T.sqr(a).sum(axis=1) + 1.0) ** -1.5, [A]),
    ],
    "one number, not an array of it": [(lambda a: a + T.constant(np.full((3, 4), 2.5)), [A])],
    "reading a region just written": [
        (lambda a, v: T.set_subtensor(a[1], v)[1], [A, V]),
        (lambda a, v: T.inc_subtensor(a[1:, ::2], 3.0)[1:, ::2], [A, V]),
    ],
    "a sum of what a mask chooses": [
        (lambda a, b: a[b > 0].sum(), [V, A[0]]),
        (lambda a, b: (a[b > 0] * T.sqr(b[b > 0]) - 2.0).sum(), [V, A[0]]),
        (lambda a: a[a > 0].sum(), [A]),
        (lambda a: a[a > 9].sum(), [A]),
        (lambda a, v: (a[v > 0] * v[v > 0, None].sum()).sum(axis=0), [A.T, V]),
    ],
    "writing where a mask is true": [
        (lambda a, b: a[b > 0].set(a[b > 0] ** 2 + b[b > 0]), [V, A[0]]),
        (lambda a, b: a[b > 0].inc(T.exp(-b[b > 0])), [A, A + 1.0]),
        (lambda a, v: a[v > 0].inc(a[v > 0] * a[0] - 1.0), [A.T, V]),
        (lambda a, b: a[b > 9].set(b[b > 9]), [A, A + 1.0]),
    ],
    "the count of the mask itself": [
        (lambda v: T.sum(cast_to(Fitted((4,))(v > 0), INT64)), [V]),
        (lambda a: flat_nonzero(Fitted((3, 4))(a > 0)).args[2], [A]),
    ],
    "positions in the mask itself": [
        (lambda v: flat_nonzero(Fitted((4,))(v > 0)), [V]),
        (lambda a: a[a > 0] + flat_nonzero(Fitted((3, 4))(a > 0)), [A]),
    ],
    "one slice, not two": [
        (lambda a: Slice((BACK, WHOLE))(Slice((BACK, WHOLE))(a)) * 2, [A]),
        (lambda a: Slice((WHOLE, Span(1, 3)))(Slice((BACK, WHOLE))(a)), [A]),
    ],
    "a product of transposed factors": [
        (lambda a, b: MatMul()(DimShuffle((1, 0))(b), DimShuffle((1, 0))(a)), [A, B]),
    ],
    "a scaled matrix times a vector": [
        (lambda s, a, x: (s * a) @ x, [np.array(1.5), A, V]),
        (lambda s, b, x: MatVec(True)(b / s, x), [np.array(1.5), B, V]),
        (lambda a, x: (a * 3.0) @ x, [A, V]),
        (lambda a, x: -a @ x, [A, V]),
    ],
    "a conjugated matrix times a vector": [
        (lambda a, x: T.conj(a) @ x, [A * (1 + 2j), V * (1 - 1j)]),
        (lambda b, x: MatVec(True)(T.conj(b), T.conj(x)), [B * (2 - 1j), V * (1 - 1j)]),
    ],
    "a scaled matrix times its transpose": [
        (lambda s, a: MatMul(False, True)(s * a, a), [np.array(1.5), A]),
        (lambda s, a: MatMul(True)(a, a * s), [np.array(1.5), A]),
    ],
    "a matrix times a constant times its transpose": [
        (lambda a: MatMul(False, True)(3.0 * a, a), [A]),
        (lambda a: MatMul(True)(a, a * 0.7), [A]),
    ],
    "a transposed matrix times a vector": [
        (lambda b, v: MatVec()(DimShuffle((1, 0))(b), v), [B, V]),
    ],
    "a part of a matrix times a vector": [
        (lambda b, v: MatVec(True)(b[:, 1:], v), [LARGE, LARGE[:, 0]]),
    ],
    "a transposed product": [(lambda a, b: DimShuffle((1, 0))(MatMul()(a, b)), [A, B])],
    "a product with the identity": [
        (lambda a: MatMul()(a, T.constant(np.eye(4))), [A]),
        (lambda a: MatMul(False, True)(T.constant(np.eye(4)), a), [A]),
        (lambda v: MatVec()(T.constant(np.eye(4)), v), [V]),
    ],
    "zeros with quotients of a softmax, times it": [
        (lambda a, y: _picked(a, y), [A, LABELS]),
    ],
    **LINALG_EXAMPLES,
}


def _picked(a: Tensor, y: Tensor) -> Tensor:
    return grad(T.log(T.softmax(a)[T.arange(3), y]).sum(), a)
