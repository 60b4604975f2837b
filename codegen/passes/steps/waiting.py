"""What a step computes of a number that the step before hands on waits for it as briefly as may be.

``min(number, other) + 1`` is three operations after the number is there: a comparison, a choice, a
sum. ``number < other ? number + 1 : other + 1`` is two, as processors add while they compare. So
are ``test ? value : max(number, other)`` three, and ``number > edge ? number : instead`` two, if
``edge`` is the largest integer where the test holds, else ``other``, and ``instead`` is ``test ?
value : other``: neither waits for the number.

A loop whose steps only wait for each other takes as long as these. Integers have the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen.dtypes import BOOL, INT64
from symc.codegen.ir import (
    Binary,
    BinaryOp,
    Const,
    Expr,
    Let,
    Load,
    Select,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.walk import Block, expressions, fresh, names_in, nodes, rebuild

_LIMITS = {"max": Const(2**63 - 1, INT64), "min": Const(-(2**63), INT64)}  # none is beyond them
_BEYOND: Mapping[str, BinaryOp] = {"max": "gt", "min": "lt"}


def waiting_briefly(body: Sequence[Stmt], number: Load, taken: set[str]) -> Block:
    """The statements, in which extremes of the number are chosen with what is made of them."""
    return _Waiting(number, taken).block(body)


class _Waiting:
    """The walk over a step that is given a number."""

    def __init__(self, number: Load, taken: set[str]) -> None:
        self._number = number
        self._taken = taken
        self._extremes: dict[str, Binary] = {}  # of the number, by the names that they have
        self._chosen: set[str] = set()  # the names of which a choice does without
        self._found: list[Stmt] = []

    def block(self, body: Sequence[Stmt]) -> Block:
        """The statements of the step."""
        for stmt in body:
            match stmt:
                case Let(var, value):
                    new = self._visit(value)
                    self._found.append(stmt if new is value else Let(var, new))
                    if isinstance(new, Binary) and self._rest(new) is not None:
                        self._extremes[var.name] = new
                case Store(buffer, index, value):
                    new = self._visit(value)
                    self._found.append(stmt if new is value else Store(buffer, index, new))
                case _:
                    self._found.append(stmt)
        used = {
            name for stmt in self._found for expr in expressions(stmt) for name in names_in(expr)
        }
        unused = self._chosen - used
        return tuple(s for s in self._found if not isinstance(s, Let) or s.var.name not in unused)

    def _visit(self, expr: Expr) -> Expr:
        new = rebuild(expr, self._visit)
        match new:
            case Binary("add", Binary("min" | "max" as op) as extreme, Const() as more):
                rest = self._rest(extreme)
                if rest is not None and new.dtype.is_integer:
                    return self._sum(op, rest, more)
            case Select(test, value, other, dtype) if dtype is INT64:
                if not self._waits(test) and not self._waits(value):
                    return self._choice(new, test, value, other, or_else=False)
                if not self._waits(test) and not self._waits(other):
                    return self._choice(new, test, other, value, or_else=True)
            case _:
                pass
        return new

    def _sum(self, op: str, rest: Expr, more: Const) -> Expr:
        """A sum of an extreme, one of two sums."""
        name = self._named("other", rest)
        wins = Binary(_BEYOND[op], self._number, name, BOOL)
        one, other = (Binary("add", each, more, each.dtype) for each in (self._number, name))
        return Select(wins, one, other, rest.dtype)

    def _choice(
        self, whole: Expr, test: Expr, value: Expr, extreme: Expr, *, or_else: bool
    ) -> Expr:
        """A value where the test holds (or where it does not), else an extreme of the number."""
        name = extreme.name if isinstance(extreme, Var) else ""
        extreme = self._extremes.get(name, extreme)
        rest = self._rest(extreme)
        if rest is None or not isinstance(extreme, Binary):
            return whole
        self._chosen.add(name)
        other = self._named("other", rest)

        def unless(instead: Expr) -> Expr:
            one, two = (other, instead) if or_else else (instead, other)
            return Select(test, one, two, INT64)

        edge = self._named("edge", unless(_LIMITS[extreme.op]))
        instead = self._named("instead", unless(value))
        wins = Binary(_BEYOND[extreme.op], self._number, edge, BOOL)
        return Select(wins, self._number, instead, INT64)

    def _named(self, stem: str, value: Expr) -> Var:
        name = Var(fresh(stem, self._taken), value.dtype)
        self._found.append(Let(name, value))
        return name

    def _waits(self, expr: Expr) -> bool:
        parts = list(nodes(expr))
        return self._number in parts or any(
            isinstance(part, Var) and part.name in self._extremes for part in parts
        )

    def _rest(self, extreme: Expr) -> Expr | None:
        """The other operand of an extreme of the number, if it does not wait for it."""
        match extreme:
            case Binary("min" | "max", one, other):
                for mine, rest in ((one, other), (other, one)):
                    if mine == self._number and self._number not in nodes(rest):
                        return rest
            case _:
                pass
        return None
