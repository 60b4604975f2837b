"""A target's host functions differ from another's only by a dialect."""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.emit.expressions import Printer
from symc.codegen.ir import Expr, Launch
from symc.codegen.passes.kernels.memory import plan_workspace
from symc.codegen.record import record
from symc.codegen.targets.c_language import C
from symc.codegen.targets.host.device import DeviceDialect
from symc.codegen.targets.host.dialect import Phrase, Words
from symc.codegen.targets.host.functions import host_text
from symc.codegen.targets.host.writer import HostWriter

from .examples import row_softmax

WORDS = Words(
    allocate=Phrase("toy_get", "toy_get({})"),
    release=Phrase("toy_put_back", "toy_put_back({});"),
    begin=Phrase("toy_begin", "toy_begin({});"),
    enter=("toy_enter(call);",),
    leave=("toy_leave(call);",),
)


@record
class Toy(DeviceDialect):
    """Another device, whose kernels have names instead of grids."""

    def launch_sizes(self, kernel: str) -> Sequence[Expr]:
        """None: each kernel knows its own."""
        del kernel
        return ()

    def memory_sizes(self, kernel: str) -> Sequence[Expr]:
        """None."""
        del kernel
        return ()

    def launch(self, host: HostWriter, launch: Launch) -> None:
        """A launch by name."""
        buffers = [host.printer.buffers[name] for name in launch.buffers]
        host.attempt(launch.kernel, "toy_launch", [f'"{launch.kernel}"', *buffers])


def test_a_new_dialect_says_everything_in_its_own_words() -> None:
    program = row_softmax()
    dialect = Toy(WORDS, {}, {}, {}, {}, narrow=False)
    host = HostWriter(
        program, plan_workspace(program), dialect, Printer(C, {}, frozenset()), timed=True
    )
    text = host_text(host)
    kernel = program.kernels[0].name
    assert f'status = toy_launch(call, "{kernel}", x, ' in text
    assert "toy_begin(symc_profile[0]);" in text
    assert "    toy_enter(call);\n    const int64_t status = symc_run_steps(call);\n" in text
    assert host.helpers.keys() >= {"toy_launch", "toy_begin", "symc_status"}
