"""scatters: writes at computed places, what they read, and sums of the same become one loop.

A loop that adds to places given by an array of indexes runs on one thread, an element at a time,
and waits for memory. Neighbours that go over the same range are free in its iterations: another
scatter by the same indexes, the map whose elements are added, the sum of these elements. Then each
index and each gathered value is read once, and elements that nobody else reads are never stored.

    residual_kernel(y, a, k, r); sum_kernel(r, partial, s); inc_kernel(out, k, r)

    for i in n: out[i] = 0
    for chunk in chunks: [for i in chunk: v = y[i] - a[k[i]]; acc += v*v; out[k[i]] += v]
    [the tail of the sum]

Maps and sums give up threads and vector registers by that, so only those of few operations do, that
share an array with the scatter. Folds of short or unknown length over the same arrays become one
loop as well: that costs them nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from symc.codegen.blocks import every_step, map_blocks, map_steps
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Call,
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Program,
    Step,
    Stmt,
    Store,
    Strips,
    Var,
    add,
    mul,
)
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.kernels.join import Joined, buffers_of, may_swap, seen
from symc.codegen.passes.kernels.memory import buffers_of as buffers_of_step
from symc.codegen.passes.loops.dependence import accesses, shared_places_agree
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    fresh,
    loads_of,
    map_block,
    nodes,
    rebuild,
    rebuild_statement,
    statements,
    substitute,
    written,
)
from symc.codegen.record import record, replace

MOST = 64  # statements of a joined loop
CHEAP = 24  # operations of an iteration that need no vector registers


def scatters(program: Program) -> Program:
    """The program with neighbouring loops around its scatters joined."""
    joining = _Joining(program)
    if sum(_range(kernel.body) is not None for kernel in program.kernels) < 1:
        return program
    steps = map_blocks(program.steps, joining.block)
    if steps == program.steps:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    kept = tuple(kernel for kernel in joining.kernels.values() if kernel.name in used)
    return _without_temps(replace(program, kernels=kept, steps=steps), joining.own)


@record
class _Range:
    """A kernel as one loop over a range, with what comes before and after.

    Where the loop is cut into chunks, `chunk` is the loop over these, with its own statements
    `first` and `last` around that over a chunk.
    """

    before: Block
    loop: Loop
    after: Block
    chunk: Loop | None = None
    first: Block = ()
    last: Block = ()

    @property
    def extent(self) -> Expr:
        """The length of the range."""
        if self.chunk is not None:
            assert isinstance(self.chunk.cut, Strips)
            return self.chunk.cut.whole
        return self.loop.extent

    @property
    def is_map(self) -> bool:
        """Whether its iterations write places of their own."""
        return self.loop.kind == "parallel"

    @property
    def is_scatter(self) -> bool:
        """Whether its iterations write places that are not known before."""
        if self.is_map:
            return False
        places = accesses(self.loop).places
        own = {s.buffer.name for s in (*self.before, *self.first) if isinstance(s, Alloc)}
        return any(None in places[buffer] for buffer in written(self.loop.body) - own)

    @property
    def is_cheap(self) -> bool:
        """Whether it needs no vector registers."""
        every = [expr for stmt in self.loop.body for expr in expressions(stmt)]
        calls = any(isinstance(node, Call) for expr in every for node in nodes(expr))
        return not calls and sum(map(operations, every)) <= CHEAP

    def body(self) -> Block:
        """The body of a kernel that does this."""
        if self.chunk is None:
            return (*self.before, self.loop, *self.after)
        inside = (*self.first, self.loop, *self.last)
        old = self.chunk
        chunk = Loop(old.var, old.extent, "serial", inside, old.note, old.cut)
        return (*self.before, chunk, *self.after)


def _range(body: Sequence[Stmt]) -> _Range | None:
    """The body of a kernel as a loop over a range, if it is no more than that."""
    places = [number for number, stmt in enumerate(body) if isinstance(stmt, Loop)]
    chunks = [number for number in places if _is_chunked(body[number])]
    if not places or len(chunks) > 1:
        return None
    place = (chunks or places)[-1]
    before, loop, after = tuple(body[:place]), body[place], tuple(body[place + 1 :])
    assert isinstance(loop, Loop)
    if not all(isinstance(stmt, Let | Store | Alloc) or _is_filling(stmt) for stmt in before):
        return None
    if chunks:
        inside = _chunk(loop.body)
        if inside is None or any(map(_is_filling, inside.before)):
            return None
        return _Range(before, inside.loop, after, loop, inside.before, inside.after)
    if loop.kind not in ("parallel", "serial"):
        return None
    if not all(isinstance(stmt, Let | Store | Accumulate) for stmt in loop.body):
        return None
    return _Range(before, loop, after)


def _chunk(body: Block) -> _Range | None:
    """What is done with a chunk as one loop, where it is folds over it, one after the other.

    A fold begins with names and accumulators, and ends by storing its results.
    """
    parts: list[list[Stmt]] = [[]]
    for stmt in body:
        if not isinstance(stmt, Store) and any(isinstance(old, Loop) for old in parts[-1]):
            parts.append([])
        parts[-1].append(stmt)
    found: _Range | None = None
    for part in parts:
        fold = _range(part)
        if fold is None or fold.is_map or fold.chunk is not None:
            return None
        if found is not None and found.extent != fold.extent:
            return None
        found = fold if found is None else _united(found, fold)
        if found is None:
            return None
    return found


def _is_chunked(stmt: Stmt) -> bool:
    return isinstance(stmt, Loop) and isinstance(stmt.cut, Strips)


def _is_filling(stmt: Stmt) -> bool:
    """Whether this may be the loop that fills an array to which others add."""
    return isinstance(stmt, Loop) and stmt.kind == "parallel" and stmt.cut is None


class _Joining:
    """The walk over the steps; `kernels` has those that were made, too, and `own` their names."""

    def __init__(self, program: Program) -> None:
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.taken = set(self.kernels)
        self.own = set[str]()
        self.rows = {buffer.name for buffer in program.buffers if buffer.of is not None}

    def block(self, block: Sequence[Step]) -> list[Step]:
        """The steps of a block: scatters join maps before them, then folds join scatters."""
        steps = self.joined(block, folds=False)
        return self.joined(steps, folds=True)

    def joined(self, block: Sequence[Step], *, folds: bool) -> list[Step]:
        """The steps, each moved up to one before that it can join."""
        steps: list[Step] = []
        for step in block:
            found = self.partner(steps, step, folds) if isinstance(step, Launch) else None
            if found is None:
                steps.append(step)
            else:
                place, launch = found
                steps[place] = launch
        return steps

    def partner(
        self, steps: Sequence[Step], step: Launch, folds: bool
    ) -> tuple[int, Launch] | None:
        """Where a launch stands that this one can join, and the launch of both."""
        own = _range(self.kernels[step.kernel].body)
        if own is None or not self.rows.isdisjoint(step.buffers):
            return None
        if not folds and not own.is_scatter:
            return None
        for place in reversed(range(len(steps))):
            before = steps[place]
            if not isinstance(before, Launch) or not self.rows.isdisjoint(before.buffers):
                return None
            launch = self.united(before, step)
            if launch is not None:
                return place, launch
            if not may_swap(before, step, self.kernels):
                return None
        return None

    def united(self, first: Launch, second: Launch) -> Launch | None:
        """One launch for both, or None where they cannot be one loop."""
        launches = (first, second)
        kernels = [self.kernels[launch.kernel] for launch in launches]
        one, other = (_range(kernel.body) for kernel in kernels)
        if one is None or other is None or not _worthwhile(one, other):
            return None
        extents = [
            seen(found.extent, kernel, launch)
            for found, kernel, launch in zip((one, other), kernels, launches, strict=True)
        ]
        if extents[0] != extents[1] or any(map(_reads, (*first.sizes, *second.sizes))):
            return None
        touched = [set(launch.buffers) for launch in launches]
        reads = buffers_of(second, self.kernels, written=False)
        if reads.isdisjoint(touched[0]):
            return None
        made = Joined(launches, self.kernels)
        split = len(kernels[0].body)
        left, right = _range(made.body[:split]), _range(made.body[split:])
        assert left is not None
        assert right is not None
        both = _united(left, right)
        if both is None:
            return None
        name = first.kernel if first.kernel in self.own else fresh("scatters_kernel", self.taken)
        if not both.is_scatter and first.kernel not in self.own:
            name = fresh("folds_kernel", self.taken)
        self.own.add(name)
        made.body = list(both.body())
        self.kernels[name] = made.kernel(name)
        return Launch(name, tuple(made.buffers), tuple(made.values))


def _reads(expr: Expr) -> bool:
    return bool(loads_of(Let(Var("size"), expr)))


def _worthwhile(one: _Range, other: _Range) -> bool:
    """Whether two loops should be one."""
    if len(one.loop.body) + len(other.loop.body) > MOST:
        return False
    if not one.is_scatter and not other.is_scatter:  # two folds in registers
        flat = one.chunk is None and other.chunk is None
        return flat and not one.is_map and not other.is_map
    if one.chunk is not None and other.chunk is not None:
        return False
    return all(found.is_scatter or found.is_cheap for found in (one, other))


def _united(one: _Range, other: _Range) -> _Range | None:
    """Two loops over one range as one loop, or None where that would change what they read."""
    outer, inner = (one, other) if one.chunk is not None else (other, one)
    place: Expr = outer.loop.var
    if outer.chunk is not None:
        found = _place(outer)
        if found is None:
            return None
        place = found
    moved = map_block(inner.loop.body, lambda expr: substitute(expr, {inner.loop.var.name: place}))
    mine = outer.loop.body
    parts = (mine, moved) if outer is one else (moved, mine)
    loops = [replace(outer.loop, kind="serial", body=part) for part in parts]
    first, second = map(accesses, loops)
    if not shared_places_agree(first, second):
        return None
    if not _may_cross(other.before, (one.loop, *one.first, *one.last, *one.after)):
        return None
    if not _may_cross(one.after, (other.loop, *other.first, *other.last)):
        return None
    if not _may_cross(one.last, (other.loop, *other.first)):
        return None
    note = "\n".join(dict.fromkeys(filter(None, (one.loop.note, other.loop.note))))
    loop = replace(outer.loop, kind="serial", body=parts[0] + parts[1], note=note)
    return _Range(
        one.before + other.before, loop, one.after + other.after,
        outer.chunk, outer.first, outer.last,
    )  # fmt: skip


def _place(found: _Range) -> Expr | None:
    """The place in the whole range of an iteration in a chunk."""
    chunk = found.chunk
    assert chunk is not None
    assert isinstance(chunk.cut, Strips)
    begin = mul(chunk.var, chunk.cut.length)
    for stmt in found.first:
        if isinstance(stmt, Let) and stmt.value == begin:
            return add(stmt.var, found.loop.var)
    return None


def _may_cross(block: Iterable[Stmt], others: Iterable[Stmt]) -> bool:
    """Whether statements may run before others as well as after them."""
    block, others = tuple(block), tuple(others)
    mine, theirs = written(block), written(others)
    return theirs.isdisjoint(mine | _loaded(block)) and mine.isdisjoint(_loaded(others))


def _loaded(block: Block) -> set[str]:
    return {load.buffer for stmt in statements(block) for load in loads_of(stmt)}


# --- elements that nobody else reads --------------------------------------------------------------


def _without_temps(program: Program, made: set[str]) -> Program:
    """The program without temporary arrays of which joined loops read just what they stored."""
    uses = Counter([b for step in every_step(program.steps) for b in buffers_of_step(step)])
    whole = {buffer.of.buffer for buffer in program.buffers if buffer.of is not None}
    temps = {
        buffer.name
        for buffer in program.buffers
        if buffer.role == "temp" and uses[buffer.name] == 1 and buffer.name not in whole
    }
    kernels = {kernel.name: kernel for kernel in program.kernels}
    gone = set[str]()

    def change(step: Step) -> list[Step]:
        if not isinstance(step, Launch) or step.kernel not in made:
            return [step]
        kernel, kept = kernels[step.kernel], list[str]()
        for param, buffer in zip(kernel.params, step.buffers, strict=True):
            body = _named(kernel, param.name) if buffer in temps else None
            if body is None:
                kept.append(buffer)
            else:
                params = tuple([other for other in kernel.params if other is not param])
                kernel = replace(kernel, params=params, body=body)
                gone.add(buffer)
        kernels[step.kernel] = kernel
        return [replace(step, buffers=tuple(kept))]

    steps = map_steps(program.steps, change)
    buffers = tuple([buffer for buffer in program.buffers if buffer.name not in gone])
    return replace(program, buffers=buffers, kernels=tuple(kernels.values()), steps=steps)


def _named(kernel: Kernel, buffer: str) -> Block | None:
    """The kernel's body with names for the elements of a buffer, or None where that cannot be."""
    every = list(statements(kernel.body))
    writes = [stmt for stmt in every if isinstance(stmt, Store | Accumulate)]
    match [stmt for stmt in writes if stmt.buffer == buffer]:
        case [Store(_, index, value) as store] if not value.dtype.is_only_stored:
            pass
        case _:
            return None
    loads = [load for stmt in every for load in loads_of(stmt) if load.buffer == buffer]
    before = [load for stmt in every[: every.index(store)] for load in loads_of(stmt)]
    if any(load.index != index for load in loads) or any(b.buffer == buffer for b in before):
        return None
    var = Var(fresh(f"{buffer}_value", bound(kernel)), value.dtype)

    def expr(old: Expr) -> Expr:
        if isinstance(old, Load) and old.buffer == buffer:
            return var
        return rebuild(old, expr)

    def block(body: Block) -> Block:
        return tuple([statement(stmt) for stmt in body])

    def statement(stmt: Stmt) -> Stmt:
        if stmt is store:
            return Let(var, expr(store.value))
        return rebuild_statement(stmt, expr, block)

    return block(kernel.body)
