"""Where a function heeds signals no more: from the step on that first writes a shared variable.

One that is stopped leaves shared variables as they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.blocks import every_step, written
from symc.codegen.ir import Branch, Launch, PythonCall, Repeat, Routine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symc.codegen.ir import Step
    from symc.codegen.targets.host.writer import HostWriter


def takes_threads(host: HostWriter, step: Step) -> bool:
    """Whether a step is told how many threads it may use."""
    return isinstance(step, Launch | Routine) and host.dialect.takes_threads(step)


def changes_variables(host: HostWriter, step: Step) -> bool:
    """Whether a step, or one inside, writes into a shared variable."""
    for each in every_step([step]) if host.variables else ():
        if isinstance(each, Launch | Routine | PythonCall):
            kernel = host.bodies[each.kernel] if isinstance(each, Launch) else None
            if not host.variables.isdisjoint(written(each, kernel)):
                return True
    return False


def heed_while_unchanged(host: HostWriter, steps: Sequence[Step]) -> None:
    """Before the first of some steps: if it changes a variable, nothing asks for signals any more.

    Steps of a branch say so themselves. After a branch it may be so or not: then they are told.
    """
    if not host.heeds or isinstance(steps[0], Branch) or not changes_variables(host, steps[0]):
        return
    host.heeds = False
    asking = (takes_threads(host, s) or isinstance(s, Repeat) for s in every_step(steps))
    if host.inside or any(asking):
        host.put("call->ask = 0;  /* shared variables change: from here on it runs to its end */")
