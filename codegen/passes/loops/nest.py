"""Parallel loops each directly around the next: what passes that reorder them work on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symc.codegen.ir import If, Let, Loop, Stmt, Store
from symc.codegen.passes.walk import (
    Block,
    index_names,
    is_plain,
    map_block,
    names_in,
    rebuild_statement,
    substitute,
    unchanged,
)
from symc.codegen.record import record, replace


@record
class LoopNest:
    """Parallel loops from the outside in, the names before each but the first, and the body.

    The extent of each is known outside all of them, so they may stand in any order.
    """

    loops: tuple[Loop, ...]
    before: tuple[tuple[Let, ...], ...]
    body: Block

    @property
    def lets(self) -> tuple[Let, ...]:
        """The names that are given between the loops, which may need variables of loops."""
        return tuple([let for lets in self.before for let in lets])

    def ordered(self, loops: Sequence[Loop]) -> Loop:
        """The same loops in another order, with integers written out and other names inside."""
        values = {name: value for name, value in index_names(self.lets).items() if is_plain(value)}
        others = [let for let in self.lets if let.var.name not in values]
        block = map_block((*others, *self.body), lambda expr: substitute(expr, values))
        for loop in reversed(loops):
            block = (replace(loop, body=block),)
        outermost = block[0]
        assert isinstance(outermost, Loop)
        return outermost


def nest_of(loop: Loop) -> LoopNest | None:
    """The nest that begins with a parallel loop; None if an inner extent needs an outer loop."""
    loops, before = [loop], [tuple[Let, ...]()]
    names = {loop.var.name}
    while loops[-1].body:
        *lets, last = loops[-1].body
        if not isinstance(last, Loop) or last.kind != "parallel":
            break
        named = tuple([stmt for stmt in lets if isinstance(stmt, Let)])
        if len(named) < len(lets):
            break
        names |= {stmt.var.name for stmt in named}
        if not names.isdisjoint(names_in(last.extent)):
            return None
        names.add(last.var.name)
        loops.append(last)
        before.append(named)
    return LoopNest(tuple(loops), tuple(before), loops[-1].body)


def map_nests(block: Block, change: Callable[[LoopNest], Stmt | None]) -> Block:
    """The block with the result of `change` instead of each nest, or the nest where that is None.

    Of nests of several loops whose body does nothing but name values and store them.
    """
    if not any(isinstance(stmt, Loop | If) for stmt in block):
        return block

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop) and stmt.kind == "parallel":
            nest = nest_of(stmt)
            if nest is not None and len(nest.loops) > 1 and stores_alone(nest.body):
                return change(nest) or stmt
        return rebuild_statement(stmt, unchanged, lambda inner: map_nests(inner, change))

    return tuple([statement(stmt) for stmt in block])


def stores_alone(body: Block) -> bool:
    """Whether a block is a list of stores, with names."""
    return all(isinstance(stmt, Let | Store) for stmt in body)
