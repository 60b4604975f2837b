"""Kernels that test before a loop what it checks in its steps.

`foresee.py` puts them into programs, `asked.py` finds what they test. Their statements are made in
names of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from symc.codegen.dtypes import BOOL, INT64, DType
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Load,
    Loop,
    Param,
    Program,
    Repeat,
    Size,
    Step,
    Store,
    Var,
    binary,
    const,
)
from symc.codegen.passes.expressions.conditions import both
from symc.codegen.passes.expressions.implied import without_implied
from symc.codegen.passes.kernels.in_program import InProgram
from symc.codegen.passes.kernels.inlined import is_short
from symc.codegen.passes.steps.asked import Question, Questions, from_the_end
from symc.codegen.passes.walk import (
    Block,
    expressions,
    fresh,
    map_block,
    nodes,
    rebuild,
    statements,
    substitute,
    written,
)
from symc.codegen.signs import is_natural, natural_names

_TRUE, _FALSE = Const(value=True, dtype=BOOL), Const(value=False, dtype=BOOL)
_ZERO = const(0)


class Answers:
    """The numbers, sizes and kernels that are added to a program."""

    def __init__(self, program: Program) -> None:
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.made: list[Buffer] = []
        self.sizes: list[Size] = []
        self.taken = {b.name for b in program.buffers} | {s.var.name for s in program.sizes}
        self.names = set(self.kernels)
        self.natural = natural_names(program)

    def flag(self, name: str) -> str:
        """A new bool of the program."""
        name = fresh(name, self.taken)
        self.made.append(Buffer(name, BOOL, (), "temp"))
        return name

    def count(self, name: str) -> str:
        """A new integer of the program."""
        name = fresh(name, self.taken)
        self.made.append(Buffer(name, INT64, (), "temp"))
        return name

    def size(self, name: str, note: str) -> str:
        """A new size of the program, which a step sets."""
        name = fresh(name, self.taken)
        self.sizes.append(Size(Var(name), None, note))
        return name

    def launch(self, name: str, flags: Iterable[str], body: Block, note: str) -> Launch:
        """The launch of a new kernel of statements that may set flags, which are false else."""
        body = (*[Store(flag, _ZERO, _FALSE) for flag in flags], *body)
        stores = written(body)
        loads: dict[str, DType] = {}
        sizes: dict[str, None] = {}
        own = set[str]()
        for stmt in statements(body):
            if isinstance(stmt, Alloc):
                own.add(stmt.buffer.name)
            if isinstance(stmt, Loop):
                own.add(stmt.var.name)
            for node in (node for expr in expressions(stmt) for node in nodes(expr)):
                if isinstance(node, Load):
                    loads[node.buffer] = node.dtype
                elif isinstance(node, Var):
                    sizes[node.name] = None
        made = {buffer.name: buffer.dtype for buffer in self.made}
        loads = {**loads, **{name: made.get(name, BOOL) for name in sorted(stores)}}
        params = [Param(b, dtype, b in stores) for b, dtype in loads.items() if b not in own]
        taken = {param.name for param in params} | own
        given = [size for size in sizes if size not in own]
        names = {size: Var(fresh(size, taken)) for size in given}
        body = map_block(body, lambda expr: substitute(expr, names))
        name = fresh(name, self.names)
        self.kernels[name] = Kernel(name, tuple(params), tuple(names.values()), body, note)
        return Launch(name, tuple(p.name for p in params), tuple(map(Var, given)))

    def own(self, step: Step) -> Step:
        """The step with a kernel of its own, if that may be compiled into its loop.

        Only kernels that are launched once are. Others stay the same: they take long to compile.
        """
        if isinstance(step, Launch) and is_short(self.kernels[step.kernel]):
            return self._copy(step)
        return step

    def _copy(self, launch: Launch) -> Launch:
        kernel = self.kernels[launch.kernel]
        name = fresh(kernel.name, self.names)
        made = Kernel(name, kernel.params, kernel.sizes, kernel.body, kernel.note)
        self.kernels[name] = made
        return Launch(name, launch.buffers, launch.sizes)

    def without(
        self, launch: Launch, flags: Iterable[str], natural: Callable[[Expr], bool],
        turned: Callable[[Expr, InProgram], Expr | None],
    ) -> Launch | None:  # fmt: skip
        """The launch of a kernel that does not store flags, if it stores anything else.

        Its indexes that are natural do not count from the end; those that go round are `turned`.
        """
        kernel = self.kernels[launch.kernel]
        pairs = list(zip(kernel.params, launch.buffers, strict=True))
        lost = {param.name for param, buffer in pairs if buffer in flags}
        body = tuple(s for s in kernel.body if not (isinstance(s, Store) and s.buffer in lost))
        if not written(body):
            return None
        inside = InProgram(launch, kernel)

        def visit(expr: Expr) -> Expr:
            place = from_the_end(expr)
            if place is not None and natural(inside.of(place)):
                return visit(place)
            return rebuild(turned(expr, inside) or expr, visit)

        body = map_block(body, visit)
        if body == kernel.body:
            return launch
        kept = [(param, buffer) for param, buffer in pairs if param.name not in lost]
        name = fresh(kernel.name, self.names)
        params = tuple(param for param, _ in kept)
        self.kernels[name] = Kernel(name, params, kernel.sizes, body, kernel.note)
        return Launch(name, tuple(buffer for _, buffer in kept), launch.sizes)

    def all_hold(self, condition: Expr, counter: Var, extent: Expr, then: Block) -> Block:
        """What is done if a condition holds for each value of a counter."""
        every = Buffer(fresh("every", self.taken), BOOL, (), "local")
        number = Var(fresh("i", self.taken))
        here = substitute(condition, {counter.name: number})
        return (
            Alloc(every),
            Store(every.name, _ZERO, _TRUE),
            Loop(number, extent, "serial", (Accumulate(every.name, _ZERO, "and", here),)),
            If(Load(every.name, _ZERO, BOOL), then),
        )

    def each_holds(self, repeat: Repeat, asked: Sequence[Question], then: Block) -> Block:
        """What is done if the conditions of each step hold, one check after the other."""
        for one in reversed(asked):
            if one.each is not None:
                then = self.all_hold(one.each, Var(repeat.var), repeat.extent, then)
        return then

    def once_holds(self, questions: Questions, asked: Sequence[Question], then: Block) -> Block:
        """What is done if there is a step, and the conditions that do not depend on it hold.

        Elements that may lie outside of their arrays are read after the conditions before.
        """
        found = list(dict.fromkeys(condition for one in asked for condition in one.once))
        risky = [condition for condition in found if questions.is_risky(condition)]
        for condition in reversed(risky):
            then = (If(condition, then),)
        some = binary("gt", questions.repeat.extent, _ZERO)
        needed = [some, *(condition for condition in found if condition not in risky)]
        left = without_implied(needed, self.is_natural)
        return (If(both(left), then),) if left else then

    def is_natural(self, length: Expr) -> bool:
        """Whether an integer is never negative, whatever is asked."""
        return is_natural(length, self.natural)


def is_true(flag: str) -> Load:
    """Whether a flag is set."""
    return Load(flag, _ZERO, BOOL)


def turned_on(flag: str) -> Store:
    """The statement that sets a flag."""
    return Store(flag, _ZERO, _TRUE)
