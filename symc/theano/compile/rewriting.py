"""Rewrites that a program brings along, applied to the graph of a function before symc's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.theano.compile.definition import Definition
from symc.theano.compile.mode import get_mode, predefined_optimizers
from symc.theano.compile.sharedvalue import SharedVariable
from symc.theano.configparser import config
from symc.theano.gof.fg import FunctionGraph
from symc.theano.gof.graph import inputs, replaced
from symc.theano.gof.optdb import Query, optdb

_TAGS = {"default": "fast_run", "o4": "fast_run", "o3": "fast_run", "o2": "fast_run",
         "o1": "fast_compile"}  # fmt: skip


def rewriter_of(mode: Any) -> Any:
    """The rewrite of a mode's graphs; None where there is none."""
    given = mode.provided_optimizer
    if isinstance(given, str):
        given = predefined_optimizers.get(given) or given
    if hasattr(given, "optimize"):
        return given
    if not isinstance(given, Query):
        if given == "default":
            given = config.optimizer
        given = Query([] if given in (None, "None") else [_TAGS.get(given, given)])
    for how, *what in mode.tags:
        given = getattr(given, how)(*what)
    found = optdb.query(given)
    return found if len(found) else None


def rewritten(made: Definition) -> Definition:
    """The definition, its graph rewritten as its mode says."""
    rewriter = rewriter_of(get_mode(made.mode))
    if rewriter is None or not made.roots:
        return made
    return made.with_roots(_rewritten(rewriter, [each.variable for each in made.ins], made.roots))


def _rewritten(rewriter: Any, given: Sequence[Any], roots: Sequence[Any]) -> list[Any]:
    """The roots, rewritten in a graph of their own."""
    shared = [each for each in inputs(roots, given) if isinstance(each, SharedVariable)]
    leaves = [*given, *dict.fromkeys(shared)]
    graph = FunctionGraph(leaves, roots)
    rewriter.optimize(graph)
    found, own = list(graph.outputs), list(graph.inputs)
    graph.disown()
    return replaced(found, dict(zip(own, leaves, strict=True)))
