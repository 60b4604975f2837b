"""The first half of `simplify`: one walk that folds, merges equal values, and hoists.

Blocks are rebuilt from the outside in. A `Let` lands in the outermost block that has its operands,
before the loop under construction there; a `Let` whose value is already named becomes that name.

Loads are versioned: every write to a buffer begins a new version of it, and so does the begin and
the end of a loop or branch that writes it. Two loads are equal if their versions are.

A hoisted load also runs where the loop has no iterations. So it only leaves loops that surely run,
or whose length has nothing to do with the index and the buffer's own shape: does not follow from
any size that those follow from, too. Loads at a constant index of a buffer that surely has that
element leave any loop. Those at places that are given or read, and not said by a loop around, stay
in loops that may not run: whether such a place is in range is asked of as many as there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import assert_never

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Buffer,
    Call,
    Cast,
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
    Select,
    Stmt,
    Store,
    Unary,
    Var,
)
from symc.codegen.passes.expressions.fold import fold
from symc.codegen.passes.expressions.powers import by_power
from symc.codegen.passes.strips import map_cut
from symc.codegen.passes.walk import Block, names_in, nodes, rebuild, written
from symc.codegen.record import record


@record(frozen=False)
class _Open:
    """A block under construction. Values may only leave a loop's body, never a branch."""

    out: list[Stmt]
    loop: Loop | None = None
    written: frozenset[str] = frozenset()
    runs: bool = False
    extent: frozenset[str] = frozenset()  # the names in the loop's
    closed: bool = False


def share(
    kernel: Kernel, sources: Mapping[str, frozenset[str]], counts: Mapping[str, int]
) -> Block:
    """The kernel's body after folding, merging and hoisting.

    See `sources_of` for `sources`, and `counts_of` for `counts`.
    """
    sharing = _Sharing(kernel, sources, counts)
    sharing.block(kernel.body)
    return tuple(sharing.open[0].out)


def sources_of(program: Program) -> dict[str, dict[str, frozenset[str]]]:
    """For each kernel, what its sizes and its buffers' shapes follow from: sizes of the program.

    Those are lengths of arguments, and what is measured: all other sizes are computed from them. So
    the start and the length of one slice are known to be related, where the kernel has names for
    each.
    """
    origins: dict[str, frozenset[str]] = {}

    def origin(exprs: Iterable[Expr]) -> frozenset[str]:
        names = _names(exprs)
        return frozenset[str]().union(*(origins.get(name, frozenset((name,))) for name in names))

    for size in program.sizes:
        found = frozenset[str]() if size.value is None else origin((size.value,))
        origins[size.var.name] = found or frozenset((size.var.name,))
    shapes = {buffer.name: origin(buffer.shape) for buffer in program.buffers}
    kernels = {kernel.name: kernel for kernel in program.kernels}
    sources: dict[str, dict[str, frozenset[str]]] = {name: {} for name in kernels}
    for launch in every_step(program.steps):
        if isinstance(launch, Launch):
            own = sources[launch.kernel]
            given = [shapes[name] for name in launch.buffers]
            given += [origin((size,)) for size in launch.sizes]
            for name, found in zip(_given_names(kernels[launch.kernel]), given, strict=True):
                own[name] = own.get(name, frozenset()) | found
    for name, own in sources.items():
        if not own:  # nothing launches it: all may be related
            names = _given_names(kernels[name])
            own.update(dict.fromkeys(names, frozenset(names)))
    return sources


def _given_names(kernel: Kernel) -> list[str]:
    """The names that a launch gives values to."""
    return [*(param.name for param in kernel.params), *(size.name for size in kernel.sizes)]


def counts_of(program: Program) -> dict[str, dict[str, int]]:
    """For each kernel and each parameter of it whose length is known: how many elements it has."""
    shapes = {buffer.name: buffer.shape for buffer in program.buffers}
    kernels = {kernel.name: kernel for kernel in program.kernels}
    counts: dict[str, dict[str, int]] = {name: {} for name in kernels}
    for step in every_step(program.steps):
        if isinstance(step, Launch):
            found = counts[step.kernel]
            for param, name in zip(kernels[step.kernel].params, step.buffers, strict=True):
                lengths = [int(n.value) if isinstance(n, Const) else 0 for n in shapes[name]]
                count = prod(lengths)
                found[param.name] = min(found.get(param.name, count), count)
    return counts


def _names(exprs: Iterable[Expr]) -> frozenset[str]:
    return frozenset[str]().union(*map(names_in, exprs))


def _known_condition(expr: Expr) -> Expr:
    match expr:
        case Unary("not", Const(value), dtype):
            return Const(not value, dtype)
        case Select(Const(value), then, otherwise):
            return then if value else otherwise
        case _:
            return expr


class _Sharing:
    """The state of one walk."""

    def __init__(
        self, kernel: Kernel, sources: Mapping[str, frozenset[str]], counts: Mapping[str, int]
    ) -> None:
        self.open = [_Open([])]
        # What sizes, shapes of buffers, and integers computed from sizes follow from:
        self.sources = dict(sources)
        self.counts = counts
        self.scalars: set[str] = set()  # local buffers of one element
        self.sizes = frozenset(size.name for size in kernel.sizes)
        self.level: dict[str, int] = {}  # of names and local buffers; 0 for parameters
        self.values: dict[str, Expr] = {}  # names that are another name or a constant
        self.known: dict[object, tuple[Var, _Open]] = {}  # the names of values, and their blocks
        self.version: dict[str, int] = {}
        self.clock = 0
        self.extents: dict[str, Expr] = {}  # of the loop variables in scope
        # The dependences of the expression that `expr` has just walked:
        self.deepest = 0
        self.names: list[str] = []
        self.loads: list[str] = []
        self.risky: list[str] = []  # those of the loads that may be out of range
        self.is_asked = False  # whether some of these are at places that no loop variable says
        self.places: set[str] = set()  # integers that are not made of loop variables alone

    def block(self, block: Block) -> None:
        """Process the statements of a block into the innermost open one."""
        for stmt in block:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        """Process one statement."""
        match stmt:
            case Let():
                self.let(stmt)
            case Store(buffer, index, value):
                i, v = self.expr(index), self.expr(value)
                self.put(stmt if i is index and v is value else Store(buffer, i, v))
                self.bump((buffer,))
            case Accumulate(buffer, index, op, value):
                i, v = self.expr(index), self.expr(value)
                same = i is index and v is value
                self.put(stmt if same else Accumulate(buffer, i, op, v))
                self.bump((buffer,))
            case Loop():
                self.loop(stmt)
            case If(condition, then, otherwise):
                self.branch(self.expr(condition), then, otherwise)
            case Alloc(buffer):
                shape = tuple(map(self.expr, buffer.shape))
                self.level[buffer.name] = len(self.open) - 1
                self.sources[buffer.name] = self.origin(_names(shape))
                if not shape:
                    self.scalars.add(buffer.name)
                self.put(Alloc(Buffer(buffer.name, buffer.dtype, shape, buffer.role)))
            case Barrier():  # others may have written anything
                self.put(stmt)
                self.bump((*self.version, *self.level))
            case Combine(buffer):
                self.put(stmt)
                self.bump((buffer,))
            case _:
                assert_never(stmt)

    def put(self, stmt: Stmt) -> None:
        """Append a statement to the innermost open block."""
        self.open[-1].out.append(stmt)

    def bump(self, buffers: Iterable[str]) -> None:
        """Begin a new version of some buffers."""
        for buffer in buffers:
            self.clock += 1
            self.version[buffer] = self.clock

    def let(self, stmt: Let) -> None:
        """Name a value, unless it has a name or needs none."""
        var = stmt.var
        self.deepest = 0
        self.names.clear()
        self.loads.clear()
        self.risky.clear()
        self.is_asked = False
        value = self.expr(stmt.value)
        if type(value) is Var or type(value) is Const:
            self.values[var.name] = value
            return
        loads = self.loads
        key: object = value
        if loads:
            key = (value, *[self.version.get(buffer, 0) for buffer in loads])
        home = self.home()
        block = self.open[home]
        name, where = self.known.setdefault(key, (var, block))
        if where.closed:
            self.known[key] = var, block
        elif name is not var:
            self.values[var.name] = name
            return
        block.out.append(stmt if value is stmt.value else Let(var, value))
        if var.dtype is INT64:
            self.sources[var.name] = self.origin(self.names)
            if self.is_place(value):
                self.places.add(var.name)
        self.level[var.name] = home

    def home(self) -> int:
        """The outermost block in which the value that `expr` has just walked can be computed."""
        level = len(self.open) - 1
        while level > self.deepest:
            block = self.open[level]
            if block.loop is None or (self.loads and not self.may_leave(block)):
                break
            level -= 1
        return level

    def may_leave(self, block: _Open) -> bool:
        """Whether the loads of the present value may move before the loop with this body."""
        if not block.written.isdisjoint(self.loads):
            return False
        if block.runs or not self.risky:
            return True
        if self.is_asked or not block.extent <= self.sizes:
            return False
        related = self.origin(block.extent)
        return related.isdisjoint(self.origin((*self.names, *self.risky)))

    def is_place(self, index: Expr) -> bool:
        """Whether an index is more than sums and products in which there are loop variables."""
        found, names = list(nodes(index)), names_in(index)
        if not all(isinstance(node, Const | Var | Binary) for node in found):
            return True
        if any(isinstance(n, Binary) and n.op not in ("add", "sub", "mul") for n in found):
            return True
        return not names.isdisjoint(self.places) or not any(self.level.get(n, 0) for n in names)

    def origin(self, names: Iterable[str]) -> frozenset[str]:
        """What the values of some names, or the shapes of buffers, follow from."""
        none = frozenset[str]()
        return none.union(*(self.sources.get(name, none) for name in names))

    def loop(self, loop: Loop) -> None:
        """A loop of length 0 is dropped, and of length 1 replaced by its body."""
        extent, cut = self.expr(loop.extent), map_cut(loop.cut, self.expr)
        if isinstance(extent, Const) and extent.value <= 1:
            if extent.value == 1:
                self.values[loop.var.name] = Const(0)
                self.block(loop.body)
            return
        name, stores = loop.var.name, written(loop.body)
        runs = isinstance(extent, Const) or extent in self.extents.values()
        self.bump(stores)
        body = _Open([], loop, stores, runs, names_in(extent))
        self.extents[name] = extent
        self.enter(body, loop.body, name)
        del self.extents[name]
        self.bump(stores)
        self.put(Loop(loop.var, extent, loop.kind, tuple(body.out), loop.note, cut))

    def branch(self, condition: Expr, then: Block, otherwise: Block) -> None:
        """An If whose condition is known is replaced by one of its blocks."""
        if isinstance(condition, Const):
            self.block(then if condition.value else otherwise)
            return
        first, second = _Open([]), _Open([])
        self.enter(first, then)
        self.bump(written(then))
        self.enter(second, otherwise)
        self.bump(written(otherwise))
        self.put(If(condition, tuple(first.out), tuple(second.out)))

    def enter(self, block: _Open, body: Block, name: str | None = None) -> None:
        """Process `body` into `block`, whose names end with it."""
        self.open.append(block)
        if name is not None:
            self.level[name] = len(self.open) - 1
        self.block(body)
        self.open.pop()
        block.closed = True

    def expr(self, expr: Expr) -> Expr:
        """Rebuild an expression, noting its dependences."""
        if type(expr) is Var:
            value = self.values.get(expr.name, expr)
            if type(value) is Var:
                self.depend(value.name)
                self.names.append(value.name)
            return value
        if type(expr) is Binary:
            a, b = self.expr(expr.left), self.expr(expr.right)
            same = a is expr.left and b is expr.right
            new = expr if same else Binary(expr.op, a, b, expr.dtype)
            if a.dtype is INT64 or a.dtype is BOOL:
                return fold(new, self.extents)
            return by_power(new) if new.op == "mod" else new
        match expr:
            case Const():
                return expr
            case Load(buffer, index):
                self.depend(buffer)
                self.loads.append(buffer)
                safe = isinstance(index, Const) and index.value < self.counts.get(buffer, 0)
                index = self.expr(index)
                if not safe and buffer not in self.scalars:
                    self.risky.append(buffer)
                    self.is_asked |= self.is_place(index)
                return expr if index is expr.index else Load(buffer, index, expr.dtype)
            case Cast(x, dtype):
                return self.expr(x) if x.dtype is dtype else rebuild(expr, self.expr)
            case Call("fmod", (x, y), dtype):
                return by_power(Call("fmod", (self.expr(x), self.expr(y)), dtype))
            case _:
                return _known_condition(rebuild(expr, self.expr))

    def depend(self, name: str) -> None:
        """Note that the present expression needs a name or a buffer."""
        level = self.level.get(name, 0)
        if level > self.deepest:
            self.deepest = level
