"""Collective operations as ops: each process computes the node, with arrays of its own.

A function on several processes is one program that all of them run. What flows back through it is
the gradient of the sum of all processes' costs; so the gradient of a sum over the processes is the
sum of what arrives in all of them, and every op here is the adjoint of one here.

Lengths that are not in the program may differ between processes. The routines compare them first,
and the second part of each op has the least and the largest number of elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import INT64
from symc.codegen.record import record, replace
from symc.codegen.targets.mpi import COMMUNICATORS, KINDS, REDUCTIONS, started
from symc.distributed.groups import check_processes
from symc.errors import ShapeMismatch, TooLarge
from symc.graph.dims import product
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import OPERATORS, Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.views import moveaxis

Reduction: TypeAlias = Literal["sum", "max", "min"]

VALUE: Final = 0
LENGTHS: Final = 1
MOST_AT_ONCE = (1 << 31) - 1
_KINDS = list(KINDS)


@record
class Collective(Op):
    """The base of all: the value, or the lengths compared, of a `group` of `size` processes."""

    group: int
    size: int
    part: Literal[0, 1] = VALUE

    routine = ""
    in_pieces = False  # whether the routine sends as much as there is, in several messages

    def infer(self, *args: Tensor) -> TensorType:
        check_processes(self.label, self.group, self.size)
        count = product(args[0].type.shape)
        if not self.in_pieces and isinstance(count, int) and count > MOST_AT_ONCE:
            raise TooLarge(_too_many(self, args[0], count))
        if self.part == LENGTHS:
            return TensorType(INT64, (2,))
        return TensorType(args[0].dtype, self.shape(args[0]))

    def shape(self, x: Tensor) -> Any:
        """The shape of the value."""
        return x.type.shape

    def exchange(self, x: Array, communicator: Any) -> Array:
        """The value, by mpi4py."""
        raise NotImplementedError(type(self).__name__)

    def numbers(self) -> tuple[int, ...]:
        """What the routine is told besides group, element type and length."""
        return ()

    def count(self, x: Tensor) -> Any:
        """The number of elements that each process sends, or receives if that is less."""
        return product(x.type.shape)

    @property
    def is_collective(self) -> bool:
        return True

    def common(self) -> Any:
        return replace(self, part=VALUE), type(self)

    def evaluate(self, *args: Array) -> Array:
        return self.evaluate_all(*args)(self)

    def evaluate_all(self, *args: Array) -> Callable[[Any], Array]:
        x = np.ascontiguousarray(args[0]).reshape(args[0].shape)
        communicator = COMMUNICATORS[self.group]
        mine, most = np.array([-x.size, x.size]), np.empty(2, np.int64)
        communicator.Allreduce(mine, most, started().MAX)
        least, largest = -int(most[0]), int(most[1])
        value = self.exchange(x, communicator) if least == largest else x
        lengths = np.array([least, largest])
        return lambda op: value if op.part == VALUE else lengths

    def adjoint(self, node: Tensor, bar: Tensor) -> Tensor:
        """The gradient of the sum of all processes' costs, given that of the value."""
        raise NotImplementedError(type(self).__name__)

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return self.grad_all({node: bar})

    def grad_all(self, bars: Mapping[Tensor, Tensor]) -> Sequence[Tensor | None]:
        for node, bar in bars.items():
            if isinstance(node.op, Collective) and node.op.part == VALUE:
                return [node.op.adjoint(node, bar)]
        return [None]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def require(self, node: Tensor) -> Iterable[Requirement]:
        x = node.args[0]
        if self.part == VALUE and not all(isinstance(dim, int) for dim in x.type.shape):
            compared = replace(self, part=LENGTHS)(x)
            agree = OPERATORS["eq"](compared[0], compared[1])
            yield Requirement(agree, ShapeMismatch, lambda value: _differ(self, x, value(compared)))
            if not self.in_pieces:
                fits = OPERATORS["le"](x.size, MOST_AT_ONCE)
                yield Requirement(fits, TooLarge, lambda value: _too_many(self, x, value(x.size)))

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        x = node.args[0]
        fixed = all(isinstance(dim, int) for dim in x.type.shape)
        args = (
            ir.const(self.group), ir.const(int(fixed)), ir.const(_KINDS.index(x.dtype.name)),
            *(ir.const(number) for number in self.numbers()), size(self.count(x)),
            Argument(0), Argument(-1), Argument(-2),
        )  # fmt: skip
        parts = replace(self, part=VALUE), replace(self, part=LENGTHS)
        return LibCall(self.routine, args, parts)


def _differ(op: Collective, x: Tensor, compared: Any) -> str:
    least, largest = (int(number) for number in np.asarray(compared))
    return (
        f"{op.label}: the processes have arrays of different lengths, of {least} to {largest} "
        f"elements\n  given  {describe(x)}"
    )


def _too_many(op: Collective, x: Tensor, count: Any) -> str:
    return (
        f"{op.label}: {int(count)} elements do not fit into one message of MPI, of {MOST_AT_ONCE}; "
        f"send parts of it\n  given  {describe(x)}"
    )


@record
class AllReduce(Collective):
    """Elements combined over the processes: every one receives the result."""

    reduction: Reduction = "sum"

    routine = "mpi_all_reduce"
    in_pieces = True

    def numbers(self) -> tuple[int, ...]:
        return (list(REDUCTIONS).index(self.reduction),)

    def exchange(self, x: Array, communicator: Any) -> Array:
        result = np.empty_like(x)
        communicator.Allreduce(x, result, getattr(started(), REDUCTIONS[self.reduction]))
        return result

    def adjoint(self, node: Tensor, bar: Tensor) -> Tensor:
        total, x = replace(self, reduction="sum"), node.args[0]
        if self.reduction == "sum":
            return total(bar)
        # As within one array: where several are the largest, each has an equal part.
        chosen = cast_to(OPERATORS["eq"](x, node), x.dtype)
        return total(bar) * chosen / total(chosen)

    @property
    def label(self) -> str:
        return f"all_reduce({self.reduction!r})"


@record
class AllGather(Collective):
    """The arrays of all processes along a new first axis."""

    routine = "mpi_all_gather"

    def shape(self, x: Tensor) -> Any:
        return (self.size, *x.type.shape)

    def exchange(self, x: Array, communicator: Any) -> Array:
        result = np.empty((self.size, *x.shape), x.dtype)
        communicator.Allgather(x, result)
        return result

    def adjoint(self, node: Tensor, bar: Tensor) -> Tensor:
        return ReduceScatter(self.group, self.size)(bar)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return moveaxis(self(*args), 0, 1)

    @property
    def label(self) -> str:
        return "all_gather"


@record
class ReduceScatter(Collective):
    """The sum over the processes of arrays whose first axis counts them: each gets its element."""

    routine = "mpi_reduce_scatter"

    def shape(self, x: Tensor) -> Any:
        return x.type.shape[1:]

    def count(self, x: Tensor) -> Any:
        return product(x.type.shape[1:])

    def exchange(self, x: Array, communicator: Any) -> Array:
        result = np.empty(x.shape[1:], x.dtype)
        communicator.Reduce_scatter_block(x, result)
        return result

    def adjoint(self, node: Tensor, bar: Tensor) -> Tensor:
        return AllGather(self.group, self.size)(bar)

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(moveaxis(args[0], 0, 1))

    @property
    def label(self) -> str:
        return "reduce_scatter"


def check_root(op: Broadcast | ToRoot) -> None:
    """Raises `ValueError` for a process that the group does not have."""
    if not 0 <= op.root < op.size:
        raise ValueError(f"{op.label}: root is {op.root}, of {op.size} processes")


@record
class Broadcast(Collective):
    """The array of the process `root`."""

    root: int = 0

    routine = "mpi_broadcast"
    in_pieces = True

    def infer(self, *args: Tensor) -> TensorType:
        check_root(self)
        return Collective.infer(self, *args)

    def numbers(self) -> tuple[int, ...]:
        return (self.root,)

    def exchange(self, x: Array, communicator: Any) -> Array:
        result = x.copy()
        communicator.Bcast(result, self.root)
        return result

    def adjoint(self, node: Tensor, bar: Tensor) -> Tensor:
        return ToRoot(self.group, self.size, root=self.root)(bar)

    @property
    def label(self) -> str:
        return "broadcast"


@record
class ToRoot(Collective):
    """The sum over the processes in the process `root`, and 0 in the others."""

    root: int = 0

    routine = "mpi_to_root"
    in_pieces = True

    def infer(self, *args: Tensor) -> TensorType:
        check_root(self)
        return Collective.infer(self, *args)

    def numbers(self) -> tuple[int, ...]:
        return (self.root,)

    def exchange(self, x: Array, communicator: Any) -> Array:
        result = np.empty_like(x)
        communicator.Allreduce(x, result)
        return result if communicator.Get_rank() == self.root else np.zeros_like(x)

    def adjoint(self, node: Tensor, bar: Tensor) -> Tensor:
        return Broadcast(self.group, self.size, root=self.root)(bar)

    @property
    def label(self) -> str:
        return "to_root"


@record
class Shift(Collective):
    """The array of the process `by` places before; without `wrap`, 0 where there is none."""

    by: int = 1
    wrap: bool = True

    routine = "mpi_shift"

    def numbers(self) -> tuple[int, ...]:
        return (self.by, int(self.wrap))

    def exchange(self, x: Array, communicator: Any) -> Array:
        none = started().PROC_NULL
        to, source = (communicator.Get_rank() + step for step in (self.by, -self.by))
        if self.wrap:
            to, source = to % self.size, source % self.size
        result = np.zeros_like(x)
        ends = [place if 0 <= place < self.size else none for place in (to, source)]
        communicator.Sendrecv(x, ends[0], recvbuf=result, source=ends[1])
        return result

    def adjoint(self, node: Tensor, bar: Tensor) -> Tensor:
        return replace(self, by=-self.by)(bar)

    @property
    def label(self) -> str:
        return "shift"
