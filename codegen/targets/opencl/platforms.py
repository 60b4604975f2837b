"""OpenCL's platforms and devices, through the driver of `codegen/runtime/opencl`.

A platform is found in three ways: by the system's loader (libOpenCL.so.1), by the files that
vendors leave where the loader looks, and in the wheel of PoCL, which runs kernels on the processor.
Nothing runs at import; `load` builds the driver where it was not built before.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symc.codegen.errors import CompileFailed, OpenclMissing
from symc.codegen.record import record, replace
from symc.codegen.targets import drivers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Build = Callable[[Path], None]
    Keep = Callable[[dict[str, str], Build, Callable[[str], "Platforms"]], "Platforms"]

FOLDER = Path(__file__).parent.parent.parent / "runtime" / "drivers" / "opencl"
WITHOUT = "SYMC_OPENCL_WITHOUT"
"""The environment variable of what devices are taken not to have: names of extensions, "svm" for
shared virtual memory (`memory.c` reads it, too), or "processors", which are then
taken for cards."""
LOADER = "libOpenCL.so.1"
VENDORS = "/etc/OpenCL/vendors"
WHEEL = "pocl-binary-distribution"
POCL = "Portable Computing Language"
INSTALL = "`pip install '.[opencl]'` in the checkout of symc brings PoCL, which needs no card"

OPTIONS = ("-cl-std=CL1.2", "-w")
ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"

SINGLE = "-cl-single-precision-constant"
SUB_GROUPS = "-DSYMC_SUB_GROUPS"

NOTHING = "kernel void symc_nothing(void) {}"

_ROUNDED = 1 << 7  # the bit of a device whose division of floats is exact, if it is asked for
_PROCESSOR = 1 << 1  # the bit of a kind of devices
_THREADS = 256  # of a block of a kernel without teams
_ROOM = 1 << 16


@record
class Found:
    """A device of OpenCL, and what is known of it before it is used."""

    ordinal: int
    name: str
    """As in ``device=``: ``opencl:PLATFORM:DEVICE``."""
    title: str
    platform: str
    versions: tuple[str, str, str]
    """Of the platform, the device and the driver."""
    extensions: frozenset[str]
    memory: int
    """How memory has addresses, as `driver.h` numbers it: 0 for not at all."""
    doubles: bool
    """Whether it computes in double precision."""
    rounded: bool
    """Whether divisions and roots of floats can be exact."""
    threads: int
    """The most of a work-group."""
    processor: bool = True
    """Whether it runs on the processor, whose threads have no sub-groups to gain by."""
    broken: str = ""
    """What its compiler says if it compiles nothing at all."""

    @property
    def why_refused(self) -> str:
        """What symc needs that the device lacks, or empty."""
        if not self.memory:
            return (
                "it has neither shared virtual memory (OpenCL 2.0) nor cl_ext_buffer_device_address"
                " (from version 1.0.2), so arrays have no addresses"
            )
        if self.threads < _THREADS:
            return f"a work-group has at most {self.threads} threads, {_THREADS} are needed"
        if self.broken:
            return f"its compiler compiles nothing ({self.broken}): a later one may know it"
        return ""

    @property
    def keeps_code(self) -> bool:
        """Whether code can be had at little cost.

        PoCL compiles kernels when they are launched, for the size of the work-group, and keeps them
        in a cache of its own. Asked for code, it compiles them for all sizes first.
        """
        return self.platform != POCL

    @property
    def options(self) -> tuple[str, ...]:
        """The options that kernels are compiled with."""
        exchanging = "cl_khr_subgroup_shuffle" in self.extensions
        return (
            *OPTIONS,
            *(() if self.doubles else (SINGLE,)),
            *((SUB_GROUPS,) if exchanging and not self.processor else ()),
            *((ROUNDED,) if self.rounded else ()),
        )


class Platforms:
    """The driver, and the devices of all platforms here."""

    def __init__(self, path: Path) -> None:
        """Open a driver that `drivers.build` made, and all platforms."""
        import ctypes

        self._library = ctypes.CDLL(str(path))
        for library in libraries():
            self._library.symc_opencl_open(os.fsencode(library))
        self.table = dict(drivers.entries(self._library, "symc_opencl_entry"))
        self.devices = tuple(self._devices())

    def _devices(self) -> Iterator[Found]:
        import ctypes

        room = ctypes.create_string_buffer(_ROOM)
        ordinal = 0
        while not self._library.symc_opencl_describe(ordinal, room, _ROOM):
            found = _found(ordinal, room.value.decode(errors="replace").split("\n"))
            yield replace(found, broken=self.tried(found)) if found.platform == POCL else found
            ordinal += 1

    def tried(self, device: Found) -> str:
        """What a compiler says of the smallest kernel; nothing if it compiles it.

        PoCL's knows no processors that came after it, and has no other choice (its issue 1049).
        """
        try:
            self.compile(device, NOTHING)
        except CompileFailed as failed:
            return failed.log.splitlines()[0]
        return ""

    def compile(self, device: Found, text: str) -> bytes:
        """The device's code for a text, or `CompileFailed` with what its compiler said.

        It is empty for a device whose code is not kept.
        """
        import ctypes

        code, length, log = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_void_p()
        options = " ".join(device.options)
        status = self._library.symc_opencl_compile(
            device.ordinal, text.encode(), options.encode(), int(device.keeps_code),
            ctypes.byref(code), ctypes.byref(length), ctypes.byref(log),
        )  # fmt: skip
        said = ctypes.string_at(log).decode(errors="replace") if log else ""
        made = ctypes.string_at(code, length.value) if code else b""
        for place in (code, log):
            self._library.symc_opencl_free(place)
        if status:
            command = [device.title, *device.options]
            raise CompileFailed(text, command, said.strip() or f"status {status}")
        return made


def _found(ordinal: int, lines: list[str]) -> Found:
    """The device that `symc_opencl_describe` described."""
    platform, number, title, maker, *rest = lines
    version, device, driver, extensions, doubles, floats, threads, kind, memory = rest[:9]
    without = os.environ.get(WITHOUT, "").split()
    return Found(
        ordinal, f"opencl:{platform}:{number}", title, maker, (version, device, driver),
        frozenset(extensions.split()) - {*without}, int(memory),
        int(doubles) != 0 and "cl_khr_fp64" not in without, bool(int(floats) & _ROUNDED),
        int(threads), bool(int(kind) & _PROCESSOR) and "processors" not in without,
    )  # fmt: skip


# --- libraries ------------------------------------------------------------------------------------


def libraries() -> list[str]:
    """The libraries that have platforms, in the order in which these are numbered."""
    folder = os.environ.get("OCL_ICD_VENDORS", VENDORS)
    found = [LOADER] if has_loader() else [*_vendors(folder)]
    return [*found, *wheel()]


def has_loader() -> bool:
    """Whether the system has a loader of OpenCL, which finds the platforms."""
    from symc.codegen.targets._abi import ffi

    system: Any = ffi.dlopen(None)
    return bool(system.dlopen(LOADER.encode(), os.RTLD_NOW | os.RTLD_LOCAL) != ffi.NULL)


def _vendors(folder: str) -> Iterator[str]:
    """The libraries that files in a folder name, a line each."""
    for path in sorted(Path(folder).glob("*.icd")):
        yield path.read_text(encoding="utf-8").strip()


def wheel() -> list[str]:
    """PoCL's library, if its wheel is installed."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        listed = files(WHEEL) or []
    except PackageNotFoundError:
        return []
    return [str(file.locate()) for file in listed if file.name.startswith("libpocl")]


# --- the driver of this process -------------------------------------------------------------------

_lock = threading.Lock()
_loaded: list[Platforms] = []


def load(keep: Keep | None = None) -> Platforms:
    """The platforms of this process, the same for all calls.

    The driver is built where it was not before: kept by `keep` for other processes, else in a
    temporary folder.
    """
    import tempfile

    with _lock:
        if not _loaded:
            if keep is not None:
                _loaded.append(keep(drivers.describe(FOLDER), _build, _opened))
            else:
                with tempfile.TemporaryDirectory(prefix="symc-opencl-") as temporary:
                    _build(Path(temporary))
                    _loaded.append(_opened(temporary))
        return _loaded[0]


def _build(folder: Path) -> None:
    drivers.build(FOLDER, folder)


def _opened(folder: str) -> Platforms:
    return Platforms(Path(folder, drivers.DRIVER))


def device_named(name: str, keep: Keep | None = None) -> Found:
    """The device of a name such as ``opencl:0:1``, or `OpenclMissing`, which says what there is."""
    found = load(keep).devices
    for device in found:
        if device.name == name:
            if device.why_refused:
                raise OpenclMissing(f"{device.title} cannot be used: {device.why_refused}")
            return device
    if not found:
        raise OpenclMissing(f"there is no platform of OpenCL here: {INSTALL}")
    listed = ", ".join(f"{device.name} ({device.title})" for device in found)
    raise OpenclMissing(f"there is no {name}; there are {listed}")
