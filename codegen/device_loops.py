"""The loops of kernels for a device: threads of a grid, teams, and the lanes of a team.

A `vector` loop over neighbouring elements is printed twice: with one access of up to 16 bytes for
all elements of an array that are neighbours, and as it is, for where these are not aligned or the
array ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import assert_never

from symc.codegen import math
from symc.codegen.device_packs import Pack, find_packs
from symc.codegen.device_teams import placed
from symc.codegen.expressions import BOOLEAN, SHIFT, factors
from symc.codegen.ir import (
    Barrier,
    Binary,
    Buffer,
    Combine,
    Const,
    Expr,
    Let,
    Loop,
    Var,
)
from symc.codegen.kernels import Frame, emit_block
from symc.codegen.passes.memory import Scratch, bytes_of, is_on_stack
from symc.codegen.writer import INDENT, WIDTH, Writer, comment


@dataclass(slots=True)
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
