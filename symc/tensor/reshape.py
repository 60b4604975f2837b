"""The same elements in the same order under another shape.

`Reshape` copies nothing: it is its argument's buffer under another shape. Where only axes of length
1 come or go, there is no `Reshape` but a `DimShuffle`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from symc.codegen.record import record
from symc.errors import RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor
from symc.graph.lowering import Alias, SizeOf
from symc.graph.node import METHODS, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.lengths import (
    Template,
    as_dims,
    fill_dims,
    fill_values,
    split_template,
    unbatched,
)
from symc.tensor.views import DimShuffle, dimshuffle, not_negative, refuse_negative, through

__all__ = ["flatten", "ravel", "reshape"]


@record
class Reshape(Op):
    """The argument's elements, in row-major order, under the shape of the template."""

    template: Template

    @property
    def moves(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        x = args[0]
        shape = fill_dims(self.template, args[1:])
        have, want = dims.product(x.type.shape), dims.product(shape)
        if isinstance(have, int) and isinstance(want, int) and have != want:
            raise ShapeMismatch(_wrong_size(x, have, shape, want))
        refuse_negative("reshape", x, shape)
        return TensorType(x.type.dtype, shape)

    def evaluate(self, *args: Array) -> Array:
        return np.reshape(args[0], fill_values(self.template, args[1:]))

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        x = node.args[0]
        rest = [None] * (len(node.args) - 1)
        return [through(lambda part: _reshape(part, x.type.shape), bar), *rest]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        unbatched("reshape", batched[1:])
        x = args[0]
        return reshape(x, (x.type.shape[0], *fill_dims(self.template, args[1:])))

    def lower(self, node: Tensor, size: SizeOf) -> Alias:
        return Alias()

    def require(self, node: Tensor) -> Iterable[Requirement]:
        x = node.args[0]
        have, want = dims.product(x.type.shape), dims.product(node.type.shape)
        yield from not_negative("reshape", x, node.type.shape)
        if have != want:
            yield Requirement(
                (have, want),
                ShapeMismatch,
                lambda value: _wrong_size(
                    x, value(have), [value(dim) for dim in node.type.shape], value(want)
                ),
            )


def _wrong_size(x: Tensor, have: object, shape: Sequence[object], want: object) -> str:
    return (
        f"reshape: {have} elements do not fit the shape ({', '.join(map(str, shape))}), "
        f"which has {want}\n  given  {describe(x)}"
    )


def reshape(x: TensorLike, *shape: Any, ndim: int | None = None) -> Tensor:
    """`x` with the same elements in the same (row-major) order under another shape.

    `shape` is one length, several, a tuple, or an integer vector of known length; lengths are
    integers or integer scalar tensors, and one may be -1: as long as the others leave it. A length
    given as 1 broadcasts. Raises `ShapeMismatch`, at run time if need be, when the number of
    elements differs. `ndim`, if given, must be the number of axes (it is only checked).

    >>> import symc.tensor as T
    >>> x = T.tensor("float64", (4, 6), "x")
    >>> x.reshape(2, -1, 3), x.reshape((8, 3))
    (<reshape(x) float64[2, 4, 3]>, <reshape(x) float64[8, 3]>)
    """
    x = as_tensor(x)
    if len(shape) == 2 and ndim is None and _is_sequence(shape[0]):
        ndim = int(shape[1])  # Theano's reshape(x, shape, ndim)
        shape = shape[:1]
    wanted = _resolve(x, as_dims(shape[0] if len(shape) == 1 else tuple(shape)))
    if ndim is not None and ndim != len(wanted):
        raise RankError(f"reshape: ndim={ndim}, but the shape has {len(wanted)} lengths")
    return _reshape(x, wanted)


def _is_sequence(value: Any) -> bool:
    return value.ndim == 1 if isinstance(value, Tensor) else isinstance(value, list | tuple)


def _resolve(x: Tensor, wanted: tuple[Dim, ...]) -> tuple[Dim, ...]:
    unknown = [axis for axis, dim in enumerate(wanted) if dim == -1]
    if not unknown:
        return wanted
    if len(unknown) > 1:
        raise ShapeMismatch(f"reshape: only one length can be -1\n  given  {describe(x)}")
    have = dims.product(x.type.shape)
    rest = dims.product(dim for dim in wanted if dim != -1)
    shape = ", ".join(map(str, wanted))
    if rest == 0:  # as in NumPy, also for no elements
        raise ShapeMismatch(
            f"reshape: cannot reshape {have} elements into ({shape}): beside a length 0, -1 could "
            f"be any length; write the one that is wanted\n  given  {describe(x)}"
        )
    if isinstance(have, int) and isinstance(rest, int) and have % rest:
        raise ShapeMismatch(
            f"reshape: {have} elements do not fit the shape ({shape})\n  given  {describe(x)}"
        )
    axis = unknown[0]
    return (*wanted[:axis], dims.floordiv(have, rest), *wanted[axis + 1 :])


def _reshape(x: Tensor, wanted: tuple[Dim, ...]) -> Tensor:
    while _same_sequence(x) and x.type.shape != wanted:
        x = x.args[0]
    own = x.type.shape
    if wanted == own:
        return x
    if [dim for dim in own if dim != 1] == [dim for dim in wanted if dim != 1]:
        axes = iter([axis for axis, dim in enumerate(own) if dim != 1])
        return dimshuffle(x, ["x" if dim == 1 else next(axes) for dim in wanted])
    template, holes = split_template(wanted)
    return Reshape(template)(x, *holes)


def _same_sequence(x: Tensor) -> bool:
    """Whether `x` surely has its argument's elements in the same order."""
    match x.op:
        case Reshape():
            return dims.product(x.type.shape) == dims.product(x.args[0].type.shape)
        case DimShuffle(order=order):
            kept = [axis for axis in order if axis is not None]
            return kept == sorted(kept)
        case _:
            return False


def flatten(x: TensorLike, ndim: int = 1) -> Tensor:
    """`x` with its last axes merged so that `ndim` axes remain: a vector by default.

    >>> import symc.tensor as T
    >>> T.flatten(T.tensor("float64", (2, 3, 4), "x"), 2)
    <reshape(x) float64[2, 12]>
    """
    x = as_tensor(x)
    if not 1 <= ndim <= max(x.ndim, 1):
        raise RankError(f"flatten: ndim={ndim} for {x.ndim} axes\n  given  {describe(x)}")
    kept = x.type.shape[: ndim - 1]
    return _reshape(x, (*kept, dims.product(x.type.shape[ndim - 1 :])))


def ravel(x: TensorLike) -> Tensor:
    """All elements in row-major order as a vector, of the same dtype. Also ``x.ravel()``.

    >>> import symc.tensor as T
    >>> T.ravel([[1, 2], [3, 4]]).eval()
    array([1, 2, 3, 4])
    """
    return flatten(x)


for _method in (flatten, ravel, reshape):
    METHODS[_method.__name__] = _method
