"""Which axes of arguments and results run over the same blocks, from the lengths of a graph.

Axes that a graph demands to be equally long are one: their blocks go together, as those of x and y
in ``x + y``. An axis of a result whose length follows from theirs has as many blocks. An axis that
no result has must be one block: a sum over a part of it would be another value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from symc.codegen.record import record
from symc.errors import ShapeMismatch
from symc.graph.conditions import requirements
from symc.graph.dims import Dim, Size, sizes, substitute
from symc.graph.node import Tensor
from symc.graph.request import Request
from symc.graph.walks import walk
from symc.tensor.broadcast import describe

Axis: TypeAlias = tuple[int, int]
"""The number of an argument, and of an axis of it."""
Chunks: TypeAlias = Mapping[int, Sequence[float]]
"""The lengths of the blocks of each family of axes; NaN where Dask does not know them."""


@record
class Families:
    """The axes of arguments: each belongs to a family, whose blocks go together."""

    of: Mapping[Axis, int]
    _sizes: Mapping[Any, Axis]

    def family(self, size: Size) -> int | None:
        """The family that a length belongs to; None if it is no length of an argument."""
        axis = self._sizes.get(size)
        return None if axis is None else self.of[axis]


def families(request: Request) -> Families:
    """The axes of a function's arguments, joined where the graph demands equal lengths."""
    axes: dict[Any, Axis] = {}
    above: dict[Axis, Axis] = {}
    for number, variable in enumerate(request.inputs):
        for axis, dim in enumerate(variable.type.shape):
            above[number, axis] = (number, axis)
            for size in sizes(dim):
                axes[size] = (number, axis)

    def top(axis: Axis) -> Axis:
        while above[axis] != axis:
            axis = above[axis]
        return axis

    for _, requirement in requirements(walk(request.roots())):
        if isinstance(requirement.holds, tuple):
            match [axes.get(_alone(dim)) for dim in requirement.holds]:
                case [(_, _) as left, (_, _) as right]:
                    above[top(left)] = top(right)
                case _:
                    pass
    numbers: dict[Axis, int] = {}
    of = {axis: numbers.setdefault(top(axis), len(numbers)) for axis in above}
    return Families(of, axes)


def _alone(dim: Dim) -> Size | None:
    """The size that a length is, if it is no expression."""
    found = [] if isinstance(dim, int) else list(sizes(dim))
    return found[0] if len(found) == 1 and substitute(dim, lambda _: 7) == 7 else None


def check_lengths(
    request: Request, known: Families, chunks: Mapping[Axis, Sequence[float]]
) -> None:
    """Raises `ShapeMismatch` where whole arrays, or blocks of a declared length, do not fit."""
    first: dict[int, Axis] = {}
    for axis, lengths in chunks.items():
        declared = request.inputs[axis[0]].type.shape[axis[1]]
        other = first.setdefault(known.of[axis], axis)
        total, others = sum(lengths), sum(chunks[other])
        if isinstance(declared, int) and any(n != declared and not math.isnan(n) for n in lengths):
            raise ShapeMismatch(
                f"{request.name}: axis {axis[1]} of argument {axis[0]} has blocks of "
                f"{_few(lengths)} elements, and was declared {declared}\n"
                f"  input  {describe(request.inputs[axis[0]])}"
            )
        if not math.isnan(total + others) and total != others:
            raise ShapeMismatch(
                f"{request.name}: axis {axis[1]} of argument {axis[0]} has {total} elements, and "
                f"axis {other[1]} of argument {other[0]} has {others}\n"
                f"  input  {describe(request.inputs[axis[0]])}\n"
                f"  input  {describe(request.inputs[other[0]])}"
            )


@record
class ResultAxis:
    """An axis of a result: the lengths of its blocks, and the family it runs with, if any."""

    family: int | None
    lengths: tuple[float, ...]


def result_axes(
    request: Request, known: Families, chunks: Chunks, node: Tensor
) -> list[ResultAxis]:
    """The axes of a result. Raises `ShapeMismatch` if its blocks do not follow from the arguments'.

    `chunks` has the lengths of the blocks of each family.
    """
    many = {family for family, lengths in chunks.items() if len(lengths) > 1}
    found: list[ResultAxis] = []
    for dim in node.type.shape:
        of_size = {size: known.family(size) for size in sizes(dim)}
        here = many & {family for family in of_size.values() if family is not None}
        if len(here) > 1:
            raise ShapeMismatch(_unclear(request, known, node, "depends on several axes", here))
        family = next(iter(here), None)
        count = len(chunks[family]) if family is not None else 1
        lengths = tuple(_length(dim, of_size, chunks, place) for place in range(count))
        found.append(ResultAxis(family, lengths))
    used = [each.family for each in found if each.family is not None]
    if missing := many - set(used):
        raise ShapeMismatch(_unclear(request, known, node, "would be of a part of", missing))
    if twice := {family for family in used if used.count(family) > 1}:
        raise ShapeMismatch(_unclear(request, known, node, "has twice", twice))
    return found


def _length(dim: Dim, of_size: Mapping[Any, int | None], chunks: Chunks, place: int) -> float:
    """The length of a block of a result."""
    values: dict[Any, int] = {}
    for size, family in of_size.items():
        lengths = () if family is None else chunks.get(family, ())
        length = lengths[min(place, len(lengths) - 1)] if lengths else math.nan
        if math.isnan(length):
            return math.nan
        values[size] = int(length)
    result = substitute(dim, values.__getitem__)
    assert isinstance(result, int)
    return result


def _unclear(request: Request, known: Families, node: Tensor, how: str, which: set[int]) -> str:
    number, axis = next(axis for axis, family in known.of.items() if family in which)
    variable = request.inputs[number]
    name = variable.name or f"argument {number}"
    return (
        f"{request.name}: a block of this result {how} axis {axis} of {name}, which has several "
        f"blocks\n  result {describe(node)}\n  input  {describe(variable)}\n"
        f"  make it one block: {name}.rechunk({{{axis}: -1}})"
    )


def _few(lengths: Sequence[float]) -> str:
    text = ", ".join(str(n) for n in dict.fromkeys(lengths[:4]))
    return text + (", ..." if len(lengths) > 4 else "")
