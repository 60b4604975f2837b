"""byte_folds: extremes of rows of bytes are folded in whole vectors, the last of which overlaps.

    for j in vector(n): acc max= x[j]

    if n >= 64:
      alloc lanes[64]
      for k in vector(64): lanes[k] = 0
      for block in serial(ceil(n / 64)):
        let first = min(block*64, n - 64)
        for k in vector(64): let j = first + k; lanes[k] max= x[j]
      for k in vector(32): lanes[k] max= lanes[k + 32]
      ...
      for k in vector(4): lanes[k] max= lanes[k + 4]
      acc max= max(max(lanes[0], lanes[1]), max(lanes[2], lanes[3]))
    elif n >= 16: the same with 16
    else: for j in serial(n): acc max= x[j]

What is left of a row beside whole registers compilers fold one by one, up to 63 elements, and then
the lanes of the register through memory: both take longer than a row of some hundred. An extreme,
and what any or all of a row are, stays the same where an element counts twice. Of an array that
is no row, folded once, all this is little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import is_

from symc.codegen.blocks import repeated_kernels
from symc.codegen.dtypes import INT64, UINT8, UINT16, DType
from symc.codegen.ir import (
    Accumulate,
    AccumulateOp,
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
    Stmt,
    Store,
    Var,
    add,
    binary,
    const,
    mul,
    sub,
)
from symc.codegen.passes.loops.dependence import step_of
from symc.codegen.passes.strips import StripMining
from symc.codegen.passes.vectors.few_terms import folds_numbers_at_hand
from symc.codegen.passes.vectors.overlapped import NARROW, WIDTHS
from symc.codegen.passes.vectors.reductions import identity, width_of_flag
from symc.codegen.passes.walk import (
    Block,
    bound,
    fresh,
    index_names,
    loads_of,
    map_kernels,
    nodes,
    own_names,
    rebuild_statement,
    statements,
    substitute,
)
from symc.codegen.record import record

END = 4  # lanes that are folded one by one in the end
TWICE: Mapping[AccumulateOp, AccumulateOp] = {
    "max": "max", "min": "min", "bor": "bor", "band": "band",
}  # fmt: skip
"""The operations for which an element may count twice."""
TWICE_OF_BOOLS: Mapping[AccumulateOp, AccumulateOp] = {
    "or": "bor", "max": "bor", "and": "band", "min": "band",
}  # fmt: skip
"""The same of bools, and of the bits of 0 and 1, which vectors have."""
_ZERO = const(0)


def byte_folds(program: Program) -> Program:
    """The program with the extremes of rows of bytes in whole vectors."""
    repeated = repeated_kernels(program)
    return map_kernels(program, lambda kernel: _kernel(kernel, kernel.name in repeated))


def _kernel(kernel: Kernel, is_repeated: bool) -> Block:
    scalars = frozenset(
        stmt.buffer.name
        for stmt in statements(kernel.body)
        if isinstance(stmt, Alloc) and not stmt.buffer.shape
    )
    if not scalars:
        return kernel.body
    taken = bound(kernel)

    def block(body: Block, *, is_inside: bool) -> Block:
        found: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, Loop) and is_inside and folds_numbers_at_hand(stmt, scalars):
                found += _in_whole_vectors(stmt, taken)
            else:
                deeper = partial(block, is_inside=is_inside or isinstance(stmt, Loop))
                found.append(rebuild_statement(stmt, lambda expr: expr, deeper))
        same = len(found) == len(body) and all(map(is_, found, body))
        return body if same else tuple(found)

    return block(kernel.body, is_inside=is_repeated)


@record
class _Fold:
    """A scalar that a loop folds numbers into: by what operation lanes do it, of which numbers."""

    stmt: Accumulate
    op: AccumulateOp
    dtype: DType

    def update(self, lanes: str, lane: Expr, value: Expr) -> Accumulate:
        """The update of one lane."""
        value = value if value.dtype is self.dtype else Cast(value, self.dtype)
        return Accumulate(lanes, lane, self.op, value)

    def end(self, lanes: str) -> Accumulate:
        """The update of the scalar with what few lanes have."""
        last: Expr = self.load(lanes, _ZERO)
        for number in range(1, END):
            last = binary(self.op, last, self.load(lanes, const(number)))
        if self.stmt.value.dtype.kind == "bool":
            last = binary("ne", last, Const(0, self.dtype))
        return Accumulate(self.stmt.buffer, _ZERO, self.stmt.op, last)

    def load(self, lanes: str, lane: Expr) -> Load:
        """The number in a lane."""
        return Load(lanes, lane, self.dtype)


def _in_whole_vectors(loop: Loop, taken: set[str]) -> Iterator[Stmt]:
    """The loop by vectors of the widest kind that a row has room for; one by one for none."""
    folds = extremes_of(loop)
    if not folds:
        yield loop
        return
    widths = [width // max(fold.dtype.bytes for fold in folds) for width in WIDTHS]
    extent = loop.extent
    if isinstance(extent, Const):
        fitting = [width for width in widths if width <= extent.value]
        yield from _ByteLanes(loop, folds, fitting[0], taken).statements() if fitting else [loop]
        return
    if not isinstance(extent, Var):
        extent = Var(fresh(f"{loop.var.name}_count", taken), INT64)
        yield Let(extent, loop.extent)
    loop = Loop(loop.var, extent, loop.kind, loop.body, loop.note)
    result: Stmt = Loop(loop.var, extent, "serial", loop.body)
    for width in reversed(widths):
        lanes = _ByteLanes(loop, folds, width, taken)
        result = If(binary("ge", extent, const(width)), tuple(lanes.statements()), (result,))
    yield result


def extremes_of(loop: Loop) -> list[_Fold]:
    """The folds of a loop; none of loops that do other things than extremes of bytes in rows."""
    found = [_fold(stmt) for stmt in loop.body if isinstance(stmt, Accumulate)]
    folds = [fold for fold in found if fold is not None]
    fits = len(folds) == len(found) and loop.cut is None and reads_rows_of_bytes(loop)
    return folds if fits else []


def reads_rows_of_bytes(loop: Loop) -> bool:
    """Whether all that a loop reads along its variable are neighbours of one or two bytes."""
    if any(isinstance(node, Load) for node in nodes(loop.extent)):
        return False
    lets = index_names(loop.body)
    loads = [load for stmt in loop.body for load in loads_of(stmt)]
    steps = [(load, step_of(substitute(load.index, lets), loop.var)) for load in loads]
    along = [(load, step) for load, step in steps if step != 0]
    return bool(along) and all(
        step in (-1, 1) and load.dtype.bytes <= NARROW for load, step in along
    )


def _fold(stmt: Accumulate) -> _Fold | None:
    """The fold of a scalar, if an element may count twice and lanes are narrow."""
    dtype, op = stmt.value.dtype, TWICE.get(stmt.op)
    if dtype.kind == "bool":
        op = TWICE_OF_BOOLS.get(stmt.op)
        dtype = {8: UINT8, 16: UINT16}.get(width_of_flag(stmt.value), dtype)
    fits = dtype.is_integer and dtype.bytes <= NARROW
    return None if op is None or not fits else _Fold(stmt, op, dtype)


class _ByteLanes:
    """One loop, on its way to vectors of so many elements."""

    def __init__(self, loop: Loop, folds: Sequence[_Fold], width: int, taken: set[str]) -> None:
        self.loop, self.width, self.taken = loop, width, taken
        self.folds = [(fold, fresh("lanes", taken)) for fold in folds]

    def statements(self) -> Iterator[Stmt]:
        """The lanes, the loop over blocks of as many elements, and the fold of the lanes."""
        for fold, lanes in self.folds:
            yield Alloc(Buffer(lanes, fold.dtype, (const(self.width),), "local"))
        yield self.over(self.width, self.cleared)
        block, first = self.named("block"), self.named("first")
        whole, width = self.loop.extent, const(self.width)
        begin = Let(first, binary("min", mul(block, width), sub(whole, width)))
        inside = self.over(self.width, partial(self.folded, first))
        count = StripMining(block, whole, width).strips
        yield Loop(block, count, "serial", (begin, inside), self.loop.note)
        half = self.width // 2
        while half >= END:
            yield self.over(half, partial(self.halved, half))
            half //= 2
        yield from (fold.end(lanes) for fold, lanes in self.folds)

    def cleared(self, lane: Var) -> list[Stmt]:
        """A lane of each fold before its first element."""
        return [Store(to, lane, identity(fold.op, fold.dtype)) for fold, to in self.folds]

    def folded(self, first: Var, lane: Var) -> Block:
        """An iteration of the loop, whose numbers go to a lane."""
        folds = iter(self.folds)
        body: list[Stmt] = [Let(self.loop.var, add(first, lane))]
        for stmt in self.loop.body:
            if isinstance(stmt, Accumulate):
                fold, lanes = next(folds)
                body.append(fold.update(lanes, lane, stmt.value))
            else:
                body.append(stmt)
        return own_names(tuple(body), self.taken)

    def halved(self, half: int, lane: Var) -> list[Stmt]:
        """A lane with that which lies so many behind it."""
        other = add(lane, const(half))
        return [fold.update(to, lane, fold.load(to, other)) for fold, to in self.folds]

    def over(self, count: int, body: Callable[[Var], Sequence[Stmt]]) -> Loop:
        """A loop over so many lanes."""
        lane = self.named("lane")
        return Loop(lane, const(count), "vector", tuple(body(lane)))

    def named(self, name: str) -> Var:
        """A new number."""
        return Var(fresh(name, self.taken), INT64)
