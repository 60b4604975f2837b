"""packs: neighbouring elements are read and written up to 16 bytes at a time.

``grid i < n: body`` becomes a loop over strips of a few elements, and so do the `lane` loops of
teams. The emitter prints such a strip with one access for the elements of each array that lie next
to each other, where they do and are aligned, and as a plain loop elsewhere. Loops whose work is
mostly arithmetic are left alone: they would not gain.
"""

from __future__ import annotations

from symc.codegen.cost.loops import work
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Const,
    Expr,
    If,
    Let,
    Loop,
    Program,
    Stmt,
    Store,
    const,
)
from symc.codegen.passes.loops.dependence import is_unit
from symc.codegen.passes.strips import strip_mined
from symc.codegen.passes.walk import (
    Block,
    bound,
    collect,
    fresh,
    loads_of,
    map_kernels,
    rebuild_statement,
    substitute,
)

BYTES = 16  # the widest access of a thread
MUCH = 150  # operations on an element; such a loop does not wait for memory
SHORT = 64  # iterations; a shorter loop has nothing to do for most threads already


def packs(program: Program) -> Program:
    """The program with its simple loops over neighbouring elements in packs."""
    return map_kernels(program, lambda kernel: _block(kernel.body, bound(kernel)))


def _block(block: Block, taken: set[str]) -> Block:
    if not any(isinstance(stmt, Loop | If) for stmt in block):
        return block
    return tuple(_statement(stmt, taken) for stmt in block)


def _statement(stmt: Stmt, taken: set[str]) -> Stmt:
    if isinstance(stmt, Loop) and stmt.kind in ("grid", "lane"):
        width = pack_width(stmt)
        if width < 2:
            return stmt
        return strip_mined(stmt, width, stmt.kind, lambda stem: fresh(stem, taken))
    return rebuild_statement(stmt, lambda expr: expr, lambda body: _block(body, taken))


def pack_width(loop: Loop) -> int:
    """How many elements of a loop make a pack; 1 where packs do not pay."""
    if isinstance(loop.extent, Const) and loop.extent.value <= SHORT:
        return 1
    if any(isinstance(stmt, Loop | If | Alloc) for stmt in loop.body):
        return 1
    each = work(Loop(loop.var, const(1), loop.kind, loop.body))
    if not isinstance(each, Const) or each.value > MUCH:
        return 1
    sizes = _unit_sizes(loop)
    return min(8, BYTES // max(sizes)) if sizes else 1


def _unit_sizes(loop: Loop) -> set[int]:
    """The element sizes of the arrays that a loop goes through one element after the other."""
    lets: dict[str, Expr] = {}
    sizes: set[int] = set()
    for stmt in loop.body:
        for load in loads_of(stmt):
            if is_unit(substitute(load.index, lets), loop.var.name):
                sizes.add(load.dtype.bytes)
        match stmt:
            case Let(var, value) if var.dtype.is_integer:
                lets[var.name] = substitute(value, lets)
            case Store(_, index, value) if is_unit(substitute(index, lets), loop.var.name):
                sizes.add(value.dtype.bytes)
            case Accumulate(_, index) if loop.var.name in names_of(index, lets):
                return set()  # an element is read and written by one statement
            case _:
                pass
    return sizes


def names_of(index: Expr, lets: dict[str, Expr]) -> set[str]:
    """The names in an index, named values written out."""
    names: list[str] = []
    collect(substitute(index, lets), names, [])
    return set(names)
