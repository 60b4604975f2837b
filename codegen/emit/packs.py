"""Loops in packs as C: the numbers of four iterations in a vector of gcc's, which clang has, too.

An index has a name for each lane, a number is a vector; `packs.h` has what loads,
gathers, scatters and stores these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from symc.codegen import math
from symc.codegen.emit.expressions import ADD
from symc.codegen.passes.vectors.pack_plan import (
    LANES,
    All,
    Each,
    Either,
    Folded,
    ForAll,
    ForEach,
    Gathered,
    InPack,
    Leaf,
    Neighbours,
    PackPlan,
    PackStatement,
    PackValue,
    Scattered,
    Stored,
)

if TYPE_CHECKING:
    from symc.codegen.emit.writer import Writer
    from symc.codegen.ir import Expr, Var


def emit_packs(writer: Writer, variable: str, plan: PackPlan, last: str) -> None:
    """Print the iterations of a loop that fill packs; those from its variable on are left."""
    packs = _Packs(writer, plan)
    if plan.folds:
        starts = [f"{packs.name(fold.lanes)} = {{0}}" for fold in plan.folds]
        writer.put(f"{packs.type} {', '.join(starts)};")
    writer.put(f"int64_t {variable} = 0;")
    writer.put(f"for (; {variable} + {LANES} <= {last}; {variable} += {LANES}) {{")
    writer.depth += 1
    for stmt in plan.statements:
        packs.statement(stmt)
    writer.depth -= 1
    writer.put("}")
    for fold in plan.folds:
        text = packs.function("sum_pack", packs.name(fold.lanes))
        writer.put(f"{writer.printer.buffers[fold.buffer]} += {text};")


class _Packs:
    """The printing of one loop."""

    def __init__(self, writer: Writer, plan: PackPlan) -> None:
        self.writer = writer
        self.printer = writer.printer
        self.short = math.short(plan.dtype)
        self.type = f"symc_pack_{self.short}"
        self.printer.used[self.type] = None

    def statement(self, stmt: PackStatement) -> None:
        """One statement of a pack."""
        match stmt:
            case ForAll(name, value):
                self.let((name,), (value,))
            case ForEach(names, values):
                self.let(names, values)
            case InPack(name, value):
                text = self.value(value)
                self.writer.put(f"const {self.type} {self.name(name)} = {text};")
            case Stored(buffer, index, value):
                self.call("store_pack", self.address(buffer, index), self.value(value))
            case Folded(_, lanes, value):
                self.writer.put(f"{self.name(lanes)} += {self.value(value)};")
            case Scattered(buffer, indexes, values):
                function = "scatter_pack" if len(values) == 1 else "scatter_pairs"
                places = map(self.writer.value, indexes)
                self.call(function, self.printer.buffers[buffer], *places, *map(self.value, values))
            case _:
                assert_never(stmt)

    def name(self, var: Var) -> str:
        """A name in C."""
        return self.printer.vars[var.name]

    def let(self, names: tuple[Var, ...], values: tuple[Expr, ...]) -> None:
        """Names of numbers of one type that are no packs."""
        texts: list[str] = []
        for name, value in zip(names, values, strict=True):
            self.printer.named(name, value)
            texts.append(f"{self.name(name)} = {self.writer.value(value)}")
        kind = self.writer.lang.types[names[0].dtype.name]
        self.writer.put(f"const {kind} {', '.join(texts)};")

    def value(self, value: PackValue) -> str:
        """The text of a value that is a pack."""
        for var, leaf in value.leaves:
            self.printer.vars[var.name] = self.leaf(leaf)
        return self.writer.value(value.expr)

    def leaf(self, leaf: Leaf) -> str:
        """What enters a register."""
        match leaf:
            case Neighbours(buffer, index):
                return self.function("load_pack", self.address(buffer, index))
            case Gathered(buffer, indexes):
                places = map(self.writer.value, indexes)
                return self.function("gather_pack", self.printer.buffers[buffer], *places)
            case Each(values):
                return f"({self.type}){{{', '.join(map(self.writer.value, values))}}}"
            case All(value):
                return self.function("all_pack", self.writer.value(value))
            case Either(condition, then, otherwise):
                sides = self.value(then), self.value(otherwise)
                return self.function("either_pack", self.writer.value(condition), *sides)
            case _:
                assert_never(leaf)

    def address(self, buffer: str, index: Expr) -> str:
        """Where the elements of a pack begin."""
        return f"{self.printer.buffers[buffer]} + {self.writer.value(index, ADD)}"

    def call(self, name: str, *args: str) -> None:
        """A call of a function of the runtime, as a statement."""
        self.writer.put(f"{self.function(name, *args)};")

    def function(self, name: str, *args: str) -> str:
        """The text of a call of a function of the runtime."""
        full = f"symc_{name}_{self.short}"
        self.printer.used[full] = None
        return f"{full}({', '.join(args)})"
