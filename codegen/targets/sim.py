"""CUDA without a GPU: NVRTC and the driver, simulated on a CPU.

`compile_kernels` makes an image of a CUDA module with a C++ compiler; `load` gives the driver that
runs it, through the addresses of functions that have libcuda's names and types. Both are C and C++
in `codegen/runtime/sim`; `driver.h` there lists the checks, `cudasim.h` the parts of CUDA that a
source may use.

Nothing here runs at import. The environment is read by `load`: ``SYMC_SIM_ORDER`` (``forward``,
``reversed`` or a number), ``SYMC_SIM_DEFERRED`` (``1``) and ``SYMC_SIM_CUBLAS`` (``1``: matrix
products by a cuBLAS that is strict and slow).
"""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from symc.codegen.emit.device_module import DYNAMIC
from symc.codegen.errors import CompilerMissing
from symc.codegen.record import record
from symc.codegen.targets import compiler, drivers
from symc.codegen.targets.platforms import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Callable

    from symc.codegen.emit.device_module import DeviceModule

    Build = Callable[[Path], None]
    Keep = Callable[[dict[str, str], Build, Callable[[str], "Simulator"]], "Simulator"]

FOLDER = Path(__file__).parent.parent / "runtime" / "drivers" / "sim"

MODULE_FLAGS = (
    "-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-fvisibility=hidden",
    "-g1",  # lines, for reports
    "-fsanitize=thread,alignment",  # not the libraries: check.h has their checks
    "-fno-math-errno", "-fno-trapping-math", "-fwrapv", "-fno-strict-aliasing",
    "-fno-exceptions", "-fno-rtti", "-fno-asynchronous-unwind-tables",
    "-nostdlib",
)  # fmt: skip
GCC_FLAGS = ("--param", "tsan-instrument-func-entry-exit=0", "-fno-toplevel-reorder")
CLANG_FLAGS = ("-mllvm", "-tsan-instrument-func-entry-exit=0")
LIBRARIES = ("-lm", "-lgcc")
_OFFSET = re.compile(r"module\+0x([0-9a-f]+)")

Order: TypeAlias = Literal["forward", "reversed"] | int


@record
class Counters:
    """Work done since the driver was loaded (launches, barriers, products of cuBLAS), and objects
    alive now."""

    launches: int
    allocations: int
    bytes: int
    modules: int
    graphs: int
    barriers: int
    products: int


def available() -> bool:
    """Whether this is Linux and has a C++ and a C compiler. Starts no process."""
    if not PLATFORM.simulates:
        return False
    return compiler.find_cxx_compiler() is not None and compiler.find_compiler() is not None


def describe(memo: compiler.Memo | None = None, *, apart: bool = False) -> dict[str, str]:
    """Cache-key parts: everything besides the source that affects an image."""
    found = _cxx_compiler()
    return {
        "compiler": compiler.identity(found, memo),
        "flags": " ".join([*found.command[1:], *flags(found, apart=apart)]),
        "headers": drivers.digest(FOLDER, ".h"),
        "cpu": " ".join(compiler.cpu()),
        "platform": compiler.platform(),
    }


def compile_kernels(
    module: DeviceModule, name: str = "function.cu", *, apart: bool = False
) -> bytes:
    """The image of a CUDA module: the argument of cuModuleLoadData, where a GPU takes a cubin.

    If `apart`, a multiplication and an addition never become one instruction. Messages call the
    file `name`, unless the source has ``#line``. Raises `CompileFailed`.
    """
    import tempfile

    from symc.codegen.targets import processes  # late, as in c.py

    found = _cxx_compiler()
    with tempfile.TemporaryDirectory(prefix="symc-sim-") as folder:
        made, text = Path(folder, "module.so"), Path(folder, "module.cpp")
        text.write_text(module_text(module, name), encoding="utf-8")
        command = [
            *found.command, *flags(found, apart=apart), "-include", str(FOLDER / "cudasim.h"),
            str(text), "-o", str(made), *LIBRARIES,
        ]  # fmt: skip
        processes.run_all([command], [module.text], folder)
        return made.read_bytes()


def flags(found: compiler.Compiler, *, apart: bool = False) -> list[str]:
    """The options of one compilation of kernels."""
    more = CLANG_FLAGS if compiler.is_clang(found) else GCC_FLAGS
    return [*compiler.processor(), *MODULE_FLAGS, contraction(apart=apart), *more]


def contraction(*, apart: bool) -> str:
    """The option that says whether operations become one instruction, as NVRTC's ``--fmad``."""
    return "-ffp-contract=off" if apart else "-ffp-contract=fast"


def module_text(module: DeviceModule, name: str) -> str:
    """The C++ of a module: its text, and after that a record for each kernel.

    Dynamic shared memory is ``extern`` alone: `__shared__` declares a static variable, which
    cannot be ``extern`` too.
    """
    body = module.written(dynamic="extern".ljust(len(DYNAMIC)))
    return "\n".join([f'#line 1 "{name}"', body, '#line 1 "records"', *records(module), ""])


def records(module: DeviceModule) -> list[str]:
    """The lines after a module's text: a record for each kernel, and the module's own."""
    kernels = (f"SYMC_SIM_KERNEL({found.kernel}, {found.threads})" for found in module.kernels)
    dynamic = (f"SYMC_SIM_DYNAMIC({array})" for array in module.dynamic)
    return [*kernels, *dynamic, "SYMC_SIM_MODULE"]


def _cxx_compiler() -> compiler.Compiler:
    found = compiler.find_cxx_compiler()
    if found is None:
        raise CompilerMissing(compiler.why_cxx_missing())
    return found


# --- the driver -----------------------------------------------------------------------------------


class Simulator:
    """The driver of this process. All of its functions may be called from any thread."""

    def __init__(self, path: Path) -> None:
        """Open a driver that `build` made."""
        import ctypes

        self.cublas = False
        """Whether devices have cuBLAS: that of this driver. Read when one first needs it."""
        self._library = ctypes.CDLL(str(path))
        self._library.symc_sim_report.restype = ctypes.c_char_p
        self._library.symc_sim_image.restype = ctypes.c_void_p
        self._table = dict(drivers.entries(self._library, "symc_sim_entry"))

    def table(self) -> dict[str, int]:
        """The addresses of the driver's functions, by the names that cuGetProcAddress takes."""
        return {name: at for name, at in self._table.items() if not name.startswith("cublas")}

    def address(self, name: str) -> int:
        """The address of a function, such as ``cuMemAlloc`` or ``cublasCreate_v2``."""
        if name not in self._table:
            raise LookupError(f"the simulated driver has no function {name!r}")
        return self._table[name]

    def set_order(self, order: Order) -> None:
        """In which order threads, warps and blocks of later launches run; a number is a seed."""
        import ctypes

        number = {"forward": 0, "reversed": 1}.get(order, 2) if isinstance(order, str) else 2
        if number == 2 and not isinstance(order, int):
            raise ValueError(f"order: 'forward', 'reversed' or a number, not {order!r}")
        seed = order if isinstance(order, int) else 0
        self._library.symc_sim_set_order(number, ctypes.c_uint64(seed))

    def set_deferred(self, deferred: bool) -> None:
        """Whether work waits for a call that needs it, instead of running when it is enqueued."""
        self._library.symc_sim_set_deferred(int(deferred))

    def report(self) -> str:
        """The error of the last call that failed, in words: kernel, thread, line, memory."""
        text: str = self._library.symc_sim_report().decode(errors="replace")
        return _OFFSET.sub(lambda match: self._line(int(match[1], 16)) or match[0], text)

    def recover(self) -> None:
        """Forget the error of a kernel, which lost the context; the report; work that waits.

        Captures end, memory and modules stay.
        """
        self._library.symc_sim_recover()

    def counters(self) -> Counters:
        """Work done, and objects alive."""
        import ctypes

        values = (ctypes.c_int64 * 7)()
        self._library.symc_sim_counters(values)
        return Counters(*values)

    def _line(self, offset: int) -> str | None:
        """``file:line`` of code in the module that the report is about, if it can be found."""
        import ctypes
        import subprocess
        import tempfile

        size = ctypes.c_size_t()
        image = self._library.symc_sim_image(ctypes.byref(size))
        if image is None:
            return None
        with tempfile.NamedTemporaryFile(prefix="symc-sim-") as file:
            file.write(ctypes.string_at(image, size.value))
            file.flush()
            # The address is where the call returns to: the byte before is in the call.
            command = ["addr2line", "-e", file.name, hex(offset - 1)]
            try:
                found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            except (OSError, subprocess.SubprocessError):
                return None
        place = found.partition(" (")[0].strip()
        return None if place.startswith("?") else f"{Path(place).name}"


_lock = threading.Lock()
_loaded: list[Simulator] = []


def load(keep: Keep | None = None) -> Simulator:
    """The driver of this process, the same for all calls.

    It is built where it was not before. `keep` has it built and kept for other processes; without,
    it is built in a temporary folder.
    """
    import tempfile

    with _lock:
        if not _loaded:
            if keep is not None:
                made = keep(describe_driver(), build, _opened)
            else:
                with tempfile.TemporaryDirectory(prefix="symc-sim-") as temporary:
                    build(Path(temporary))
                    made = _opened(temporary)
            _apply_environment(made)
            _loaded.append(made)
        return _loaded[0]


def _opened(folder: str) -> Simulator:
    return Simulator(Path(folder, drivers.DRIVER))


def _apply_environment(made: Simulator) -> None:
    order = os.environ.get("SYMC_SIM_ORDER", "forward")
    match order:
        case "forward" | "reversed":
            made.set_order(order)
        case _ if order.isdecimal():
            made.set_order(int(order))
        case _:
            raise ValueError(f"SYMC_SIM_ORDER: forward, reversed or a number, not {order!r}")
    made.set_deferred(os.environ.get("SYMC_SIM_DEFERRED", "") not in ("", "0"))
    made.cublas = os.environ.get("SYMC_SIM_CUBLAS", "") not in ("", "0")


def describe_driver() -> dict[str, str]:
    """Cache-key parts: everything that affects the result of `build`."""
    return drivers.describe(FOLDER)


def build(folder: Path, *options: str) -> None:
    """Leave the driver as a shared library in `folder`, or raise `CompileFailed`."""
    drivers.build(FOLDER, folder, *options)
