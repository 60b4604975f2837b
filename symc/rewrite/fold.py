"""Constant folding: known values are computed once, here.

Canonical: a node of constants only is a constant, unless that would need more memory than
its arguments do; a constant that repeats one number is that number, stretched.
"""

from __future__ import annotations

import numpy as np

from symc.graph.bfloat16 import computed
from symc.graph.inputs import Constant, constant, constant_value, scalar_constant
from symc.graph.node import Tensor
from symc.rewrite.rule import EXACT, Rules
from symc.tensor.elementwise import Cast, Elementwise
from symc.tensor.fold import Reduce
from symc.tensor.gather import Gather, Scatter
from symc.tensor.matrix_product import MatMul, MatVec
from symc.tensor.reduce import ArgExtreme
from symc.tensor.reshape import Reshape
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.softmaxes import LogSoftmax, LogSumExp, Softmax
from symc.tensor.views import BroadcastTo, DimShuffle, broadcast_to

FOLD = Rules("fold")
# Results of more elements than this are not computed here.
LIMIT = 100_000

PURE = (
    Elementwise, Cast, DimShuffle, Reshape, Slice, Gather, Reduce, ArgExtreme, Softmax, LogSoftmax,
    LogSumExp, MatMul, MatVec, Scatter, SliceWrite,
)  # fmt: skip


@FOLD.structural("computed now", *PURE, valid=EXACT, inner=[Constant])
def _fold(node: Tensor) -> Tensor | None:
    values = [constant_value(arg) for arg in node.args]
    known = [value for value in values if value is not None]
    if len(known) < len(values) or (isinstance(node.op, DimShuffle) and not known[0].ndim):
        return None  # a number with axes of length 1 is a stretched number
    size = 1
    for dim in node.type.shape:
        if not isinstance(dim, int):
            return None
        size *= dim
    if size > LIMIT or size > max(16, *(value.size for value in known)):
        return None
    try:
        result = computed(node, node.op.evaluate)(*known)
    except (ArithmeticError, IndexError, ValueError):
        return None  # its fault is a run-time condition
    if result.size != 1:
        return constant(result)
    return broadcast_to(scalar_constant(result.item(), node.dtype), result.shape)


@FOLD.structural(
    "one number, not an array of it", Elementwise, BroadcastTo, valid=EXACT, inner=[Constant]
)
def _uniform(node: Tensor) -> Tensor | None:
    args = [_as_number(arg) for arg in node.args]
    if all(new is old for new, old in zip(args, node.args, strict=True)):
        return None
    return node.op(*args)


def _as_number(node: Tensor) -> Tensor:
    value = constant_value(node)
    if value is None or not value.ndim or not value.size:
        return node
    flat = value.reshape(-1)
    first = flat[:1].tobytes()
    if flat[-1:].tobytes() != first or flat[flat.size // 2 :][:1].tobytes() != first:
        return node
    if value.tobytes() != first * value.size:
        return node
    return scalar_constant(flat[0].item(), node.dtype) if not np.isnan(flat[0]) else node
