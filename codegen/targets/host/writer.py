"""The state of printing the host functions of a program."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from symc.codegen.blocks import every_step
from symc.codegen.emit.expressions import MUL
from symc.codegen.emit.writer import INDENT, wrapped
from symc.codegen.ir import Buffer, Launch, const
from symc.codegen.passes.kernels.memory import wholes
from symc.codegen.passes.walk import substitute
from symc.codegen.record import field, record, replace
from symc.codegen.status import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symc.codegen.dtypes import DType
    from symc.codegen.emit.expressions import Printer
    from symc.codegen.ir import Expr, Kernel, Pointer, Program
    from symc.codegen.passes.kernels.memory import WorkspacePlan
    from symc.codegen.targets.host.dialect import Dialect, Phrase

EXTERNAL = ("input", "shared", "constant", "output")  # in the order of `symc_call.data`
RESERVED = frozenset(
    {"call", "threads", "status", "done", "part", "parts", "steps", "bytes", "scratch", "too_large"}
)


@record(frozen=False)
class HostWriter:
    """A function that is being printed, and the tables of its program."""

    program: Program
    plan: WorkspacePlan
    dialect: Dialect
    printer: Printer
    timed: bool = False  # whether the time of each step is added to a table: `timers.py`

    # The state of the whole text.
    helpers: dict[str, None] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)  # further ones, by name
    notes: list[str] = field(default_factory=list)  # of the steps that may fail

    # The state of one function; see `begin`.
    lines: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)  # sizes that are C variables by now
    rows: set[str] = field(default_factory=set)  # rows that are C variables by now
    numbers: set[str] = field(default_factory=set)  # buffers of one element that are C variables
    needed: set[str] = field(default_factory=set)  # sizes that the text of its steps mentions
    waiting: list[Buffer] = field(default_factory=list)  # outputs of lengths not known yet
    cleans: bool = False  # whether a failed step has something to clean up
    attempts: bool = False  # whether some statement sets `status`
    heeds: bool = False  # whether signals are heeded, and variables unchanged: `signals.py`
    counts: bool = False  # whether steps of loops are counted
    count_at: int = 0  # the line in front of which their number is declared, if so
    flagged: bool = False  # whether some arithmetic sets the flag of `lengths.py`
    inside: int = 0  # how many blocks the current step stands in
    number: int = 0  # of the current step, as `passes/kernels/memory.py` counts
    timers: int = 0  # how many steps have one so far
    rooms: dict[str, str] = field(default_factory=dict)
    """For arrays whose memory is kept over the steps of a loop, the variable of its bytes."""

    # What follows from the program; see `__post_init__`.
    buffers: dict[str, Buffer] = field(default_factory=dict)
    position: dict[str, int] = field(default_factory=dict)  # of external buffers in `data`
    outputs: list[Buffer] = field(default_factory=list)
    bodies: dict[str, Kernel] = field(default_factory=dict)
    variables: set[str] = field(default_factory=set)  # shared ones, and rows of them
    index: dict[str, int] = field(default_factory=dict)  # of sizes in `sizes`; then come slots
    launches: Counter[str] = field(default_factory=Counter)  # how often each kernel is launched

    def __post_init__(self) -> None:
        """Index the program's buffers, kernels and sizes by name."""
        program = self.program
        self.buffers = {buffer.name: buffer for buffer in program.buffers}
        external = [b for role in EXTERNAL for b in program.buffers if b.role == role]
        self.position = {buffer.name: number for number, buffer in enumerate(external)}
        self.outputs = [b for b in external if b.role == "output"]
        self.bodies = {kernel.name: kernel for kernel in program.kernels}
        self.launches = Counter(
            step.kernel for step in every_step(program.steps) if isinstance(step, Launch)
        )
        self.variables = {b.name for b in program.buffers if b.role == "shared"}
        for name, whole in wholes(program).items() if self.variables else ():
            if whole in self.variables:
                self.variables.add(name)
        self.index = {size.var.name: number for number, size in enumerate(program.sizes)}

    def begin(self, printer: Printer | None = None) -> HostWriter:
        """A writer of one more function, by default in the names of the program."""
        return replace(
            self, printer=self.printer if printer is None else printer,
            lines=[], known=set(), rows=set(), numbers=set(), waiting=[], cleans=False,
            attempts=False, heeds=False, counts=False, flagged=False, inside=0, number=0, timers=0,
        )  # fmt: skip

    # --- words ------------------------------------------------------------------------------------

    def use(self, name: str) -> str:
        """The name of a helper of `runtime/host/host.h`, which the program then needs."""
        self.helpers[name] = None
        return name

    def phrase(self, phrase: Phrase, *holes: str) -> str:
        """The text of a short call."""
        self.use(phrase.helper)
        return phrase.text.format(*holes)

    def kind(self, dtype: DType) -> str:
        """The C type of an element."""
        return self.printer.lang.types[dtype.name]

    def address(self, pointer: Pointer) -> str:
        """The address of an element."""
        name = self.printer.buffers[pointer.buffer]
        zero = pointer.offset == const(0)
        return name if zero else f"{name} + {self.printer.text(pointer.offset, MUL)}"

    def element(self, pointer: Pointer) -> str:
        """The element itself."""
        return f"{self.printer.buffers[pointer.buffer]}[{self.printer.text(pointer.offset)}]"

    # --- statements -------------------------------------------------------------------------------

    def put(self, line: str, depth: int = 1) -> None:
        """One line of a function's body."""
        self.lines.append(INDENT * (self.inside + depth) + line)

    def call(self, name: str, arguments: Sequence[str], depth: int = 1) -> None:
        """A call, on several lines if it is long."""
        self.lines.append(wrapped(f"{name}(", arguments, ");", INDENT * (self.inside + depth)))

    def remark(self, note: str) -> None:
        """A comment before a statement, if there is something to say."""
        if note.strip():
            self.put(f"/* {one_line(note)} */")

    def fail(self, condition: str, status: int, note: str = "") -> None:
        """Stop with a status where the condition holds: one of `Status`, or that of a check."""
        code = self.use("SYMC_TOO_LARGE") if status == Status.TOO_LARGE else str(int(status))
        remark = f"  /* {one_line(note)} */" if note.strip() else ""
        if self.cleans:
            self.put(f"if ({condition}) {{{remark}")
            self.put(f"status = {code};", 2)
            self.put("goto done;", 2)
            self.put("}")
        else:
            self.put(f"if ({condition}) return {code};{remark}")

    def announce(self, note: str) -> None:
        """Note which step comes next, for the caller to name if it fails."""
        self.put(f"call->step = {len(self.notes)};")
        self.notes.append(one_line(note))

    def attempt(
        self, note: str, name: str, arguments: Sequence[str], source: str | None = None
    ) -> None:
        """A call that returns a status, of a function that `source` defines, by default itself."""
        self.announce(note)
        self.attempts = True
        self.use(source or name)
        self.call(f"status = {name}", ["call", *arguments])
        self.put("if (status) goto done;" if self.cleans else "if (status) return status;")


def one_line(note: str) -> str:
    """A note that can stand in a comment after a statement."""
    return " ".join(note.replace("*/", "* /").replace("/*", "/ *").split())


def bindings(host: HostWriter, launch: Launch) -> dict[str, Expr]:
    """A kernel's sizes in terms of the program's."""
    names = [size.name for size in host.bodies[launch.kernel].sizes]
    return dict(zip(names, launch.sizes, strict=True))


def bound(host: HostWriter, launch: Launch, exprs: Sequence[Expr]) -> list[Expr]:
    """Expressions over a kernel's sizes in terms of the program's."""
    sizes = bindings(host, launch)
    return [substitute(expr, sizes) for expr in exprs]
