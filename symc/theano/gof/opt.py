"""`theano.gof.opt`, as far as it has a meaning: symc has no rewrites of Theano's kind.

Programs that write rewrites of their own for Theano's graphs are told to use `symc.rewrite`.
"""

from __future__ import annotations

from typing import Any

_GONE = (
    "EquilibriumOptimizer", "LocalOptGroup", "LocalOptimizer", "MergeOptimizer", "OpKeyOptimizer",
    "OpRemove", "OpSub", "Optimizer", "PatternSub", "SeqOptimizer", "TopoOptimizer", "in2out",
    "local_optimizer", "optimizer", "out2in",
)  # fmt: skip


def check_stack_trace(
    f_or_fgraph: Any, ops_to_check: Any = "last", bug_print: Any = "raise"
) -> bool:
    """Whether nodes know where they were made: symc's always do."""
    del f_or_fgraph, ops_to_check, bug_print
    return True


def __getattr__(name: str) -> Any:
    if name in _GONE:
        raise AttributeError(
            f"symc.theano has no theano.gof.opt.{name}: it rewrites symc's expressions; see "
            "symc.rewrite"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
