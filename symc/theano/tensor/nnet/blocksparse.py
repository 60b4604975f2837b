"""`theano.tensor.nnet.blocksparse`: products with some of the blocks of a matrix."""

from __future__ import annotations

from typing import Any

from symc.theano.tensor.convert import as_tensor_variable


def sparse_block_dot(W: Any, h: Any, inputIdx: Any, b: Any, outputIdx: Any) -> Any:
    """The chosen output blocks: biases and the products of the chosen input blocks, summed.

    `W` has axes (input blocks, output blocks, inputs, outputs), `h` (batch, chosen inputs, inputs)
    or without the batch; the indexes choose blocks.
    """
    w, h, b = as_tensor_variable(W), as_tensor_variable(h), as_tensor_variable(b)
    inputs, outputs = as_tensor_variable(inputIdx), as_tensor_variable(outputIdx)
    single = h.ndim == 2
    if single:
        h = h.dimshuffle("x", 0, 1)
    if inputs.ndim == 1:
        inputs = inputs.dimshuffle("x", 0)
    if outputs.ndim == 1:
        outputs = outputs.dimshuffle("x", 0)
    blocks = w[inputs.dimshuffle(0, 1, "x"), outputs.dimshuffle(0, "x", 1)]
    part = (h.dimshuffle(0, 1, "x", 2, "x") * blocks).sum(axis=(1, 3))
    found = part + b[outputs]
    return found[0] if single else found


def sparse_block_gemv(o: Any, W: Any, h: Any, inputIdx: Any, outputIdx: Any) -> Any:
    """As `sparse_block_dot`, added to `o`."""
    w, h = as_tensor_variable(W), as_tensor_variable(h)
    blocks = w[inputIdx.dimshuffle(0, 1, "x"), outputIdx.dimshuffle(0, "x", 1)]
    return o + (h.dimshuffle(0, 1, "x", 2, "x") * blocks).sum(axis=(1, 3))


def sparse_block_outer(o: Any, x: Any, y: Any, xIdx: Any, yIdx: Any, alpha: Any = None) -> Any:
    """`o` with the outer products of blocks added at the blocks that the indexes choose."""
    from symc.theano.tensor.subtensor import inc_subtensor

    parts = x.dimshuffle(0, 1, "x", 2, "x") * y.dimshuffle(0, "x", 1, "x", 2)
    parts = parts if alpha is None else alpha * parts
    place = o[xIdx.dimshuffle(0, 1, "x"), yIdx.dimshuffle(0, "x", 1)]
    return inc_subtensor(place, parts)
