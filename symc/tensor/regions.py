"""Regions that arrays of indexes select along some axes: their places, and conditions.

The arrays broadcast together to one block of axes; the other axes of the tensor are kept whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from symc.codegen.dtypes import INT64
from symc.codegen.record import record
from symc.errors import DTypeError
from symc.graph.dims import Dim
from symc.graph.formulas import Index, ReadElement
from symc.graph.inputs import constant_value
from symc.graph.lowering import SizeOf
from symc.graph.node import Array, Requirement, Tensor
from symc.tensor.broadcast import broadcast_requirements, broadcast_shape
from symc.tensor.checks import index_requirement, static_index
from symc.tensor.elementwise import project
from symc.tensor.slices import wrapped


@record
class Region:
    """How the elements that index arrays select from a tensor are arranged."""

    block: tuple[Dim, ...]  # the index arrays' own axes
    kept: tuple[int, ...]  # axes of the tensor that are not indexed
    place: int  # how many of those stand before the block
    shape: tuple[Dim, ...]

    def block_of(self, index: Index) -> Index:
        """The block's part of an index into the region."""
        return index[self.place : self.place + len(self.block)]

    def kept_of(self, index: Index) -> Index:
        """The other part: one number for each kept axis."""
        return index[: self.place] + index[self.place + len(self.block) :]


def region_of(axes: Sequence[int], place: int, x: Tensor, indexes: Sequence[Tensor]) -> Region:
    """The region of `x` that index arrays along `axes` select."""
    block = broadcast_shape("getitem", indexes)
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    if len(kept) + len(axes) != x.ndim or not 0 <= place <= len(kept):
        raise ValueError(f"no axes {axes} of {x.ndim}, with their block at {place}")
    lengths = tuple(x.type.shape[axis] for axis in kept)
    return Region(block, kept, place, (*lengths[:place], *block, *lengths[place:]))


def check_indexes(label: str, axes: Sequence[int], x: Tensor, indexes: Sequence[Tensor]) -> None:
    """Raises when an index array is no int64, or a constant one is known to be out of range."""
    for axis, index in zip(axes, indexes, strict=True):
        if index.dtype is not INT64:
            raise DTypeError(f"{label}: an index array must be int64 here, not {index.type}")
        value, n = constant_value(index), x.type.shape[axis]
        if value is not None and isinstance(n, int):
            outside = value[(value < -n) | (value >= n)]
            if outside.size:
                static_index(x, axis, int(outside.ravel()[0]))


def index_requirements(
    node: Tensor, axes: Sequence[int], x: Tensor, indexes: Sequence[Tensor], block: tuple[Dim, ...]
) -> Iterator[Requirement]:
    """That index arrays fit together and are in range."""
    yield from broadcast_requirements("getitem", indexes, block)
    for axis, index in zip(axes, indexes, strict=True):
        yield from index_requirement(node, x, axis, index)


def locate(
    read: ReadElement, region: Region, axes: Sequence[int], x: Tensor, indexes: Sequence[Tensor],
    first: int, at: Index, size: SizeOf,
) -> Index:  # fmt: skip
    """Where the region's element at `at` stands in `x`; index arguments count from `first`."""
    inner = region.block_of(at)
    found = dict(zip(region.kept, region.kept_of(at), strict=True))
    for number, (axis, index) in enumerate(zip(axes, indexes, strict=True), first):
        value = read(number, project(inner, index.type.shape))
        found[axis] = wrapped(value, index, size(x.type.shape[axis]))
    return tuple(found[axis] for axis in range(x.ndim))


def gathered(x: Array, axes: Sequence[int], place: int, indexes: Sequence[Array]) -> Array:
    """NumPy's advanced indexing with the result arranged as a `Region`."""
    rank = max(index.ndim for index in indexes)
    result = np.moveaxis(x, axes, range(len(axes)))[tuple(indexes)]
    block = tuple(range(rank))
    return np.moveaxis(np.asarray(result), block, [place + axis for axis in block])
