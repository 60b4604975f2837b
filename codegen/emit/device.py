"""A program for a device as two texts: the kernels in its language, and the host functions in C.

As in `program.py`, both are made to be read, and the same program always gives the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.blocks import every_step
from symc.codegen.dtypes import INT32
from symc.codegen.emit.device_kernels import emit_device_kernel, origin
from symc.codegen.emit.device_module import DeviceModule, LaunchBounds, Piece, encoded, text_of
from symc.codegen.emit.expressions import CNames, Printer
from symc.codegen.emit.program import header
from symc.codegen.emit.units import HOST, KERNELS
from symc.codegen.emit.writer import comment
from symc.codegen.encodable import encodable
from symc.codegen.ir import Loop, Program, Routine
from symc.codegen.passes.gpu.geometry import geometries
from symc.codegen.passes.kernels.memory import plan_workspace
from symc.codegen.passes.walk import statements
from symc.codegen.record import record, replace
from symc.codegen.runtime import load
from symc.codegen.signs import natural_sizes
from symc.codegen.targets.cuda.host import WORDS
from symc.codegen.targets.cuda.lang import CUDA
from symc.codegen.targets.cuda.routines import KERNELS as ROUTINE_KERNELS
from symc.codegen.targets.host.device import DeviceDialect, synchronises
from symc.codegen.targets.host.functions import host_text
from symc.codegen.targets.host.writer import RESERVED, HostWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from symc.codegen.ir import Kernel
    from symc.codegen.passes.gpu.geometry import Geometry
    from symc.codegen.runtime.load import Dialect
    from symc.codegen.targets.base import Lang

IN_KERNELS = frozenset({"scratch", "memory", "team", "team_bytes", "team_memory"})
IN_HOST = frozenset({"before", "error"})
SHARED_KERNELS = "Also launched, from codegen/runtime/{}, compiled once for all programs:"


@record
class DeviceSource:
    """The texts of a program, and the facts needed to load and launch it."""

    host: str
    device: DeviceModule
    texts: Mapping[str, str]
    """The text of each kernel, by its name in the program."""
    kernels: tuple[str, ...]
    """The names of the kernels, in the order of `symc_call.functions`."""
    routines: tuple[str, ...]
    """The names of kernels that programs share, which follow the program's own."""
    steps: tuple[str, ...]
    """A description of each step that may fail, with the user's line."""
    synchronises: bool
    """Whether the host waits for the device between steps."""
    narrow: bool
    """Whether indexes have 32 bits, so that very long arrays need another program."""


@record
class DeviceForm:
    """How kernels are printed in a language of devices, and what its routines launch."""

    lang: Lang
    dialect: Dialect
    print_kernel: Callable[[Kernel, str, Printer, dict[str, None], Geometry], list[Piece]]
    routines: Mapping[str, Sequence[str]]
    """The kernels of the runtime that each routine launches."""
    printer: type[Printer] = Printer
    before: tuple[str, ...] = ()
    """Lines before the program's own kernels."""


CUDA_FORM = DeviceForm(CUDA, "cuda", emit_device_kernel, ROUTINE_KERNELS)


def emit_device(
    program: Program, form: DeviceForm, host_lang: Lang, *, timed: bool = False
) -> DeviceSource:
    """The texts of a program that has been through the device's passes; `timed` as in `emit`."""
    lang, language = form.lang, form.dialect
    used: dict[str, None] = {}
    declared: dict[str, None] = {}
    layout = replace(plan_workspace(program), scratch={})
    reserved = lang.reserved | load.symbols(language).keys() | IN_KERNELS
    outside = host_lang.reserved | load.symbols("device host").keys() | RESERVED | IN_HOST
    host_printer = Printer(host_lang, {}, outside)
    functions = CNames(reserved | outside | lang.functions | host_lang.functions)
    host_printer.natural, natural = natural_sizes(program)
    launched = geometries(program)
    texts: dict[str, list[Piece]] = {}
    names: dict[str, str] = {}
    for kernel in program.kernels:
        printer = form.printer(lang, used, reserved)
        printer.natural |= natural.get(kernel.name, set())
        name = names[kernel.name] = functions[kernel.name]
        texts[kernel.name] = form.print_kernel(
            kernel, name, printer, declared, launched[kernel.name]
        )
    routines = routine_kernels(program, form.routines)
    numbers = {kernel.name: number for number, kernel in enumerate(program.kernels)}
    numbers |= {name: len(names) + number for number, name in enumerate(routines)}
    dialect = DeviceDialect(WORDS, launched, names, numbers, form.routines, is_narrow(program))
    host = HostWriter(program, layout, dialect, host_printer, timed=timed)
    text = host_text(host)
    runtime = [load.base(language), load.source_of(used, language)]
    before = [header(program), *runtime, *form.before, *declared, KERNELS]
    helpers = load.source_of([*host_printer.used, "symc_call", *host.helpers], "device host")
    parts = [header(program), load.base(), HOST, helpers, text]
    return DeviceSource(
        encodable("\n".join(parts)),
        device_module(program, "\n".join(before), texts, routines, language),
        {k.name: comment(k.note, "") + text_of(encoded(texts[k.name])) for k in program.kernels},
        tuple(names.values()),
        tuple(routines),
        tuple(host.notes),
        synchronises(host),
        dialect.narrow,
    )


def device_module(
    program: Program, before: str, texts: Mapping[str, list[Piece]], routines: Sequence[str],
    language: Dialect,
) -> DeviceModule:  # fmt: skip
    """The module: the declarations that kernels need, and the kernels under their comments."""
    pieces: list[Piece] = [before]
    line = before.count("\n") + 1
    for kernel in program.kernels:
        note = comment(kernel.note, "")
        own = line + note.count("\n") + 2  # a directive is about the line after it
        found: list[Piece] = [f'\n{note}#line {own} "{origin(kernel)}"\n', *texts[kernel.name]]
        line += sum(piece.count("\n") for piece in found if isinstance(piece, str))
        pieces += found
    if routines:
        said = SHARED_KERNELS.format(load.symbols(language)[routines[0]].file)
        pieces.append("\n" + comment(f"{said}\n{', '.join(routines)}", ""))
    bounds = [piece for piece in pieces if isinstance(piece, LaunchBounds)]
    return DeviceModule(encoded(pieces), tuple(bounds))


def routine_kernels(program: Program, launched: Mapping[str, Sequence[str]]) -> list[str]:
    """The kernels of the runtime that a program's routines launch, each once."""
    return list(
        dict.fromkeys(
            kernel
            for step in every_step(program.steps)
            if isinstance(step, Routine)
            for kernel in launched[step.name]
        )
    )


def is_narrow(program: Program) -> bool:
    """Whether indexes have 32 bits."""
    return any(
        isinstance(stmt, Loop) and stmt.var.dtype is INT32
        for kernel in program.kernels
        for stmt in statements(kernel.body)
    )
