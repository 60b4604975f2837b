"""around: the remainder of a number that is at most one time round is selected, not divided.

    repeat k in n:                          repeat k in n:
        y[k] = x[(k + 1) % n]                 let next = k + 1
                                              y[k] = x[select(next >= n, next - n, next)]

Neighbours on a ring are such numbers: a step of a few operations spends most of its time on two
divisions for them. Loops of kernels are `wraps.py`'s, which needs no selection in their iterations.
"""

from __future__ import annotations

from collections import Counter
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
    Let,
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
from symc.codegen.passes.kernels.lengths import GivenLengths
from symc.codegen.passes.walk import (
    Block,
    expressions,
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

    lengths = GivenLengths(program)

    def body(kernel: Kernel) -> Block:
        if kernel.name not in with_remainders:
            return kernel.body
        return _selected(kernel, launches.get(kernel.name, []), lengths)

    return map_kernels(program, body)


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


def _selected(kernel: Kernel, launches: Sequence[_LaunchInLoops], lengths: GivenLengths) -> Block:
    """The statements of a kernel, with selections where all launches allow them."""
    lets = [stmt for stmt in statements(kernel.body) if isinstance(stmt, Let)]
    times = Counter(let.var.name for let in lets)
    names = {let.var.name: let.value for let in lets if times[let.var.name] == 1}

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
    kernel: Kernel, found: _LaunchInLoops, number: Expr, of: Expr, lengths: GivenLengths
) -> Side | None:
    """Where a number may leave the range of remainders, if it is once round at most."""
    sizes: Mapping[str, Expr] = {
        size.name: value for size, value in zip(kernel.sizes, found.launch.sizes, strict=True)
    }
    if not names_in(number) | names_in(of) <= sizes.keys():
        return None
    beside, length = (
        polynomial(lengths.written_out(substitute(part, sizes))) for part in (number, of)
    )
    for loop in reversed(found.loops):
        linear = by(beside, Var(loop.var))
        if linear is None or linear[0] != {(): 1} or _changes(length, loop):
            continue
        far, longer = linear[1], added(length, _steps(loop, lengths), -1)
        if far.keys() <= {()} and longer.keys() <= {()}:
            return _once(far.get((), 0), longer.get((), 0))
    return None


def _steps(loop: Repeat, lengths: GivenLengths) -> Polynomial:
    """The number of steps of a loop that does some."""
    match lengths.written_out(loop.extent):
        case Binary("max", extent, Const(0)) | Binary("max", Const(0), extent):
            return polynomial(extent)
        case extent:
            return polynomial(extent)


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
