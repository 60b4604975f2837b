"""Formulas at work: shared by all who use an op's formula.

    OpenFormula  a formula at one index, with the elements that it has been given so far
    Answering    the elements of a graph, of any depth: whoever asks says which are known

An open formula says which element comes next, is given it as an expression, and in the end has the
value. `Answering` keeps them on an explicit stack: chains of a million ops need no deep Python
stack.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from typing import Generic, TypeVar

from symc.codegen import ir
from symc.codegen.dtypes import INT64
from symc.graph.dims import fits
from symc.graph.formulas import (
    Apply,
    Formula,
    Index,
    IndexFormula,
    Read,
    element_name,
    folded_axis,
    own_axis,
    own_index,
)
from symc.graph.inputs import Constant
from symc.graph.lowering import At, Lowering
from symc.graph.node import Tensor

Found = TypeVar("Found")
"""The answer for an element."""


class OpenFormula:
    """A formula at an index (of a fold's terms, also at a folded one) and its elements so far."""

    __slots__ = ("_given", "_values", "elements", "formula", "index", "inner")

    def __init__(self, formula: Formula | IndexFormula, index: Index, inner: Index = ()) -> None:
        self.formula = formula
        self.index = index
        self.inner = inner
        self.elements: list[ir.Expr] = []
        self._values: dict[str, ir.Expr] | None = None
        self._given = 0

    def next(self) -> tuple[int, Index] | None:
        """The number of an argument and the index of the element that is read next; None at the
        end."""
        number, reads = len(self.elements), self.formula.reads
        if number == len(reads):
            return None
        read = reads[number]
        if read.index is own_index(len(self.index)):
            return read.arg, self.index
        return read.arg, self._placed(read.index)

    def value(self) -> ir.Expr:
        """The value of a `Formula` that has all its elements."""
        formula = self.formula
        assert isinstance(formula, Formula)
        if isinstance(formula.value, Apply):
            return formula.value.op.scalar(self.elements)
        return replaced(formula.value, self._bound())

    def target(self) -> Index:
        """The index that an `IndexFormula` gives that has all its elements."""
        assert isinstance(self.formula, IndexFormula)
        return self._placed(self.formula.index)

    def _placed(self, index: Index) -> Index:
        if not index:
            return index
        values = self._bound()
        return tuple([replaced(one, values) for one in index])

    def _bound(self) -> dict[str, ir.Expr]:
        """The variables' values so far."""
        values, count = self._values, len(self.elements)
        if values is None:
            values = self._values = dict(zip(_own_names(len(self.index)), self.index, strict=True))
            if self.inner:
                values |= zip(_folded_names(len(self.inner)), self.inner, strict=True)
        for number in range(self._given, count):
            values[element_name(number)] = self.elements[number]
        self._given = count
        return values


class Answering(ABC, Generic[Found]):
    """Finds elements of nodes, and first those that they are computed from."""

    def __init__(self, lowerings: Mapping[Tensor, Lowering]) -> None:
        self._lowerings = lowerings

    @abstractmethod
    def ask(self, node: Tensor, index: Index) -> Found | OpenFormula:
        """The element of a node at an index if it is known, else the open formula that finds it."""

    @abstractmethod
    def give(self, opened: OpenFormula, found: Found) -> None:
        """Gives an open formula the element that it asked for."""

    @abstractmethod
    def finish(self, node: Tensor, opened: OpenFormula) -> Found:
        """The element of an open formula that `ask` made, now that it has all that it needs."""

    def formula(self, node: Tensor) -> Formula:
        """How a node's elements are computed."""
        lowering = self._lowerings[node]
        assert isinstance(lowering, At), f"{node!r} must be stored before it is read"
        return lowering.element

    def answer(self, node: Tensor, opened: OpenFormula) -> None:
        """Gives an open formula all elements of the node's arguments that it asks for."""
        stack = [(node, opened)]
        while True:
            request = opened.next()
            if request is None:
                stack.pop()
                if not stack:
                    return
                found = self.finish(node, opened)
                node, opened = stack[-1]
            else:
                number, index = request
                arg = node.args[number]
                if type(arg.op) is Constant and not arg.type.shape:
                    value = ir.number(arg.op.value.item(), arg.type.dtype)
                    opened.elements.append(value)
                    continue
                asked = self.ask(arg, index)
                if isinstance(asked, OpenFormula):
                    node, opened = arg, asked
                    stack.append((node, opened))
                    continue
                found = asked
            self.give(opened, found)


def only_element(formula: Formula, index: Index) -> Index | None:
    """Where the element of argument 0 stands that is all that a formula gives at an index."""
    match formula:
        case Formula((Read(0),), ir.Var(name)) if name == element_name(0):
            request = OpenFormula(formula, index).next()
            return None if request is None else request[1]
        case _:
            return None


# --- variables replaced ---------------------------------------------------------------------------


@cache
def _own_names(rank: int) -> tuple[str, ...]:
    return tuple([own_axis(axis).name for axis in range(rank)])


@cache
def _folded_names(rank: int) -> tuple[str, ...]:
    return tuple([folded_axis(number).name for number in range(rank)])


_FOLDED: dict[str, Callable[[ir.Expr, ir.Expr], ir.Expr]] = {
    "add": ir.add, "sub": ir.sub, "mul": ir.mul,
}  # fmt: skip


def _folded(op: ir.BinaryOp, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    """Arithmetic on int64 folded as indexes are; but not beyond 64 bits, as values may wrap."""
    folded = _FOLDED[op](left, right)
    match folded:
        case ir.Const(value) | ir.Binary(right=ir.Const(value)) if not fits(int(value)):
            return ir.Binary(op, left, right, INT64)
        case _:
            return folded


def replaced(expr: ir.Expr, values: Mapping[str, ir.Expr]) -> ir.Expr:
    """An expression with values for its variables; arithmetic on int64 is folded as in `ir.add`."""
    kind = type(expr)
    if kind is ir.Var:
        return values.get(expr.name, expr)  # type: ignore[union-attr]
    if kind is ir.Const:
        return expr
    match expr:
        case ir.Binary(op, left, right, dtype):
            new_left, new_right = replaced(left, values), replaced(right, values)
            if new_left is left and new_right is right:
                return expr
            if dtype is INT64 and op in _FOLDED:
                return _folded(op, new_left, new_right)
            return ir.Binary(op, new_left, new_right, dtype)
        case ir.Unary(op, x, dtype):
            return ir.Unary(op, replaced(x, values), dtype)
        case ir.Cast(x, dtype):
            return ir.Cast(replaced(x, values), dtype)
        case ir.Call(function, args, dtype):
            return ir.Call(function, tuple([replaced(arg, values) for arg in args]), dtype)
        case ir.Select(condition, then, otherwise, dtype):
            holds = replaced(condition, values)
            return ir.Select(holds, replaced(then, values), replaced(otherwise, values), dtype)
        case _:
            return expr
