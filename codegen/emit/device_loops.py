"""The loops of kernels for a device: threads of a grid, teams, and the lanes of a team.

A `vector` loop over neighbouring elements is printed twice: with one access of up to 16 bytes for
all elements of an array that are neighbours, and as it is, for where these are not aligned or the
array ends. The threads of a team go through all whole packs first, and ask for several of them
before they use the first (see `passes/gpu/accesses.py`, which decides it). Which thread does which
elements, in which order, does not depend on the form, so neither do the bits of a sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from symc.codegen import math
from symc.codegen.emit.expressions import BOOLEAN, MUL, SHIFT
from symc.codegen.emit.kernels import OpenBlock, emit_block
from symc.codegen.emit.writer import INDENT, WIDTH, Writer
from symc.codegen.ir import (
    Barrier,
    Buffer,
    Combine,
    Const,
    Expr,
    Loop,
    Strips,
    Var,
    sub,
)
from symc.codegen.passes.gpu.accesses import (
    Lanes,
    Pack,
    without,
)
from symc.codegen.passes.gpu.geometry import placed
from symc.codegen.passes.kernels.memory import Scratch, bytes_of, is_on_stack
from symc.codegen.record import record
from symc.codegen.signs import factors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symc.codegen.passes.walk import Block
    from symc.codegen.targets.base import DeviceWords


@record
class Grid:
    """Loops of threads and of teams of threads."""

    memory: Scratch | None
    wide: bool
    packs: Mapping[str, Lanes]
    """The loops over packs, by their variables."""
    words: DeviceWords
    space: str = ""
    """What stands before the type of a pointer into the team's memory."""

    def loop(self, writer: Writer, loop: Loop) -> OpenBlock | None:
        """The head of a loop, or all of one over packs."""
        writer.remark(loop.note)
        lanes = self.packs.get(loop.var.name)
        if lanes is None:
            positive = self.head(writer, loop)
            return OpenBlock(iter(loop.body), positive=positive)
        if loop.kind == "lane" or lanes.turns > 1:
            self.lanes(writer, lanes)
        else:
            self.one_pack(writer, lanes)
        return None

    def head(self, writer: Writer, loop: Loop) -> frozenset[str]:
        """The line that begins a loop; the sizes that are known to be above zero in its body."""
        printer = writer.printer
        positive = frozenset(lengths_of(loop) & printer.natural - printer.positive)
        printer.positive |= positive
        printer.natural.add(loop.var.name)
        if loop.kind == "lane" and isinstance(loop.extent, Const) and loop.extent.value == 1:
            writer.put(f"if ({self.words.first['lane']} == 0) {{")
            return positive
        name, kind = printer.vars[loop.var.name], writer.lang.types[loop.var.dtype.name]
        cast = f"({kind})" if self.wide else ""
        match loop.kind:
            case "grid" | "team" | "lane":
                first = self.words.first[loop.kind].format(cast=cast)
                step = self.words.step[loop.kind].format(cast=cast)
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
        lane, lanes = self.words.first["lane"], self.words.step["lane"]
        writer.put(f"for ({kind} {first} = 0; {first} < {last}; {first} += {lanes}) {{")
        writer.depth += 1
        writer.put(f"const {kind} {name} = {first} + {lane};")
        writer.depth -= 1

    def alloc(self, writer: Writer, buffer: Buffer) -> None:
        """An array of the thread's own, or a piece of the team's memory."""
        name, kind = writer.printer.buffers[buffer.name], self.scalar(writer, buffer)
        if self.memory is not None and buffer.name in self.memory.offsets:
            place = f"memory + {name}_at" if buffer.name in placed(self.memory) else "memory"
            kind = self.space + kind
            writer.put(f"{kind} *const {name} = ({kind} *)({place});")
            return
        assert is_on_stack(buffer), "mapping gives large arrays to teams"
        count = int(getattr(bytes_of(buffer), "value", 0)) // buffer.dtype.bytes
        writer.put(f"{kind} {name}[{max(count, 1)}];")

    def scalar(self, writer: Writer, buffer: Buffer) -> str:
        """The type itself."""
        return writer.lang.types[buffer.dtype.name]

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
                writer.put(f"{name} = {function}({name}{self.words.room});")
            case _:
                assert_never(stmt)

    # --- packs ------------------------------------------------------------------------------------

    def one_pack(self, writer: Writer, lanes: Lanes) -> None:
        """Print a loop over packs of which each thread has one: in both forms."""
        positive = self.head(writer, lanes.loop)
        writer.depth += 1
        emit_block(writer, (lanes.strip.start,), self)
        rest = sub(lanes.strip.strips.whole, lanes.strip.start.var)
        tests = [f"{writer.value(rest, SHIFT)} >= {lanes.count}"]
        for buffer, base in dict.fromkeys((pack.buffer, pack.base) for pack in lanes.found):
            tests.append(aligned(writer, buffer, base, lanes.count))
        put_test(writer, tests)
        self.packed(writer, lanes, {})
        writer.put("} else {")
        self.one_by_one(writer, lanes)
        writer.put("}")
        writer.depth -= 1
        writer.put("}")
        writer.printer.positive -= positive

    def lanes(self, writer: Writer, lanes: Lanes) -> None:
        """Print a loop over packs: whole ones, several at a time, then one element after the other.

        In a grid it does not matter which thread does the last elements: it adds nothing up.
        """
        printer, loop = writer.printer, lanes.loop
        positive = frozenset(lengths_of(loop) & printer.natural - printer.positive)
        printer.positive |= positive
        printer.natural.add(loop.var.name)
        kind, name = writer.lang.types[loop.var.dtype.name], printer.vars[loop.var.name]
        whole = self.whole(writer, lanes, kind)
        turns = lanes.turns
        if loop.kind == "grid":
            cast = f"({kind})" if self.wide else ""
            first = f"{cast}blockIdx.x * ({turns} * blockDim.x) + threadIdx.x"
            step = f"{cast}gridDim.x * blockDim.x"
            rest = f"{whole} + {cast}blockIdx.x * blockDim.x + threadIdx.x"
        else:
            printer.used["symc_team_next"] = None
            first, step, rest = "threadIdx.x", "blockDim.x", f"symc_team_next({whole})"
        if turns > 1:
            start = printer.vars[printer.fresh("first")]
            put_for(writer, kind, start, first, whole, f"{turns} * {step}")
            self.batch(writer, lanes, f"{start} + ", whole)
        else:
            put_for(writer, kind, name, first, whole, step)
            self.pack(writer, lanes, {})
        writer.put("}")
        put_for(writer, kind, name, rest, writer.value(loop.extent, SHIFT), step)
        writer.depth += 1
        emit_block(writer, (lanes.strip.start,), self)
        writer.depth -= 1
        self.one_by_one(writer, lanes)
        writer.put("}")
        printer.positive -= positive

    def whole(self, writer: Writer, lanes: Lanes, kind: str) -> str:
        """The name of the number of packs that are whole and aligned."""
        count, start = lanes.count, lanes.strip.start.var
        name = writer.printer.vars[writer.printer.fresh("whole")]
        tests: dict[str, None] = {}
        for pack in lanes.found:
            base = without(pack.base, start)
            if not (self.is_shared(pack.buffer) and isinstance(base, Const) and base.value == 0):
                tests[aligned(writer, pack.buffer, base, count)] = None
        packs = f"{writer.value(lanes.strip.strips.whole, MUL)} / {count}"
        if not tests:
            writer.put(f"const {kind} {name} = {packs};")
            return name
        indent = INDENT * writer.depth
        line = f"{indent}const {kind} {name} = {' && '.join(tests)} ? {packs} : 0;"
        if len(line) > WIDTH:
            joined = f"\n{indent}{INDENT}&& ".join(tests)
            line = f"{indent}const {kind} {name} =\n{indent}{INDENT}{joined}"
            line += f"\n{indent}{INDENT}? {packs} : 0;"
        writer.lines.append(line)
        return name

    def is_shared(self, buffer: str) -> bool:
        """Whether a buffer is an array of the team's, which begins where any pack may."""
        return self.memory is not None and buffer in self.memory.offsets

    def batch(self, writer: Writer, lanes: Lanes, first: str, whole: str) -> None:
        """The code of a thread for its next packs: first it loads all, then it uses them.

        A thread that has fewer begins with zeros; without, the compiler keeps registers for
        the former values.
        """
        printer, loop, turns = writer.printer, lanes.loop, lanes.turns
        kind, name = writer.lang.types[loop.var.dtype.name], printer.vars[loop.var.name]
        turn = printer.vars[printer.fresh("turn")]
        writer.depth += 1
        held: dict[tuple[str, Expr], str] = {}
        for pack in lanes.ahead:
            array = printer.vars[printer.fresh(f"{printer.buffers[pack.buffer]}_pack")]
            writer.put(f"{self.pack_type(writer, pack, lanes.count)} {array}[{turns}] = {{}};")
            held[pack.buffer, pack.base] = f"{array}[{turn}]"

        def each_turn() -> None:
            writer.pragma("#pragma unroll")
            writer.put(f"for (int32_t {turn} = 0; {turn} < {turns}; {turn}++) {{")
            writer.depth += 1
            writer.put(f"const {kind} {name} = {first}{turn} * blockDim.x;")
            writer.put(f"if ({name} >= {whole}) break;")

        each_turn()
        emit_block(writer, (lanes.strip.start,), self)
        for pack in lanes.ahead:
            writer.put(f"{held[pack.buffer, pack.base]} = {self.load(writer, pack, lanes.count)};")
        writer.depth -= 1
        writer.put("}")
        each_turn()
        writer.depth -= 1
        self.pack(writer, lanes, held)
        writer.put("}")
        writer.depth -= 1

    def pack(self, writer: Writer, lanes: Lanes, held: dict[tuple[str, Expr], str]) -> None:
        """The code of a thread for a whole pack; those that are `held` are loaded already."""
        if lanes.starts_held if held else lanes.starts:
            writer.depth += 1
            emit_block(writer, (lanes.strip.start,), self)
            writer.depth -= 1
        self.packed(writer, lanes, held)

    def one_by_one(self, writer: Writer, lanes: Lanes) -> None:
        """The loop over the elements of a pack as it is: short, and seldom run."""
        writer.depth += 1
        writer.pragma("#pragma unroll 1")
        self.head(writer, lanes.strip.loop)
        self.body(writer, lanes.single)
        writer.depth -= 1

    def body(self, writer: Writer, block: Block) -> None:
        """The block of a loop and its end."""
        writer.depth += 1
        emit_block(writer, block, self)
        writer.depth -= 1
        writer.put("}")

    def packed(self, writer: Writer, lanes: Lanes, held: dict[tuple[str, Expr], str]) -> None:
        """The loop with its packs in registers, some of which are `held` there already."""
        printer, loop, count, found = writer.printer, lanes.strip.loop, lanes.count, lanes.found
        writer.depth += 1
        printer.natural.add(loop.var.name)
        names = dict(held)
        counter = printer.vars[loop.var.name]
        stored = {(pack.buffer, pack.base): pack for pack in found if pack.stored}
        loaded = {(pack.buffer, pack.base) for pack in found if pack.loaded}
        for pack in found:
            key = pack.buffer, pack.base
            if key not in names:
                name = names[key] = printer.vars[
                    printer.fresh(f"{printer.buffers[pack.buffer]}_pack")
                ]
                kind = self.pack_type(writer, pack, count)
                if key in loaded:
                    before = "" if key in stored else "const "
                    writer.put(f"{before}{kind} {name} = {self.load(writer, pack, count)};")
                else:
                    writer.put(f"{kind} {name};")
            printer.packed[pack.buffer, pack.index] = f"{names[key]}.at[{counter}]"
        writer.pragma("#pragma unroll")
        kind = writer.lang.types[loop.var.dtype.name]
        writer.put(f"for ({kind} {counter} = 0; {counter} < {count}; {counter}++) {{")
        self.body(writer, lanes.packed)
        for key, pack in stored.items():
            kind = self.pack_type(writer, pack, count)
            writer.put(f"*({kind} *)({address(writer, *key)}) = {names[key]};")
        printer.packed.clear()
        writer.depth -= 1

    def pack_type(self, writer: Writer, pack: Pack, count: int) -> str:
        """The C type of a pack."""
        writer.printer.used["symc_pack"] = None
        return f"symc_pack<{writer.lang.types[pack.dtype.name]}, {count}>"

    def load(self, writer: Writer, pack: Pack, count: int) -> str:
        """A whole pack, as it is in memory."""
        kind = self.pack_type(writer, pack, count)
        return f"*(const {kind} *)({address(writer, pack.buffer, pack.base)})"


def put_for(writer: Writer, kind: str, name: str, first: str, last: str, step: str) -> None:
    """The head of a loop."""
    writer.put(f"for ({kind} {name} = {first}; {name} < {last}; {name} += {step}) {{")


def aligned(writer: Writer, buffer: str, base: Expr, count: int) -> str:
    """Whether a pack begins where it may be accessed as one."""
    writer.printer.used["symc_aligned"] = None
    return f"symc_aligned<{count}>({address(writer, buffer, base)})"


def put_test(writer: Writer, tests: list[str]) -> None:
    """The head of a branch, on several lines if it is long."""
    indent = INDENT * writer.depth
    line = f"{indent}if ({' && '.join(tests)}) {{"
    if len(line) > WIDTH:
        line = f"{indent}if (" + f"\n{indent}{INDENT}&& ".join(tests) + ") {"
    writer.lines.append(line)


def lengths_of(loop: Loop) -> set[str]:
    """The sizes of which each is at least 1 where a loop runs at all."""
    known = [loop.extent, *([loop.cut.whole] if isinstance(loop.cut, Strips) else [])]
    return {
        factor.name for extent in known for factor in factors(extent) if isinstance(factor, Var)
    }


def address(writer: Writer, buffer: str, base: Expr) -> str:
    """Where a pack begins."""
    if isinstance(base, Const) and base.value == 0:
        return writer.printer.buffers[buffer]
    return f"{writer.printer.buffers[buffer]} + {writer.value(base, SHIFT)}"
