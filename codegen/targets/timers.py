"""Timers around the steps of a program, for `symc.profile`: only where `Host.timed` asks for them.

A timed program has a table `symc_profile` with a row for each step, in the order of the text:
how many times it ran, for how many nanoseconds, and how many bytes its arrays have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from symc.codegen import ir
from symc.codegen.blocks import every_step
from symc.codegen.ir import (
    Accumulate,
    Branch,
    Check,
    Kernel,
    Launch,
    Load,
    Measure,
    Pointer,
    Region,
    Repeat,
    Routine,
    Step,
)
from symc.codegen.passes.walk import expressions
from symc.codegen.reductions import nodes, statements

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
    host.put(f"{TABLE}[{row}].begun = {host.use('symc_now')}();")
    return row


def stop_timer(host: Host, row: int, step: Step, size: Callable[[Host, Buffer], str]) -> None:
    """The statement behind a step; `size` is the text of the bytes of an array."""
    arrays = [size(host, buffer) for buffer in moved(host, step)]
    host.call(host.use("symc_done"), [f"&{TABLE}[{row}]", " + ".join(arrays) or "0"])


def moved(host: Host, step: Step) -> list[Buffer]:
    """The arrays that a step moves: each once if it reads it, and once more if it writes it."""
    match step:
        case Launch(kernel, buffers):
            body = host.bodies[kernel]
            read = read_by(body)
            names = [
                name
                for name, param in zip(buffers, body.params, strict=True)
                for _ in range(param.written + (param.name in read))
            ]
        case Routine(args=args):
            names = [arg.buffer for arg in args if isinstance(arg, Pointer)]
        case ir.Host(args=args):
            names = [arg.pointer.buffer for arg in args if isinstance(arg, Region)]
        case Check() | Measure() | Repeat() | Branch():
            names = []
        case _:
            assert_never(step)
    return [host.buffers[name] for name in names]


def read_by(kernel: Kernel) -> set[str]:
    """The names of what a kernel reads."""
    found: set[str] = set()
    for stmt in statements(kernel.body):
        if isinstance(stmt, Accumulate):
            found.add(stmt.buffer)
        loads = (node for expr in expressions(stmt) for node in nodes(expr))
        found.update(node.buffer for node in loads if isinstance(node, Load))
    return found
