"""A function's compiled kernels: PTX, machine code, registers and memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symc.codegen.targets.cuda.reading import module_of
from symc.codegen.targets.cuda.target import KERNELS
from symc.codegen.targets.on_device import IMAGE, RESOURCES
from symc.pipeline.apart import is_apart

if TYPE_CHECKING:
    from symc.calls.callable import Function


def ptx(function: Function) -> str:
    """The kernels as PTX, NVIDIA's portable assembly, for the device's architecture.

    Raises `CompilerMissing` without NVRTC, and TypeError for a function on no device.
    """
    from symc.codegen.targets.cuda import nvrtc

    source = (_folder(function) / KERNELS).read_text(encoding="utf-8")
    return nvrtc.ptx(source, _architecture(function), apart=is_apart(function.request))


def sass(function: Function) -> str:
    """The kernels in the device's machine code, as nvdisasm shows it, of CUDA's toolkit or a wheel.

    Those of a simulated device as NVRTC compiles them for the card that it stands for. Raises
    `CompilerMissing` without these tools.
    """
    from symc.codegen.targets.cuda import nvrtc
    from symc.codegen.targets.cuda.disassemble import sass as disassemble

    folder = _folder(function)
    if function.device == "cuda:sim":
        module = module_of((folder / KERNELS).read_text(encoding="utf-8"))
        apart = is_apart(function.request)
        return disassemble(nvrtc.compile(module, _architecture(function), apart=apart).image)
    return disassemble((folder / IMAGE).read_bytes())


def resources(function: Function) -> dict[str, dict[str, int]]:
    """The resources of each kernel: registers, bytes of shared memory and stack, spilled registers.

    Empty for a simulated device.
    """
    found: dict[str, dict[str, int]] = json.loads(
        (_folder(function) / RESOURCES).read_text(encoding="utf-8")
    )
    return found


def _folder(function: Any) -> Path:
    if not function.device.startswith("cuda") or function.folder is None:
        raise TypeError(f'{function!r} is compiled for no CUDA device; use device="cuda"')
    return Path(function.folder)


def _architecture(function: Any) -> tuple[int, int]:
    from symc.cuda.devices import device

    return device(function.device).architecture
