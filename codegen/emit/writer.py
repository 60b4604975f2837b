"""The lines of a kernel while it is printed, and comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.emit.in_bytes import is_logic_of_bytes
from symc.codegen.record import field, record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symc.codegen.emit.expressions import Printer
    from symc.codegen.ir import Expr
    from symc.codegen.passes.kernels.memory import Scratch
    from symc.codegen.targets.base import Lang

INDENT = "    "
WIDTH = 100


@record(frozen=False)
class Writer:
    """The state of printing one kernel."""

    lang: Lang
    printer: Printer
    declared: dict[str, None]  # file-level declarations that the kernel needs
    lines: list[str] = field(default_factory=list[str])
    remarks: int = 0  # characters in comments
    depth: int = 1
    flags: dict[str, str] = field(default_factory=dict[str, str])  # of extremes: was there a NaN?
    scratch: Scratch | None = None
    ranged: bool = False

    def put(self, line: str) -> None:
        """One line at the present depth."""
        self.lines.append(INDENT * self.depth + line)

    def remark(self, note: str) -> None:
        """A comment, if there is something to say."""
        text = comment(note, INDENT * self.depth).rstrip("\n")
        if text:
            self.lines.append(text)
            self.remarks += sum(map(len, text.split()))

    def pragma(self, line: str) -> None:
        """One line of a pragma."""
        self.lines.append(line)

    def value(self, expr: Expr, minimum: int = 0) -> str:
        """The text of an expression; its pending parts are printed as lines before."""
        printer = self.printer
        taken: list[tuple[str, Expr]] = []
        printer.pending = taken
        text = printer.text(expr, minimum)
        lines: list[str] = []
        position = 0
        while position < len(taken):  # printing one may take out more
            name, inner = taken[position]
            kind = self.lang.types[inner.dtype.name]
            lines.append(f"const {kind} {printer.vars[name]} = {printer.text(inner)};")
            position += 1
        for line in reversed(lines):  # the innermost were taken out last
            self.put(line)
        printer.pending = None
        return text

    def named(self, expr: Expr, minimum: int = 0) -> str:
        """The text of a value for a variable: bytes of memory are asked whether they are true."""
        text = self.value(expr, minimum)
        return self.printer.asked(text) if self.printer.is_loaded_bool(expr) else text

    def stored(self, expr: Expr) -> str:
        """The text of a value that memory gets."""
        self.printer.as_bytes = is_logic_of_bytes(expr, self.printer)
        text = self.value(expr)
        self.printer.as_bytes = False
        return text

    def element(self, buffer: str, index: Expr) -> str:
        """An element of a buffer as the target of an assignment."""
        if (buffer, index) in self.printer.packed:
            return self.printer.packed[buffer, index]
        name = self.printer.buffers[buffer]
        return name if buffer in self.printer.scalars else f"{name}[{self.value(index)}]"


def comment(note: str, indent: str) -> str:
    """A note as a C comment, with a line break at the end; nothing for an empty note."""
    if not note.strip():
        return ""
    lines = note.replace("*/", "* /").replace("/*", "/ *").strip("\n").split("\n")
    return f"{indent}/* " + f"\n{indent} * ".join(line.rstrip() for line in lines) + " */\n"


def wrapped(head: str, items: Sequence[str], tail: str, indent: str, before: int = 0) -> str:
    """`head` and a list, on one line if that is short, else on lines of their own.

    So many characters stand `before` the head already.
    """
    line = indent + head + ", ".join(items) + tail
    if before + len(line) <= WIDTH:
        return line
    rows = [indent + head]
    row = indent + INDENT
    for number, item in enumerate(items):
        piece = item + (tail if number + 1 == len(items) else ", ")
        if len(row) + len(piece.rstrip()) > WIDTH and row.strip():
            rows.append(row.rstrip())
            row = indent + INDENT
        row += piece
    return "\n".join([*rows, row])


def macro(printer: Printer, name: str | None, needed: object) -> str:
    """A macro before the name of a function if it is needed and the language has one."""
    if name is None or not needed:
        return ""
    printer.used[name] = None
    return f"{name} "
