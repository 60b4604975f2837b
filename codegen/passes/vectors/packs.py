"""packs: loops that gather and scatter compute some of their iterations side by side.

A loop that writes at computed places runs an element at a time, as neighbours may write to the same
place. But nothing that it computes depends on what it writes. So the numbers of four iterations, a
pack, are computed in one vector register; only what is gathered enters it element by element, and
only what is scattered leaves it so, in the order of the iterations:

    for i in packs(n): let v = y[i] - a[k[i]]*x[i]; acc += v*v; out[k[i]] += v*x[i]

    v0..v3 = y[i..i+3] - (a[k[i]], a[k[i+1]], a[k[i+2]], a[k[i+3]]) * x[i..i+3]

Sums of scalars have a lane for each iteration of a pack. Two scatters to neighbouring elements (see
`interleave`) are one of pairs. The iterations that are left at the end run one at a time.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from symc.codegen.dtypes import DType
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Cast,
    Expr,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    add,
    const,
)
from symc.codegen.passes.loops.dependence import accesses, is_unit
from symc.codegen.passes.walk import (
    Block,
    map_kernels,
    names_in,
    nodes,
    rebuild_statement,
    statements,
    substitute,
)
from symc.codegen.record import record

MOST = 64  # statements, and operations of a value
ALONE = 1  # scatters that are no pairs: to take more apart takes longer than packs save
WORTH = 3  # operations of an iteration, from which a pack is faster than one after the other
CONVERTED = 3  # operations that an integer costs of which a float is made: it is put in by itself
REAL = ("float32", "float64")


@record
class PackScatter:
    """An addition at a computed place, or two such at neighbouring places."""

    buffer: str
    index: Expr
    values: tuple[Expr, ...]


@record
class PackForm:
    """How the statements of a loop are done for a pack."""

    dtype: DType
    """Of the numbers in packs."""
    moving: frozenset[str]
    """The names that differ between iterations."""
    packed: frozenset[str]
    """Those of them that are packs; of each of the others there is one for each lane."""
    scatters: tuple[PackScatter, ...]
    """What is added at computed places, after all else has been done."""
    folds: tuple[Accumulate, ...]
    """What is added to scalars."""

    def is_moving(self, expr: Expr) -> bool:
        """Whether a value differs between iterations."""
        return not self.moving.isdisjoint(names_in(expr))


def packs(program: Program) -> Program:
    """The program with its scatters marked `packs` where they have that form."""
    return map_kernels(program, _kernel)


def local_scalars(kernel: Kernel) -> frozenset[str]:
    """The scalars that a kernel declares."""
    found = (stmt for stmt in statements(kernel.body) if isinstance(stmt, Alloc))
    return frozenset(stmt.buffer.name for stmt in found if not stmt.buffer.shape)


def _kernel(kernel: Kernel) -> Block:
    scalars: list[frozenset[str]] = []

    def block(body: Block) -> Block:
        if not any(isinstance(stmt, Loop) for stmt in body):
            return body
        return tuple([statement(stmt) for stmt in body])

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop) and stmt.kind == "serial" and _is_flat(stmt):
            if not scalars:
                scalars.append(local_scalars(kernel))
            if pack_form(stmt, scalars[0]) is None:
                return stmt
            return Loop(stmt.var, stmt.extent, "packs", stmt.body, stmt.note, stmt.cut)
        return rebuild_statement(stmt, lambda expr: expr, block)

    return block(kernel.body)


def _is_flat(loop: Loop) -> bool:
    return all(isinstance(stmt, Let | Store | Accumulate) for stmt in loop.body)


def pack_form(loop: Loop, scalars: AbstractSet[str]) -> PackForm | None:
    """How a loop is done in packs, if it can be and gains by it."""
    form = possible_form(loop, scalars)
    if form is None or sum(len(s.values) == 1 for s in form.scatters) > ALONE:
        return None
    return form


def possible_form(loop: Loop, scalars: AbstractSet[str]) -> PackForm | None:
    """How a loop is done in packs, if it can be, and gains by it if its scatters go in pairs."""
    if loop.kind not in ("serial", "packs") or not _is_flat(loop) or len(loop.body) > MOST:
        return None
    writes = [stmt for stmt in loop.body if isinstance(stmt, Accumulate | Store)]
    dtypes = {stmt.value.dtype for stmt in writes if stmt.value.dtype.name in REAL}
    if len(dtypes) != 1:
        return None
    found = accesses(loop)
    if not found.reads.isdisjoint(found.writes):
        return None
    computed = {buffer for buffer in found.writes if found.places[buffer] == {None}}
    reading = _Reading(loop, dtypes.pop(), computed, scalars)
    return reading.form() if all(map(reading.takes, loop.body)) else None


class _Reading:
    """One loop, statement by statement, on the way to its form."""

    def __init__(
        self, loop: Loop, dtype: DType, computed: AbstractSet[str], scalars: AbstractSet[str]
    ) -> None:
        self.variable = loop.var.name
        self.dtype = dtype
        self.computed = computed
        self.scalars = scalars
        self.moving = {loop.var.name}
        self.packed: set[str] = set()
        self.lets: dict[str, Expr] = {}
        self.operations = 0
        self.scatters: list[PackScatter] = []
        self.folds: list[Accumulate] = []
        self.written: set[str] = set()

    def form(self) -> PackForm | None:
        """The form of the loop, of which every statement was taken."""
        scatters = _joined(self.scatters)
        if not scatters or self.operations < WORTH:
            return None
        if len({scatter.buffer for scatter in scatters}) < len(scatters):
            return None
        return PackForm(
            self.dtype,
            frozenset(self.moving),
            frozenset(self.packed),
            tuple(scatters),
            tuple(self.folds),
        )

    def takes(self, stmt: Stmt) -> bool:
        """Whether a statement has a form for packs."""
        match stmt:
            case Let():
                return self.name(stmt)
            case Store(buffer, index, value):
                fits = self.is_alone(index) and is_unit(self.out(index), self.variable)
                return fits and self.once(buffer) and self.is_pack(value)
            case Accumulate(op="add", buffer=buffer, value=value) if buffer in self.scalars:
                self.folds.append(stmt)
                return self.once(buffer) and self.is_pack(value)
            case Accumulate(op="add", buffer=buffer, index=index, value=value):
                self.scatters.append(PackScatter(buffer, index, (value,)))
                fits = buffer in self.computed and self.is_alone(index)
                return fits and self.is_moving(self.out(index)) and self.is_pack(value)
            case _:
                return False

    def name(self, let: Let) -> bool:
        """Whether a name may be a pack, or one for each lane, or one for all."""
        if not self.is_moving(let.value):
            return True
        self.moving.add(let.var.name)
        if let.var.dtype is self.dtype:
            self.packed.add(let.var.name)
            return self.is_pack(let.value)
        self.lets[let.var.name] = self.out(let.value)
        return self.is_alone(let.value)

    def out(self, expr: Expr) -> Expr:
        return substitute(expr, self.lets)

    def once(self, buffer: str) -> bool:
        """Whether no statement before has written to a buffer."""
        fresh = buffer not in self.written
        self.written.add(buffer)
        return fresh

    def is_moving(self, expr: Expr) -> bool:
        return not self.moving.isdisjoint(names_in(expr))

    def is_alone(self, expr: Expr) -> bool:
        """Whether each lane computes a value by itself: nothing in it is in a pack."""
        return self.packed.isdisjoint(names_in(expr))

    def is_pack(self, value: Expr) -> bool:
        """Whether a value is one that a pack holds: it differs between iterations."""
        if value.dtype is not self.dtype or not self.is_moving(value):
            return False
        if sum(1 for _ in nodes(value)) > MOST:
            return False
        return self.is_packable(value)

    def is_packable(self, value: Expr) -> bool:
        """Whether a value, or a part of one, can be computed for four iterations at a time."""
        if not self.is_moving(value):
            return value.dtype is self.dtype
        match value:
            case Var() | Load() | Cast():
                own = isinstance(value, Var) or self.is_alone(value)
                if isinstance(value, Cast) and value.x.dtype.is_integer:
                    self.operations -= CONVERTED
                return own and value.dtype is self.dtype
            case Unary("neg", x) if x.dtype is self.dtype:
                parts: Iterable[Expr] = (x,)
            case Binary("add" | "sub" | "mul" | "div", left, right) if left.dtype is self.dtype:
                parts = (left, right)
            case Select(condition, then, otherwise) if not self.is_moving(condition):
                parts = (then, otherwise)
            case _:
                return False
        self.operations += 1
        return all(map(self.is_packable, parts))


def _joined(scatters: Iterable[PackScatter]) -> list[PackScatter]:
    """The scatters, those to neighbouring elements of a table together."""
    found: list[PackScatter] = []
    for scatter in scatters:
        for place, other in enumerate(found):
            is_next = scatter.index == add(other.index, const(1)) and len(other.values) == 1
            if other.buffer == scatter.buffer and is_next:
                values = (*other.values, *scatter.values)
                found[place] = PackScatter(other.buffer, other.index, values)
                break
        else:
            found.append(scatter)
    return found
