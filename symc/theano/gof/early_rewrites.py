"""Rewrites of expressions that no `FunctionGraph` holds yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.theano.gof.graph import Constant, Variable, inputs, io_toposort, replaced
from symc.theano.gof.local_rewrites import is_tracked

__all__ = ["copy_stack_trace", "pre_constant_merge", "pre_greedy_local_optimizer"]


def copy_stack_trace(from_var: Any, to_var: Any) -> Any:
    """The second variable, or variables; symc's nodes know themselves where they were made."""
    del from_var
    return to_var


def pre_constant_merge(vars: Any) -> list[Any]:
    """The variables, or the one, where equal constants that they depend on are one."""
    vars = [vars] if isinstance(vars, Variable) else list(vars)
    known: dict[Any, Any] = {}
    pairs: dict[Any, Any] = {}
    for each in inputs(vars):
        if isinstance(each, Constant):
            try:
                first = known.setdefault(each.signature(), each)
            except TypeError:  # a value that has no hash
                continue
            if first is not each:
                pairs[each] = first
    return replaced(vars, pairs)


def pre_greedy_local_optimizer(list_optimizations: Sequence[Any], out: Any) -> Any:
    """The expression, to each node of which the rewrites were applied as far as they go."""
    memo: dict[Any, Any] = {}
    for node in io_toposort([], [out]):
        news = [memo.get(each, each) for each in node.inputs]
        made = node
        if any(new is not old for new, old in zip(news, node.inputs, strict=True)):
            made = node.clone_with_new_inputs(news)
        found = list(made.outputs)
        for rewrite in list_optimizations:
            if found[0].owner is None:
                break
            if is_tracked(rewrite, found[0].owner.op):
                better = rewrite.transform(found[0].owner)
                if isinstance(better, list | tuple):
                    found = list(better)
        memo.update(zip(node.outputs, found, strict=True))
    return memo.get(out, out)
