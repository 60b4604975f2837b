"""Arrays exchanged between processes, within expressions.

All processes compile the same function and call it equally often. A result that no output or update
needs is computed by none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.targets.mpi import KINDS
from symc.distributed.groups import ProcessGroup, chosen
from symc.distributed.ops import AllGather, AllReduce, Broadcast, ReduceScatter, Shift
from symc.errors import ShapeMismatch
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.lengths import length

Combination: TypeAlias = Literal["sum", "mean", "max", "min"]


def all_reduce(
    x: TensorLike, reduction: Combination = "sum", group: ProcessGroup | None = None
) -> Tensor:
    """The sum, mean, maximum or minimum of each element over the processes, in all of them.

    All give arrays of the same shape; lengths that are known only at run time are compared
    (`ShapeMismatch`). Sums of bools count, in int64; means of integers are float64. Floats are
    added in the order that MPI chooses, which is the same in all processes. The gradient of a sum
    is the sum of the gradients; where several processes have the maximum, each has an equal part.
    Raises `ValueError` for other names of `reduction`.

    >>> import symc.distributed as D
    >>> D.all_reduce([1.0, 2.0]).eval()
    array([1., 2.])
    """
    given = as_tensor(x)
    if reduction not in ("sum", "mean", "max", "min"):
        raise ValueError(f"all_reduce: reduction is {reduction!r}; there are sum, mean, max, min")
    group = chosen(group)
    size = group.size
    if reduction == "mean":
        wanted = given if given.dtype.is_inexact else cast_to(given, as_tensor(1.0).dtype)
        return all_reduce(wanted, "sum", group) / size
    if given.dtype is BOOL:
        if reduction == "sum":
            return all_reduce(cast_to(given, INT64), "sum", group)
        kept = cast_to(given, as_tensor(0).dtype)
        return cast_to(all_reduce(kept, reduction, group), BOOL)
    if given.dtype.is_complex and reduction != "sum":
        raise TypeError(f"all_reduce: complex numbers have no {reduction}")
    return _through(given, lambda t: AllReduce(group.number, size, reduction=reduction)(t))


def all_gather(x: TensorLike, axis: int | None = None, group: ProcessGroup | None = None) -> Tensor:
    """The arrays of all processes: along a new first axis, or joined along an `axis` they have.

    All give arrays of the same shape (`ShapeMismatch`). The gradient is `reduce_scatter`.

    >>> import symc.distributed as D
    >>> D.all_gather([1.0, 2.0]).eval()
    array([[1., 2.]])
    >>> D.all_gather([1.0, 2.0], axis=0).eval()
    array([1., 2.])
    """
    given = as_tensor(x)
    group = chosen(group)
    every = _through(given, lambda t: AllGather(group.number, group.size)(t))
    if axis is None:
        return every
    from symc.tensor.shape import concatenate

    if not -given.ndim <= axis < given.ndim:
        raise ValueError(f"all_gather: no axis {axis}\n  given  {describe(given)}")
    return concatenate([every[number] for number in range(group.size)], axis=axis)


def reduce_scatter(x: TensorLike, group: ProcessGroup | None = None) -> Tensor:
    """The sum over the processes, of which each keeps a part: process k the k-th of the first axis.

    The first axis is as long as a multiple of the number of processes, and each keeps so many
    neighbouring elements. Raises `ShapeMismatch` where it is not. The gradient is `all_gather`.

    >>> import symc.distributed as D
    >>> D.reduce_scatter([1.0, 2.0]).eval()
    array([1., 2.])
    """
    given = as_tensor(x)
    group = chosen(group)
    size = group.size
    if given.ndim == 0:
        raise ShapeMismatch(f"reduce_scatter needs an axis\n  given  {describe(given)}")
    rows = given.type.shape[0]
    if isinstance(rows, int) and rows % size:
        raise ShapeMismatch(
            f"reduce_scatter: {rows} rows cannot be shared by {size} processes\n"
            f"  given  {describe(given)}"
        )
    shape = tuple(length(given, axis) for axis in range(given.ndim))
    parts = given.reshape((size, shape[0] // size, *shape[1:]))
    return _through(parts, lambda t: ReduceScatter(group.number, size)(t))


def broadcast(x: TensorLike, root: int = 0, group: ProcessGroup | None = None) -> Tensor:
    """The array of the process `root`, in all of them.

    All give arrays of the same shape (`ShapeMismatch`). Raises `ValueError` where there is no such
    process. The gradient reaches only the root.

    >>> import symc.distributed as D
    >>> D.broadcast([1.0, 2.0]).eval()
    array([1., 2.])
    """
    group = chosen(group)
    return _through(as_tensor(x), lambda t: Broadcast(group.number, group.size, root=root)(t))


def shift(
    x: TensorLike, by: int = 1, *, wrap: bool = True, group: ProcessGroup | None = None
) -> Tensor:
    """The array of the process `by` places before this one; `by` may be negative.

    The processes stand in a ring; without `wrap` in a row, whose ends receive 0. All give arrays of
    the same shape (`ShapeMismatch`). The gradient is a shift the other way.

    >>> import symc.distributed as D
    >>> D.shift([1.0, 2.0]).eval(), D.shift([1.0, 2.0], wrap=False).eval()
    (array([1., 2.]), array([0., 0.]))
    """
    group = chosen(group)
    op = Shift(group.number, group.size, by=int(by), wrap=bool(wrap))
    return _through(as_tensor(x), lambda t: op(t))


def _through(x: Tensor, exchange: Callable[[Tensor], Tensor]) -> Tensor:
    """Exchanged in a type that MPI has: floats of 16 bits as float32."""
    if x.dtype.is_only_stored:
        return cast_to(exchange(cast_to(x, x.dtype.wide)), x.dtype)
    if x.dtype.name not in KINDS:
        raise TypeError(f"{x.dtype} cannot be exchanged\n  given  {describe(x)}")
    return exchange(x)
