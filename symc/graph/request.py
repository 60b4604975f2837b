"""Requests: the arguments of `symc.function`, checked and complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen.record import record
from symc.graph.inputs import SharedVariable
from symc.graph.node import Tensor


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
