"""The rules that every mode has, and no others: they keep digits and stay clear of overflow."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache

from symc.graph.node import Tensor
from symc.loops.inside import improved
from symc.rewrite.engine import normalise
from symc.rewrite.rule import Rules, RuleSet
from symc.rewrite.stability import STABILITY


def has_linalg() -> bool:
    """Whether there may be linear algebra in any graph: its ops are imported late."""
    return "symc.tensor.linalg" in sys.modules


def stability_rules(*, with_linalg: bool) -> Sequence[Rules]:
    """The rules, in the order in which they are tried."""
    if not with_linalg:
        return (STABILITY,)
    from symc.rewrite.linalg import LINALG_DIGITS  # late: imports the ops

    return STABILITY, LINALG_DIGITS


@cache
def _stability(with_linalg: bool) -> RuleSet:
    groups = stability_rules(with_linalg=with_linalg)
    return RuleSet(rule for rules in groups for rule in rules.all)


def stabilise(roots: Sequence[Tensor]) -> list[Tensor]:
    """The roots after the stability rules alone: the graph of every mode."""
    done = normalise(roots, _stability(has_linalg()), None)
    return improved([done[root] for root in roots], stabilise)
