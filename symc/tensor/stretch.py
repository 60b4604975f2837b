"""Slices of one element, stretched: ``x[:, :1]`` beside ``x``.

The length of such a slice is ``min(1, n)``, so that it is known to be 1 only when the program runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from symc.codegen import ir
from symc.codegen.record import record
from symc.errors import ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import Index, ReadElement, formula
from symc.graph.lowering import At, SizeOf
from symc.graph.node import OPERATORS, Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.broadcast import mismatch
from symc.tensor.elementwise import sum_to
from symc.tensor.lengths import (
    Template,
    fill_dims,
    fill_values,
    public,
    split_template,
    unbatched,
)
from symc.tensor.slices import zeros_for
from symc.tensor.specify import specify_length

__all__: list[str] = []


@record
class Stretch(Op):
    """The argument, with the lengths of the template along axes of one element.

    A length may be 0 where the wanted one is, too: then nothing is read.
    """

    label_of: str
    axes: tuple[int, ...]
    template: Template

    def infer(self, *args: Tensor) -> TensorType:
        shape = list(args[0].type.shape)
        for axis, wanted in zip(self.axes, fill_dims(self.template, args[1:]), strict=True):
            shape[axis] = wanted
        return TensorType(args[0].type.dtype, tuple(shape))

    def evaluate(self, *args: Array) -> Array:
        shape = list(args[0].shape)
        for axis, wanted in zip(self.axes, fill_values(self.template, args[1:]), strict=True):
            shape[axis] = wanted
        return np.broadcast_to(args[0], shape)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x = one = node.args[0]
        holes: list[Tensor | None] = [None] * (len(node.args) - 1)
        if any(x.type.shape[axis] == 0 for axis in self.axes):
            return [zeros_for(x, bar.dtype), *holes]
        for axis in self.axes:
            one = specify_length(one, axis, 1)
        total = cast("Tensor", sum_to(bar, one))
        for axis in self.axes:  # a slice without elements has a gradient without any
            own = x.type.shape[axis]
            index = (*[slice(None)] * axis, slice(None, public(own)))
            total = specify_length(OPERATORS["getitem"](total, index), axis, own)
        return [total, *holes]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("broadcast", batched[1:])
        axes = tuple([axis + 1 for axis in self.axes])
        return Stretch(self.label_of, axes, self.template)(*args)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        def element(read: ReadElement, index: Index) -> ir.Expr:
            place = [ir.const(0) if axis in self.axes else i for axis, i in enumerate(index)]
            return read(0, tuple(place))

        return At(formula(node, element))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        for axis in self.axes:
            yield _one_or_none(self.label_of, node, axis)


def _one_or_none(label: str, node: Tensor, axis: int) -> Requirement:
    x = node.args[0]
    have, wanted = x.type.shape[axis], node.type.shape[axis]

    def message(value: Callable[[Any], Any]) -> str:
        return mismatch(label, axis, x, node, (value(have), value(wanted)))

    least = dims.minimum(1, wanted)  # `have` is 0 or 1
    return Requirement((have, dims.maximum(have, least)), ShapeMismatch, message)


def stretch(label: str, x: Tensor, wanted: dict[int, Dim]) -> Tensor:
    """`x`, with axes that have at most one element as long as is wanted.

    That there is one, or that none is wanted, is checked at run time.
    """
    template, holes = split_template(tuple(wanted.values()))
    return Stretch(label, tuple(wanted), template)(x, *holes)
