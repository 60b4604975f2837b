"""guards: in the steps of a loop, indexes are checked by the loop that reads at them.

A gather of a piece of an array of indexes checks all of them first, as nothing may be read outside
of an array. For the few that a step of a loop has, the loop that does so, its result in memory and
a second loop take longer than the work. So one loop does both, and reads under the condition:

    for i in m: ok and= 0 <= x[i + a] < n             ok = true
    check ok                                          for i in k:
    for i in k: acc += z[i + b] * y[x[i + a]]             if 0 <= x[i + a] < n: acc += ...
                                                          else: ok = false
                                                      for i in m - k: ok and= 0 <= x[i + k + a] < n
                                                      check ok

Where the check fails, what was computed is of no use, and the call ends as before. The second loop
is left out if both go equally far, as they do after other checks; it is there as nobody knows that.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import assert_never

from symc.codegen.blocks import every_step, map_blocks
from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Check,
    Combine,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Program,
    Repeat,
    Step,
    Stmt,
    Store,
    Unary,
    Var,
    add,
    binary,
    sub,
)
from symc.codegen.passes.kernels.join import Joined
from symc.codegen.passes.walk import (
    Block,
    expressions,
    fresh,
    index_names,
    loads_of,
    map_block,
    names_in,
    nodes,
    statements,
    substitute,
    written,
)
from symc.codegen.record import record, replace

FALSE = Const(value=False, dtype=BOOL)


@record
class Condition:
    """What a kernel asks of all indexes: its local result, the loop, and where the result goes."""

    result: str
    loop: Loop
    out: str

    @property
    def loads(self) -> list[Load]:
        """The elements that an iteration reads."""
        return [load for stmt in self.loop.body for load in loads_of(stmt)]


def guards(program: Program) -> Program:
    """The program with checks of indexes in the loops that read at them."""
    if not any(isinstance(step, Repeat) for step in program.steps):
        return program
    kernels = {kernel.name: kernel for kernel in program.kernels}
    taken = set(kernels)
    kept = _kept(program)

    def change(block: Sequence[Step]) -> list[Step]:
        return _block(block, kernels, taken, kept)

    steps = tuple(
        replace(step, steps=map_blocks(step.steps, change)) if isinstance(step, Repeat) else step
        for step in program.steps
    )
    if steps == program.steps:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    left = tuple(kernel for kernel in kernels.values() if kernel.name in used)
    return replace(program, kernels=left, steps=steps)


def _kept(program: Program) -> frozenset[str]:
    """The buffers whose elements somebody has after a call that fails."""
    kept = {b.name for b in program.buffers if b.role in ("input", "shared", "constant")}
    return frozenset(
        buffer.name
        for buffer in program.buffers
        if buffer.name in kept or (buffer.of is not None and buffer.of.buffer in kept)
    )


def _block(
    block: Sequence[Step], kernels: dict[str, Kernel], taken: set[str], kept: frozenset[str]
) -> list[Step]:
    steps: list[Step] = []
    place = 0
    while place < len(block):
        found = _guarded(block[place:], kernels, taken, kept)
        if found is None:
            steps.append(block[place])
            place += 1
        else:
            steps += found
            place += len(found) + 1
    return steps


def _guarded(
    block: Sequence[Step], kernels: dict[str, Kernel], taken: set[str], kept: frozenset[str]
) -> list[Step] | None:
    """The steps for the first ones of a block, a check and a loop, with both in one loop."""
    match block:
        case [Launch() as first, Check(condition=Load(buffer=flag)) as check, *rest]:
            pass
        case _:
            return None
    asked = condition_of(kernels[first.kernel])
    others = [step for step in _leading_checks(rest) if flag not in _buffers(step.condition)]
    second = rest[len(others)] if len(others) < len(rest) else None
    if asked is None or flag not in first.buffers or not isinstance(second, Launch):
        return None
    made = Joined([first, second], kernels)
    split = len(kernels[first.kernel].body)
    joined = condition_of(Kernel("", (), (), tuple(made.body[:split])))
    names = {param.name for buffer, param in made.buffers.items() if buffer in kept}
    if joined is None or not names.isdisjoint(written(tuple(made.body[split:]))):
        return None
    body = _body(joined, tuple(made.body[split:]), made.taken)
    if body is None:
        return None
    result = Load(joined.result, Const(0), BOOL)
    made.body = [*made.body[:2], *body, Store(joined.out, Const(0), result)]
    name = fresh(second.kernel, taken)
    kernels[name] = made.kernel(name)
    launch = Launch(name, tuple(made.buffers), tuple(made.values))
    return [*others, launch, check]


def _leading_checks(steps: Sequence[Step]) -> list[Check]:
    found: list[Check] = []
    for step in steps:
        if not isinstance(step, Check):
            break
        found.append(step)
    return found


def _buffers(expr: Expr) -> set[str]:
    return {node.buffer for node in nodes(expr) if isinstance(node, Load)}


def condition_of(kernel: Kernel) -> Condition | None:
    """What a kernel asks of all elements of an array, if it does nothing else."""
    match kernel.body:
        case (
            Alloc(made), Store(first, Const(), Const(True)),
            Loop(kind="serial", body=(*named, Accumulate(again, op="and"))) as loop,
            *end,
        ) if first == again == made.name and not made.shape:  # fmt: skip
            pass
        case _:
            return None
    if not all(isinstance(stmt, Let) for stmt in named):
        return None
    match end:
        case [Let(var, Load(read)), Store(out, Const(), Var(name))] if name == var.name:
            return Condition(made.name, loop, out) if read == made.name else None
        case [Store(out, Const(), Load(read))]:
            return Condition(made.name, loop, out) if read == made.name else None
        case _:
            return None


def _body(asked: Condition, body: Block, taken: set[str]) -> Block | None:
    """The statements of a kernel, its loop over the elements that are asked about guarded."""
    asked_of = {load.buffer for load in asked.loads}
    found = [stmt for stmt in body if isinstance(stmt, Loop) and _reads(stmt, asked)]
    if len(found) != 1 or found[0].kind != "serial" or asked_of & written(body):
        return None
    (loop,) = found
    if not _is_free([stmt for stmt in body if stmt is not loop], asked_of):
        return None
    *named, last = _at(asked, loop.var)
    assert isinstance(last, Accumulate)
    wrong = Store(asked.result, Const(0), FALSE)
    made: list[Stmt] = [replace(loop, body=(*named, If(last.value, loop.body, (wrong,))))]
    if asked.loop.extent != loop.extent:
        more = binary("max", sub(asked.loop.extent, loop.extent), Const(0))
        *named, last = _renamed(_at(asked, add(asked.loop.var, loop.extent)), taken)
        assert isinstance(last, Accumulate)
        fails = Unary("not", last.value, BOOL)
        made.append(replace(asked.loop, extent=more, body=(*named, If(fails, (wrong,)))))
    place = body.index(loop)
    return (*body[:place], *made, *body[place + 1 :])


def _at(asked: Condition, number: Expr) -> Block:
    """An iteration of the loop over the indexes."""
    names = {asked.loop.var.name: number}
    return map_block(asked.loop.body, lambda expr: substitute(expr, names))


def _renamed(block: Block, taken: set[str]) -> Block:
    """The statements of an iteration with names of their own."""
    names: dict[str, Expr] = {}
    found: list[Stmt] = []
    for stmt in block:
        (moved,) = map_block((stmt,), lambda expr: substitute(expr, names))
        if isinstance(moved, Let):
            var = Var(fresh(moved.var.name, taken), moved.var.dtype)
            names[moved.var.name] = var
            moved = Let(var, moved.value)
        found.append(moved)
    return tuple(found)


def _reads(loop: Loop, asked: Condition) -> bool:
    """Whether each iteration of a loop reads all that the condition of its number is about."""
    needed = _loads(_at(asked, loop.var))
    return bool(needed) and needed <= _loads(loop.body)


def _loads(block: Block) -> set[Expr]:
    """The elements that the statements of a block read, those of blocks inside left out."""
    names = index_names(block)
    return {substitute(load, names) for stmt in block for load in loads_of(stmt)}


def _is_free(block: Sequence[Stmt], asked_of: AbstractSet[str]) -> bool:
    """Whether statements read no indexes that are asked about, nor at any place that is computed.

    Then they stay within arrays whatever the condition is.
    """
    computed: set[str] = set()
    for stmt in statements(tuple(block)):
        loads = loads_of(stmt)
        if any(load.buffer in asked_of for load in loads):
            return False
        places = [load.index for load in loads]
        match stmt:
            case Let(var, value):
                if loads or computed & names_in(value):
                    computed.add(var.name)
            case Store(index=index) | Accumulate(index=index):
                places.append(index)
            case Loop() | If() | Alloc():
                places += expressions(stmt)
            case Barrier() | Combine():
                return False
            case _:
                assert_never(stmt)
        if any(computed & names_in(place) or _buffers(place) for place in places):
            return False
    return True
