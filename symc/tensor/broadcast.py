"""How shapes combine: axes broadcast whose length is known to be 1 when the graph is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from symc.errors import ShapeMismatch
from symc.graph.dims import Dim, at_most_one
from symc.graph.node import METHODS, Requirement, Tensor
from symc.graph.provenance import NOWHERE


def describe(node: Tensor) -> str:
    """A tensor as error messages show it: name, type and the user's line."""
    while node.op.only_checks and not node.name:  # nobody wrote it
        node = node.args[0]
    where = f" {node.where}" if node.where is not NOWHERE else ""  # slots of a loop have no line
    return f"{node.name or node.op.label:<8} {node.type!s:<20}{where}"


def mismatch(
    label: str, axis: int, left: Tensor, right: Tensor, lengths: tuple[object, object]
) -> str:
    """The text of a `ShapeMismatch` between two arguments."""
    text = (
        f"{label}: axis {axis} is {lengths[0]} on the left and {lengths[1]} on the right\n"
        f"  left   {describe(left)}\n"
        f"  right  {describe(right)}"
    )
    return text + _ADVICE if 1 in lengths else text


_ADVICE = (
    "\n  a length that was not known to be 1 does not broadcast; where it always is, declare it, as"
    '\n  in T.matrix("x", shape=(None, 1)), or say T.specify_shape(x, (None, 1))'
)


def broadcast_shape(label: str, args: Sequence[Tensor]) -> tuple[Dim, ...]:
    """NumPy's shape for elementwise arguments, aligned at the last axis.

    Lengths that are both unknown are taken to be equal; `broadcast_requirements` checks it at run
    time. Raises `ShapeMismatch` when two known lengths differ.
    """
    first = args[0].type.shape
    for arg in args:
        if arg.type.shape is not first and arg.type.shape:
            break
    else:
        return first
    rank = max([len(arg.type.shape) for arg in args])
    shape = tuple([_axis(label, args, axis - rank, rank) for axis in range(rank)])
    return first if shape == first else shape


def _axis(label: str, args: Sequence[Tensor], axis: int, rank: int) -> Dim:
    result: Dim = 1
    owner: Tensor | None = None
    for arg in args:
        shape = arg.type.shape
        if len(shape) < -axis:
            continue
        dim = shape[axis]
        if dim == 1 or dim is result:
            continue
        if owner is None:
            result, owner = dim, arg
        elif isinstance(dim, int):
            if isinstance(result, int) and result != dim:
                raise ShapeMismatch(mismatch(label, rank + axis, owner, arg, (result, dim)))
            result, owner = dim, arg
    return result


def stretched(label: str, x: Tensor, shape: Sequence[Dim]) -> Tensor:
    """`x` to be broadcast to a shape: slices of one element are stretched here.

    ``x[:, :1]`` has ``min(1, n)`` columns, so that it is known only at run time that there is one.
    """
    wanted: dict[int, Dim] = {}
    for back, (own, dim) in enumerate(zip(x.type.shape[::-1], shape[::-1], strict=False), 1):
        if own != dim and _is_slice_of_one(own) and not _is_short(dim):
            wanted[x.ndim - back] = dim
    if not wanted:
        return x
    from symc.tensor.stretch import stretch  # late: it imports this module, and few need it

    return stretch(label, x, wanted)


def stretched_together(label: str, args: Sequence[Tensor]) -> Sequence[Tensor]:
    """Arguments to be combined at each index: slices of one element are as long as the others."""
    first = args[0].type.shape
    if all(arg.type.shape is first or not arg.type.shape for arg in args):
        return args
    shapes = [arg.type.shape[::-1] for arg in args]
    longest = [
        next((dim for dim in dims if not _is_short(dim)), 1)
        for dims in zip_longest(*shapes, fillvalue=1)
    ]
    return [stretched(label, arg, longest[::-1]) for arg in args]


def _is_slice_of_one(dim: Dim) -> bool:
    return not isinstance(dim, int) and at_most_one(dim)


def _is_short(dim: Dim) -> bool:
    return dim == 1 or _is_slice_of_one(dim)


def broadcast_requirements(
    label: str, args: Sequence[Tensor], shape: tuple[Dim, ...]
) -> Iterator[Requirement]:
    """Lengths that must turn out equal at run time for the arguments to combine to `shape`."""
    for arg in args:
        own = arg.type.shape
        if own is shape:
            continue
        offset = len(shape) - len(own)
        for axis, dim in enumerate(own):
            if dim != 1 and dim != shape[offset + axis]:
                yield equal_lengths(label, args, offset + axis, arg, dim, shape[offset + axis])


def equal_lengths(
    label: str, args: Iterable[Tensor], axis: int, right: Tensor, found: Dim, wanted: Dim
) -> Requirement:
    """The requirement that `right`'s axis has the same length as the others'."""
    left = next((arg for arg in args if wanted in arg.type.shape), right)
    return Requirement(
        (wanted, found),
        ShapeMismatch,
        lambda value: mismatch(label, axis, left, right, (value(wanted), value(found))),
    )


def args_with_rows(node: Tensor) -> list[int] | None:
    """The arguments that have a row for each of the result's; None where there are no rows."""
    found = [
        number
        for number, arg in enumerate(node.args)
        if arg.ndim == node.ndim > 0 and arg.type.shape[0] != 1
    ]
    return found or None


def align_batch(args: Sequence[Tensor], batched: Sequence[bool]) -> list[Tensor]:
    """Arguments whose shapes broadcast with the batch axis first: pads ranks after that axis."""
    rank = max(arg.ndim - flag for arg, flag in zip(args, batched, strict=True))
    aligned: list[Tensor] = []
    for arg, flag in zip(args, batched, strict=True):
        missing = rank - (arg.ndim - 1)
        if flag and missing > 0:
            arg = METHODS["expand_dims"](arg, tuple(range(1, 1 + missing)))
        aligned.append(arg)
    return aligned
