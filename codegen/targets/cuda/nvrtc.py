"""NVRTC: from CUDA text to an image that a driver loads.

It needs no graphics card. NVIDIA's bindings are imported by the first function that needs them:
beside the driver's, which a program that runs on a card has in memory anyway, they cost 2 ms.
Programs become CUBINs, machine code of one architecture, which any driver of the same major version
loads. Only for a card that is newer than NVRTC they become PTX, which the driver compiles.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Literal

from symc.codegen.errors import CompileFailed, CompilerMissing
from symc.codegen.record import record
from symc.codegen.targets.compiler import remembered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symc.codegen.emit.device_module import DeviceModule
    from symc.codegen.targets.compiler import Memo

Architecture = tuple[int, int]  # the compute capability, such as (9, 0)

OPTIONS = (
    "-std=c++17",
    "-default-device",  # the functions of codegen/runtime do not say __device__
    "-minimal",  # without declarations that nothing here needs: 4 ms less
    "-Xptxas", "-v",  # the log says which registers and memory each kernel takes
)  # fmt: skip
QUICK = ("--Ofast-compile=max",)  # a third of the time for a large kernel, and larger code
INSTALL = "`pip install '.[cuda]'` in the checkout of symc (nvidia-cuda-nvrtc-cu12, cuda-python)"

_KERNEL = re.compile(r"Compiling entry function '(\w+)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_UNKNOWN = re.compile(r"unrecognized option (\S+) found")
_BUILD = re.compile(r"Compiler Build ID: (\S+)")


@record
class Resources:
    """The registers and local memory of a kernel's thread, the static shared memory of a block."""

    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_stores: int
    spill_loads: int


@record
class Compiled:
    """An image that a driver loads, and the compiler's log on it."""

    image: bytes
    kind: Literal["cubin", "ptx"]
    log: str
    """Warnings; empty if there are none."""
    resources: Mapping[str, Resources]
    """By kernel. Empty for PTX, whose registers the driver allots."""


def available() -> bool:
    """Whether the bindings and a library of NVRTC are here. Imports them only if no wheel tells."""
    from importlib.util import find_spec

    if find_spec("cuda") is None or find_spec("cuda.bindings") is None:
        return False
    if _stamp():
        return True
    try:
        version()
    except CompilerMissing:
        return False
    return True


@functools.cache
def version() -> tuple[int, int]:
    """The version of the NVRTC that this process uses, or `CompilerMissing`."""
    nvrtc = _bindings()
    try:
        status, major, minor = nvrtc.nvrtcVersion()
    except Exception as error:  # which one, depends on the version of the bindings
        raise CompilerMissing(f"no NVRTC: {error}. Install it by {INSTALL}") from error
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise CompilerMissing(f"NVRTC does not start: {status.name}")
    return int(major), int(minor)


@functools.cache
def architectures() -> tuple[Architecture, ...]:
    """Those that this NVRTC can write CUBINs for, in ascending order."""
    version()
    nvrtc = _bindings()
    _, known = nvrtc.nvrtcGetSupportedArchs()
    return tuple((number // 10, number % 10) for number in sorted(known))


def describe(
    arch: Architecture, *, quick: bool = False, apart: bool = False, memo: Memo | None = None
) -> dict[str, str]:
    """Cache-key parts: everything besides the source that affects the image.

    The version is asked for once for each file of NVRTC, and kept in `memo`.
    """
    stamp = _stamp()
    return {
        "nvrtc": remembered("nvrtc", stamp, memo if stamp else None, build),
        "options": " ".join([_target(arch, "sm"), *_options(quick=quick, apart=apart)]),
    }


@functools.cache
def build() -> str:
    """The version of NVRTC and its build."""
    major, minor = version()
    found = _BUILD.search(ptx("", architectures()[0]))
    return f"NVRTC {major}.{minor} {found[1] if found else ''}".rstrip()


def compile(
    module: DeviceModule, arch: Architecture = (9, 0), *, quick: bool = False,
    apart: bool = False, name: str = "function.cu",
) -> Compiled:  # fmt: skip
    """Compile a module for an architecture, or raise `CompileFailed`.

    If `apart`, a multiplication and an addition never become one instruction.

    ptxas likes to give threads few registers, so that many run at a time, even where a call of a
    function then has to save some of them in memory. Kernels that do are compiled again, so that
    one block of them need fit on a processor.
    """
    known = architectures()
    if arch in known:
        target, kind = _target(arch, "sm"), "cubin"
    else:
        target, kind = _target(_nearest(arch, known), "compute"), "ptx"
    options = [target, *_options(quick=quick, apart=apart)]
    image, log = _compile(module.text, options, name)
    needed = _resources(log)
    spilled = {name for name, found in needed.items() if found.spill_stores}
    loose = module.written(loose=spilled)
    if loose != module.text:
        image, log = _compile(loose, options, name)
        needed = _resources(log)
    return Compiled(image, "cubin" if kind == "cubin" else "ptx", _warnings(log), needed)


def ptx(
    source: str, arch: Architecture = (9, 0), *, quick: bool = False, apart: bool = False
) -> str:
    """The PTX of a text, for people and tests."""
    options = [_target(arch, "compute"), *_options(quick=quick, apart=apart)]
    return _compile(source, options, "function.cu")[0].decode().rstrip("\0")


def _options(*, quick: bool, apart: bool = False) -> list[str]:
    return [*OPTIONS, "--fmad=false" if apart else "--fmad=true", *(QUICK if quick else ())]


def _target(arch: Architecture, prefix: Literal["sm", "compute"]) -> str:
    return f"-arch={prefix}_{arch[0]}{arch[1]}"


def _nearest(arch: Architecture, known: Sequence[Architecture]) -> Architecture:
    """The newest architecture whose PTX a newer card takes."""
    older = [one for one in known if one < arch]
    if not older:
        major, minor = version()
        raise CompilerMissing(
            f"NVRTC {major}.{minor} compiles for compute capability {_dotted(known[0])} and newer,"
            f" this device has {_dotted(arch)}. Install an older nvidia-cuda-nvrtc"
        )
    return older[-1]


def _dotted(arch: Architecture) -> str:
    return f"{arch[0]}.{arch[1]}"


@functools.cache
def _bindings() -> Any:
    from importlib import import_module  # the bindings have no types

    try:
        return import_module("cuda.bindings.nvrtc")
    except ImportError as error:
        raise CompilerMissing(
            f"no bindings of NVRTC: {error}. Install them by {INSTALL}"
        ) from error


def _stamp() -> str:
    """A stamp that changes when another NVRTC is installed, as files of wheels tell; else empty."""
    import importlib.util
    from pathlib import Path

    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    parts: list[str] = []
    for folder in folders:
        for path in sorted(Path(folder).glob("*/lib/libnvrtc.so.*")):
            status = path.stat()
            parts.append(f"{path} {status.st_size} {status.st_mtime_ns}")
    return " ".join(parts)


def _compile(source: str, options: Sequence[str], name: str) -> tuple[bytes, str]:
    """An image and the log, for which it is waited as long as the setting allows."""
    from symc.codegen.targets.processes import in_thread  # late, as in c.py

    version()
    return in_thread(lambda: _compiled(source, options, name), ["nvrtc", *options, name])


def _compiled(source: str, options: Sequence[str], name: str) -> tuple[bytes, str]:
    """An image and the log. Options that this version of NVRTC does not know are left out."""
    nvrtc = _bindings()
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], [])
    try:
        wanted = [*options]
        while True:
            encoded = [option.encode() for option in wanted]
            (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
            log = _read(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
            text = log.decode(errors="replace").strip("\0 \n")
            if status == nvrtc.nvrtcResult.NVRTC_SUCCESS:
                break
            unknown = _UNKNOWN.search(text)
            if unknown is None or unknown[1] not in wanted:
                raise CompileFailed(source, ["nvrtc", *wanted, name], text or status.name)
            wanted.remove(unknown[1])
        if "=sm_" in wanted[0]:
            return _read(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program), text
        return _read(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program), text
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _read(size_of: Any, fill: Any, program: Any) -> bytes:
    """A text that NVRTC writes into memory of the caller."""
    _, size = size_of(program)
    out = bytearray(size)
    fill(program, out)
    return bytes(out)


def _warnings(log: str) -> str:
    """A log without ptxas's figures for every kernel."""
    lines = [line for line in log.split("\n") if not line.startswith("ptxas ")]
    return "\n".join(lines).strip()


def _resources(log: str) -> dict[str, Resources]:
    """ptxas's figures for each kernel."""
    found: dict[str, Resources] = {}
    _, *parts = _KERNEL.split(log)
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        registers, shared, stack = (p.search(part) for p in (_REGISTERS, _SHARED, _STACK))
        frame, stores, loads = (int(n) for n in stack.groups()) if stack else (0, 0, 0)
        found[name] = Resources(
            int(registers[1]) if registers else 0,
            int(shared[1]) if shared else 0,
            frame,
            stores,
            loads,
        )
    return found
