"""CUDA graphs: a call that repeats is recorded, and then launched as a whole.

A graph has the addresses of all arrays and all sizes in it. It fits a later call only if that has
the same ones, which repeated calls do: memory that is given back is given out again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from symc.codegen.targets._abi import ffi
from symc.cuda.devices import Device
from symc.cuda.memory import Memory
from symc.errors import DeviceError

KEPT = 4  # graphs of one function
SEEN = 16  # calls that may come again
TRIED = 32  # after so many graphs that were not used more than once or twice, no more are made


class Ready:
    """A graph that can be launched."""

    def __init__(self, device: Device, graph: int, memory: list[Memory]) -> None:
        """Make a recorded graph ready; `memory` is that of its kernels beside the call's."""
        self._device = device
        self.memory = memory
        self.handle = device.driver.graph_instantiate(graph)
        self.streams: set[int] = set()

    def __del__(self) -> None:
        if sys.is_finalizing() or self._device.lost or not hasattr(self, "handle"):
            return
        try:
            self._device.later(Destroy(self._device, self.handle), self.streams)
        except DeviceError:
            return  # its context is gone, and with it the graph


class Destroy:
    """Gives a graph back when it is called."""

    def __init__(self, device: Device, handle: int) -> None:
        """Remember which."""
        self._device = device
        self._handle = handle

    def __call__(self) -> None:
        """Give it back."""
        with self._device:
            self._device.driver.graph_destroy(self._handle)


class Graphs:
    """The graphs of one compiled function: `run` runs a call, by a graph if there is one."""

    def __init__(self, device: Device, run: Callable[[Any], int]) -> None:
        """`run` is the compiled function that launches the kernels."""
        self._device = device
        self._run = run
        self._launch = device.driver.raw["cuGraphLaunch"]
        self._stream = 0  # for recording
        self._seen: dict[bytes, None] = {}
        self._ready: dict[bytes, Ready] = {}
        self._lock = threading.Lock()
        self.enabled = not device.struct.synchronous
        self.made = 0
        self.replayed = 0

    def run(self, call: Any, state: bytes, stream: int) -> int:
        """Do the work of `run`, and return its status."""
        if stream and self._is_captured(stream):
            return self._run(call)
        graph = self._ready.get(state)
        if graph is None:
            with self._lock:
                graph = self._record(call, state)
            if graph is None:
                return self._run(call)
        else:
            self._keep_longest(state, graph)
        for memory in graph.memory:
            memory.write_on(stream)
        graph.streams.add(stream)
        self.replayed += 1
        return self._launched(graph.handle, stream)

    def _keep_longest(self, state: bytes, graph: Ready) -> None:
        """The graph that was used last is the last to go."""
        self._ready.pop(state, None)
        self._ready[state] = graph

    def _launched(self, handle: int, stream: int) -> int:
        with self._device:
            code = self._launch(handle, stream)
        return -1000 - code if code else 0

    def _record(self, call: Any, state: bytes) -> Ready | None:
        """The graph of a call that comes for the second time, if it can be recorded."""
        if state not in self._seen:
            self._seen[state] = None
            if len(self._seen) > SEEN:
                del self._seen[next(iter(self._seen))]
            return None
        del self._seen[state]
        graph = self._captured(call)
        if graph is None:
            self.enabled = False
            return None
        self.made += 1
        self.enabled = self.made < TRIED or self.replayed > 4 * self.made
        self._ready[state] = graph
        if len(self._ready) > KEPT:
            del self._ready[next(iter(self._ready))]
        return graph

    def _is_captured(self, stream: int) -> bool:
        """Whether the user records the stream; the default stream cannot be."""
        with self._device:
            return self._device.driver.is_capturing(stream)

    def _captured(self, call: Any) -> Ready | None:
        driver, before = self._device.driver, call.stream
        own = int(ffi.cast("uintptr_t", before))
        if not self._stream:
            self._stream = self._device.take_stream()
        try:
            with self._device, self._device.late.recording(own) as memory:
                driver.capture_begin(self._stream)
                call.stream = ffi.cast("void *", self._stream)
                try:
                    code = self._run(call)
                finally:
                    call.stream = before
                    graph = driver.capture_end(self._stream)
                ready = Ready(self._device, graph, memory)
        except DeviceError:
            return None  # launched one by one, it reports its error, or works
        return None if code else ready

    def __del__(self) -> None:
        if self._stream and not sys.is_finalizing():
            self._device.give_stream_back(self._stream)
