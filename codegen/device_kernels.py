"""Kernels of the loop IR as CUDA kernels.

A kernel is one `grid` loop, an iteration for each thread, or one `team` loop (see `ir.py`); both
step by the size of the grid, so that any grid gives the right result. What the host must know to
launch it is in `Launchable`.

A `vector` loop over neighbouring elements is printed twice: with one access of up to 16 bytes for
all elements of an array that are neighbours, and as it is, for where these are not aligned or the
array ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import assert_never

from symc.codegen import math
from symc.codegen.device_packs import Pack, find_packs
from symc.codegen.dtypes import INT64
from symc.codegen.expressions import BOOLEAN, SHIFT, Printer, factors
from symc.codegen.ir import (
    Alloc,
    Barrier,
    Binary,
    Buffer,
    Combine,
    Const,
    Expr,
    Kernel,
    Let,
    Loop,
    Var,
    const,
)
from symc.codegen.kernels import Frame, emit_block
from symc.codegen.passes.memory import Scratch, aligned, bytes_of, is_on_stack
from symc.codegen.passes.walk import (
    Block,
    names_in,
    statements,
)
from symc.codegen.record import record
from symc.codegen.writer import INDENT, WIDTH, Writer, comment, wrapped

THREADS = 256  # of a block of a grid kernel
TEAM = 512  # the largest team
SHARED = "team_memory"


@record
class Launchable:
    """A kernel as text, and what the host must know to launch it."""

    name: str
    text: str
    kind: str
    """``grid`` or ``team``."""
    extent: Expr
    """The iterations of its outer loop, in kernel sizes."""
    length: Expr
    """The longest loop that a team shares out, in kernel sizes."""
    memory: Scratch | None
    """The arrays that each team needs."""


def emit_device_kernel(
    kernel: Kernel, name: str, printer: Printer, aliased: frozenset[str], declared: dict[str, None]
) -> Launchable:
    """Print one kernel. `aliased` parameters may be the same memory as others."""
    writer = Writer(printer.lang, printer, declared)
    for param in kernel.params:
        printer.buffers[param.name]
    for size in kernel.sizes:
        printer.vars[size.name]
    outer = next(s for s in kernel.body if isinstance(s, Loop) and s.kind in ("grid", "team"))
    memory = team_memory(kernel)
    form = Grid(memory, wide=outer.var.dtype is INT64)
    if memory is not None:
        declare_memory(writer, memory)
    body = kernel.body
    if outer.kind == "team" and outer.extent == Const(1, outer.extent.dtype):
        body = (*kernel.body[:-1], *outer.body)  # one team needs no loop
    emit_block(writer, body, form)
    text = "\n".join(line for line in writer.lines if line)
    head = signature(kernel, name, writer, outer.kind, memory, aliased)
    note = comment(kernel.note, "")
    text = f"{note}{line_directive(kernel)}{head}\n{{\n{text}\n}}\n"
    return Launchable(name, text, outer.kind, outer.extent, team_length(kernel), memory)


def line_directive(kernel: Kernel) -> str:
    """What the compiler calls the file in messages on a kernel: the user's own lines.

    `emit_device` puts in the number.
    """
    lines = kernel.note.strip().splitlines()
    what = re.sub(r"\s+", " ", lines[-1] if lines else kernel.name)
    return '#line ? "' + what.replace("\\", "/").replace('"', "'") + '"\n'


def signature(
    kernel: Kernel, name: str, writer: Writer, kind: str, memory: Scratch | None,
    aliased: frozenset[str],
) -> str:  # fmt: skip
    """The declaration of a kernel without its semicolon."""
    lang, printer = writer.lang, writer.printer
    params: list[str] = []
    if memory is not None:
        params += ["char *const scratch", "const int64_t team_bytes"]
        params += [f"const int64_t {printer.buffers[name]}_at" for name in placed(memory)]
    for param in kernel.params:
        before = "" if param.written else "const "
        restrict = "" if param.name in aliased else lang.restrict + " "
        star = "*" + restrict
        params.append(f"{before}{lang.types[param.dtype.name]} {star}{printer.buffers[param.name]}")
    for size in kernel.sizes:
        params.append(f"const {lang.types[size.dtype.name]} {printer.vars[size.name]}")
    bound = THREADS if kind == "grid" else TEAM
    return wrapped(f"{lang.kernel} __launch_bounds__({bound}) {name}(", params, ")", "")


# --- the memory of a team -------------------------------------------------------------------------


def team_memory(kernel: Kernel) -> Scratch | None:
    """The arrays that the threads of a team share: where each begins, and bytes in all."""
    offsets: dict[str, Expr] = {}
    total: Expr = const(0)
    for buffer in team_arrays(kernel.body):
        offsets[buffer.name] = total
        size = aligned(bytes_of(buffer))
        total = size if total == const(0) else Binary("add", total, size, size.dtype)
    return Scratch(offsets, total, parallel=True) if offsets else None


def team_arrays(block: Block) -> Iterator[Buffer]:
    """The arrays that are declared where all threads of a team are."""
    for stmt in block:
        match stmt:
            case Alloc(buffer) if buffer.shape:
                yield buffer
            case Loop(kind="team" | "serial", body=body):
                yield from team_arrays(body)
            case _:
                pass


def placed(memory: Scratch) -> list[str]:
    """The arrays that do not begin where the team's memory begins."""
    return [name for name, offset in memory.offsets.items() if offset != const(0)]


def declare_memory(writer: Writer, memory: Scratch) -> None:
    """Where the team's memory is: shared memory, or scratch memory if there is too little."""
    for name in memory.offsets:
        writer.printer.buffers[name]
    writer.put(f"extern __shared__ __align__(16) char {SHARED}[];")
    writer.put(
        "const int64_t team = scratch ? blockIdx.x * blockDim.y + threadIdx.y : threadIdx.y;"
    )
    writer.put(f"char *const memory = (scratch ? scratch : {SHARED}) + team * team_bytes;")


def team_length(kernel: Kernel) -> Expr:
    """How many iterations the longest loop has that a team shares out, roughly, in kernel sizes."""
    sizes = {size.name for size in kernel.sizes}
    bounds: dict[str, Expr] = {}
    longest: Expr = const(1)
    for stmt in statements(kernel.body):
        match stmt:
            case Let(var, value):
                bounds[var.name] = value
            case Loop(var, extent, kind):
                bound = upper_bound(extent, bounds, sizes)
                bounds[var.name] = bound
                if kind in ("lane", "round") and bound != longest:
                    both = longest != const(1) and bound != const(1)
                    if both:
                        longest = Binary("max", longest, bound, INT64)
                    elif bound != const(1):
                        longest = bound
            case _:
                pass
    return longest


def upper_bound(expr: Expr, bounds: Mapping[str, Expr], sizes: set[str]) -> Expr:
    """What an extent does not exceed, roughly, in sizes alone and as int64."""
    match expr:
        case Var(name) if name not in sizes:
            return upper_bound(bounds[name], bounds, sizes) if name in bounds else const(1)
        case Var(name):
            return Var(name, INT64)
        case Const(value):
            return const(int(value))
        case Binary("min", left, right):
            known = [part for part in (left, right) if names_in(part) <= sizes]
            return upper_bound(known[0] if known else left, bounds, sizes)
        case Binary("sub", left, right) if not names_in(right) <= sizes:
            return upper_bound(left, bounds, sizes)
        case Binary(op, left, right):
            left, right = upper_bound(left, bounds, sizes), upper_bound(right, bounds, sizes)
            return Binary(op, left, right, INT64)
        case _:
            return const(1024)


# --- loops ----------------------------------------------------------------------------------------


@record
class Grid:
    """Loops of threads and of teams of threads."""

    memory: Scratch | None
    wide: bool

    def loop(self, writer: Writer, loop: Loop) -> Frame | None:
        """The head of a loop; all of it if it is over packs."""
        if loop.note:
            writer.lines.append(comment(loop.note, INDENT * writer.depth).rstrip("\n"))
        if loop.kind == "vector" and self.packs(writer, loop):
            return None
        positive = self.head(writer, loop)
        return Frame(iter(loop.body), positive=positive)

    def head(self, writer: Writer, loop: Loop) -> frozenset[str]:
        """The line that begins a loop; the sizes that are known to be above zero in its body."""
        printer = writer.printer
        positive = frozenset(lengths_of(loop.extent) & printer.natural - printer.positive)
        printer.positive |= positive
        printer.natural.add(loop.var.name)
        if loop.kind == "lane" and isinstance(loop.extent, Const) and loop.extent.value == 1:
            writer.put("if (threadIdx.x == 0) {")
            return positive
        name, kind = printer.vars[loop.var.name], writer.lang.types[loop.var.dtype.name]
        cast = f"({kind})" if self.wide else ""
        match loop.kind:
            case "grid":
                first = f"{cast}blockIdx.x * blockDim.x + threadIdx.x"
                step = f"{cast}gridDim.x * blockDim.x"
            case "team":
                first = f"{cast}blockIdx.x * blockDim.y + threadIdx.y"
                step = f"{cast}gridDim.x * blockDim.y"
            case "lane":
                first, step = "threadIdx.x", "blockDim.x"
            case "round":
                self.round(writer, loop, name, kind)
                return positive
            case _:
                first, step = "0", ""
        last = writer.value(loop.extent, SHIFT)
        if loop.kind == "unroll":
            writer.pragma(writer.lang.unroll.format(count=last))
        advance = f"{name} += {step}" if step else f"{name}++"
        writer.put(f"for ({kind} {name} = {first}; {name} < {last}; {advance}) {{")
        return positive

    def round(self, writer: Writer, loop: Loop, name: str, kind: str) -> None:
        """The head of a loop that all threads run equally often, each with an iteration."""
        first = writer.printer.vars[writer.printer.fresh("first")]
        last = writer.value(loop.extent, SHIFT)
        writer.put(f"for ({kind} {first} = 0; {first} < {last}; {first} += blockDim.x) {{")
        writer.depth += 1
        writer.put(f"const {kind} {name} = {first} + threadIdx.x;")
        writer.depth -= 1

    def alloc(self, writer: Writer, buffer: Buffer) -> None:
        """A variable, an array of the thread's own, or a piece of the team's memory."""
        printer = writer.printer
        name, kind = printer.buffers[buffer.name], writer.lang.types[buffer.dtype.name]
        if not buffer.shape:
            printer.scalars.add(buffer.name)
            writer.waiting[buffer.name] = len(writer.lines)
            writer.put(f"{kind} {name};")
            return
        if self.memory is not None and buffer.name in self.memory.offsets:
            place = f"memory + {name}_at" if buffer.name in placed(self.memory) else "memory"
            writer.put(f"{kind} *const {name} = ({kind} *)({place});")
            return
        assert is_on_stack(buffer), "mapping gives large arrays to teams"
        count = int(getattr(bytes_of(buffer), "value", 0)) // buffer.dtype.bytes
        writer.put(f"{kind} {name}[{max(count, 1)}];")

    def wait(self, writer: Writer, stmt: Barrier | Combine) -> None:
        """A barrier, or a reduction over the team."""
        used, printer = writer.printer.used, writer.printer
        match stmt:
            case Barrier():
                used["symc_team_sync"] = None
                writer.put("symc_team_sync();")
            case Combine(buffer, op, dtype, reach):
                plain = BOOLEAN.get(op, op) if dtype.kind == "bool" else op
                scan = "scan_" if reach == "before" else ""
                function = f"symc_team_{scan}{plain}_{math.short(dtype)}"
                used[function] = None
                name = printer.buffers[buffer]
                writer.put(f"{name} = {function}({name});")
            case _:
                assert_never(stmt)

    # --- packs ---

    def packs(self, writer: Writer, loop: Loop) -> bool:
        """Print a loop over packs in both forms, if there are arrays to be read in packs."""
        match loop.extent:
            case Binary("min", Const(width), rest):
                count = int(width)
            case _:
                return False
        found = find_packs(loop, count, writer.printer.scalars)
        if not found:
            return False
        writer.printer.used["symc_pack"] = None
        tests = [f"{writer.value(rest, SHIFT)} >= {count}"]
        for pack in dict.fromkeys((pack.buffer, pack.base) for pack in found):
            writer.printer.used["symc_aligned"] = None
            tests.append(f"symc_aligned<{count}>({address(writer, *pack)})")
        put_test(writer, tests)
        self.packed(writer, loop, count, found)
        writer.put("} else {")
        writer.depth += 1
        self.head(writer, loop)
        self.body(writer, loop)
        writer.depth -= 1
        writer.put("}")
        return True

    def body(self, writer: Writer, loop: Loop) -> None:
        """The block of a loop and its end, without names that nothing in it uses."""
        start = len(writer.lines)
        writer.depth += 1
        emit_block(writer, loop.body, self)
        writer.depth -= 1
        for stmt in reversed(loop.body):
            if isinstance(stmt, Let):
                drop_unused(writer, start, writer.printer.vars[stmt.var.name])
        writer.put("}")

    def packed(self, writer: Writer, loop: Loop, count: int, found: list[Pack]) -> None:
        """The loop with its packs in registers."""
        printer, lang = writer.printer, writer.lang
        writer.depth += 1
        printer.natural.add(loop.var.name)
        names: dict[tuple[str, Expr], str] = {}
        counter = printer.vars[loop.var.name]
        for pack in found:
            key = pack.buffer, pack.base
            kind = f"symc_pack<{lang.types[pack.dtype.name]}, {count}>"
            if key not in names:
                name = names[key] = printer.vars[
                    printer.fresh(f"{printer.buffers[pack.buffer]}_pack")
                ]
                if any(other.loaded for other in found if (other.buffer, other.base) == key):
                    place = address(writer, *key)
                    before = (
                        ""
                        if any(p.stored for p in found if (p.buffer, p.base) == key)
                        else "const "
                    )
                    writer.put(f"{before}{kind} {name} = *(const {kind} *)({place});")
                else:
                    writer.put(f"{kind} {name};")
            printer.packed[pack.buffer, pack.index] = f"{names[key]}.at[{counter}]"
        writer.pragma("#pragma unroll")
        kind = lang.types[loop.var.dtype.name]
        writer.put(f"for ({kind} {counter} = 0; {counter} < {count}; {counter}++) {{")
        self.body(writer, loop)
        for pack in {(p.buffer, p.base): p for p in found if p.stored}.values():
            key = pack.buffer, pack.base
            kind = f"symc_pack<{lang.types[pack.dtype.name]}, {count}>"
            writer.put(f"*({kind} *)({address(writer, *key)}) = {names[key]};")
        printer.packed.clear()
        writer.depth -= 1


def put_test(writer: Writer, tests: list[str]) -> None:
    """The head of a branch, on several lines if it is long."""
    indent = INDENT * writer.depth
    line = f"{indent}if ({' && '.join(tests)}) {{"
    if len(line) > WIDTH:
        line = f"{indent}if (" + f"\n{indent}{INDENT}&& ".join(tests) + ") {"
    writer.lines.append(line)


def drop_unused(writer: Writer, start: int, name: str) -> None:
    """Remove the declaration of a constant that is used nowhere behind it."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    found = [place for place in range(start, len(writer.lines)) if word.search(writer.lines[place])]
    if len(found) != 1:
        return
    line = writer.lines[found[0]]
    if line.lstrip().startswith("const ") and len(word.findall(line)) == 1:
        del writer.lines[found[0]]


def lengths_of(extent: Expr) -> set[str]:
    """The sizes of which each is at least 1 where a loop of this extent runs at all."""
    match extent:
        case Binary("floordiv", Binary("add", whole, Const(more)), Const(width)) if more < width:
            return lengths_of(whole)  # of a loop over packs
        case _:
            return {factor.name for factor in factors(extent) if isinstance(factor, Var)}


def address(writer: Writer, buffer: str, base: Expr) -> str:
    """Where a pack begins."""
    return f"{writer.printer.buffers[buffer]} + {writer.value(base, SHIFT)}"
