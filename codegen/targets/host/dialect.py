"""The dialect of a target: the parts of the host functions that differ from target to target.

All else is the same for every target: sizes, checks, loops and branches of steps, and the layout of
the workspace. `threads.py` has the dialect of programs that run on the processor, `device.py` that
of programs whose kernels are launched on a device through functions of the runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from symc.codegen.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symc.codegen.ir import Buffer, Expr, Launch, Pointer, Routine
    from symc.codegen.targets.host.writer import HostWriter


@record
class Phrase:
    """A function of the runtime or of the C library, and the text of a call, ``{}`` for holes."""

    helper: str
    text: str


@record
class Words:
    """Short calls that each target makes of functions of its own."""

    allocate: Phrase  # the number of bytes
    release: Phrase  # the address
    begin: Phrase  # the timer
    timed: tuple[str, ...] = ()  # the arguments of `symc_done` before the timer
    enter: tuple[str, ...] = ()
    """Statements before the steps of a function that uses the device; they may return a status."""
    leave: tuple[str, ...] = ()
    """Statements after them."""


class Dialect(Protocol):
    """One target's way to launch kernels, call routines and reach memory. A frozen object."""

    @property
    def words(self) -> Words:
        """The short calls."""
        ...

    @property
    def can_stop(self) -> bool:
        """Whether a signal may stop a function between its steps."""
        ...

    @property
    def reports(self) -> bool:
        """Whether steps other than checks return a status."""
        ...

    def is_readable(self, buffer: Buffer) -> bool:
        """Whether the host can read an array where it is."""
        ...

    def takes_threads(self, step: Launch | Routine) -> bool:
        """Whether a step is told how many threads it may use."""
        ...

    def launch_sizes(self, kernel: str) -> Sequence[Expr]:
        """The values that a launch computes besides the sizes it passes on, in kernel sizes."""
        ...

    def memory_sizes(self, kernel: str) -> Sequence[Expr]:
        """The values that the memory of a launch follows from; empty if it needs none."""
        ...

    def memory_bytes(self, host: HostWriter, launch: Launch, threads: str) -> str:
        """The text of the bytes of memory that a launch needs on so many threads."""
        ...

    def launch(self, host: HostWriter, launch: Launch) -> None:
        """The statements that run a kernel."""
        ...

    def routine(self, host: HostWriter, routine: Routine) -> None:
        """The statements that call a function of the runtime."""
        ...

    def read(self, host: HostWriter, pointer: Pointer, variable: str) -> None:
        """The statements that copy an element which the host cannot read to a variable."""
        ...

    def limits(self, host: HostWriter) -> None:
        """Tests of whether a program can run at these lengths."""
        ...
