"""The few rewrites of quicker builds, as one of PyTensor's graph rewriters that is made once.

PyTensor looks up all its rewrites, and which of them are for which Ops, anew for each graph: a
fifth of the time that the few take. This rewriter keeps what was found, and goes past those of
loops where there is no loop.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pytensor.compile.builders import SymbolicOp
from pytensor.compile.mode import Mode, optdb
from pytensor.compile.rewriting import rewrite_ofg_inner_graph
from pytensor.graph.rewriting.basic import GraphRewriter, SequentialGraphRewriter
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.scan.op import Scan

from symc.graph.collector import without_collection
from symc.pytensor.linker import SymcLinker
from symc.pytensor.rewrites import GROUPS, LEFT_OUT, RECOGNITION, forms


class FewRewrites(GraphRewriter):
    """Applies the rewrites of `GROUPS`, those of canonical and special forms only if kept.

    Those that a user registers with PyTensor are found if that is done before the first graph.
    """

    def __init__(self, exported: str, *left_out: str) -> None:
        super().__init__()
        self._exported = exported
        self._left_out = left_out

    def __reduce__(self) -> str:
        return self._exported  # pickles, and so functions, name it

    @cached_property
    def _all(self) -> Any:
        left_out = [*forms(kept=False), *LEFT_OUT, *self._left_out]
        return optdb.query(RewriteDatabaseQuery(include=list(GROUPS), exclude=left_out))

    @cached_property
    def _without_loops(self) -> Any:
        kept = [each for each in self._all if not (each.name or "").startswith("scan_")]
        return SequentialGraphRewriter(kept, failure_callback=self._all.failure_callback)

    def add_requirements(self, fgraph: Any) -> None:
        """Nothing: what the parts require is added once it is known which are applied."""

    def apply(self, fgraph: Any) -> Any:
        """Rewrites a graph, in PyTensor's order of groups."""
        with without_collection():  # else it goes through all that PyTensor and PyMC keep
            loops = any(isinstance(_core(node.op), Scan) for node in fgraph.apply_nodes)
            rewriter = self._all if loops else self._without_loops
            try:
                return rewriter.rewrite(fgraph)
            finally:
                _forget_ops(rewriter)


def _core(op: Any) -> Any:
    return getattr(op, "core_op", op)


def _forget_ops(rewriters: Any) -> None:
    """Drops what was found for each Op, which would keep Ops and the graphs inside them."""
    for each in rewriters:
        tracker = getattr(each, "node_tracker", None)
        if tracker is not None:
            tracker.get_trackers.cache_clear()


FEW = FewRewrites("FEW")
_INSIDE = FewRewrites("_INSIDE", RECOGNITION)
_PLACE = 1.1  # among PyTensor's groups: after canonical forms, of which PyMC asks for some by name


def query(rewrites: str = "all") -> RewriteDatabaseQuery:
    """The rewrites of a mode: "all" of PyTensor's for compiled functions, or "few".

    >>> query("few").extra_rewrites[0][0] is FEW
    True
    """
    if rewrites not in ("all", "few"):
        raise ValueError(f'rewrites is "all" or "few", not {rewrites!r}')
    if rewrites == "all":
        return RewriteDatabaseQuery(include=["fast_run"])
    return RewriteDatabaseQuery(
        include=["minimum_compile", "canonicalize"],
        # PyMC asks for some of the group "canonicalize" by name, and these are in neither list.
        exclude=[*forms(kept=False), *forms(kept=True)],
        extra_rewrites=[(FEW, _PLACE)],
    )


@rewrite_ofg_inner_graph.register(SymcLinker)
def _inner_graph(linker: Any, op: Any, node: Any, inner: Any, *, mode: Any) -> None:
    """Rewrites the graph inside an OpFromGraph, which becomes a part of the one around it."""
    if isinstance(op, SymbolicOp):
        chosen = mode.provided_optimizer.excluding(RECOGNITION)
        chosen.extra_rewrites = [
            (_INSIDE if each is FEW else each, place) for each, place in chosen.extra_rewrites
        ]
        mode = Mode(linker, chosen)
    mode.optimizer.rewrite(inner)
