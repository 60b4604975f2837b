"""Function graphs, as far as programs read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.theano.gof.graph import Apply, Variable, clone_get_equiv, io_toposort, variables


class MissingInputError(Exception):
    """A graph needs an input that is not given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.variable = kwargs.pop("variable", None)
        super().__init__(*args)


class InconsistencyError(Exception):
    """A graph was changed into one that is not allowed."""


class FunctionGraph:
    """The graph between inputs and outputs; by default a copy of it."""

    def __init__(
        self, inputs: Sequence[Any], outputs: Sequence[Any], features: Any = None,
        clone: bool = True, update_mapping: Any = None,
    ) -> None:  # fmt: skip
        del features
        if clone:
            memo = clone_get_equiv(inputs, outputs)
            inputs, outputs = [memo[i] for i in inputs], [memo[o] for o in outputs]
        self.inputs: list[Variable] = list(inputs)
        self.outputs: list[Variable] = list(outputs)
        self.update_mapping = update_mapping

    @property
    def apply_nodes(self) -> set[Apply]:
        """All applications."""
        return set(self.toposort())

    @property
    def variables(self) -> set[Variable]:
        """All variables."""
        return set(variables(self.inputs, self.outputs))

    def toposort(self) -> list[Apply]:
        """The applications, each after those it depends on."""
        return io_toposort(self.inputs, self.outputs)

    def clients(self, variable: Variable) -> list[tuple[Any, int]]:
        """Where a variable is used: pairs of an application, or "output", and a position."""
        found: list[tuple[Any, int]] = [
            (node, position)
            for node in self.toposort()
            for position, each in enumerate(node.inputs)
            if each is variable
        ]
        ends = enumerate(self.outputs)
        return found + [("output", position) for position, each in ends if each is variable]

    def clone(self) -> FunctionGraph:
        """A copy of the whole graph."""
        return FunctionGraph(self.inputs, self.outputs)

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.toposort()))}]"
