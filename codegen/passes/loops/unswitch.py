"""unswitch: a loop whose selections ask the same in all iterations becomes one for each answer.

    for j in parallel(n): y[i*n + j] = c ? exp(x[i*n + j]) : x[i*n + j]

    if c:
      for j in parallel(n): y[i*n + j] = exp(x[i*n + j])
    else:
      for j in parallel(n): y[i*n + j] = x[i*n + j]

A selection computes both of its sides. Where one costs much more than the other, as a function of
all elements of those rows alone that a mask has chosen, a branch for each row saves it. So it does
where one side leaves the elements of an array that is overwritten as they are: then that side is
empty. Elements
that the condition loads are asked of loops that run at all: others may have none. Loops of the
outermost level, which threads share out, stay.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from operator import is_

from symc.codegen.cost.loops import work_of_block
from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    binary,
    const,
)
from symc.codegen.passes.expressions.inline import weight
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    map_block,
    map_kernels,
    names_in,
    nodes,
    own_names,
    rebuild,
    rebuild_statement,
    statements,
    written,
)

SAVED = 10  # operations of an iteration, from which a branch that is guessed wrong costs less
SHORT = 16  # iterations, fewer of which may be written out, and fill registers of the loop around
LONG = 100  # operations of a body that is not written twice


def unswitch(program: Program) -> Program:
    """The program with such loops under a condition."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    exprs = [expr for stmt in statements(kernel.body) for expr in expressions(stmt)]
    if not any(isinstance(node, Select) for expr in exprs for node in nodes(expr)):
        return kernel.body
    taken = bound(kernel)

    def block(body: Block, *, is_inside: bool) -> Block:
        new = tuple([statement(stmt, is_inside=is_inside) for stmt in body])
        return body if all(map(is_, new, body)) else new

    def statement(stmt: Stmt, *, is_inside: bool) -> Stmt:
        if isinstance(stmt, Loop):
            branches = _branches(stmt, taken) if is_inside else None
            is_inside = True
            if branches is not None:
                return branches
        return rebuild_statement(stmt, lambda expr: expr, partial(block, is_inside=is_inside))

    return block(kernel.body, is_inside=False)


def _branches(loop: Loop, taken: set[str]) -> If | None:
    """The loop for either answer, if one of them saves enough."""
    body = loop.body
    if loop.cut is not None or not all(isinstance(s, Let | Store | Accumulate) for s in body):
        return None
    if isinstance(loop.extent, Const) and loop.extent.value < SHORT:
        return None
    if sum(map(weight, body)) > LONG:
        return None
    for condition in _conditions(loop):
        then, otherwise = (_answered(body, condition, answer) for answer in (True, False))
        saved = _work(body) - min(_work(then), _work(otherwise))
        if saved >= SAVED or not (then and otherwise):
            first, second = (
                (Loop(loop.var, loop.extent, loop.kind, side, loop.note),) if side else ()
                for side in (then, otherwise)
            )
            branches = _either(condition, first, own_names(second, taken))
            runs = binary("lt", const(0), loop.extent)
            return If(runs, (branches,), ()) if _loads(condition) else branches
    return None


def _conditions(loop: Loop) -> dict[Expr, None]:
    """What selections in a loop ask, if that is the same in all iterations."""
    varying = {loop.var.name} | {stmt.var.name for stmt in loop.body if isinstance(stmt, Let)}
    stored, found = written(loop.body), dict[Expr, None]()
    for stmt in loop.body:
        for expr in expressions(stmt):
            for node in nodes(expr):
                condition = node.condition if isinstance(node, Select) else loop.var
                is_same = names_in(condition) and varying.isdisjoint(names_in(condition))
                if is_same and stored.isdisjoint(_loads(condition)):
                    found[condition] = None
    return found


def _loads(expr: Expr) -> list[str]:
    """The buffers that an expression loads from."""
    return [node.buffer for node in nodes(expr) if isinstance(node, Load)]


def _answered(body: Block, condition: Expr, answer: bool) -> Block:
    """The body where the condition is known, without what nothing needs then."""

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Select) and expr.condition == condition:
            return visit(expr.then if answer else expr.otherwise)
        return rebuild(expr, visit)

    chosen = map_block(body, visit)
    values = {stmt.var: stmt.value for stmt in chosen if isinstance(stmt, Let)}
    times = Counter(stmt.buffer for stmt in chosen if isinstance(stmt, Store | Accumulate))
    kept: list[Stmt] = []
    used: set[str] = set()
    for stmt in reversed(chosen):
        if isinstance(stmt, Store) and times[stmt.buffer] == 1:
            value = (
                values.get(stmt.value, stmt.value) if isinstance(stmt.value, Var) else stmt.value
            )
            if value == Load(stmt.buffer, stmt.index, value.dtype):
                continue  # it stays as it is
        if not isinstance(stmt, Let) or stmt.var.name in used:
            kept.append(stmt)
            used.update(name for expr in expressions(stmt) for name in names_in(expr))
    return tuple(reversed(kept))


def _either(condition: Expr, then: Block, otherwise: Block) -> If:
    """A branch whose first side is not empty."""
    if not then:
        return If(Unary("not", condition, BOOL), otherwise, ())
    return If(condition, then, otherwise)


def _work(body: Block) -> int:
    """Roughly how many operations an iteration takes."""
    found = work_of_block(body, {})
    assert isinstance(found, Const)
    return int(found.value)
