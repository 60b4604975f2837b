"""unroll: short loops inside vector loops are written out.

gcc vectorises a loop around others only if it unrolls those first, and at -O1 it does that too
late. Without them the loop is one straight line, which it does vectorise. A loop that would become
too long stays a loop.
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.ir import Alloc, Binary, Const, Expr, If, Kernel, Let, Loop, Program, Stmt, Var
from symc.codegen.passes.expressions.fold import fold
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    map_kernels,
    rebuild,
    rebuild_statement,
    statements,
)

MOST = 64  # statements that a vector loop may have once all is written out


def unroll(program: Program) -> Program:
    """The program without `unroll` loops in its vector loops, except long ones."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    if not any(map(_worthwhile, statements(kernel.body))):
        return kernel.body
    taken = bound(kernel)

    def block(body: Block) -> Block:
        return tuple([statement(stmt) for stmt in body])

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop) and _worthwhile(stmt):
            body = _written_out(stmt.body, {}, taken)
            return Loop(stmt.var, stmt.extent, stmt.kind, body, stmt.note, stmt.cut)
        return rebuild_statement(stmt, lambda expr: expr, block)

    return block(kernel.body)


def _worthwhile(stmt: Stmt) -> bool:
    """Whether this is a vector loop with others in it that are short enough."""
    if not isinstance(stmt, Loop) or stmt.kind != "vector":
        return False
    inner = [each for each in statements(stmt.body) if isinstance(each, Loop)]
    own = any(isinstance(each, Alloc) for loop in inner for each in statements(loop.body))
    return bool(inner) and not own and _length(stmt.body) <= MOST


def _length(block: Block) -> int:
    """How many statements a block has once its loops are written out."""
    total = 0
    for stmt in block:
        match stmt:
            case Loop(_, Const(extent), _, body):
                total += int(extent) * _length(body)
            case Loop() | If():
                total += MOST + 1
            case _:
                total += 1
    return total


def _written_out(block: Block, values: Mapping[str, Expr], taken: set[str]) -> Block:
    """The statements with these values for names, loops written out, and new names for the values
    they name: every copy has its own.
    """
    known = dict(values)

    def visit(expr: Expr) -> Expr:
        if type(expr) is Var:
            return known.get(expr.name, expr)
        new = rebuild(expr, visit)
        return fold(new, {}) if type(new) is Binary else new

    out: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Loop(var, Const(extent), _, body):
                for number in range(int(extent)):
                    out += _written_out(body, {**known, var.name: Const(number)}, taken)
            case Let(var, value) if values:
                new = Var(fresh(var.name, taken), var.dtype)
                out.append(Let(new, visit(value)))
                known[var.name] = new
            case _:
                out.append(rebuild_statement(stmt, visit, lambda inner: inner))
    return tuple(out)
