"""Kernels of the loop IR as C functions.

The text is meant to be read: notes become comments, names are the user's, a variable is initialised
where it is declared. Everything takes time linear in the program, and nothing recurses.

A kernel that does a range of a loop (see `passes/kernels/calls.py`) goes from ``begin`` to ``end``.
Any other parallel loop gets an OpenMP pragma where it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, assert_never

from symc.codegen import math
from symc.codegen.emit.expressions import ADD, BOOLEAN, SELECT, SHIFT, CNames, Printer
from symc.codegen.emit.packs import emit_packs
from symc.codegen.emit.sections import Section, sections_of
from symc.codegen.emit.units import KernelText, dense
from symc.codegen.emit.writer import INDENT, Writer, comment, macro, wrapped
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
    Param,
    Stmt,
    Store,
    Var,
)
from symc.codegen.passes.kernels.calls import THRESHOLD, Calling, LoopForm
from symc.codegen.passes.kernels.inlined import AT_ONCE, is_tiny
from symc.codegen.passes.kernels.memory import bytes_of, is_on_stack
from symc.codegen.passes.vectors.reductions import Reduction, widths_of_flags
from symc.codegen.record import record, replace
from symc.codegen.signs import factors

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from symc.codegen.dtypes import DType

ASSIGN = {
    "add": "+=", "mul": "*=", "or": "|=", "and": "&=", "bor": "|=", "band": "&=", "bxor": "^=",
}  # fmt: skip
CHOICES = {"or": "1 : {}", "and": "{} : 0"}
"""What follows the value, for elements of bool: gcc vectorises no ``|=`` and ``&=`` of those, but
where the value is one itself."""


def emit_kernel(
    kernel: Kernel, functions: CNames, printer: Printer, declared: dict[str, None], calling: Calling
) -> KernelText:
    """Print one kernel, as a function of its name among `functions`, and its sections."""
    name = functions[kernel.name]
    loop = None if calling.range is None else calling.range.loop
    writer = Writer(
        printer.lang, printer, declared, scratch=calling.scratch, ranged=loop is not None
    )
    for param in kernel.params:
        printer.buffers[param.name]
    for size in kernel.sizes:
        printer.vars[size.name]
    sections = {
        part.var.name: (f"{kernel.name}_part_{number}", section)
        for number, section in enumerate(sections_of(kernel, loop, calling.loops), 1)
        for part in section.loops
    }
    form = ProcessorLoops(
        loop, calling.loops, widths_of_flags(kernel.body), sections, functions, [],
        set[str]() if calling.repeated else None,
    )  # fmt: skip
    emit_block(writer, kernel.body, form)
    head = signature(kernel, name, printer, calling)
    made = _function(kernel.name, comment(kernel.note, ""), head, writer)
    return replace(made, sections=tuple(form.made))


def _function(kernel: str, note: str, head: str, writer: Writer) -> KernelText:
    """A function of the lines that have been printed."""
    lines = "\n".join(writer.lines)
    body, storage = f"{{\n{lines}\n}}\n", writer.lang.kernel
    weight = dense(storage) + dense(head) + dense(body) - writer.remarks
    return KernelText(kernel, note, storage, head, body, weight)


def emit_section(section: Section, name: str, writer: Writer, form: ProcessorLoops) -> KernelText:
    """Print loops of a kernel as a function, and its call where they stood."""
    lang, printer = writer.lang, writer.printer
    params = [
        pointer(printer, each, written=each.name in section.writes) for each in section.buffers
    ]
    params += [
        f"const {lang.types[value.dtype.name]} {printer.vars[value.name]}"
        for value in section.values
    ]
    inside = Writer(lang, printer, writer.declared)
    emit_block(inside, section.loops, form)
    arguments = [printer.buffers[buffer.name] for buffer in section.buffers]
    arguments += [printer.vars[value.name] for value in section.values]
    writer.put(wrapped(f"{name}(", arguments, ");", INDENT * writer.depth).lstrip())
    before = macro(printer, lang.narrow, section.narrow)
    head = wrapped(f"{before}{name}(", params or ["void"], ")", "", len(lang.kernel) + 1)
    return _function(name, "", head, inside)


def signature(kernel: Kernel, name: str, printer: Printer, calling: Calling) -> str:
    """The name and the parameters of a kernel."""
    lang = printer.lang
    params = [pointer(printer, param, written=param.written) for param in kernel.params]
    params += [f"const int64_t {printer.vars[kernel.sizes[place].name]}" for place in calling.sizes]
    if calling.range is not None:
        params += ["const int64_t begin", "const int64_t end"]
    if calling.threads:
        params += ["const int64_t threads", "const int64_t *const stopped"]
    if calling.scratch is not None:
        params.append("char *const scratch")
        if calling.range is None:
            params.append("const int64_t stride")
    before = macro(printer, lang.optimised(calling.folds, calling.chooses), needed=True)
    before += macro(printer, lang.narrow, calling.narrow)
    return wrapped(f"{before}{name}(", params or ["void"], ")", "", len(lang.kernel) + 1)


def pointer(printer: Printer, array: Buffer | Param, *, written: bool) -> str:
    """The parameter for an array."""
    kind = printer.lang.types[array.dtype.name]
    before = "" if written else "const "
    return f"{before}{kind} *{printer.lang.restrict} {printer.buffers[array.name]}"


@record(frozen=False)
class OpenBlock:
    """A block that is being printed."""

    rest: Iterator[Stmt]
    otherwise: tuple[Stmt, ...] = ()
    parallel: bool = False
    opened: bool = True
    in_lanes: bool = False
    in_row: bool = False
    one_by_one: bool = False
    positive: frozenset[str] = frozenset()  # sizes that are above zero only in here
    extremes: tuple[Reduction, ...] = ()  # reductions that have a flag for NaN in here


class Form(Protocol):
    """The printed form of a target's loops, local memory and barriers."""

    def loop(self, writer: Writer, loop: Loop) -> OpenBlock | None:
        """The head of a loop, with the block in it; or all of it."""
        ...

    def alloc(self, writer: Writer, buffer: Buffer) -> None:
        """The declaration of a local array."""
        ...

    def scalar(self, writer: Writer, buffer: Buffer) -> str:
        """The type of a local variable."""
        ...

    def wait(self, writer: Writer, stmt: Barrier | Combine) -> None:
        """A statement at which the threads of a team meet."""
        ...


@record
class ProcessorLoops:
    """Loops of one thread of a processor, or shared out by OpenMP."""

    ranged: Loop | None
    forms: Mapping[str, LoopForm]
    flags: Mapping[str, int]
    """The bits of what is compared for the bools that are accumulated."""
    sections: Mapping[str, tuple[str, Section]]
    """The section of each loop that is part of one, and its name."""
    functions: CNames
    made: list[KernelText]
    """The functions of the sections printed so far."""
    twice: set[str] | None = None
    """In steps of a loop, the variables of those that are printed with and without threads."""

    def loop(self, writer: Writer, loop: Loop) -> OpenBlock | None:
        """A ``for`` with its pragmas, of a section a call in place of its first loop.

        In steps of a loop there is one without pragmas for short loops, too: to begin a region of
        threads takes longer.
        """
        name, form = loop.var.name, self.forms[loop.var.name]
        if name in self.sections:
            function, section = self.sections[name]
            if loop is section.loops[0]:
                inside = replace(self, sections={})
                self.made.append(emit_section(section, self.functions[function], writer, inside))
            return None
        if form.price is None or self.twice is None:
            return emit_loop(writer, loop, self.ranged, form)
        if name not in self.twice:
            self.twice.add(name)
            writer.put(f"if ({is_worth_threads(writer, loop, form.price)}) {{")
            return OpenBlock(iter((loop,)), (replace(loop, kind="serial", note=""),))
        if loop.kind == "serial":
            form = replace(form, price=None)
        return emit_loop(writer, loop, self.ranged, form)

    def alloc(self, writer: Writer, buffer: Buffer) -> None:
        """An array on the stack, or scratch memory."""
        emit_alloc(writer, buffer)

    def scalar(self, writer: Writer, buffer: Buffer) -> str:
        """The type itself, but that gcc makes no vector loop which accumulates a bool.

        An integer as wide as what is compared has as many lanes, which nothing packs together.
        """
        name = buffer.dtype.name
        if buffer.dtype.kind == "bool":
            bits = self.flags.get(buffer.name, 8)
            name = f"int{bits}" if bits > 8 else "uint8"
        return writer.lang.types[name]

    def wait(self, writer: Writer, stmt: Barrier | Combine) -> None:
        """Nothing: a thread of a processor is a team of one."""


def emit_block(writer: Writer, body: tuple[Stmt, ...], form: Form) -> None:
    """Print statements and all that is nested in them, with a stack of blocks."""
    blocks = [OpenBlock(iter(body), opened=False)]
    while blocks:
        block = blocks[-1]
        stmt = next(block.rest, None)
        if stmt is not None:
            inner = emit_statement(writer, stmt, form)
            if inner is not None:
                writer.depth += 1
                blocks.append(inner)
            continue
        blocks.pop()
        writer.printer.positive -= block.positive
        writer.printer.in_lanes -= block.in_lanes
        writer.printer.in_rows -= block.in_row
        writer.printer.in_steps &= not block.one_by_one
        if block.opened:
            writer.depth -= 1
        if block.otherwise:
            writer.put("} else {")
            writer.depth += 1
            blocks.append(OpenBlock(iter(block.otherwise)))
        elif block.opened:
            writer.put("}")
        for reduction in block.extremes:
            close_extreme(writer, reduction)
        if block.parallel:
            writer.put("if (*stopped) return;")  # its last iterations were left out


def emit_statement(writer: Writer, stmt: Stmt, form: Form) -> OpenBlock | None:
    """Print one statement, or the head of it and return the block in it."""
    match stmt:
        case Let(var, value):
            printer = writer.printer
            printer.named(var, value)
            text = writer.named(value)
            kind = writer.lang.types[var.dtype.name]
            writer.put(f"const {kind} {printer.vars[var.name]} = {text};")
        case Store(buffer, index, value):
            text = writer.stored(value)
            writer.put(f"{writer.element(buffer, index)} = {text};")
        case Accumulate():
            emit_accumulate(writer, stmt)
        case Alloc(buffer, value):
            if buffer.shape:
                form.alloc(writer, buffer)
            else:
                emit_scalar(writer, buffer, value, form.scalar(writer, buffer))
        case If(condition, then, otherwise):
            writer.put(f"if ({writer.value(condition)}) {{")
            return OpenBlock(iter(then), otherwise)
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
    printer, value, dtype = writer.printer, stmt.value, stmt.value.dtype
    op: str = stmt.op
    if stmt.atomic:
        function = f"symc_atomic_{op}_{math.short(dtype)}"
        printer.used[function] = None
        text = writer.value(value)
        writer.put(f"{function}(&{writer.element(stmt.buffer, stmt.index)}, {text});")
        return
    if dtype.kind == "bool":
        op = BOOLEAN.get(op, op)
        # What is true of some bytes is true of their `|`; of no other operation is it.
        raw = op == "or" and printer.is_loaded_bool(value)
        if op in CHOICES and stmt.buffer not in printer.scalars and not raw:
            target = writer.element(stmt.buffer, stmt.index)
            then = CHOICES[op].format(target)
            writer.put(f"{target} = {writer.named(value, SELECT + 1)} ? {then};")
            return
    if op in ASSIGN:
        text = (writer.value if op == "or" else writer.named)(value, SELECT)
        writer.put(f"{writer.element(stmt.buffer, stmt.index)} {ASSIGN[op]} {text};")
        return
    if stmt.buffer in writer.flags:
        emit_extreme(writer, stmt)
        return
    text = writer.value(value)
    target = writer.element(stmt.buffer, stmt.index)
    function = printer.operator(op, dtype, value)
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


def emit_loop(writer: Writer, loop: Loop, ranged: Loop | None, form: LoopForm) -> OpenBlock:
    """The head of a loop, with its pragmas."""
    printer = writer.printer
    extremes = tuple(reduction for reduction in form.reductions if is_extreme(reduction))
    for reduction in extremes:
        open_extreme(writer, reduction)
    writer.remark(loop.note)
    extent = loop.extent
    first, last = "0", ""
    if ranged is not None and loop.var == ranged.var:
        first, last = "begin", "end"
    elif all(isinstance(factor, Var | Const) for factor in factors(extent)):
        last = writer.value(extent, SHIFT)
    else:  # evaluated once, before the loop changes an element that it loads
        name = printer.fresh(f"{printer.vars[loop.var.name]}_end")
        writer.put(f"const int64_t {printer.vars[name]} = {writer.value(extent)};")
        last = printer.vars[name]
    emit_pragmas(writer, loop, form)
    name = printer.vars[loop.var.name]
    names = {factor.name for factor in factors(extent) if isinstance(factor, Var)}
    positive = frozenset(names & printer.natural - printer.positive)  # where the body runs at all
    printer.positive |= positive
    printer.natural.add(loop.var.name)
    if form.pack is not None:
        emit_packs(writer, name, form.pack, last)
        writer.put(f"for (; {name} < {last}; {name}++) {{")
    else:
        writer.put(f"for (int64_t {name} = {first}; {name} < {last}; {name}++) {{")
    one_by_one = not (form.in_lanes or printer.in_lanes or printer.in_steps)
    one_by_one &= writer.lang.folds is not None and is_fold(loop, printer.scalars)
    printer.in_steps |= one_by_one
    printer.in_lanes += form.in_lanes
    is_whole = isinstance(extent, Const) and extent.value % 64 == 0  # nothing is left of a row
    in_row = form.in_lanes and loop.kind == "vector" and loop.cut is None and not is_whole
    printer.in_rows += in_row
    if in_row:
        printer.along_rows.add(loop.var.name)
    return OpenBlock(
        iter(loop.body), parallel=form.price is not None, in_lanes=form.in_lanes, in_row=in_row,
        one_by_one=one_by_one, positive=positive, extremes=extremes,
    )  # fmt: skip


def is_fold(loop: Loop, scalars: Container[str]) -> bool:
    """Whether the iterations of a serial loop wait for each other, as they update some numbers."""
    waits = any(isinstance(stmt, Accumulate) and stmt.buffer in scalars for stmt in loop.body)
    others = {type(stmt) for stmt in loop.body} - {Let, Accumulate}
    return loop.kind == "serial" and others <= ({Store} if waits else set())


def emit_pragmas(writer: Writer, loop: Loop, form: LoopForm) -> None:
    """The pragmas of a loop: of a vector loop with its reductions, of one that threads share out
    with the test whether its cost is worth them."""
    lang = writer.lang
    clauses = ""
    for reduction in form.reductions:
        clauses += f" reduction({reduction_name(writer, reduction)}:"
        clauses += f"{writer.printer.buffers[reduction.buffer]})"
        if reduction.buffer in writer.flags:
            clauses += f" reduction(|:{writer.flags[reduction.buffer]})"
    if form.price is not None:
        test = f"threads > 1 && {is_worth_threads(writer, loop, form.price)}"
        simd = f" {simd_of(writer, form)}" if form.in_lanes else ""
        schedule = "dynamic" if form.piece == 1 else f"dynamic, {form.piece}"
        writer.pragma(lang.parallel.format(simd=simd, schedule=schedule, test=test))
    elif form.in_lanes:
        writer.pragma(lang.simd.format(simd=simd_of(writer, form), clauses=clauses))
    elif loop.kind == "unroll":
        count = int(loop.extent.value) if isinstance(loop.extent, Const) else 4
        writer.pragma(lang.unroll.format(count=max(1, min(count, 65534))))
    elif loop.kind != "packs" and is_tiny(loop.body):
        writer.pragma(lang.unroll.format(count=AT_ONCE))


def is_worth_threads(writer: Writer, loop: Loop, price: Expr) -> str:
    """The test whether a loop's cost is worth a region of threads: one asks there, too, whether to
    stop."""
    several, cost = writer.value(loop.extent, SHIFT), writer.value(price, SHIFT)
    return f"{several} > 1 && {cost} >= {THRESHOLD}"


def simd_of(writer: Writer, form: LoopForm) -> str:
    """OpenMP's word for lanes; a macro where each of them has arrays of its own."""
    if not writer.lang.simd or not form.has_arrays:
        return "simd"
    writer.printer.used["SYMC_SIMD_WITH_ARRAYS"] = None
    return "SYMC_SIMD_WITH_ARRAYS"


def reduction_name(writer: Writer, reduction: Reduction) -> str:
    """OpenMP's name for a reduction."""
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
    """Before the loop: declare the flag, an integer as wide as the compared values."""
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
    # Widened before its sign changes, a comparison is one masked move; after, it takes six.
    writer.put(f"{flag} |= -(int{stmt.value.dtype.bits}_t)({text} != {text});")


def close_extreme(writer: Writer, reduction: Reduction) -> None:
    """After the loop: NaN if there was one."""
    acc, flag = writer.printer.buffers[reduction.buffer], writer.flags.pop(reduction.buffer)
    writer.put(f"if ({flag}) {acc} = {writer.lang.nan[reduction.dtype.name]};")
