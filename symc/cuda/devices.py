"""Devices: the driver, the context that all libraries of a process share, streams and memory.

There is one `Device` for each name: ``"cuda"`` (the same as ``"cuda:0"``), ``"cuda:1"`` ...,
``"opencl"`` (the same as ``"opencl:0:0"``) ..., and ``"cuda:sim"``, the simulator, which runs CUDA
programs on the CPU: slowly, checking each access. `makers.py` has what differs between these.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from symc.codegen.errors import CodegenError
from symc.codegen.targets._abi import ffi
from symc.codegen.targets.cuda import driver as cuda
from symc.codegen.targets.cuda.driver import Driver
from symc.codegen.targets.named import full_name
from symc.cuda.makers import SIMULATOR, Card, Maker, Simulated, maker_of
from symc.cuda.memory import Memory, Pool, RuntimeAllocator
from symc.errors import DeviceError

if TYPE_CHECKING:
    from symc.codegen.targets.cuda.cublas import Cublas

_FORKED = (
    "a process that was forked cannot use the CUDA devices of its parent\n"
    '  start it by "spawn" or "forkserver" (multiprocessing.set_start_method), '
    "or do not touch CUDA before the fork"
)
_RECORDED = (
    "\n  a stream that is recorded takes only device arrays, in and out, and no new memory:"
    "\n  call the function once before, and keep the arrays that the recorded call uses"
)
_LOST = (
    "\n  this process cannot use the device any more: start a new one"
    "\n  SYMC_CUDA_SYNC=1 in the environment names the step that failed"
)


class _Current(threading.local):
    """The stream that a thread uses."""

    handle = 0


class Device:
    """A CUDA device, the simulator of one, or one of OpenCL: ``symc.cuda.device("cuda")``.

    Inside of ``with device:`` its context is current in this thread; the one before is so again
    afterwards. All that needs a context does this itself.

    >>> import symc
    >>> device = symc.cuda.device("cuda:sim")
    >>> device.name, device is symc.cuda.device("cuda:sim")
    ('cuda:sim', True)
    """

    def __init__(
        self, name: str, ordinal: int, addresses: dict[str, int], maker: Maker | None = None
    ) -> None:
        """Take a device into use; `device` makes sure that this happens once."""
        self.name = name
        self.ordinal = ordinal
        self.is_simulator = name == SIMULATOR
        self.is_cuda = not name.startswith("opencl")
        self.maker = maker or (Simulated() if self.is_simulator else Card(ordinal))
        self.blas: Cublas | Literal[False] | None = None  # False: looked for, and not there
        self.lost = ""  # why it cannot be used any more
        self.leaked = 0
        self.driver = Driver(addresses, self.failure)
        self.driver.init()
        count = self.driver.count()
        if ordinal >= count:
            raise DeviceError(0, f"there is no device {name}: there are {count}")
        handle = self.driver.handle(ordinal)
        self.title = self.driver.name(handle)
        self.architecture = (
            self.driver.attribute(cuda.MAJOR, handle), self.driver.attribute(cuda.MINOR, handle)
        )  # fmt: skip
        self.total_memory = self.driver.total_memory(handle)
        self.context = self.driver.retain(handle)
        self._push = self.driver.raw["cuCtxPushCurrent"]
        self._pop = self.driver.raw["cuCtxPopCurrent"]
        self._popped: Any = ffi.new("uintptr_t *")  # written by any thread, read by none
        self.current = _Current()
        self._events: list[int] = []
        self._streams: list[int] = []  # those that nobody uses
        self._waiting: deque[tuple[list[int], Callable[[], object]]] = deque()
        self._unmarked: deque[tuple[frozenset[int], Callable[[], object]]] = deque()
        self.sweepers: list[Callable[[], None]] = []  # called by `sweep` as well
        self.routines: dict[str, Module] = {}  # kernels that programs share, by name
        self.shared_bytes = self.driver.attribute(cuda.SHARED_OPTIN, handle)
        with self:
            self.pool = Pool(self, pooled=bool(self.driver.attribute(cuda.POOLS, handle)))
        self.late = RuntimeAllocator(self)
        self.struct = self._as_struct(self.driver.attribute(cuda.PROCESSORS, handle))

    def _as_struct(self, processors: int) -> Any:
        """The device as the host program of a compiled function knows it."""
        made: Any = ffi.new("symc_device *")
        for name, field in ffi.typeof("symc_device").fields:
            if name in self.driver.addresses:
                setattr(made, name, ffi.cast(field.type, self.driver.addresses[name]))
        made.cuMemAllocAsync = self.late.allocate
        made.cuMemFreeAsync = self.late.free
        made.context = ffi.cast("void *", self.context)
        made.processors = processors
        made.shared_bytes = self.shared_bytes
        made.alone = self.maker.alone
        made.synchronous = os.environ.get("SYMC_CUDA_SYNC") == "1"
        return made

    def open_blas(self) -> None:
        """Let matrix products use cuBLAS if it is installed. Only the first call looks for it."""
        if self.blas is not None:
            return
        with _lock, self:
            if self.blas is not None:
                return
            try:
                self.use_blas(self.maker.open_blas())
            except CodegenError as error:
                raise DeviceError(0, f"{self.name}: {error}") from error

    def use_blas(self, found: Cublas | Literal[False] | None) -> None:
        """Let matrix products use this cuBLAS, or the kernels of `runtime/cuda/gemm.cuh`."""
        struct = self.struct
        if found:
            fields = dict(ffi.typeof("symc_device").fields)
            struct.cublasSetStream = ffi.cast(fields["cublasSetStream"].type, found.set_stream)
            gemm = fields["cublasGemmStridedBatchedEx"].type
            struct.cublasGemmStridedBatchedEx = ffi.cast(gemm, found.gemm)
        struct.blas = ffi.cast("void *", found.blas) if found else ffi.NULL
        self.blas = found or False

    def __repr__(self) -> str:
        return f"<symc device {self.name}, {self.title}>"

    # --- errors -----------------------------------------------------------------------------------

    def failure(self, code: int, what: str) -> DeviceError:
        """The exception for an error of the driver."""
        report = self.report()
        text = f"{self.name}: {what}" + (f"\n  {report}" if report else "")
        if code in cuda.CAPTURE:
            text += _RECORDED
        return DeviceError(code, text + (_LOST if code in cuda.STICKY else ""))

    def report(self) -> str:
        """The simulator's description of the last error; a real device has none."""
        return self.maker.report().replace("\n", "\n  ")

    def __enter__(self) -> Self:
        if self.lost:
            raise DeviceError(0, f"{self.name}: {self.lost}")
        code: int = self._push(self.context)
        if code:
            raise self.driver.error(code, "cuCtxPushCurrent")
        return self

    def __exit__(self, *error: object) -> None:
        self._pop(self._popped)

    # --- streams ----------------------------------------------------------------------------------

    @property
    def stream(self) -> int:
        """The stream that this thread uses: see `symc.cuda.stream`. 0 is the default stream.

        >>> import symc
        >>> device = symc.cuda.device("cuda:sim")
        >>> side = symc.cuda.Stream(device)
        >>> with symc.cuda.stream(side):
        ...     print(device.stream == side.handle)
        True
        """
        return self.current.handle

    def order(self, stream: int, *, after: int) -> None:
        """Let later work on `stream` wait for earlier work on the stream `after`.

        One that is recorded into a graph cannot wait for others: its owner must see to it.
        """
        if stream == after:
            return
        with self:
            if stream and self.driver.is_capturing(stream):
                return
            event = self._mark(after)
            self.driver.stream_wait(stream, event)
        self._events.append(event)

    def _mark(self, stream: int) -> int:
        try:
            event = self._events.pop()
        except IndexError:
            event = self.driver.event_create()
        self.driver.event_record(event, stream)
        return event

    def take_stream(self) -> int:
        """A stream of its own for somebody."""
        try:
            return self._streams.pop()
        except IndexError:
            with self:
                return self.driver.stream_create()

    def give_stream_back(self, stream: int) -> None:
        """Keep a stream for the next; it is not destroyed, as memory may still be used on it."""
        self._streams.append(stream)

    def later(self, action: Callable[[], object], streams: Iterable[int]) -> None:
        """Call `action` when the work that is on these streams now is done."""
        self._unmarked.append((frozenset(streams), action))
        self.sweep()

    def _is_recorded(self) -> bool:
        """Whether this thread's stream is recorded: then events can be neither made nor asked."""
        handle = self.current.handle
        if not handle:
            return False
        with self:
            return self.driver.is_capturing(handle)

    def sweep(self) -> None:
        """Run the callbacks that waited for work that is done by now."""
        if self._is_recorded():
            return
        for sweeper in self.sweepers:
            sweeper()
        for _ in range(len(self._unmarked)):
            try:
                streams, action = self._unmarked.popleft()
            except IndexError:
                break
            with self:
                if any(stream and self.driver.is_capturing(stream) for stream in streams):
                    self._unmarked.append((streams, action))  # another thread records it
                    continue
                self._waiting.append(([self._mark(stream) for stream in streams], action))
        for _ in range(len(self._waiting)):
            try:
                events, action = self._waiting.popleft()
            except IndexError:
                return  # another thread was quicker
            try:
                with self:
                    done = all(self.driver.event_done(event) for event in events)
            except DeviceError:  # it cannot be known now; who waits for the work hears why
                done = False
            if done:
                self._events += events
                action()
            else:
                self._waiting.append((events, action))

    def synchronize(self) -> None:
        """Wait for all work on the device. Raises the errors of that work.

        >>> import symc
        >>> symc.cuda.device("cuda:sim").synchronize()
        """
        with self:
            self.driver.synchronize()
        self.sweep()

    # --- memory and kernels -----------------------------------------------------------------------

    def allocate(self, size: int, stream: int | None = None) -> Memory:
        """Memory for later work on a stream (None: that of this thread). Raises MemoryError."""
        return self.pool.allocate(size, self.current.handle if stream is None else stream)

    def empty_cache(self) -> None:
        """Give memory that no array uses back to the system, so that other libraries have it.

        >>> import symc
        >>> symc.cuda.device("cuda:sim").empty_cache()
        """
        self.sweep()
        self.pool.empty()

    def memory_info(self) -> dict[str, int]:
        """Bytes: ``total`` and ``free`` of the device, ``used`` by arrays of symc, and ``cached``.

        Cached memory is used again by the next calls; `empty_cache` gives it back.

        >>> import symc
        >>> sorted(symc.cuda.device("cuda:sim").memory_info())
        ['cached', 'free', 'total', 'used']
        """
        self.sweep()
        with self:
            free, total = self.driver.memory_info()
        cached = self.pool.cached
        used = self.pool.taken - cached
        return {"total": total, "free": free, "used": used, "cached": cached}

    def load(self, image: bytes, names: Sequence[str]) -> Module:
        """The kernels of these names in a module of their compiler's."""
        return Module(self, image, names)


class Module:
    """Kernels on a device: `functions` has their handles, valid as long as this object lives."""

    def __init__(self, device: Device, image: bytes, names: Sequence[str]) -> None:
        """Load the image, and let each kernel use all shared memory that a block can have."""
        self._device = device
        driver = device.driver
        with device:
            self._module = driver.load(image)
            self.functions = tuple(driver.function(self._module, name) for name in names)
            for function in self.functions:
                static = driver.function_attribute(cuda.KERNEL_SHARED, function)
                room = device.shared_bytes - static
                driver.set_function_attribute(cuda.KERNEL_DYNAMIC_SHARED, function, room)
        self.names = tuple(names)

    def attributes(self, name: str) -> dict[str, int]:
        """The resources of a kernel: ``registers``, ``shared`` and ``local`` (spilled) bytes."""
        function = self.functions[self.names.index(name)]
        numbers = {
            "registers": cuda.KERNEL_REGISTERS, "shared": cuda.KERNEL_SHARED,
            "local": cuda.KERNEL_LOCAL,
        }  # fmt: skip
        with self._device:
            attribute = self._device.driver.function_attribute
            return {what: attribute(number, function) for what, number in numbers.items()}

    def __del__(self) -> None:
        if sys is None or sys.is_finalizing() or self._device.lost or not hasattr(self, "names"):
            return
        try:
            with self._device:  # no launch may be under way when its code is unloaded
                self._device.driver.synchronize()
                self._device.driver.unload(self._module)
        except DeviceError:
            return  # its context is gone, and with it the module


# --- devices by name ------------------------------------------------------------------------------

_devices: dict[str, Device] = {}
_lock = threading.Lock()


def device(name: str | Device = "cuda") -> Device:
    """The device of a name: ``"cuda:1"``, ``"cuda:sim"``, ``"opencl"``. One object for each.

    Raises `DeviceError` if there is none, and says why.

    >>> import symc
    >>> symc.cuda.device("cuda:sim")
    <symc device cuda:sim, symc simulator>
    """
    if isinstance(name, Device):
        return name
    found = _devices.get(name)
    if found is None:
        with _lock:
            found = _devices.get(name) or _named(name)
            _devices[name] = found
    return found


def _named(name: str) -> Device:
    full = full_name(name)
    if full != name:
        return _devices.setdefault(full, _devices.get(full) or _open(full))
    return _open(name)


def _open(name: str) -> Device:
    try:
        maker = maker_of(name)
        if maker is not None:
            return Device(name, maker.ordinal, maker.addresses(), maker)
    except CodegenError as error:
        raise DeviceError(0, f"{name} cannot be used: {error}") from error
    from symc.graph.other_libraries import meant

    known = ["cpu", "cuda", "cuda:0", "cuda:1", SIMULATOR, "opencl", "opencl:0:0"]
    raise ValueError(
        f"no device {name!r}; there are 'cpu', 'cuda', 'cuda:1' ..., 'cuda:sim', 'opencl' and"
        f" 'opencl:0:1' ...{meant(name, known)}"
    )


def available(name: str = "cuda") -> bool:
    """Whether there is such a device: True or False, and no error. Takes it into use if there is.

    >>> import symc
    >>> symc.cuda.available("cuda:sim")
    True
    """
    return why_missing(name) is None


def why_missing(name: str = "cuda") -> str | None:
    """Why there is no such device, or None if there is. Takes it into use if there is.

    >>> import symc
    >>> symc.cuda.why_missing("cuda:sim") is None
    True
    """
    try:
        device(name)
    except DeviceError as error:
        return str(error)
    return None


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    for found in _devices.values():
        found.lost = _FORKED


os.register_at_fork(after_in_child=_after_fork)
