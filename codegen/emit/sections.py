"""Long kernels in sections: C functions of their own, so that compilers can share a kernel out.

A kernel of thousands of operations is many loops over a strip, one after the other (see
`passes/vectors/distribute.py`). A compiler's time grows faster than the length of a function, and
units (`units.py`) are made of whole functions. So some of these loops at a time become a function,
to which the kernel passes what they need, by the names that it has there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Buffer,
    Combine,
    Kernel,
    Let,
    Loop,
    Param,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.expressions.inline import weight
from symc.codegen.passes.walk import (
    Block,
    blocks,
    collect,
    expressions,
    loads_of,
    statements,
    written,
)
from symc.codegen.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symc.codegen.passes.kernels.calls import LoopForm

LONG = 1000  # operations of loops that follow each other, above which they are sections
SECTION = 500  # operations of a section, at least


@record(eq=False)
class Section:
    """Loops that become a function, and what it needs."""

    loops: tuple[Loop, ...]
    values: tuple[Var, ...]
    buffers: tuple[Buffer | Param, ...]
    writes: frozenset[str]
    """The buffers that it changes."""
    narrow: bool
    """Whether one of the loops is not for the longest vector registers."""


def sections_of(
    kernel: Kernel, ranged: Loop | None, forms: Mapping[str, LoopForm]
) -> tuple[Section, ...]:
    """The sections of a kernel, which does a range of one loop or none; none, if it is short."""
    if sum(map(weight, statements(kernel.body))) <= LONG:
        return ()
    scope = _Scope(kernel, ranged, forms)
    return tuple([section for run in _runs(kernel.body) for section in scope.sections(run)])


def _runs(block: Block) -> Iterator[list[Loop]]:
    """The loops that follow each other, in a block and in those inside it."""
    run: list[Loop] = []
    for stmt in block:
        if isinstance(stmt, Loop):
            run.append(stmt)
        else:
            yield run
            run = []
            for inner in blocks(stmt):
                yield from _runs(inner)
    if len(run) == 1:
        yield from _runs(run[0].body)
    yield run


def _weight_of(loop: Loop) -> int:
    return sum(map(weight, statements((loop,))))


class _Scope:
    """What the names of a kernel stand for."""

    def __init__(self, kernel: Kernel, ranged: Loop | None, forms: Mapping[str, LoopForm]) -> None:
        self.ranged = ranged
        self.forms = forms
        self.buffers: dict[str, Buffer | Param] = {param.name: param for param in kernel.params}
        self.values = {size.name: Var(size.name, INT64) for size in kernel.sizes}
        self.scalars = set[str]()  # variables of the kernel's, which a function cannot change
        for stmt in statements(kernel.body):
            match stmt:
                case Let(var) | Loop(var):
                    self.values[var.name] = var
                case Alloc(buffer) if buffer.shape:
                    self.buffers[buffer.name] = buffer
                case Alloc(buffer):
                    self.scalars.add(buffer.name)
                case _:
                    pass

    def sections(self, run: Sequence[Loop]) -> Iterator[Section]:
        """The sections of loops that follow each other: none, if they are short or only one."""
        if sum(map(_weight_of, run)) <= LONG:
            return
        waiting: list[Loop] = []
        for number, loop in enumerate(run):
            waiting.append(loop)
            is_last = number + 1 == len(run)
            if is_last or sum(map(_weight_of, waiting)) >= SECTION:
                if self._may_stand_alone(waiting):
                    yield self._section(tuple(waiting))
                waiting = []

    def _may_stand_alone(self, loops: Sequence[Loop]) -> bool:
        """Whether these need nothing of the kernel's but values and arrays."""
        if self.ranged is not None and any(loop.var == self.ranged.var for loop in loops):
            return False
        inside = list(statements(tuple(loops)))
        own = {stmt.buffer.name for stmt in inside if isinstance(stmt, Alloc)}
        used = _buffers(inside)
        return (
            not any(isinstance(stmt, Alloc) and stmt.buffer.shape for stmt in inside)
            and not any(isinstance(stmt, Barrier | Combine) for stmt in inside)
            and not any(
                isinstance(stmt, Loop) and self.forms[stmt.var.name].price is not None
                for stmt in inside
            )
            and self.scalars.isdisjoint(set(used) - own)
        )

    def _section(self, loops: tuple[Loop, ...]) -> Section:
        inside = list(statements(loops))
        bound = {stmt.var.name for stmt in inside if isinstance(stmt, Let | Loop)}
        names: list[str] = []
        for stmt in inside:
            for expr in expressions(stmt):
                collect(expr, names, [])
        values = [self.values[name] for name in dict.fromkeys(names) if name not in bound]
        buffers = [self.buffers[name] for name in _buffers(inside) if name in self.buffers]
        narrow = any(isinstance(s, Loop) and self.forms[s.var.name].narrow for s in inside)
        return Section(loops, tuple(values), tuple(buffers), written(loops), narrow)


def _buffers(inside: Sequence[Stmt]) -> dict[str, None]:
    """The buffers that statements read or change, in order of appearance."""
    used: dict[str, None] = {}
    for stmt in inside:
        used |= dict.fromkeys(load.buffer for load in loads_of(stmt))
        if isinstance(stmt, Store | Accumulate):
            used[stmt.buffer] = None
    return used
