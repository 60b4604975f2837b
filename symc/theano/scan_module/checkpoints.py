"""`scan_checkpoints`: a loop of loops, of which only every N-th state is kept for the gradient."""

from __future__ import annotations

from typing import Any

from symc.theano.scan_module.scan import scan
from symc.theano.tensor import math
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.creation import arange, zeros
from symc.theano.tensor.joining import concatenate
from symc.theano.updates import OrderedUpdates


def scan_checkpoints(
    fn: Any, sequences: Any = (), outputs_info: Any = None, non_sequences: Any = (),
    name: str = "checkpointscan_fn", n_steps: Any = None, save_every_N: int = 10,
    padding: bool = True,
) -> tuple[Any, OrderedUpdates]:  # fmt: skip
    """A loop whose outputs are those of every N-th step; the others are computed again.

    Sequences are filled up to a multiple of N steps, unless `padding` is false; their last loop has
    only the steps that are left.
    """
    given = list(sequences) if isinstance(sequences, list | tuple) else [sequences]
    rows = [as_tensor_variable(each) for each in given]
    infos = list(outputs_info) if isinstance(outputs_info, list | tuple) else [outputs_info]
    others = list(non_sequences) if isinstance(non_sequences, list | tuple) else [non_sequences]
    if any(not hasattr(each, "ndim") and each is not None for each in infos):
        raise RuntimeError("outputs_info: scan_checkpoints takes initial values, no taps")
    if any(each is None for each in infos):
        raise RuntimeError(
            "scan_checkpoints requires an initial value for each output; outputs_info has None"
        )
    if n_steps is None:
        if not rows:
            raise RuntimeError("the number of steps needs n_steps or a sequence")
        n_steps = rows[0].shape[0]
    count = as_tensor_variable(n_steps)
    chunks = math.ceil_intdiv(count, save_every_N)
    chunked = [_chunks(each, count, chunks, save_every_N, padding) for each in rows]
    first = arange(0, chunks * save_every_N, save_every_N)
    lengths = math.minimum(count - first, save_every_N)  # of the last chunk those that are left

    def inner(length: Any, *arguments: Any) -> Any:
        parts = arguments[: len(rows)]
        states = list(arguments[len(rows) : len(rows) + len(infos)])
        rest = list(arguments[len(rows) + len(infos) :])
        found, updates = scan(
            fn, sequences=list(parts), outputs_info=states, non_sequences=rest,
            n_steps=length, return_list=True,
        )  # fmt: skip
        return [each[-1] for each in found], updates

    return scan(
        inner, sequences=[lengths, *chunked], outputs_info=infos, non_sequences=others,
        n_steps=chunks, name=name,
    )  # fmt: skip


def _chunks(x: Any, count: Any, chunks: Any, size: int, padding: bool) -> Any:
    x = x[:count]
    if padding:
        missing = chunks * size - count
        tail = [x.shape[axis] for axis in range(1, x.ndim)]
        x = concatenate([x, zeros([missing, *tail], dtype=x.dtype)], axis=0)
    return x.reshape([chunks, size, *(x.shape[axis] for axis in range(1, x.ndim))], ndim=x.ndim + 1)
