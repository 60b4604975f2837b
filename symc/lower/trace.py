"""Runs ops' readers: turns "element (i, j) of this node" into an expression over stored elements.

Works on an explicit stack, so chains of a million ops need no deep Python stack.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

from symc.codegen import ir
from symc.graph.inputs import Constant
from symc.graph.lowering import At, Index, Lowering, Read
from symc.graph.node import Tensor
from symc.tensor.elementwise import Elementwise, project

Key = tuple[Tensor, Index]


class Tracer:
    """Expressions of elements, each computed once.

    `stored` gives the element of a node that is kept in memory (or None for nodes computed where
    they are used); `name` is told each newly computed element, and may give it a name.
    """

    def __init__(
        self,
        lowerings: Mapping[Tensor, Lowering],
        stored: Callable[[Tensor, Index], ir.Expr | None],
        name: Callable[[Tensor, Index, ir.Expr], ir.Expr],
    ) -> None:
        self._lowerings = lowerings
        self._stored = stored
        self._name = name
        self.memo: dict[Key, ir.Expr] = {}

    def element(self, node: Tensor, index: Index) -> ir.Expr:
        """The element of any node, stored or not."""
        found = self.find(node, index)
        return found if found is not None else self._compute(node, index)

    def _compute(self, node: Tensor, index: Index) -> ir.Expr:
        lowering = self._lowerings[node]
        assert isinstance(lowering, At), f"{node!r} must be stored before it is read"
        expression: ir.Expr = self.run(node, lowering.element(index))
        return self._finish((node, index), expression)

    def run(self, node: Tensor, reader: Generator[Read, ir.Expr, Any]) -> Any:
        """What a reader of `node`'s arguments returns, every read answered."""
        stack: list[tuple[Key, Generator[Read, ir.Expr, Any] | None]] = [((node, ()), reader)]
        answer: Any = None
        while True:
            key, active = stack[-1]
            current = key[0]
            if active is None:
                missing = self.elementwise(key)
                if missing is None:
                    stack.pop()
                    answer = self.memo[key]
                else:
                    stack.append((missing, self._reader(*missing)))
                    answer = None
                continue
            try:
                request = next(active) if answer is None else active.send(answer)
            except StopIteration as stop:
                key, _ = stack.pop()
                if not stack:
                    return stop.value
                answer = self._finish(key, stop.value)
                continue
            arg = current.args[request.arg]
            answer = self.find(arg, request.index)
            if answer is None:
                stack.append(((arg, request.index), self._reader(arg, request.index)))

    def elementwise(self, key: Key) -> Key | None:
        """Computes an elementwise node's element, or says which argument's must come first.

        What `Elementwise` would do with a reader, at half the cost: most nodes are elementwise.
        """
        node, index = key
        values: list[ir.Expr] = []
        for arg in node.args:
            place = project(index, arg.type.shape)
            value = self.find(arg, place)
            if value is None:
                return arg, place
            values.append(value)
        assert isinstance(node.op, Elementwise)
        self._finish(key, node.op.scalar(values))
        return None

    def find(self, node: Tensor, index: Index) -> ir.Expr | None:
        """An element that is constant, named already, or stored; else None."""
        if isinstance(node.op, Constant) and not node.type.shape:
            return ir.number(node.op.value.item(), node.type.dtype)
        found = self.memo.get((node, index))
        if found is None:
            found = self._stored(node, index)
            if found is not None:
                self.memo[node, index] = found
        return found

    def _reader(self, node: Tensor, index: Index) -> Generator[Read, ir.Expr, Any] | None:
        if isinstance(node.op, Elementwise):
            return None
        lowering = self._lowerings[node]
        assert isinstance(lowering, At), f"{node!r} must be stored before it is read"
        return lowering.element(index)

    def _finish(self, key: Key, expression: ir.Expr) -> ir.Expr:
        named = self._name(*key, expression)
        self.memo[key] = named
        return named
