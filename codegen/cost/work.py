"""How much a step of a program moves and computes, over the program's sizes.

Bytes count each array that a kernel or routine reads or writes once, and in full: the traffic
between memory and processor at least, if the array is not in a cache. Operations are those on
elements: a function such as ``exp`` counts as one, index arithmetic as none. Those of routines are
in `operations.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

from symc.codegen import ir
from symc.codegen.cost.amounts import NOTHING, ONE, Amount, Factor, number_of
from symc.codegen.cost.operations import RoutineArguments, operations
from symc.codegen.dtypes import INT64, DType
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
    Pointer,
    Program,
    Region,
    Routine,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
)
from symc.codegen.passes.memory import bytes_of
from symc.codegen.passes.strips import cut_extent, plain
from symc.codegen.passes.walk import collect, expressions, parts, rebuild, statements, substitute
from symc.codegen.record import record
from symc.codegen.routines import ROUTINES

if TYPE_CHECKING:
    from symc.codegen.blocks import Working

LONGEST = 24  # characters of an expression that stands where a size has a name of its own


@record
class Work:
    """The bytes that one run of a step reads and writes, and the number of its operations.

    Operations are None where nobody knows: of functions in Python, and of users' own in C.
    """

    read: Amount
    written: Amount
    operations: Amount | None

    def __str__(self) -> str:
        moved = f"reads {self.read} bytes, writes {self.written}"
        return moved if self.operations is None else f"{moved}, {self.operations} operations"


class Works:
    """The work of the steps of a program, one after the other."""

    def __init__(self, program: Program) -> None:
        self._buffers = {buffer.name: buffer for buffer in program.buffers}
        self._kernels = {kernel.name: kernel for kernel in program.kernels}
        self._names = _known_sizes(program)

    def of(self, step: Working) -> Work:
        """The work of one run of a step that computes."""
        kernel = self._kernels[step.kernel] if isinstance(step, Launch) else None
        read, written = map(self._bytes, moved(step, kernel))
        return Work(read, written, self._operations(step, kernel))

    def _bytes(self, names: list[str]) -> Amount:
        total = NOTHING
        for name in names:
            total = total + Amount.of(bytes_of(self._buffers[name]), self._names)
        return total

    def _operations(self, step: Working, kernel: Kernel | None) -> Amount | None:
        match step:
            case Launch(sizes=sizes):
                assert kernel is not None
                own = {var.name: size for var, size in zip(kernel.sizes, sizes, strict=True)}
                return _of_kernel(kernel, own, self._names)
            case Routine(name):
                return operations(name, RoutineArguments(_named(step), self._names))
            case ir.PythonCall():
                return None
            case _:
                assert_never(step)


def moved(step: Working, kernel: Kernel | None) -> tuple[list[str], list[str]]:
    """The buffers that a step reads, and those that it writes, each once."""
    match step:
        case Launch(_, buffers):
            assert kernel is not None
            loads, stores = _touched(kernel)
            given = dict(zip((param.name for param in kernel.params), buffers, strict=True))
            read = [given[name] for name in given if name in loads]
            written = [given[name] for name in given if name in stores]
        case Routine(_, args):
            pointers = [arg for arg in args if isinstance(arg, Pointer)]
            read = [p.buffer for p in pointers if not p.written or _adds(step)]
            written = [p.buffer for p in pointers if p.written]
        case ir.PythonCall(_, _, args):
            regions = [arg.pointer for arg in args if isinstance(arg, Region)]
            read = [p.buffer for p in regions if not p.written]
            written = [p.buffer for p in regions if p.written]
        case _:
            assert_never(step)
    return list(dict.fromkeys(read)), list(dict.fromkeys(written))


def _named(routine: Routine) -> dict[str, Expr]:
    """The arguments of a routine that are no arrays, by their names."""
    arguments = ROUTINES[routine.name].arguments
    return {
        name: arg
        for (name, _), arg in zip(arguments, routine.args, strict=True)
        if not isinstance(arg, Pointer)
    }


def _adds(routine: Routine) -> bool:
    """Whether a routine adds to the elements that it writes."""
    beta = _named(routine).get("beta")
    return routine.name.startswith("ger_") or not (beta is None or beta == Const(0.0, beta.dtype))


def _known_sizes(program: Program) -> dict[str, Amount]:
    """The sizes that follow from others: written out where that is short."""
    names: dict[str, Amount] = {}
    for size in program.sizes:
        if size.value is None or isinstance(size.value, Length):
            continue
        amount = Amount.of(size.value, names)
        factors = [factor for term in amount.terms for factor in term]
        alone = len(factors) == 1 and amount == Amount({(factors[0],): 1.0})
        text = factors[0].text if alone else str(amount)
        if len(amount.terms) < 2 and all(isinstance(f.expr, Var) for f in factors):
            names[size.var.name] = amount
        elif len(text) <= LONGEST and "//" not in text:
            names[size.var.name] = Amount({(Factor(text, size.var),): 1.0})
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


def _of_kernel(kernel: Kernel, own: Mapping[str, Expr], names: Mapping[str, Amount]) -> Amount:
    """The operations of a kernel; `own` has its sizes in terms of the program's.

    Indexes are int64, and int32 where loops count so.
    """
    loops = [stmt for stmt in statements(kernel.body) if isinstance(stmt, Loop)]
    indexes = frozenset({INT64, *(loop.var.dtype for loop in loops)})
    return _of_block(kernel.body, own, _Counting(names, indexes))


@record
class _Counting:
    """The facts that hold throughout a kernel: ranges of sizes, and types of indexes."""

    names: Mapping[str, Amount]
    indexes: frozenset[DType]

    def amount(self, extent: Expr, inside: Mapping[str, Expr]) -> Amount:
        return Amount.of(substitute(_plain(extent), inside), self.names)


def _of_block(block: tuple[Stmt, ...], own: Mapping[str, Expr], known: _Counting) -> Amount:
    total = NOTHING
    inside = dict(own)
    for stmt in map(plain, block):
        match stmt:
            case Loop(var, extent, _, body):
                times = known.amount(extent, inside)
                inner = _of_block(body, inside, known)
                total = total + _repeated(inner, var.name, times, known.names)
            case If(condition, then, otherwise):
                loads: list[Load] = []
                collect(condition, [], loads)
                if loads:  # else it is one of indexes
                    total = total + _counted(condition, known)
                total = total + _of_block(then, inside, known)
                total = total + _of_block(otherwise, inside, known)
            case Let(var, value) if var.dtype in known.indexes:
                inside[var.name] = substitute(_plain(value), inside)
            case Let(_, value) | Store(_, _, value):
                total = total + _counted(value, known)
            case Accumulate(_, _, _, value):
                total = total + ONE + _counted(value, known)
            case _:
                pass
    return total


def _plain(index: Expr) -> Expr:
    """An expression of indexes without the conversions between their types."""
    if isinstance(index, Cast) and index.dtype.kind == index.x.dtype.kind == "int":
        return _plain(index.x)
    return rebuild(index, _plain)


def _repeated(each: Amount, var: str, times: Amount, names: Mapping[str, Amount]) -> Amount:
    """An amount for each round of a loop. The lengths of pieces add up to the whole."""
    total = NOTHING
    for factors, number in each.terms.items():
        rest, whole = factors, None
        for factor in factors:
            whole = cut_extent(factor.expr, var)
            if whole is not None:
                rest = tuple(other for other in factors if other is not factor)
                break
        many = times if whole is None else Amount.of(whole, names)
        total = total + Amount({rest: number}) * many
    return total


def _counted(expr: Expr, known: _Counting) -> Amount:
    """How many operations on elements an expression has."""
    count = 0
    pending = [expr]
    while pending:
        found = pending.pop()
        if isinstance(found, Load):
            continue  # its index is none
        if isinstance(found, Unary | Binary | Call | Select) and found.dtype not in known.indexes:
            count += 1
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
                number = number_of(value, known)
                if number is not None:
                    known[size.var.name] = number
    return known
