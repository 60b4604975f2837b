"""More ways to put tensors together and take them apart: compositions of `shape.py`'s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from symc.codegen.dtypes import BOOL, INT64
from symc.errors import BadIndex, RankError
from symc.graph import dims
from symc.graph.dims import Dim
from symc.graph.inputs import as_tensor, constant, constant_value
from symc.graph.node import OPERATORS, Tensor, TensorLike
from symc.tensor.along import flip
from symc.tensor.broadcast import broadcast_shape, describe, stretched_together
from symc.tensor.build import arange, full
from symc.tensor.checked import reaching
from symc.tensor.diagonals import diag
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import as_dims, length, normal_axis, public, tensor_of
from symc.tensor.logic import where
from symc.tensor.math import maximum
from symc.tensor.reshape import ravel, reshape
from symc.tensor.selection import compress, flatnonzero, take
from symc.tensor.shape import between, concatenate, split
from symc.tensor.views import broadcast_to, expand_dims, moveaxis, swapaxes, transpose

__all__ = [
    "append", "atleast_3d", "block", "broadcast_arrays", "column_stack", "delete", "diagflat",
    "dsplit", "hsplit", "insert", "matrix_transpose", "permute_dims", "resize", "rot90", "unstack",
    "vsplit",
]  # fmt: skip

Nested: TypeAlias = "TensorLike | Sequence[Nested]"

# --- joining --------------------------------------------------------------------------------------


def append(arr: TensorLike, values: TensorLike, axis: int | None = None) -> Tensor:
    """`values` after `arr` along an axis, as `concatenate`; without one, both are flattened.

    >>> import symc.tensor as T
    >>> T.append([1, 2], [[3], [4]]).eval()
    array([1, 2, 3, 4])
    """
    return concatenate([as_tensor(arr), as_tensor(values)], axis)


def column_stack(tup: Sequence[TensorLike]) -> Tensor:
    """Matrices beside each other; vectors are columns. All have one number of rows.

    >>> import symc.tensor as T
    >>> T.column_stack([[1, 2], [3, 4]]).eval()
    array([[1, 3],
           [2, 4]])
    """
    columns = [as_tensor(each) for each in tup]
    return concatenate([_padded(x, 2).T if x.ndim < 2 else x for x in columns], 1)


def _padded(x: Tensor, rank: int) -> Tensor:
    """With axes of length 1 in front, so that there are at least `rank`."""
    return expand_dims(x, tuple(range(rank - x.ndim)))


def block(arrays: Nested) -> Tensor:
    """Blocks put together: the innermost lists along the last axis, those around them before it.

    Raises ValueError for an empty list, or where lists are not equally deep.

    >>> import symc.tensor as T
    >>> T.block([[T.eye(2), T.zeros((2, 1))], [T.ones((1, 2)), 9.0]]).eval()
    array([[1., 0., 0.],
           [0., 1., 0.],
           [1., 1., 9.]])
    """
    depth = _depth(arrays)
    rank = max(depth, *(x.ndim for x in _leaves(arrays)))
    return _joined(arrays, depth, rank)


def _depth(arrays: Nested) -> int:
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(each) for each in cast("list[Nested]", arrays)}
    if len(depths) != 1:
        raise ValueError(
            "block: a list is empty" if not depths else "block: lists must be equally deep"
        )
    return 1 + depths.pop()


def _leaves(arrays: Nested) -> list[Tensor]:
    if not isinstance(arrays, list):
        return [as_tensor(cast("TensorLike", arrays))]
    return [leaf for each in cast("list[Nested]", arrays) for leaf in _leaves(each)]


def _joined(arrays: Nested, depth: int, rank: int) -> Tensor:
    if not isinstance(arrays, list):
        return _padded(as_tensor(cast("TensorLike", arrays)), rank)
    parts = [_joined(each, depth - 1, rank) for each in cast("list[Nested]", arrays)]
    return concatenate(parts, rank - depth)


def insert(arr: TensorLike, obj: Any, values: TensorLike, axis: int | None = None) -> Tensor:
    """`values` before positions `obj` along an axis; without one, `arr` is flattened first.

    `obj` is a position, a slice, integers, or a mask, which may be tensors; negative ones count
    from the end. Of several each is before an entry of `arr`, and `values` broadcast to so many
    entries; before a single one all of `values` are inserted. Positions that the axis does not have
    raise `IndexError`, at run time if need be.

    >>> import symc.tensor as T
    >>> T.insert([1, 2, 3], 1, 9).eval(), T.insert([1, 2, 3], [0, 2, -1], [7, 8, 9]).eval()
    (array([1, 9, 2, 3]), array([7, 1, 2, 8, 9, 3]))
    """
    x = as_tensor(arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normal_axis("insert", axis, x.ndim, x)
    part = cast_to(values, x.dtype)
    part = expand_dims(part, tuple(range(x.ndim - part.ndim)))
    before = (slice(None),) * axis
    if isinstance(obj, list | tuple | slice | np.ndarray) or (isinstance(obj, Tensor) and obj.ndim):
        places = _places(x.type.shape[axis], obj)
        if places.type.shape != (1,):
            return _inserted(x, places, part, axis)
        obj = places[0]
        known = constant_value(obj)
        obj = obj if known is None else int(known)
    else:
        part = moveaxis(part, 0, axis)
    shape = (*x.type.shape[:axis], part.type.shape[axis], *x.type.shape[axis + 1 :])
    x, at = _position("insert", x, obj, axis, beyond=1)
    head, tail = x[(*before, slice(at))], x[(*before, slice(at, None))]
    return concatenate([head, broadcast_to(part, tuple(map(public, shape))), tail], axis)


def _places(n: Dim, obj: Any) -> Tensor:
    """The positions that a slice, integers or a mask say, as a vector of integers."""
    if isinstance(obj, slice):
        return arange(tensor_of(n))[obj]
    found = as_tensor(obj)
    if found.ndim != 1:
        raise RankError(f"insert: positions are a scalar or a vector\n  given  {describe(found)}")
    if found.dtype is BOOL:
        known = constant_value(found)
        if known is None:
            return flatnonzero(found)
        return constant(np.flatnonzero(known))
    return cast_to(found, INT64) if found.type.shape == (0,) else found


def _inserted(x: Tensor, places: Tensor, part: Tensor, axis: int) -> Tensor:
    """Entries before so many places: all are joined, and sorted by where they shall be."""
    from symc.tensor.sorting.order import argsort

    n, count = x.type.shape[axis], places.type.shape[0]
    known = constant_value(places)
    if known is not None and isinstance(n, int):
        for at in known.tolist():
            _position("insert", x, at, axis, beyond=1)
    shape = (*x.type.shape[:axis], count, *x.type.shape[axis + 1 :])
    joined = concatenate([broadcast_to(part, tuple(map(public, shape))), x], axis)
    length = tensor_of(n)
    at = where(OPERATORS["lt"](places, 0), places + length, places)
    beyond = where(OPERATORS["lt"](at, 0), length + 1, at)
    keys = concatenate([arange(length + 1)[beyond] * 2, arange(length) * 2 + 1])
    order = argsort(keys)
    folded = constant_value(order)
    return take(joined, order if folded is None else constant(folded), axis)


def _position(
    label: str, x: Tensor, at: int | Tensor, axis: int, *, beyond: int = 0
) -> tuple[Tensor, int | Tensor]:
    """A position counted from the start, and the tensor, which is checked to have it.

    It is below the length plus `beyond`.
    """
    n = x.type.shape[axis]
    if isinstance(n, int) and isinstance(at, int) and not -n <= at < n + beyond:
        raise BadIndex(
            f"{label}: position {at} is out of bounds for axis {axis} with length {n}\n"
            f"  given  {describe(x)}"
        )
    text = f"{label}: the position is out of bounds for axis {axis}"
    x = reaching(x, n, at, text, beyond=beyond)
    if isinstance(at, Tensor):
        return x, where(OPERATORS["lt"](at, 0), at + tensor_of(n), at)
    return x, public(dims.add(n, at)) if at < 0 else at


def delete(arr: TensorLike, obj: Any, axis: int | None = None) -> Tensor:
    """`arr` without the entries at `obj` along an axis; without one, `arr` is flattened first.

    `obj` is a position, a slice, integers, or a mask, which may be tensors. Where it is more than
    one position of an axis whose length is not known, that of the result is known at run time only.
    Positions that the axis does not have raise `IndexError`, at run time if need be.

    >>> import symc.tensor as T
    >>> T.delete([1, 2, 3, 4], [0, 2]).eval()
    array([2, 4])
    """
    x = as_tensor(arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normal_axis("delete", axis, x.ndim, x)
    n = x.type.shape[axis]
    if not isinstance(obj, slice):
        obj = as_tensor(obj)
        if obj.type.shape == (0,):  # an empty list has no integers
            obj = cast_to(obj, INT64)
        if obj.ndim > 1:
            raise RankError(f"delete: positions are a scalar or a vector\n  given  {describe(obj)}")
    known: Any = constant_value(obj) if isinstance(obj, Tensor) else cast("Any", obj)
    if isinstance(n, int) and known is not None:
        return take(x, constant(np.delete(np.arange(n), known)), axis)
    if isinstance(obj, Tensor) and obj.ndim == 0:
        place = obj if known is None else int(known)
        (x, at), before = _position("delete", x, place, axis), (slice(None),) * axis
        return concatenate([x[(*before, slice(at))], x[(*before, slice(at + 1, None))]], axis)
    stays: Tensor = full((public(n),), True)[obj].set(False)
    return compress(stays, x, axis)


def resize(a: TensorLike, new_shape: Any) -> Tensor:
    """The elements of `a` in row-major order, again and again, in a new shape; of none, zeros.

    >>> import symc.tensor as T
    >>> T.resize([1, 2, 3], (2, 2)).eval()
    array([[1, 2],
           [3, 1]])
    """
    flat, shape = ravel(as_tensor(a)), as_dims(new_shape)
    if flat.type.shape[0] == 0:
        return full(tuple(map(public, shape)), 0, flat.dtype)
    total = arange(public(dims.product(shape)))
    if isinstance(flat.type.shape[0], int):
        return reshape(flat[total % length(flat, 0)], shape)
    places = total % maximum(length(flat, 0), 1)  # there may be none: then the zero after them
    return reshape(concatenate([flat, full((1,), 0, flat.dtype)])[places], shape)


# --- taking apart ---------------------------------------------------------------------------------


def unstack(x: TensorLike, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts along an axis, whose length must be known, without that axis.

    Raises TypeError where that length is not known when the graph is built.

    >>> import symc.tensor as T
    >>> first, second = T.unstack([[1, 2], [3, 4]], axis=1)
    >>> first.eval(), second.eval()
    (array([1, 3]), array([2, 4]))
    """
    return tuple(moveaxis(as_tensor(x), axis, 0))


def hsplit(ary: TensorLike, indices_or_sections: Any) -> list[Tensor]:
    """Parts along axis 1, of vectors along axis 0: so many equal ones, or between positions.

    Positions as in NumPy: ``[2, 3]`` gives ``x[:, :2], x[:, 2:3], x[:, 3:]``. (`split` takes
    lengths.)

    >>> import symc.tensor as T
    >>> [part.eval() for part in T.hsplit([1, 2, 3, 4, 5], [2, 3])]
    [array([1, 2]), array([3]), array([4, 5])]
    """
    x = as_tensor(ary)
    return _parted("hsplit", x, indices_or_sections, 1 if x.ndim > 1 else 0, least=1)


def vsplit(ary: TensorLike, indices_or_sections: Any) -> list[Tensor]:
    """Parts along axis 0, as `hsplit`: so many equal ones, or between positions.

    >>> import symc.tensor as T
    >>> [part.eval() for part in T.vsplit([[1, 2], [3, 4]], 2)]
    [array([[1, 2]]), array([[3, 4]])]
    """
    return _parted("vsplit", as_tensor(ary), indices_or_sections, 0, least=2)


def dsplit(ary: TensorLike, indices_or_sections: Any) -> list[Tensor]:
    """Parts along axis 2, as `hsplit`: so many equal ones, or between positions.

    >>> import symc.tensor as T
    >>> [part.eval().shape for part in T.dsplit(T.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return _parted("dsplit", as_tensor(ary), indices_or_sections, 2, least=3)


def _parted(label: str, x: Tensor, where: Any, axis: int, *, least: int) -> list[Tensor]:
    if x.ndim < least:
        raise RankError(f"{label}: at least {least} axes are needed\n  given  {describe(x)}")
    if isinstance(where, int | np.integer):
        return split(x, int(cast("int", where)), axis=axis)
    return between(x, where, axis)


# --- views ----------------------------------------------------------------------------------------


def atleast_3d(x: TensorLike) -> Tensor:
    """`x`; a scalar or vector as the middle axis of three, a matrix as the first two.

    >>> import symc.tensor as T
    >>> T.atleast_3d([1, 2]).eval().shape, T.atleast_3d([[1, 2]]).eval().shape
    ((1, 2, 1), (1, 2, 1))
    """
    x = as_tensor(x)
    match x.ndim:
        case 0:
            return expand_dims(x, (0, 1, 2))
        case 1:
            return expand_dims(x, (0, 2))
        case 2:
            return expand_dims(x, 2)
        case _:
            return x


def broadcast_arrays(*args: TensorLike) -> tuple[Tensor, ...]:
    """The tensors, each broadcast to the shape of all of them together.

    Axes of known length 1 are stretched. Raises ShapeMismatch for lengths that differ, at run time
    if need be.

    >>> import symc.tensor as T
    >>> row, col = T.broadcast_arrays([1, 2, 3], [[10], [20]])
    >>> col.eval()
    array([[10, 10, 10],
           [20, 20, 20]])
    """
    made = stretched_together("broadcast_arrays", [as_tensor(arg) for arg in args])
    shape = broadcast_shape("broadcast_arrays", made)
    return tuple(broadcast_to(x, shape) for x in made)


def rot90(m: TensorLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """`m` turned `k` times by 90 degrees, from the first axis towards the second.

    >>> import symc.tensor as T
    >>> T.rot90([[1, 2], [3, 4]]).eval()
    array([[2, 4],
           [1, 3]])
    """
    x = as_tensor(m)
    if len(axes) != 2:
        raise ValueError(f"rot90 turns from one axis to another, not {axes!r}")
    first, second = (normal_axis("rot90", axis, x.ndim, x) for axis in axes)
    if first == second:
        raise ValueError(f"rot90: both axes are {first}")
    match k % 4:
        case 0:
            return x
        case 1:
            return swapaxes(flip(x, second), first, second)
        case 2:
            return flip(x, (first, second))
        case _:
            return flip(swapaxes(x, first, second), second)


def diagflat(v: TensorLike, k: int = 0) -> Tensor:
    """A square matrix with all elements of `v` on diagonal `k`, and zeros elsewhere.

    >>> import symc.tensor as T
    >>> T.diagflat([[1, 2]], k=1).eval()
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    """
    return diag(ravel(as_tensor(v)), k)


def matrix_transpose(x: TensorLike) -> Tensor:
    """The transposes of the matrices on the last two axes: ``x.mT``.

    Raises BadIndex for tensors with fewer than two axes.

    >>> import symc.tensor as T
    >>> T.matrix_transpose([[1, 2, 3], [4, 5, 6]]).eval()
    array([[1, 4],
           [2, 5],
           [3, 6]])
    """
    return swapaxes(as_tensor(x), -1, -2)


def permute_dims(a: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """NumPy's other name for `transpose`: the axes in another order, reversed where none is given.

    >>> import symc.tensor as T
    >>> T.permute_dims(T.zeros((2, 3, 4)), (1, 2, 0)).eval().shape
    (3, 4, 2)
    """
    return transpose(a, axes)
