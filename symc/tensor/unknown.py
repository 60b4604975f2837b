"""Derivatives that are not known, which are refused where they are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.record import record
from symc.errors import GradientError
from symc.graph.lowering import HostCall, SizeOf
from symc.graph.node import Array, Op, Tensor
from symc.graph.types import TensorType


@record
class UnknownDerivative(Op):
    """Stands for a derivative nobody needs as long as no gradient flows through it."""

    what: str

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        raise self.error()

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        raise self.error()

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        return self(*args)

    def lower(self, node: Tensor, size: SizeOf) -> HostCall:
        raise self.error()

    def error(self) -> GradientError:
        """What `grad` raises for it."""
        return GradientError(f"this needs {self.what}, which is not known")


def unknown(what: str, bar: Tensor) -> Tensor:
    """The place of a derivative that is not known, in the gradient `bar` of the result."""
    return UnknownDerivative(what)(bar)


def is_unknown(part: Tensor | None) -> bool:
    """Whether a gradient is one that nobody knows."""
    return part is not None and isinstance(part.op, UnknownDerivative)
