"""Lengths of a program written out: in those of its arguments, and those that it measures."""

from __future__ import annotations

from symc.codegen.ir import Expr, Length, Program
from symc.codegen.passes.walk import nodes, substitute


class GivenLengths:
    """What the sizes of a program follow from."""

    def __init__(self, program: Program) -> None:
        self._values = [
            {size.var.name: size.value}
            for size in reversed(program.sizes)
            if size.value is not None and not any(isinstance(n, Length) for n in nodes(size.value))
        ]

    def written_out(self, expr: Expr) -> Expr:
        """An expression without the names of sizes that follow from others."""
        for value in self._values:
            expr = substitute(expr, value)
        return expr
