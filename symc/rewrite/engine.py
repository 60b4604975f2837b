"""The driver: applies rules until none fires, visiting each node once.

Graphs are interned, so a node's normal form is computed once whatever the number of its users, and
work is linear in the number of nodes plus the number of rules that fire. Arguments come before
users, except that early rules see a node as it was written, before anything in it has changed:
so no other rule can hide a pattern from them.
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.record import record
from symc.graph.node import Tensor
from symc.graph.provenance import located_at
from symc.graph.walks import rebuild
from symc.rewrite.rule import Attempt, Attempts, Rule, RuleSet
from symc.rewrite.single import keep_single


@record
class Rewrite:
    """One rewrite that happened: for traces and for people."""

    rule: Rule
    before: Tensor
    after: Tensor

    def __str__(self) -> str:
        return f"{self.rule.where}: {self.rule.name}: {self.before!r} -> {self.after!r}"


class RulesDisagree(AssertionError):
    """Rules turn a tensor into one that contains itself, or into one of another type."""


def normalise(
    roots: Sequence[Tensor], rules: RuleSet, trace: list[Rewrite] | None = None
) -> dict[Tensor, Tensor]:
    """The normal form of every root and of all they depend on, as a map from old to new."""
    done: dict[Tensor, Tensor] = {}
    forward: dict[Tensor, Tensor] = {}
    known: dict[Tensor, Attempts] = {}
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
            after: Tensor | None = forward.pop(node)
            if after not in done:
                raise RulesDisagree(f"the rules never come to an end at {node!r}")
            done[node] = done[after]
            continue
        fitting = known.get(node)
        if fitting is None:
            fitting = known[node] = rules.at(node)
            if fitting.early and (after := _first(node, fitting.early, rules, trace)) is not None:
                _follow(node, after, done, forward, stack)
                continue
        pending = [arg for arg in node.args if arg not in done]
        if pending:
            pending.reverse()
            stack += pending
            continue
        args = tuple([done[arg] for arg in node.args])
        if args == node.args:
            current, attempts = node, fitting.rest
        else:
            current = rebuild(node, args)
            single = keep_single(node, current)
            if single is not current:
                _follow(node, single, done, forward, stack)
                continue
            if current in done:
                done[node] = done[current]
                continue
            attempts = rules.at(current).all
        after = _first(current, attempts, rules, trace) if attempts else None
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


def _first(
    node: Tensor, attempts: Sequence[Attempt], rules: RuleSet, trace: list[Rewrite] | None
) -> Tensor | None:
    with located_at(node.where):
        for attempt in attempts:
            rules.tried += 1
            after = attempt.apply(node)
            if after is not None and after is not node:
                return _accepted(attempt, node, after, trace)
    return None


def _accepted(attempt: Attempt, node: Tensor, after: Tensor, trace: list[Rewrite] | None) -> Tensor:
    if node.type.dtype is not after.type.dtype or node.ndim != after.ndim:
        raise RulesDisagree(f"rule {attempt.rule.name} turned {node.type} into {after.type}")
    after = keep_single(node, after)
    if node.name is not None and after.name is None and after.args:
        after.name = node.name
    if trace is not None:
        trace.append(Rewrite(attempt.rule, node, after))
    return after
