"""How the kernels of a processor are called: the loop shared out to threads, and each kernel's
arguments.

A kernel has one of two forms. One whose body is a parallel loop (after some `Let`) is a function of
a range of that loop, and the host calls it once a thread: so `restrict` is not lost in a function
that gcc outlines, and a small call does not pay 0.5 us for a team of one thread. In any other, each
parallel loop is shared out where it stands; in the steps of a loop without threads if it has one
iteration, as a sum of some thousand elements does.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from symc.codegen.blocks import repeated_kernels
from symc.codegen.cost.loops import work
from symc.codegen.dtypes import INT64
from symc.codegen.ir import Alloc, Expr, If, Kernel, Let, Loop, Program, Select, Strips
from symc.codegen.passes.kernels.backwards import skips_backwards, skips_first
from symc.codegen.passes.kernels.gathered import only_gathers
from symc.codegen.passes.kernels.memory import Scratch
from symc.codegen.passes.kernels.permuted import permutes_groups
from symc.codegen.passes.kernels.truths import reads_by_truths
from symc.codegen.passes.vectors.later import reads_later
from symc.codegen.passes.vectors.pack_plan import PackPlan, pack_plan
from symc.codegen.passes.vectors.packs import pack_form
from symc.codegen.passes.vectors.reductions import Reduction, mentions, reductions
from symc.codegen.passes.vectors.registers import folds_lanes
from symc.codegen.passes.vectors.vectorize import DEAR, dearest
from symc.codegen.passes.walk import (
    Block,
    blocks,
    divides,
    expressions,
    is_plain,
    names_in,
    nodes,
    statements,
    substitute,
)
from symc.codegen.record import record

THRESHOLD = 1 << 18  # rough operations that are worth waking another thread, some 40 us


@record
class ParallelRange:
    """The parallel loop that is all a kernel does."""

    loop: Loop
    work: Expr
    """The cost of the whole loop, in kernel sizes."""
    granule: int
    """How many iterations must stay together."""

    @property
    def extent(self) -> Expr:
        """How many iterations the whole loop has, in kernel sizes."""
        return self.loop.extent


@record
class LoopForm:
    """How a loop is run by the threads of a processor, and in vector registers."""

    price: Expr | None
    """Its cost, in kernel sizes, if threads share it out where it stands."""
    piece: int
    """How many iterations a thread then takes at a time."""
    in_lanes: bool
    """Whether its iterations may run side by side in vector registers."""
    has_arrays: bool
    """Whether each iteration has arrays of its own."""
    reductions: tuple[Reduction, ...]
    """The scalars that a vector loop accumulates."""
    pack: PackPlan | None
    """How iterations that gather and scatter are computed side by side."""
    narrow: bool
    """Whether the longest vector registers are not for it (see `permuted.py`)."""


@record
class Calling:
    """The calling convention of a kernel, for its callers and its declaration."""

    sizes: tuple[int, ...]
    """Which of the kernel's sizes it takes: those it uses."""
    range: ParallelRange | None
    """The loop that it does a range of."""
    threads: bool
    """Whether it takes the number of threads, for a loop inside."""
    folds: bool
    """Whether it accumulates in vector registers, and folds them often: rows, or in steps."""
    scratch: Scratch | None
    """The memory that it needs for each thread."""
    narrow: bool
    """Whether one of its loops is not for the longest vector registers."""
    chooses: bool
    """Whether a vector loop chooses among results of functions."""
    loops: Mapping[str, LoopForm]
    """How its loops are run, by their variables."""
    repeated: bool = False
    """Whether a loop runs it, so that a team of one thread would be paid for in each step."""


def callings(program: Program, scratch: Mapping[str, Scratch]) -> dict[str, Calling]:
    """How each kernel of a program is called; `scratch` is the memory of some."""
    repeated = repeated_kernels(program)
    return {
        kernel.name: calling(kernel, scratch.get(kernel.name), repeated=kernel.name in repeated)
        for kernel in program.kernels
    }


def calling(kernel: Kernel, scratch: Scratch | None, *, repeated: bool = False) -> Calling:
    """How one kernel is called."""
    found = range_loop(kernel)
    used = names_of_kernel(kernel.body, found, scratch)
    loops = loop_forms(kernel, found)
    return Calling(
        tuple(number for number, size in enumerate(kernel.sizes) if size.name in used),
        None if found is None else ParallelRange(found, work(found), granule(found)),
        any(form.price is not None for form in loops.values()),
        _folds(kernel, loops, repeated=repeated),
        scratch,
        any(form.narrow for form in loops.values()),
        _chooses(kernel, loops),
        loops,
        repeated,
    )


def _folds(kernel: Kernel, loops: Mapping[str, LoopForm], *, repeated: bool) -> bool:
    """Whether registers are folded often: after chunks, which threads take, they are not."""
    if not repeated and any(form.price is not None for form in loops.values()):
        sizes = {size.name for size in kernel.sizes}
        outer = [stmt for stmt in statements(kernel.body) if isinstance(stmt, Loop)]
        inner = [s for loop in outer for s in statements(loop.body) if isinstance(s, Loop)]
        rows = [loop for loop in inner if names_in(loop.extent) <= sizes]
        return any(loops[row.var.name].reductions or folds_lanes(row) for row in rows)
    return any(form.reductions for form in loops.values()) or any(
        isinstance(stmt, Loop) and folds_lanes(stmt) for stmt in statements(kernel.body)
    )


def _chooses(kernel: Kernel, loops: Mapping[str, LoopForm]) -> bool:
    """Whether a vector loop has both selections and functions that take long."""
    for loop in statements(kernel.body):
        if isinstance(loop, Loop) and loops[loop.var.name].in_lanes:
            inside = tuple(statements(loop.body))
            found = [expr for stmt in inside for expr in expressions(stmt)]
            every = [node for expr in found for node in nodes(expr)]
            takes_long = dearest(inside) >= DEAR or any(map(divides, every))
            if takes_long and any(isinstance(node, Select) for node in every):
                return True
    return False


def loop_forms(kernel: Kernel, ranged: Loop | None) -> dict[str, LoopForm]:
    """How each loop of a kernel is run; `ranged` is the one that its callers share out."""
    scalars = {
        stmt.buffer.name
        for stmt in statements(kernel.body)
        if isinstance(stmt, Alloc) and not stmt.buffer.shape
    }
    forms: dict[str, LoopForm] = {}
    names: dict[str, Expr] = {}

    def walk(block: Block, is_shared: bool) -> None:
        for stmt in block:
            here = is_shared
            if isinstance(stmt, Let) and stmt.var.dtype is INT64:
                names[stmt.var.name] = substitute(stmt.value, names)
            elif isinstance(stmt, Loop):
                shares = stmt.kind == "parallel" and ranged is None and not is_shared
                forms[stmt.var.name] = loop_form(stmt, scalars, names, shares=shares)
                here = is_shared or shares
            for inner in blocks(stmt):
                walk(inner, here)

    walk(kernel.body, is_shared=False)
    return forms


def loop_form(
    loop: Loop, scalars: AbstractSet[str], names: Mapping[str, Expr], *, shares: bool
) -> LoopForm:
    """How one loop is run; `shares`: by several threads, where it stands."""
    inside = list(statements(loop.body))
    is_innermost = not any(isinstance(stmt, Loop | If) for stmt in loop.body)
    found = reductions(loop, scalars) if loop.kind == "vector" else None
    together = granule(loop)
    in_lanes = found is not None or (loop.kind == "parallel" and is_innermost)
    in_lanes = in_lanes or (loop.kind == "serial" and reads_later(loop, names))
    in_lanes = in_lanes and not skips_backwards(loop) and not skips_first(loop)
    in_lanes = in_lanes and not only_gathers(loop) and not reads_by_truths(loop)
    return LoopForm(
        work(loop) if shares else None,
        4096 if is_innermost and together > 1 else together,
        in_lanes,
        any(isinstance(stmt, Alloc) and stmt.buffer.shape for stmt in inside),
        tuple(found or ()),
        _packs(loop, scalars) if loop.kind == "packs" else None,
        in_lanes and permutes_groups(loop),
    )


def _packs(loop: Loop, scalars: AbstractSet[str]) -> PackPlan:
    form = pack_form(loop, scalars)
    assert form is not None
    return pack_plan(loop, form)


def range_loop(kernel: Kernel) -> Loop | None:
    """The parallel loop that is all a kernel does, if the host can decide how to share it out."""
    if not kernel.body:
        return None
    *before, loop = kernel.body
    if not isinstance(loop, Loop) or loop.kind != "parallel":
        return None
    if not all(isinstance(stmt, Let) for stmt in before):
        return None
    named = {stmt.var.name for stmt in before if isinstance(stmt, Let)} | {loop.var.name}
    if mentions(loop.extent, named) or mentions(work(loop), named) or not is_plain(loop.extent):
        return None
    return loop


def granule(loop: Loop) -> int:
    """A parallel loop may be cut at multiples of this: then no result depends on the cuts.

    The iterations left over at the end of a vectorised loop call scalar functions, which differ
    from vector functions in the last bit. So a loop that is vectorised is cut at multiples of any
    vector's length. Where a loop inside is vectorised, or goes over a strip, cuts do not matter;
    where there are other loops inside, gcc might vectorise the outer one.
    """
    if isinstance(loop.cut, Strips):
        return 1
    inner = [stmt.kind for stmt in statements(loop.body) if isinstance(stmt, Loop)]
    if not inner:
        return 64
    return 1 if {"vector", "parallel"} & set(inner) else 16


def names_of_kernel(body: Block, ranged: Loop | None, scratch: Scratch | None) -> set[str]:
    """The names that the text of a kernel has; the extent of a range is only its caller's."""
    found: set[str] = set()
    for stmt in body:
        match stmt:
            case Alloc(buffer):
                offset = None if scratch is None else scratch.offsets.get(buffer.name)
                found |= set() if offset is None else names_in(offset)
            case Loop(kind="parallel") if ranged is None:  # when it is worth several threads
                found |= names_in(stmt.extent)
                found |= names_in(work(stmt))
                found |= names_of_kernel(stmt.body, stmt, scratch)
            case _:
                if stmt is not ranged:
                    found.update(*map(names_in, expressions(stmt)))
                for inner in blocks(stmt):
                    found |= names_of_kernel(inner, ranged, scratch)
    return found
