"""registers: sums that are short, or computed again and again, go to several vector registers.

A sum in one register waits for each addition, four cycles for every eight numbers, and at its end
compilers bring what is left over and the lanes of the register through memory, one after the other.
That takes longer than to add up a row of some hundred numbers. An array of lanes gcc keeps in more
than one register, whose additions do not wait for each other, and folds it there.

    for i in vector(n): acc += a[i]*b[i]

    if n // 16 > 0:
      alloc lanes[16]
      for k in vector(16): lanes[k] = 0
      for block in serial(n // 16):
        let first = block*16
        for k in vector(16): let i = first + k; lanes[k] += a[i]*b[i]
      for k in vector(8): lanes[k] += lanes[k + 8]
      acc += ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ...
    for rest in serial(n % 16): let i = n//16*16 + rest; acc += a[i]*b[i]

What is left of a known length is written out (`side_by_side.py`). Extremes of a known length in a
step go to lanes in the same way, each in a loop of its own.

Such sums are those of rows in a loop, of the kernel or of the program around it. Chunks of an
array are rows if a loop of the program goes over them: else they have some thousand numbers.
Results of chunks, which are added up after them, are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import is_

from symc.codegen.blocks import repeated_kernels
from symc.codegen.dtypes import BOOL, FLOAT32, FLOAT64, INT64, DType
from symc.codegen.ir import (
    Accumulate,
    AccumulateOp,
    Alloc,
    Binary,
    Buffer,
    Call,
    Cast,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Stmt,
    Store,
    Var,
    add,
    const,
    mul,
    sub,
)
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.loops.dependence import step_of
from symc.codegen.passes.vectors.reductions import identity
from symc.codegen.passes.vectors.side_by_side import written_out
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
from symc.codegen.record import replace

BYTES = 128  # of the lanes: two registers of the widest kind, four of others
END = 64  # bytes of lanes that are added up one by one in the end
MOST = 16  # operations of an iteration, loads among them: more keep a processor busy meanwhile
SUMS = 2  # sums of a loop: registers for more are not there

_ZERO = const(0)


def registers(program: Program) -> Program:
    """The program with such sums in several registers."""
    repeated = repeated_kernels(program)
    return map_kernels(program, lambda kernel: _kernel(kernel, kernel.name in repeated))


def folds_lanes(loop: Loop) -> bool:
    """Whether a loop adds half of the lanes to the other half."""
    return loop.kind == "vector" and all(
        isinstance(stmt, Accumulate)
        and stmt.index == loop.var
        and isinstance(stmt.value, Load)
        and stmt.value.buffer == stmt.buffer
        for stmt in loop.body
    )


def _kernel(kernel: Kernel, is_repeated: bool) -> Block:
    every = list(statements(kernel.body))
    if not any(isinstance(stmt, Accumulate) for stmt in every):
        return kernel.body
    scalars = {
        stmt.buffer.name: stmt.buffer.dtype
        for stmt in every
        if isinstance(stmt, Alloc) and not stmt.buffer.shape
    }
    taken = bound(kernel)
    sizes = {size.name for size in kernel.sizes}
    chunks = [s.extent for s in every if isinstance(s, Loop) and s.kind == "parallel"]

    def is_row(loop: Loop, is_inside: bool) -> bool:
        if not is_inside or loop.extent in chunks:
            return False
        is_chunk = isinstance(loop.extent, Binary) and loop.extent.op == "min"
        return names_in(loop.extent) <= sizes or (is_repeated and is_chunk)

    def block(body: Block, *, is_inside: bool, whole: bool) -> Block:
        found: list[Stmt] = []
        for stmt in body:
            is_fold = isinstance(stmt, Loop) and is_row(stmt, is_inside)
            if isinstance(stmt, Loop) and is_fold and _only_adds(stmt, scalars, whole):
                for loop in _folds(stmt):
                    found += _Lanes(loop, scalars, taken).statements()
            else:
                is_loop = isinstance(stmt, Loop)
                deeper = partial(block, is_inside=is_inside or is_loop, whole=whole and not is_loop)
                found.append(rebuild_statement(stmt, lambda expr: expr, deeper))
        same = len(found) == len(body) and all(map(is_, found, body))
        return body if same else tuple(found)

    return block(kernel.body, is_inside=is_repeated, whole=is_repeated)


def _only_adds(loop: Loop, scalars: Mapping[str, DType], whole: bool) -> bool:
    """Whether a vector loop does nothing but adding up a few numbers, neighbours in memory.

    Others fill registers slowly enough, by functions, conversions and gathering. With `whole`,
    which is no loop over one of many rows, it may also take extremes, if its length is known.
    """
    if loop.kind != "vector":
        return False
    if not all(isinstance(stmt, Let | Accumulate) for stmt in loop.body):
        return False
    sums = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
    if not sums or len({stmt.buffer for stmt in sums}) < len(sums) or len(sums) > SUMS:
        return False
    takes_extremes = whole and isinstance(loop.extent, Const)
    for stmt in sums:
        dtype = stmt.value.dtype
        fits = dtype.is_float if stmt.op == "add" else takes_extremes and dtype is FLOAT64
        if stmt.op not in ("add", "min", "max") or stmt.buffer not in scalars or not fits:
            return False
    if any(load.buffer in scalars for stmt in loop.body for load in loads_of(stmt)):
        return False
    if isinstance(loop.extent, Const):
        width = max(stmt.value.dtype.bytes for stmt in sums)
        if loop.extent.value * width < BYTES:
            return False
    exprs = [expr for stmt in loop.body for expr in expressions(stmt)]
    every = [node for expr in exprs for node in nodes(expr)]
    if any(
        isinstance(node, Call) or (isinstance(node, Cast) and not _widens(node)) for node in every
    ):
        return False
    lets = index_names(loop.body)
    steps = [
        step_of(substitute(load.index, lets), loop.var)
        for stmt in loop.body
        for load in loads_of(stmt)
    ]
    if any(step is None or abs(step) > 1 for step in steps):
        return False
    return sum(map(operations, exprs)) + len(loop.body) <= MOST


def _widens(cast: Cast) -> bool:
    """Whether a conversion is that of floats for a sum in double precision."""
    return cast.x.dtype is FLOAT32 and cast.dtype is FLOAT64


def _folds(loop: Loop) -> list[Loop]:
    """The loop, or one for each fold if one is an extreme: compilers mix up such lanes."""
    folds = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
    if all(fold.op == "add" for fold in folds):
        return [loop]
    lets = tuple(stmt for stmt in loop.body if isinstance(stmt, Let))
    return [replace(loop, body=(*lets, fold)) for fold in folds]


class _Lanes:
    """One loop, on its way to several registers."""

    def __init__(self, loop: Loop, scalars: Mapping[str, DType], taken: set[str]) -> None:
        self.loop = loop
        self.taken = taken
        sums = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
        self.lanes = {s.buffer: fresh(f"{s.buffer}_lanes", taken) for s in sums}
        self.dtypes = {s.buffer: scalars[s.buffer] for s in sums}
        self.ops: dict[str, AccumulateOp] = {s.buffer: s.op for s in sums}
        self.width = max(dtype.bytes for dtype in self.dtypes.values())
        self.count = BYTES // self.width

    def statements(self) -> Iterator[Stmt]:
        """The loop over blocks of the lanes, if there are some, and that over what is left."""
        extent = self.loop.extent
        if isinstance(extent, Const):
            yield from self.of_known_length(int(extent.value))
            return
        if names_in(extent) and not isinstance(extent, Var):
            whole = self.named(f"{self.loop.var.name}_count")
            yield Let(whole, extent)
            extent = whole
        blocks = self.named("blocks")
        yield Let(blocks, Binary("floordiv", extent, const(self.count), INT64))
        yield If(Binary("lt", _ZERO, blocks, BOOL), tuple(self.in_lanes(blocks)))
        done, rest = mul(blocks, const(self.count)), self.named(f"{self.loop.var.name}_rest")
        left = Binary("min", sub(extent, done), extent, INT64)
        yield Loop(rest, left, "serial", tuple(self.copied(add(done, rest), None)))

    def of_known_length(self, length: int) -> Iterator[Stmt]:
        """The same of a loop whose blocks and rest are known."""
        blocks = length // self.count
        yield from self.in_lanes(const(blocks))
        if left := length - blocks * self.count:
            rest = self.named(f"{self.loop.var.name}_rest")
            body = tuple(self.copied(add(const(blocks * self.count), rest), None))
            loop = Loop(rest, const(left), "serial", body)
            if all(op == "add" for op in self.ops.values()):
                yield from written_out(loop, self.dtypes, self.taken)
            else:
                yield loop  # the steps of extremes are faster one by one than a few side by side

    def in_lanes(self, blocks: Expr) -> Iterator[Stmt]:
        """The lanes, the loop over blocks, and the lanes' sum."""
        for name, to in self.lanes.items():
            yield Alloc(Buffer(to, self.dtypes[name], (const(self.count),), "local"))
        k = self.named("lane")
        starts = [Store(to, k, self.nothing(name)) for name, to in self.lanes.items()]
        yield self.over(k, self.count, starts)
        block, first, k = self.named("block"), self.named("first"), self.named("lane")
        body = (
            Let(first, mul(block, const(self.count))),
            self.over(k, self.count, self.copied(add(first, k), k)),
        )
        yield Loop(block, blocks, "serial", body, self.loop.note)
        yield from self.folded()

    def folded(self) -> Iterator[Stmt]:
        """Half of the lanes added to the other half, until few are left, which are added up."""
        count = self.count
        while count * self.width > END:
            count //= 2
            k = self.named("lane")
            halves: list[Stmt] = [
                Accumulate(
                    lanes, k, self.ops[name], Load(lanes, add(k, const(count)), self.dtypes[name])
                )
                for name, lanes in self.lanes.items()
            ]
            yield self.over(k, count, halves)
        for name, lanes in self.lanes.items():
            dtype, op = self.dtypes[name], self.ops[name]
            if op != "add":
                yield from self.chosen(name, lanes, count)
                continue
            terms: list[Expr] = [Load(lanes, const(n), dtype) for n in range(count)]
            while len(terms) > 1:
                pairs = zip(terms[::2], terms[1::2], strict=True)
                terms = [Binary("add", one, other, dtype) for one, other in pairs]
            yield Accumulate(name, _ZERO, "add", terms[0])

    def chosen(self, name: str, lanes: str, count: int) -> Iterator[Stmt]:
        """The extreme of these lanes: each half of them first, which do not wait for each other."""
        dtype, op = self.dtypes[name], self.ops[name]
        other = fresh(name, self.taken)
        yield Alloc(Buffer(other, dtype, (), "local"))
        yield Store(other, _ZERO, Load(lanes, const(count // 2), dtype))
        for n in range(count // 2):
            yield Accumulate(name, _ZERO, op, Load(lanes, const(n), dtype))
            if n:
                yield Accumulate(other, _ZERO, op, Load(lanes, const(count // 2 + n), dtype))
        yield Accumulate(name, _ZERO, op, Load(other, _ZERO, dtype))

    def nothing(self, name: str) -> Const:
        """What a lane begins with."""
        op, dtype = self.ops[name], self.dtypes[name]
        return Const(0.0, dtype) if op == "add" else identity(op, dtype)

    def copied(self, number: Expr, lane: Var | None) -> list[Stmt]:
        """The statements of an iteration, for lanes or for the sums, with names of their own."""
        i = self.named(self.loop.var.name)
        out: list[Stmt] = [Let(i, number)]
        known: dict[str, Expr] = {self.loop.var.name: i}
        for stmt in self.loop.body:
            if isinstance(stmt, Let):
                new = Var(fresh(stmt.var.name, self.taken), stmt.var.dtype)
                out.append(Let(new, substitute(stmt.value, known)))
                known[stmt.var.name] = new
            else:
                assert isinstance(stmt, Accumulate)
                value = substitute(stmt.value, known)
                name = stmt.buffer if lane is None else self.lanes[stmt.buffer]
                out.append(Accumulate(name, _ZERO if lane is None else lane, stmt.op, value))
        return out

    def over(self, k: Var, count: int, body: Sequence[Stmt]) -> Loop:
        """A loop over so many lanes."""
        return Loop(k, const(count), "vector", tuple(body))

    def named(self, name: str) -> Var:
        """A new number."""
        return Var(fresh(name, self.taken), INT64)
