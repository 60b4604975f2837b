"""The driver: applies rules bottom-up until none fires, visiting each node once.

Graphs are interned, so a node's normal form is computed once whatever the number of its users, and
work is linear in the number of nodes plus the number of rules that fire.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from symc.graph import Tensor, located_at, rebuild

# A rule that fires gives the node's replacement; one that does not gives None.
Apply: TypeAlias = Callable[[Tensor], Tensor | None]


@dataclass(frozen=True, slots=True)
class Step:
    """One rewrite that happened: for traces and for people."""

    rule: str
    before: Tensor
    after: Tensor


def normalise(
    roots: Sequence[Tensor],
    rules_for: Callable[[Tensor], Sequence[tuple[str, Apply]]],
    trace: list[Step] | None = None,
) -> dict[Tensor, Tensor]:
    """The normal form of every root and of all they depend on, as a map from old to new."""
    done: dict[Tensor, Tensor] = {}
    forward: dict[Tensor, Tensor] = {}
    stack = list(roots)
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
        elif node in forward:
            done[node] = done[forward.pop(node)]
            stack.pop()
        elif pending := [arg for arg in node.args if arg not in done]:
            stack.extend(reversed(pending))
        else:
            current = rebuild(node, [done[arg] for arg in node.args])
            after = _first(current, rules_for(current), trace)
            if after is None:
                done[current] = done[node] = current
                stack.pop()
            elif after in done:
                done[node] = done[after]
                stack.pop()
            else:
                forward[node] = after
                stack.append(after)
    return done


def _first(
    node: Tensor, rules: Sequence[tuple[str, Apply]], trace: list[Step] | None
) -> Tensor | None:
    for name, apply in rules:
        with located_at(node.where):
            after = apply(node)
        if after is not None and after is not node:
            _check(name, node, after)
            if node.name is not None and after.name is None and after.args:
                after.name = node.name
            if trace is not None:
                trace.append(Step(name, node, after))
            return after
    return None


def _check(name: str, before: Tensor, after: Tensor) -> None:
    if before.dtype is not after.dtype or before.ndim != after.ndim:
        raise AssertionError(f"rule {name} turned {before.type} into {after.type}")
