"""Device memory: who uses it, in which order, and where it goes when nobody does.

Work on a device is queued on streams, and memory outlives the Python object that stands for it
until the queue is through. Within one stream the order of the queue is enough: a block that is
given back may be given out again at once. Between streams the block itself knows which of them
wrote and read it, and lets the next one wait.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from symc.codegen.targets._abi import ffi
from symc.codegen.targets.cuda.driver import CAPTURED, OUT_OF_MEMORY
from symc.errors import DeviceError

if TYPE_CHECKING:
    from symc.cuda.devices import Device

GRANULE = 512
KEPT = 4  # blocks that nobody uses may take up a fourth of the device


class Memory:
    """Some bytes of a device. They are given back when the last array on them is gone."""

    __slots__ = (
        "__weakref__", "address", "blocks", "device", "home", "readers", "size", "written",
    )  # fmt: skip
    readonly = False

    def __init__(
        self, device: Device, address: int, size: int, stream: int, blocks: list[int] | None = None
    ) -> None:
        """Take over `size` bytes, ready for use on `stream`; `blocks` gets them back."""
        self.device = device
        self.address = address
        self.size = size
        self.home = self.written = stream
        self.readers: frozenset[int] | None = None  # streams, besides the last that wrote
        self.blocks = blocks

    def read_on(self, stream: int) -> None:
        """Later work on `stream` may read: it waits for earlier writes."""
        if stream != self.written and self.address:
            self.device.order(stream, after=self.written)
            self.readers = (self.readers or frozenset()) | {stream}

    def write_on(self, stream: int) -> None:
        """Later work on `stream` may write: it waits for earlier writes and reads."""
        if self.readers or stream != self.written:
            for other in self.streams() - {stream}:
                self.device.order(stream, after=other)
            self.readers = None
            self.written = stream

    def streams(self) -> frozenset[int]:
        """All that may still be working on it."""
        return (self.readers or frozenset()) | {self.written} if self.address else frozenset()

    def release(self) -> None:
        """Give the bytes back when that takes the driver."""
        if self.blocks is not None:
            self.write_on(self.home)
            self.blocks.append(self.address)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if self.blocks is not None and self.readers is None and self.written == self.home:
            self.blocks.append(self.address)
        elif not is_finalizing() and not self.device.lost:
            try:
                self.release()
            except DeviceError:
                self.device.leaked += self.size  # its context is gone, and with it the memory


class BorrowedMemory(Memory):
    """Memory that another library owns; `let_go` tells it that we need it no more."""

    __slots__ = ("let_go", "readonly")

    def __init__(
        self, device: Device, address: int, size: int, stream: int, let_go: Callable[[], object]
    ) -> None:
        """Borrow `size` bytes, which are ready for use on `stream`."""
        super().__init__(device, address, size, stream)
        self.let_go = let_go
        self.readonly = False

    def release(self) -> None:
        """Let the owner have it once our work on it is done."""
        self.device.later(self.let_go, self.streams())


def rounded(size: int) -> int:
    """The size of the block that is taken for so many bytes: at most a sixteenth more."""
    granule = max(GRANULE, 1 << max(size.bit_length() - 5, 0))
    return -(-size // granule) * granule


class Pool:
    """Blocks of a device that nobody uses, by size and stream: the next call gets the same again.

    So repeated calls take no time for memory, and use the same addresses: graphs need that. Below
    lies a memory pool of the driver, or plain allocation where a device has no such pools.

    Lists of Python hold the blocks, whose `pop` and `append` are atomic: they need no lock, which a
    block that comes back while the garbage collector runs could not take.
    """

    def __init__(self, device: Device, *, pooled: bool) -> None:
        """Start with nothing; needs a current context."""
        self._device = device
        self._driver = device.driver
        self._pool = device.driver.pool_create(device.ordinal) if pooled else 0
        self._blocks: dict[tuple[int, int], list[int]] = {}
        self.taken = 0  # from the driver
        self._lock = threading.RLock()  # of `taken`

    @property
    def cached(self) -> int:
        """Bytes that nobody uses."""
        return sum(size * len(blocks) for (size, _), blocks in list(self._blocks.items()))

    def blocks(self, size: int, stream: int) -> list[int]:
        """The list of blocks of a rounded size that are free on a stream."""
        return self._blocks.setdefault((size, stream), [])

    def allocate(self, size: int, stream: int) -> Memory:
        """At least `size` bytes for later work on `stream`. Raises MemoryError."""
        if not size:
            return Memory(self._device, 0, 0, stream)
        size = rounded(size)
        return self.take(size, stream, self.blocks(size, stream))

    def take(self, size: int, stream: int, blocks: list[int]) -> Memory:
        """A block of a rounded size, whose list is known."""
        try:
            address = blocks.pop()
        except IndexError:
            address = self._fresh(size, stream)
        return Memory(self._device, address, size, stream, blocks)

    def _fresh(self, size: int, stream: int) -> int:
        if size > self._device.total_memory:  # drivers differ in the error for this
            self._no_room(size)
        if self.cached > self._device.total_memory // KEPT:
            self.empty()
        try:
            address = self._from_driver(size, stream)
        except DeviceError as error:
            if error.code != OUT_OF_MEMORY:
                raise
            self._device.empty_cache()
            address = self._again(size, stream)
        with self._lock:
            self.taken += size
        return address

    def _again(self, size: int, stream: int) -> int:
        try:
            return self._from_driver(size, stream)
        except DeviceError as error:
            if error.code != OUT_OF_MEMORY:
                raise
            self._no_room(size)

    def _no_room(self, size: int) -> NoReturn:
        with self._device:
            free, total = self._driver.memory_info()
        raise MemoryError(
            f"no {size:,} bytes on {self._device.name}: {free:,} of {total:,} are free, "
            f"and arrays of this process take {self.taken:,}"
        ) from None

    def _from_driver(self, size: int, stream: int) -> int:
        with self._device:
            if stream and self._driver.is_capturing(stream):
                raise self._driver.error(CAPTURED, "taking memory")
            if self._pool:
                return self._driver.allocate_async(size, self._pool, stream)
            return self._driver.allocate(size)

    def empty(self) -> None:
        """Give all blocks that nobody uses back to the system. Waits for the device."""
        with self._device:
            self._driver.synchronize()  # then it does not matter which streams they were for
            for (size, _), blocks in list(self._blocks.items()):
                while blocks:
                    try:
                        address = blocks.pop()
                    except IndexError:
                        break  # another thread was quicker
                    with self._lock:
                        self.taken -= size
                    if self._pool:
                        self._driver.free_async(address, 0)
                    else:
                        self._driver.free(address)
            self._driver.synchronize()
            if self._pool:
                self._driver.pool_trim(self._pool)


class _Recording(threading.local):
    """Whether a thread records a call: the blocks it took, and for which stream."""

    memory: list[Memory] | None = None
    stream = 0


class RuntimeAllocator:
    """Memory that a compiled function asks for while it runs: two functions, as the driver has.

    They come from the same pool as all other memory, so that they are as quick the second time, and
    are there where a device has no pools. While a call is recorded as a graph they are not given
    back: the graph has their addresses, see `recording`.
    """

    def __init__(self, device: Device) -> None:
        """Make the functions; they live as long as this."""
        self._device = device
        self._taken: dict[int, Memory] = {}
        self._recording = _Recording()
        self.allocate = ffi.callback(
            "int(uint64_t *, size_t, void *)", self._allocate, error=OUT_OF_MEMORY
        )
        self.free = ffi.callback("int(uint64_t, void *)", self._free)

    @contextmanager
    def recording(self, stream: int) -> Generator[list[Memory]]:
        """Memory that this thread takes in the block is of `stream`, and kept in the list."""
        kept: list[Memory] = []
        self._recording.memory, self._recording.stream = kept, stream
        try:
            yield kept
        finally:
            self._recording.memory = None

    def _allocate(self, place: Any, size: int, stream: Any) -> int:
        kept = self._recording.memory
        where = int(ffi.cast("uintptr_t", stream)) if kept is None else self._recording.stream
        try:
            memory = self._device.pool.allocate(size, where)
        except MemoryError:
            return OUT_OF_MEMORY
        except DeviceError as error:
            return error.code
        if kept is not None:
            kept.append(memory)
        elif memory.address:
            self._taken[memory.address] = memory
        place[0] = memory.address
        return 0

    def _free(self, address: int, stream: Any) -> int:
        del stream  # that on which it was taken
        if self._recording.memory is None:
            self._taken.pop(address, None)
        return 0
