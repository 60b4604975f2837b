"""Sums over the processes that go on while the program computes something else.

A sum is begun when its argument is there, and waited for when its value is needed: two ops, of
which the scheduler calls one early and the other late. They are made in pairs, for gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symc.codegen import ir
from symc.codegen.dtypes import INT64
from symc.codegen.record import record, replace
from symc.codegen.targets.mpi import KINDS, started
from symc.distributed.groups import ProcessGroup, check_processes
from symc.distributed.ops import LENGTHS, AllReduce, Collective
from symc.graph.dims import product
from symc.graph.lowering import Argument, LibCall, SizeOf
from symc.graph.node import Array, Op, Tensor
from symc.graph.types import TensorType
from symc.tensor.elementwise import cast_to

_waiting: dict[int, tuple[Any, Array]] = {}
"""The interpreter's sums: requests of mpi4py and the arrays that they fill, by number."""


@record
class BeginSum(Collective):
    """Begins a sum over the processes: the number by which `EndSum` finds it."""

    routine = "mpi_begin_sum"
    in_pieces = True

    def infer(self, *args: Tensor) -> TensorType:
        Collective.infer(self, *args)
        return TensorType(INT64, (2,) if self.part == LENGTHS else (1,))

    def exchange(self, x: Array, communicator: Any) -> Array:
        total = x.copy()
        number = max(_waiting, default=0) + 1
        _waiting[number] = communicator.Iallreduce(started().IN_PLACE, total), total
        return np.array([number])

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        return replace(Collective.lower(self, node, size), when="begins")

    @property
    def label(self) -> str:
        return "begin_sum"


@record
class EndSum(Op):
    """Waits for a sum: of the type of the first argument, by the number that is the second."""

    group: int
    size: int

    def infer(self, *args: Tensor) -> TensorType:
        check_processes(self.label, self.group, self.size)
        if not isinstance(args[1].op, BeginSum):
            raise TypeError(f"{args[1]!r} has begun no sum")
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        request, total = _waiting.pop(int(args[1][0]))
        request.Wait()
        return total

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [AllReduce(self.group, self.size)(bar), None]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return AllReduce(self.group, self.size)(args[0])

    def lower(self, node: Tensor, size: SizeOf) -> LibCall:
        kind = ir.const(list(KINDS).index(node.dtype.name))
        args = kind, size(product(node.type.shape)), Argument(1), Argument(-1)
        return LibCall("mpi_end_sum", args, when="waits")

    @property
    def label(self) -> str:
        return "end_sum"


def sum_meanwhile(x: Tensor, group: ProcessGroup) -> Tensor:
    """The sum of `x` over the processes; what does not need it is computed while it is on its way.

    >>> import symc.distributed as D, symc.tensor as T
    >>> sum_meanwhile(T.as_tensor([1.0, 2.0]), D.world()).eval()
    array([1., 2.])
    """
    if x.dtype.is_only_stored:
        return cast_to(sum_meanwhile(cast_to(x, x.dtype.wide), group), x.dtype)
    return EndSum(group.number, group.size)(x, BeginSum(group.number, group.size)(x))
