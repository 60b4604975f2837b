"""OpenCL: kernels compiled by a device's own compiler, host functions by the C compiler meanwhile.

The image of a module has the text and the device's code: a driver that refuses the code compiles
the text again. Kernels have no packs of elements: pointers to those would need to be aligned, which
only CUDA's kernels ask for at run time. float16 is its bits to them, as few devices compute in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symc.codegen.dtypes import FLOAT64, DType
from symc.codegen.record import record, replace
from symc.codegen.targets.base import Lang, Pass
from symc.codegen.targets.c import CTarget
from symc.codegen.targets.c_language import C
from symc.codegen.targets.on_device import DeviceTarget
from symc.codegen.targets.opencl.lang import OPENCL, SINGLE, arguments

if TYPE_CHECKING:
    from symc.codegen.emit.device import DeviceForm
    from symc.codegen.emit.device_module import DeviceModule
    from symc.codegen.runtime.load import Dialect
    from symc.codegen.targets.compiler import Memo
    from symc.codegen.targets.opencl.platforms import Found

KERNELS = "function.cl"
APART = "#pragma OPENCL FP_CONTRACT OFF"
HOST = replace(C, types={**C.types, "float16": C.types["uint16"]})


@record
class OpenclTarget(DeviceTarget):
    """A device of OpenCL, by its name."""

    device: str = "opencl:0:0"
    wide: bool = False
    """Whether indexes have 64 bits: for arrays of more than 2^30 elements."""
    memo: Memo | None = None
    timed: bool = False
    """Whether programs time their steps."""
    single: bool = False
    """Whether the device does not compute in double precision."""
    apart: bool = False
    """Whether a multiplication and an addition never become one instruction."""
    lang: Lang = OPENCL

    @property
    def name(self) -> str:
        """The name that it is found by."""
        return "opencl"

    @property
    def file(self) -> str:
        """The name of the kernels' text."""
        return KERNELS

    @property
    def form(self) -> DeviceForm:
        """How kernels are printed."""
        from symc.codegen.emit.device import DeviceForm
        from symc.codegen.emit.opencl_kernels import emit_opencl_kernel
        from symc.codegen.targets.opencl.routines import KERNELS as LAUNCHED

        before = (APART,) if self.apart else ()
        if self.single:
            from symc.codegen.emit.twofold import TwofoldPrinter

            dialect: Dialect = "opencl single"
            return DeviceForm(SINGLE, dialect, emit_opencl_kernel, LAUNCHED, TwofoldPrinter, before)
        return DeviceForm(OPENCL, "opencl", emit_opencl_kernel, LAUNCHED, before=before)

    @property
    def host(self) -> Lang:
        """C that passes on the bits of float16."""
        return HOST

    @property
    def found(self) -> Found:
        """The device."""
        from symc.codegen.targets.opencl.platforms import device_named

        return device_named(self.device)

    def available(self) -> bool:
        """Whether programs can be compiled here."""
        from symc.codegen.errors import CodegenError

        try:
            return CTarget().available() and bool(self.found)
        except CodegenError:
            return False

    def computes(self, dtype: DType) -> bool:
        """All that the device has."""
        return not self.single or dtype.component is not FLOAT64

    def passes(self) -> tuple[Pass, ...]:
        """The passes over a program before it is printed, in order."""
        from symc.codegen.passes.expressions.bits import halves
        from symc.codegen.passes.gpu.join import join, join_few
        from symc.codegen.passes.gpu.packs import packs

        passes = (each for each in DeviceTarget.passes(self) if each is not packs)
        shared = (join_few if each is join else each for each in passes)
        if self.single:
            from symc.codegen.emit.twofold import spelled_out

            return (halves, *shared, spelled_out)
        return (halves, *shared)

    def describe_kernels(self, *, quick: bool = False) -> dict[str, str]:
        """Cache-key parts: everything besides the source that affects an image of kernels."""
        found = self.found
        return {
            "opencl": f"{found.platform}, {found.title}, {', '.join(found.versions)}",
            "options": " ".join(found.options),
            "quick": str(quick),
            "single": str(self.single),
        }

    def image(self, module: DeviceModule, *, quick: bool) -> tuple[bytes, dict[str, Any]]:
        """The text and the device's code of it, as `cuModuleLoadData` of the driver takes them."""
        from symc.codegen.targets import processes
        from symc.codegen.targets.opencl.platforms import load

        found, text = self.found, module.text
        command = [found.title, *found.options, KERNELS]
        code = processes.in_thread(lambda: load().compile(found, text), command)
        return image_of(text, " ".join(found.options), code), {}


def image_of(text: str, options: str, code: bytes) -> bytes:
    """The image of a text; see `runtime/drivers/opencl/modules.c`."""
    source = text.encode()
    kernels = arguments(text)
    head = f"symc opencl {len(kernels)} {len(options)} {len(source)} {len(code)}\n"
    rows = "".join(f"{name} {kinds}\n" for name, kinds in kernels.items())
    return (head + rows + options).encode() + source + code
