"""The flat index of a matrix's element: ``row*width + column``, as row-major order has it."""

from __future__ import annotations

from symc.codegen.ir import Binary, Expr, Var


def row_of(index: Expr, column: str, width: Expr) -> Expr | None:
    """The row of an index whose column is a variable; None if the index has another form.

    The row may have the variable in it, too: whoever needs that it has not must look.
    """
    match index:
        case Binary("add", Binary("mul", row, stride), Var(name)):
            return row if name == column and stride == width else None
        case _:
            return None
