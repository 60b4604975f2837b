"""The driver: applies rules until none fires, visiting each node once.

Graphs are interned, so a node's normal form is computed once whatever the number of its users, and
work is linear in the number of nodes plus the number of rules that fire. Arguments come before
users, except that `early` rules see a node as it was written, before anything in it has changed:
so no other rule can hide from them what they look for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symc.graph import Tensor, located_at, rebuild
from symc.rewrite.rule import Attempt, Rule, RuleSet


@dataclass(frozen=True, slots=True)
class Step:
    """One rewrite that happened: for traces and for people."""

    rule: Rule
    before: Tensor
    after: Tensor

    def __str__(self) -> str:
        return f"{self.rule.where}: {self.rule.name}: {self.before!r} -> {self.after!r}"


class RulesDisagree(AssertionError):
    """Rules turn a tensor into one that contains itself, or into one of another type."""


def normalise(
    roots: Sequence[Tensor],
    rules: RuleSet,
    trace: list[Step] | None = None,
    early: RuleSet | None = None,
) -> dict[Tensor, Tensor]:
    """The normal form of every root and of all they depend on, as a map from old to new."""
    done: dict[Tensor, Tensor] = {}
    forward: dict[Tensor, Tensor] = {}
    seen: set[Tensor] = set()
    stack = list(reversed(roots))
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        if not node.args:
            done[node] = node
            continue
        if node in forward:
            after = forward.pop(node)
            if after not in done:
                raise RulesDisagree(f"the rules never come to an end at {node!r}")
            done[node] = done[after]
            continue
        if early is not None and node not in seen:
            seen.add(node)
            after = _first(node, early, trace)
            if after is not None:
                _follow(node, after, done, forward, stack)
                continue
        pending = [arg for arg in node.args if arg not in done]
        if pending:
            pending.reverse()
            stack += pending
            continue
        args = [done[arg] for arg in node.args]
        current = rebuild(node, args)
        if current is not node and current in done:
            done[node] = done[current]
            continue
        after = _first(current, rules, trace)
        if after is None:
            done[current] = done[node] = current
        else:
            _follow(node, after, done, forward, stack)
    return done


def _follow(
    node: Tensor,
    after: Tensor,
    done: dict[Tensor, Tensor],
    forward: dict[Tensor, Tensor],
    stack: list[Tensor],
) -> None:
    """Goes on with a node's replacement."""
    if after in done:
        done[node] = done[after]
    elif after in forward:
        raise RulesDisagree(f"the rules turn {node!r} into {after!r} and back")
    else:
        forward[node] = after
        stack.append(after)


def _first(node: Tensor, rules: RuleSet, trace: list[Step] | None) -> Tensor | None:
    attempts = rules.at(node)
    if not attempts:
        return None
    with located_at(node.where):
        for attempt in attempts:
            rules.tried += 1
            after = attempt.apply(node)
            if after is not None and after is not node:
                return _accepted(attempt, node, after, trace)
    return None


def _accepted(attempt: Attempt, node: Tensor, after: Tensor, trace: list[Step] | None) -> Tensor:
    if node.type.dtype is not after.type.dtype or node.ndim != after.ndim:
        raise RulesDisagree(f"rule {attempt.rule.name} turned {node.type} into {after.type}")
    if node.name is not None and after.name is None and after.args:
        after.name = node.name
    if trace is not None:
        trace.append(Step(attempt.rule, node, after))
    return after
