"""split: loops that follow each other in a kernel become kernels of their own.

On a processor they share a function; on a device each wants a grid of threads of its own, and the
launch of the next kernel makes everyone wait for the last one. Statements that share a local
buffer, or a value that later statements overwrite, stay together. So do neighbours that have no
loop over independent iterations: one team runs them one after the other. Remains of loops
without iterations is not launched.
"""

from __future__ import annotations

from symc.codegen.blocks import map_steps
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Combine,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Param,
    Program,
    Step,
    Stmt,
    Store,
)
from symc.codegen.passes.walk import (
    Block,
    collect,
    expressions,
    fresh,
    statements,
    with_body,
    written,
)
from symc.codegen.record import replace


def split(program: Program) -> Program:
    """The program with kernels of one loop each, as far as dependences allow."""
    taken = {kernel.name for kernel in program.kernels}
    pieces: dict[str, tuple[Kernel, ...]] = {}
    for kernel in program.kernels:
        bodies = _bodies(kernel.body, {size.name for size in kernel.sizes})
        if len(bodies) == 1:
            pieces[kernel.name] = (kernel,)
            continue
        names = [kernel.name, *(fresh(kernel.name, taken) for _ in bodies[1:])][: len(bodies)]
        pieces[kernel.name] = tuple(
            Kernel(name, kernel.params, kernel.sizes, body, kernel.note)
            for name, body in zip(names, bodies, strict=True)
        )

    def launches(step: Step) -> list[Step]:
        if not isinstance(step, Launch):
            return [step]
        return [launch_of(step, piece) for piece in pieces[step.kernel]]

    steps = map_steps(program.steps, launches)
    kernels = tuple(trimmed(piece) for found in pieces.values() for piece in found)
    return replace(program, kernels=kernels, steps=steps)


def _bodies(body: Block, sizes: set[str]) -> list[Block]:
    """The statements of a kernel in groups that can run one launch after the other."""
    named: dict[str, Let] = {}  # arithmetic on sizes, which every group may repeat
    groups: list[list[Stmt]] = []
    stmts: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Let) and names_of(stmt) <= sizes | named.keys():
            named[stmt.var.name] = stmt
        else:
            stmts.append(stmt)
    last = _last_uses(stmts)
    end = -1  # the last position that uses a declared name
    for position, stmt in enumerate(stmts):
        if position > end:
            groups.append([])
        groups[-1].append(stmt)
        end = max(end, last.get(position, position))
    merged: list[list[Stmt]] = []
    for group in groups:
        if merged and not _is_wide(group) and not _is_wide(merged[-1]):
            merged[-1] += group
        else:
            merged.append(group)
    return [_with_names(group, named) for group in merged]


def _is_wide(group: list[Stmt]) -> bool:
    """Whether a group is worth a grid: one loop over independent iterations."""
    return len(group) == 1 and isinstance(group[0], Loop) and group[0].kind == "parallel"


def _last_uses(stmts: list[Stmt]) -> dict[int, int]:
    """The position of the last use of each statement's declarations."""
    declared: dict[str, int] = {}
    last: dict[int, int] = {}
    for position, stmt in enumerate(stmts):
        for name in names_of(stmt):
            if name in declared:
                last[declared[name]] = position
        match stmt:
            case Alloc(buffer):
                declared[buffer.name] = position
            case Let(var):
                declared[var.name] = position
            case _:
                pass
    return last


def names_of(stmt: Stmt) -> set[str]:
    """Every variable and buffer that a statement mentions, the blocks in it included."""
    found: set[str] = set()
    for inner in statements((stmt,)):
        if isinstance(inner, Store | Accumulate | Combine):
            found.add(inner.buffer)
        names: list[str] = []
        loads: list[Load] = []
        for expr in expressions(inner):
            collect(expr, names, loads)
        found.update(names, (load.buffer for load in loads))
    return found


def _with_names(group: list[Stmt], named: dict[str, Let]) -> Block:
    """The group after the values that it uses."""
    wanted: set[str] = set()
    for stmt in group:
        wanted |= names_of(stmt)
    before: list[Stmt] = []
    for name, let in reversed(named.items()):
        if name in wanted:
            before.append(let)
            wanted |= names_of(let)
    return (*reversed(before), *group)


def launch_of(step: Launch, piece: Kernel) -> Launch:
    """The launch of a piece, with those arguments that it uses."""
    used = _used(piece)
    buffers = [b for p, b in zip(piece.params, step.buffers, strict=True) if p.name in used]
    sizes = [v for s, v in zip(piece.sizes, step.sizes, strict=True) if s.name in used]
    return Launch(piece.name, tuple(buffers), tuple(sizes))


def trimmed(piece: Kernel) -> Kernel:
    """The piece with those parameters that it uses."""
    used, stores = _used(piece), written(piece.body)
    params = [Param(p.name, p.dtype, p.name in stores) for p in piece.params if p.name in used]
    sizes = [size for size in piece.sizes if size.name in used]
    return with_body(replace(piece, params=tuple(params), sizes=tuple(sizes)), piece.body)


def _used(piece: Kernel) -> set[str]:
    found: set[str] = set()
    for stmt in piece.body:
        found |= names_of(stmt)
    return found
