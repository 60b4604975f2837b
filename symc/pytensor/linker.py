"""PyTensor's linker: a rewritten graph in, a callable out."""

from __future__ import annotations

from copy import copy
from typing import Any

from pytensor.link.basic import JITLinker

from symc.graph.collector import without_collection
from symc.pytensor.rewrites import LEFT_OUT
from symc.pytensor.running import Running


class SymcLinker(JITLinker):
    """Compiles a PyTensor graph by symc: to one function, where nothing in it needs Python.

    `symc_mode` is the mode of `symc.function`: "fast", "debug" ...; `random` says whose streams
    draws are of, "numpy" or "symc".
    """

    required_rewrites = ("minimum_compile",)
    incompatible_rewrites = tuple(LEFT_OUT)

    def __init__(
        self, *args: Any, symc_mode: str | None = None, random: str = "numpy", **options: Any
    ) -> None:
        if random not in ("numpy", "symc"):
            raise ValueError(f'random is "numpy" or "symc", not {random!r}')
        super().__init__(*args, **options)
        self.random = random
        self.symc_mode = symc_mode

    def accept(self, fgraph: Any, no_recycling: Any = None, profile: Any = None) -> Any:
        """A linker of this graph: itself, or one with the same settings."""
        if self.fgraph is not None and self.fgraph is not fgraph:
            other = copy(self)
            other.fgraph = None
            return other.accept(fgraph, no_recycling, profile)
        return super().accept(fgraph, no_recycling, profile)

    def fgraph_convert(self, fgraph: Any, **_: Any) -> Running:
        """The graph as steps, compiled."""
        with without_collection():  # else it goes through all that PyTensor and PyMC keep
            return Running(fgraph, mode=self.symc_mode, random=self.random)

    def jit_compile(self, fn: Running) -> Running:
        """The same: `Running` is compiled when it is made."""
        return fn

    def create_thunk_inputs(self, storage_map: Any) -> list[Any]:
        """The storage of the graph's inputs."""
        return [storage_map[variable] for variable in self.fgraph.inputs]
