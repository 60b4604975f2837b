"""How much a step moves and computes, as polynomials over the program's sizes: ``24*n + 8``.

Bytes count each array that a kernel reads or writes once, and in full: what must pass between
memory and processor at least, if the array is not in a cache. Operations are those on elements: a
function such as ``exp`` counts as one, index arithmetic as none.
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.dtypes import INT64
from symc.codegen.ir import (
    Accumulate,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    If,
    Kernel,
    Launch,
    Length,
    Let,
    Load,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
)
from symc.codegen.passes.memory import bytes_of
from symc.codegen.passes.walk import expressions, parts, statements
from symc.codegen.record import record
from symc.codegen.text import expression

Monomial = tuple[str, ...]


@record
class Amount:
    """A polynomial: coefficients of products of sizes. What is no polynomial is a size of its own.

    >>> n = Amount.of(Var("n"))
    >>> print(n * n + n + n + Amount.of(Const(8)))
    n*n + 2*n + 8
    """

    terms: Mapping[Monomial, float]

    @staticmethod
    def of(expr: Expr, names: Mapping[str, Amount] | None = None) -> Amount:
        """An integer expression as an amount; `names` has what is known of variables."""
        match expr:
            case Const(value):
                return Amount({(): float(value)}) if value else NOTHING
            case Var(name) if names is not None and name in names:
                return names[name]
            case Binary("add", left, right):
                return Amount.of(left, names) + Amount.of(right, names)
            case Binary("sub", left, right):
                return Amount.of(left, names) + Amount.of(right, names) * Amount({(): -1.0})
            case Binary("mul", left, right):
                return Amount.of(left, names) * Amount.of(right, names)
            case Binary("floordiv", Binary("add", whole, Const(more)), Const(length)) if (
                more == length - 1
            ):  # so many pieces, the last of which may be shorter
                return Amount.of(whole, names) * Amount({(): 1 / float(length)})
            case Binary("min", Const() as length, _) | Binary("min", _, Const() as length):
                return Amount.of(length)  # the length of a piece
            case _:
                return Amount({(expression(expr),): 1.0})

    def __add__(self, other: Amount) -> Amount:
        terms = dict(self.terms)
        for sizes, factor in other.terms.items():
            terms[sizes] = terms.get(sizes, 0.0) + factor
        return Amount({sizes: factor for sizes, factor in terms.items() if factor})

    def __mul__(self, other: Amount) -> Amount:
        total = NOTHING
        for left, a in self.terms.items():
            product = {tuple(sorted(left + right)): a * b for right, b in other.terms.items()}
            total = total + Amount(product)
        return total

    def value(self, sizes: Mapping[str, int]) -> float | None:
        """The number for given sizes; None where one is not known."""
        total = 0.0
        for names, factor in self.terms.items():
            for name in names:
                if name not in sizes:
                    return None
                factor *= sizes[name]
            total += factor
        return total

    def __str__(self) -> str:
        terms = sorted(self.terms.items(), key=lambda term: (-len(term[0]), term[0]))
        return " + ".join(_term(sizes, factor) for sizes, factor in terms) or "0"


NOTHING = Amount({})
ONE = Amount({(): 1.0})


def _term(sizes: Monomial, factor: float) -> str:
    shown = [f"{factor:.4g}"] if factor != 1 or not sizes else []
    return "*".join([*shown, *(size if size.isidentifier() else f"({size})" for size in sizes)])


# --- steps ----------------------------------------------------------------------------------------


@record
class Work:
    """What one run of a kernel reads and writes, in bytes, and how many operations it does."""

    read: Amount
    written: Amount
    operations: Amount


def work_of(program: Program, launch: Launch) -> Work:
    """The work of one launch of a kernel."""
    kernel = next(k for k in program.kernels if k.name == launch.kernel)
    buffers = {buffer.name: buffer for buffer in program.buffers}
    given = dict(zip((p.name for p in kernel.params), launch.buffers, strict=True))
    names = _known_sizes(program)
    loads, stores = _touched(kernel)
    read, written = NOTHING, NOTHING
    for name in dict.fromkeys(given[p] for p in given if p in loads):
        read = read + Amount.of(bytes_of(buffers[name]))
    for name in dict.fromkeys(given[p] for p in given if p in stores):
        written = written + Amount.of(bytes_of(buffers[name]))
    own = {
        var.name: Amount.of(value, names)
        for var, value in zip(kernel.sizes, launch.sizes, strict=True)
    }
    return Work(read, written, _operations(kernel.body, own))


def _known_sizes(program: Program) -> dict[str, Amount]:
    """The sizes that follow from others."""
    names: dict[str, Amount] = {}
    for size in program.sizes:
        if size.value is not None and not isinstance(size.value, Length):
            names[size.var.name] = Amount.of(size.value, names)
    return names


def _touched(kernel: Kernel) -> tuple[set[str], set[str]]:
    """The parameters that a kernel loads from, and those that it stores to."""
    loads: set[str] = set()
    stores: set[str] = set()
    for stmt in statements(kernel.body):
        pending = list(expressions(stmt))
        while pending:
            expr = pending.pop()
            if isinstance(expr, Load):
                loads.add(expr.buffer)
            pending += parts(expr)
        if isinstance(stmt, Store | Accumulate):
            stores.add(stmt.buffer)
            if isinstance(stmt, Accumulate):
                loads.add(stmt.buffer)
    return loads, stores


def _operations(block: tuple[Stmt, ...], names: Mapping[str, Amount]) -> Amount:
    total = NOTHING
    inside = dict(names)
    for stmt in block:
        match stmt:
            case Loop(_, extent, _, body):
                total = total + Amount.of(extent, inside) * _operations(body, inside)
            case If(condition, then, otherwise):
                total = total + _counted(condition)
                total = total + _operations(then, inside) + _operations(otherwise, inside)
            case Let(var, value) if var.dtype is INT64:
                inside[var.name] = Amount.of(value, inside)
            case Let(_, value) | Store(_, _, value):
                total = total + _counted(value)
            case Accumulate(_, _, _, value):
                total = total + ONE + _counted(value)
            case _:
                pass
    return total


def _counted(expr: Expr) -> Amount:
    """How many operations on elements an expression has."""
    count = 0
    pending = [expr]
    while pending:
        found = pending.pop()
        if isinstance(found, Load):
            continue  # its index is none
        if isinstance(found, Unary | Binary | Call | Select | Cast) and found.dtype is not INT64:
            count += not isinstance(found, Cast)
        pending += parts(found)
    return Amount({(): float(count)}) if count else NOTHING


# --- sizes of one call ----------------------------------------------------------------------------


def sizes_of(program: Program, lengths: Mapping[tuple[str, int], int]) -> dict[str, int]:
    """The program's sizes, given the lengths of the caller's arrays by buffer and axis.

    Those that are only measured while it runs are not among them.
    """
    known: dict[str, int] = {}
    for size in program.sizes:
        match size.value:
            case None:
                continue
            case Length(buffer, axis):
                if (buffer, axis) in lengths:
                    known[size.var.name] = lengths[buffer, axis]
            case value:
                number = Amount.of(value).value(known)
                if number is not None:
                    known[size.var.name] = round(number)
    return known
