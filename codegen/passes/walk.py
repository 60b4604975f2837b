"""Walks over expressions and statements that the passes share.

Every function that rebuilds returns the same object where nothing changed, so that a pass costs
little where it has nothing to do. Expressions are walked recursively: they are a few hundred deep
at most. Blocks are walked by iteration. Walks of whole programs ask for names and for operations on
two values first, by ``type``, which is faster than ``match``: they are nine tenths of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import is_
from typing import assert_never

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Buffer,
    Call,
    Cast,
    Combine,
    Const,
    Expr,
    If,
    Kernel,
    Length,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
)
from symc.codegen.passes.strips import expressions_of, map_cut

Block = tuple[Stmt, ...]


def parts(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands of an expression."""
    if type(expr) is Binary:
        return (expr.left, expr.right)
    match expr:
        case Var() | Const() | Length():
            return ()
        case Binary(_, left, right):
            return (left, right)
        case Load(_, index):
            return (index,)
        case Unary(_, x) | Cast(x):
            return (x,)
        case Call(_, args):
            return args
        case Select(condition, then, otherwise):
            return (condition, then, otherwise)
        case _:
            assert_never(expr)


def rebuild(expr: Expr, visit: Callable[[Expr], Expr]) -> Expr:
    """The expression with `visit` applied to its direct operands."""
    match expr:
        case Var() | Const() | Length():
            return expr
        case Binary(op, left, right, dtype):
            new_left, new_right = visit(left), visit(right)
            same = new_left is left and new_right is right
            return expr if same else Binary(op, new_left, new_right, dtype)
        case Load(buffer, index, dtype):
            new = visit(index)
            return expr if new is index else Load(buffer, new, dtype)
        case Unary(op, x, dtype):
            new = visit(x)
            return expr if new is x else Unary(op, new, dtype)
        case Cast(x, dtype):
            new = visit(x)
            return expr if new is x else Cast(new, dtype)
        case Call(function, args, dtype):
            new_args = tuple(map(visit, args))
            return expr if _same(new_args, args) else Call(function, new_args, dtype)
        case Select(condition, then, otherwise, dtype):
            old = (condition, then, otherwise)
            new_condition, new_then, new_otherwise = news = tuple(map(visit, old))
            same = _same(news, old)
            return expr if same else Select(new_condition, new_then, new_otherwise, dtype)
        case _:
            assert_never(expr)


def rebuild_statement(
    stmt: Stmt, visit: Callable[[Expr], Expr], block: Callable[[Block], Block]
) -> Stmt:
    """The statement with `visit` applied to its expressions and `block` to its blocks."""
    match stmt:
        case Let(var, value):
            new = visit(value)
            return stmt if new is value else Let(var, new)
        case Store(buffer, index, value):
            i, v = visit(index), visit(value)
            return stmt if i is index and v is value else Store(buffer, i, v)
        case Accumulate(buffer, index, op, value, atomic):
            i, v = visit(index), visit(value)
            return stmt if i is index and v is value else Accumulate(buffer, i, op, v, atomic)
        case Loop(var, extent, kind, body, note, cut):
            e, b, c = visit(extent), block(body), map_cut(cut, visit)
            same = e is extent and b is body and c is cut
            return stmt if same else Loop(var, e, kind, b, note, c)
        case If(condition, then, otherwise):
            new, t, o = visit(condition), block(then), block(otherwise)
            same = new is condition and t is then and o is otherwise
            return stmt if same else If(new, t, o)
        case Alloc(buffer, value):
            shape = tuple(map(visit, buffer.shape))
            first = None if value is None else visit(value)
            if _same(shape, buffer.shape) and first is value:
                return stmt
            return Alloc(Buffer(buffer.name, buffer.dtype, shape, buffer.role), first)
        case Barrier() | Combine():
            return stmt
        case _:
            assert_never(stmt)


def unchanged(expr: Expr) -> Expr:
    """An expression as it is, for walks that change statements alone."""
    return expr


def map_block(block: Block, visit: Callable[[Expr], Expr]) -> Block:
    """The block with `visit` applied to every expression in it, at any depth."""

    def inner(body: Block) -> Block:
        new = tuple([rebuild_statement(stmt, visit, inner) for stmt in body])
        return body if _same(new, body) else new

    return inner(block)


def map_kernels(program: Program, change: Callable[[Kernel], Block]) -> Program:
    """The program with each kernel's body replaced by the result of `change` on the kernel."""
    kernels = tuple([with_body(kernel, change(kernel)) for kernel in program.kernels])
    if _same(kernels, program.kernels):
        return program
    return Program(program.name, program.sizes, program.buffers, kernels, program.steps)


def with_body(kernel: Kernel, body: Block) -> Kernel:
    """The kernel with another body."""
    if body is kernel.body:
        return kernel
    return Kernel(kernel.name, kernel.params, kernel.sizes, body, kernel.note)


def nodes(expr: Expr) -> Iterator[Expr]:
    """All nodes of an expression."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(parts(node))


def divides(node: Expr) -> bool:
    """Whether a node is a division of integers, or its remainder."""
    return isinstance(node, Binary) and node.op in ("floordiv", "mod") and node.dtype.is_integer


def is_plain(expr: Expr) -> bool:
    """Whether an expression is short and touches no memory: harmless to evaluate twice."""
    stack, budget = [expr], 12
    while stack:
        node = stack.pop()
        budget -= 1
        if budget < 0 or isinstance(node, Load | Call):
            return False
        stack.extend(parts(node))
    return True


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """The expression with names replaced by expressions."""
    if type(expr) is Var:
        return values.get(expr.name, expr)
    return rebuild(expr, lambda part: substitute(part, values))


def expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions of a statement itself, not those of the blocks in it."""
    match stmt:
        case Let(_, value):
            return (value,)
        case Store(_, index, value):
            return (index, value)
        case Accumulate(_, index, _, value):
            return (index, value)
        case Loop(extent=extent, cut=cut):
            return (extent, *expressions_of(cut))
        case If(condition):
            return (condition,)
        case Alloc(buffer, value):
            return buffer.shape if value is None else (value,)
        case Barrier() | Combine():
            return ()
        case _:
            assert_never(stmt)


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks inside a statement."""
    match stmt:
        case Loop(body=body):
            return (body,)
        case If(_, then, otherwise):
            return (then, otherwise)
        case Let() | Store() | Accumulate() | Alloc() | Barrier() | Combine():
            return ()
        case _:
            assert_never(stmt)


def statements(block: Block) -> Iterator[Stmt]:
    """Every statement of a block and of the blocks inside it, in order of appearance."""
    for stmt in block:
        yield stmt
        if type(stmt) is not Let:
            for inner in blocks(stmt):
                yield from statements(inner)


def collect(expr: Expr, names: list[str], loads: list[Load]) -> None:
    """Append the names and the loads that occur in an expression."""
    if type(expr) is Var:
        names.append(expr.name)
    elif type(expr) is Binary:
        collect(expr.left, names, loads)
        collect(expr.right, names, loads)
    elif type(expr) is Load:
        loads.append(expr)
        collect(expr.index, names, loads)
    elif type(expr) is not Const:
        for part in parts(expr):
            collect(part, names, loads)


def loads_of(stmt: Stmt) -> list[Load]:
    """The loads in the expressions of a statement itself, not those in the blocks in it."""
    loads: list[Load] = []
    for expr in expressions(stmt):
        collect(expr, [], loads)
    return loads


def index_names(block: Block) -> dict[str, Expr]:
    """The integers that a block names, written out."""
    found: dict[str, Expr] = {}
    for stmt in block:
        if isinstance(stmt, Let) and stmt.var.dtype.is_integer:
            found[stmt.var.name] = substitute(stmt.value, found)
    return found


def names_in(expr: Expr) -> frozenset[str]:
    """The names that occur in an expression."""
    names: list[str] = []
    collect(expr, names, [])
    return frozenset(names)


def written(block: Block) -> frozenset[str]:
    """The buffers that a block stores to, those it declares itself included."""
    return frozenset(
        stmt.buffer for stmt in statements(block) if isinstance(stmt, Store | Accumulate | Combine)
    )


def bound(kernel: Kernel) -> set[str]:
    """Every name a kernel binds: parameters, sizes, loop variables, values and local buffers."""
    names = {param.name for param in kernel.params} | {size.name for size in kernel.sizes}
    for stmt in statements(kernel.body):
        match stmt:
            case Let(var) | Loop(var):
                names.add(var.name)
            case Alloc(buffer):
                names.add(buffer.name)
            case If() | Store() | Accumulate() | Barrier() | Combine():
                pass
            case _:
                assert_never(stmt)
    return names


def fresh(base: str, taken: set[str]) -> str:
    """A name like `base` that is not taken yet. It is taken from now on."""
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    taken.add(name)
    return name


def own_names(block: Block, taken: set[str], names: Mapping[str, Expr] | None = None) -> Block:
    """The block with names of its own for what it names, and others as they are given."""
    known = dict(names or {})

    def own(var: Var) -> Var:
        new = Var(fresh(var.name, taken), var.dtype)
        known[var.name] = new
        return new

    def visit(expr: Expr) -> Expr:
        return substitute(expr, known)

    def statement(stmt: Stmt) -> Stmt:
        match stmt:
            case Let(var, value):
                moved = visit(value)
                return Let(own(var), moved)
            case Loop(var, extent, kind, body, note, cut):
                length, part = visit(extent), map_cut(cut, visit)
                return Loop(own(var), length, kind, inner(body), note, part)
            case _:
                return rebuild_statement(stmt, visit, inner)

    def inner(body: Block) -> Block:
        return tuple([statement(stmt) for stmt in body])

    return inner(block)


def _same(new: Iterable[object], old: Iterable[object]) -> bool:
    return all(map(is_, new, old))
