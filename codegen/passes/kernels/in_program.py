"""The expressions of a kernel in names of the program that launches it."""

from __future__ import annotations

from symc.codegen.ir import Expr, Kernel, Launch, Let, Load, Var
from symc.codegen.passes.walk import nodes, rebuild, statements

LONG = 128  # parts; longer expressions are not looked at
UNKNOWN = "?"  # the name of a value that is too long: no size has it


class InProgram:
    """What a launch makes of the expressions of its kernel."""

    def __init__(self, launch: Launch, kernel: Kernel) -> None:
        params = (param.name for param in kernel.params)
        self.buffers = dict(zip(params, launch.buffers, strict=True))
        sizes = (size.name for size in kernel.sizes)
        self.names: dict[str, Expr] = dict(zip(sizes, launch.sizes, strict=True))
        for stmt in statements(kernel.body):
            if isinstance(stmt, Let):
                value = self.of(stmt.value)
                self.names[stmt.var.name] = Var(UNKNOWN, value.dtype) if is_long(value) else value

    def of(self, expr: Expr) -> Expr:
        """The expression over sizes and buffers of the program."""
        if isinstance(expr, Var):
            return self.names.get(expr.name, Var(UNKNOWN, expr.dtype))
        if isinstance(expr, Load):
            buffer = self.buffers.get(expr.buffer, UNKNOWN)
            return Load(buffer, self.of(expr.index), expr.dtype)
        return rebuild(expr, self.of)


def is_long(expr: Expr) -> bool:
    """Whether an expression has too many parts to be looked at."""
    return any(number >= LONG for number, _ in enumerate(nodes(expr)))
