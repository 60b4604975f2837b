"""side_by_side: sums that vector registers slow down go to four scalars, added up at the end.

An addition waits for the one before it, unless another scalar takes it. Vector registers have many,
but filling them takes longer than adding up

- where elements lie far apart, as those of a column, and have to be gathered one by one;
- where each is tested, as an index is;
- where the step of the loop before has just stored one of them, and the sum is short: a register
  that holds it among others is filled only when it has arrived in the cache;
- where a row is known to fill none, or hardly one: what remains is to put its parts together.

So it is with extremes of rows that are known to be short, and of short columns of integers.

    for i in vector(n): acc += a[i*m]*b[i]

    for i_four in serial(n // 4):
      let i = i_four*4
      acc += a[i*m]*b[i]
      acc_2 += a[(i + 1)*m]*b[i + 1]
      acc_3 += ...
      acc_4 += ...
    for i_rest in serial(min(n % 4, n)): let i = n//4*4 + i_rest; acc += a[i*m]*b[i]
    acc += acc_2; acc_3 += acc_4; acc += acc_3

Where n is a known number, as in rows of three colours or of sixteen features, the fours are written
out, as is what is left of them, and the kernel has no loop that keeps it from being compiled into
the step that runs it (`inlined.py`).

Rows of a few elements that a step adds up itself (`brief.py`) stay one loop: what is left of four
takes another one, and processors cannot tell in advance how two short loops go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import is_
from typing import Literal, TypeAlias

from symc.codegen.blocks import brief_kernels, repeated_kernels
from symc.codegen.dtypes import BOOL, DType
from symc.codegen.ir import (
    Accumulate,
    AccumulateOp,
    Alloc,
    Binary,
    Buffer,
    Call,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    LoopKind,
    Program,
    Stmt,
    Store,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.loops.dependence import step_of
from symc.codegen.passes.vectors.groups import groups
from symc.codegen.passes.vectors.reductions import identity
from symc.codegen.passes.vectors.vectorize import NEAR
from symc.codegen.passes.walk import (
    Block,
    bound,
    expressions,
    fresh,
    index_names,
    loads_of,
    map_kernels,
    names_in,
    nodes,
    rebuild_statement,
    statements,
    substitute,
)

SIDES = 4  # scalars: as many additions are on their way at a time
EXTREMES = 2  # scalars for the greatest or the least, each with a test for NaN for what it takes
MOST = 16  # operations of an iteration, loads among them: more are worth filling registers for
WIDE = 8  # bytes of an element, from which a register holds few
SHORT = 96  # terms, below which waiting for the cache is most of a sum's time
KNOWN = 128  # bytes of a row of known length, below which registers have little to add up

_ZERO = const(0)

Around: TypeAlias = Literal["nothing", "step", "loop"]
"""What runs a loop again and again: a step of the program, or a loop of the kernel."""

Slow: TypeAlias = Literal["never", "short", "always", "known"]
"""Which sums of a loop vector registers slow down: short ones are told when they are computed,
unless their length is known before."""


def side_by_side(program: Program) -> Program:
    """The program with such sums in several scalars."""
    repeated, brief = repeated_kernels(program), brief_kernels(program)

    def body(kernel: Kernel) -> Block:
        return kernel.body if kernel.name in brief else _kernel(kernel, kernel.name in repeated)

    return map_kernels(program, body)


def _kernel(kernel: Kernel, is_repeated: bool) -> Block:
    every = list(statements(kernel.body))
    if not any(isinstance(stmt, Accumulate) for stmt in every):
        return kernel.body
    scalars = {
        stmt.buffer.name: stmt.buffer.dtype
        for stmt in every
        if isinstance(stmt, Alloc) and not stmt.buffer.shape
    }
    just_stored = frozenset(
        stmt.buffer for stmt in kernel.body if is_repeated and isinstance(stmt, Store)
    )
    taken = bound(kernel)

    def block(body: Block, around: Around) -> Block:
        found: list[Stmt] = []
        for stmt in body:
            slow = _slow(stmt, scalars, just_stored, around) if isinstance(stmt, Loop) else "never"
            if slow == "never" or not isinstance(stmt, Loop):
                deeper = partial(block, around="loop" if isinstance(stmt, Loop) else around)
                found.append(rebuild_statement(stmt, lambda expr: expr, deeper))
                continue
            if slow == "known":
                found += written_out(stmt, scalars, taken)
                continue
            sides = tuple(_Sides(stmt, scalars, taken).statements())
            if slow == "always" or not isinstance(stmt.extent, Var):
                found += sides
            else:
                is_short = Binary("lt", stmt.extent, const(SHORT), BOOL)
                found.append(If(is_short, sides, (stmt,)))
        same = len(found) == len(body) and all(map(is_, found, body))
        return body if same else tuple(found)

    return block(kernel.body, "step" if is_repeated else "nothing")


# --- which loops ----------------------------------------------------------------------------------


def _slow(
    loop: Loop, scalars: Mapping[str, DType], just_stored: frozenset[str], around: Around
) -> Slow:
    """When a loop does nothing but adding up, and vector registers do not help it."""
    if loop.kind not in ("vector", "serial"):
        return "never"
    every = list(statements(loop.body))
    sums = {stmt.buffer for stmt in every if isinstance(stmt, Accumulate)}
    if not sums or not all(map(scalars.__contains__, sums)):
        return "never"
    if not all(_folds(stmt, scalars, sums) for stmt in every):
        return "never"
    exprs = [expr for stmt in every for expr in expressions(stmt)]
    if any(isinstance(node, Call) for expr in exprs for node in nodes(expr)):
        return "never"
    if sum(map(operations, exprs)) + len(every) > MOST:
        return "never"
    if isinstance(loop.extent, Const):
        wide = min(scalars[name].bytes for name in sums)
        if _is_worth(loop, around, int(loop.extent.value) * wide):
            return "known"
    only_adds = all(stmt.op == "add" for stmt in every if isinstance(stmt, Accumulate))
    if loop.kind == "serial":
        is_tested = any(isinstance(stmt, If) for stmt in loop.body)
        return "always" if only_adds and is_tested else "never"
    loads = [load for stmt in every for load in loads_of(stmt)]
    lets = index_names(loop.body)
    steps = [(load, step_of(substitute(load.index, lets), loop.var)) for load in loads]
    are_apart = any(step is None or abs(step) > NEAR for _, step in steps)
    are_apart = are_apart and not any(_is_gathered(load, lets) for load in loads)
    if only_adds and are_apart:
        return "always"
    if only_adds:
        helps_short = any(
            load.buffer in just_stored and load.dtype.bytes >= WIDE for load, step in steps if step
        )
    else:  # of a column of integers; to fill registers pays off where it is long
        is_tested = any(scalars[name].is_float for name in sums)
        helps_short = are_apart and not is_tested and isinstance(loop.extent, Const | Var)
    if helps_short and isinstance(loop.extent, Const):
        return "always" if loop.extent.value < SHORT else "never"
    return "short" if helps_short else "never"


def _is_worth(loop: Loop, around: Around, width: int) -> bool:
    """Whether a fold of so many bytes is done without vector registers.

    Extremes of rows that a kernel goes over are done in registers meanwhile.
    """
    if not all(isinstance(stmt, Let | Accumulate) for stmt in loop.body) or loop.extent == const(1):
        return False
    if any(stmt.op in ("min", "max") for stmt in loop.body if isinstance(stmt, Accumulate)):
        return around == "step" and width < 2 * KNOWN
    return around != "nothing" and width < KNOWN


def _folds(stmt: Stmt, scalars: Mapping[str, DType], sums: set[str]) -> bool:
    """Whether a statement folds a number, names it, or says that something is not so."""
    if any(load.buffer in scalars for load in loads_of(stmt)):
        return False
    match stmt:
        case Accumulate(_, _, _, value):
            return value.dtype.kind in ("int", "uint", "float")
        case Store(buffer, _, value):
            return buffer in scalars and buffer not in sums and isinstance(value, Const)
        case Let() | If():
            return True
        case _:
            return False


def _is_gathered(load: Load, lets: Mapping[str, Expr]) -> bool:
    """Whether an array says which element is read: processors gather those by one instruction."""
    return any(isinstance(node, Load) for node in nodes(substitute(load.index, lets)))


def written_out(loop: Loop, scalars: Mapping[str, DType], taken: set[str]) -> Iterator[Stmt]:
    """The iterations of a loop of known length that only folds into some of these scalars."""
    assert isinstance(loop.extent, Const)
    return _Sides(loop, scalars, taken).written_out(int(loop.extent.value))


# --- the loops that take their place --------------------------------------------------------------


class _Sides:
    """One loop, on its way to several sums."""

    def __init__(self, loop: Loop, scalars: Mapping[str, DType], taken: set[str]) -> None:
        self.loop = loop
        self.taken = taken
        folds = [stmt for stmt in statements(loop.body) if isinstance(stmt, Accumulate)]
        self.ops: dict[str, AccumulateOp] = {fold.buffer: fold.op for fold in folds}
        most = int(loop.extent.value) if isinstance(loop.extent, Const) else SIDES
        self.sides: dict[str, list[str]] = {}
        for name, op in self.ops.items():
            is_tested = op in ("min", "max") and scalars[name].is_float
            count = min(most, EXTREMES if is_tested else SIDES)
            self.sides[name] = [name, *(fresh(name, taken) for _ in range(1, count))]
        self.dtypes = {name: scalars[name] for name in self.ops}
        self.empty: set[str] = set()

    def written_out(self, count: int) -> Iterator[Stmt]:
        """The scalars, so many iterations without jumps, the end."""
        whole = count // SIDES if count >= 2 * SIDES else 0
        yield from self.scalars(is_filled=whole > 0)
        if whole:
            yield self.fours(const(whole), "unroll")
        for number in range(whole * SIDES, count):
            yield from self.copy(number, {self.loop.var.name: const(number)})
        yield from self.added_up()

    def scalars(self, *, is_filled: bool = True) -> Iterator[Stmt]:
        """The sums beside those that there are, with nothing in them if they are to be filled.

        The others are, by the first that is added to them.
        """
        for name, sides in self.sides.items():
            dtype = self.dtypes[name]
            op = self.ops[name]
            # A register is cleared faster than filled with -0.0, which adds nothing to -0.0 either.
            none = Const(0.0 if dtype.is_float else 0, dtype)
            start = none if op == "add" else identity(op, dtype)
            for side in sides[1:]:
                yield Alloc(Buffer(side, dtype, (), "local"))
                if is_filled:
                    yield Store(side, _ZERO, start)
                else:
                    self.empty.add(side)

    def fours(self, count: Expr, kind: LoopKind) -> Loop:
        """The loop over four iterations at a time."""
        old = self.loop.var
        four, first = self.named(f"{old.name}_four"), self.named(old.name)
        body: list[Stmt] = [Let(first, mul(four, const(SIDES)))]
        for number in range(SIDES):
            body += self.copy(number, {old.name: add(first, const(number))})
        return Loop(four, count, kind, tuple(body), self.loop.note)

    def added_up(self) -> Iterator[Stmt]:
        """Each sum from its sides: pairs first, which do not wait for each other."""
        for name, sides in self.sides.items():
            apart = 1
            while apart < len(sides):
                for into, of in zip(sides[:: 2 * apart], sides[apart :: 2 * apart], strict=False):
                    value = Load(of, _ZERO, self.dtypes[name])
                    yield Accumulate(into, _ZERO, self.ops[name], value)
                apart *= 2

    def statements(self) -> Iterator[Stmt]:
        """The scalars, the loop over four iterations at a time, that over the rest, the end."""
        yield from self.scalars()
        old, extent = self.loop.var, self.loop.extent
        if names_in(extent) and not isinstance(extent, Var):
            whole = Var(fresh(f"{old.name}_count", self.taken), extent.dtype)
            yield Let(whole, extent)
            extent = whole
        rest = self.named(f"{old.name}_rest")
        count, left = groups(extent, SIDES)
        yield self.fours(count, "serial")
        if left != _ZERO:
            last = self.named(old.name)
            own = (Let(last, add(mul(count, const(SIDES)), rest)), *self.copy(0, {old.name: last}))
            yield Loop(rest, left, "serial", own)
        yield from self.added_up()

    def named(self, name: str) -> Var:
        """A new number."""
        return Var(fresh(name, self.taken), self.loop.var.dtype)

    def copy(self, number: int, values: Mapping[str, Expr]) -> Sequence[Stmt]:
        """The statements of an iteration for its scalars, with names of their own."""
        return self.copied(self.loop.body, number, dict(values))

    def copied(self, body: Block, number: int, known: dict[str, Expr]) -> Block:
        out: list[Stmt] = []
        for stmt in body:
            match stmt:
                case Let(var, value):
                    new = Var(fresh(var.name, self.taken), var.dtype)
                    out.append(Let(new, substitute(value, known)))
                    known = {**known, var.name: new}
                case Accumulate(buffer, index, op, value):
                    sides = self.sides[buffer]
                    own, value = sides[number % len(sides)], substitute(value, known)
                    if own in self.empty:
                        self.empty.remove(own)
                        out.append(Store(own, index, value))
                    else:
                        out.append(Accumulate(own, index, op, value))
                case Store():
                    out.append(stmt)
                case If(condition, then, otherwise):
                    one, other = (self.copied(b, number, known) for b in (then, otherwise))
                    out.append(If(substitute(condition, known), one, other))
                case _:
                    raise AssertionError(stmt)
        return tuple(out)
