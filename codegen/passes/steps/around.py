"""around: the remainder of a number that is at most one time round is selected, not divided.

    repeat k in n:                          repeat k in n:
        y[k] = x[(k + 1) % n]                 let next = k + 1
                                              y[k] = x[select(next >= n, next - n, next)]

Neighbours on a ring are such numbers: a step of a few operations spends most of its time on two
divisions for them. Loops of kernels are `wraps.py`'s, which needs no selection in their iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Binary,
    Branch,
    Const,
    Expr,
    Kernel,
    Launch,
    Length,
    Measure,
    Program,
    Repeat,
    Select,
    Step,
    Var,
    add,
    binary,
    const,
    sub,
)
from symc.codegen.passes.walk import (
    Block,
    expressions,
    index_names,
    map_block,
    map_kernels,
    names_in,
    nodes,
    rebuild,
    statements,
    substitute,
)
from symc.codegen.record import record
from symc.codegen.verify.polynomials import Polynomial, added, by, polynomial

_ZERO = const(0)

Side: TypeAlias = Literal["below", "above"]
"""Where a number leaves the range that remainders have."""


@record
class _LaunchInLoops:
    """A launch, and the loops of the program around it."""

    launch: Launch
    loops: tuple[Repeat, ...]


def around(program: Program) -> Program:
    """The program with such remainders in kernels that only loops launch."""
    with_remainders = {kernel.name for kernel in program.kernels if _divides(kernel)}
    if not with_remainders:
        return program
    launches: dict[str, list[_LaunchInLoops]] = {}
    for found in _launches(program.steps, ()):
        launches.setdefault(found.launch.kernel, []).append(found)

    def body(kernel: Kernel) -> Block:
        if kernel.name not in with_remainders:
            return kernel.body
        return _selected(kernel, launches.get(kernel.name, []), _Lengths(program))

    return map_kernels(program, body)


class _Lengths:
    """Sizes of a program, written out in those that follow from no others."""

    def __init__(self, program: Program) -> None:
        self._values = [
            {size.var.name: size.value}
            for size in reversed(program.sizes)
            if size.value is not None and not any(isinstance(n, Length) for n in nodes(size.value))
        ]

    def of(self, expr: Expr) -> Polynomial:
        """An integer as a polynomial."""
        for value in self._values:
            expr = substitute(expr, value)
        return polynomial(expr)

    def of_steps(self, extent: Expr) -> Polynomial:
        """The number of steps of a loop that does some."""
        found = self.of(extent)
        match next(iter(found), ()):
            case (Binary("max", left, Const(0)),) if list(found.values()) == [1]:
                return polynomial(left)
            case (Binary("max", Const(0), right),) if list(found.values()) == [1]:
                return polynomial(right)
            case _:
                return found


def _divides(kernel: Kernel) -> bool:
    return any(
        isinstance(node, Binary) and node.op == "mod" and node.dtype is INT64
        for stmt in statements(kernel.body)
        for expr in expressions(stmt)
        for node in nodes(expr)
    )


def _launches(steps: Sequence[Step], loops: tuple[Repeat, ...]) -> Iterator[_LaunchInLoops]:
    for step in steps:
        match step:
            case Launch():
                yield _LaunchInLoops(step, loops)
            case Repeat():
                yield from _launches(step.steps, (*loops, step))
            case Branch():
                yield from _launches((*step.then, *step.otherwise), loops)
            case _:
                pass


def _selected(kernel: Kernel, launches: Sequence[_LaunchInLoops], lengths: _Lengths) -> Block:
    """The statements of a kernel, with selections where all launches allow them."""
    names = {
        name: value
        for stmt in statements(kernel.body)
        for name, value in index_names((stmt,)).items()
    }

    def visit(expr: Expr) -> Expr:
        new = rebuild(expr, visit)
        if not isinstance(new, Binary) or new.op != "mod" or new.dtype is not INT64:
            return new
        assert isinstance(expr, Binary)
        number, of = (substitute(part, names) for part in (expr.left, expr.right))
        sides = {_side(kernel, found, number, of, lengths) for found in launches}
        side = sides.pop() if len(sides) == 1 else None
        if side is None:
            return new
        is_beyond = binary("lt", new.left, _ZERO)
        once = add(new.left, new.right)
        if side == "above":
            is_beyond, once = binary("ge", new.left, new.right), sub(new.left, new.right)
        return Select(is_beyond, once, new.left, INT64)

    return map_block(kernel.body, visit)


def _side(
    kernel: Kernel, found: _LaunchInLoops, number: Expr, of: Expr, lengths: _Lengths
) -> Side | None:
    """Where a number may leave the range of remainders, if it is once round at most."""
    sizes: Mapping[str, Expr] = {
        size.name: value for size, value in zip(kernel.sizes, found.launch.sizes, strict=True)
    }
    if not names_in(number) | names_in(of) <= sizes.keys():
        return None
    beside, length = (lengths.of(substitute(part, sizes)) for part in (number, of))
    for loop in reversed(found.loops):
        linear = by(beside, Var(loop.var))
        if linear is None or linear[0] != {(): 1} or _changes(length, loop):
            continue
        far, longer = linear[1], added(length, lengths.of_steps(loop.extent), -1)
        if far.keys() <= {()} and longer.keys() <= {()}:
            return _once(far.get((), 0), longer.get((), 0))
    return None


def _changes(length: Polynomial, loop: Repeat) -> bool:
    """Whether a length has other values in the steps of a loop than before it."""
    inside = list(every_step([loop]))
    measured = {step.size for step in inside if isinstance(step, Measure)}
    measured |= {step.var for step in inside if isinstance(step, Repeat)}
    return any(measured & names_in(part) for monomial in length for part in monomial)


def _once(far: int, longer: int) -> Side | None:
    """The same of ``k + far`` and a length of ``n + longer``, with k from 0 to n - 1.

    There is a k, so that n is 1 or more: ``k + far`` is below twice the length if that is so of the
    last k for ``n = 1``, as the length grows with n, and twice of it faster than the last k.
    """
    if longer < 0:
        return None
    if 0 <= far <= 1 + 2 * longer:
        return "above"
    if -1 - longer <= far < 0:
        return "below"
    return None
