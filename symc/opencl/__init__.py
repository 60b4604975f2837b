"""Devices of OpenCL: cards of every maker, and processors.

``symc.function(..., device="opencl")`` compiles for the first of them, ``"opencl:1:0"`` for the
first device of the second platform, and `devices` lists all. Arrays and streams on them are those
of `symc.cuda`.
"""

from __future__ import annotations

from symc.codegen.record import record

__all__ = ["DeviceFacts", "available", "devices"]


@record
class DeviceFacts:
    """A device of OpenCL: its name for ``device=``, its own, and its platform's.

    `why_refused` says what symc needs that it lacks, and is empty for a device that can be used.
    Without `doubles` it computes functions of float32 alone, and adds up their sums in pairs of
    floats, which have 48 bits; scalars of float64 are computed on the host, and arrays of it raise
    `symc.errors.DTypeError`.

    >>> import symc.opencl
    >>> usable = [each.name for each in symc.opencl.devices() if not each.why_refused]
    >>> all(name.startswith("opencl") for name in usable)
    True
    """

    name: str
    title: str
    platform: str
    why_refused: str
    doubles: bool = True


def devices() -> list[DeviceFacts]:
    """All devices of all platforms on this machine, those first that ``device="opencl"`` takes.

    >>> all(device.name.startswith("opencl:") for device in devices())
    True
    """
    from symc.codegen.targets.opencl.platforms import load
    from symc.pipeline.library import kept

    return [
        DeviceFacts(found.name, found.title, found.platform, found.why_refused, found.doubles)
        for found in load(kept).devices
    ]


def available(name: str = "opencl") -> bool:
    """Whether there is such a device: True or False, and no error. Takes it into use if there is.

    >>> import symc.opencl
    >>> symc.opencl.available("opencl") in (True, False)
    True
    """
    from symc.cuda.devices import available as is_there

    return is_there(name)


def __dir__() -> list[str]:
    return [*__all__]
