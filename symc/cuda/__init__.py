"""Arrays and streams on CUDA devices.

``symc.function(..., device="cuda")`` compiles for a device and ``symc.shared(..., device="cuda")``
keeps a variable on it. Here is the rest: `asarray` puts an array there, `stream`
chooses the stream of another library, `memory_info` counts the memory. The device ``"cuda:sim"``
is a simulator, for machines without a graphics card.
"""

from __future__ import annotations

from symc.cuda.array import DeviceArray, asarray, empty
from symc.cuda.devices import Device, available, device, why_missing
from symc.cuda.streams import Stream, stream

__all__ = [
    "Device", "DeviceArray", "Stream", "asarray", "available", "device", "empty", "empty_cache",
    "memory_info", "stream", "synchronize", "why_missing",
]  # fmt: skip


def synchronize(name: str | Device = "cuda") -> None:
    """Wait for all work on a device. Raises the errors of that work.

    >>> import symc
    >>> symc.cuda.synchronize("cuda:sim")
    """
    device(name).synchronize()


def memory_info(name: str | Device = "cuda") -> dict[str, int]:
    """Bytes of a device: ``total``, ``free``, ``used`` by arrays of symc, and ``cached``.

    >>> import symc
    >>> sorted(symc.cuda.memory_info("cuda:sim"))
    ['cached', 'free', 'total', 'used']
    """
    return device(name).memory_info()


def empty_cache(name: str | Device = "cuda") -> None:
    """Give memory that no array uses back to the system, so that other libraries have it.

    >>> import symc
    >>> symc.cuda.empty_cache("cuda:sim")
    """
    device(name).empty_cache()


def __dir__() -> list[str]:
    return [*__all__]
