"""The statements of a loop of `packs` as they are done for four iterations at a time.

What each lane has of its own is written out for each; values in packs are expressions whose leaves
are what enters a register: neighbours, gathered elements, conversions, one number for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from symc.codegen.dtypes import DType
from symc.codegen.ir import (
    Accumulate,
    Cast,
    Expr,
    Let,
    Load,
    Loop,
    Select,
    Stmt,
    Store,
    Var,
    add,
    const,
)
from symc.codegen.passes.loops.dependence import is_unit
from symc.codegen.passes.vectors.packs import PackForm
from symc.codegen.passes.walk import rebuild, substitute
from symc.codegen.record import record

LANES = 4
"""The iterations of a pack."""


@record
class Neighbours:
    """Elements of a buffer, one after the other from an index on."""

    buffer: str
    index: Expr


@record
class Gathered:
    """Elements of a buffer, one for each lane."""

    buffer: str
    indexes: tuple[Expr, ...]


@record
class Each:
    """A number that each lane computes for itself."""

    values: tuple[Expr, ...]


@record
class All:
    """The same number in all lanes."""

    value: Expr


@record
class Either:
    """One of two packs, the same in all lanes."""

    condition: Expr
    then: PackValue
    otherwise: PackValue


Leaf: TypeAlias = Neighbours | Gathered | Each | All | Either


@record
class PackValue:
    """An expression over packs: `leaves` says what some of its variables stand for."""

    expr: Expr
    leaves: tuple[tuple[Var, Leaf], ...]


@record
class ForAll:
    """A name of what is the same in all lanes; in packs it is `name`."""

    name: Var
    value: Expr


@record
class ForEach:
    """A name of what each lane has for itself, the first lane first."""

    names: tuple[Var, ...]
    values: tuple[Expr, ...]


@record
class InPack:
    """A name of a pack."""

    name: Var
    value: PackValue


@record
class Stored:
    """A pack is stored to neighbouring elements."""

    buffer: str
    index: Expr
    value: PackValue


@record
class Folded:
    """A pack is added to the lanes of a scalar."""

    buffer: str
    lanes: Var
    value: PackValue


@record
class Scattered:
    """A pack is added at computed places; of two packs the second behind each of these places."""

    buffer: str
    indexes: tuple[Expr, ...]
    values: tuple[PackValue, ...]


PackStatement: TypeAlias = ForAll | ForEach | InPack | Stored | Folded | Scattered


@record
class PackPlan:
    """What is done for a pack, in order."""

    dtype: DType
    statements: tuple[PackStatement, ...]

    @property
    def folds(self) -> tuple[Folded, ...]:
        """The statements that add to the lanes of scalars."""
        return tuple([stmt for stmt in self.statements if isinstance(stmt, Folded)])


def pack_plan(loop: Loop, form: PackForm) -> PackPlan:
    """The plan of a loop that has a form."""
    planning = _Planning(loop, form)
    done = [made for stmt in loop.body for made in planning.statement(stmt)]
    return PackPlan(form.dtype, (*done, *planning.scatters()))


class _Planning:
    """One loop, statement by statement."""

    def __init__(self, loop: Loop, form: PackForm) -> None:
        self.variable = loop.var
        self.form = form
        self.out: dict[str, Expr] = {}  # what names of lanes stand for
        self.lanes: list[dict[str, Expr]] = [
            {loop.var.name: add(loop.var, const(lane)) if lane else loop.var}
            for lane in range(LANES)
        ]
        self.count = 0

    def statement(self, stmt: Stmt) -> list[PackStatement]:
        """A statement, unless it is a scatter."""
        match stmt:
            case Let():
                return [self.let(stmt)]
            case Store(buffer, index, value):
                return [Stored(buffer, self.at(index, 0), self.value(value))]
            case Accumulate(buffer, _, _, value) if stmt in self.form.folds:
                lanes = Var(f"{buffer}_lanes@{self.variable.name}", self.form.dtype)
                return [Folded(buffer, lanes, self.value(value))]
            case _:
                return []

    def scatters(self) -> list[PackStatement]:
        """What is added at computed places, when all packs are known."""
        return [
            Scattered(s.buffer, self.each(s.index), tuple(map(self.value, s.values)))
            for s in self.form.scatters
        ]

    def let(self, stmt: Let) -> PackStatement:
        """A name: of a pack, or of what each lane has, or of what all have."""
        var, value = stmt.var, stmt.value
        if var.name in self.form.packed:
            return InPack(_pack_of(var), self.value(value))
        if not self.form.is_moving(value):
            name = Var(f"{var.name}@all", var.dtype)
            made = ForAll(name, self.at(value, 0))
            for lane in self.lanes:
                lane[var.name] = name
            return made
        self.out[var.name] = substitute(value, self.out)
        names = tuple([Var(f"{var.name}@{lane}", var.dtype) for lane in range(LANES)])
        values = self.each(value)
        for lane, name in zip(self.lanes, names, strict=True):
            lane[var.name] = name
        return ForEach(names, values)

    def at(self, expr: Expr, lane: int) -> Expr:
        """An expression as one lane has it."""
        return substitute(expr, self.lanes[lane])

    def each(self, expr: Expr) -> tuple[Expr, ...]:
        """An expression as all lanes have it."""
        return tuple([self.at(expr, lane) for lane in range(LANES)])

    def value(self, value: Expr) -> PackValue:
        """A value that is a pack."""
        leaves: list[tuple[Var, Leaf]] = []

        def leaf(made: Leaf) -> Expr:
            self.count += 1
            var = Var(f"leaf@{self.count}", self.form.dtype)
            leaves.append((var, made))
            return var

        return PackValue(self.packed(value, leaf), tuple(leaves))

    def packed(self, value: Expr, leaf: Callable[[Leaf], Expr]) -> Expr:
        """An expression over packs, and numbers that all lanes have."""
        if not self.form.is_moving(value):
            return self.at(value, 0)
        match value:
            case Var():
                return _pack_of(value)
            case Load(buffer, index):
                if is_unit(substitute(index, self.out), self.variable.name):
                    return leaf(Neighbours(buffer, self.at(index, 0)))
                return leaf(Gathered(buffer, self.each(index)))
            case Cast():
                return leaf(Each(self.each(value)))
            case Select(condition, then, otherwise):
                sides = self.whole(then), self.whole(otherwise)
                return leaf(Either(self.at(condition, 0), *sides))
            case _:
                return rebuild(value, lambda part: self.packed(part, leaf))

    def whole(self, value: Expr) -> PackValue:
        """A value as a pack, even if it is the same in all lanes."""
        if self.form.is_moving(value):
            return self.value(value)
        self.count += 1
        var = Var(f"leaf@{self.count}", self.form.dtype)
        return PackValue(var, ((var, All(self.at(value, 0))),))


def _pack_of(var: Var) -> Var:
    return Var(f"{var.name}@pack", var.dtype)
