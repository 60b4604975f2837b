"""Timers around the steps of a program, for `symc.profile`: only in programs that are timed.

A timed program has a table `symc_profile` with a row for each step, in the order of the text:
how many times it ran, for how many nanoseconds, and how many bytes its arrays have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from symc.codegen import ir
from symc.codegen.blocks import every_step
from symc.codegen.cost.work import moved
from symc.codegen.ir import Branch, Check, Launch, Measure, Repeat, Routine, Step
from symc.codegen.targets.host.memory import array_bytes

if TYPE_CHECKING:
    from symc.codegen.ir import Buffer
    from symc.codegen.targets.host.writer import HostWriter

TABLE = "symc_profile"


def timer_table(host: HostWriter) -> str:
    """The table, which starts at zero."""
    host.use("symc_timer")
    count = sum(1 for _ in every_step(host.program.steps))
    return f"/* what each step took */\nsymc_timer {TABLE}[{max(count, 1)}];\n"


def start_timer(host: HostWriter) -> str:
    """The statement before a step; gives the step's timer."""
    timer = f"{TABLE}[{host.plan.leading + host.timers}]"
    host.timers += 1
    host.put(host.phrase(host.dialect.words.begin, timer))
    return timer


def stop_timer(host: HostWriter, timer: str, step: Step) -> None:
    """The statement after a step."""
    arrays = [array_bytes(host, buffer) for buffer in arrays_of(host, step)]
    size = " + ".join(arrays) or "0"
    host.call(host.use("symc_done"), [*host.dialect.words.timed, f"&{timer}", size])


def arrays_of(host: HostWriter, step: Step) -> list[Buffer]:
    """The arrays that a step moves: each once if it reads it, and once more if it writes it."""
    match step:
        case Launch(kernel):
            read, written = moved(step, host.bodies[kernel])
        case Routine() | ir.PythonCall():
            read, written = moved(step, None)
        case Check() | Measure() | Repeat() | Branch():
            return []
        case _:
            assert_never(step)
    return [host.buffers[name] for name in (*read, *written)]
