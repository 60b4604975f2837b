"""A device as the place of shared variables: the `Place` of `symc/graph/inputs.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.cuda import interop
from symc.cuda.array import Array, DeviceArray
from symc.cuda.devices import Device, device
from symc.graph.values import as_array


class DevicePlace:
    """Shared variables on a device hold `DeviceArray`s."""

    def __init__(self, where: str | Device) -> None:
        """The device of this name."""
        self._device = device(where)
        self.name = self._device.name

    def array(self, value: Any) -> Array | DeviceArray:
        """The value as an array: on the device if it is there already, else on the host."""
        found = interop.on_device(value, self._device, "the value")
        return as_array(value) if found is None else found

    def stored(
        self, array: Array | DeviceArray, dtype: np.dtype[Any], *, copy: bool
    ) -> DeviceArray:
        """The array on the device, with this dtype, and shared with nobody if `copy`."""
        if isinstance(array, DeviceArray):
            if array.dtype == dtype:
                return array.copy() if copy or array.memory.readonly else array
            array = array.to_numpy()
        return interop.upload(np.asarray(array, dtype), self._device)
