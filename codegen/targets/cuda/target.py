"""CUDA: kernels compiled by NVRTC for a graphics card, or by a C++ compiler for the simulator, and
host functions compiled by the C compiler meanwhile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from symc.codegen.record import record
from symc.codegen.targets.base import Lang, Pass, Source
from symc.codegen.targets.c import BINARY, SOURCE, CTarget, is_library, raise_first
from symc.codegen.targets.c_language import C
from symc.codegen.targets.cuda.lang import CUDA
from symc.codegen.targets.cuda.routines import module_of_kernel
from symc.codegen.targets.library import Library

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from symc.codegen.emit.cuda_module import CudaModule
    from symc.codegen.ir import Program
    from symc.codegen.targets.compiler import Memo

KERNELS = "function.cu"
IMAGE = "function.image"
RESOURCES = "resources.json"
HOST_FLAGS = ("-std=gnu11", "-O1", "-fPIC", "-w", "-shared")

Architecture = tuple[int, int]


@record
class CudaSource(Source):
    """A program as text, with the module that its kernels are."""

    module: CudaModule
    texts: Mapping[str, str]

    @property
    def kernels(self) -> Mapping[str, str]:
        """The text of each kernel."""
        return self.texts


@record
class CudaTarget:
    """A graphics card of an architecture, or the simulator of one."""

    architecture: Architecture = (9, 0)
    simulated: bool = False
    wide: bool = False
    """Whether indexes have 64 bits: for arrays of more than 2^30 elements."""
    memo: Memo | None = None
    timed: bool = False
    """Whether programs time their steps."""
    lang: Lang = CUDA

    @property
    def name(self) -> str:
        """The name that it is found by."""
        return "cuda"

    @property
    def on_device(self) -> bool:
        """Arrays are in the memory of a device."""
        return True

    def available(self) -> bool:
        """Whether programs can be compiled here. Starts no process."""
        from symc.codegen.targets import sim
        from symc.codegen.targets.cuda import nvrtc

        if not CTarget().available():
            return False
        return sim.available() if self.simulated else nvrtc.available()

    def has_routine(self, name: str) -> bool:
        """Those that have kernels."""
        from symc.codegen.targets.cuda.routines import KERNELS

        return name in KERNELS

    def passes(self) -> tuple[Pass, ...]:
        """The passes over a program before it is printed, in order."""
        from symc.codegen.passes.gpu.order import PASSES, WIDE_PASSES

        return WIDE_PASSES if self.wide else PASSES

    def emit(self, program: Program) -> Source:
        """The texts of a program that has been through the passes."""
        from symc.codegen.emit.device import emit_device

        made = emit_device(program, self.lang, C, timed=self.timed)
        facts = {
            "kernels": list(made.kernels), "routines": list(made.routines),
            "steps": list(made.steps), "synchronises": made.synchronises, "narrow": made.narrow,
        }  # fmt: skip
        files = ((SOURCE, made.host), (KERNELS, made.device.text))
        return CudaSource(files, facts, made.device, made.texts)

    def describe(self, *, quick: bool = False) -> dict[str, str]:
        """Cache-key parts: everything besides the source that affects the images."""
        host = CTarget(self.memo).describe(quick=quick)
        parts = {"compiler": host["compiler"], "platform": host["platform"]}
        parts["width"] = "64" if self.wide else "32"
        parts |= {"timed": "1"} if self.timed else {}
        return parts | self.describe_kernels(quick=quick)

    def describe_kernels(self, *, quick: bool = False) -> dict[str, str]:
        """The same for kernels alone."""
        if self.simulated:
            from symc.codegen.targets import sim

            return {f"simulator {name}": text for name, text in sim.describe().items()}
        from symc.codegen.targets.cuda import nvrtc

        return nvrtc.describe(self.architecture, quick=quick, memo=self.memo)

    def compile(
        self, source: Source, folder: Path, *, quick: bool = False, home: str | None = None
    ) -> None:
        """Leave the texts, the host functions and the kernels' image in `folder`."""
        del home  # no debugger looks for the sources
        from symc.codegen.targets import processes  # late, as in c.py

        assert isinstance(source, CudaSource)
        for name, text in source.files:
            (folder / name).write_text(text, encoding="utf-8")
        host, kernels = source.file(SOURCE), source.facts["kernels"]
        found = CTarget().compiler()
        command = [*found.command, *HOST_FLAGS, SOURCE, "-o", BINARY]
        with processes.started([command], folder) as ends:
            image, resources = self.image(source.module, quick=quick) if kernels else (b"", {})
            raise_first(ends(), [command], [host])
        if not is_library(folder / BINARY):
            from symc.codegen.errors import CompileFailed

            raise CompileFailed(host, command, f"status 0, but {BINARY} is no library")
        (folder / IMAGE).write_bytes(image)
        (folder / RESOURCES).write_text(json.dumps(resources), encoding="utf-8")

    def compile_routine(self, name: str, folder: Path) -> None:
        """Leave the image of a kernel that programs share in `folder`, and its text."""
        module = module_of_kernel(name)
        image, resources = self.image(module, quick=False)
        (folder / KERNELS).write_text(module.text, encoding="utf-8")
        (folder / IMAGE).write_bytes(image)
        (folder / RESOURCES).write_text(json.dumps(resources), encoding="utf-8")

    def image(self, module: CudaModule, *, quick: bool) -> tuple[bytes, dict[str, Any]]:
        """The kernels' image, and the registers and memory that each kernel needs."""
        if self.simulated:
            from symc.codegen.targets import sim

            return sim.compile_kernels(module, KERNELS), {}
        from symc.codegen.targets.cuda import nvrtc

        made = nvrtc.compile(module, self.architecture, quick=quick, name=KERNELS)
        resources = {
            name: {
                "registers": found.registers, "shared_bytes": found.shared_bytes,
                "stack_bytes": found.stack_bytes, "spill_stores": found.spill_stores,
                "spill_loads": found.spill_loads,
            }
            for name, found in made.resources.items()
        }  # fmt: skip
        return made.image, resources

    def load(self, folder: str | Path) -> Library:
        """Open the host functions in `folder`."""
        return Library.open(f"{folder}/{BINARY}")
