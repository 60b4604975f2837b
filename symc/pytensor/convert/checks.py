"""Checks: conditions of PyTensor's graphs, with PyTensor's classes of error and words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pytensor.raise_op import CheckAndRaise

from symc.codegen.record import record
from symc.graph.node import Requirement, Tensor
from symc.pytensor.conversion import as_bool, register
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


@register(CheckAndRaise)
def _check(op: Any, **_: Any) -> Callable[..., Any]:
    check = RaisingCheck(str(op.msg), op.exc_type)
    return lambda x, *conditions: check(x, *(as_bool(c) for c in conditions))
