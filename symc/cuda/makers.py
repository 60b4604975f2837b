"""What differs between devices of several makers: drivers, targets, libraries of matrices.

A `Device` asks its maker. `Card` is a graphics card of NVIDIA's, `Simulated` the simulator of one,
and `OpenclDevice` any device that OpenCL knows: its driver has the same functions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from symc.codegen.record import record
from symc.codegen.targets.cuda import table
from symc.pipeline.library import kept, target

if TYPE_CHECKING:
    from symc.codegen.targets.base import Target
    from symc.codegen.targets.cuda.cublas import Cublas
    from symc.codegen.targets.opencl.platforms import Found
    from symc.cuda.devices import Device

SIMULATOR = "cuda:sim"


class Maker(Protocol):
    """One kind of devices."""

    @property
    def ordinal(self) -> int:
        """The number of the device in its driver."""
        ...

    @property
    def graphs(self) -> bool:
        """Whether calls can be recorded."""
        ...

    @property
    def alone(self) -> int:
        """`symc_device.alone`."""
        ...

    def addresses(self) -> dict[str, int]:
        """The functions of the driver. Raises `CodegenError` where there is none."""
        ...

    def report(self) -> str:
        """The driver's description of its last error, if it has one."""
        ...

    def open_blas(self) -> Cublas | None:
        """The library of matrices, for the device whose context is current."""
        ...

    def target(self, device: Device, options: dict[str, Any]) -> Target:
        """The target that compiles for the device."""
        ...


@record
class Card:
    """A graphics card, through libcuda."""

    ordinal: int
    graphs: bool = True
    alone: int = 0

    def addresses(self) -> dict[str, int]:
        """Those of libcuda."""
        return table.addresses()

    def report(self) -> str:
        """A card describes nothing."""
        return ""

    def open_blas(self) -> Cublas | None:
        """cuBLAS, if it is installed."""
        from symc.codegen.targets.cuda import cublas

        return cublas.open_cublas()

    def target(self, device: Device, options: dict[str, Any]) -> Target:
        """CUDA for the card's architecture."""
        return target("cuda", architecture=device.architecture, **options)


@record
class Simulated:
    """The simulator of a card."""

    ordinal: int = 0
    graphs: bool = True
    alone: int = 0

    def addresses(self) -> dict[str, int]:
        """Those of the simulator, which is built where it was not before."""
        from symc.codegen.targets import sim

        return sim.load(kept).table()

    def report(self) -> str:
        """What was wrong: the kernel, the thread, the line."""
        from symc.codegen.targets import sim

        return sim.load().report()

    def open_blas(self) -> Cublas | None:
        """The simulator's own, if it is asked for."""
        from symc.codegen.targets import sim
        from symc.codegen.targets.cuda import cublas

        made = sim.load()
        return cublas.create("simulator", made.address) if made.cublas else None

    def target(self, device: Device, options: dict[str, Any]) -> Target:
        """CUDA, compiled by a C++ compiler."""
        return target("cuda", architecture=device.architecture, simulated=True, **options)


@record
class OpenclDevice:
    """A device of a platform of OpenCL."""

    found: Found
    graphs: bool = False

    @property
    def ordinal(self) -> int:
        """The number of the device among those of all platforms."""
        return self.found.ordinal

    @property
    def alone(self) -> int:
        """A team has a work-group of its own: there are no barriers for less."""
        return min(self.found.threads, 512)

    def addresses(self) -> dict[str, int]:
        """Those of the driver over OpenCL."""
        from symc.codegen.targets.opencl.platforms import load

        return load(kept).table

    def report(self) -> str:
        """Drivers of OpenCL describe nothing."""
        return ""

    def open_blas(self) -> Cublas | None:
        """None."""
        return None

    def target(self, device: Device, options: dict[str, Any]) -> Target:
        """OpenCL for this device."""
        del device
        return target("opencl", device=self.found.name, single=not self.found.doubles, **options)


def maker_of(name: str) -> Maker | None:
    """The maker of a device by its full name, such as ``cuda:0``; None for what is no such name.

    Raises `OpenclMissing` for a device that OpenCL does not have.
    """
    if name == SIMULATOR:
        return Simulated()
    card = re.fullmatch(r"cuda:(\d+)", name)
    if card is not None:
        return Card(int(card[1]))
    if re.fullmatch(r"opencl:\d+:\d+", name) is None:
        return None
    from symc.codegen.targets.opencl.platforms import device_named

    return OpenclDevice(device_named(name, kept))
