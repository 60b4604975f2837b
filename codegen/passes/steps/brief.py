"""brief: loops of a few iterations are compiled into the loop of the program that runs them.

A step of a loop that goes over a short row, a point's coordinates or a few neighbours, spends most
of its time on calling a kernel, and on finding out that the row fills no vector register.

    repeat step in n:                         repeat step in n:
        kernel(x, y; step, m)                     few = m < 9
                                                  if few: brief(x, y; step, m)
                                                  else: kernel(x, y; step, m)

The first of the two has the same loops without vector registers, and is compiled into the text that
runs it (`inlined.py`). A kernel that does the same in each step goes over whole arrays, which are
rarely that short. Rows of a known length are a vector and a rest at once; only where the next step
adds them up do they have the first kernel, and no other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from symc.codegen.blocks import every_step, map_steps, written
from symc.codegen.dtypes import BOOL
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Branch,
    Call,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Loop,
    Measure,
    Program,
    Repeat,
    Step,
    Stmt,
    Store,
    const,
)
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.kernels.in_program import InProgram
from symc.codegen.passes.kernels.inlined import FEW
from symc.codegen.passes.kernels.pieces import in_one_piece
from symc.codegen.passes.steps.answered import Answers, turned_on
from symc.codegen.passes.walk import expressions, fresh, loads_of, names_in, nodes, statements
from symc.codegen.record import replace

ITERATIONS = 9  # below which a vector register is not filled, or not worth a call
FOLDED = 25  # and of folds, where the parts of registers are put together in the end
KNOWN = 16  # and of folds of known length, which `side_by_side.py` writes out below it
QUICK = ("sqrt", "abs", "apart")  # functions of one instruction


def brief(program: Program) -> Program:
    """The program with such kernels beside those that loops of it launch."""
    repeats = [step for step in program.steps if isinstance(step, Repeat | Branch)]
    inside = [step for step in every_step(repeats) if isinstance(step, Launch)]
    times = Counter(step.kernel for step in inside)
    kernels = {kernel.name: kernel for kernel in program.kernels}
    short = {name: in_one_piece(kernels[name]) for name in times}
    few = {name: _extents(short[name], times[name]) for name in times}
    if not any(few.values()):
        return program
    walk = _Brief(program, {name: found for name, found in few.items() if found}, short)
    steps = tuple([walk.step(step) for step in program.steps])
    if steps == program.steps:
        return program
    launched = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    made = walk.answers.kernels.values()
    return replace(
        program,
        buffers=(*program.buffers, *walk.answers.made),
        kernels=tuple([kernel for kernel in made if kernel.name in launched]),
        steps=steps,
    )


def _extents(kernel: Kernel, times: int) -> Mapping[Expr, int]:
    """The lengths of a kernel's loops, if it is short but for these, and what is long for each."""
    if _reads_what_it_scatters(kernel):
        return {}
    left = FEW // times
    found: dict[Expr, int] = {}
    sizes = {size.name for size in kernel.sizes}
    for stmt in kernel.body:
        inside: Sequence[Stmt] = (stmt,)
        if isinstance(stmt, Loop):
            if stmt.kind not in ("vector", "serial"):
                return {}
            if not names_in(stmt.extent) <= sizes or _reads(stmt.extent):
                return {}
            iterations = FOLDED if _only_folds(stmt) else ITERATIONS
            found[stmt.extent] = min(iterations, found.get(stmt.extent, iterations))
            inside = tuple(_with_choices(stmt.body))
        for part in inside:
            match part:
                case Let() | Store() | Accumulate():
                    exprs = expressions(part)
                case If(condition) if isinstance(stmt, Loop):
                    exprs = (condition,)
                case Alloc(buffer, value) if not buffer.shape and not isinstance(stmt, Loop):
                    exprs = () if value is None else (value,)
                case _:
                    return {}
            if not all(map(_is_quick, exprs)):
                return {}
            left -= 1 + sum(map(operations, exprs))
    return found if left >= 0 else {}


def _with_choices(body: Iterable[Stmt]) -> Iterator[Stmt]:
    """The statements, and those that only some iterations do: where an index is in range."""
    for stmt in body:
        yield stmt
        if isinstance(stmt, If):
            yield from _with_choices((*stmt.then, *stmt.otherwise))


def _only_folds(loop: Loop) -> bool:
    """Whether all that a loop leaves are numbers, and it tests none of what it adds up.

    Those that it tests go to no vector register, whose parts would be put together in the end.
    """
    return all(
        isinstance(s, Let) or (isinstance(s, Accumulate) and isinstance(s.index, Const))
        for s in loop.body
    )


def _reads_what_it_scatters(kernel: Kernel) -> bool:
    """Whether a kernel reads what it writes where an array says: then no loop of it is serial."""
    computed = set[str]()  # names of values that are read, and of what follows from them
    scattered, read = set[str](), set[str]()
    for stmt in statements(kernel.body):
        read |= {load.buffer for load in loads_of(stmt)}
        match stmt:
            case Let(var, value) if _is_read(value, computed):
                computed.add(var.name)
            case Store(buffer, index) | Accumulate(buffer, index) if _is_read(index, computed):
                scattered.add(buffer)
            case _:
                pass
    return not scattered.isdisjoint(read)


def _divides(kernel: Kernel) -> bool:
    """Whether a kernel does what takes long, and is done for several numbers at a time."""
    for stmt in statements(kernel.body):
        for node in (node for expr in expressions(stmt) for node in nodes(expr)):
            match node:
                case Binary("div" | "floordiv" | "mod"):
                    return True
                case Call(function) if function != "apart":
                    return True
                case _:
                    pass
    return False


def _is_read(expr: Expr, computed: AbstractSet[str]) -> bool:
    return any(isinstance(node, Load) for node in nodes(expr)) or bool(names_in(expr) & computed)


def _is_quick(expr: Expr) -> bool:
    """Whether an expression calls no function that is computed better in vector registers."""
    return all(not isinstance(n, Call) or n.function in QUICK for n in nodes(expr))


def _reads(expr: Expr) -> bool:
    """Whether an expression has more in it than sizes and arithmetic."""
    return any(not isinstance(node, Binary | Const) and not names_in(node) for node in nodes(expr))


def _is_chosen(kernel: Kernel) -> bool:
    """Whether a number from an array says which row a kernel goes over."""
    return any(
        isinstance(node, Load) and any(isinstance(inner, Load) for inner in nodes(node.index))
        for stmt in statements(kernel.body)
        for expr in expressions(stmt)
        for node in nodes(expr)
    )


class _Brief:
    """The walk over the steps of one program."""

    def __init__(
        self, program: Program, few: dict[str, Mapping[Expr, int]], short: dict[str, Kernel]
    ) -> None:
        self.answers = Answers(program)
        self.sizes = program.sizes
        self.few = few
        self.short = short
        self.moving = set[str]()
        self.folded = set[str]()  # the buffers that short folds of a loop read

    def step(self, step: Step) -> Step:
        """A step of the program, outside of its loops."""
        match step:
            case Repeat():
                self.moving = self.moving_in(step)
                self.folded = self.folded_in(step)
                return replace(step, steps=map_steps(step.steps, self.inside))
            case Branch(_, then, otherwise):
                sides = tuple(map(self.step, then)), tuple(map(self.step, otherwise))
                return replace(step, then=sides[0], otherwise=sides[1])
            case _:
                return step

    def inside(self, step: Step) -> Sequence[Step]:
        """The steps in place of one in a loop."""
        if not isinstance(step, Launch) or step.kernel not in self.few:
            return (step,)
        kernel = self.answers.kernels[step.kernel]
        if not (self._moves(step) or _is_chosen(kernel)):
            return (step,)
        is_read = not self.folded.isdisjoint(written(step, kernel)) and not _divides(kernel)
        few = {e: FOLDED if is_read else long for e, long in self.few[step.kernel].items()}
        known = [int(e.value) for e in few if isinstance(e, Const)]
        if known and not (is_read and max(known) < KNOWN and _has_stores(kernel)):
            return (step,)
        one_by_one = self.without_vectors(step, kernel)
        if len(known) == len(few):
            return (one_by_one,)
        names = InProgram(step, kernel)
        flag = self.answers.flag("few")
        body: tuple[Stmt, ...] = (turned_on(flag),)
        for extent, long in few.items():
            if not isinstance(extent, Const):
                body = (If(Binary("lt", names.of(extent), const(long), BOOL), body),)
        test = self.answers.launch(f"{step.kernel}_few", [flag], body, "whether a row is short")
        return (test, Branch(flag, (one_by_one,), (step,)))

    def moving_in(self, repeat: Repeat) -> set[str]:
        """The numbers of steps in a loop, the sizes that steps measure, and what follows from them.

        Rows that begin and end where an array says have such sizes as their lengths.
        """
        inside = tuple(every_step(repeat.steps))
        found = {step.size for step in inside if isinstance(step, Measure)}
        for size in self.sizes if found else ():
            if size.value is not None and names_in(size.value) & found:
                found.add(size.var.name)
        return {repeat.var, *(s.var for s in inside if isinstance(s, Repeat)), *found}

    def folded_in(self, repeat: Repeat) -> set[str]:
        """The buffers that short folds in a loop read.

        What a step leaves for them in vector registers, the next one waits for.
        """
        launches = [step for step in every_step([repeat]) if isinstance(step, Launch)]
        return {
            buffer
            for launch in launches
            if FOLDED in self.few.get(launch.kernel, {}).values()
            for buffer in launch.buffers
        }

    def _moves(self, launch: Launch) -> bool:
        """Whether a kernel is told which step it is: others go over whole arrays in each."""
        return any(names_in(size) & self.moving for size in launch.sizes)

    def without_vectors(self, launch: Launch, kernel: Kernel) -> Launch:
        """The launch of a kernel that has the same loops one by one."""
        short = self.short[kernel.name]
        body = [_one_by_one(s) if isinstance(s, Loop) else s for s in short.body]
        name = fresh(f"{kernel.name}_brief", self.answers.names)
        made = Kernel(name, short.params, short.sizes, tuple(body), kernel.note)
        self.answers.kernels[name] = made
        buffers = zip(kernel.params, launch.buffers, strict=True)
        sizes = zip(kernel.sizes, launch.sizes, strict=True)
        return Launch(
            name,
            tuple(buffer for param, buffer in buffers if param in short.params),
            tuple(size for var, size in sizes if var in short.sizes),
        )


def _one_by_one(loop: Loop) -> Loop:
    """The loop without vectors. Folds of known length have none anyway, see `side_by_side.py`."""
    return loop if _is_written_out(loop) else replace(loop, kind="serial")


def _has_stores(kernel: Kernel) -> bool:
    return any(isinstance(stmt, Loop) and not _is_written_out(stmt) for stmt in kernel.body)


def _is_written_out(loop: Loop) -> bool:
    return isinstance(loop.extent, Const) and _only_folds(loop)
