"""The rules of `program.py` on dependences between the iterations of one loop.

A parallel loop that reads a buffer which it also writes must show that it reads elements of its own
iteration, or of none. One of these is needed:

- Both have one *place* (`passes/loops/dependence.py`): no two iterations touch the same element.
- The index that is read is one that is written: the same expression over the loop's variable and
  over loops inside it of the same lengths. The iterations of a parallel loop never write the same
  element, so none reads an element of another one.
- The index is that of a row with a column added, as in ``i*n + column``, and so are those that are
  written, of the same row: it is this iteration's. (Columns that are seen to be those of another
  row are not taken for columns; others may come from anywhere.)
- The index is a sum of multiples of variables, and so are those that are written, and it stays
  between the elements that iterations before and after write (`_Sum`).
- Nobody writes there: the row or the column of the index is another one than those that are
  written, whatever the iterations (`apart.py`).

In serial loops, which may read elements that they have written, it is the index of an index that is
refused: whoever writes where an array says must have read all that it needs before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import prod
from typing import TypeAlias

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Binary,
    Combine,
    Const,
    Expr,
    Kernel,
    Let,
    Load,
    Loop,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.loops.dependence import accesses
from symc.codegen.passes.walk import (
    bound,
    collect,
    loads_of,
    names_in,
    statements,
    substitute,
    written,
)
from symc.codegen.record import record
from symc.codegen.verify.apart import differ, multiples, terms
from symc.codegen.verify.bounds import Bounds
from symc.codegen.verify.expressions import Broken
from symc.codegen.verify.known import Sizes, resolved

INDEPENDENT = frozenset({"parallel", "vector", "grid", "team", "lane"})
_LARGE = 64  # operations; longer expressions are not written out

Position: TypeAlias = tuple[Expr, tuple[Expr, ...]]
"""An index, its inner loops' variables numbered as they occur, and the lengths of those loops."""
Row: TypeAlias = tuple[Position, int, frozenset[tuple[Expr, int]]]
"""The number of a row, and its length: a number, and factors with how often they occur."""


def check_iterations(kernel: Kernel, sizes: Sizes) -> None:
    """Raise `Broken` if an iteration may read an element that another one writes."""
    params = {param.name: param.written for param in kernel.params}
    names = _Names(kernel, sizes)
    for stmt in statements(kernel.body):
        if isinstance(stmt, Loop):
            _check(stmt, names, params)


class _Names:
    """The values of a kernel's names: values written out, and the loops of variables."""

    def __init__(self, kernel: Kernel, sizes: Sizes) -> None:
        self.sizes = sizes
        self.bound = bound(kernel)
        self.written = written(kernel.body)
        self.values: dict[str, Expr] = {}
        self.extents: dict[str, Expr] = {}
        for stmt in statements(kernel.body):
            match stmt:
                case Let(var, value) if var.dtype.is_integer:
                    value = self.written_out(value)
                    if operations(value) <= _LARGE:
                        self.values[var.name] = value
                case Loop(var, extent):
                    self.extents[var.name] = self.written_out(extent)
                case _:
                    pass

    def written_out(self, expr: Expr) -> Expr:
        """An expression without names of values."""
        return substitute(expr, self.values)

    def position(self, index: Expr, inside: frozenset[str]) -> Position:
        """Where an index is, whichever the loops inside are called."""
        index = self.written_out(index)
        order: list[str] = []
        collect(index, order, [])
        found = [name for name in dict.fromkeys(order) if name in inside]
        numbered = {name: Var(f"@{n}", Var(name).dtype) for n, name in enumerate(found)}
        lengths = tuple([substitute(self.extents[name], numbered) for name in found])
        return substitute(index, numbered), lengths

    def row(self, index: Expr, variable: str, inside: frozenset[str]) -> Row | None:
        """An index without its columns; None if a loop's variable tells no row."""
        rest, lengths = self.written_out(index), list[Expr]()
        while True:
            columns, found = list[Expr](), list[Expr]()
            for term in terms(rest):
                (found if variable in names_in(term) else columns).append(term)
            match found:
                case [Binary("mul", inner, length)] if variable not in names_in(length):
                    if not all(_is_column(column, length) for column in columns):
                        return None
                    lengths += factors(length)
                    rest = inner
                case _:
                    break
        if not lengths:
            return None
        known = prod(int(length.value) for length in lengths if isinstance(length, Const))
        others = Counter(length for length in lengths if not isinstance(length, Const))
        return self.position(rest, inside), known, frozenset(others.items())

    def never_meet(self, read: Expr, write: Expr, inside: frozenset[str]) -> bool:
        """Whether an element that is read is written in no iteration; `inside` are names that the
        iterations give different values."""
        read, write = self.written_out(read), self.written_out(write)
        if any(load.buffer in self.written for load in _loads(read) + _loads(write)):
            return False  # an index may have changed between the two
        extents: dict[str, Expr] = {}
        one, other = (
            self.named(i, inside, mark, extents) for i, mark in ((read, "@"), (write, "'"))
        )
        return differ(one, other, Bounds(self.sizes.natural, extents, self.sizes.facts))

    def named(
        self, index: Expr, inside: frozenset[str], mark: str, extents: dict[str, Expr]
    ) -> Expr:
        """An index in sizes of the program, and in names that occur nowhere else."""
        own = {
            name: name + (mark if name in inside else "@")
            for name in self.bound - self.sizes.values.keys()
        }
        given = {**self.sizes.values, **{name: Var(new) for name, new in own.items()}}
        for name, extent in self.extents.items():
            extents[own[name]] = resolved(extent, given, self.sizes.elements)
        return resolved(index, given, self.sizes.elements)

    def sum(self, index: Expr, inside: frozenset[str]) -> _Sum | None:
        """An index as multiples of variables, if it is one and loops inside have known lengths."""
        found = multiples(self.written_out(index))
        if found is None:
            return None
        low = high = found.pop("", 0)
        for name in inside & found.keys():
            extent, factor = self.extents[name], found.pop(name)
            if not isinstance(extent, Const):
                return None
            reach = factor * max(int(extent.value) - 1, 0)
            low, high = low + min(reach, 0), high + max(reach, 0)
        return _Sum(found, low, high)


@record
class _Sum:
    """The sum of multiples of variables, and of a rest from `low` to `high`."""

    multiples: dict[str, int]
    low: int
    high: int

    def is_apart(self, other: _Sum, variable: str, last: int | None) -> bool:
        """Whether the two are different for different values of a variable, `last` the largest.

        The range of this one must lie between the ranges of the other one for the values before
        and after: bounds that are linear in the variable hold if they do at its ends.
        """
        rest, others = dict(self.multiples), dict(other.multiples)
        own, step = rest.pop(variable, 0), others.pop(variable, 0)
        if rest != others or (last is None and own != step):
            return False
        low, high = self.low - other.high, self.high - other.low
        if step < 0:
            own, step, low, high = -own, -step, -high, -low
        return all(
            own * value + high < step * (value + 1) and own * value + low > step * (value - 1)
            for value in (0, last or 0)
        )


def factors(length: Expr) -> list[Expr]:
    """The factors of a length."""
    match length:
        case Binary("mul", left, right):
            return factors(left) + factors(right)
        case _:
            return [length]


def _is_column(column: Expr, length: Expr) -> bool:
    """Whether it may be that a term leads to no other row of a length: it is no number of rows."""
    if isinstance(column, Const) and isinstance(length, Const):
        return abs(column.value) < length.value
    return length not in factors(column)


def _check(loop: Loop, names: _Names, params: Mapping[str, bool]) -> None:
    inner = list(statements(loop.body))
    own = {stmt.buffer.name for stmt in inner if isinstance(stmt, Alloc)}
    writes = [
        stmt
        for stmt in inner
        if isinstance(stmt, Store | Accumulate | Combine) and stmt.buffer not in own
    ]
    written = {stmt.buffer for stmt in writes}
    reads = [(stmt, load) for stmt in inner for load in loads_of(stmt) if load.buffer in written]
    if not reads or _runs_once(loop):
        return
    if loop.kind in INDEPENDENT:
        _independent(loop, inner, writes, reads, names)
    else:
        _in_order(writes, reads, names, params)


def _runs_once(loop: Loop) -> bool:
    """Whether a loop has one iteration at most."""
    most = _most(loop.extent)
    return most is not None and most <= 1


def _most(extent: Expr) -> int | None:
    """How many iterations there are at most, if that is known."""
    match extent:
        case Const(int() as value) | Binary("min", Const(int() as value), _):
            return value
        case Binary("min", _, Const(int() as value)):
            return value
        case _:
            return None


def _independent(
    loop: Loop, inner: list[Stmt], writes: list[Store | Accumulate | Combine],
    reads: list[tuple[Stmt, Load]], names: _Names,
) -> None:  # fmt: skip
    """Rule 13."""
    inside = frozenset(stmt.var.name for stmt in inner if isinstance(stmt, Loop))
    most = _most(loop.extent)
    last = None if most is None else most - 1
    places = accesses(loop)
    positions: dict[str, set[Position]] = {}
    rows: dict[str, set[Row | None]] = {}
    sums: dict[str, list[_Sum | None]] = {}
    for write in writes:
        index = Const(0) if isinstance(write, Combine) else write.index
        positions.setdefault(write.buffer, set()).add(names.position(index, inside))
        rows.setdefault(write.buffer, set()).add(names.row(index, loop.var.name, inside))
        sums.setdefault(write.buffer, []).append(names.sum(index, inside))
    for stmt, load in reads:
        if places.has_one_place(load.buffer):
            continue
        if names.position(load.index, inside) in positions[load.buffer]:
            continue
        row = names.row(load.index, loop.var.name, inside)
        if row is not None and rows[load.buffer] == {row}:
            continue
        varying = inside | {loop.var.name, *(s.var.name for s in inner if isinstance(s, Let))}
        stores = [write for write in writes if write.buffer == load.buffer]
        if not any(isinstance(write, Combine) for write in stores) and all(
            _same_element(write, load, names, inside)
            or names.never_meet(load.index, write.index, varying)
            for write in stores
            if not isinstance(write, Combine)
        ):
            continue
        own = names.sum(load.index, inside)
        others = sums[load.buffer]
        if own is None or not all(o and own.is_apart(o, loop.var.name, last) for o in others):
            what = f"an iteration of {loop.var.name} may read an element of {load.buffer} that"
            raise Broken(stmt, f"{what} another one writes")


def _same_element(
    write: Store | Accumulate, load: Load, names: _Names, inside: frozenset[str]
) -> bool:
    """Whether an iteration reads only elements that it writes itself."""
    return names.position(load.index, inside) == names.position(write.index, inside)


def _in_order(
    writes: list[Store | Accumulate | Combine], reads: list[tuple[Stmt, Load]], names: _Names,
    params: Mapping[str, bool],
) -> None:  # fmt: skip
    """Rule 14, of parameters that are written. Numbers of the kernel's own are no arrays."""
    scattered = {
        write.buffer
        for write in writes
        if params.get(write.buffer)
        and not isinstance(write, Combine)
        and any(load.buffer in params for load in _loads(names.written_out(write.index)))
    }
    for stmt, load in reads:
        if load.buffer in scattered and not _is_changed(stmt, load, writes, reads):
            what = f"{load.buffer} is written where an array says, and read in the same loop"
            raise Broken(stmt, what)


def _is_changed(
    stmt: Stmt, load: Load, writes: list[Store | Accumulate | Combine],
    reads: list[tuple[Stmt, Load]],
) -> bool:  # fmt: skip
    """Whether an element is read only for the value that replaces it, perhaps by way of a name."""
    if isinstance(stmt, Store) and (stmt.buffer, stmt.index) == (load.buffer, load.index):
        return True
    return (
        isinstance(stmt, Let)
        and sum(other.buffer == load.buffer for _, other in reads) == 1
        and all(
            isinstance(write, Store) and write.index == load.index
            for write in writes
            if write.buffer == load.buffer
        )
    )


def _loads(index: Expr) -> list[Load]:
    loads: list[Load] = []
    collect(index, [], loads)
    return loads


__all__ = ["check_iterations"]
