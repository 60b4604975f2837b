"""What a kernel may take for granted: its sizes, small values that are read, and checks before it.

A buffer of one element that a kernel fills with an integer of sizes stands for that integer until
it is written again, and so does a bool for its comparison: a `Check` of it is then a comparison of
sizes, which holds for whatever runs after it in the same block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import assert_never

from symc.codegen.blocks import every_step, written
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import (
    Binary,
    Branch,
    Check,
    Const,
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Measure,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Step,
    Store,
    Var,
    const,
)
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.walk import names_in, nodes, rebuild, substitute
from symc.codegen.passes.walk import written as stored
from symc.codegen.record import field, record
from symc.codegen.signs import natural_names

_LARGE = 64  # operations; what a longer one computes is not written out
_ZERO = const(0)


@record
class Sizes:
    """What is known in a kernel: of one that is launched several times, what all launches share."""

    values: Mapping[str, Expr] = field(default_factory=dict[str, Expr])
    """Its sizes, written out in sizes of the program."""
    elements: Mapping[str, Expr] = field(default_factory=dict[str, Expr])
    """The values of parameters of one element."""
    natural: AbstractSet[str] = frozenset()
    """Sizes of the program that are not negative."""
    facts: tuple[Expr, ...] = ()
    """Comparisons of sizes of the program."""


def sizes_of(program: Program) -> dict[str, Sizes]:
    """What is known in each kernel of a program."""
    walk = _ProgramWalk(program)
    walk.block(program.steps)
    return walk.found


def resolved(expr: Expr, names: Mapping[str, Expr], elements: Mapping[str, Expr]) -> Expr:
    """An expression with names, and elements 0 of buffers, replaced where they are known."""
    match expr:
        case Var(name):
            return names.get(name, expr)
        case Load(buffer, index) if index == _ZERO and buffer in elements:
            return elements[buffer]
        case _:
            return rebuild(expr, lambda part: resolved(part, names, elements))


class _ProgramWalk:
    """The walk over the steps of a program."""

    def __init__(self, program: Program) -> None:
        self.natural = frozenset(natural_names(program))
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        whole = {buffer.of.buffer for buffer in program.buffers if buffer.of is not None}
        self.single = {
            buffer.name
            for buffer in program.buffers
            if all(length == const(1) for length in buffer.shape)
            and buffer.of is None
            and buffer.name not in whole
            and buffer.dtype in (INT64, BOOL)
        }
        self.values: dict[str, Expr] = {}  # of sizes
        for size in program.sizes:
            if size.value is not None and _is_arithmetic(size.value):
                value = substitute(size.value, self.values)
                if operations(value) <= _LARGE:
                    self.values[size.var.name] = value
        self.elements: dict[str, Expr] = {}
        self.facts: list[Expr] = []
        self.found: dict[str, Sizes] = {}

    def block(self, steps: Sequence[Step]) -> None:
        """Steps in a row."""
        for step in steps:
            self.step(step)

    def step(self, step: Step) -> None:
        """What a step needs, and what is known after it."""
        match step:
            case Launch():
                self.launch(step)
            case Routine() | PythonCall():
                self.forget(step)
            case Check(condition):
                self.hold(condition)
            case Repeat(var, extent, body):
                counter = Binary("lt", Var(var), substitute(extent, self.values), BOOL)
                self.inside(step, body, counter)
            case Branch(condition, then, otherwise):
                self.inside(step, then, Load(condition, _ZERO, BOOL))
                self.inside(step, otherwise, None)
            case Measure(size, buffer):
                if buffer in self.single:
                    self.elements[buffer] = Var(size)
            case _:
                assert_never(step)

    def inside(self, around: Step, steps: Sequence[Step], holds: Expr | None) -> None:
        """Steps of a loop or branch, at whose beginning a condition holds."""
        if isinstance(around, Repeat):
            self.forget(around)
        facts, elements = list(self.facts), dict(self.elements)
        if holds is not None:
            self.hold(holds)
        self.block(steps)
        self.facts, self.elements = facts, elements
        self.forget(around)

    def forget(self, around: Step) -> None:
        """Elements that a step, or any inside it, may write are not known any more."""
        for step in every_step([around]):
            if isinstance(step, Launch | Routine | PythonCall):
                kernel = self.kernels.get(step.kernel) if isinstance(step, Launch) else None
                for buffer in _written(step, kernel):
                    self.elements.pop(buffer, None)

    def hold(self, condition: Expr) -> None:
        """A condition of sizes that holds from here on."""
        known = resolved(condition, self.values, self.elements)
        if not any(isinstance(node, Load) for node in nodes(known)):
            self.facts.append(known)

    def launch(self, step: Launch) -> None:
        """A kernel is run with what is known here."""
        kernel = self.kernels.get(step.kernel)
        if kernel is None:
            return
        pairs = list(zip(kernel.params, step.buffers, strict=False))
        given = zip(kernel.sizes, step.sizes, strict=False)
        sizes = {
            size.name: known
            for size, value in given
            if not isinstance(known := resolved(value, self.values, self.elements), Load)
        }
        elements = {
            param.name: self.elements[buffer]
            for param, buffer in pairs
            if buffer in self.elements and not param.written
        }
        here = Sizes(sizes, elements, self.natural, tuple(self.facts))
        before = self.found.get(kernel.name)
        self.found[kernel.name] = here if before is None else _shared(before, here)
        self.forget(step)
        filled = _filled(kernel, sizes, elements)
        for param, buffer in pairs:
            if buffer in self.single and param.name in filled:
                self.elements[buffer] = filled[param.name]


def _written(step: Launch | Routine | PythonCall, kernel: Kernel | None) -> Sequence[str]:
    """The buffers that a step may write."""
    if isinstance(step, Launch) and (kernel is None or len(kernel.params) != len(step.buffers)):
        return step.buffers
    return written(step, kernel)


def _shared(one: Sizes, other: Sizes) -> Sizes:
    """What is known in both of two launches."""

    def both(here: Mapping[str, Expr], there: Mapping[str, Expr]) -> dict[str, Expr]:
        return {name: value for name, value in here.items() if there.get(name) == value}

    return Sizes(
        both(one.values, other.values), both(one.elements, other.elements), one.natural,
        tuple([fact for fact in one.facts if fact in other.facts]),
    )  # fmt: skip


def _filled(
    kernel: Kernel, sizes: Mapping[str, Expr], elements: Mapping[str, Expr]
) -> dict[str, Expr]:
    """Element 0 of the parameters of which a kernel stores nothing else, where it is known."""
    names, known = dict(sizes), dict(elements)
    inner = [stmt for stmt in kernel.body if not isinstance(stmt, Let | Store)]
    lost = stored(tuple(inner))
    for stmt in kernel.body:
        match stmt:
            case Let(var, value) if var.dtype in (INT64, BOOL):
                found = _in_sizes(value, names, known)
                if found is not None:
                    names[var.name] = found
            case Store(buffer, index, value):
                found = _in_sizes(value, names, known) if buffer not in lost else None
                known.pop(buffer, None)
                if found is not None and index == _ZERO:
                    known[buffer] = found
            case _:
                pass
    return known


def _in_sizes(value: Expr, names: Mapping[str, Expr], known: Mapping[str, Expr]) -> Expr | None:
    """A value in sizes of the program alone, if it is one and not too long."""
    if not names_in(value) <= names.keys():
        return None
    found = resolved(value, names, known)
    long = operations(found) > _LARGE
    return None if long or any(isinstance(part, Load) for part in nodes(found)) else found


def _is_arithmetic(value: Expr) -> bool:
    """Whether a value is that of other sizes, and not a length."""
    return all(isinstance(part, Const | Var | Binary) for part in nodes(value))
