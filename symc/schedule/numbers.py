"""Numbers that are written where they are used: constants, and arithmetic on numbers of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import BinaryOp
from symc.codegen.record import record
from symc.graph.dims import Dim, sizes
from symc.graph.formulas import Formula
from symc.graph.inputs import Constant
from symc.graph.lowering import At, SizeOf
from symc.graph.node import Op, Tensor
from symc.graph.types import TensorType
from symc.tensor.checks import BOUNDS
from symc.tensor.elementwise import Elementwise
from symc.tensor.lengths import dim_of


@record
class StepNumber(Op):
    """The number of a loop's step: the value of the size `variable`."""

    variable: str

    @property
    def is_natural(self) -> bool:
        """Steps are counted from 0: lengths that follow from them may use it."""
        return True

    def infer(self, *args: Tensor) -> TensorType:
        return TensorType(INT64, ())

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(Formula((), ir.Var(self.variable)))


BOUNDS[StepNumber] = lambda node, args: (0, None)


def is_number(node: Tensor) -> bool:
    """Whether a node is a constant number, or arithmetic on such and on the numbers of steps."""
    if isinstance(node.op, Constant):
        return not node.type.shape
    if node.ndim or node.dtype is not INT64:
        return False
    found = sizes(dim_of(node))
    return all(size.axis is None and isinstance(size.source.op, StepNumber) for size in found)


Comparison: TypeAlias = tuple[BinaryOp, Dim, Dim]

_SIGNS: dict[str, BinaryOp] = {
    "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"
}  # fmt: skip


def comparisons(node: Tensor, is_known: Callable[[Dim], bool]) -> list[Comparison] | None:
    """A condition as comparisons of known lengths, of which all must hold; None if it is not."""
    found: list[Comparison] = []
    pending = [node]
    while pending:
        part = pending.pop()
        match part.op:
            case Elementwise(name="and" | "logical_and") if part.dtype is BOOL and not part.ndim:
                pending += reversed(part.args)
            case Elementwise(name=name) if name in _SIGNS and _are_lengths(part.args):
                left, right = map(dim_of, part.args)
                if not (is_known(left) and is_known(right)):
                    return None
                found.append((_SIGNS[name], left, right))
            case _:
                return None
    return found


def _are_lengths(args: Sequence[Tensor]) -> bool:
    return all(arg.dtype is INT64 and not arg.ndim for arg in args)
