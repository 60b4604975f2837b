"""The CUDA driver as Python uses it: few calls, numbers in and out, and errors that are raised.

Nothing here runs at every call of a compiled function: the host program in C does all that. The
same class works over libcuda and over the simulator.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from symc.codegen.errors import DriverError
from symc.codegen.targets._abi import ffi
from symc.codegen.targets.cuda.table import PARAMETERS, c_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Statuses that are not just raised.
OUT_OF_MEMORY: Final = 2
NOT_READY: Final = 600
CAPTURED: Final = 900

CAPTURE: Final = range(900, 909)  # a call that a stream under capture cannot take
STICKY: Final = frozenset({214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719})
"""Errors after which the context, and so the process, can use the device no more."""

# Attributes of devices and of kernels, by the numbers of cuda.h.
PROCESSORS: Final = 16
SHARED_OPTIN: Final = 97
MAJOR: Final = 75
MINOR: Final = 76
POOLS: Final = 115
KERNEL_SHARED: Final = 1
KERNEL_LOCAL: Final = 3
KERNEL_REGISTERS: Final = 4
KERNEL_DYNAMIC_SHARED: Final = 8

_NON_BLOCKING: Final = 1  # a stream that does not wait for the legacy stream
_NO_TIMING: Final = 2  # an event for ordering only
_THREAD_LOCAL: Final = 1  # a capture that other threads' calls do not disturb
_RELEASE_THRESHOLD: Final = 4
_POINTER_KIND: Final = 2
_POINTER_ORDINAL: Final = 9


class Driver:
    """The driver's functions at some addresses. Handles and device addresses are ints.

    `raw` has the functions themselves, for those that cannot wait. A failure is raised as
    ``error(code, message)``. Most calls need a current context: see `push`.
    """

    def __init__(
        self,
        addresses: Mapping[str, int],
        error: Callable[[int, str], Exception] = DriverError,
    ) -> None:
        """Take the functions at these addresses."""
        self.raw: dict[str, Any] = {
            name: ffi.cast(c_type(name), addresses[name]) for name in PARAMETERS
        }
        self.addresses = dict(addresses)
        self._error = error

    # --- calling ----------------------------------------------------------------------------------

    def _call(self, name: str, *args: Any) -> None:
        code: int = self.raw[name](*args)
        if code:
            raise self.error(code, name)

    def _get(self, name: str, kind: str, *args: Any) -> int:
        """The number that a function writes to its first parameter."""
        place: Any = ffi.new(f"{kind} *")
        self._call(name, place, *args)
        return int(place[0])

    def error(self, code: int, what: str) -> Exception:
        """The exception for a status that the function `what` returned."""
        return self._error(code, f"{what}: {self.error_name(code)} ({code}), {self.describe(code)}")

    def error_name(self, code: int) -> str:
        """CUDA's name of a status, such as CUDA_ERROR_OUT_OF_MEMORY."""
        return self._text("cuGetErrorName", code) or "an unknown error"

    def describe(self, code: int) -> str:
        """The meaning of a status, in CUDA's words."""
        return self._text("cuGetErrorString", code) or "which the driver cannot explain"

    def _text(self, name: str, code: int) -> str:
        place: Any = ffi.new("const char **")
        failed = self.raw[name](code, place)
        return "" if failed or place[0] == ffi.NULL else ffi.string(place[0]).decode()

    # --- the device and its context ---------------------------------------------------------------

    def init(self) -> None:
        """Start the driver; a second time does nothing."""
        self._call("cuInit", 0)

    def version(self) -> int:
        """The CUDA version of the driver, such as 13000 for 13.0."""
        return self._get("cuDriverGetVersion", "int")

    def count(self) -> int:
        """How many devices there are."""
        return self._get("cuDeviceGetCount", "int")

    def handle(self, ordinal: int) -> int:
        """The device with this number."""
        return self._get("cuDeviceGet", "int", ordinal)

    def name(self, device: int) -> str:
        """The name of the device."""
        text: Any = ffi.new("char[]", 256)
        self._call("cuDeviceGetName", text, 256, device)
        return str(ffi.string(text).decode())

    def attribute(self, number: int, device: int) -> int:
        """A fact about the device, by its number in cuda.h."""
        return self._get("cuDeviceGetAttribute", "int", number, device)

    def total_memory(self, device: int) -> int:
        """The device's memory in bytes."""
        return self._get("cuDeviceTotalMem", "size_t", device)

    def retain(self, device: int) -> int:
        """The primary context, which all libraries of a process share. It is not made current."""
        return self._get("cuDevicePrimaryCtxRetain", "uintptr_t", device)

    def current(self) -> int:
        """The context that is current in this thread, or 0."""
        return self._get("cuCtxGetCurrent", "uintptr_t")

    def synchronize(self) -> None:
        """Wait for everything in the current context."""
        self._call("cuCtxSynchronize")

    # --- kernels ----------------------------------------------------------------------------------

    def load(self, image: bytes) -> int:
        """A module from the image that the compiler of kernels made."""
        return self._get("cuModuleLoadData", "uintptr_t", ffi.from_buffer(image))

    def unload(self, module: int) -> None:
        """Give a module back."""
        self._call("cuModuleUnload", module)

    def function(self, module: int, name: str) -> int:
        """A kernel of a module."""
        return self._get("cuModuleGetFunction", "uintptr_t", module, name.encode())

    def function_attribute(self, number: int, function: int) -> int:
        """A fact about a kernel, by its number in cuda.h."""
        return self._get("cuFuncGetAttribute", "int", number, function)

    def set_function_attribute(self, number: int, function: int, value: int) -> None:
        """Change an attribute of a kernel."""
        self._call("cuFuncSetAttribute", function, number, value)

    # --- memory -----------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        """Memory that is there at once."""
        return self._get("cuMemAlloc", "uint64_t", size)

    def free(self, address: int) -> None:
        """Give memory back, once the device is idle."""
        self._call("cuMemFree", address)

    def allocate_async(self, size: int, pool: int, stream: int) -> int:
        """Memory of a pool, for work that follows on a stream."""
        return self._get("cuMemAllocFromPoolAsync", "uint64_t", size, pool, stream)

    def free_async(self, address: int, stream: int) -> None:
        """Give memory back to its pool after the work that is on a stream."""
        self._call("cuMemFreeAsync", address, stream)

    def pool_create(self, ordinal: int) -> int:
        """A pool of memory on a device that keeps memory given back to it."""
        # CUmemPoolProps: pinned memory, no handles to share it, location (1: a device, its number).
        properties = struct.pack("iiiiQQH54x", 1, 0, 1, ordinal, 0, 0, 0)
        pool = self._get("cuMemPoolCreate", "uintptr_t", ffi.from_buffer(properties))
        threshold: Any = ffi.new("uint64_t *", 2**64 - 1)
        self._call("cuMemPoolSetAttribute", pool, _RELEASE_THRESHOLD, threshold)
        return pool

    def pool_trim(self, pool: int) -> None:
        """Give the memory of a pool that nobody uses back to the system."""
        self._call("cuMemPoolTrimTo", pool, 0)

    def memory_info(self) -> tuple[int, int]:
        """Bytes of the device that are free, and all of them."""
        free, total = ffi.new("size_t *"), ffi.new("size_t *")
        self._call("cuMemGetInfo", free, total)
        return int(free[0]), int(total[0])

    def upload(self, to: int, memory: Any, size: int, stream: int) -> None:
        """Copy from host memory."""
        self._call("cuMemcpyHtoDAsync", to, memory, size, stream)

    def download(self, memory: Any, address: int, size: int, stream: int) -> None:
        """Copy to host memory; it is there after `stream_synchronize`."""
        self._call("cuMemcpyDtoHAsync", memory, address, size, stream)

    def copy(self, to: int, address: int, size: int, stream: int) -> None:
        """Copy within the device."""
        self._call("cuMemcpyDtoDAsync", to, address, size, stream)

    def fill(self, to: int, value: int, size: int, stream: int) -> None:
        """Set bytes to a value."""
        self._call("cuMemsetD8Async", to, value, size, stream)

    def owner(self, address: int) -> int | None:
        """The number of the device that an address belongs to, None where the driver knows none."""
        place: Any = ffi.new("int *")
        return None if self.raw["cuPointerGetAttribute"](place, _POINTER_ORDINAL, address) else int(
            place[0]
        )  # fmt: skip

    def is_registered(self, memory: Any) -> bool:
        """Whether host memory is known to the driver, which then copies from it later."""
        place: Any = ffi.new("int *")
        address = int(ffi.cast("uintptr_t", memory))
        return not self.raw["cuPointerGetAttribute"](place, _POINTER_KIND, address)

    # --- streams and events -----------------------------------------------------------------------

    def stream_create(self) -> int:
        """A stream that does not wait for the legacy stream."""
        return self._get("cuStreamCreate", "uintptr_t", _NON_BLOCKING)

    def stream_synchronize(self, stream: int) -> None:
        """Wait for everything on a stream."""
        self._call("cuStreamSynchronize", stream)

    def stream_wait(self, stream: int, event: int) -> None:
        """Let later work on a stream wait for an event."""
        self._call("cuStreamWaitEvent", stream, event, 0)

    def event_create(self, *, timing: bool = False) -> int:
        """A mark that can be put on streams."""
        return self._get("cuEventCreate", "uintptr_t", 0 if timing else _NO_TIMING)

    def event_destroy(self, event: int) -> None:
        """Give an event back."""
        self._call("cuEventDestroy", event)

    def event_record(self, event: int, stream: int) -> None:
        """Put the mark after all that is on a stream."""
        self._call("cuEventRecord", event, stream)

    def event_done(self, event: int) -> bool:
        """Whether all before the mark is done."""
        code: int = self.raw["cuEventQuery"](event)
        if code not in (0, NOT_READY):
            raise self.error(code, "cuEventQuery")
        return not code

    def event_synchronize(self, event: int) -> None:
        """Wait for the mark."""
        self._call("cuEventSynchronize", event)

    def milliseconds(self, start: int, end: int) -> float:
        """The time between two marks that were made with timing."""
        place: Any = ffi.new("float *")
        self._call("cuEventElapsedTime", place, start, end)
        return float(place[0])

    # --- graphs -----------------------------------------------------------------------------------

    def is_capturing(self, stream: int) -> bool:
        """Whether work put on a stream is recorded instead of run."""
        place: Any = ffi.new("int *")
        self._call("cuStreamIsCapturing", stream, place)
        return bool(place[0])

    def capture_begin(self, stream: int) -> None:
        """Record all work that this thread puts on a stream from now on."""
        self._call("cuStreamBeginCapture", stream, _THREAD_LOCAL)

    def capture_end(self, stream: int) -> int:
        """The graph of the recorded work."""
        place: Any = ffi.new("uintptr_t *")
        self._call("cuStreamEndCapture", stream, place)
        return int(place[0])

    def graph_instantiate(self, graph: int) -> int:
        """A graph that can be launched. `graph` itself is given back."""
        try:
            return self._get("cuGraphInstantiateWithFlags", "uintptr_t", graph, 0)
        finally:
            self._call("cuGraphDestroy", graph)

    def graph_destroy(self, ready: int) -> None:
        """Give a graph back that can be launched."""
        self._call("cuGraphExecDestroy", ready)
