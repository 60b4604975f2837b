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
from symc.codegen.dtypes import INT32, INT64, DType
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
    Strips,
    Unary,
    Var,
)
from symc.codegen.passes.kernels.memory import bytes_of
from symc.codegen.passes.strips import iterations_of
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
    return _of_block(kernel.body, _Around(own, {}), _Counting(names, indexes))


@record
class _Counting:
    """The facts that hold throughout a kernel: ranges of sizes, and types of indexes."""

    names: Mapping[str, Amount]
    indexes: frozenset[DType]


@record
class _Around:
    """What is known inside some loops."""

    names: Mapping[str, Expr]
    """Values of names, which follow from sizes and from the variables of loops."""
    strips: Mapping[Expr, Var]
    """The lengths of the strips that are being gone through, each with a name for it."""

    def amount(self, extent: Expr, known: _Counting) -> Amount:
        """The number of iterations of a loop."""
        return Amount.of(self.named(self.written_out(extent)), known.names)

    def written_out(self, index: Expr) -> Expr:
        """An expression of indexes in sizes and variables of loops."""
        return substitute(_plain(index), self.names)

    def named(self, index: Expr) -> Expr:
        """The expression with lengths of strips by their names."""
        return self.strips.get(index) or rebuild(index, self.named)

    def inside(self, loop: Loop) -> _Around:
        """What is known inside one more loop."""
        if not isinstance(loop.cut, Strips):
            return self
        length = self.written_out(iterations_of(loop.var, loop.cut))
        return _Around(self.names, {**self.strips, length: _length(loop)})


def _length(loop: Loop) -> Var:
    """The name for the length of a strip in a loop over strips."""
    return Var(f"length of {loop.var.name}")


def _of_block(block: tuple[Stmt, ...], around: _Around, known: _Counting) -> Amount:
    total = NOTHING
    names = dict(around.names)
    around = _Around(names, around.strips)
    for stmt in block:
        match stmt:
            case Loop(body=body):
                each = _of_block(body, around.inside(stmt), known)
                total = total + _repeated(stmt, each, around, known)
            case If(Binary("ge", _, Const()), then, (_, *_)):  # whole vectors, or a few elements
                total = total + _of_block(then, around, known)
            case If(Binary("gt", Var() as left, Const()), _, ()) if _is_rest(left, around):
                pass  # among those of whole vectors
            case If(condition, then, otherwise):
                loads: list[Load] = []
                collect(condition, [], loads)
                if loads:  # else it is one of indexes
                    total = total + _counted(condition, known)
                total = total + _of_block(then, around, known)
                total = total + _of_block(otherwise, around, known)
            case Let(var, value) if var.dtype in known.indexes:
                names[var.name] = around.written_out(value)
            case Let(_, value) | Store(_, _, value):
                total = total + _counted(value, known)
            case Accumulate(_, _, _, value):
                total = total + ONE + _counted(value, known)
            case _:
                pass
    return total


def _is_rest(left: Var, around: _Around) -> bool:
    """Whether a number is what whole vectors leave."""
    match around.written_out(left):
        case Binary("band", _, Const()):
            return True
        case _:
            return False


def _plain(index: Expr) -> Expr:
    """An expression of indexes, all of them int64."""
    match index:
        case Cast(x, dtype) if dtype.kind == x.dtype.kind == "int":
            return _plain(x)
        case Var(name, dtype) if dtype is INT32:
            return Var(name)
        case Const(value, dtype) if dtype is INT32:
            return Const(value)
        case Binary(op, left, right, dtype) if dtype is INT32:
            return Binary(op, _plain(left), _plain(right), INT64)
        case _:
            return rebuild(index, _plain)


def _repeated(loop: Loop, each: Amount, around: _Around, known: _Counting) -> Amount:
    """An amount for each iteration of a loop. The lengths of strips add up to the whole."""
    times = around.amount(loop.extent, known)
    if not isinstance(loop.cut, Strips):
        return each * times
    whole, most = (around.amount(n, known) for n in (loop.cut.whole, loop.cut.length))
    total = NOTHING
    for factors, number in each.terms.items():
        rest = tuple([factor for factor in factors if factor.expr != _length(loop)])
        amount = Amount({rest: number}) * (times if rest == factors else whole)
        for _ in factors[len(rest) + 1 :]:
            amount = amount * most
        total = total + amount
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
