"""Both sides of an integer choice that no processor foresees are computed before what decides it.

    let below = x[m] < v                      let after = apart(m + 1)
    store low: below ? m + 1 : low            let below = x[m] < v
                                              store low: below ? after : low

Compilers make branches of choices whose sides are computed, and processors go the wrong way half of
the time: nothing foresees the bits of a number, as in ``k & 1 ? 3*k + 1 : k >> 1``, nor on which
side of the middle a search goes on. A binary search takes half the time without. Of a side that is
a number as it stands, compilers choose the register by themselves; what stands between two choices
by one condition they do twice, in branches again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial

from symc.codegen.dtypes import INT64
from symc.codegen.ir import Binary, Call, Const, Expr, Kernel, Let, Load, Program, Select, Var
from symc.codegen.passes.kernels.inlined import inlined_kernels
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    fresh,
    map_kernels,
    names_in,
    nodes,
    parts,
    rebuild,
    rebuild_statement,
    statements,
    written,
)


def unforeseen(program: Program) -> Program:
    """The program, in which such sides are computed before."""
    short = inlined_kernels(program)
    if not short:
        return program
    return map_kernels(
        program,
        lambda kernel: (
            _UnforeseenChoices(kernel).block(kernel.body) if kernel.name in short else kernel.body
        ),
    )


class _UnforeseenChoices:
    """The choices of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._taken = bound(kernel)
        self._names = {s.var.name: s.value for s in statements(kernel.body) if isinstance(s, Let)}
        self._used = Counter(
            node.name
            for stmt in statements(kernel.body)
            for expr in expressions(stmt)
            for node in nodes(expr)
            if isinstance(node, Var)
        )

    def block(self, block: Block) -> Block:
        """The statements, with what is computed before some of them."""
        before = defaultdict[int, list[Let]](list)
        changed = [
            rebuild_statement(stmt, partial(self._visit, block, position, before), self.block)
            for position, stmt in enumerate(block)
        ]
        if not before and all(new is old for new, old in zip(changed, block, strict=True)):
            return block
        return tuple(new for at, stmt in enumerate(changed) for new in (*before[at], stmt))

    def _visit(self, block: Block, position: int, before: dict[int, list[Let]], expr: Expr) -> Expr:
        if not isinstance(expr, Select) or not self._is_unforeseen(expr):
            return rebuild(expr, partial(self._visit, block, position, before))
        first = _decided(expr.condition, block, position)

        def computed(side: Expr) -> Expr:
            if self._is_there(side):
                return side
            apart = Call("apart", (side,), INT64)
            if not _is_known(side, block, first, position):
                return apart
            name = Var(fresh("side", self._taken), INT64)
            before[first].append(Let(name, apart))
            return name

        return Select(expr.condition, computed(expr.then), computed(expr.otherwise), INT64)

    def _is_there(self, side: Expr) -> bool:
        """Whether a side is a number as it stands: a name of what only this choice needs is not.

        What is made of elements is no place to go on at: nothing waits for it as long.
        """
        if any(
            isinstance(node, Load) and not isinstance(node.index, Const) for node in nodes(side)
        ):
            return True
        if isinstance(side, Var) and side.name in self._names:
            return self._used[side.name] > 1 or isinstance(self._names[side.name], Load)
        return isinstance(side, Var | Load | Const)

    def _is_unforeseen(self, choice: Select) -> bool:
        """Whether the bits of a number decide, or an element at a place that is itself data.

        Of a number that is changed or left as it is, compilers make arithmetic by themselves.
        """
        then, other = choice.then, choice.otherwise
        if choice.dtype is not INT64 or then in nodes(other) or other in nodes(then):
            return False
        match choice.condition:
            case Binary("eq" | "ne", Binary("band" | "mod", _, Const()), Const()):
                return True
            case condition:
                return any(map(self._is_of_found, self._all(condition)))

    def _is_of_found(self, expr: Expr) -> bool:
        """Whether this asks how large such an element is."""
        if not isinstance(expr, Binary) or expr.op not in ("lt", "le", "gt", "ge"):
            return False
        return any(
            isinstance(part, Load) and any(isinstance(n, Load) for n in self._all(part.index))
            for part in self._all(expr)
        )

    def _all(self, expr: Expr) -> Iterator[Expr]:
        """The nodes of an expression, and once each those of the names in it."""
        seen = set[str]()
        stack = [expr]
        while stack:
            node = stack.pop()
            yield node
            if not isinstance(node, Var):
                stack.extend(parts(node))
            elif node.name in self._names and node.name not in seen:
                seen.add(node.name)
                stack.append(self._names[node.name])


def _decided(condition: Expr, block: Block, position: int) -> int:
    """Which statement of the block computes a condition, for the one at this position."""
    for at, stmt in enumerate(block[:position]):
        if isinstance(stmt, Let) and stmt.var == condition:
            return at
    return position


def _is_known(side: Expr, block: Block, first: int, position: int) -> bool:
    """Whether a side can be computed before the first of two statements, instead of in the last."""
    between = block[first:position]
    named = {stmt.var.name for stmt in between if isinstance(stmt, Let)}
    read = {node.buffer for node in nodes(side) if isinstance(node, Load)}
    return named.isdisjoint(names_in(side)) and written(between).isdisjoint(read)
