"""CUDA: kernels compiled by NVRTC for a graphics card, or by a C++ compiler for the simulator, and
host functions compiled by the C compiler meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symc.codegen.record import record
from symc.codegen.targets.base import Lang
from symc.codegen.targets.c import CTarget
from symc.codegen.targets.cuda.lang import CUDA
from symc.codegen.targets.on_device import DeviceTarget

if TYPE_CHECKING:
    from symc.codegen.emit.device import DeviceForm
    from symc.codegen.emit.device_module import DeviceModule
    from symc.codegen.targets.compiler import Memo

KERNELS = "function.cu"

Architecture = tuple[int, int]


@record
class CudaTarget(DeviceTarget):
    """A graphics card of an architecture, or the simulator of one."""

    architecture: Architecture = (9, 0)
    simulated: bool = False
    wide: bool = False
    """Whether indexes have 64 bits: for arrays of more than 2^30 elements."""
    memo: Memo | None = None
    timed: bool = False
    """Whether programs time their steps."""
    apart: bool = False
    """Whether a multiplication and an addition never become one instruction."""
    lang: Lang = CUDA

    @property
    def name(self) -> str:
        """The name that it is found by."""
        return "cuda"

    @property
    def file(self) -> str:
        """The name of the kernels' text."""
        return KERNELS

    @property
    def form(self) -> DeviceForm:
        """How kernels are printed."""
        from symc.codegen.emit.device import CUDA_FORM

        return CUDA_FORM

    def available(self) -> bool:
        """Whether programs can be compiled here. Starts no process."""
        from symc.codegen.targets import sim
        from symc.codegen.targets.cuda import nvrtc

        if not CTarget().available():
            return False
        return sim.available() if self.simulated else nvrtc.available()

    def describe_kernels(self, *, quick: bool = False) -> dict[str, str]:
        """Cache-key parts: everything besides the source that affects an image of kernels."""
        if self.simulated:
            from symc.codegen.targets import sim

            described = sim.describe(apart=self.apart)
            return {f"simulator {name}": text for name, text in described.items()}
        from symc.codegen.targets.cuda import nvrtc

        return nvrtc.describe(self.architecture, quick=quick, apart=self.apart, memo=self.memo)

    def image(self, module: DeviceModule, *, quick: bool) -> tuple[bytes, dict[str, Any]]:
        """The kernels' image, and the registers and memory that each kernel needs."""
        if self.simulated:
            from symc.codegen.targets import sim

            return sim.compile_kernels(module, KERNELS, apart=self.apart), {}
        from symc.codegen.targets.cuda import nvrtc

        made = nvrtc.compile(module, self.architecture, quick=quick, apart=self.apart, name=KERNELS)
        resources = {
            name: {
                "registers": found.registers, "shared_bytes": found.shared_bytes,
                "stack_bytes": found.stack_bytes, "spill_stores": found.spill_stores,
                "spill_loads": found.spill_loads,
            }
            for name, found in made.resources.items()
        }  # fmt: skip
        return made.image, resources
