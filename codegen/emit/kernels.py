"""Kernels of the loop IR as C functions.

The text is meant to be read: notes become comments, names are the user's, a variable is initialised
where it is declared. Everything takes time linear in the program, and nothing recurses.

Kernels have one of two forms. One whose body is a parallel loop (behind some `Let`) becomes a
function over a range of that loop, ``begin`` to ``end``, and the host calls it once a thread: so
`restrict` is not lost in a function that gcc outlines, and a small call does not pay 0.5 us for a
team of one thread. Any other parallel loop gets an OpenMP pragma where it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, assert_never

from symc.codegen import math
from symc.codegen.cost.loops import work
from symc.codegen.emit.expressions import ADD, BOOLEAN, SELECT, SHIFT, Printer, is_plain
from symc.codegen.emit.reductions import Reduction, mentions, reductions, statements
from symc.codegen.emit.settled import Declare, Printed, declared, names_of_kernel
from symc.codegen.emit.units import Function, dense
from symc.codegen.emit.writer import INDENT, Writer, comment, wrapped
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Buffer,
    Combine,
    Const,
    Expr,
    If,
    Kernel,
    Let,
    Loop,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.memory import Scratch, bytes_of, is_on_stack
from symc.codegen.record import record
from symc.codegen.signs import factors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from symc.codegen.dtypes import DType

THRESHOLD = 1 << 18  # rough operations that are worth waking another thread, some 40 us
ASSIGN = {
    "add": "+=", "mul": "*=", "or": "|=", "and": "&=", "bor": "|=", "band": "&=", "bxor": "^=",
}  # fmt: skip


@record
class Emitted:
    """A kernel as text, and what the host must know to call it."""

    name: str
    function: Function
    sizes: tuple[int, ...]  # which of the kernel's sizes it takes: those it uses
    extent: Expr | None  # of the parallel loop that the kernel runs a range of, in kernel sizes
    work: Expr | None  # what the whole loop costs, in kernel sizes
    granule: int  # how many iterations of it must stay together
    threads: bool  # whether it takes the number of threads, for a pragma inside


def emit_kernel(
    kernel: Kernel,
    name: str,
    printer: Printer,
    declared: dict[str, None],
    scratch: Scratch | None,
    aliased: frozenset[str],
) -> Emitted:
    """Print one kernel. `aliased` parameters may be the same memory as others."""
    writer = Writer(printer.lang, printer, declared, scratch=scratch)
    ranged = range_loop(kernel)
    writer.ranged = ranged is not None
    for param in kernel.params:
        printer.buffers[param.name]
    for size in kernel.sizes:
        printer.vars[size.name]
    emit_block(writer, kernel.body, Threads(ranged))
    used = names_of_kernel(kernel.body, ranged, scratch)
    sizes = tuple(n for n, size in enumerate(kernel.sizes) if size.name in used)
    head = signature(kernel, name, writer, sizes, aliased)
    lines = "\n".join(writer.lines)
    body = f"{{\n{lines}\n}}\n"
    weight = dense(printer.lang.kernel) + dense(head) + dense(body) - writer.remarks
    text = Function(comment(kernel.note, ""), printer.lang.kernel, head, body, weight)
    if ranged is None:
        return Emitted(name, text, sizes, None, None, 1, writer.threads)
    return Emitted(name, text, sizes, ranged.extent, work(ranged), granule(ranged), threads=False)


def range_loop(kernel: Kernel) -> Loop | None:
    """The parallel loop that is all a kernel does, if the host can decide how to share it out."""
    if not kernel.body:
        return None
    *before, last = kernel.body
    if not isinstance(last, Loop) or last.kind != "parallel":
        return None
    if not all(isinstance(stmt, Let) for stmt in before):
        return None
    named = {stmt.var.name for stmt in before if isinstance(stmt, Let)} | {last.var.name}
    if mentions(last.extent, named) or mentions(work(last), named) or not is_plain(last.extent):
        return None
    return last


def granule(loop: Loop) -> int:
    """Into what multiples a parallel loop may be cut so that no result depends on the cuts.

    The iterations left over at the end of a vectorised loop call scalar functions, which differ
    from vector functions in the last bit. So a loop that is vectorised is cut at multiples of any
    vector's length. Where a loop inside is vectorised, cuts do not matter; where there are other
    loops inside, gcc might vectorise the outer one.
    """
    inner = [stmt.kind for stmt in statements(loop.body) if isinstance(stmt, Loop)]
    if not inner:
        return 64
    return 1 if {"vector", "parallel"} & set(inner) else 16


def signature(
    kernel: Kernel, name: str, writer: Writer, sizes: Sequence[int], aliased: frozenset[str]
) -> str:
    """The name and the parameters of a kernel."""
    lang, printer = writer.lang, writer.printer
    params: list[str] = []
    for param in kernel.params:
        before = "" if param.written else "const "
        restrict = "" if param.name in aliased else lang.restrict + " "
        star = "*" + restrict
        params.append(f"{before}{lang.types[param.dtype.name]} {star}{printer.buffers[param.name]}")
    params += [f"const int64_t {printer.vars[kernel.sizes[number].name]}" for number in sizes]
    if writer.ranged:
        params += ["const int64_t begin", "const int64_t end"]
    if writer.threads:
        params += ["const int64_t threads", "const int64_t *const stopped"]
    if writer.scratch is not None:
        params.append("char *const scratch")
        if not writer.ranged:
            params.append("const int64_t stride")
    folds = f"{lang.folds} " if writer.folds and lang.folds is not None else ""
    whole = wrapped(f"{lang.kernel} {folds}{name}(", params or ["void"], ")", "")
    return whole.removeprefix(lang.kernel).lstrip()


@record(frozen=False)
class Frame:
    """A block that is being printed."""

    rest: Iterator[Printed]
    otherwise: tuple[Stmt, ...] = ()
    parallel: bool = False
    opened: bool = True
    positive: frozenset[str] = frozenset()  # what is known to be above zero only in here
    extremes: tuple[Reduction, ...] = ()  # what has a flag for NaN only in here


class Form(Protocol):
    """How the loops of a target are printed, and what follows from that."""

    def loop(self, writer: Writer, loop: Loop) -> Frame | None:
        """The head of a loop, with the block in it; or all of it."""
        ...

    def alloc(self, writer: Writer, buffer: Buffer) -> None:
        """The declaration of a local array."""
        ...

    def scalar(self, writer: Writer, dtype: DType) -> str:
        """The type of a local variable."""
        ...

    def wait(self, writer: Writer, stmt: Barrier | Combine) -> None:
        """A statement at which the threads of a team meet."""
        ...


@record
class Threads:
    """Loops of one thread of a processor, or shared out by OpenMP."""

    ranged: Loop | None

    def loop(self, writer: Writer, loop: Loop) -> Frame | None:
        """A ``for`` with what the compiler is told about it."""
        return emit_loop(writer, loop, self.ranged)

    def alloc(self, writer: Writer, buffer: Buffer) -> None:
        """An array on the stack, or scratch memory."""
        emit_alloc(writer, buffer)

    def scalar(self, writer: Writer, dtype: DType) -> str:
        """The type itself, but that gcc makes no vector loop which accumulates a bool."""
        return writer.lang.types["uint8" if dtype.kind == "bool" else dtype.name]

    def wait(self, writer: Writer, stmt: Barrier | Combine) -> None:
        """Nothing: a thread of a processor is a team of one."""


def emit_block(writer: Writer, body: tuple[Stmt, ...], form: Form) -> None:
    """Print statements and all that is nested in them, with a stack of blocks."""
    frames = [Frame(declared(body), opened=False)]
    while frames:
        frame = frames[-1]
        stmt = next(frame.rest, None)
        if stmt is not None:
            inner = emit_statement(writer, stmt, form)
            if inner is not None:
                writer.depth += 1
                frames.append(inner)
            continue
        frames.pop()
        writer.printer.positive -= frame.positive
        if frame.opened:
            writer.depth -= 1
        if frame.otherwise:
            writer.put("} else {")
            writer.depth += 1
            frames.append(Frame(declared(frame.otherwise)))
        elif frame.opened:
            writer.put("}")
        for reduction in frame.extremes:
            close_extreme(writer, reduction)
        if frame.parallel:
            writer.in_parallel = False
            writer.put("if (*stopped) return;")  # its last iterations were left out


def emit_statement(writer: Writer, stmt: Printed, form: Form) -> Frame | None:
    """Print one statement, or the head of it and return the block in it."""
    match stmt:
        case Let(var, value):
            printer = writer.printer
            if var.dtype.kind == "int" and printer.is_natural(value):
                printer.natural.add(var.name)
            text = writer.value(value)
            if writer.lang.truth is not None and printer.is_loaded_bool(value):
                printer.used[writer.lang.truth] = None
                text = f"{writer.lang.truth}({text})"
            kind = writer.lang.types[var.dtype.name]
            writer.put(f"const {kind} {printer.vars[var.name]} = {text};")
        case Store(buffer, index, value):
            text = writer.value(value)
            writer.put(f"{writer.element(buffer, index)} = {text};")
        case Accumulate():
            emit_accumulate(writer, stmt)
        case Declare(buffer, value):
            emit_scalar(writer, buffer, value, form.scalar(writer, buffer.dtype))
        case Alloc(buffer):
            form.alloc(writer, buffer)
        case If(condition, then, otherwise):
            writer.put(f"if ({writer.value(condition)}) {{")
            return Frame(declared(then), otherwise)
        case Loop():
            return form.loop(writer, stmt)
        case Barrier() | Combine():
            form.wait(writer, stmt)
        case _:
            assert_never(stmt)
    return None


def emit_scalar(writer: Writer, buffer: Buffer, value: Expr | None, kind: str) -> None:
    """A local variable, with its first value if that follows at once."""
    writer.printer.scalars.add(buffer.name)
    text = "" if value is None else f" = {writer.value(value)}"
    writer.put(f"{kind} {writer.printer.buffers[buffer.name]}{text};")


def emit_accumulate(writer: Writer, stmt: Accumulate) -> None:
    """An update by an operator, or by a function for those that C has no operator for."""
    value, dtype = stmt.value, stmt.value.dtype
    op: str = stmt.op
    if stmt.atomic:
        function = f"symc_atomic_{op}_{math.short(dtype)}"
        writer.printer.used[function] = None
        text = writer.value(value)
        writer.put(f"{function}(&{writer.element(stmt.buffer, stmt.index)}, {text});")
        return
    if dtype.kind == "bool":
        op = BOOLEAN.get(op, op)
    if op in ASSIGN:
        text = writer.value(value, SELECT)
        writer.put(f"{writer.element(stmt.buffer, stmt.index)} {ASSIGN[op]} {text};")
        return
    if stmt.buffer in writer.flags:
        emit_extreme(writer, stmt)
        return
    text = writer.value(value)
    target = writer.element(stmt.buffer, stmt.index)
    function = math.function(op, dtype)
    writer.printer.used[function] = None
    writer.put(f"{target} = {function}({target}, {text});")


def emit_alloc(writer: Writer, buffer: Buffer) -> None:
    """An array on the stack, or a piece of the thread's scratch memory."""
    lang, printer = writer.lang, writer.printer
    name, kind = printer.buffers[buffer.name], lang.types[buffer.dtype.name]
    if is_on_stack(buffer):
        count = int(getattr(bytes_of(buffer), "value", 0)) // buffer.dtype.bytes
        writer.put(f"{kind} {name}[{max(count, 1)}]{lang.local};")
        return
    assert writer.scratch is not None
    base = "scratch"
    if not writer.ranged:
        base = f"scratch + {lang.thread}() * stride"
        printer.used[lang.thread] = None
    offset = writer.scratch.offsets[buffer.name]
    if not (isinstance(offset, Const) and offset.value == 0):
        base += f" + {printer.text(offset, ADD + 1)}"
    writer.put(f"{kind} *{lang.restrict} {name} = ({kind} *)({base});")


def emit_loop(writer: Writer, loop: Loop, ranged: Loop | None) -> Frame:
    """The head of a loop."""
    printer = writer.printer
    found = reductions(loop, printer.scalars) if loop.kind == "vector" else None
    extremes = tuple(reduction for reduction in found or () if is_extreme(reduction))
    for reduction in extremes:
        open_extreme(writer, reduction)
    writer.remark(loop.note)
    extent = loop.extent
    first, last = "0", ""
    if loop is ranged:
        first, last = "begin", "end"
    elif all(isinstance(factor, Var | Const) for factor in factors(extent)):
        last = writer.value(extent, SHIFT)
    else:  # evaluated once, before anything in the loop changes what it loads
        name = printer.fresh(f"{printer.vars[loop.var.name]}_end")
        writer.put(f"const int64_t {printer.vars[name]} = {writer.value(extent)};")
        last = printer.vars[name]
    parallel = loop.kind == "parallel" and not writer.ranged and not writer.in_parallel
    emit_pragmas(writer, loop, parallel, found)
    if parallel:
        writer.in_parallel = True
    name = printer.vars[loop.var.name]
    names = {factor.name for factor in factors(extent) if isinstance(factor, Var)}
    positive = frozenset(names & printer.natural - printer.positive)  # where the body runs at all
    printer.positive |= positive
    printer.natural.add(loop.var.name)
    writer.put(f"for (int64_t {name} = {first}; {name} < {last}; {name}++) {{")
    return Frame(declared(loop.body), parallel=parallel, positive=positive, extremes=extremes)


def emit_pragmas(
    writer: Writer, loop: Loop, parallel: bool, found: Sequence[Reduction] | None
) -> None:
    """What the compiler is told about a loop; `found` is what a vector loop accumulates."""
    lang = writer.lang
    innermost = not any(isinstance(stmt, Loop | If) for stmt in loop.body)
    clauses = ""
    if found and writer.ranged:  # row after row; what is folded but once may take longer
        writer.accumulates()
    for reduction in found or ():
        clauses += f" reduction({reduction_name(writer, reduction)}:"
        clauses += f"{writer.printer.buffers[reduction.buffer]})"
        if reduction.buffer in writer.flags:
            clauses += f" reduction(|:{writer.flags[reduction.buffer]})"
    if parallel:
        writer.threads = True
        cost = writer.printer.text(work(loop), SHIFT)
        several = writer.printer.text(loop.extent, SHIFT)
        test = f"threads > 1 && {several} > 1 && {cost} >= {THRESHOLD}"
        simd = " simd" if innermost else ""
        size = granule(loop)
        schedule = "dynamic" if size == 1 else f"dynamic, {4096 if innermost else size}"
        writer.pragma(lang.parallel.format(simd=simd, schedule=schedule, test=test))
    elif found is not None or (loop.kind == "parallel" and innermost):
        writer.pragma(lang.simd.format(clauses=clauses))
    elif loop.kind == "unroll":
        count = int(loop.extent.value) if isinstance(loop.extent, Const) else 4
        writer.pragma(lang.unroll.format(count=max(1, min(count, 65534))))


def reduction_name(writer: Writer, reduction: Reduction) -> str:
    """What OpenMP calls a reduction."""
    op, dtype = reduction.op, reduction.dtype
    if dtype.kind == "bool":
        return {"or": "|", "add": "|", "max": "|", "xor": "^", "bxor": "^"}.get(op, "&")
    if op in ("max", "min"):
        return op if dtype.kind != "float" else declare_reduction(writer, op, dtype)
    return ASSIGN[op][0]


# --- extremes of floats in a vector loop: one instruction each, which drops NaN, and a flag for it

BEATS = {"max": ">", "min": "<"}  # false for NaN


def is_extreme(reduction: Reduction) -> bool:
    """Whether a vector loop keeps a flag for this: NumPy's extremes are NaN if anything is."""
    return reduction.op in BEATS and reduction.dtype.is_float


def declare_reduction(writer: Writer, op: str, dtype: DType) -> str:
    """Declare ``max`` or ``min`` of floats without NaN. Each lane starts with the value so far."""
    name = f"{op}_{math.short(dtype)}"
    writer.declared[
        f"#pragma omp declare reduction({name} : {writer.lang.types[dtype.name]} : \\\n"
        f"{INDENT}omp_out = omp_in {BEATS[op]} omp_out ? omp_in : omp_out) \\\n"
        f"{INDENT}initializer(omp_priv = omp_orig)"
    ] = None
    return name


def open_extreme(writer: Writer, reduction: Reduction) -> None:
    """Before the loop: declare the flag, an integer as wide as what is compared."""
    printer = writer.printer
    acc = printer.buffers[reduction.buffer]
    flag = writer.flags[reduction.buffer] = printer.vars[printer.fresh(f"{acc}_is_nan")]
    writer.put(f"int{reduction.dtype.bits}_t {flag} = -({acc} != {acc});")


def emit_extreme(writer: Writer, stmt: Accumulate) -> None:
    """In the loop: update both."""
    printer = writer.printer
    acc, flag = printer.buffers[stmt.buffer], writer.flags[stmt.buffer]
    text = writer.value(stmt.value)
    if not isinstance(stmt.value, Var | Const):
        name = printer.vars[printer.fresh(f"{acc}_value")]
        writer.put(f"const {writer.lang.types[stmt.value.dtype.name]} {name} = {text};")
        text = name
    writer.put(f"{acc} = {text} {BEATS[stmt.op]} {acc} ? {text} : {acc};")
    writer.put(f"{flag} |= -({text} != {text});")


def close_extreme(writer: Writer, reduction: Reduction) -> None:
    """After the loop: NaN if there was one."""
    acc, flag = writer.printer.buffers[reduction.buffer], writer.flags.pop(reduction.buffer)
    writer.put(f"if ({flag}) {acc} = {writer.lang.nan[reduction.dtype.name]};")
