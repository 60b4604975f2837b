"""Coordinates by slices: NumPy's `mgrid` and `ogrid`."""

from __future__ import annotations

from typing import Any

from symc.graph.node import Tensor
from symc.graph.types import promote
from symc.tensor.build import arange, linspace, meshgrid
from symc.tensor.elementwise import cast_to
from symc.tensor.shape import stack

__all__ = ["mgrid", "ogrid"]


class FullGrid:
    """Coordinates of all points of a grid, by slices: ``T.mgrid[start:stop:step, ...]``.

    One tensor with a first axis of as many coordinates as there are slices; of a single slice that
    is not in a tuple a vector. A step that is an imaginary number says how many points there are
    from `start` to `stop`, which counts then. int64, or float64 if a number is none or a step is
    imaginary. Numbers may be scalar tensors.

    >>> import symc.tensor as T
    >>> T.mgrid[0:2, 1:7:3].eval().tolist(), T.mgrid[0:1:3j].eval()
    ([[[0, 0], [1, 1]], [[1, 4], [1, 4]]], array([0. , 0.5, 1. ]))
    """

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Tensor:
        if isinstance(key, slice):
            return _points(key)
        return stack(meshgrid(*_vectors("mgrid", key), indexing="ij"))


class OpenGrid:
    """The same as one tensor for each slice, which has length 1 along the axes of the others.

    >>> import symc.tensor as T
    >>> rows, columns = T.ogrid[0:2, 0:3]
    >>> (10 * rows + columns).eval()
    array([[ 0,  1,  2],
           [10, 11, 12]])
    """

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any:
        if isinstance(key, slice):
            return _points(key)
        return tuple(meshgrid(*_vectors("ogrid", key), indexing="ij", sparse=True))


def _vectors(label: str, key: Any) -> list[Tensor]:
    """The coordinates along each axis, in one dtype."""
    parts: list[Any] = [*key] if isinstance(key, tuple) else [key]
    for part in parts:
        if not isinstance(part, slice):
            raise TypeError(f"{label} takes slices, such as 0:3, not {part!r}")
    found = [_points(part) for part in parts]
    dtype = promote(*(each.dtype for each in found))
    return [cast_to(each, dtype) for each in found]


def _points(part: Any) -> Tensor:
    start = 0 if part.start is None else part.start
    if part.stop is None:
        raise TypeError("a slice of a grid needs an end")
    if isinstance(part.step, complex):
        return linspace(start, part.stop, int(abs(part.step)))
    return arange(start, part.stop, 1 if part.step is None else part.step)


mgrid, ogrid = FullGrid(), OpenGrid()
