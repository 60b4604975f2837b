"""What is told of bytes in memory, and stays in vectors of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.ir import Binary, Cast, Const, Expr, Load, Unary, Var
from symc.codegen.passes.kernels.exact_bools import is_of_exact_bytes
from symc.codegen.passes.walk import parts

if TYPE_CHECKING:
    from symc.codegen.emit.expressions import Printer


def is_of_bytes(test: Expr, printer: Printer) -> bool:
    """Whether a test is of numbers from memory that have one or two bytes, and of no others.

    Some must be along the row: what is the same in all of it takes no vectors.
    """
    found = False
    stack = [test]
    while stack:
        node = stack.pop()
        match node:
            case Load(buffer, index, dtype) if dtype.bits <= 16 and buffer not in printer.scalars:
                found |= printer.is_along_row(index)
            case Var(name) if name in printer.bytes:
                found |= name in printer.along_rows
            case Const():
                pass
            case Binary() | Unary() | Cast():
                stack.extend(parts(node))
            case _:
                return False
    return found


def is_logic_of_bytes(value: Expr, printer: Printer) -> bool:
    """Whether a truth value that is stored is that of bytes which are 0 or 1, without a test."""
    if not printer.exact or not printer.in_lanes or printer.packed:
        return False
    varying = printer.along_rows if printer.in_rows else None
    return is_of_exact_bytes(value, printer.exact, varying)
