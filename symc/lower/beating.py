"""What the loops that find extremes share: when an element takes the place of the best so far."""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen import ir
from symc.codegen.dtypes import BOOL, DType
from symc.graph.lowering import Fold

NEVER = ir.const(2**63 - 1)
ZERO = ir.const(0)


def beats(fold: Fold, value: ir.Expr, best: ir.Expr) -> ir.Expr:
    """Whether a value takes the place of the best so far."""
    if not fold.dtype.is_float:
        return ir.binary("gt" if fold.op == "max" else "lt", value, best)
    loses = ir.binary("le" if fold.op == "max" else "ge", value, best)
    fixed = ir.Call("isnan", (best,), BOOL)
    return ir.binary("and", ir.Unary("not", loses, BOOL), ir.Unary("not", fixed, BOOL))


def local(name: str, dtype: DType, *shape: ir.Expr) -> ir.Alloc:
    """The declaration of local memory."""
    return ir.Alloc(ir.Buffer(name, dtype, shape, "local"))


def is_loaded(value: ir.Expr, block: Sequence[ir.Stmt]) -> bool:
    """Whether a value is an element of a buffer, perhaps under a name that the block gives it."""
    match block:
        case (ir.Let(var, named),) if var == value:
            value = named
        case _ if block:
            return False
        case _:
            pass
    return isinstance(value, ir.Load)
