"""`theano.tensor.nnet.blocksparse`: products with some of the blocks of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.in_place import OverwritesFirst
from symc.theano.gof.op import Op
from symc.theano.scalar.dtypes import discrete_dtypes
from symc.theano.tensor.convert import as_tensor_variable


def _with_indices(op: Op, dense: Sequence[Any], indices: Sequence[Any], *rest: Any) -> Apply:
    """An op applied to tensors and to places of blocks. Raises TypeError for other indices."""
    given = [as_tensor_variable(each) for each in dense]
    places = [as_tensor_variable(each) for each in indices]
    if any(each.dtype not in discrete_dtypes for each in places):
        raise TypeError("blocks are chosen by integers")
    others = [as_tensor_variable(each) for each in rest]
    return Apply(op, [*given, *places, *others], [given[0].type()])


class _BlockOp(OverwritesFirst):
    """What both ops share: indices have no gradient, the first input may be overwritten."""

    __props__ = ("inplace",)
    indices = (3, 4)

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Indices have no gradient."""
        return [[position not in self.indices] for position in range(node.nin)]

    def __str__(self) -> str:
        return f"{type(self).__name__}{'{inplace}' if self.inplace else ''}"


class SparseBlockGemv(_BlockOp):
    """``o`` and the products of chosen input blocks with blocks of `W`, for chosen output blocks.

    Inputs: `o` (batch, chosen outputs, outputs), `W` (input blocks, output blocks, inputs,
    outputs), `h` (batch, chosen inputs, inputs), and two matrices of indices (batch, chosen).
    """

    def make_node(self, o: Any, W: Any, h: Any, inputIdx: Any, outputIdx: Any) -> Apply:
        return _with_indices(self, (o, W, h), (inputIdx, outputIdx))

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        o, w, h, into, out = inputs
        blocks = w[into[:, :, None], out[:, None, :]]
        return [o + T.sum(h[:, :, None, :, None] * blocks, axis=(1, 3))]


class SparseBlockOuter(_BlockOp):
    """``o`` with outer products added: of row blocks and column blocks, where indices say.

    Inputs: `o` (row blocks, column blocks, rows, columns), `x` (batch, chosen, rows), `y` (batch,
    chosen, columns), two matrices of indices (batch, chosen), and a factor of the products.
    """

    def make_node(self, o: Any, x: Any, y: Any, xIdx: Any, yIdx: Any, alpha: Any = None) -> Apply:
        o = as_tensor_variable(o)
        factor = as_tensor_variable(1.0 if alpha is None else alpha).astype(o.dtype)
        return _with_indices(self, (o, x, y), (xIdx, yIdx), factor)

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        o, x, y, rows, columns, factor = inputs
        parts = x[:, :, None, :, None] * y[:, None, :, None, :]
        place = o[rows[:, :, None], columns[:, None, :]]
        return [T.inc_subtensor(place, factor * parts)]


sparse_block_gemv, sparse_block_gemv_inplace = SparseBlockGemv(False), SparseBlockGemv(True)
sparse_block_outer, sparse_block_outer_inplace = SparseBlockOuter(False), SparseBlockOuter(True)


def sparse_block_dot(W: Any, h: Any, inputIdx: Any, b: Any, outputIdx: Any) -> Any:
    """The chosen output blocks: biases and the products of the chosen input blocks, summed.

    `W` has axes (input blocks, output blocks, inputs, outputs), `h` (batch, chosen inputs, inputs)
    or without the batch; the indexes choose blocks.
    """
    h, b = as_tensor_variable(h), as_tensor_variable(b)
    into, out = as_tensor_variable(inputIdx), as_tensor_variable(outputIdx)
    single = h.ndim == 2
    if single:
        h = h.dimshuffle("x", 0, 1)
    if into.ndim == 1:
        into = into.dimshuffle("x", 0)
    if out.ndim == 1:
        out = out.dimshuffle("x", 0)
    found = sparse_block_gemv(b[out], W, h, into, out)
    return found[0] if single else found
