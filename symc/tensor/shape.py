"""Putting tensors together and taking them apart along an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from symc.codegen import ir
from symc.codegen.record import record
from symc.errors import RankError, ShapeMismatch
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.formulas import Index, ReadElement, part_formula, target_formula
from symc.graph.inputs import as_tensor
from symc.graph.lowering import SizeOf, Write, Written
from symc.graph.node import METHODS, OPERATORS, Array, Op, Requirement, Tensor, TensorLike
from symc.graph.types import TensorType, promote
from symc.tensor.broadcast import describe, mismatch
from symc.tensor.checks import BOUNDS, Bounds
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import as_dim, as_dims, normal_axis
from symc.tensor.reshape import ravel, reshape
from symc.tensor.specify import segment, specify_length
from symc.tensor.views import DimShuffle, broadcast_to, expand_dims, through

__all__ = [
    "array_split", "atleast_1d", "atleast_2d", "concatenate", "dstack", "hstack", "kron", "split",
    "stack", "vstack",
]  # fmt: skip


# --- joining --------------------------------------------------------------------------------------


@record
class Concatenate(Op):
    """The arguments one after the other along an axis; their other lengths are equal."""

    axis: int

    @property
    def moves(self) -> bool:
        return True

    def infer(self, *args: Tensor) -> TensorType:
        first = args[0]
        shape = list(first.type.shape)
        if not 0 <= self.axis < len(shape):
            raise ValueError(f"no axis {self.axis} of {len(shape)}")
        for arg in args[1:]:
            for axis, dim in enumerate(arg.type.shape):
                if axis == self.axis:
                    shape[axis] = dims.add(shape[axis], dim)
                elif isinstance(dim, int):
                    if isinstance(shape[axis], int) and shape[axis] != dim:
                        lengths = (shape[axis], dim)
                        raise ShapeMismatch(_unequal(args, self.axis, axis, (first, arg), lengths))
                    shape[axis] = dim
        return TensorType(first.type.dtype, tuple(shape))

    def evaluate(self, *args: Array) -> Array:
        return np.concatenate(args, self.axis)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [
            through(self._piece(start, arg.type.shape[self.axis]), bar)
            for start, arg in zip(self._starts(node), node.args, strict=True)
        ]

    def _piece(self, start: Dim, length: Dim) -> Callable[[Tensor], Tensor]:
        return lambda whole: segment(whole, self.axis, start, length)

    def _starts(self, node: Tensor) -> list[Dim]:
        starts: list[Dim] = [0]
        for arg in node.args[:-1]:
            starts.append(dims.add(starts[-1], arg.type.shape[self.axis]))
        return starts

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        length = args[list(batched).index(True)].type.shape[0]
        stretched = [
            arg if flag else broadcast_to(arg, (length, *arg.type.shape))
            for arg, flag in zip(args, batched, strict=True)
        ]
        return Concatenate(self.axis + 1)(*stretched)

    def lower(self, node: Tensor, size: SizeOf) -> Write:
        return Write(
            None,
            tuple(
                self._part(node, number, size(start))
                for number, (arg, start) in enumerate(
                    zip(node.args, self._starts(node), strict=True)
                )
                if arg.type.shape[self.axis] != 0
            ),
        )

    def _part(self, node: Tensor, number: int, start: ir.Expr) -> Written:
        shape = node.args[number].type.shape

        def target(_: ReadElement, inner: Index) -> Index:
            at = list(inner)
            at[self.axis] = ir.add(at[self.axis], start)
            return tuple(at)

        value = part_formula(node, shape, lambda read, i: read(number, i))
        return Written(shape, target_formula(node, shape, target), value)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        for arg in node.args:
            for axis, dim in enumerate(arg.type.shape):
                if axis != self.axis and dim != node.type.shape[axis]:
                    yield _joined(node, self.axis, arg, axis)


def _joined(node: Tensor, along: int, arg: Tensor, axis: int) -> Requirement:
    wanted, found = node.type.shape[axis], arg.type.shape[axis]
    left = next(other for other in node.args if other.type.shape[axis] == wanted)
    return Requirement(
        (wanted, found),
        ShapeMismatch,
        lambda value: _unequal(node.args, along, axis, (left, arg), (value(wanted), value(found))),
    )


def _unequal(
    args: Sequence[Tensor],
    along: int,
    axis: int,
    pair: tuple[Tensor, Tensor],
    lengths: tuple[object, object],
) -> str:
    """The text of an error between two of the arguments, in `stack`'s words if it made them."""
    if any(not isinstance(arg.op, DimShuffle) or arg.op.order[along] is not None for arg in args):
        return mismatch("concatenate", axis, *pair, lengths)
    left, right = (_before_stacking(arg, along) for arg in pair)
    return mismatch("stack", axis - (axis > along), left, right, lengths)


def _before_stacking(arg: Tensor, along: int) -> Tensor:
    """What got the axis to be stacked along, if that was all that was done to it."""
    inner = arg.args[0]
    return inner if inner.ndim < arg.ndim and expand_dims(inner, along) == arg else arg


def _any_of(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    low, high = args[0]
    for other_low, other_high in args[1:]:
        low = None if low is None or other_low is None else dims.minimum(low, other_low)
        high = None if high is None or other_high is None else dims.maximum(high, other_high)
    return low, high


BOUNDS[Concatenate] = _any_of


def _several(label: str, tensors: Sequence[TensorLike]) -> Sequence[TensorLike]:
    """The tensors to join; one whose first length is known stands for its rows."""
    if isinstance(tensors, Tensor):
        if not tensors.ndim or not isinstance(tensors.type.shape[0], int):
            raise TypeError(
                f"{label} takes a list of tensors, like [x, y], not one\n"
                f"  given  {describe(tensors)}"
            )
        return list(tensors)
    return tensors


def _alike(label: str, tensors: Sequence[TensorLike]) -> list[Tensor]:
    """The tensors with one dtype and equal numbers of axes."""
    made = [as_tensor(t) for t in _several(label, tensors)]
    if not made:
        raise ValueError(f"{label}: there is nothing to join")
    for t in made:
        if t.ndim != made[0].ndim:
            raise RankError(
                f"{label}: all tensors need the same number of axes\n"
                f"  first  {describe(made[0])}\n  other  {describe(t)}"
            )
    dtype = promote(*(t.dtype for t in made))
    return [cast_to(t, dtype) for t in made]


def concatenate(tensors: Sequence[TensorLike], axis: int | None = 0) -> Tensor:
    """Tensors one after the other along an existing axis (None: all flattened first).

    The dtype is NumPy's for all of them. Raises `RankError` when the numbers of axes differ or are
    0, and `ShapeMismatch`, at run time if need be, when other lengths differ.

    >>> import symc.tensor as T
    >>> T.concatenate([T.tensor("float64", (2, 3)), T.tensor("int8", (4, 3))])
    <concatenate(?, ?, axis=0) float64[6, 3]>
    """
    if axis is None:
        return concatenate([ravel(t) for t in _several("concatenate", tensors)])
    made = _alike("concatenate", tensors)
    if made[0].ndim == 0:
        raise RankError("concatenate: scalars have no axis to join along; use stack")
    axis = normal_axis("concatenate", axis, made[0].ndim, made[0])
    return made[0] if len(made) == 1 else Concatenate(axis)(*made)


def stack(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Tensors of one shape side by side along a new axis.

    Dtypes and errors are as for `concatenate`.

    >>> import symc.tensor as T
    >>> T.stack([T.scalar("a"), T.scalar("b"), 1.0])
    <concatenate(a, b, 1.0) float64[3]>
    """
    made = _alike("stack", tensors)
    axis = normal_axis("stack", axis, made[0].ndim + 1, made[0])
    return concatenate([expand_dims(t, axis) for t in made], axis)


def atleast_1d(x: TensorLike) -> Tensor:
    """`x`, a scalar as a vector of length 1; tensors with axes are given back as they are.

    >>> import symc.tensor as T
    >>> T.atleast_1d(3.0).eval()
    array([3.])
    """
    x = as_tensor(x)
    return x if x.ndim else expand_dims(x, 0)


def atleast_2d(x: TensorLike) -> Tensor:
    """`x`, a scalar or vector as a matrix with one row; others are given back as they are.

    >>> import symc.tensor as T
    >>> T.atleast_2d([1, 2]).eval()
    array([[1, 2]])
    """
    x = as_tensor(x)
    return x if x.ndim >= 2 else expand_dims(x, tuple(range(2 - x.ndim)))


def vstack(tensors: Sequence[TensorLike]) -> Tensor:
    """Matrices below each other; vectors are rows. All have one number of columns.

    >>> import symc.tensor as T
    >>> T.vstack([[1, 2], [3, 4]]).eval()
    array([[1, 2],
           [3, 4]])
    """
    return concatenate([atleast_2d(t) for t in _several("vstack", tensors)])


def hstack(tensors: Sequence[TensorLike]) -> Tensor:
    """Vectors one after the other, tensors with more axes along axis 1.

    The other lengths must be equal, at run time if need be.

    >>> import symc.tensor as T
    >>> T.hstack([[1, 2], [3]]).eval()
    array([1, 2, 3])
    """
    made = [atleast_1d(t) for t in _several("hstack", tensors)]
    return concatenate(made, 0 if made and made[0].ndim == 1 else 1)


def dstack(tensors: Sequence[TensorLike]) -> Tensor:
    """Tensors along axis 2; vectors are rows of matrices, which get a third axis.

    The other lengths must be equal, at run time if need be.

    >>> import symc.tensor as T
    >>> T.dstack([[1, 2], [3, 4]]).eval()
    array([[[1, 3],
            [2, 4]]])
    """
    made = [atleast_2d(t) for t in _several("dstack", tensors)]
    return concatenate([t if t.ndim > 2 else expand_dims(t, 2) for t in made], 2)


# --- splitting ------------------------------------------------------------------------------------


def split(
    x: TensorLike, splits_size: Any, n_splits: int | None = None, axis: int = 0
) -> list[Tensor]:
    """`x` in pieces along an axis: `splits_size` equal ones, or pieces of the sizes it lists.

    Sizes are integers or integer scalar tensors (Theano's meaning: NumPy's split takes positions).
    An integer vector of unknown length needs `n_splits`. Raises `ShapeMismatch`, at run time if
    need be, when the sizes do not add up to the length of the axis.

    >>> import symc.tensor as T
    >>> T.split(T.tensor("float64", (5,), "x"), [2, 3])
    [<x[:2] float64[2]>, <x[2:] float64[3]>]
    """
    x = as_tensor(x)
    axis = normal_axis("split", axis, x.ndim, x)
    if isinstance(splits_size, int):
        return _pieces(x, axis, _equal_sizes(x, axis, splits_size))
    if isinstance(splits_size, Tensor) and splits_size.ndim == 1 and n_splits is not None:
        splits_size = specify_length(splits_size, 0, as_dim(n_splits))
    sizes = as_dims(splits_size)
    if n_splits is not None and n_splits != len(sizes):
        raise ValueError(f"split: n_splits={n_splits}, but there are {len(sizes)} sizes")
    return _pieces(x, axis, sizes)


def _equal_sizes(x: Tensor, axis: int, count: int) -> list[Dim]:
    n = x.type.shape[axis]
    if count < 1:
        raise ValueError(f"split: {count} pieces\n  given  {describe(x)}")
    if isinstance(n, int) and n % count:
        raise ShapeMismatch(
            f"split: axis {axis} of length {n} cannot be split into {count} equal pieces\n"
            f"  given  {describe(x)}\n  array_split makes pieces that differ by one"
        )
    return [dims.floordiv(n, count)] * count


def array_split(x: TensorLike, sections: int | Sequence[Any], axis: int = 0) -> list[Tensor]:
    """`x` in `sections` pieces along an axis, of which the first are longer by one if need be.

    Or between positions, as in NumPy: ``[2, 3]`` gives ``x[:2], x[2:3], x[3:]``. (`split` takes
    lengths.)

    >>> import symc.tensor as T
    >>> [part.eval() for part in T.array_split([1, 2, 3, 4, 5], 2)]
    [array([1, 2, 3]), array([4, 5])]
    >>> [part.eval() for part in T.array_split([1, 2, 3, 4, 5], [1, 3])]
    [array([1]), array([2, 3]), array([4, 5])]
    """
    x = as_tensor(x)
    axis = normal_axis("array_split", axis, x.ndim, x)
    if not isinstance(sections, int | np.integer):
        return between(x, sections, axis)
    sections = int(sections)
    if sections < 1:
        raise ValueError(f"array_split: {sections} pieces\n  given  {describe(x)}")
    n = x.type.shape[axis]
    sizes = [dims.floordiv(dims.add(n, sections - 1 - k), sections) for k in range(sections)]
    return _pieces(x, axis, sizes, exact=True)


def between(x: Tensor, positions: Iterable[Any], axis: int) -> list[Tensor]:
    """The parts along an axis before, between and behind positions, which count as in slices."""
    before = (slice(None),) * axis
    return [x[(*before, slice(*pair))] for pair in pairwise([None, *positions, None])]


def _pieces(x: Tensor, axis: int, sizes: Sequence[Dim], exact: bool = False) -> list[Tensor]:
    total: Dim = 0
    starts: list[Dim] = []
    for size in sizes:
        starts.append(total)
        total = dims.add(total, size)
    whole = x if exact else specify_length(x, axis, total)
    return [segment(whole, axis, start, n) for start, n in zip(starts, sizes, strict=True)]


def kron(a: TensorLike, b: TensorLike) -> Tensor:
    """The Kronecker product: every element of `a` times all of `b`, in blocks.

    >>> import symc.tensor as T
    >>> T.kron([1, 10], [[1, 2]]).eval()
    array([[ 1,  2, 10, 20]])
    """
    a, b = as_tensor(a), as_tensor(b)
    rank = max(a.ndim, b.ndim)
    a, b = (expand_dims(t, tuple(range(rank - t.ndim))) for t in (a, b))
    even, odd = tuple(range(0, 2 * rank, 2)), tuple(range(1, 2 * rank, 2))
    blocks = expand_dims(a, odd) * expand_dims(b, even)
    shape = [dims.mul(n, m) for n, m in zip(a.type.shape, b.type.shape, strict=True)]
    return reshape(blocks, tuple(shape))


OPERATORS["stack"] = stack
METHODS["astype"] = cast_to
METHODS["copy"] = as_tensor
METHODS["split"] = split
