"""Which stream a thread uses: symc's own, or one of another library."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from symc.cuda.devices import Device, device
from symc.errors import DeviceError


class Stream:
    """A queue of work on a device, which runs beside other queues.

    >>> s = symc.cuda.Stream()                  # doctest: +SKIP
    >>> with symc.cuda.stream(s):               # doctest: +SKIP
    ...     y = f(x)                            # doctest: +SKIP
    >>> s.synchronize()                         # doctest: +SKIP
    """

    def __init__(self, device_name: str | Device = "cuda") -> None:
        """A new stream, or one that nobody uses any more."""
        self.device = device(device_name)
        self.handle = self.device.take_stream()

    def synchronize(self) -> None:
        """Wait for all that is on the stream.

        >>> import symc
        >>> symc.cuda.Stream("cuda:sim").synchronize()
        """
        with self.device:
            self.device.driver.stream_synchronize(self.handle)

    def wait(self, other: Any) -> None:
        """Let later work on this stream wait for earlier work on another (`stream` says which).

        >>> import symc
        >>> first, second = symc.cuda.Stream("cuda:sim"), symc.cuda.Stream("cuda:sim")
        >>> second.wait(first)
        """
        self.device.order(self.handle, after=handle_of(other))

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol by which libraries give streams to each other."""
        return 0, self.handle

    def __repr__(self) -> str:
        return f"<symc stream {self.handle:#x} on {self.device.name}>"

    def __del__(self) -> None:
        if hasattr(self, "handle") and not sys.is_finalizing():
            self.device.give_stream_back(self.handle)


class stream(AbstractContextManager[None]):  # noqa: N801  # it reads as a function: with stream(s):
    """Let this thread use another stream inside of ``with symc.cuda.stream(s):``.

    `s` is a `Stream`, or one of PyTorch, CuPy or any library with ``__cuda_stream__``, or the
    number of a stream; None or 0 is the default stream, which waits for all others. A stream of
    another library must exist as long as arrays that were computed on it. While a stream is
    recorded into a CUDA graph, functions on it take and give only device arrays; call each once
    before, so that it has its memory, and wait for the computation of its arguments.

    >>> import symc
    >>> side = symc.cuda.Stream("cuda:sim")
    >>> with symc.cuda.stream(side):
    ...     a = symc.cuda.asarray([1.0, 2.0], device="cuda:sim")
    >>> a.to_numpy()
    array([1., 2.])
    """

    def __init__(self, which: Any, device_name: str | Device | None = None) -> None:
        """Say which stream, and for a plain number of which device ("cuda" unless said)."""
        self._handle = handle_of(which)
        self._device = device(device_name or device_of(which))
        self._before: list[int] = []
        if self._handle:
            with self._device:
                self._check()

    def _check(self) -> None:
        try:
            self._device.driver.is_capturing(self._handle)
        except DeviceError as error:
            raise DeviceError(
                error.code, f"{self._handle:#x} is no stream of {self._device.name}: {error}"
            ) from None

    def __enter__(self) -> None:
        self._before.append(self._device.current.handle)
        self._device.current.handle = self._handle

    def __exit__(self, *error: object) -> None:
        self._device.current.handle = self._before.pop()


def handle_of(which: Any) -> int:
    """The number of a stream, whatever library it comes from."""
    if which is None:
        return 0
    if isinstance(which, Stream):
        return which.handle
    if hasattr(which, "__cuda_stream__"):
        handle = which.__cuda_stream__()[1]
    elif hasattr(which, "cuda_stream"):  # PyTorch
        handle = which.cuda_stream
    elif hasattr(which, "ptr"):  # CuPy
        handle = which.ptr
    else:
        handle = which
    if not isinstance(handle, int) or isinstance(handle, bool):
        raise TypeError(f"{which!r} is no stream: give symc.cuda.Stream, another library's or 0")
    return 0 if handle == 1 else handle  # 1 is another name of the default stream


def device_of(which: Any) -> Device | str:
    """The device of a stream."""
    found = getattr(which, "device", None)
    if isinstance(found, Device):
        return found
    number = getattr(found, "index", None)  # PyTorch
    if not isinstance(number, int):
        number = getattr(which, "device_id", None)  # CuPy
    return f"cuda:{number}" if isinstance(number, int) and number >= 0 else "cuda"
