"""The statuses that calls end with: the same in generated C, its runtime and Python."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """How a call ended. A check that fails has a status of its own, from 1 on: see `ir.Check`.

    Errors of a device are counted down from `DRIVER` and `BLAS`: error e has the status
    ``DRIVER - e``.
    """

    DONE = 0
    STOPPED = -1
    """There is no memory; or, where the caller has kept an exception, that was raised."""
    NO_FILE = -2
    """A file of an exported function is missing."""
    TOO_LONG = -3
    """Arrays need 64-bit indexes, which the program lacks. Nothing was done."""
    NO_DRIVER = -4
    NO_BLAS = -5
    DRIVER = -1000
    BLAS = -2000
    TOO_LARGE = 1 << 30
    """A length does not fit into 64 bits."""
