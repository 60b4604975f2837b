"""Functions in Python that a program on a device calls: its arrays come to the host and go back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symc.codegen.dtypes import BY_NAME
from symc.codegen.targets._abi import ffi
from symc.cuda.array import for_device
from symc.cuda.devices import Device
from symc.graph.node import Array
from symc.graph.types import to_numpy
from symc.pipeline.host_calls import BoundCall, Callbacks, Kind


class DeviceCallbacks(Callbacks):
    """As `Callbacks`; addresses are the device's, but for those of inputs without axes."""

    def __init__(self, calls: Sequence[BoundCall], device: Device) -> None:
        """Calls of programs that run on a device, on the stream of the thread."""
        super().__init__(calls)
        self._device = device

    def read(self, address: int, shape: tuple[int, ...], kind: Kind) -> Array:
        """Wait for an argument, and copy it."""
        if kind.on_host:
            return super().read(address, shape, kind)
        array: Array = np.empty(shape, to_numpy(BY_NAME[kind.dtype]))
        if array.size:
            driver, stream = self._device.driver, self._device.current.handle
            with self._device:
                driver.download(ffi.from_buffer(array), address, array.nbytes, stream)
                driver.stream_synchronize(stream)
        return array

    def write(self, address: int, result: Array) -> None:
        """Copy a result to the device."""
        if result.size:
            driver, stream = self._device.driver, self._device.current.handle
            memory = ffi.from_buffer(for_device(result))
            with self._device:
                driver.upload(address, memory, result.nbytes, stream)
                driver.stream_synchronize(stream)  # the memory may not outlive this function
