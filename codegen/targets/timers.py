"""Timers around the steps of a program, for `symc.profile`: only where `Host.timed` asks for them.

A timed program has a table `symc_profile` with a row for each step, in the order of the text:
how many times it ran, for how many nanoseconds, and how many bytes its arrays have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from symc.codegen import ir
from symc.codegen.blocks import every_step
from symc.codegen.cost.work import moved
from symc.codegen.ir import Branch, Check, Launch, Measure, Repeat, Routine, Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from symc.codegen.ir import Buffer
    from symc.codegen.targets.steps import Host

TABLE = "symc_profile"


def timer_table(host: Host) -> str:
    """The table, which starts at zero."""
    host.use("symc_timer")
    count = sum(1 for _ in every_step(host.program.steps))
    return f"/* what each step took */\nsymc_timer {TABLE}[{max(count, 1)}];\n"


def start_timer(host: Host) -> int:
    """The statement before a step; gives the step's row."""
    row = host.plan.leading + host.timers
    host.timers += 1
    host.begin_timer(f"{TABLE}[{row}]")
    return row


def stop_timer(host: Host, row: int, step: Step, size: Callable[[Host, Buffer], str]) -> None:
    """The statement behind a step; `size` is the text of the bytes of an array."""
    arrays = [size(host, buffer) for buffer in arrays_of(host, step)]
    host.end_timer(f"{TABLE}[{row}]", " + ".join(arrays) or "0")


def arrays_of(host: Host, step: Step) -> list[Buffer]:
    """The arrays that a step moves: each once if it reads it, and once more if it writes it."""
    match step:
        case Launch(kernel):
            read, written = moved(step, host.bodies[kernel])
        case Routine() | ir.Host():
            read, written = moved(step, None)
        case Check() | Measure() | Repeat() | Branch():
            return []
        case _:
            assert_never(step)
    return [host.buffers[name] for name in (*read, *written)]
