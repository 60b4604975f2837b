"""Dependence analysis: the elements that iterations touch, so whether loops may be fused or split.

An access has a *place*: where in the buffer, as a function of the loop variable alone. Two accesses
with the same place touch the same elements in the same iteration, and none in different iterations:

- ``f(i)`` for an injective f, which is one element;
- ``f(i)*m + j`` with an inner loop j < m (in Horner form for more axes), which is a row. Two rows
  are the same place if their lengths are;
- ``f*n + i`` with i < n, and so (``f*n + i)*m + j``: whatever f of inner loops is, i is a digit of
  the index.

Accesses with different places touch different elements if these are ``f + i`` and ``f + c + i``,
with a number c no less than the iterations that there are: parts of a row, one after the other.

Anything else has no place (None), and nothing may be concluded from it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import assert_never

from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Combine,
    Const,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Select,
    Store,
    Unary,
    Var,
    add,
)
from symc.codegen.passes.expressions.inline import operations
from symc.codegen.passes.walk import Block, collect, expressions, names_in, substitute
from symc.codegen.record import field, record

AccessPlace = tuple[Expr, ...]
UNROLL = 8  # the longest loop that is written out
_LARGE = 16  # operations; longer index arithmetic is not looked into
_SELF = Var("@")  # stands for the loop's own variable, so that places of two loops compare
_DIGIT = Var("@digit")  # in places that begin with a digit


@record(frozen=False)
class Accesses:
    """The buffers from outside a loop that it reads and writes, and where."""

    reads: set[str] = field(default_factory=set[str])
    stores: set[str] = field(default_factory=set[str])
    accumulates: set[str] = field(default_factory=set[str])
    places: dict[str, set[AccessPlace | None]] = field(
        default_factory=dict[str, set[AccessPlace | None]]
    )
    extent: Expr = field(default_factory=lambda: Const(0))
    """How many iterations the loop has."""
    innermost: bool = True
    """Whether every loop inside is so short that it will be written out."""

    @property
    def writes(self) -> set[str]:
        """The buffers stored to or accumulated in."""
        return self.stores | self.accumulates

    def has_one_place(self, buffer: str) -> bool:
        """Whether no two iterations touch the same element of a buffer."""
        places = self.places.get(buffer, set())
        return None not in places and (len(places) == 1 or _are_apart(places, self.extent))

    def merged(self, other: Accesses) -> Accesses:
        """The accesses of both loops together."""
        places = {buffer: set(found) for buffer, found in self.places.items()}
        for buffer, found in other.places.items():
            places.setdefault(buffer, set()).update(found)
        return Accesses(
            self.reads | other.reads,
            self.stores | other.stores,
            self.accumulates | other.accumulates,
            places,
            self.extent,
            self.innermost and other.innermost,
        )


def accesses(loop: Loop) -> Accesses:
    """The accesses of a loop to buffers from outside."""
    walk = _Walk(loop)
    walk.block(loop.body)
    found = walk.found
    for name in walk.own:
        found.places.pop(name, None)
    found.reads -= walk.own
    found.stores -= walk.own
    found.accumulates -= walk.own
    return found


def is_reduction(found: Accesses) -> bool:
    """Whether a serial loop with these accesses may run in any order, up to reassociation.

    Its iterations store to different elements, and nothing else touches the elements they
    accumulate in.
    """
    if not all(map(found.has_one_place, found.stores)):
        return False
    return all(
        buffer not in found.reads or found.has_one_place(buffer) for buffer in found.accumulates
    )


class _Walk:
    """The walk over one loop's body."""

    def __init__(self, loop: Loop) -> None:
        self.variable = loop.var.name
        self.found = Accesses(extent=loop.extent)
        self.own: set[str] = set()  # buffers declared inside
        self.extents: dict[str, Expr] = {}  # of inner loops
        self.lets: dict[str, Expr] = {}  # index arithmetic named inside, written out
        self.bound: set[str] = set()  # other names bound inside
        self.memo: dict[Expr, AccessPlace | None] = {}

    def block(self, block: Block) -> None:
        """Note the accesses of a block."""
        for stmt in block:
            for expr in expressions(stmt):
                self.reads(expr)
            match stmt:
                case Let(var, value):
                    self.let(var, value)
                case Store(buffer, index):
                    self.found.stores.add(buffer)
                    self.access(buffer, index)
                case Accumulate(buffer, index):
                    self.found.accumulates.add(buffer)
                    self.access(buffer, index)
                case Loop(var, extent, _, body):
                    if not (isinstance(extent, Const) and extent.value <= UNROLL):
                        self.found.innermost = False
                    self.extents[var.name] = extent
                    self.bound.add(var.name)
                    self.block(body)
                case If(_, then, otherwise):
                    self.block(then)
                    self.block(otherwise)
                case Alloc(buffer):
                    self.own.add(buffer.name)
                case Combine(buffer):
                    self.found.accumulates.add(buffer)
                    self.access(buffer, Const(0))
                case Barrier():
                    pass
                case _:
                    assert_never(stmt)

    def let(self, var: Var, value: Expr) -> None:
        """Remember index arithmetic; other values make an index unknown."""
        if var.dtype is INT64 and _is_arithmetic(value):
            value = substitute(value, self.lets)
            if operations(value) <= _LARGE:
                self.lets[var.name] = value
                return
        self.bound.add(var.name)

    def reads(self, expr: Expr) -> None:
        """Note the loads in an expression."""
        loads: list[Load] = []
        collect(expr, [], loads)
        for load in loads:
            self.found.reads.add(load.buffer)
            self.access(load.buffer, load.index)

    def access(self, buffer: str, index: Expr) -> None:
        """Note the place of one access."""
        if index in self.memo:
            place = self.memo[index]
        else:
            place = self.memo[index] = self.place(substitute(index, self.lets))
        self.found.places.setdefault(buffer, set()).add(place)

    def place(self, index: Expr) -> AccessPlace | None:
        """The place of an index."""
        rows: list[Expr] = []
        while self.is_digit(index) is None and not _is_injective(index, self.variable):
            match index:
                case Binary("add", Binary("mul", rest, stride), column) if self.is_below(
                    column, stride
                ):
                    index = rest
                case Binary("mul", rest, stride):
                    index = rest
                case _:
                    return None
            rows.append(stride)
        digit = self.is_digit(index)
        if digit is not None:
            return (_SELF, _DIGIT, digit, *rows)
        if not self.bound.isdisjoint(names_in(index)) or not _is_arithmetic(index):
            return None
        return (substitute(index, {self.variable: _SELF}), *rows)

    def is_digit(self, index: Expr) -> Expr | None:
        """The n of an ``f*n + i`` with an f of inner loops, if the loop has n iterations."""
        match index:
            case Binary("add", Binary("mul", rest, stride), Var(name)) if (
                name == self.variable
                and stride == self.found.extent
                and not self.bound.isdisjoint(names_in(rest))
            ):
                return stride
            case _:
                return None

    def is_below(self, column: Expr, stride: Expr) -> bool:
        """Whether ``0 <= column < stride`` for sure."""
        if isinstance(stride, Const):
            most = self.most(column)
            return most is not None and most < stride.value
        return isinstance(column, Var) and self.extents.get(column.name) == stride

    def most(self, index: Expr) -> int | None:
        """The largest value of an index that is never negative, where numbers tell."""
        match index:
            case Const(int() as value) if value >= 0:
                return value
            case Var(name):
                extent = self.extents.get(name)
                return int(extent.value) - 1 if isinstance(extent, Const) else None
            case Binary("add", left, right):
                a, b = self.most(left), self.most(right)
                return None if a is None or b is None else a + b
            case _:
                return None


def _is_arithmetic(expr: Expr) -> bool:
    """Whether this is index arithmetic on names alone."""
    match expr:
        case Var() | Const():
            return True
        case Binary(_, left, right, dtype):
            return dtype is INT64 and _is_arithmetic(left) and _is_arithmetic(right)
        case Unary(_, x, dtype):
            return dtype is INT64 and _is_arithmetic(x)
        case Select(Binary(_, left, right), then, otherwise, dtype):  # counted from either end
            return dtype is INT64 and all(map(_is_arithmetic, (left, right, then, otherwise)))
        case _:
            return False


def _are_apart(places: set[AccessPlace | None], extent: Expr) -> bool:
    """Whether accesses with different places never touch the same element."""
    if not isinstance(extent, Const):
        return False
    bases: set[Expr] = set()
    shifts: list[int] = []
    for place in places:
        match place:
            case (index,):
                base, shift = _shifted(index)
                bases.add(base)
                shifts.append(shift)
            case _:
                return False
    shifts.sort()
    return len(bases) == 1 and all(b - a >= extent.value for a, b in pairwise(shifts))


def _shifted(index: Expr) -> tuple[Expr, int]:
    """An index as a sum of terms with names, and a number."""
    match index:
        case Binary("add", left, Const(int() as value)):
            return left, value
        case Binary("add", left, right):
            base, shift = _shifted(right)
            return (add(left, base), shift) if shift else (index, 0)
        case _:
            return index, 0


def _is_injective(index: Expr, variable: str) -> bool:
    """Whether an index surely differs for different values of a variable."""
    match index:
        case Var(name):
            return name == variable
        case Binary("add" | "sub", left, right):
            return (_is_injective(left, variable) and variable not in names_in(right)) or (
                _is_injective(right, variable) and variable not in names_in(left)
            )
        case _:
            return False


def is_unit(index: Expr, variable: str) -> bool:
    """Whether an index grows by one with a variable."""
    match index:
        case Var(name):
            return name == variable
        case Binary("add", left, right):
            return (is_unit(left, variable) and variable not in names_in(right)) or (
                is_unit(right, variable) and variable not in names_in(left)
            )
        case Binary("sub", left, right):
            return is_unit(left, variable) and variable not in names_in(right)
        case _:
            return False


def step_of(index: Expr, var: Var) -> int | None:
    """How far an index moves from one iteration to the next; None if that is no constant."""
    match index:
        case Var(name):
            return int(name == var.name)
        case Const():
            return 0
        case Binary("add", left, right):
            one, other = step_of(left, var), step_of(right, var)
            return None if one is None or other is None else one + other
        case Binary("mul", left, Const(value)):
            step = step_of(left, var)
            return None if step is None else step * int(value)
        case _:
            return None if var.name in names_in(index) else 0


def shared_places_agree(first: Accesses, second: Accesses) -> bool:
    """Whether each element that one loop writes and the other touches is of one iteration."""
    conflicts = first.writes & (second.reads | second.writes) | first.reads & second.writes
    return all(map(first.merged(second).has_one_place, conflicts))
