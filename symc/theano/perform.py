"""Ops that have a `perform` and no meaning: symc's program calls it back.

symc has to know lengths before it computes. So the shapes of the results are an op of their own,
which runs `perform`; the op of the values takes its results over. Lengths of an op's results are
told from the shapes of its arguments alone, so tensors of zeros carry them there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import symc
import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.gof.graph import Apply
from symc.theano.gof.op import run_perform
from symc.theano.meaning import detached


class Runner:
    """Runs `perform` on arrays, and keeps the last results until they are asked for."""

    def __init__(self, op: Any, node: Apply) -> None:
        self.op, self.node = op, detached(node)
        self.ins = [each.type for each in node.inputs]
        self.outs = [each.type for each in node.outputs]
        self.last: tuple[Sequence[Any], list[Any]] | None = None

    def results(self, arrays: Sequence[Any]) -> list[Any]:
        """The results of `perform`."""
        storage: list[list[Any]] = [[None] for _ in self.outs]
        values = [
            kind.decoded(np.array(array)) for kind, array in zip(self.ins, arrays, strict=True)
        ]
        run_perform(self.op, self.node, values, storage)
        return [
            np.asarray(kind.encoded(kind.filter(cell[0])))
            for kind, cell in zip(self.outs, storage, strict=True)
        ]

    def shapes(self, *arrays: Any) -> Any:
        """The lengths of all results, one after the other."""
        found = self.results(arrays)
        self.last = ([np.array(array) for array in arrays], found)
        return np.array([n for each in found for n in each.shape], dtype="int64")

    def values(self, *arrays: Any) -> Any:
        """The results, or the only one; the last arguments have their shapes."""
        given, kept = arrays[: len(self.ins)], self.last
        self.last = None
        if kept is not None and all(map(_same, kept[0], given)):
            found = kept[1]
        else:
            found = self.results(given)
        return tuple(found) if len(found) > 1 else found[0]


def _same(left: Any, right: Any) -> bool:
    return left.dtype == right.dtype and left.shape == right.shape and bool(
        np.array_equal(left.view("uint8") if left.ndim and left.size else left,
                       right.copy().view("uint8") if right.ndim and right.size else right)
    )  # fmt: skip


def called_back(op: Any, node: Apply) -> Callable[..., Sequence[Tensor]]:
    """An op of symc that calls `perform`."""
    runner = Runner(op, node)
    samples = [kind.symbol(None) for kind in runner.outs]
    name = type(op).__name__

    def call(*inputs: Tensor) -> Sequence[Tensor]:
        told = _told_lengths(op, node, inputs)
        shaped = _of_lengths(samples, told) if told else _of_run(runner, samples, name, inputs)

        def alike(*args: Tensor) -> Any:
            found = [
                T.zeros_like(arg, dtype=each.dtype)
                for arg, each in zip(args[-len(samples) :], samples, strict=True)
            ]
            return found if len(found) > 1 else found[0]

        made = symc.op(runner.values, output=alike, results=len(samples), name=name)
        results: Any = made(*inputs, *shaped)
        return list(results) if isinstance(results, list | tuple) else [results]

    return call


def _of_lengths(samples: Sequence[Tensor], lengths: Sequence[Sequence[Any]]) -> list[Tensor]:
    """Tensors of lengths, which cost nothing."""
    found: list[Tensor] = []
    for each, given in zip(samples, lengths, strict=True):
        dims = [1 if dim == 1 else n for dim, n in zip(each.type.shape, given, strict=True)]
        found.append(T.zeros(tuple(dims), dtype="bool"))
    return found


def _of_run(
    runner: Runner, samples: Sequence[Tensor], name: str, inputs: Sequence[Tensor]
) -> list[Tensor]:
    """Tensors of the lengths that a run of `perform` gives."""
    total = sum(each.ndim for each in samples)
    lengths_op = symc.op(
        runner.shapes, output=lambda *_: T.zeros((total,), dtype="int64"), name=f"{name}_shapes"
    )
    lengths: Any = lengths_op(*inputs)
    rest = iter(range(total))
    return _of_lengths(samples, [[lengths[next(rest)] for _ in range(s.ndim)] for s in samples])


def _told_lengths(op: Any, node: Apply, inputs: Sequence[Tensor]) -> Any:
    """The lengths of the results as the op's `infer_shape` tells them, None where it cannot."""
    infer = getattr(op, "infer_shape", None)
    if infer is None:
        return None
    from symc.theano.meaning import Translation
    from symc.theano.tensor.convert import as_tensor_variable
    from symc.theano.tensor.shaping import shape_i

    known = dict(zip(node.inputs, inputs, strict=True))
    shapes = [
        tuple(shape_i(each, axis) for axis in range(each.ndim)) if hasattr(each, "ndim") else None
        for each in node.inputs
    ]
    try:
        told = infer(node, shapes)
    except NotImplementedError:
        return None
    if any(each is None for each in told):
        return None
    translation = Translation(known)
    return [
        [translation.expressions([as_tensor_variable(length)])[0] for length in each]
        for each in told
    ]
