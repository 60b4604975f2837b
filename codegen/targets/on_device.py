"""What targets share whose kernels run on a device: two texts, compiled side by side.

Host functions are C for the C compiler. Kernels become an *image*, which the device's driver loads,
by a compiler of the device's own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from symc.codegen.record import record
from symc.codegen.targets.base import Source
from symc.codegen.targets.c import BINARY, SOURCE, CTarget, is_library
from symc.codegen.targets.c_language import C
from symc.codegen.targets.library import Library
from symc.codegen.targets.platforms import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from symc.codegen.dtypes import DType
    from symc.codegen.emit.device import DeviceForm
    from symc.codegen.emit.device_module import DeviceModule
    from symc.codegen.ir import Program
    from symc.codegen.targets.base import Lang, Pass
    from symc.codegen.targets.compiler import Memo

IMAGE = "function.image"
RESOURCES = "resources.json"
HOST_FLAGS = ("-std=gnu11", "-O1", *PLATFORM.movable, "-w", *PLATFORM.shared)


@record
class KernelSource(Source):
    """A program as text, with the module that its kernels are."""

    module: DeviceModule
    texts: Mapping[str, str]

    @property
    def kernels(self) -> Mapping[str, str]:
        """The text of each kernel."""
        return self.texts


class DeviceTarget:
    """The part of a `Target` that does not depend on the device. A record is made of it."""

    __slots__ = ()

    wide: bool
    memo: Memo | None
    timed: bool

    @property
    def on_device(self) -> bool:
        """Arrays are in the memory of a device."""
        return True

    @property
    def form(self) -> DeviceForm:
        """How kernels are printed."""
        raise NotImplementedError

    @property
    def host(self) -> Lang:
        """The language of host functions."""
        return C

    @property
    def file(self) -> str:
        """The name of the kernels' text."""
        raise NotImplementedError

    def has_routine(self, name: str) -> bool:
        """Those whose kernels there are."""
        return name in self.form.routines

    def computes(self, dtype: DType) -> bool:
        """All of them."""
        del dtype
        return True

    def passes(self) -> tuple[Pass, ...]:
        """The passes over a program before it is printed, in order."""
        from symc.codegen.passes.gpu.order import PASSES, WIDE_PASSES

        return WIDE_PASSES if self.wide else PASSES

    def emit(self, program: Program) -> Source:
        """The texts of a program that has been through the passes."""
        from symc.codegen.emit.device import emit_device

        made = emit_device(program, self.form, self.host, timed=self.timed)
        facts = {
            "kernels": list(made.kernels), "routines": list(made.routines),
            "steps": list(made.steps), "synchronises": made.synchronises, "narrow": made.narrow,
        }  # fmt: skip
        files = ((SOURCE, made.host), (self.file, made.device.text))
        return KernelSource(files, facts, made.device, made.texts)

    def describe(self, *, quick: bool = False) -> dict[str, str]:
        """Cache-key parts: everything besides the source that affects the images."""
        host = CTarget(self.memo).describe(quick=quick)
        parts = {"compiler": host["compiler"], "platform": host["platform"]}
        parts["width"] = "64" if self.wide else "32"
        parts |= {"timed": "1"} if self.timed else {}
        return parts | self.describe_kernels(quick=quick)

    def describe_kernels(self, *, quick: bool = False) -> dict[str, str]:
        """The same for kernels alone."""
        raise NotImplementedError

    def image(self, module: DeviceModule, *, quick: bool) -> tuple[bytes, dict[str, Any]]:
        """The kernels' image, and the registers and memory that each kernel needs."""
        raise NotImplementedError

    def compile(
        self, source: Source, folder: Path, *, quick: bool = False, home: str | None = None
    ) -> None:
        """Leave the texts, the host functions and the kernels' image in `folder`."""
        del home  # no debugger looks for the sources
        from symc.codegen.targets import processes  # late, as in c.py

        assert isinstance(source, KernelSource)
        for name, text in source.files:
            (folder / name).write_text(text, encoding="utf-8")
        host, kernels = source.file(SOURCE), source.facts["kernels"]
        found = CTarget().compiler()
        command = [*found.command, *HOST_FLAGS, SOURCE, "-o", BINARY]
        with processes.started([command], folder) as ends:
            image, resources = self.image(source.module, quick=quick) if kernels else (b"", {})
            processes.raise_first(ends(), [command], [host])
        if not is_library(folder / BINARY):
            from symc.codegen.errors import CompileFailed

            raise CompileFailed(host, command, f"status 0, but {BINARY} is no library")
        (folder / IMAGE).write_bytes(image)
        (folder / RESOURCES).write_text(json.dumps(resources), encoding="utf-8")

    def module_of_routine(self, kernel: str) -> DeviceModule:
        """A whole module with one of the runtime's kernels."""
        from symc.codegen.runtime import load
        from symc.codegen.targets.cuda.reading import module_of

        dialect = self.form.dialect
        return module_of(load.base(dialect) + load.source_of([kernel], dialect))

    def compile_routine(self, kernel: str, folder: Path) -> None:
        """Leave the image of a kernel that programs share in `folder`, and its text."""
        self.compile_module(self.module_of_routine(kernel), folder)

    def compile_module(self, module: DeviceModule, folder: Path) -> None:
        """Leave the image of kernels that programs share in `folder`, and their text."""
        image, resources = self.image(module, quick=False)
        (folder / self.file).write_text(module.text, encoding="utf-8")
        (folder / IMAGE).write_bytes(image)
        (folder / RESOURCES).write_text(json.dumps(resources), encoding="utf-8")

    def load(self, folder: str | Path) -> Library:
        """Open the host functions in `folder`."""
        return Library.open(f"{folder}/{BINARY}")
