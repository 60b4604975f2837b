"""Formulas: how one element is computed from elements of the arguments, as data.

    Formula       reads, one after the other, and a value of all that was read
    IndexFormula  the same, but the value is an index
    Read          the element of an argument at an index
    Apply         the scalar function of an elementwise op, on all that was read

All are expressions over the variables ``i[0], i[1], ...`` of the element's index, for terms of a
fold also over ``r[0], r[1], ...`` of the folded index; and over ``e[0], e[1], ...``, the elements
read so far. No program names anything like that. So indexes may depend on elements (a gather), and
a chain of ops is no chain of calls: graphs of any depth lower without deep stacks.

Ops write a formula as a function of `read` and the index, which runs once, on the variables::

    formula(node, lambda read, i: read(0, (sub(n_minus_1, i[0]),)))      # of x[::-1]

Whoever uses one, for whatever index, opens it there: `open_formulas.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from symc.codegen import ir
from symc.codegen.record import record

if TYPE_CHECKING:  # not at run time: a protocol takes half a millisecond to define
    from typing import Protocol

    from symc.graph.node import Tensor

    class Scalar(Protocol):
        """An elementwise op, seen from here."""

        def scalar(self, values: Sequence[ir.Expr], /) -> ir.Expr:
            """The function on one element of each argument."""
            ...


Index: TypeAlias = "tuple[ir.Expr, ...]"
ReadElement: TypeAlias = "Callable[[int, Index], ir.Expr]"
"""``read(arg, index)``: the element of argument number `arg` at an index, one int64 per axis."""


@record
class Read:
    """The element of argument number `arg` at `index` (one int64 per axis)."""

    arg: int
    index: Index


@record
class Apply:
    """The function of an elementwise op on the elements that were read, one of each argument."""

    op: Scalar


@record
class Formula:
    """An element: a value of the elements that are read."""

    reads: tuple[Read, ...]
    value: ir.Expr | Apply


@record
class IndexFormula:
    """A place: an index that depends on the elements that are read."""

    reads: tuple[Read, ...]
    index: Index


# --- variables ------------------------------------------------------------------------------------


@cache
def own_axis(axis: int) -> ir.Var:
    """The variable of an axis of the result, or of a part that is written."""
    return ir.Var(f"i[{axis}]")


@cache
def folded_axis(number: int) -> ir.Var:
    """The variable of a folded axis."""
    return ir.Var(f"r[{number}]")


@cache
def element_name(number: int) -> str:
    """The name of the element that is read as number so much."""
    return f"e[{number}]"


@cache
def own_index(rank: int) -> tuple[ir.Var, ...]:
    """The index of an element: always the same object."""
    return tuple(map(own_axis, range(rank)))


@cache
def folded_index(rank: int) -> tuple[ir.Var, ...]:
    """The folded index of a term: always the same object."""
    return tuple(map(folded_axis, range(rank)))


# --- how ops write formulas -----------------------------------------------------------------------


class _Reads:
    """An op's function calls it: notes the read, gives the variable that the element has."""

    def __init__(self, args: Sequence[Tensor]) -> None:
        self.args = args
        self.found: list[Read] = []

    def __call__(self, arg: int, index: Index) -> ir.Expr:
        name = element_name(len(self.found))
        self.found.append(Read(arg, index))
        return ir.Var(name, self.args[arg].type.dtype)


def formula(node: Tensor, element: Callable[[ReadElement, Index], ir.Expr]) -> Formula:
    """The formula of a node's elements: `element` gives the one at an index."""
    read = _Reads(node.args)
    value = element(read, own_index(len(node.type.shape)))
    return Formula(tuple(read.found), value)


def term_formula(
    node: Tensor, extents: Sequence[Any], term: Callable[[ReadElement, Index, Index], ir.Expr]
) -> Formula:
    """The formula of a fold's terms: `term` gives the one of an element at a folded index."""
    read = _Reads(node.args)
    value = term(read, own_index(len(node.type.shape)), folded_index(len(extents)))
    return Formula(tuple(read.found), value)


def part_formula(
    node: Tensor, extents: Sequence[Any], value: Callable[[ReadElement, Index], ir.Expr]
) -> Formula:
    """The formula of values that are written: `value` gives the one at an index over `extents`."""
    read = _Reads(node.args)
    found = value(read, own_index(len(extents)))
    return Formula(tuple(read.found), found)


def target_formula(
    node: Tensor, extents: Sequence[Any], target: Callable[[ReadElement, Index], Index]
) -> IndexFormula:
    """The formula of places that are written: `target` gives the one at an index over `extents`."""
    read = _Reads(node.args)
    found = target(read, own_index(len(extents)))
    return IndexFormula(tuple(read.found), found)


def own_element(node: Tensor) -> Formula:
    """The element of argument 0 at the same place."""
    return formula(node, lambda read, index: read(0, index))
