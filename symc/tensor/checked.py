"""Conditions on numbers that are known only at run time, such as a positive count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from symc.codegen.record import record
from symc.errors import BadIndex, NotBatchable
from symc.graph.dims import Dim, nonnegative, sub
from symc.graph.formulas import own_element
from symc.graph.inputs import constant_value
from symc.graph.lowering import At, SizeOf
from symc.graph.node import OPERATORS, Array, Op, Requirement, Tensor
from symc.graph.types import TensorType
from symc.tensor.broadcast import describe
from symc.tensor.checks import BOUNDS, Bounds
from symc.tensor.lengths import tensor_of
from symc.tensor.views import broadcast_to


@record
class Checked(Op):
    """The argument; that the other one is true everywhere is checked when it runs.

    It raises `ValueError`, or `IndexError` where the value `is_index`. `natural` says that
    integers which pass are not negative.
    """

    message: str
    is_index: bool = False
    natural: bool = False

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return args[0]

    def grad(self, node: Tensor, bar: Tensor) -> Sequence[Tensor | None]:
        return [bar, None]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        x, holds = args
        if not batched[0]:
            x = broadcast_to(x, (holds.type.shape[0], *x.type.shape))
        return self(x, holds)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(own_element(node))

    def require(self, node: Tensor) -> Iterable[Requirement]:
        text = f"{self.message}\n  given  {describe(node.args[0])}"
        error = BadIndex if self.is_index else ValueError
        yield Requirement(node.args[1], error, lambda value: text)

    @property
    def only_checks(self) -> bool:
        return True


def _bounds(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    low, high = args[0]
    if not isinstance(node.op, Checked) or not node.op.natural:
        return args[0]
    return (max(low, 0) if isinstance(low, int) else 0, high)


BOUNDS[Checked] = _bounds


@record
class Below(Op):
    """The argument, integers that are places of the other one, a vector.

    This is no check: whoever makes it knows it, as rules on indexes then do.
    """

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return args[0]

    def batch(self, args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
        x, target = args
        if batched[1]:
            raise NotBatchable("below: the lengths may differ from one batch element to another")
        return self(x, target)

    def lower(self, node: Tensor, size: SizeOf) -> At:
        return At(own_element(node))

    @property
    def only_checks(self) -> bool:
        return True


def _below_bounds(node: Tensor, args: Sequence[Bounds]) -> Bounds:
    return 0, sub(node.args[1].type.shape[0], 1)


BOUNDS[Below] = _below_bounds


def not_negative(x: Tensor, message: str, *, is_index: bool = False) -> Tensor:
    """Integers of which none is negative."""
    return Checked(message, is_index, natural=True)(x, OPERATORS["ge"](x, 0))


def reaching(x: Tensor, n: Dim, place: int | Tensor, message: str, *, beyond: int = 0) -> Tensor:
    """`x`, one of whose lengths `n` has the place, which may count from the end.

    Places are below the length plus `beyond`. `IndexError` is raised when it runs, and nothing is
    asked where the length is known to have the place.
    """
    if isinstance(place, int):
        needed = -place if place < 0 else place + 1 - beyond
        if nonnegative(sub(n, needed)):
            return x
        return Checked(message, is_index=True)(x, OPERATORS["ge"](tensor_of(n), needed))
    size = tensor_of(n)
    low, high = OPERATORS["ge"](place, -size), OPERATORS["lt"](place, size + beyond)
    return Checked(message, is_index=True)(x, OPERATORS["logical_and"](low, high))


def rising(numbers: Tensor, message: str, *, strictly: bool = False) -> Tensor:
    """A vector each of whose elements is at least the one before, or above it, where `strictly`.

    Else it raises `ValueError`. NaN is neither above nor below, so that it is refused as well.
    """
    known = constant_value(numbers)
    if known is None:
        above = OPERATORS["gt" if strictly else "ge"](numbers[1:], numbers[:-1])
        return Checked(message)(numbers, above)
    later, earlier = known[1:], known[:-1]
    if not np.all(later > earlier if strictly else later >= earlier):
        raise ValueError(message)
    return numbers
