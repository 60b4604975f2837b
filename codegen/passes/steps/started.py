"""What holds when a step of a loop begins that goes on only while a condition does.

A step that is not the first begins after one that did not end the loop. So of ``while k < n``, k is
below n whenever a step begins, if it is before the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from symc.codegen.blocks import every_step, written
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import (
    Expr,
    Kernel,
    Launch,
    Let,
    Load,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Step,
    Store,
    Var,
    add,
    const,
)
from symc.codegen.passes.kernels.in_program import is_long
from symc.codegen.passes.steps.proven import compared
from symc.codegen.passes.steps.states import in_rows
from symc.codegen.passes.walk import nodes, rebuild, statements, substitute
from symc.codegen.passes.walk import written as stored

_ZERO = const(0)


class StepOfLoop:
    """The numbers that a step of a loop leaves, over what is there when it begins."""

    def __init__(
        self, program: Program, repeat: Repeat, numbers: Collection[str], fixed: Collection[str],
        sizes: Mapping[str, Expr],
    ) -> None:  # fmt: skip
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.counter = Var(repeat.var)
        self.numbers = set(numbers) - in_rows(program)
        self.fixed = fixed
        self.sizes = sizes
        self.left: dict[str, Expr] = {}
        self.unknown = 0
        for step in repeat.steps:
            match step:
                case Launch(kernel):
                    self._launch(step, self.kernels[kernel])
                case _:
                    for one in every_step([step]):
                        self._forget(self._written(one))
        self.stop = None if repeat.stop is None else self.left.get(repeat.stop)

    def holds(self) -> Iterator[Expr]:
        """Comparisons that hold when a step begins, but perhaps the first one.

        They are about its counter, and numbers as they are then.
        """
        if self.stop is None or is_long(self.stop):
            return
        after = {
            value: Load(name, _ZERO, value.dtype)
            for name, value in self.left.items()
            if value.dtype is INT64 and any(map(self._is_of_step, nodes(value)))
        }
        for comparison in compared(self.stop, holds=False):
            now = self._renamed(comparison, after)
            if now is not None:
                yield substitute(now, {self.counter.name: add(self.counter, const(-1))})

    def _is_of_step(self, part: Expr) -> bool:
        """Whether something is not the same in all steps, the counter left aside."""
        match part:
            case Load(buffer):
                return buffer not in self.fixed
            case Var(name):
                return name.startswith("?")
            case _:
                return False

    def _renamed(self, expr: Expr, after: dict[Expr, Load]) -> Expr | None:
        """An expression over numbers as they are after the step; None if it is about others."""
        names: dict[str, Expr] = {}

        def visit(part: Expr) -> Expr:
            if part in after:
                name = f"?after {len(names)}"
                names[name] = after[part]
                return Var(name, part.dtype)
            return rebuild(part, visit)

        found = visit(expr)
        left = [node for node in nodes(found) if self._is_of_step(node)]
        known = all(isinstance(node, Var) and node.name in names for node in left)
        return substitute(found, names) if known else None

    def _launch(self, launch: Launch, kernel: Kernel) -> None:
        """What a kernel does with numbers, one statement after the other."""
        buffers = {p.name: b for p, b in zip(kernel.params, launch.buffers, strict=True)}
        names: dict[str, Expr] = {
            size.name: substitute(value, self.sizes)
            for size, value in zip(kernel.sizes, launch.sizes, strict=True)
        }

        def of(expr: Expr) -> Expr:
            match expr:
                case Var(name):
                    return names[name] if name in names else self._something(expr)
                case Load(name, index):
                    buffer = buffers.get(name)
                    if buffer in self.numbers and index == _ZERO:
                        return self.left.get(buffer, Load(buffer, _ZERO, expr.dtype))
                    if buffer is None or buffer not in self.fixed:
                        return self._something(expr)
                    return Load(buffer, of(index), expr.dtype)
                case _:
                    return rebuild(expr, of)

        for stmt in kernel.body:
            match stmt:
                case Let(var, value):
                    found = of(value)
                    names[var.name] = self._something(value) if is_long(found) else found
                case Store(buffer, index, value) if (
                    buffers.get(buffer) in self.numbers and index == _ZERO
                ):
                    found = of(value)
                    plain = value.dtype in (INT64, BOOL) and not is_long(found)
                    self.left[buffers[buffer]] = found if plain else self._something(value)
                case _:
                    gone = [buffers[name] for name in stored((stmt,)) if name in buffers]
                    self._forget(gone)
                    inner = [s for s in statements((stmt,)) if isinstance(s, Let)]
                    names.update({let.var.name: self._something(let.value) for let in inner})

    def _written(self, step: Step) -> Collection[str]:
        match step:
            case Launch(kernel):
                return written(step, self.kernels[kernel])
            case Routine() | PythonCall():
                return written(step, None)
            case _:
                return ()

    def _forget(self, buffers: Collection[str]) -> None:
        for buffer in buffers:
            self.left[buffer] = self._something(Var("", INT64))

    def _something(self, expr: Expr) -> Var:
        """A value of which nothing is known, each another one."""
        self.unknown += 1
        return Var(f"?{self.unknown}", expr.dtype)
