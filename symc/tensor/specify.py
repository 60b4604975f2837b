"""Lengths that are promised: facts about a shape beyond those that the graph tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from symc.codegen.record import record, replace
from symc.errors import RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import own_element
from symc.graph.inputs import as_tensor
from symc.graph.lowering import At, SizeOf
from symc.graph.node import OPERATORS, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.checks import BOUNDS, of_first_argument
from symc.tensor.lengths import Template, as_dim, fill_dims, public, split_template, unbatched

__all__ = ["specify_shape"]


@record
class SpecifyShape(Op):
    """The argument itself, but some axes have the lengths of the template, which is checked.

    `of_state`: it is what a step of a loop makes of a state, as errors then say.
    """

    axes: tuple[int, ...]
    template: Template
    of_state: bool = False

    def infer(self, *args: Tensor) -> TensorType:
        x = args[0]
        shape = list(x.type.shape)
        for axis, wanted in zip(self.axes, fill_dims(self.template, args[1:]), strict=True):
            if not isinstance(shape[axis], int):
                shape[axis] = wanted
            elif isinstance(wanted, int) and shape[axis] != wanted:
                raise ShapeMismatch(_not_as_specified(x, axis, shape[axis], wanted))
        return TensorType(x.type.dtype, tuple(shape))

    def evaluate(self, *args: Array) -> Array:
        return args[0]

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x = node.args[0]
        for axis in self.axes:
            # Of a step of a loop the argument's length may be known, and this one not: that of
            # the first step is 0 where there is none, and nothing of a gradient would fit it.
            if not isinstance(node.type.shape[axis], int):
                bar = specify_length(bar, axis, x.type.shape[axis])
        return [bar, *[None] * (len(node.args) - 1)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("specify_shape", batched[1:])
        return replace(self, axes=tuple(axis + 1 for axis in self.axes))(*args)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(own_element(node))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        for axis, wanted in zip(self.axes, fill_dims(self.template, node.args[1:]), strict=True):
            yield _specified(node, axis, wanted)


BOUNDS[SpecifyShape] = of_first_argument


def _specified(node: Tensor, axis: int, wanted: Dim) -> Requirement:
    x = node.args[0]
    have = x.type.shape[axis]

    of_state = isinstance(node.op, SpecifyShape) and node.op.of_state

    def message(value: Callable[[Any], Any]) -> str:
        if of_state:
            return _other_state(x, axis, value(have), value(wanted))
        text = _not_as_specified(x, axis, value(have), value(wanted))
        return f"{text}\n  at     {node.where}"

    return Requirement((have, wanted), ShapeMismatch, message)


def _not_as_specified(x: Tensor, axis: int, have: object, wanted: object) -> str:
    return f"axis {axis} has length {have}, and must have {wanted}\n  given  {describe(x)}"


def _other_state(x: Tensor, axis: int, have: object, wanted: object) -> str:
    return (
        f"scan: a state has length {wanted} along axis {axis} and {have} after a step\n"
        f"  result  {describe(x)}\n"
        "  states keep their lengths; of some elements keep a mask, beside all of them"
    )


def specify_length(x: Tensor, axis: int, wanted: Dim, *, of_state: bool = False) -> Tensor:
    """`x`, whose axis has the length `wanted`, which is checked where it is not provable."""
    if x.type.shape[axis] == wanted:
        return x
    template, holes = split_template((wanted,))
    return SpecifyShape((axis,), template, of_state)(x, *holes)


def specify_lengths(x: Tensor, wanted: Tensor) -> Tensor:
    """`x`, whose axes have the lengths of those of `wanted`, which are checked likewise."""
    for axis, length in enumerate(wanted.type.shape):
        x = specify_length(x, axis, length)
    return x


def specify_shape(x: TensorLike, shape: Sequence[Any]) -> Tensor:
    """`x`, of which the lengths are known better than its graph tells; None keeps one as it is.

    An axis specified to have length 1 broadcasts. Raises `ShapeMismatch`, at run time if need be,
    when a length is another.

    >>> import symc.tensor as T
    >>> T.specify_shape(T.matrix("x"), (None, 1))
    <specifyshape(x) float64[x.shape[0], 1]>
    """
    x = as_tensor(x)
    if len(shape) != x.ndim:
        raise RankError(f"specify_shape: {len(shape)} lengths\n  given  {describe(x)}")
    wanted = {axis: as_dim(dim) for axis, dim in enumerate(shape) if dim is not None}
    wanted = {axis: dim for axis, dim in wanted.items() if dim != x.type.shape[axis]}
    if not wanted:
        return x
    template, holes = split_template(tuple(wanted.values()))
    return SpecifyShape(tuple(wanted), template)(x, *holes)


def segment(x: Tensor, axis: int, start: Dim, length: Dim) -> Tensor:
    """`length` elements of an axis from `start` on; that they exist is checked at run time."""
    piece: Tensor = OPERATORS["getitem"](
        x, (*[slice(None)] * axis, slice(public(start), public(dims.add(start, length))))
    )
    return specify_length(piece, axis, length)
