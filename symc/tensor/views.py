"""Axes in another order, added, dropped and stretched; merging and splitting is in `reshape.py`.

Nothing here copies: `DimShuffle` and `BroadcastTo` are index arithmetic in whoever reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from symc.codegen import ir
from symc.codegen.record import record
from symc.errors import RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import Index, ReadElement, formula
from symc.graph.inputs import as_tensor
from symc.graph.lowering import At, SizeOf
from symc.graph.node import (
    METHODS,
    OPERATORS,
    PROPERTIES,
    Array,
    Op,
    Requirement,
    Tensor,
    TensorLike,
)
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe, equal_lengths, stretched
from symc.tensor.elementwise import masked, peel, project, sum_to
from symc.tensor.lengths import (
    Template,
    as_dims,
    fill_dims,
    fill_values,
    normal_axes,
    normal_axis,
    split_template,
    tensor_of,
    unbatched,
)

__all__ = [
    "broadcast_to", "dimshuffle", "expand_dims", "moveaxis", "shape_padleft", "shape_padright",
    "squeeze", "swapaxes", "transpose",
]  # fmt: skip


def through(view: Callable[[Tensor], Tensor], bar: Tensor) -> Tensor:
    """A view of a gradient; of a masked one, the view of its mask and of its inner part."""
    mask, inner = peel_whole(bar)
    if mask is None:
        return view(bar)
    result = masked(view(mask), view(inner))
    assert result is not None
    return result


def peel_whole(bar: Tensor) -> tuple[Tensor | None, Tensor]:
    """As `peel`, with a mask and an inner part that have all axes of the gradient."""
    mask, inner = peel(bar)
    return (None, bar) if mask is None else (_spread(mask, bar), _spread(inner, bar))


def _spread(part: Tensor, bar: Tensor) -> Tensor:
    own, whole = part.type.shape, bar.type.shape
    fits = len(own) == len(whole) and all(
        dim != 1 or wanted == 1 for dim, wanted in zip(own, whole, strict=True)
    )
    return part if fits else broadcast_to(part, whole)


# --- axes in another order ------------------------------------------------------------------------


@record
class DimShuffle(Op):
    """Axis i of the result is axis ``order[i]`` of the argument, or new with length 1 (None).

    Axes of the argument that `order` leaves out have length 1.
    """

    order: tuple[int | None, ...]

    @property
    def moves(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        x = args[0]
        for axis, dim in enumerate(x.type.shape):
            if axis not in self.order and dim != 1:
                raise ShapeMismatch(
                    f"axis {axis} cannot be dropped: its length is {dim}, not known to be 1\n"
                    f"  given  {describe(x)}\n"
                    "  declare the input's length: shape=(1, None); or take one element: x[0]"
                )
        return TensorType(
            x.type.dtype, tuple(1 if a is None else x.type.shape[a] for a in self.order)
        )

    def evaluate(self, *args: Array) -> Array:
        kept = [a for a in self.order if a is not None]
        dropped = tuple(a for a in range(args[0].ndim) if a not in kept)
        result = args[0].transpose([*dropped, *kept])[(0,) * len(dropped)]
        return np.expand_dims(result, tuple(i for i, a in enumerate(self.order) if a is None))

    def row_args(self, node: Tensor) -> Sequence[int] | None:
        return (0,) if self.order and self.order[0] == 0 else None

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        summed = sum_to(bar, node)  # where the node's length is 1, the gradient's may be unknown
        assert summed is not None
        back = tuple(
            self.order.index(axis) if axis in self.order else None
            for axis in range(node.args[0].ndim)
        )
        return [through(lambda part: dimshuffle(part, back), summed)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return dimshuffle(args[0], 0, *(None if a is None else a + 1 for a in self.order))

    def lower(self, node: Tensor, size: SizeOf) -> At:
        def element(read: ReadElement, index: Index) -> ir.Expr:
            at: list[ir.Expr] = [ir.const(0)] * node.args[0].ndim
            for i, axis in zip(index, self.order, strict=True):
                if axis is not None:
                    at[axis] = i
            return read(0, tuple(at))

        return At(formula(node, element))


def dimshuffle(x: TensorLike, *order: Any) -> Tensor:
    """`x` with its axes in another order; ``"x"`` makes a new axis of length 1 there.

    Axes left out of `order` are dropped; their length must be known to be 1. Raises `RankError` or
    ValueError when an axis does not exist or is repeated, `ShapeMismatch` when one cannot go.

    >>> import symc.tensor as T
    >>> T.dimshuffle(T.tensor("float64", (2, 3), "a"), 1, "x", 0)
    <a.dimshuffle(1, 'x', 0) float64[3, 1, 2]>
    """
    x, order = as_tensor(x), _unpacked(order)
    axes = [
        None if a == "x" or a is None else normal_axis("dimshuffle", a, x.ndim, x) for a in order
    ]
    kept = [a for a in axes if a is not None]
    if len(set(kept)) < len(kept):
        raise ValueError(f"dimshuffle: an axis is repeated in {order!r}")
    left_out = [a for a in range(x.ndim) if a not in kept]
    if isinstance(x.op, DimShuffle) and all(x.type.shape[a] == 1 for a in left_out):
        axes = [None if a is None else x.op.order[a] for a in axes]
        x = x.args[0]
    if axes == list(range(x.ndim)):
        return x
    return DimShuffle(tuple(axes))(x)


def _unpacked(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values, which may also be given as one list or tuple."""
    if len(values) == 1 and isinstance(values[0], list | tuple):
        return tuple(cast("Sequence[Any]", values[0]))
    return values


def transpose(x: TensorLike, *axes: Any) -> Tensor:
    """`x` with its axes in reversed order, or in the order given.

    A view; raises BadIndex for an axis that is not there.

    >>> import symc.tensor as T
    >>> T.transpose(T.tensor("float64", (2, 3, 4), "a"), 0, 2, 1)
    <a.dimshuffle(0, 2, 1) float64[2, 4, 3]>
    """
    x = as_tensor(x)
    axes = tuple(range(x.ndim))[::-1] if axes in ((), (None,)) else _unpacked(axes)
    if len(axes) != x.ndim:
        raise RankError(
            f"transpose: {len(axes)} axes for a tensor that has {x.ndim}\n  given  {describe(x)}"
        )
    return dimshuffle(x, normal_axes("transpose", axes, x.ndim, x))


def swapaxes(x: TensorLike, axis1: int, axis2: int) -> Tensor:
    """`x` with two axes exchanged. A view; raises BadIndex for an axis that is not there.

    >>> import symc.tensor as T
    >>> T.swapaxes(T.zeros((2, 3, 4)), 0, 2).eval().shape
    (4, 3, 2)
    """
    x = as_tensor(x)
    order = list(range(x.ndim))
    first, second = (normal_axis("swapaxes", axis, x.ndim, x) for axis in (axis1, axis2))
    order[first], order[second] = second, first
    return dimshuffle(x, order)


def moveaxis(
    x: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Tensor:
    """`x` with some axes moved to new places; the others keep their order.

    Raises BadIndex for an axis that is not there.

    >>> import symc.tensor as T
    >>> T.moveaxis(T.zeros((2, 3, 4)), 0, -1).eval().shape
    (3, 4, 2)
    """
    x = as_tensor(x)
    old = normal_axes("moveaxis", source, x.ndim, x)
    new = normal_axes("moveaxis", destination, x.ndim, x)
    if len(old) != len(new):
        raise ValueError("moveaxis: source and destination must have the same number of axes")
    order = [axis for axis in range(x.ndim) if axis not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        order.insert(place, axis)
    return dimshuffle(x, order)


def expand_dims(x: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """`x` with new axes of length 1; `axis` says where they stand in the result.

    Raises BadIndex for places that the result does not have.

    >>> import symc.tensor as T
    >>> T.expand_dims([1, 2], 0).eval().shape, T.expand_dims([1, 2], (0, 2)).eval().shape
    ((1, 2), (1, 2, 1))
    """
    x = as_tensor(x)
    count = len(axis) if isinstance(axis, list | tuple) else 1
    new = normal_axes("expand_dims", axis, x.ndim + count, x)
    own = iter(range(x.ndim))
    return dimshuffle(x, ["x" if i in new else next(own) for i in range(x.ndim + count)])


def squeeze(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """`x` without axes of length 1: all that are known to be, or those given.

    Raises `ShapeMismatch` when a given axis is not known to have length 1.

    >>> import symc.tensor as T
    >>> T.squeeze([[[1, 2]]]).eval(), T.squeeze([[[1, 2]]], axis=0).eval().shape
    (array([1, 2]), (1, 2))
    """
    x = as_tensor(x)
    if axis is None:
        gone = tuple(i for i, dim in enumerate(x.type.shape) if dim == 1)
    else:
        gone = normal_axes("squeeze", axis, x.ndim, x)
    return dimshuffle(x, [i for i in range(x.ndim) if i not in gone])


def shape_padleft(x: TensorLike, n_ones: int = 1) -> Tensor:
    """`x` with `n_ones` new axes of length 1 in front, so that it broadcasts with more axes.

    >>> import symc.tensor as T
    >>> T.shape_padleft([1, 2], 2).eval().shape
    (1, 1, 2)
    """
    return expand_dims(x, tuple(range(n_ones)))


def shape_padright(x: TensorLike, n_ones: int = 1) -> Tensor:
    """`x` with `n_ones` new axes of length 1 after its own, so that it broadcasts along these.

    >>> import symc.tensor as T
    >>> T.shape_padright([1, 2]).eval().shape
    (2, 1)
    """
    x = as_tensor(x)
    return expand_dims(x, tuple(range(x.ndim, x.ndim + n_ones)))


def _matrix_transpose(x: Tensor) -> Tensor:
    """The transposes of the matrices on the last two axes."""
    if x.ndim < 2:
        raise RankError(f"mT needs at least 2 axes\n  given  {describe(x)}")
    return swapaxes(x, -1, -2)


# --- stretched ------------------------------------------------------------------------------------


@record
class BroadcastTo(Op):
    """The argument repeated along new leading axes and along its axes of length 1."""

    template: Template

    @property
    def moves(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        x = args[0]
        shape = fill_dims(self.template, args[1:])
        own = x.type.shape
        if len(own) > len(shape):
            raise RankError(
                f"broadcast_to: {len(own)} axes cannot become {len(shape)}\n  given  {describe(x)}"
            )
        for axis, (dim, wanted) in enumerate(zip(own[::-1], shape[::-1], strict=False)):
            if isinstance(dim, int) and isinstance(wanted, int) and dim not in (1, wanted):
                raise ShapeMismatch(
                    f"broadcast_to: axis {len(shape) - 1 - axis} is {dim} and cannot become "
                    f"{wanted}\n  given  {describe(x)}"
                )
        refuse_negative("broadcast_to", x, shape)
        return TensorType(x.type.dtype, shape)

    def evaluate(self, *args: Array) -> Array:
        return np.broadcast_to(args[0], fill_values(self.template, args[1:]))

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [sum_to(bar, node.args[0]), *[None] * (len(node.args) - 1)]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("broadcast_to", batched[1:])
        x, shape = args[0], fill_dims(self.template, args[1:])
        missing = len(shape) - (x.ndim - 1)
        return broadcast_to(expand_dims(x, tuple(range(1, 1 + missing))), (x.type.shape[0], *shape))

    def lower(self, node: Tensor, size: SizeOf) -> At:
        shape = node.args[0].type.shape
        return At(formula(node, lambda read, index: read(0, project(index, shape))))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        x = node.args[0]
        yield from not_negative("broadcast_to", x, node.type.shape)
        extra = node.ndim - x.ndim
        for axis, dim in enumerate(x.type.shape):
            wanted = node.type.shape[extra + axis]
            if dim != 1 and dim != wanted:
                yield equal_lengths("broadcast_to", [node], extra + axis, x, dim, wanted)


def broadcast_to(x: TensorLike, shape: Any) -> Tensor:
    """`x` stretched to a shape: repeated along new leading axes and axes of known length 1.

    Lengths are integers or integer scalar tensors. Raises `ShapeMismatch`, at run time if need be,
    when another length differs from the wanted one.

    >>> import symc.tensor as T
    >>> T.broadcast_to(T.tensor("float64", (3, 1), "x"), (2, 3, 4))
    <broadcastto(x) float64[2, 3, 4]>
    """
    x = as_tensor(x)
    wanted = as_dims(shape)
    if wanted == x.type.shape:
        return x
    template, holes = split_template(wanted)
    return BroadcastTo(template)(stretched("broadcast_to", x, wanted), *holes)


def refuse_negative(label: str, x: Tensor, shape: Sequence[Dim]) -> None:
    """Raises `ShapeMismatch` if a length is known to be negative."""
    for dim in shape:
        if isinstance(dim, int) and dim < 0:
            raise ShapeMismatch(f"{label}: a length cannot be {dim}\n  given  {describe(x)}")


def not_negative(label: str, x: Tensor, shape: Sequence[Dim]) -> Iterable[Requirement]:
    """The requirements that no length that was given as a value is negative."""
    for dim in shape:
        if not dims.nonnegative(dim):
            yield _at_least_zero(label, x, dim)


def _at_least_zero(label: str, x: Tensor, dim: Dim) -> Requirement:
    given = tensor_of(dim)
    return Requirement(
        OPERATORS["ge"](given, 0),
        ShapeMismatch,
        lambda value: f"{label}: a length cannot be {value(dim)}\n  given  {describe(x)}",
    )


for _method in (broadcast_to, dimshuffle, expand_dims, moveaxis, squeeze, swapaxes, transpose):
    METHODS[_method.__name__] = _method
PROPERTIES["T"] = transpose
PROPERTIES["mT"] = _matrix_transpose
