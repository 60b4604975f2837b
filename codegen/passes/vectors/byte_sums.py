"""byte_sums: sums of bytes and of truth values are added up in lanes of one or two bytes.

    for j in vector(n): acc += int64(x[j])

    if n < 64: if n < 16: for j in serial(n): acc += int64(x[j])
               else: the same as below with 16, and in one part
    else:
      let blocks = n // 64; let left = n & 63
      for part in serial(ceil(blocks / 128)):
        let done = part*128
        alloc lanes[64] of uint16
        for k in vector(64): lanes[k] = 0
        for block in serial(min(128, blocks - done)):
          for k in vector(64): let j = (done + block)*64 + k; lanes[k] += uint16(x[j])
        if done + 128 >= blocks and left > 0:
          let before = 64 - left
          for k in vector(64):
            let j = blocks*64 + (k - before)
            lanes[k] += k >= before ? uint16(x[j]) : 0
        alloc wide[32] of uint32
        for k in vector(32): wide[k] = uint32(lanes[k]) + uint32(lanes[k + 32])
        for k in vector(16): wide[k] += wide[k + 16]
        ...
        acc += int64(wide[0] + wide[1] + wide[2] + wide[3])

A register has 64 bytes and eight sums of 64 bits: to widen each byte takes longer than all the
rest. And what is left of a row beside 64 bytes, which compilers take at a time if something has
one, is up to 63 bytes one by one. Elements that were added before contribute nothing to the vector
that ends a row. A lane has room for the terms of a part, so that no sum is another one.

Extremes in the same loop get one of their own, if `byte_folds.py` has a form for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import is_

from symc.codegen.dtypes import INT16, INT32, INT64, UINT8, UINT16, UINT32, DType
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Cast,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
    sub,
)
from symc.codegen.passes.strips import StripMining
from symc.codegen.passes.vectors.byte_folds import END, extremes_of, reads_rows_of_bytes
from symc.codegen.passes.vectors.few_terms import folds_numbers_at_hand
from symc.codegen.passes.vectors.overlapped import WIDTHS
from symc.codegen.passes.vectors.reductions import width_of_flag
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    map_kernels,
    own_names,
    rebuild_statement,
    statements,
)
from symc.codegen.record import record, replace

PART = 128  # vectors that are added up in the same lanes, and one more in the end
LANES: Mapping[str, DType] = {
    "uint8": UINT16, "int8": INT16, "uint16": UINT32, "int16": INT32,
}  # fmt: skip
"""The types that have room for so many numbers of each of these."""
FLAGS: Mapping[int, DType] = {8: UINT8, 16: UINT16}
"""The same of truth values, by the bits of what is compared."""
WIDE: Mapping[str, DType] = {"uint8": UINT16, "uint16": UINT32, "int16": INT32}
"""The types that have room for the sum of 64 lanes of these."""
_ZERO = const(0)


def byte_sums(program: Program) -> Program:
    """The program with its sums of bytes in narrow lanes."""
    return map_kernels(program, _kernel)


def _kernel(kernel: Kernel) -> Block:
    scalars = frozenset(
        stmt.buffer.name
        for stmt in statements(kernel.body)
        if isinstance(stmt, Alloc) and not stmt.buffer.shape
    )
    if not scalars:
        return kernel.body
    taken = bound(kernel)

    def block(body: Block) -> Block:
        found: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, Loop) and folds_numbers_at_hand(stmt, scalars):
                found += _in_narrow_lanes(stmt, taken)
            else:
                found.append(rebuild_statement(stmt, lambda expr: expr, block))
        same = len(found) == len(body) and all(map(is_, found, body))
        return body if same else tuple(found)

    return block(kernel.body)


@record
class _ByteSum:
    """A scalar that a loop adds narrow numbers to, and lanes that have room for them."""

    stmt: Accumulate
    term: Expr
    dtype: DType
    bits: int
    """Of a number that is added, or of those that are compared for it."""
    most: int
    """The largest magnitude of a term."""

    @property
    def value(self) -> Expr:
        """A term as a lane has it."""
        return _as(self.term, self.dtype)

    def value_from(self, before: Expr, lane: Var) -> Expr:
        """The same from a lane on, and nothing before. Lanes are numbered in their own type.

        gcc 12 makes no vectors of a selection of what a truth value is as a number.
        """
        is_new = binary("ge", _as(lane, self.dtype), _as(before, self.dtype))
        if self.term.dtype.kind == "bool":
            return Cast(binary("and", is_new, self.term), self.dtype)
        return Select(is_new, self.value, Const(0, self.dtype), self.dtype)

    def has_room(self, terms: int) -> bool:
        """Whether the sum of so many terms fits into one lane."""
        return self.most * terms < 1 << (self.dtype.bits - (self.dtype.kind == "int"))


def _sum(stmt: Stmt) -> _ByteSum | None:
    """The sum that a statement adds to, if its terms are bytes, pairs of them, or truth values."""
    match stmt:
        case Accumulate(_, _, "add", Cast(term, dtype)) if dtype.is_integer or dtype.is_float:
            pass
        case _:
            return None
    while isinstance(term, Cast) and _keeps_values(term):
        term = term.x
    if term.dtype.kind == "bool":
        bits = width_of_flag(term)
        return _ByteSum(stmt, term, FLAGS[bits], bits, 1) if bits in FLAGS else None
    lane = LANES.get(term.dtype.name)
    if lane is None or dtype.bits <= term.dtype.bits:
        return None
    bits = term.dtype.bits
    return _ByteSum(stmt, term, lane, bits, 1 << (bits - (term.dtype.kind == "int")))


def _keeps_values(cast: Cast) -> bool:
    """Whether a conversion makes no number another one."""
    source, to = cast.x.dtype, cast.dtype
    if source.kind == "bool" or to.kind == "bool" or source.bits >= to.bits:
        return source.kind == "bool"
    if source.is_integer and to.is_float:
        return source.bits <= 16
    return to.kind == source.kind or (source.kind, to.kind) == ("uint", "int")


def _in_narrow_lanes(loop: Loop, taken: set[str]) -> Iterator[Stmt]:
    """The loop by vectors of the widest kind that a row has room for; one by one for none."""
    found = {id(stmt): _sum(stmt) for stmt in loop.body if isinstance(stmt, Accumulate)}
    sums = [each for each in found.values() if each is not None]
    if not sums or not reads_rows_of_bytes(loop):
        yield loop
        return
    if len(sums) < len(found):
        rest = replace(loop, body=tuple([s for s in loop.body if found.get(id(s)) is None]))
        if not extremes_of(replace(rest, cut=None)):
            yield loop
            return
        (copied,) = own_names((rest,), taken)
        yield copied
        loop = replace(loop, body=tuple([s for s in loop.body if found.get(id(s), s) is not None]))
    yield from _by_length(loop, sums, taken)


def _by_length(loop: Loop, sums: Sequence[_ByteSum], taken: set[str]) -> Iterator[Stmt]:
    """The loop in a form for each length that a row may have."""
    bits = max(each.bits for each in sums)
    wide, narrow = (width * 8 // bits for width in WIDTHS)
    extent = loop.extent
    if isinstance(extent, Const):
        fitting = [width for width in (wide, narrow) if width <= extent.value]
        if not fitting:
            yield loop
            return
        yield from _SumLanes(loop, sums, fitting[0], int(extent.value), taken).statements()
        return
    if not isinstance(extent, Var):
        extent = Var(fresh(f"{loop.var.name}_count", taken), INT64)
        yield Let(extent, loop.extent)
    loop = Loop(loop.var, extent, loop.kind, loop.body, loop.note)
    few = own_names((Loop(loop.var, extent, "serial", loop.body),), taken)
    some = tuple(_SumLanes(loop, sums, narrow, wide - 1, taken).statements())
    many = tuple(_SumLanes(loop, sums, wide, None, taken).statements())
    some = (If(binary("lt", extent, const(narrow)), few, some),)
    yield If(binary("lt", extent, const(wide)), some, many)


class _SumLanes:
    """One loop, on its way to vectors of so many elements; `most` are all that it may have."""

    def __init__(
        self, loop: Loop, sums: Sequence[_ByteSum], width: int, most: int | None, taken: set[str]
    ) -> None:
        self.loop, self.width, self.taken = loop, width, taken
        self.sums = [(each, fresh("lanes", taken)) for each in sums]
        self.is_short = most is not None and most < (PART + 1) * width
        self.most = most if most is not None and self.is_short else (PART + 1) * width

    def statements(self) -> Iterator[Stmt]:
        """The lanes, the loop over vectors, and the sum of the lanes; for each part, of several."""
        extent = self.loop.extent
        blocks, left = self.split(extent)
        if isinstance(blocks, Var):
            yield Let(blocks, binary("floordiv", extent, const(self.width)))
        if isinstance(left, Var):
            yield Let(left, binary("band", extent, const(self.width - 1)))
        if self.is_short:
            yield from self.part(self.blocks(None, blocks), self.rest(blocks, left, None))
            return
        part, done = self.named("part"), self.named("done")
        mining = StripMining(part, blocks, const(PART), done)
        is_last = binary("ge", add(done, const(PART)), blocks)
        inside = self.part(self.blocks(mining, blocks), self.rest(blocks, left, is_last))
        yield mining.loop("serial", (mining.let, *inside))

    def split(self, extent: Expr) -> tuple[Expr, Expr]:
        """How many whole vectors there are, and elements beside them."""
        if isinstance(extent, Const):
            whole, left = divmod(int(extent.value), self.width)
            return const(whole), const(left)
        return self.named("blocks"), self.named("left")

    def part(self, blocks: Loop, rest: Block) -> Iterator[Stmt]:
        """What is added up in the same lanes."""
        for each, lanes in self.sums:
            yield Alloc(Buffer(lanes, each.dtype, (const(self.width),), "local"))
        yield self.over(self.width, self.cleared)
        yield blocks
        yield from rest
        for each, lanes in self.sums:
            yield from self.folded(each, lanes)

    def blocks(self, mining: StripMining | None, count: Expr) -> Loop:
        """The loop over whole vectors."""
        block = self.named("block")
        number: Expr = block if mining is None else mining.at(block)
        inside = (self.over(self.width, partial(self.added, mul(number, const(self.width)), None)),)
        if mining is None:
            return Loop(block, count, "serial", inside, self.loop.note)
        return mining.inner(block, "serial", inside, self.loop.note)

    def rest(self, blocks: Expr, left: Expr, is_last: Expr | None) -> Block:
        """The vector that ends a row, of which the elements `before` were there already."""
        if left == _ZERO:
            return ()
        before: Expr = const(0)
        found: list[Stmt] = []
        if isinstance(left, Const):
            before = const(self.width - int(left.value))
        else:
            before = self.named("before")
            found.append(Let(before, sub(const(self.width), left)))
        whole = mul(blocks, const(self.width))
        found.append(self.over(self.width, partial(self.added, whole, before)))
        asked = is_last
        if not isinstance(left, Const):
            has_some = binary("gt", left, _ZERO)
            asked = has_some if is_last is None else binary("and", is_last, has_some)
        return tuple(found) if asked is None else (If(asked, tuple(found)),)

    def cleared(self, lane: Var) -> list[Stmt]:
        """A lane of each sum before its first term."""
        return [Store(to, lane, Const(0, each.dtype)) for each, to in self.sums]

    def added(self, first: Expr, before: Expr | None, lane: Var) -> Block:
        """An iteration of the loop, whose terms go to a lane, but for those that were there."""
        place = add(first, lane if before is None else sub(lane, before))
        sums = iter(self.sums)
        body: list[Stmt] = [Let(self.loop.var, place)]
        for stmt in self.loop.body:
            if not isinstance(stmt, Accumulate):
                body.append(stmt)
                continue
            each, lanes = next(sums)
            value = each.value if before is None else each.value_from(before, lane)
            body.append(Accumulate(lanes, lane, "add", value))
        return own_names(tuple(body), self.taken)

    def folded(self, each: _ByteSum, lanes: str) -> Iterator[Stmt]:
        """The sum of the lanes, half of them added to the other half, in numbers wide enough."""
        half, dtype = self.width // 2, each.dtype
        if not each.has_room(self.most):
            narrow, dtype = lanes, WIDE[dtype.name]
            lanes = fresh("wide", self.taken)
            yield Alloc(Buffer(lanes, dtype, (const(half),), "local"))
            yield self.over(
                half,
                partial(
                    self.widened,
                    Buffer(narrow, each.dtype, (), "local"),
                    Buffer(lanes, dtype, (), "local"),
                    half,
                ),
            )
            half //= 2
        while half >= END:
            yield self.over(half, partial(self.halved, lanes, dtype, half))
            half //= 2
        total: Expr = Load(lanes, _ZERO, dtype)
        for number in range(1, END):
            total = binary("add", total, Load(lanes, const(number), dtype))
        stmt = each.stmt
        yield Accumulate(stmt.buffer, stmt.index, "add", _as(total, stmt.value.dtype))

    def widened(self, narrow: Buffer, wide: Buffer, half: int, lane: Var) -> list[Stmt]:
        """Two lanes added up in a wider one."""
        one, other = (
            Cast(Load(narrow.name, place, narrow.dtype), wide.dtype)
            for place in (lane, add(lane, const(half)))
        )
        return [Store(wide.name, lane, one), Accumulate(wide.name, lane, "add", other)]

    def halved(self, lanes: str, dtype: DType, half: int, lane: Var) -> list[Stmt]:
        """A lane with that which lies so many behind it."""
        return [Accumulate(lanes, lane, "add", Load(lanes, add(lane, const(half)), dtype))]

    def over(self, count: int, body: Callable[[Var], Sequence[Stmt]]) -> Loop:
        """A loop over so many lanes."""
        lane = self.named("lane")
        return Loop(lane, const(count), "vector", tuple(body(lane)))

    def named(self, name: str) -> Var:
        """A new number."""
        return Var(fresh(name, self.taken), INT64)


def _as(value: Expr, dtype: DType) -> Expr:
    """A number in another type."""
    if isinstance(value, Const):
        return Const(value.value, dtype)
    return value if value.dtype is dtype else Cast(value, dtype)
