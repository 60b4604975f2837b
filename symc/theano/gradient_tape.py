"""The way back through a graph: which applications gradients flow through, and what they add up to.

An application with a stable form (`symc.theano.stable`) is walked in that form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.theano.gof.graph import Apply, Variable, general_toposort, io_toposort
from symc.theano.gof.null_type import NullType
from symc.theano.gradient_types import DisconnectedType
from symc.theano.scalar.dtypes import complex_dtypes, discrete_dtypes
from symc.theano.tensor import math


class Tape:
    """The applications on connected ways from targets to outputs, each after those it needs."""

    def __init__(self, outputs: Sequence[Any], targets: Sequence[Any], stop: set[Any]) -> None:
        self.outputs, self.targets, self.stop = list(outputs), set(targets), stop
        # The last variable of a stable form, and the one whose value it has.
        self.stands: dict[Any, Any] = {}
        self.nodes = self._influenced(self._order())

    def _order(self) -> list[Apply]:
        from symc.theano.stable import stable_form

        kept = self.targets | self.stop | set(self.outputs)
        instead: dict[Apply, Apply] = {}

        def entered(variable: Any) -> list[Apply]:
            node = variable.owner
            if node is None or variable in self.stop:
                return []
            if node not in instead:
                form = stable_form(node, kept)
                instead[node] = node if form is None else form.owner
                if form is not None:
                    self.stands[form] = variable
            return [instead[node]]

        def parents(node: Apply) -> list[Apply]:
            return [each for variable in node.inputs for each in entered(variable)]

        return general_toposort([n for each in self.outputs for n in entered(each)], parents)

    def results(self, node: Apply) -> list[Any]:
        """The outputs of an application, as the rest of the graph knows them."""
        return [self.stands.get(each, each) for each in node.outputs]

    def _influenced(self, order: Sequence[Apply]) -> list[Apply]:
        live = set(self.targets)
        forward: set[Apply] = set()
        for node in order:
            pattern = pattern_of(node)
            for position, each in enumerate(self.results(node)):
                if any(v in live and pattern[k][position] for k, v in enumerate(node.inputs)):
                    live.add(each)
                    forward.add(node)
        needed = set(self.outputs)
        found: list[Apply] = []
        for node in reversed(order):
            results = self.results(node)
            if node in forward and any(each in needed for each in results):
                found.append(node)
                pattern = pattern_of(node)
                for position, each in enumerate(node.inputs):
                    ways = zip(pattern[position], results, strict=True)
                    if each in live and any(way and out in needed for way, out in ways):
                        needed.add(each)
        return found[::-1]

    def walk_back(self, bars: dict[Any, Any]) -> None:
        """Adds to `bars` the gradients by what the applications need; those in it stay."""
        fixed = set(bars)
        for node in reversed(self.nodes):
            results = self.results(node)
            given = [bars.get(each) for each in results]
            if all(each is None or isinstance(each.type, DisconnectedType) for each in given):
                continue
            filled = [
                _fitting(each, bar) if bar is not None else DisconnectedType()()
                for each, bar in zip(results, given, strict=True)
            ]
            parts = _parts(node, filled)
            pattern = pattern_of(node)
            for position, (each, part) in enumerate(zip(node.inputs, parts, strict=True)):
                if part is None or isinstance(part.type, DisconnectedType):
                    continue
                if any(pattern[position]) and each not in fixed:
                    bars[each] = added(bars.get(each), _with_dtype(each, part))


def _parts(node: Apply, filled: Sequence[Any]) -> list[Any]:
    null = next((each for each in filled if isinstance(each.type, NullType)), None)
    if null is not None:
        return [null] * node.nin
    parts = list(node.op.L_op(list(node.inputs), list(node.outputs), filled))
    _check_parts(node, parts)
    return parts


def pattern_of(node: Apply) -> list[list[bool]]:
    """For each input, to which outputs it is connected."""
    rule = getattr(node.op, "connection_pattern", None)
    if rule is None:
        return [[True] * node.nout] * node.nin
    found: list[list[bool]] = rule(node)
    if len(found) != node.nin or any(len(each) != node.nout for each in found):
        raise ValueError(f"{node.op}.connection_pattern does not fit {node}")
    return found


def _fitting(output: Any, bar: Any) -> Any:
    """A gradient with the dtype of its output."""
    dtype = getattr(output.type, "dtype", None)
    known = getattr(bar.type, "dtype", None)
    if dtype is None or known is None or dtype in discrete_dtypes or known == dtype:
        return bar
    return bar.astype(dtype)


def _check_parts(node: Apply, parts: Sequence[Any]) -> None:
    if len(parts) != node.nin:
        raise ValueError(f"{node.op} returned wrong number of gradient terms.")
    for position, (each, part) in enumerate(zip(node.inputs, parts, strict=True)):
        if part is None:
            raise TypeError(
                f"{node.op}.grad returned None for input {position}; use "
                "theano.gradient.DisconnectedType()() or zeros"
            )
        if not isinstance(part, Variable):
            raise TypeError(f"{node.op}.grad returned {part!r}, which is no variable")
        dtype = getattr(part.type, "dtype", None)
        if dtype in discrete_dtypes:
            raise TypeError(
                f"{node.op}.grad illegally returned an integer-valued variable. (Input index "
                f"{position}, dtype {dtype})"
            )
        if dtype is not None and part.ndim != each.ndim:
            raise ValueError(
                f"{node.op}.grad returned a term with {part.ndim} dimensions, but {each.ndim} are "
                "required."
            )


def _with_dtype(variable: Any, part: Any) -> Any:
    dtype = getattr(variable.type, "dtype", None)
    known = getattr(part.type, "dtype", None)
    if known is None or dtype is None or dtype in discrete_dtypes or known == dtype:
        return part
    if known in complex_dtypes and dtype not in complex_dtypes:
        return math.cast(math.real(part), dtype)
    return part.astype(dtype)


def added(total: Any, part: Any) -> Any:
    """The sum of what came back so far and one part more."""
    if total is None or isinstance(part.type, NullType):
        return part
    return total if isinstance(total.type, NullType) else total + part


def connected(inputs: Sequence[Any], outputs: Sequence[Any]) -> list[list[bool]]:
    """For each input, which outputs gradients reach it from."""
    found: list[list[bool]] = []
    nodes = io_toposort(inputs, outputs)
    for start in inputs:
        live = {start}
        for node in nodes:
            pattern = pattern_of(node)
            for position, each in enumerate(node.outputs):
                if any(v in live and pattern[k][position] for k, v in enumerate(node.inputs)):
                    live.add(each)
        found.append([each in live for each in outputs])
    return found
