"""PyTensor's linker: a rewritten graph in, a callable out."""

from __future__ import annotations

from typing import Any

from pytensor.link.basic import JITLinker

from symc.pytensor.rewrites import LEFT_OUT
from symc.pytensor.running import Running


class SymcLinker(JITLinker):
    """Compiles a PyTensor graph by symc: to one function, where nothing in it needs Python.

    `symc_mode` is the mode of `symc.function`: "fast", "debug" ...
    """

    required_rewrites = ("minimum_compile",)
    incompatible_rewrites = tuple(LEFT_OUT)

    def __init__(self, *args: Any, symc_mode: str | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.symc_mode = symc_mode

    def clone(self, allow_gc: Any = None) -> SymcLinker:
        """A linker with the same settings."""
        return type(self)(
            allow_gc=self.allow_gc if allow_gc is None else allow_gc,
            scheduler=self._scheduler,
            symc_mode=self.symc_mode,
        )

    def fgraph_convert(self, fgraph: Any, **_: Any) -> Running:
        """The graph as steps, compiled."""
        return Running(fgraph, mode=self.symc_mode)

    def jit_compile(self, fn: Running) -> Running:
        """The same: `Running` is compiled when it is made."""
        return fn

    def create_thunk_inputs(self, storage_map: Any) -> list[Any]:
        """The storage of the graph's inputs."""
        return [storage_map[variable] for variable in self.fgraph.inputs]
