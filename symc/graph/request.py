"""Requests: the arguments of `symc.function`, checked and complete."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from symc.codegen.record import record
from symc.graph.inputs import SharedVariable
from symc.graph.node import Tensor

_contracts: ContextVar[bool] = ContextVar("contracts", default=True)


@contextmanager
def each_op_rounds() -> Generator[None]:
    """For functions made in the block, a multiplication and an addition remain two instructions."""
    token = _contracts.set(False)
    try:
        yield
    finally:
        _contracts.reset(token)


def may_contract() -> bool:
    """Whether functions that are made now may have both as one instruction, which rounds once."""
    return _contracts.get()


@record
class Request:
    """One function to compile: all of `shared` is read or updated, in a fixed order."""

    name: str
    inputs: tuple[Tensor, ...]
    shared: tuple[SharedVariable, ...]
    outputs: tuple[Tensor, ...]
    updates: tuple[tuple[SharedVariable, Tensor], ...]
    device: str = "cpu"
    on_device: tuple[bool, ...] = ()
    """Which outputs stay on the device."""
    from_file: bool = False
    """Whether the graph is from a file: then its ops may have arguments that do not fit."""
    given: tuple[Tensor, ...] = ()
    """The inputs whose arrays the caller gives away: outputs may be written into these."""
    contracts: bool = True
    """Whether a multiplication and an addition may become one instruction, which rounds once."""

    def roots(self) -> list[Tensor]:
        """The nodes to compute: outputs, then new values."""
        return [*self.outputs, *(new for _, new in self.updates)]


@record
class Optimised:
    """The request's roots after rewriting, and the scalar nodes of its run-time conditions.

    `scalars` maps each tensor whose value is a length to the int64 scalar that computes it.
    """

    outputs: Sequence[Tensor]
    updates: Sequence[Tensor]
    conditions: Sequence[Tensor]
    scalars: Mapping[Tensor, Tensor]
