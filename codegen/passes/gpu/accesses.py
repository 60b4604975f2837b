"""Which accesses of a loop over neighbouring elements are made in packs of up to 16 bytes."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from symc.codegen.cost.loops import work
from symc.codegen.ir import Accumulate, Binary, Const, Expr, Let, Loop, Store, Var, const
from symc.codegen.passes.gpu.unused import live, names_used
from symc.codegen.passes.loops.dependence import is_unit
from symc.codegen.passes.strips import StripLoop, strip_loop
from symc.codegen.passes.walk import loads_of, names_in, rebuild, substitute
from symc.codegen.record import record

if TYPE_CHECKING:
    from symc.codegen.dtypes import DType
    from symc.codegen.ir import Stmt
    from symc.codegen.passes.walk import Block


@record
class Pack:
    """An access of a loop to neighbouring elements: those from `base` on."""

    buffer: str
    index: Expr  # as it stands in the loop
    base: Expr
    dtype: DType
    loaded: bool
    stored: bool


def find_packs(loop: Loop, count: int, scalars: AbstractSet[str]) -> list[Pack]:
    """The accesses of a loop that may be made in packs of `count`."""
    lets: dict[str, Expr] = {}
    found: list[Pack] = []

    def look(buffer: str, index: Expr, dtype: DType, *, stored: bool) -> None:
        plain = substitute(index, lets)
        if buffer in scalars or not is_unit(plain, loop.var.name):
            return
        base = without(plain, loop.var)
        if not is_odd(base, count):
            found.append(Pack(buffer, index, base, dtype, not stored, stored))

    for stmt in loop.body:
        for load in loads_of(stmt):
            look(load.buffer, load.index, load.dtype, stored=False)
        match stmt:
            case Let(var, value) if var.dtype.is_integer:
                lets[var.name] = substitute(value, lets)
            case Store(buffer, index, value):
                look(buffer, index, value.dtype, stored=True)
            case _:
                pass
    return only_safe(found, loop.body)


def only_safe(found: list[Pack], body: tuple[Stmt, ...]) -> list[Pack]:
    """Without the arrays that are stored to and also accessed in another way."""
    stored = {pack.buffer for pack in found if pack.stored}
    places = {(pack.buffer, pack.index) for pack in found}
    others: set[str] = {stmt.buffer for stmt in body if isinstance(stmt, Accumulate)}
    for stmt in body:
        others |= {
            load.buffer for load in loads_of(stmt) if (load.buffer, load.index) not in places
        }
        if isinstance(stmt, Store) and (stmt.buffer, stmt.index) not in places:
            others.add(stmt.buffer)
    bases: dict[str, set[Expr]] = {}
    for pack in found:
        bases.setdefault(pack.buffer, set()).add(pack.base)
    others |= {buffer for buffer in stored if len(bases[buffer]) > 1}
    return [pack for pack in found if pack.buffer not in stored & others]


def without(index: Expr, variable: Var) -> Expr:
    """The index of the first element of a pack."""
    match index:
        case Var(name, dtype) if name == variable.name:
            return Const(0, dtype)
        case Binary("add", left, right, dtype):
            left, right = without(left, variable), without(right, variable)
            if isinstance(left, Const) and left.value == 0:
                return right
            if isinstance(right, Const) and right.value == 0:
                return left
            return Binary("add", left, right, dtype)
        case _:
            return rebuild(index, lambda part: without(part, variable))


def is_odd(base: Expr, count: int) -> bool:
    """Whether a pack can hardly be aligned: a constant is added that is no multiple of its size."""
    match base:
        case Binary("add" | "sub", left, right):
            return is_odd(left, count) or is_odd(right, count)
        case Const(value):
            return int(value) % count != 0
        case _:
            return False


AHEAD = 4
"""How many packs a thread of a team asks memory for at a time.

An H200 delivers 4.8 TB/s some 700 ns after it was asked: it is busy while 25 KiB are on their way
to each of its 132 processors. A processor has room for 65,536 registers, 228 KiB of shared memory
and 2048 threads. With one pack of 16 bytes at a time, row groups would have 24 to 32 KiB on their
way, less at the beginning and the end of rows. Computed from NVRTC's figures for softmax (32
registers, the row in shared memory) and layer norm (40 registers), of 256 MiB in rows of

      256 floats   8 teams of 32 in a block   6 to 8 blocks     48 to 64 KiB on their way
     1024          8 teams of 32              6                 96
     4096          128 threads                12 or 13          96 to 104
    16384          512 threads                3                 96

Rows are not kept in registers from their first use to their last. For softmax up to 16,384 floats
that takes 8 packs and 88 registers in each thread: one team of 512 then has a processor for itself,
so that nothing is on its way while it computes, and NVRTC takes twice as long (0.4 s instead of
0.2). It would save reading a row again from the second-level cache: the rows that are being
worked on everywhere are 25 MB of the 60 that this has.
"""

LIGHT = 40
"""Operations on an element, of a loop whose threads are launched for two packs of each array.

With one, as in loops that have more to do or load more arrays, 2048 threads of a processor have 32
KiB on their way for each array: a device that writes as much as it reads needs 13, so that memory
stays busy. With two it also does while blocks come and go.
"""


@record
class Lanes:
    """A loop over packs, with the accesses that are made in packs."""

    loop: Loop
    strip: StripLoop
    count: int
    """The elements of a pack."""
    found: list[Pack]
    ahead: list[Pack]
    """Those that a thread loads from where it takes long, each once."""
    turns: int
    """How many packs of each array a thread of a grid has, and one of a team asks for at a time."""
    single: Block
    """The statements for one element in memory."""
    packed: Block
    """The statements for one element in registers: no names for the indexes of packs."""
    starts: bool
    """Whether anything needs the number of the first element of a pack."""
    starts_held: bool
    """The same where the packs that are loaded ahead are in registers."""


def lanes_of(
    loop: Loop, scalars: AbstractSet[str], shared: AbstractSet[str] = frozenset()
) -> Lanes | None:
    """A loop over packs with its accesses, or None if none is made in packs.

    `scalars` are the local ones, `shared` the arrays in the memory of a team.
    """
    strip = strip_loop(loop)
    if strip is None or strip.loop.kind != "vector" or loop.kind not in ("grid", "lane"):
        return None
    length = strip.strips.length
    assert isinstance(length, Const), "packs have a length that is known"
    found = find_packs(strip.loop, int(length.value), scalars)
    if not found or not all(is_unit(pack.base, strip.start.var.name) for pack in found):
        return None
    loaded = {(pack.buffer, pack.base): pack for pack in found if pack.loaded}
    ahead = [pack for pack in loaded.values() if pack.buffer not in shared]
    if loop.kind == "grid":
        turns = 2 if _is_light(strip.loop) and 1 <= len(loaded) <= 2 else 1
    else:
        turns = AHEAD // len(ahead) if ahead else 1
    indexes = {(pack.buffer, pack.index) for pack in found}
    packed = live(strip.loop.body, indexes)
    named, start = names_used(packed, indexes), strip.start.var.name
    bases = {(pack.buffer, pack.base) for pack in ahead}
    later = [pack for pack in found if pack.stored or (pack.buffer, pack.base) not in bases]
    return Lanes(
        loop, strip, int(length.value), found, ahead, turns,
        live(strip.loop.body), packed,
        starts=start in named.union(*(names_in(pack.base) for pack in found)),
        starts_held=start in named.union(*(names_in(pack.base) for pack in later)),
    )  # fmt: skip


def _is_light(loop: Loop) -> bool:
    """Whether there is little to do for an element."""
    each = work(Loop(loop.var, const(1), "serial", loop.body))
    return isinstance(each, Const) and each.value <= LIGHT
