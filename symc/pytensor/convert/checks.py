"""Checks: conditions of PyTensor's graphs, with PyTensor's classes of error and words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from pytensor.raise_op import CheckAndRaise

from symc.codegen.record import record
from symc.graph.node import Requirement, Tensor
from symc.pytensor.conversion import as_bool, register
from symc.tensor.checks import BOUNDS, of_first_argument
from symc.tensor.lengths import split_template
from symc.tensor.specify import SpecifyShape
from symc.tensor.watch import Asserted


@record
class RaisingCheck(Asserted):
    """As `symc.Assert`, with the class of error and the words of PyTensor's Op."""

    error: type[Exception] = AssertionError

    def require(self, node: Tensor) -> Iterable[Requirement]:
        for condition in node.args[1:]:
            yield Requirement(condition, self.error, lambda _: self.message)

    def key(self) -> str:
        return f"RaisingCheck({self.message!r}, {self.error.__module__}.{self.error.__qualname__})"


@record
class RaisingCheckWithValue(RaisingCheck):
    """As `RaisingCheck`, of one condition; the message ends with the last argument."""

    def require(self, node: Tensor) -> Iterable[Requirement]:
        _, condition, number = node.args
        yield Requirement(
            condition, self.error, lambda value: f"{self.message}: {int(value(number))}"
        )

    def key(self) -> str:
        return f"With{RaisingCheck.key(self)}"


@record
class Droppable(SpecifyShape):
    """As `symc.T.specify_shape`, of axes that have length 1 and will be dropped."""

    def require(self, node: Tensor) -> Iterable[Requirement]:
        for axis in self.axes:
            have = node.args[0].type.shape[axis]
            yield Requirement((have, 1), ValueError, partial(_cannot_drop, axis))


def _cannot_drop(axis: int, value: Callable[[Any], Any]) -> str:
    return f"DimShuffle: cannot drop axis {axis} with length not equal to one."


BOUNDS[Droppable] = of_first_argument


def droppable(x: Tensor, axes: Iterable[int]) -> Tensor:
    """`x`, of whose axes these have length 1: where that is not known, it is checked in each call.

    PyTensor drops axes of unknown lengths: those of ``x[9:10]``, which may also have none.
    """
    unknown = tuple(axis for axis in axes if not isinstance(x.type.shape[axis], int))
    if not unknown:
        return x
    template, _ = split_template((1,) * len(unknown))
    return Droppable(unknown, template)(x)


@register(CheckAndRaise)
def _check(op: Any, **_: Any) -> Callable[..., Any]:
    check = RaisingCheck(str(op.msg), op.exc_type)
    return lambda x, *conditions: check(x, *(as_bool(c) for c in conditions))
