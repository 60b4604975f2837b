"""The host memory of one call of a compiled CUDA function, and the workspace that goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symc.codegen.targets._abi import ffi
from symc.cuda.devices import Device
from symc.cuda.memory import Memory

_FLOAT64 = np.dtype(np.float64)


class Frame:
    """The frame of a call, for the C functions: made once for a stream, used by one call at a time.

    All that decides the call's effect on the device lies in one piece of memory, `state`: the
    address of each array and of the workspace, the values of inputs without axes, and all lengths.
    Two calls whose states are the same bytes launch the same kernels with the same arguments.
    """

    def __init__(
        self, counts: Sequence[int], scalars: int, device: Device, functions: Any, stream: int
    ) -> None:
        """Room for so many arrays, lengths, shapes and sizes, and for the values of scalars."""
        arrays, lengths, shapes, room = counts
        self.device = device
        self.stream = stream
        self.call: Any = ffi.new("symc_device_call *")
        total = 1 + arrays + scalars + lengths
        self._state: Any = ffi.new("int64_t[]", total)
        self._bytes: Any = ffi.buffer(self._state)
        self.data: Any = ffi.cast("uint64_t *", self._state + 1)
        self.integers: Any = self._state + 1 + arrays
        self.floats: Any = ffi.cast("double *", self.integers)
        self.lengths: Any = self.integers + scalars
        self.shapes: Any = ffi.new("int64_t[]", shapes + 1)
        self._sizes: Any = ffi.new("int64_t[]", room + 1)
        self.places = [
            int(ffi.cast("uintptr_t", self.integers + number)) for number in range(scalars)
        ]
        self.handle: Any = ffi.new_handle(self)
        self.call.data = ffi.cast("void **", self.data)
        self.call.lengths = self.lengths
        self.call.shapes = self.shapes
        self.call.sizes = self._sizes
        self.call.context = self.handle
        self.call.threads = 1
        self.call.step = -1
        self.call.device = device.struct
        self.call.functions = functions
        self.call.stream = ffi.cast("void *", stream)
        self._workspace: Memory | None = None
        self.workspace_bytes = 0
        self.given: list[int] = []  # the lengths of arguments that are in `lengths`
        self.is_prepared = False  # for a call with these lengths
        self.planned: list[int] | None = None  # the lengths of outputs that `plan` is for
        self.plan: list[Any] = []
        self.outputs: list[Any] = []  # of the call under way
        self.keep: list[Any] = []  # the targets of its pointers
        self.written: list[tuple[Any, Any]] = []  # host arrays to update, and their new values
        self.error: BaseException | None = None

    def state(self) -> bytes:
        """All that decides the call's effect on the device."""
        return self._bytes[:]  # type: ignore[no-any-return]

    def put(self, index: int, number: Any, dtype: np.dtype[Any]) -> None:
        """Give a Python number to a float64 or int64 input without axes."""
        if dtype is _FLOAT64:
            self.floats[index] = number
        else:
            self.integers[index] = number
        self.data[index] = self.places[index]

    def put_array(self, index: int, array: Any) -> None:
        """Give the value of an array to an input without axes."""
        self.integers[index] = 0
        ffi.memmove(self.integers + index, ffi.from_buffer(array), array.itemsize)
        self.data[index] = self.places[index]

    def grow(self, size: int) -> None:
        """Make room for a workspace of this many bytes."""
        self._workspace = None  # the old one is free before the new one is taken
        self.workspace_bytes = self._state[0] = 0
        self._workspace = self.device.allocate(size, self.stream)
        self.workspace_bytes = self._workspace.size
        self._state[0] = self._workspace.address
        self.call.workspace = ffi.cast("char *", self._workspace.address)

    def clear(self) -> None:
        """Release the arrays of the call."""
        self.outputs = []
        self.keep = []
        self.written = []
        self.error = None
