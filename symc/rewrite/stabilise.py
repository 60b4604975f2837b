"""The rules that every mode has, and no others: they keep digits and stay clear of overflow."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from symc.graph.node import Tensor
from symc.graph.walks import walk, walk_within

if TYPE_CHECKING:
    from symc.rewrite.rule import Rules, RuleSet

TELLING = frozenset({
    "erf", "erfc", "exp", "expm1", "log", "log1p", "log_sigmoid", "log_softmax", "logsumexp",
    "sigmoid", "softmax", "softplus", "sqrt",
})  # fmt: skip
"""Ops of which there are, in what a rule replaces, at least one, and another op."""


def has_linalg() -> bool:
    """Whether there may be linear algebra in any graph: its ops are imported late."""
    return "symc.tensor.linalg" in sys.modules


def stability_rules(*, with_linalg: bool) -> Sequence[Rules]:
    """The rules, in the order in which they are tried."""
    from symc.rewrite.stability import STABILITY  # late: few graphs that are not compiled need it

    if not with_linalg:
        return (STABILITY,)
    from symc.rewrite.linalg import LINALG_DIGITS  # late: imports the ops

    return STABILITY, LINALG_DIGITS


@cache
def _stability(with_linalg: bool) -> RuleSet:
    from symc.rewrite.rule import RuleSet

    groups = stability_rules(with_linalg=with_linalg)
    return RuleSet(rule for rules in groups for rule in rules.all)


def stabilise(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots after the stability rules alone: the graph of every mode."""
    if not has_linalg() and not _may_change(roots):
        return list(roots)
    from symc.rewrite.engine import normalise

    done = normalise(roots, _stability(has_linalg()), None)
    after = [done[root] for root in roots]
    if not any(node.op.graphs() for node in walk(after)):
        return after
    from symc.loops.inside import improved  # late: most graphs have no branches or loops

    return improved(after, stabilise)


def _may_change(roots: Sequence[Tensor]) -> bool:
    """Whether any rule might find something: looked at without importing them, which takes 10 ms.

    In a graph of a single op with arguments there is nothing to be found.
    """
    labels = [node.op.label for node in walk_within(roots) if node.args]
    return len(labels) > 1 and not TELLING.isdisjoint(labels)
